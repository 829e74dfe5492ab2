package localbash

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/providers/localbash/internal/sys"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/provider"
)

// maxReadAttempts is how often a file that changes while it is read is read
// again.
const maxReadAttempts = 10

// ReadFile implements [provider.Store]. A file that another program never stops
// changing in place is returned as it was read, with a version that no file has.
//
// What is read belongs to its version if the file looks the same before and after (RV2). A
// program that writes in place changes its times, so the file is then read again, unless the
// kernel has set them already and not yet the bytes.
func (f *folder) ReadFile(ctx context.Context, name string, limit int64) ([]byte, workspace.Version, error) {
	for attempt := 1; ; attempt++ {
		data, version, stable, err := f.readOnce(ctx, name, limit)
		switch {
		case err != nil:
			return nil, "", err
		case stable:
			return data, version, nil
		case attempt == maxReadAttempts:
			return data, workspace.Version("unstable-" + rand.Text()), nil
		}
	}
}

// readOnce reads a file and its version once. stable says that the two belong
// together.
func (f *folder) readOnce(ctx context.Context, name string, limit int64) (data []byte, version workspace.Version, stable bool, err error) {
	h, before, err := f.openRegular(name, false)
	if err != nil {
		return nil, "", false, err
	}
	defer h.Close()
	r := reading{handle: h, name: name, limit: limit}
	if data, err = r.all(ctx, before.size, nil); err != nil {
		return nil, "", false, err
	}
	after, err := h.stat()
	return data, before.version(), after.sameBytes(before), err
}

// sameBytes reports whether two looks at an open file saw the same version of
// it, and it still has a name. A rename or a new mode between them makes a new
// version, too. When a file is replaced the kernel changes its count of names
// and its times one after the other, so the first look may have seen the one
// without the other; the second tells.
func (s fileStat) sameBytes(before fileStat) bool {
	return s.size == before.size && s.mtime == before.mtime && s.changed == before.changed && !s.orphan
}

// openRegular opens a file that has bytes to read. The caller closes the handle. A directory
// is [workspace.ErrIsDir], and anything else that is no regular file [fs.ErrInvalid].
func (f *folder) openRegular(name string, nofollow bool) (handle, fileStat, error) {
	return openRegular(func() (handle, error) { return f.openHandle(name, nofollow) })
}

// openRegular opens a file that has bytes to read. One that is replaced before
// it has been looked at is opened again, as the version that it had is lost.
func openRegular(open func() (handle, error)) (handle, fileStat, error) {
	h, s, err := openRegularOnce(open)
	for attempt := 1; err == nil && s.orphan && attempt < maxReadAttempts; attempt++ {
		h.Close()
		h, s, err = openRegularOnce(open)
	}
	return h, s, err
}

// openRegularOnce opens a file and makes sure that it is a regular one, before anything can
// block. The open itself does not wait, as it has O_NONBLOCK: a FIFO without a writer would
// hold it for ever.
func openRegularOnce(open func() (handle, error)) (handle, fileStat, error) {
	h, err := open()
	if err != nil {
		return h, fileStat{}, err
	}
	s, err := h.stat()
	if err == nil {
		err = s.refuseIrregular()
	}
	if err != nil {
		h.Close()
		return h, fileStat{}, err
	}
	return h, s, nil
}

// refuseIrregular returns the error of reading or replacing what is no file.
func (s fileStat) refuseIrregular() error {
	switch s.kind {
	case workspace.TypeFile:
		return nil
	case workspace.TypeDirectory:
		return workspace.ErrIsDir
	}
	return provider.Errorf(fs.ErrInvalid, "not a regular file")
}

const (
	// readChunk is how much is read at a time: what the kernel copies within the
	// 20 µs after which Go's scheduler takes a thread in a system call for one
	// that waits, and wakes others.
	readChunk = 64 << 10
	// maxTrustedSize is the largest buffer that is allocated for a file because
	// the file says that it has that size.
	maxTrustedSize = 1 << 30
	// maxDoubled is the size from which on a buffer grows by no more than it must.
	maxDoubled = 1 << 20
	// minBuffer is the buffer for a file that says it is empty, as those of
	// /proc do.
	minBuffer = 512
)

// reading is the reading of a file.
type reading struct {
	handle
	name  string
	limit int64 // a larger file is [workspace.ErrTooLarge]; zero for none
}

// all reads to the end of buf or of a larger buffer, until that has size bytes
// or, if size is zero because the file says that it is empty, to its end.
//
// The size is what the file said when it was opened, and is input: a sparse file can claim
// more than there is memory, so at most maxTrustedSize is allocated for it at once, and a file
// that says it is empty may have bytes. A file that changes meanwhile gives a shorter or a
// longer result. It lies in the memory of buf if that was large enough.
func (r reading) all(ctx context.Context, size int64, buf []byte) ([]byte, error) {
	if err := r.check(size); err != nil {
		return nil, err
	}
	room := int(max(min(size, maxTrustedSize)-int64(len(buf)), minBuffer))
	if room > cap(buf)-len(buf) && cap(buf) < maxDoubled {
		room = max(room, 2*cap(buf)) // a buffer that is used again grows seldom
	}
	buf = slices.Grow(buf, room)
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
			return buf, r.check(int64(len(buf)))
		case err != nil:
			return nil, err
		}
		if err := r.check(int64(len(buf))); err != nil {
			return nil, err
		}
	}
	return buf, nil
}

// check returns ErrTooLarge for a size above the limit.
func (r reading) check(size int64) error {
	return ops.CheckSize(ops.ReadFile, r.name, size, r.limit)
}

// Open implements [provider.Opener]. The stream shows one file, whatever replaces it
// meanwhile. The whole file is described, whatever part is streamed (OP2).
func (f *folder) Open(_ context.Context, name string, opts workspace.OpenOptions) (io.ReadCloser, workspace.FileInfo, error) {
	h, s, err := f.openRegular(name, false)
	if err != nil {
		return nil, workspace.FileInfo{}, err
	}
	file := h.file()
	length := math.MaxInt64 - opts.Offset
	if opts.Length > 0 {
		length = min(length, opts.Length)
	}
	return struct {
		io.Reader
		io.Closer
	}{io.NewSectionReader(file, opts.Offset, length), file}, s.info(name), nil
}

// fileStat is what the operating system says of a file.
type fileStat struct {
	kind    workspace.FileType
	perm    fs.FileMode
	size    int64
	id      sys.FileID
	mtime   int64 // nanoseconds since 1970
	changed int64 // when the bytes or the attributes changed, in the same unit; 0 if unknown
	orphan  bool  // it has no name any more
	linked  bool  // it has several names; false if unknown
	owner   sys.Owner
}

// statOf returns what info says.
func statOf(info fs.FileInfo) fileStat {
	attributes := sys.AttributesOf(info)
	return fileStat{
		kind: kindOfMode(info.Mode()), perm: info.Mode().Perm(), size: info.Size(),
		mtime: info.ModTime().UnixNano(),
		id:    attributes.ID, changed: attributes.Changed, orphan: attributes.Unlinked, owner: attributes.Owner,
	}
}

// statOfFile describes an open file.
func statOfFile(file *os.File) (fileStat, error) {
	info, err := file.Stat()
	if err != nil {
		return fileStat{}, err
	}
	return statOf(info), nil
}

// kindOfMode returns the type that the mode of package os stands for.
func kindOfMode(mode fs.FileMode) workspace.FileType {
	switch {
	case mode.IsRegular():
		return workspace.TypeFile
	case mode.IsDir():
		return workspace.TypeDirectory
	case mode&fs.ModeSymlink != 0:
		return workspace.TypeSymlink
	}
	return workspace.TypeOther
}

// info describes the name that s belongs to. Only a file has a size and a version (T2, V9,
// Y1).
func (s fileStat) info(name string) workspace.FileInfo {
	_, base := workspace.Split(name)
	info := workspace.FileInfo{Name: base, Path: name, Type: s.kind, ModTime: time.Unix(0, s.mtime)}
	if s.kind == workspace.TypeFile {
		info.Size, info.Version = s.size, s.version()
	}
	return info
}

// version returns the version of the bytes that s belongs to. It is 16 characters: a hash, so
// that nobody takes it apart, of all that tells two contents of one name apart. The inode
// differs between a file and the one that replaced it, and the times differ where a number is
// used again.
func (s fileStat) version() workspace.Version {
	var raw [32]byte
	binary.LittleEndian.PutUint64(raw[0:], s.id.Inode)
	binary.LittleEndian.PutUint64(raw[8:], uint64(s.size))
	binary.LittleEndian.PutUint64(raw[16:], uint64(s.mtime))
	binary.LittleEndian.PutUint64(raw[24:], uint64(s.changed))
	sum := sha256.Sum256(raw[:])
	return workspace.Version(strings.ToLower(base32.HexEncoding.EncodeToString(sum[:10])))
}
