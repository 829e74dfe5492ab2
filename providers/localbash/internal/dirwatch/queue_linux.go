package dirwatch

import (
	"bytes"
	"encoding/binary"
	"os"

	"golang.org/x/sys/unix"
)

// Queue is a queue of the kernel's events, which says more than a [Notifier] does and can
// be emptied at any moment. Ready may be called beside the other methods, which are for
// one goroutine at a time.
type Queue struct {
	file *os.File
	buf  []byte
}

// queueEvents are what makes a listing or a content untrue. A file that has lost its name
// and is written on may have another name.
const queueEvents = unix.IN_CREATE | unix.IN_MOVED_TO | unix.IN_DELETE | unix.IN_MOVED_FROM | unix.IN_MODIFY |
	unix.IN_ATTRIB | unix.IN_ONLYDIR

// OpenQueue returns an empty Queue.
//
// # Errors
//
// [errors.ErrUnsupported] on other systems than Linux.
func OpenQueue() (*Queue, error) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, os.NewSyscallError("inotify_init1", err)
	}
	return &Queue{file: os.NewFile(uintptr(fd), "inotify"), buf: make([]byte, inotifyBuffer)}, nil
}

// Add watches the open directory descriptor. One that is watched already keeps its ID.
func (q *Queue) Add(descriptor int) (ID, error) { return addWatch(q.file, descriptor, queueEvents) }

// Remove ends a watch.
func (q *Queue) Remove(id ID) { removeWatch(q.file, id) }

// Ready waits until there is an event. It returns false after Close.
func (q *Queue) Ready() bool {
	raw, err := q.file.SyscallConn()
	if err != nil {
		return false
	}
	err = raw.Read(func(fd uintptr) bool { return waitingBytes(fd) > 0 })
	return err == nil
}

// Drain calls do for each event that is in the queue when it is called. It does not wait. A
// change is in the queue before the system call that made it returns.
func (q *Queue) Drain(do func(Event)) error {
	raw, err := q.file.SyscallConn()
	if err != nil {
		return err
	}
	var readErr error
	err = raw.Control(func(fd uintptr) {
		for waiting := waitingBytes(fd); waiting > 0 && readErr == nil; {
			var size int
			size, readErr = unix.Read(int(fd), q.buf)
			if readErr == unix.EINTR {
				size, readErr = 0, nil
			}
			waiting -= size
			eachEvent(q.buf[:max(size, 0)], do)
		}
	})
	if err == nil && readErr != unix.EAGAIN {
		err = readErr
	}
	return err
}

// Close ends all watches.
func (q *Queue) Close() error { return q.file.Close() }

// waitingBytes returns how many bytes the queue has to read. TIOCINQ is FIONREAD, see inotify(7).
func waitingBytes(fd uintptr) int {
	waiting, err := unix.IoctlGetInt(int(fd), unix.TIOCINQ)
	if err != nil {
		return 0
	}
	return waiting
}

// eachEvent calls do for the events that the kernel wrote into raw.
func eachEvent(raw []byte, do func(Event)) {
	for len(raw) >= unix.SizeofInotifyEvent {
		mask := binary.NativeEndian.Uint32(raw[4:])
		end := unix.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(raw[12:]))
		name, _, _ := bytes.Cut(raw[unix.SizeofInotifyEvent:end], []byte{0})
		if change, ok := changeOf(mask); ok {
			do(Event{
				Watch: ID(int32(binary.NativeEndian.Uint32(raw))), Change: change,
				Name: string(name), Dir: mask&unix.IN_ISDIR != 0, Cookie: binary.NativeEndian.Uint32(raw[8:]),
			})
		}
		raw = raw[end:]
	}
}

// changeOf returns what an event says that has the given mask.
func changeOf(mask uint32) (change Change, ok bool) {
	switch {
	case mask&unix.IN_Q_OVERFLOW != 0:
		return Overflowed, true
	case mask&unix.IN_IGNORED != 0:
		return Unwatched, true
	case mask&(unix.IN_CREATE|unix.IN_MOVED_TO) != 0:
		return Gained, true
	case mask&unix.IN_MOVED_FROM != 0:
		return MovedAway, true
	case mask&unix.IN_DELETE != 0:
		return Removed, true
	case mask&unix.IN_MODIFY != 0:
		return Modified, true
	case mask&unix.IN_ATTRIB != 0:
		return Attributes, true
	}
	return 0, false
}
