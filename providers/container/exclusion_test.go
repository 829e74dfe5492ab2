package container_test

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/providers/container"
	"github.com/workspacekit/workspacekit/workspace"
)

// TestGrepLooksIntoNothingIgnored counts what is sent for a search in a tree that
// is mostly ignored.
func TestGrepLooksIntoNothingIgnored(t *testing.T) {
	exhaustive.NotShort(t, "makes a large tree")
	o := &observer{}
	f := open(t, &container.Options{Executor: o, Root: t.TempDir()})
	files := map[string]string{
		".gitignore": "modules/\n*.log\n!kept.log\n", "a.log": "needle", "kept.log": "needle", "dir/b.go": "needle",
		"dir/.gitignore": "!c.log\n/d\n", "dir/c.log": "needle", "dir/d/e": "needle",
	}
	for i := range 100 {
		files[fmt.Sprintf("modules/package%d/file", i)] = "needle"
	}
	for name, content := range files {
		if _, err := f.WriteFile(t.Context(), name, []byte(content), nil); err != nil {
			t.Fatal(err)
		}
	}
	o.sent.Store(0)
	result, err := f.Grep(t.Context(), "needle", &workspace.GrepOptions{Gitignore: true})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := matched(result), []string{"dir/b.go", "dir/c.log", "kept.log"}; !slices.Equal(got, want) {
		t.Errorf("Grep with Gitignore finds %q, want %q", got, want)
	}
	if n := o.sent.Load(); n > 1500 {
		t.Errorf("%d bytes of requests were sent, want no names of ignored files", n)
	}
	if result, err = f.Grep(t.Context(), "needle", nil); err != nil || len(matched(result)) != len(files)-2 {
		t.Errorf("Grep without it finds %d files, %v, want %d", len(matched(result)), err, len(files)-2)
	}
}

// TestLargeIgnoreFiles searches a tree with an ignore file as long as its file system can
// have one, and with many as long as they may be.
func TestLargeIgnoreFiles(t *testing.T) {
	exhaustive.NotShort(t, "writes 40 MiB")
	root, o := t.TempDir(), &observer{}
	f := open(t, &container.Options{Executor: o, Root: root})
	const folders, limit = 40, 1 << 20
	rules := append([]byte("ignored\n"), bytes.Repeat([]byte("#"), limit-len("ignored\n"))...)
	for i := range folders {
		for name, content := range map[string]string{".gitignore": string(rules), "ignored": "needle"} {
			if _, err := f.WriteFile(t.Context(), fmt.Sprintf("dir%02d/%s", i, name), []byte(content), nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, name := range []string{"huge/file", "huge/.gitignore"} {
		if _, err := f.WriteFile(t.Context(), name, []byte("needle"), nil); err != nil {
			t.Fatal(err)
		}
	}
	size := int64(math.MaxInt64)
	for os.Truncate(filepath.Join(root, "huge", ".gitignore"), size) != nil {
		size /= 2 // for a file system that has none as long
	}
	want := []string{"huge/file"}
	o.received.Store(0)
	if got, err := f.Glob(t.Context(), "**/{file,ignored}", &workspace.GlobOptions{Gitignore: true}); err != nil || !slices.Equal(got, want) {
		t.Errorf("Glob with Gitignore = %q, %v, want %q", got, err, want)
	}
	result, err := f.Grep(t.Context(), "needle", &workspace.GrepOptions{Gitignore: true, ExcludeGlob: ".gitignore"})
	if err != nil || !slices.Equal(matched(result), want) {
		t.Errorf("Grep with Gitignore = %+v, %v, want matches in %q", result, err, want)
	}
	if n := o.received.Load(); n > 2*(folders+10)*limit {
		t.Errorf("%d bytes were received for two searches, want each of the %d ignore files once for each", n, folders)
	}
}
