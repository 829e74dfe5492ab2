package localbash

import (
	"bytes"
	"context"
	"encoding/binary"
	"sync"
	"unsafe"

	"github.com/workspacekit/workspacekit/internal/scan"
	"github.com/workspacekit/workspacekit/workspace"
	"golang.org/x/sys/unix"
)

// listing is an open directory to be listed.
type listing struct {
	handle
	buffers *buffers
}

// openListing opens the directory dir. nofollow refuses a symlink as the last
// element.
func (f *folder) openListing(dir string, nofollow bool) (listing, error) {
	flags := uint64(unix.O_RDONLY | unix.O_DIRECTORY)
	if nofollow {
		flags |= unix.O_NOFOLLOW
	}
	h, err := f.openat2.open(dir, flags)
	if err == errNoOpenat2 {
		h, err = f.openSlowly(dir, int(flags))
	}
	return listing{handle: h, buffers: &f.buffers}, err
}

// descriptor returns the open directory's.
func (l listing) descriptor() int { return int(l.handle) }

// buffers keeps the memory that directories are read into.
type buffers struct{ pool sync.Pool }

// direntBuffer is large enough for the entries of most directories.
const direntBuffer = 32 << 10

func (b *buffers) get() *[]byte {
	if buf, ok := b.pool.Get().(*[]byte); ok {
		return buf
	}
	buf := make([]byte, direntBuffer)
	return &buf
}

// children returns the entries in the order of the directory.
func (l listing) children(ctx context.Context) ([]scan.Child, error) {
	buf := l.buffers.get()
	defer l.buffers.pool.Put(buf)
	children := []scan.Child{}
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n, err := unix.Getdents(int(l.handle), *buf)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return nil, err
		case n <= 0:
			return children, nil
		}
		if children, err = l.appendEntries(children, (*buf)[:n]); err != nil {
			return nil, err
		}
	}
}

// The layout of a struct linux_dirent64.
const (
	direntReclen = int(unsafe.Offsetof(unix.Dirent{}.Reclen))
	direntType   = int(unsafe.Offsetof(unix.Dirent{}.Type))
	direntName   = int(unsafe.Offsetof(unix.Dirent{}.Name))
)

// appendEntries parses what the kernel wrote into raw. The names share one
// string.
func (l listing) appendEntries(children []scan.Child, raw []byte) ([]scan.Child, error) {
	text := string(raw)
	for start := 0; start < len(raw); {
		entry := raw[start:]
		reclen := int(binary.NativeEndian.Uint16(entry[direntReclen:]))
		length := bytes.IndexByte(entry[direntName:reclen], 0)
		name := text[start+direntName : start+direntName+length]
		start += reclen
		if name == "." || name == ".." {
			continue
		}
		kind, err := l.kind(entry[direntType], name)
		if err != nil {
			return nil, err
		}
		if kind != "" {
			children = append(children, scan.Child{Name: name, Type: kind})
		}
	}
	return children, nil
}

// kind returns what the entry name is, and "" if it has gone. Only a file
// system that does not say in the entry itself is asked again.
func (l listing) kind(entryType byte, name string) (workspace.FileType, error) {
	switch entryType {
	case unix.DT_REG:
		return workspace.TypeFile, nil
	case unix.DT_DIR:
		return workspace.TypeDirectory, nil
	case unix.DT_LNK:
		return workspace.TypeSymlink, nil
	case unix.DT_UNKNOWN:
		s, err := l.child(name)
		if err == unix.ENOENT {
			return "", nil
		}
		return s.kind, err
	}
	return workspace.TypeOther, nil
}

// moment returns what tells whether the directory has changed.
func (l listing) moment() (dirMoment, bool) {
	var stat unix.Stat_t
	err := unix.Fstat(int(l.handle), &stat)
	return dirMoment{device: uint64(stat.Dev), inode: stat.Ino, changed: stat.Ctim.Nano()}, err == nil
}

// changeClock returns the time that a change at this moment would get. It is
// the kernel's coarse clock, which stands still for up to 10 ms.
func changeClock() int64 {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_REALTIME_COARSE, &now); err != nil {
		return 0
	}
	return now.Nano()
}

// datesChanges reports whether every change of the directory gets the time of
// the kernel's clock, to the nanosecond, before anyone can see it. So it is on
// local file systems; over a network it is another clock and later.
func (l listing) datesChanges(at dirMoment) bool {
	var stat unix.Statfs_t
	if err := unix.Fstatfs(int(l.handle), &stat); err != nil {
		return false
	}
	switch uint32(stat.Type) {
	case unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.F2FS_SUPER_MAGIC,
		unix.TMPFS_MAGIC, unix.OVERLAYFS_SUPER_MAGIC:
		return at.changed%1e9 != 0 // ext4 can have inodes with whole seconds
	}
	return false
}
