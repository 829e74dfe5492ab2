package localbash

import (
	"context"
	"errors"
	"io"
	"math"
	"os"

	"github.com/workspacekit/workspacekit/workspace"
)

// Copy implements [workspace.Copier]. The copy has the permission bits of the
// source. Where the file system can share the bytes of two files, they are
// not copied. On Linux the copy has the holes of the source. A file that another program never stops changing in place is
// copied as it was read.
func (f *FS) Copy(ctx context.Context, source, destination string) (workspace.Version, error) {
	for _, name := range []string{source, destination} {
		if err := f.check(ctx, workspace.OpCopy, name); err != nil {
			return "", err
		}
	}
	for attempt := 1; ; attempt++ {
		version, err := f.copy(ctx, source, destination, attempt == maxWriteAttempts)
		if !errors.Is(err, errOvertaken) || attempt == maxWriteAttempts {
			return version, f.faultOf(workspace.OpCopy, source, err)
		}
	}
}

// copy copies once. It is errOvertaken if source changes meanwhile, unless that
// does not matter.
func (f *FS) copy(ctx context.Context, source, destination string, torn bool) (workspace.Version, error) {
	h, s, err := f.openRegular(source, false)
	if err != nil {
		return "", err
	}
	from := h.file()
	defer from.Close()
	d, err := f.begin(ctx, destination, workspace.WriteOptions{IfNotExist: true}, s.perm)
	if err != nil {
		return "", &blame{destination, err}
	}
	defer d.discard()
	if err := d.fill(ctx, from); err != nil {
		return "", err
	}
	now, err := stampOfFile(from)
	if err != nil {
		return "", err
	}
	if !torn && !now.sameBytes(s) {
		return "", errOvertaken
	}
	version, err := d.commit(ctx)
	if err != nil {
		return "", &blame{destination, err}
	}
	return version, nil
}

// fill copies the bytes of a file to the draft, which has the same holes.
func (d *draft) fill(ctx context.Context, from *os.File) error {
	d.exact = true
	for at := int64(0); at < math.MaxInt64; {
		start, end, err := nextData(from, at)
		if err == nil {
			err = d.fillPart(ctx, from, start, end)
		}
		if err != nil {
			return err
		}
		at = end
	}
	return nil
}

// fillPart copies the bytes between two offsets, or as many as there are. What
// the draft does not have before start is a hole.
func (d *draft) fillPart(ctx context.Context, from *os.File, start, end int64) error {
	if start > 0 {
		if err := d.file.Truncate(start); err != nil {
			return err
		}
	}
	for _, file := range []*os.File{from, d.file} {
		if _, err := file.Seek(start, io.SeekStart); err != nil {
			return err
		}
	}
	for at := start; at < end; {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := io.CopyN(d.file, from, min(copyChunk, end-at))
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		at += n
	}
	return nil
}

// copyChunk is how much is copied between two looks at the context.
const copyChunk = 8 << 20
