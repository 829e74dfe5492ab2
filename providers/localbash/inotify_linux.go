package localbash

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// newNotifier returns the notifier of this operating system.
func (f *FS) newNotifier(string) notifier { return new(inotify) }

// inotify is the notifier of Linux. The kernel knows a directory by a watch
// descriptor, whatever its path is, and it is given the directory itself, by
// way of /proc: no path that others could change is trusted. Where /proc is
// not mounted nothing can be watched.
type inotify struct {
	file    *os.File    // nil before the first watch
	stop    func() bool // of what ends a read when the context does; nil before the first read
	buf     []byte
	notices []notice
}

const (
	inotifyEvents = unix.IN_CREATE | unix.IN_MOVED_TO | unix.IN_DELETE | unix.IN_MOVED_FROM | unix.IN_MODIFY |
		unix.IN_MOVE_SELF | unix.IN_ONLYDIR | unix.IN_EXCL_UNLINK
	// inotifyBuffer has room for many events, and for any one.
	inotifyBuffer = 64 << 10
)

// open creates the queue of the kernel. Its descriptor does not block, so a
// wait is that of the runtime's poller.
func (n *inotify) open() error {
	if n.file != nil {
		return nil
	}
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return err
	}
	n.file, n.buf = os.NewFile(uintptr(fd), "inotify"), make([]byte, inotifyBuffer)
	return nil
}

func (n *inotify) close() {
	if n.stop != nil {
		n.stop()
		n.stop = nil
	}
	if n.file != nil {
		n.file.Close()
		n.file = nil
	}
}

// add implements [notifier].
func (n *inotify) add(l listing, _ string) (watchID, error) {
	if err := n.open(); err != nil {
		return 0, err
	}
	raw, err := n.file.SyscallConn()
	if err != nil {
		return 0, err
	}
	var wd int
	var addErr error
	err = raw.Control(func(fd uintptr) {
		wd, addErr = unix.InotifyAddWatch(int(fd), fmt.Sprintf("/proc/self/fd/%d", l.handle), inotifyEvents)
	})
	if err == nil {
		err = addErr
	}
	return watchID(wd), err
}

// remove implements [notifier].
func (n *inotify) remove(id watchID) {
	if n.file == nil {
		return
	}
	raw, err := n.file.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) { _, _ = unix.InotifyRmWatch(int(fd), uint32(id)) })
}

// wait implements [notifier].
func (n *inotify) wait(ctx context.Context, deadline time.Time) []notice {
	if n.file == nil {
		waitFor(ctx, nil, deadline)
		return nil
	}
	if n.stop == nil {
		file := n.file
		n.stop = context.AfterFunc(ctx, func() { _ = file.SetReadDeadline(time.Unix(1, 0)) })
	}
	_ = n.file.SetReadDeadline(deadline)
	if ctx.Err() != nil { // its end may have set the deadline before
		return nil
	}
	size, err := n.file.Read(n.buf)
	switch {
	case os.IsTimeout(err):
		return nil
	case err != nil: // not known to happen
		n.close()
		return []notice{{kind: noticeLost}}
	}
	n.parse(n.buf[:size])
	return n.notices
}

// parse turns what the kernel wrote into notices.
func (n *inotify) parse(raw []byte) {
	n.notices = n.notices[:0]
	for len(raw) >= unix.SizeofInotifyEvent {
		watch := watchID(int32(binary.NativeEndian.Uint32(raw)))
		mask := binary.NativeEndian.Uint32(raw[4:])
		end := unix.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(raw[12:]))
		name, _, _ := bytes.Cut(raw[unix.SizeofInotifyEvent:end], []byte{0})
		raw = raw[end:]
		if kind, ok := noticeOf(mask); ok {
			n.notices = append(n.notices, notice{kind: kind, watch: watch, name: string(name)})
		}
	}
}

// noticeOf returns what an event says that has the given mask.
func noticeOf(mask uint32) (kind noticeKind, ok bool) {
	switch {
	case mask&unix.IN_Q_OVERFLOW != 0:
		return noticeLost, true
	case mask&unix.IN_IGNORED != 0:
		return noticeEnded, true
	case mask&unix.IN_MOVE_SELF != 0:
		return noticeMoved, true
	case mask&(unix.IN_CREATE|unix.IN_MOVED_TO) != 0:
		return noticeAppeared, true
	case mask&(unix.IN_DELETE|unix.IN_MOVED_FROM) != 0:
		return noticeVanished, true
	case mask&unix.IN_MODIFY != 0:
		return noticeWritten, true
	}
	return 0, false
}

// tree is a watched directory, open.
type tree struct {
	quick   quick
	buffers *buffers
}

// openTree opens the directory dir of h.
func (f *FS) openTree(h host, dir string) (*tree, error) {
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
	fd, err := duplicate(file)
	if err != nil {
		return nil, err
	}
	return &tree{
		quick:   quick{&descriptor{refused: f.quick.refused, fd: fd}, unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS},
		buffers: &f.buffers,
	}, nil
}

func (t *tree) close() { t.quick.close() }

// treeFlags open a directory to list it, and refuse a symlink.
const treeFlags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC

// open opens the directory path below t, and follows no symlinks.
func (t *tree) open(path string) (listing, error) {
	h, err := t.quick.open(path, treeFlags)
	if err == errQuick {
		h, err = t.openSlowly(path)
	}
	return listing{handle: h, buffers: t.buffers}, err
}

// openSlowly opens one element after the other.
func (t *tree) openSlowly(path string) (handle, error) {
	elements := strings.Split(path, "/")
	fd := t.quick.fd
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
