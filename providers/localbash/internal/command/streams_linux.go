package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// streams are the pipes between this process and a command. No file of the caller's is
// passed on.
type streams struct {
	child  []*os.File // the ends of the command
	ours   []*os.File // the other ends
	copies []func()   // one for each pipe
	outs   []*output
	copied sync.WaitGroup // the copies of outs
}

// output is a pipe that the command writes to.
type output struct {
	from *os.File
	to   io.Writer
}

// open returns the standard streams of c.
func (s *streams) open(c Command) (in, out, stderr *os.File, err error) {
	if c.Stdin == nil {
		in, err = s.null(os.O_RDONLY)
	} else {
		in, err = s.input(c.Stdin)
	}
	if err != nil {
		return nil, nil, nil, err
	}
	if out, err = s.output(c.Stdout); err != nil {
		return nil, nil, nil, err
	}
	if c.Stdout != nil && c.Stdout == c.Stderr {
		return in, out, out, nil
	}
	stderr, err = s.output(c.Stderr)
	return in, out, stderr, err
}

// hold returns both ends of a pipe in one: what reads it waits for a byte even when this process
// is killed.
func (s *streams) hold() (*os.File, error) {
	var ends [2]int
	if err := unix.Pipe2(ends[:], unix.O_CLOEXEC); err != nil {
		return nil, err
	}
	defer unix.Close(ends[0])
	defer unix.Close(ends[1])
	fd, err := unix.Open(fmt.Sprintf("/proc/self/fd/%d", ends[0]), unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), "hold")
	s.ours = append(s.ours, f)
	return f, nil
}

func (s *streams) null(flag int) (*os.File, error) {
	f, err := os.OpenFile(os.DevNull, flag, 0)
	if err == nil {
		s.child = append(s.child, f)
	}
	return f, err
}

// input returns the end of a pipe that has what is read from r.
func (s *streams) input(r io.Reader) (*os.File, error) {
	end, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	s.child, s.ours = append(s.child, end), append(s.ours, w)
	s.copies = append(s.copies, func() {
		_, _ = io.Copy(w, r) // a command need not read its input
		w.Close()
	})
	return end, nil
}

// output returns the end of a pipe whose bytes are written to w.
func (s *streams) output(w io.Writer) (*os.File, error) {
	if w == nil {
		return s.null(os.O_WRONLY)
	}
	from, end, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	s.child, s.ours = append(s.child, end), append(s.ours, from)
	o := &output{from: from, to: w}
	s.outs = append(s.outs, o)
	s.copied.Add(1)
	s.copies = append(s.copies, func() {
		defer s.copied.Done()
		o.copy()
	})
	return end, nil
}

// copy copies until the end of the pipe or an error of the writer. Once the read deadline is over,
// only a process that got away can write, and might do so for ever: what the pipe holds then is
// the last that is copied.
func (o *output) copy() {
	buf := make([]byte, 32<<10)
	for {
		n, err := o.from.Read(buf)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			break
		}
		if n == 0 {
			return
		}
		if _, err := o.to.Write(buf[:n]); err != nil {
			return
		}
	}
	held := o.held()
	_ = o.from.SetReadDeadline(time.Now().Add(heldWait))
	if last, _ := io.ReadAll(io.LimitReader(o.from, held)); len(last) > 0 {
		_, _ = o.to.Write(last) // which learns of its own errors
	}
}

// heldWait bounds the wait for bytes that a pipe holds, which the process that got away could read.
const heldWait = time.Second

// held returns how many bytes the pipe holds.
func (o *output) held() int64 {
	held := 0
	if conn, err := o.from.SyscallConn(); err == nil {
		_ = conn.Control(func(fd uintptr) { held, _ = unix.IoctlGetInt(int(fd), unix.TIOCINQ) }) // also called FIONREAD
	}
	return int64(held)
}

// capture is the beginning of what was written to a pipe.
type capture struct {
	done chan struct{} // closed at the end of the pipe
	data []byte
}

// maxCapture is the most bytes that are kept.
const maxCapture = 4 << 10

// capture returns a capture and the end of its pipe.
func (s *streams) capture() (*capture, *os.File, error) {
	from, end, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	s.child, s.ours = append(s.child, end), append(s.ours, from)
	c := &capture{done: make(chan struct{})}
	s.copies = append(s.copies, func() {
		defer close(c.done)
		c.data, _ = io.ReadAll(io.LimitReader(from, maxCapture))
		_, _ = io.Copy(io.Discard, from)
	})
	return c, end, nil
}

// text returns what was captured, once the pipe has ended.
func (c *capture) text() string {
	<-c.done
	return string(c.data)
}

// begin begins to copy.
func (s *streams) begin() {
	for _, copy := range s.copies {
		go copy()
	}
}

// closeChild closes the ends of the command in this process.
func (s *streams) closeChild() {
	for _, f := range s.child {
		f.Close()
	}
	s.child = nil
}

// finish waits until what the command has written was copied. Its processes have ended;
// one that got away could keep the pipe open. When ctx has ended, nobody waits for the
// output.
func (s *streams) finish(ctx context.Context) {
	for _, o := range s.outs {
		_ = o.from.SetReadDeadline(time.Now())
	}
	copied := make(chan struct{})
	go func() {
		s.copied.Wait()
		close(copied)
	}()
	select {
	case <-copied:
	case <-ctx.Done():
	}
}

// close closes the ends of this process, which ends the copies.
func (s *streams) close() {
	for _, f := range s.ours {
		f.Close()
	}
}
