//go:build unix

package localbash_test

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/providers/localbash"
	"github.com/workspacekit/workspacekit/workspace"
)

// specialFiles makes a FIFO, a socket and, where that is allowed, a device in
// dir, beside a file.
func specialFiles(t *testing.T, dir string) []string {
	t.Helper()
	put(t, filepath.Join(dir, "file"), "content")
	if err := syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o666); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir) // the path of a socket is limited to 100 bytes or so
	listener, err := net.Listen("unix", "socket")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	return []string{"fifo", "socket"}
}

// TestSpecialFiles wants every operation to end at once.
func TestSpecialFiles(t *testing.T) {
	ctx := context.Background()
	for _, portable := range []bool{false, true} {
		dir := t.TempDir()
		names := specialFiles(t, dir)
		fsys := open(t, dir, nil)
		if portable {
			withoutQuick(t, fsys)
		}
		for _, name := range names {
			info, err := fsys.Stat(ctx, name)
			if err != nil || info.Type != workspace.TypeOther || info.Size != 0 || info.Version != "" {
				t.Errorf("Stat(%q) = %+v, %v, want type %q without size and version", name, info, err, workspace.TypeOther)
			}
			for _, op := range operations() {
				trySpecial(t, fsys, op, name)
			}
		}
	}
}

func trySpecial(t *testing.T, fsys *localbash.FS, op operation, name string) {
	t.Helper()
	done := make(chan error, 1)
	go func() {
		_, err := op.do(context.Background(), fsys, name)
		done <- err
	}()
	select {
	case err := <-done:
		checkSpecial(t, op.name, name, err)
	case <-time.After(10 * time.Second):
		t.Fatalf("%s(%q) hangs", op.name, name)
	}
	if _, err := os.Lstat(name); err == nil {
		return
	}
	if err := syscall.Mkfifo(name, 0o666); err != nil { // it was removed or moved
		t.Fatal(err)
	}
	_ = os.RemoveAll("taken")
}

func checkSpecial(t *testing.T, op, name string, err error) {
	t.Helper()
	kinds := map[string]error{
		"ReadFile": fs.ErrInvalid, "ReadVersioned": fs.ErrInvalid, "Open": fs.ErrInvalid,
		"Copy-from": fs.ErrInvalid, "WriteFile": fs.ErrInvalid, "Create": fs.ErrInvalid,
		"Ls": workspace.ErrNotDir, "Glob": workspace.ErrNotDir, "Watch": workspace.ErrNotDir,
		"WriteFile-below": workspace.ErrNotDir, "WriteFile-new": fs.ErrExist, "Mkdir": fs.ErrExist,
		"Mkdir-recursive": workspace.ErrNotDir, "Rm": nil, "Move-from": nil,
	}
	if kind, ok := kinds[op]; ok && !errors.Is(err, kind) {
		t.Errorf("%s(%q) = %v, want %v", op, name, err, kind)
	}
}

// TestSearchPassesSpecialFilesBy searches a folder that has some.
func TestSearchPassesSpecialFilesBy(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	specialFiles(t, dir)
	fsys := open(t, dir, nil)
	result, err := fsys.Grep(ctx, "content", nil)
	want := &workspace.GrepResult{Matches: []workspace.Match{{Path: "file", LineNumber: 1, Line: "content"}}, Searched: 1}
	if diff := cmp.Diff(want, result); err != nil || diff != "" {
		t.Errorf("Grep = %v (-want +got):\n%s", err, diff)
	}
	paths, err := fsys.Glob(ctx, "**", nil)
	if diff := cmp.Diff([]string{"file"}, paths); err != nil || diff != "" {
		t.Errorf("Glob = %v (-want +got):\n%s", err, diff)
	}
}

// TestUnnameable wants names that the contract cannot hold left out.
func TestUnnameable(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	put(t, filepath.Join(dir, "file"), "content")
	if err := os.WriteFile(filepath.Join(dir, "bad\xff"), []byte("content"), 0o666); err != nil {
		t.Skipf("this file system has only names that are UTF-8: %v", err)
	}
	fsys := open(t, dir, nil)
	infos, err := fsys.Ls(ctx, ".", nil)
	if err != nil || len(infos) != 1 || infos[0].Name != "file" {
		t.Errorf("Ls = %v, %v, want %q alone", infos, err, "file")
	}
	paths, err := fsys.Glob(ctx, "**", nil)
	if diff := cmp.Diff([]string{"file"}, paths); err != nil || diff != "" {
		t.Errorf("Glob = %v (-want +got):\n%s", err, diff)
	}
}

// TestGrepListsUnnameable wants the directories that hold files without a valid
// name listed as skipped: names that are not UTF-8, and paths that are too long.
func TestGrepListsUnnameable(t *testing.T) {
	ctx := t.Context()
	dir := t.TempDir()
	put(t, filepath.Join(dir, "dir", "file"), "content")
	put(t, filepath.Join(dir, "dir", ops.ReservedPrefix+"x"), "content")
	if err := os.WriteFile(filepath.Join(dir, "dir", "bad\xff"), []byte("content"), 0o666); err != nil {
		t.Skipf("this file system has only names that are UTF-8: %v", err)
	}
	link(t, "file", filepath.Join(dir, "link\xff"))
	deep := makeDeep(t, dir)
	fsys := open(t, dir, nil)
	want := &workspace.GrepResult{
		Matches: []workspace.Match{{Path: "dir/file", LineNumber: 1, Line: "content"}}, Searched: 1,
		Skipped: []workspace.Skipped{
			{Path: deep, Reason: workspace.SkipInvalidNames}, {Path: "dir", Reason: workspace.SkipInvalidNames},
		},
	}
	for range 2 {
		result, err := fsys.Grep(ctx, "content", nil)
		if diff := cmp.Diff(want, result); err != nil || diff != "" {
			t.Errorf("Grep = %v (-want +got):\n%s", err, diff)
		}
		withoutQuick(t, fsys)
	}
	for pattern, listed := range map[string]int{"bad*": 1, "b?d[^a]": 1, "/b*": 1, "dir/b*": 0, "*.go": 0} {
		result, err := fsys.Grep(ctx, "content", &workspace.GrepOptions{Path: "dir", IncludeGlob: pattern, ExcludeGlob: "file"})
		if err != nil || len(result.Skipped) != listed {
			t.Errorf("Grep(IncludeGlob: %q) = %+v, %v, want %d skipped", pattern, result, err, listed)
		}
	}
	infos, err := fsys.Ls(ctx, "dir", &workspace.LsOptions{Limit: 2})
	if err != nil || len(infos) != 1 {
		t.Errorf("Ls = %v, %v, want one file", infos, err)
	}
}

// makeDeep makes a file in root with a path that is too long, and returns the
// directory that it is in.
func makeDeep(t *testing.T, root string) string {
	t.Helper()
	name := strings.Repeat("d", ops.MaxElementLength)
	r, err := os.OpenRoot(root)
	if err != nil {
		t.Fatal(err)
	}
	var path []string
	for range ops.MaxNameLength / (ops.MaxElementLength + 1) {
		path = append(path, name)
		if err := r.Mkdir(name, 0o777); err != nil {
			t.Fatal(err)
		}
		next, err := r.OpenRoot(name)
		r.Close()
		if err != nil {
			t.Fatal(err)
		}
		r = next
	}
	defer r.Close()
	if err := r.WriteFile("file", []byte("content"), 0o666); err != nil {
		t.Fatal(err)
	}
	return strings.Join(path, "/")
}

// TestFileThatSaysItIsEmpty reads one that is not, and too long for a limit.
func TestFileThatSaysItIsEmpty(t *testing.T) {
	if info, err := os.Stat("/proc/sys/kernel/ostype"); err != nil || info.Size() != 0 {
		t.Skip("there is no such file here")
	}
	ctx := context.Background()
	fsys := open(t, "/proc/sys/kernel", nil)
	want := content(t, "/proc/sys/kernel/ostype")
	data, err := fsys.ReadFile(ctx, "ostype")
	if err != nil || string(data) != want {
		t.Errorf("ReadFile = %q, %v, want %q", data, err, want)
	}
	if _, _, err := fsys.ReadVersioned(ctx, "ostype", 2); !errors.Is(err, workspace.ErrTooLarge) {
		t.Errorf("ReadVersioned with limit 2 = %v, want %q", err, workspace.ErrTooLarge)
	}
}
