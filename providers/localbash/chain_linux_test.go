package localbash_test

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"testing"
)

// TestSymlinkChains wants as many symlinks in a chain followed as the
// documentation says. os.Root follows 8, openat2 and Resolve follow 40.
func TestSymlinkChains(t *testing.T) {
	t.Parallel()
	const short, long, unlimited = 8, 40, 0 // see docs/rough-edges.md
	for _, op := range operations() {
		quick, portable := unlimited, unlimited
		switch op.name {
		case "Resolve", "WriteFile", "Create":
			quick, portable = long, long
		case "ReadFile", "ReadVersioned", "Open", "Ls", "Glob", "Copy-from":
			quick, portable = long, short
		case "Grep", "Watch", "Mkdir-recursive", "WriteFile-below", "Mkdir-below", "Move-below", "Copy-below", "Rm-below":
			quick, portable = short, short
		}
		tryChains(t, op, quick, false)
		tryChains(t, op, portable, true)
	}
}

// tryChains wants op to follow a chain of limit symlinks and refuse a longer
// one, or to take one of any length as it is if limit is 0.
func tryChains(t *testing.T, op operation, limit int, portable bool) {
	t.Helper()
	lengths := []int{limit, limit + 1}
	if limit == 0 {
		lengths = []int{41}
	}
	for _, length := range lengths {
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
