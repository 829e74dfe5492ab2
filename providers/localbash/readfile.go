package localbash

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/workspacekit/workspacekit/workspace"
)

// ReadFile implements [workspace.FileSystem].
func (f *FS) ReadFile(ctx context.Context, name string) ([]byte, error) {
	data, _, err := f.ReadVersioned(ctx, name, 0)
	return data, err
}

// maxReadAttempts is how often a file that changes while it is read is read
// again.
const maxReadAttempts = 10

// ReadVersioned implements [workspace.VersionedReader]. A file that another
// program never stops changing in place is returned as it was read, with a
// version that no file has.
func (f *FS) ReadVersioned(ctx context.Context, name string, limit int64) ([]byte, workspace.Version, error) {
	if err := f.check(ctx, workspace.OpReadFile, name); err != nil {
		return nil, "", err
	}
	data, version, stable, err := f.readOnce(ctx, name, limit)
	for attempt := 1; err == nil && !stable; attempt++ {
		if attempt == maxReadAttempts {
			return data, workspace.Version("unstable-" + rand.Text()), nil
		}
		data, version, stable, err = f.readOnce(ctx, name, limit)
	}
	if err != nil {
		return nil, "", f.fault(workspace.OpReadFile, name, err)
	}
	return data, version, nil
}

func (f *FS) readOnce(ctx context.Context, name string, limit int64) (data []byte, version workspace.Version, stable bool, err error) {
	h, before, err := f.openRegular(name, false)
	if err != nil {
		return nil, "", false, err
	}
	defer h.Close()
	if data, err = readAll(ctx, h, before.size, limit, nil); err != nil {
		return nil, "", false, err
	}
	after, err := h.stamp()
	return data, before.version(), after.sameBytes(before), err
}

// sameBytes reports whether two looks at an open file saw the same version of
// it, and it still has a name. A rename or a new mode between them makes a new
// version, too. When a file is replaced the kernel changes its count of names
// and its times one after the other, so the first look may have seen the one
// without the other; the second tells.
func (s stamp) sameBytes(before stamp) bool {
	return s.size == before.size && s.mtime == before.mtime && s.changed == before.changed && !s.orphan
}

// openRegular opens a file that has bytes to read. One that is replaced before
// it has been looked at is opened again, as the version that it had is lost.
func (f *FS) openRegular(name string, nofollow bool) (handle, stamp, error) {
	h, s, err := f.openRegularOnce(name, nofollow)
	for attempt := 1; err == nil && s.orphan && attempt < maxReadAttempts; attempt++ {
		h.Close()
		h, s, err = f.openRegularOnce(name, nofollow)
	}
	return h, s, err
}

func (f *FS) openRegularOnce(name string, nofollow bool) (handle, stamp, error) {
	h, err := f.openHandle(name, nofollow)
	if err != nil {
		return h, stamp{}, err
	}
	s, err := h.stamp()
	if err == nil {
		err = s.refuseIrregular()
	}
	if err != nil {
		h.Close()
		return h, stamp{}, err
	}
	return h, s, nil
}

// refuseIrregular returns the error of reading or replacing what is no file.
func (s stamp) refuseIrregular() error {
	switch s.kind {
	case workspace.TypeFile:
		return nil
	case workspace.TypeDirectory:
		return workspace.ErrIsDir
	}
	return fmt.Errorf("%w: not a regular file", fs.ErrInvalid)
}

const (
	// readChunk is how much is read at a time: what the kernel copies within the
	// 20 µs after which Go's scheduler takes a thread in a system call for one
	// that waits, and wakes others.
	readChunk = 64 << 10
	// maxTrustedSize is up to which size a buffer is made for a file because
	// it says that it has it.
	maxTrustedSize = 1 << 30
	// minBuffer is the buffer for a file that says it is empty, as those of
	// /proc do.
	minBuffer = 512
)

// readAll reads r to the end of buf or of a larger buffer, until that has size
// bytes or, if size is zero because r says that it is empty, to the end of r.
func readAll(ctx context.Context, r io.Reader, size, limit int64, buf []byte) ([]byte, error) {
	if err := checkSize(size, limit); err != nil {
		return nil, err
	}
	buf = slices.Grow(buf, int(max(min(size, maxTrustedSize)-int64(len(buf)), minBuffer)))
	for size == 0 || int64(len(buf)) < size {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if len(buf) == cap(buf) {
			buf = slices.Grow(buf, len(buf))
		}
		n, err := r.Read(buf[len(buf):min(cap(buf), len(buf)+readChunk)])
		buf = buf[:len(buf)+n]
		switch {
		case errors.Is(err, io.EOF):
			return buf, checkSize(int64(len(buf)), limit)
		case err != nil:
			return nil, err
		}
		if err := checkSize(int64(len(buf)), limit); err != nil {
			return nil, err
		}
	}
	return buf, nil
}

// checkSize is [workspace.CheckSize] before the name is known.
func checkSize(size, limit int64) error {
	if limit == 0 || 0 < limit && size <= limit {
		return nil
	}
	return plainCause(workspace.CheckSize("", "", size, limit))
}
