package localbash_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/providers/localbash"
	"github.com/workspacekit/workspacekit/workspace"
)

// maxLinks is how many symlinks Linux follows in one name.
const maxLinks = 40

// TestSymlinkChains wants as many symlinks in a chain followed as the kernel
// follows, with and without openat2.
func TestSymlinkChains(t *testing.T) {
	exhaustive.Long(t)
	t.Parallel()
	for _, op := range operations() {
		limit := maxLinks
		switch op.name {
		case "Stat", "WriteFile-new", "Mkdir", "Move-from", "Move-to", "Copy-to", "Rm", "Rm-recursive":
			limit = 0 // they follow no symlink that the name itself is
		}
		tryChains(t, op, limit, false)
		tryChains(t, op, limit, true)
	}
}

// tryChains wants op to follow a chain of limit symlinks and refuse a longer
// one, or to take one of any length as it is if limit is 0.
func tryChains(t *testing.T, op operation, limit int, portable bool) {
	t.Helper()
	for _, length := range []int{maxLinks, maxLinks + 1} {
		dir := t.TempDir()
		for _, name := range []string{"target/secret", "mine", "taken/file"} {
			put(t, filepath.Join(dir, name), "content")
		}
		name := "target"
		for i := range length {
			next := fmt.Sprint("link", i)
			link(t, name, filepath.Join(dir, next))
			name = next
		}
		fsys := open(t, dir, nil)
		if portable {
			withoutQuick(t, fsys)
		}
		_, err := op.do(t.Context(), fsys, name)
		if refused := errors.Is(err, fs.ErrInvalid); refused != (limit > 0 && length > limit) {
			t.Errorf("%s of a chain of %d symlinks (without openat2: %t) = %v, want it to follow %d", op.name, length, portable, err, limit)
		}
	}
}

// TestRelaxedChain writes through symlinks in a relaxed folder, where a name may be a chain.
func TestRelaxedChain(t *testing.T) {
	t.Parallel()
	for length, refused := range map[int]bool{maxLinks: false, maxLinks + 1: true} {
		dir := t.TempDir()
		name := "target"
		put(t, filepath.Join(dir, name), "content")
		for i := range length {
			next := fmt.Sprint("link", i)
			link(t, name, filepath.Join(dir, next))
			name = next
		}
		fsys := open(t, dir, &localbash.Options{Relaxed: true})
		_, err := fsys.WriteFile(t.Context(), name, []byte("new"), nil)
		if errors.Is(err, fs.ErrInvalid) != refused || err != nil && !refused {
			t.Errorf("WriteFile through %d symlinks = %v, want ErrInvalid: %t", length, err, refused)
		}
	}
}

// TestDanglingChain wants a symlink to nothing treated alike however many lead
// to it: what is created by its name is created where it leads.
func TestDanglingChain(t *testing.T) {
	t.Parallel()
	for _, relaxed := range []bool{false, true} {
		dir := filepath.Join(t.TempDir(), "root")
		for name, target := range map[string]string{"short": "missing/a", "link0": "missing/b", "out": "../outside/a/b", "out2": "../outside/c", "file": "text/x"} {
			link(t, target, filepath.Join(dir, name))
		}
		put(t, filepath.Join(dir, "text"), "content")
		for i := range 20 {
			link(t, fmt.Sprint("link", i), filepath.Join(dir, fmt.Sprint("link", i+1)))
		}
		fsys := open(t, dir, &localbash.Options{Relaxed: relaxed})
		for name, made := range map[string]string{"short": "missing/a", "link20/sub": "missing/b/sub"} {
			if err := fsys.Mkdir(t.Context(), name, &workspace.MkdirOptions{Recursive: true}); err != nil {
				t.Errorf("Mkdir(%q) recursively, relaxed: %t = %v, want nil", name, relaxed, err)
			}
			if info, err := os.Stat(filepath.Join(dir, made)); err != nil || !info.IsDir() {
				t.Errorf("Mkdir(%q) recursively did not create %s: %v", name, made, err)
			}
		}
		if err := fsys.Mkdir(t.Context(), "file", &workspace.MkdirOptions{Recursive: true}); !errors.Is(err, workspace.ErrNotDir) {
			t.Errorf("Mkdir of a symlink below a file = %v, want %q", err, workspace.ErrNotDir)
		}
		for _, name := range []string{"out", "out2/sub"} {
			err := fsys.Mkdir(t.Context(), name, &workspace.MkdirOptions{Recursive: true})
			info, statErr := os.Stat(filepath.Join(dir, name))
			if relaxed && (err != nil || statErr != nil || !info.IsDir()) || !relaxed && (!errors.Is(err, workspace.ErrEscape) || statErr == nil) {
				t.Errorf("Mkdir(%q), which leads out, relaxed: %t = %v, and Stat: %v", name, relaxed, err, statErr)
			}
		}
	}
}
