package localbash

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
	"unsafe"

	"github.com/workspacekit/workspacekit/internal/scan"
	"github.com/workspacekit/workspacekit/providers/localbash/internal/index"
	"github.com/workspacekit/workspacekit/providers/localbash/internal/sys"
	"github.com/workspacekit/workspacekit/workspace"
	"golang.org/x/sys/unix"
)

// openat2Root opens names below the folder with one system call, where os.Root
// needs one for each element. It is safe for concurrent use.
type openat2Root struct {
	*descriptor        // nil if it cannot be used
	resolve     uint64 // how the kernel confines names
}

// descriptor is the open folder.
type descriptor struct {
	refused bool // the kernel has no openat2, or a sandbox forbids the call

	mu sync.RWMutex // guards fd: read-locked while it is used
	fd int          // -1 once closed
}

// newOpenat2Root returns an openat2Root for the folder of h. It tries once whether the
// kernel has the call.
func newOpenat2Root(h host, relaxed bool) (openat2Root, error) {
	file, err := h.OpenFile(".", unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return openat2Root{}, err
	}
	defer file.Close()
	r := openat2Root{descriptor: &descriptor{}, resolve: unix.RESOLVE_BENEATH}
	if relaxed {
		r.resolve = 0
	}
	r.fd, err = sys.Duplicate(file)
	if err != nil {
		return openat2Root{}, err
	}
	probe, err := r.open(".", unix.O_PATH)
	r.refused = err != nil
	if err == nil {
		probe.Close()
	}
	return r, nil
}

// exact returns an openat2Root that follows no symlink.
func (r openat2Root) exact() openat2Root {
	r.resolve = unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS
	return r
}

// close closes the descriptor.
func (d *descriptor) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	unix.Close(d.fd)
	d.fd = -1
}

// maxOpenat2Attempts bounds how often an open that renames disturb is repeated.
const maxOpenat2Attempts = 1000

// open opens name, which the kernel confines while it follows it, so nobody can swap a
// directory for a symlink in between. See openat2(2).
//
// # Errors
//
// errNoOpenat2 if the kernel does not have the call, or meets too many symlinks: the caller
// then asks its host. [workspace.ErrEscape] for a name that leads out, [workspace.ErrSymlink]
// for a symlink in the exact view, [fs.ErrClosed] after close, and error numbers. EAGAIN,
// which says that a rename elsewhere kept the kernel from being sure of a "..", is tried
// again.
func (r openat2Root) open(name string, flags uint64) (handle, error) {
	if r.descriptor == nil || r.refused || len(name) >= unix.PathMax {
		return -1, errNoOpenat2
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	if r.fd < 0 {
		return -1, fs.ErrClosed
	}
	how := unix.OpenHow{Flags: flags | unix.O_CLOEXEC, Resolve: r.resolve}
	for attempt := 1; ; attempt++ {
		fd, err := unix.Openat2(r.fd, name, &how)
		switch {
		case err == nil:
			return handle(fd), nil
		case (err == unix.EAGAIN || err == unix.EINTR) && attempt < maxOpenat2Attempts:
			continue
		case err == unix.EXDEV && r.resolve != 0:
			return -1, workspace.ErrEscape
		case err == unix.ELOOP && r.resolve&unix.RESOLVE_NO_SYMLINKS != 0:
			return -1, workspace.ErrSymlink
		case err == unix.ELOOP && r.resolve != 0 && (flags&unix.O_NOFOLLOW == 0 || flags&unix.O_PATH != 0):
			// The kernel counts a symlink twice if it has to look twice, as it does
			// where one leads out.
			return -1, errNoOpenat2
		}
		return -1, err
	}
}

// lstat describes name itself.
func (r openat2Root) lstat(name string) (fileStat, error) {
	if !strings.Contains(name, "/") {
		return r.lstatChild(name)
	}
	h, err := r.open(name, unix.O_PATH|unix.O_NOFOLLOW)
	if err != nil {
		return fileStat{}, err
	}
	defer h.Close()
	return h.stat()
}

// lstatChild describes a child of the folder, which no symlink leads to.
func (r openat2Root) lstatChild(name string) (fileStat, error) {
	if r.refused {
		return fileStat{}, errNoOpenat2
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	if r.fd < 0 {
		return fileStat{}, fs.ErrClosed
	}
	return handle(r.fd).child(name)
}

// openDir opens the directory name, only to identify it.
func (r openat2Root) openDir(name string) (*os.File, error) {
	h, err := r.open(name, unix.O_PATH|unix.O_DIRECTORY)
	if err != nil {
		return nil, err
	}
	return h.file(), nil
}

// handle is an open file or directory. It is a bare descriptor, as an os.File costs
// allocations and a registration with the poller. Who has it closes it, once.
type handle int

// openHandle opens name to read it, without waiting for the other end of a
// FIFO. nofollow refuses a symlink as the last element.
func (f *folder) openHandle(name string, nofollow bool) (handle, error) {
	flags := uint64(unix.O_RDONLY | unix.O_NONBLOCK | unix.O_NOCTTY)
	if nofollow {
		flags |= unix.O_NOFOLLOW
	}
	h, err := f.openat2.open(name, flags)
	if err != errNoOpenat2 {
		return h, err
	}
	return f.openSlowly(name, int(flags))
}

// openSlowly is for kernels without openat2. An [os.Root] follows a symlink whatever the
// flags, so what is one is refused here. One that takes a file's place after that is
// followed, within the folder. The descriptor is a duplicate, as the [os.File] closes its
// own.
func (f *folder) openSlowly(name string, flags int) (handle, error) {
	if flags&unix.O_NOFOLLOW != 0 {
		if s, err := f.lstat(name); err == nil && s.kind == workspace.TypeSymlink {
			return -1, workspace.ErrSymlink
		}
	}
	file, err := f.host.OpenFile(name, flags, 0)
	if err != nil {
		return -1, err
	}
	defer file.Close()
	fd, err := sys.Duplicate(file)
	return handle(fd), err
}

// lstat describes name itself.
func (f *folder) lstat(name string) (fileStat, error) {
	s, err := f.openat2.lstat(name)
	if err != errNoOpenat2 {
		return s, err
	}
	info, err := f.host.Lstat(name)
	if err != nil {
		return fileStat{}, err
	}
	return statOf(info), nil
}

// Read implements [io.Reader].
func (h handle) Read(p []byte) (int, error) {
	for {
		n, err := unix.Read(int(h), p)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return 0, err
		case n == 0 && len(p) > 0:
			return 0, io.EOF
		}
		return n, nil
	}
}

// begin reads the beginning of a file. whole says that this is all of it, and that it is a
// file, because nothing else is read at a place. A page that the disk fails to read ends the
// bytes, too, so bytes that end with a page say nothing. It depends on [sys.FillsReads].
//
// For a file of 5,000 bytes it returns 5000 and true. For one of 8,192 it returns 8192 and
// false, and the caller reads on from there.
func (h handle) begin(buf []byte) (n int, whole bool) {
	const pageSize = 4 << 10 // divides all other sizes of pages
	n, err := unix.Pread(int(h), buf, 0)
	if err == nil && n < len(buf) && n%pageSize != 0 {
		return n, true
	}
	if _, err := unix.Seek(int(h), int64(max(n, 0)), io.SeekStart); err != nil {
		return 0, false
	}
	return max(n, 0), false
}

// Close implements [io.Closer].
func (h handle) Close() error { return unix.Close(int(h)) }

// file returns h as an os.File, which takes it over.
func (h handle) file() *os.File { return os.NewFile(uintptr(h), "file") }

// stat describes what is open.
func (h handle) stat() (fileStat, error) {
	var stat unix.Stat_t
	if err := unix.Fstat(int(h), &stat); err != nil {
		return fileStat{}, err
	}
	return statOfUnix(&stat), nil
}

// child describes the child name of an open directory, itself.
func (h handle) child(name string) (fileStat, error) {
	var stat unix.Stat_t
	if err := unix.Fstatat(int(h), name, &stat, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return fileStat{}, err
	}
	return statOfUnix(&stat), nil
}

// statOfUnix turns what the system says about a file into a fileStat.
func statOfUnix(stat *unix.Stat_t) fileStat {
	return fileStat{
		kind: kindOfFormat(stat.Mode), perm: fs.FileMode(stat.Mode & 0o777), size: stat.Size,
		id: sys.FileID{Device: uint64(stat.Dev), Inode: stat.Ino}, mtime: stat.Mtim.Nano(), changed: stat.Ctim.Nano(), orphan: stat.Nlink == 0, linked: stat.Nlink > 1, owner: sys.Owner{UID: stat.Uid, GID: stat.Gid},
	}
}

// kindOfFormat returns the type that the bits of a Unix mode stand for.
func kindOfFormat(mode uint32) workspace.FileType {
	switch mode & unix.S_IFMT {
	case unix.S_IFREG:
		return workspace.TypeFile
	case unix.S_IFDIR:
		return workspace.TypeDirectory
	case unix.S_IFLNK:
		return workspace.TypeSymlink
	}
	return workspace.TypeOther
}

// children are the children of an open directory, each reached with one system call, which
// follows no symlink.
type children struct{ handle }

// openChildren opens the directory dir. The file is the directory, too, and has to be closed.
func (f *folder) openChildren(dir string) (children, *os.File, error) {
	l, err := f.openListing(dir, false)
	if err != nil {
		return children{}, nil, err
	}
	return children{l.handle}, l.file(), nil
}

// close closes nothing: the file has the same descriptor, and closes it.
func (c children) close() {}

// openFile opens the child name. A symlink is an error.
func (c children) openFile(name string, flag int, perm fs.FileMode) (*os.File, error) {
	var fd int
	err := uninterrupted(func() (err error) {
		fd, err = unix.Openat(int(c.handle), name, flag|unix.O_NOFOLLOW|unix.O_CLOEXEC, uint32(perm))
		return err
	})
	if err != nil {
		return nil, err
	}
	return handle(fd).file(), nil
}

// uninterrupted repeats a system call that a signal has interrupted, as those of some
// network file systems can be.
func uninterrupted(call func() error) error {
	for {
		if err := call(); err != unix.EINTR {
			return err
		}
	}
}

// remove removes the child name, which is a file or an empty directory. Which of the two it is
// need not be asked before, when it could still change: unlinkat without a flag fails for a
// directory, and with AT_REMOVEDIR for anything else.
func (c children) remove(name string) error {
	unlink := func(flags int) error {
		return uninterrupted(func() error { return unix.Unlinkat(int(c.handle), name, flags) })
	}
	err := unlink(0)
	if err == nil || err == unix.ENOENT {
		return err
	}
	if dirErr := unlink(unix.AT_REMOVEDIR); dirErr != unix.ENOTDIR {
		return dirErr
	}
	return err
}

// rename gives the child old the name new, and replaces the file that has it.
func (c children) rename(old, new string) error {
	return uninterrupted(func() error { return unix.Renameat(int(c.handle), old, int(c.handle), new) })
}

// has reports whether name is still the open file.
func (c children) has(name string, file *os.File) bool {
	opened, err := statOfFile(file)
	if err != nil {
		return false
	}
	named, err := c.child(name)
	return err == nil && named.id == opened.id
}

// setTime says that the child name was changed at a time.
func (c children) setTime(name string, at time.Time) error {
	ts := unix.NsecToTimespec(at.UnixNano())
	return unix.UtimesNanoAt(int(c.handle), name, []unix.Timespec{ts, ts}, unix.AT_SYMLINK_NOFOLLOW)
}

// tree is a watched directory, open.
type tree struct {
	openat2 openat2Root
	buffers *buffers
}

// openTree opens the directory dir of h.
func (f *folder) openTree(h host, dir string) (*tree, error) {
	root, err := h.OpenRoot(inside(dir))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	file, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	defer file.Close()
	fd, err := sys.Duplicate(file)
	if err != nil {
		return nil, err
	}
	return &tree{
		openat2: openat2Root{&descriptor{refused: f.openat2.refused, fd: fd}, unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS},
		buffers: &f.buffers,
	}, nil
}

// close closes what the tree has open.
func (t *tree) close() { t.openat2.close() }

// treeFlags open a directory to list it, and refuse a symlink.
const treeFlags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC

// open opens the directory path below t, and follows no symlinks. Where a name has come to
// lead is for lookTop and enter to find out, from the error or the number of the directory.
func (t *tree) open(path string) (listing, error) {
	h, err := t.openat2.open(path, treeFlags)
	if err == errNoOpenat2 {
		h, err = t.openSlowly(path)
	}
	return listing{handle: h, buffers: t.buffers}, err
}

// openSlowly opens one element after the other. Those on the way need only be entered, not
// read.
func (t *tree) openSlowly(path string) (handle, error) {
	elements := strings.Split(path, "/")
	fd := t.openat2.fd
	for i, element := range elements {
		flags := treeFlags
		if i < len(elements)-1 {
			flags |= unix.O_PATH
		}
		next, err := unix.Openat(fd, element, flags, 0)
		if i > 0 {
			unix.Close(fd)
		}
		if err != nil {
			return -1, err
		}
		fd = next
	}
	return handle(fd), nil
}

// listing is an open directory whose entries are read.
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

// open opens the child name of the directory to read it, without waiting for the other end
// of a FIFO.
func (l listing) open(name string) (handle, error) {
	for {
		fd, err := unix.Openat(int(l.handle), name, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		switch {
		case err == nil:
			return handle(fd), nil
		case err == unix.EINTR:
			continue
		case err == unix.ELOOP:
			return -1, workspace.ErrSymlink
		}
		return -1, err
	}
}

// descriptor returns the descriptor of the directory.
func (l listing) descriptor() int { return int(l.handle) }

// buffers keeps the memory that directories are read into.
type buffers struct{ pool sync.Pool }

// direntBuffer is large enough for the entries of most directories.
const direntBuffer = 32 << 10

// get returns a buffer for directory entries, a used one if there is one.
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

// appendEntries parses what the kernel wrote into raw. The names share one string, so that
// none of them is allocated by itself. Each entry is a struct linux_dirent64, see
// getdents64(2):
//
//	at 0    8 bytes   inode
//	at 8    8 bytes   where the next entry is in the directory
//	at 16   2 bytes   size of this entry, with what pads it
//	at 18   1 byte    type
//	at 19             name, up to a NUL byte
func (l listing) appendEntries(children []scan.Child, raw []byte) ([]scan.Child, error) {
	text := string(raw)
	const usual = 32 // the size of an entry with a name of 5 to 12 bytes
	children = slices.Grow(children, len(raw)/usual)
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

// kind returns what the entry name is, and "" if it no longer exists. Only a file
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

// newIndex returns the index of f, which is nil if o is, or the kernel does not have openat2.
func (f *folder) newIndex(o *IndexOptions) *index.Index {
	if o == nil || f.openat2.refused {
		return nil
	}
	return index.New(f.openIndexed, o.complete())
}

// complete returns o for package index.
func (o IndexOptions) complete() index.Options {
	return index.Options{
		MaxMemory: cmp.Or(o.MaxMemory, 256<<20),
		Sweep:     time.Minute, Idle: 10 * time.Minute, Pause: 100 * time.Millisecond, Share: 20,
	}
}

// openIndexed opens a directory for the index. It follows no symlink, so that each directory
// is in the index by one path.
func (f *folder) openIndexed(path string) (index.Dir, error) {
	h, err := f.openat2.exact().open(path, treeFlags)
	return indexedDir{f, listing{handle: h, buffers: &f.buffers}, path}, err
}

// indexedDir is a directory that the index reads.
type indexedDir struct {
	f *folder
	listing
	path string
}

// Descriptor implements [index.Dir].
func (d indexedDir) Descriptor() int { return d.descriptor() }

// Stamp implements [index.Dir].
func (d indexedDir) Stamp() (index.Stamp, error) {
	s, err := d.stat()
	return s.stamp(), err
}

// List implements [index.Dir].
func (d indexedDir) List(ctx context.Context) ([]scan.Child, error) {
	return d.f.visible(ctx, d.listing, d.path)
}

// StampOf implements [index.Dir].
func (d indexedDir) StampOf(name string) (index.Stamp, error) {
	s, err := d.child(name)
	return s.stamp(), err
}

// Read implements [index.Dir]. The data may lie in buf.
func (d indexedDir) Read(ctx context.Context, name string, buf []byte, limit int64) ([]byte, index.Stamp, error) {
	h, found, err := openRegular(func() (handle, error) { return d.open(name) })
	if err == nil {
		defer h.Close()
	}
	data, err := readText(ctx, name, h, found, err, buf, &buf, scan.ReadOptions{Limit: limit, Text: true})
	return data, found.stamp(), err
}

// stamp returns s for the index.
func (s fileStat) stamp() index.Stamp {
	return index.Stamp{ID: s.id, Size: s.size, Modified: s.mtime, Changed: s.changed, Linked: s.linked}
}
