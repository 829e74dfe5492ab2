package localbash_test

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/providers/localbash"
)

// TestMoveBelowItself wants nothing to be moved, or made, in any spelling.
func TestMoveBelowItself(t *testing.T) {
	t.Run("confined", func(t *testing.T) { moveBelowItself(t, localbash.Options{}) })
	t.Run("relaxed", func(t *testing.T) { moveBelowItself(t, localbash.Options{Relaxed: true}) })
}

func moveBelowItself(t *testing.T, opts localbash.Options) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "dir/sub/file"), "content")
	put(t, filepath.Join(dir, "file"), "content")
	link(t, ".", filepath.Join(dir, "here"))
	link(t, "sub", filepath.Join(dir, "dir/link"))
	fsys := open(t, dir, &opts)
	before := tree(t, dir)
	for _, test := range []struct{ source, destination string }{
		{"dir", "dir/new"},
		{"dir", "dir/sub/new"},
		{"dir", "dir/a/b/new"},
		{"dir", "here/dir/new"},
		{"dir", "here/here/dir/a/new"},
		{"here/dir", "dir/new"},
		{"dir/sub", "dir/link/new"},
		{"dir", "dir/sub"},
		{"dir", "here/dir/sub/file"},
	} {
		err := fsys.Move(context.Background(), test.source, test.destination)
		var pathError *fs.PathError
		if !errors.Is(err, fs.ErrInvalid) || !errors.As(err, &pathError) || pathError.Path != test.source {
			t.Errorf("Move(%q, %q) = %v, want %q for %q", test.source, test.destination, err, fs.ErrInvalid, test.source)
		}
	}
	if diff := cmp.Diff(before, tree(t, dir)); diff != "" {
		t.Errorf("Move below itself changed something (-before +after):\n%s", diff)
	}
}

// TestMoveOntoNothingButALink wants names to be taken by what leads nowhere.
func TestMoveOntoNothingButALink(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "file"), "content")
	link(t, "nowhere", filepath.Join(dir, "dangling"))
	err := open(t, dir, nil).Move(context.Background(), "file", "dangling")
	if !errors.Is(err, fs.ErrExist) {
		t.Errorf("Move to a dangling symlink = %v, want %q", err, fs.ErrExist)
	}
}
