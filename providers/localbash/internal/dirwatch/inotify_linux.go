package dirwatch

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// New returns the Notifier of this operating system for the directory of the
// host root and those below it.
func New(root string) Notifier { return new(inotify) }

// inotify is the Notifier of Linux. The kernel knows a directory by a watch
// descriptor, whatever its path is, and it is given the directory itself, by
// way of /proc: no path that others could change is trusted. Where /proc is
// not mounted nothing can be watched.
type inotify struct {
	file    *os.File    // nil before the first watch
	stop    func() bool // of what ends a read when the context does; nil before the first read
	buf     []byte
	read    Position // how many bytes have been read, which is where the next notice begins
	notices []Notice
}

const (
	inotifyEvents = unix.IN_CREATE | unix.IN_MOVED_TO | unix.IN_DELETE | unix.IN_MOVED_FROM | unix.IN_MODIFY |
		unix.IN_MOVE_SELF | unix.IN_ONLYDIR | unix.IN_EXCL_UNLINK
	// inotifyBuffer has room for many events, and for any one.
	inotifyBuffer = 64 << 10
)

// open creates the queue of the kernel. Its descriptor does not block, so a
// wait uses the runtime's poller.
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

// Close implements Notifier.
func (n *inotify) Close() {
	if n.stop != nil {
		n.stop()
		n.stop = nil
	}
	if n.file != nil {
		n.file.Close()
		n.file = nil
	}
}

// Add implements [Notifier].
func (n *inotify) Add(dir Dir) (ID, error) {
	if err := n.open(); err != nil {
		return 0, err
	}
	return addWatch(n.file, dir.Descriptor, inotifyEvents)
}

// addWatch makes the inotify instance file watch the open directory descriptor.
func addWatch(file *os.File, descriptor int, events uint32) (ID, error) {
	raw, err := file.SyscallConn()
	if err != nil {
		return 0, err
	}
	var wd int
	var addErr error
	err = raw.Control(func(fd uintptr) {
		wd, addErr = unix.InotifyAddWatch(int(fd), fmt.Sprintf("/proc/self/fd/%d", descriptor), events)
	})
	if err == nil {
		err = addErr
	}
	return ID(wd), err
}

// Remove implements [Notifier].
func (n *inotify) Remove(id ID) {
	if n.file != nil {
		removeWatch(n.file, id)
	}
}

// removeWatch ends a watch of the inotify instance file.
func removeWatch(file *os.File, id ID) {
	raw, err := file.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) { _, _ = unix.InotifyRmWatch(int(fd), uint32(id)) })
}

// Wait implements [Notifier].
func (n *inotify) Wait(ctx context.Context, deadline time.Time) []Notice {
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
		n.Close()
		return []Notice{{Kind: Lost}}
	}
	n.parse(n.buf[:size])
	return n.notices
}

// Now implements [Notifier]. TIOCINQ is FIONREAD, see inotify(7). A change is in the kernel's
// queue before the system call that made it returns.
func (n *inotify) Now() Position {
	if n.file == nil {
		return n.read
	}
	raw, err := n.file.SyscallConn()
	if err != nil {
		return n.read
	}
	waiting := 0
	_ = raw.Control(func(fd uintptr) { waiting, _ = unix.IoctlGetInt(int(fd), unix.TIOCINQ) })
	return n.read + Position(waiting)
}

// parse turns what the kernel wrote into notices.
func (n *inotify) parse(raw []byte) {
	n.notices = n.notices[:0]
	for len(raw) >= unix.SizeofInotifyEvent {
		watch := ID(int32(binary.NativeEndian.Uint32(raw)))
		mask := binary.NativeEndian.Uint32(raw[4:])
		end := unix.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(raw[12:]))
		name, _, _ := bytes.Cut(raw[unix.SizeofInotifyEvent:end], []byte{0})
		raw = raw[end:]
		n.read += Position(end)
		if kind, ok := noticeOf(mask); ok {
			n.notices = append(n.notices, Notice{Kind: kind, Watch: watch, Name: string(name), Position: n.read})
		}
	}
}

// noticeOf returns what an event says that has the given mask.
func noticeOf(mask uint32) (kind Kind, ok bool) {
	switch {
	case mask&unix.IN_Q_OVERFLOW != 0:
		return Lost, true
	case mask&unix.IN_IGNORED != 0:
		return Ended, true
	case mask&unix.IN_MOVE_SELF != 0:
		return Moved, true
	case mask&(unix.IN_CREATE|unix.IN_MOVED_TO) != 0:
		return Appeared, true
	case mask&(unix.IN_DELETE|unix.IN_MOVED_FROM) != 0:
		return Vanished, true
	case mask&unix.IN_MODIFY != 0:
		return Written, true
	}
	return 0, false
}
