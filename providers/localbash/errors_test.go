package localbash_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/providers/localbash"
	"github.com/workspacekit/workspacekit/workspace"
)

// TestErrorsHideTheHost provokes errors of all operations on all sorts of
// names, and wants each to say the caller's name and nothing of the host.
func TestErrorsHideTheHost(t *testing.T) {
	exhaustive.NotShort(t, "provokes errors with 50 names")
	names := []string{
		".", "file", "file/below", "file/below/it", "dir", "dir/file", "missing", "missing/deep/file",
		"out", "out/file", "absolute", "loop", "loop/x", "dangling", "dangling/x", "..", "../x", "/x", "",
		"x\x00", ".workspacekit-tmp-x", strings.Repeat("long", 60), strings.Repeat("long/", 800) + "x",
		"dir/full", "toobig" + strings.Repeat("/x", 200),
	}
	for _, relaxed := range []bool{false, true} {
		count := 0
		for _, name := range names {
			t.Run(fmt.Sprintf("%t-%.20q", relaxed, name), func(t *testing.T) {
				count += provoke(t, name, localbash.Options{Relaxed: relaxed})
			})
		}
		if count < 200 {
			t.Errorf("%d errors provoked, want 200 at least, or little was tested", count)
		}
	}
}

// provoke returns how many operations on name failed.
func provoke(t *testing.T, name string, opts localbash.Options) int {
	dir := filepath.Join(t.TempDir(), "the-root")
	put(t, filepath.Join(dir, "file"), "content")
	put(t, filepath.Join(dir, "dir", "full", "file"), "content")
	link(t, "../outside", filepath.Join(dir, "out"))
	link(t, dir+"-outside", filepath.Join(dir, "absolute"))
	link(t, "loop", filepath.Join(dir, "loop"))
	link(t, "nowhere/at/all", filepath.Join(dir, "dangling"))
	fsys := open(t, dir, &opts)
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	count := 0
	for _, op := range operations() {
		for _, ctx := range []context.Context{ended, context.Background()} {
			_, err := op.do(ctx, fsys, name)
			if err == nil {
				continue
			}
			count++
			checkHidden(t, op.name, name, err)
		}
	}
	return count
}

// checkHidden looks at the texts of err and of all that it wraps.
func checkHidden(t *testing.T, op, name string, err error) {
	t.Helper()
	var pathError *fs.PathError
	if !errors.As(err, &pathError) {
		t.Errorf("%s(%q) = %T, want a *fs.PathError", op, name, err)
	}
	for _, text := range texts(err) {
		for _, host := range []string{"the-root", "tmp-", "/proc", "openat", "renameat", "unlinkat", "inotify_"} {
			if strings.Contains(text, host) && !strings.Contains(name, host) {
				t.Errorf("%s(%q) = %v, wraps %q, want nothing of %q", op, name, err, text, host)
			}
		}
	}
}

// texts returns the messages in the tree of err.
func texts(err error) []string {
	all := []string{err.Error()}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		if inner := e.Unwrap(); inner != nil {
			all = append(all, texts(inner)...)
		}
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			all = append(all, texts(inner)...)
		}
	}
	return all
}

// TestFlushFails tests that the error of a change whose flush fails does not say that nothing was
// changed, whatever kind the system reports.
func TestFlushFails(t *testing.T) {
	reader, writer, err := os.Pipe() // which cannot be flushed
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	defer writer.Close()
	if err := localbash.SyncDir(reader); !errors.Is(err, workspace.ErrUnavailable) {
		t.Errorf("a flush that fails = %v, want %v", err, workspace.ErrUnavailable)
	}
}
