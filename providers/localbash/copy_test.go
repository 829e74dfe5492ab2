package localbash_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// rewriter is a context that rewrites a file in place when it is asked for its
// error while a part of the file has been copied.
type rewriter struct {
	context.Context
	t    *testing.T
	path string
	data []byte
	done bool
}

func (r *rewriter) Err() error {
	for _, temp := range temps(r.t, filepath.Dir(r.path)) {
		info, err := os.Stat(temp)
		if err != nil || info.Size() == 0 || r.done {
			continue
		}
		r.done = true
		put(r.t, r.path, string(r.data))
	}
	return r.Context.Err()
}

// TestCopyIsWhole copies a file that another program rewrites in place
// meanwhile, with and without a hole at its beginning.
func TestCopyIsWhole(t *testing.T) {
	t.Parallel()
	const size = 17 << 20
	for _, hole := range []int{0, size / 2, size} {
		dir := t.TempDir()
		path := filepath.Join(dir, "file")
		put(t, path, "")
		file, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		_, err = file.WriteAt(bytes.Repeat([]byte("a"), size-hole), int64(hole))
		if err := errors.Join(err, file.Truncate(size), file.Close()); err != nil {
			t.Fatal(err)
		}
		ctx := &rewriter{Context: context.Background(), t: t, path: path, data: bytes.Repeat([]byte("b"), size)}
		if _, err := open(t, dir, nil).Copy(ctx, "file", "copy"); err != nil || !ctx.done {
			t.Fatalf("Copy of a file that is rewritten = %v, want nil and that it was rewritten (%t)", err, ctx.done)
		}
		if got := content(t, filepath.Join(dir, "copy")); got != string(ctx.data) {
			t.Errorf("the copy has %d bytes, %d of them new, want %d of both", len(got), bytes.Count([]byte(got), []byte("b")), size)
		}
	}
}
