package shell

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// Reply is what a call writes. It is an [io.Reader] of that; at its end Status
// is known.
type Reply struct {
	// Status is the exit status, once the reply has been read to its end.
	Status int

	session *Session
	ctx     context.Context // of the call, which the reply is a part of
	frame   []byte          // what every frame of the reply begins with
	release func() bool     // lets go of ctx
	writing sync.WaitGroup  // of what is still being sent
	input   chan error      // has room for why the input ended early; nil without one
	sent    atomic.Int64    // how often a part of the input was sent
	asking  atomic.Bool     // the input is being read, which the shell cannot help
	silence time.Duration   // how long nothing may come; zero for no limit
	silent  atomic.Bool     // the shell was given up
	done    error           // io.EOF after the last byte, or why there is none
}

// asks is the status of a frame that asks for the input.
const asks = -1

// chunk is how much is read at a time.
const chunk = 64 << 10

// Read implements [io.Reader].
//
// # Errors
//
// [*BrokenError], or the error of the call's context.
func (r *Reply) Read(p []byte) (int, error) {
	for r.done == nil {
		body, framed := r.body()
		if len(body) > 0 {
			n := copy(p, body)
			r.session.rest = r.session.rest[n:]
			return n, nil
		}
		if framed {
			status, err := r.takeFrame()
			r.finish(status, err)
			break
		}
		if err := r.fill(); err != nil {
			r.finish(0, err)
		}
	}
	return 0, r.done
}

// body returns the bytes at hand that are part of the reply for sure, and
// whether a whole frame follows them.
func (r *Reply) body() (body []byte, framed bool) {
	rest := r.session.rest
	if at := bytes.Index(rest, r.frame); at >= 0 {
		return rest[:at], bytes.IndexByte(rest[at+len(r.frame):], '\n') >= 0
	}
	// A frame may begin in the last bytes.
	tail := rest[max(0, len(rest)-len(r.frame)+1):]
	for at := bytes.IndexByte(tail, '\n'); at >= 0; {
		if bytes.HasPrefix(r.frame, tail[at:]) {
			return rest[:len(rest)-len(tail)+at], false
		}
		next := bytes.IndexByte(tail[at+1:], '\n')
		if next < 0 {
			break
		}
		at += 1 + next
	}
	return rest, false
}

// fill reads more.
func (r *Reply) fill() error {
	s := r.session
	if cap(s.rest)-len(s.rest) < chunk {
		if len(s.buffer)-len(s.rest) < chunk {
			s.buffer = make([]byte, len(s.rest)+2*chunk)
		}
		s.rest = append(s.buffer[:0], s.rest...)
	}
	stop := r.watch()
	n, err := s.process.Read(s.rest[len(s.rest):cap(s.rest)])
	stop()
	s.rest = s.rest[:len(s.rest)+n]
	if n > 0 {
		return nil
	}
	if err == nil {
		err = io.ErrNoProgress
	}
	return err
}

// watch gives the shell up when nothing comes from it, and nothing goes to it,
// for as long as it may be silent. It returns what ends that.
func (r *Reply) watch() (stop func()) {
	if r.silence <= 0 {
		return func() {}
	}
	over := make(chan struct{})
	ticker := time.NewTicker(r.silence)
	go func() {
		defer ticker.Stop()
		for sent := r.sent.Load(); ; {
			select {
			case <-over:
				return
			case <-ticker.C:
			}
			before := sent
			if sent = r.sent.Load(); sent == before && !r.asking.Load() {
				r.silent.Store(true)
				r.session.kill()
				return
			}
		}
	}()
	return func() { close(over) }
}

// Patiently lets the shell be silent without a limit from now on.
func (r *Reply) Patiently() { r.silence = 0 }

// takeFrame takes the frame that is at hand.
func (r *Reply) takeFrame() (status int, err error) {
	text, rest, _ := bytes.Cut(r.session.rest[len(r.frame):], []byte{'\n'})
	r.session.rest = rest
	if string(text) == "+" {
		return asks, nil
	}
	status, err = strconv.Atoi(string(text))
	if err != nil {
		return 0, fmt.Errorf("the shell sent the status %q", text)
	}
	return status, nil
}

// ready reads to the first frame, which comes before anything else.
func (r *Reply) ready() (status int, err error) {
	for {
		body, framed := r.body()
		switch {
		case framed && len(body) == 0:
			status, err := r.takeFrame()
			if err != nil || status != asks {
				r.finish(status, err)
			}
			return status, r.failed()
		case framed: // the function failed and says why
			return 0, nil
		}
		if err := r.fill(); err != nil {
			r.finish(0, err)
			return 0, r.done
		}
	}
}

// failed returns why the reply has ended early, nil if it has not.
func (r *Reply) failed() error {
	if errors.Is(r.done, io.EOF) {
		return nil
	}
	return r.done
}

// finish notes how the reply ended.
func (r *Reply) finish(status int, err error) {
	inTime := r.release()
	if err == nil && status == asks {
		err = errors.New("the shell asks for input that there is none of")
	}
	if err == nil && !inTime { // the context ended, and the shell with it
		err = r.ctx.Err()
	}
	if err != nil {
		if r.silent.Load() {
			err = ErrSilent
		}
		r.done = r.session.failure(r.ctx, err)
		r.writing.Wait()
		r.blameInput()
		return
	}
	if status != 0 && r.input != nil {
		r.session.kill() // what is left of the input would be taken for calls
	}
	r.writing.Wait()
	r.Status, r.done = status, io.EOF
	r.session.used = time.Now()
}

// failure returns the error of a session that broke for cause.
func (s *Session) failure(ctx context.Context, cause error) error {
	s.broken.Store(true)
	if !errors.Is(cause, io.EOF) {
		s.process.Kill()
		if err := ctx.Err(); err != nil {
			return err
		}
		return &BrokenError{Complaint: s.process.Complaint(), Cause: cause}
	}
	exit := s.process.Close()
	if err := ctx.Err(); err != nil {
		return err
	}
	return &BrokenError{Complaint: s.process.Complaint(), Cause: io.ErrUnexpectedEOF, Exit: exit}
}

// blameInput makes an input that ended early the reason of the failure that it
// led to.
func (r *Reply) blameInput() {
	if r.input == nil || r.ctx.Err() != nil {
		return
	}
	select {
	case r.done = <-r.input:
	default:
	}
}

// Close gives the reply up. A session whose reply was not read to its end is
// broken.
func (r *Reply) Close() {
	if r.done == nil {
		r.session.kill()
		r.finish(0, io.ErrClosedPipe)
	}
}

// copy sends the input. An input that ends early leaves the shell waiting for
// bytes that never come, so it ends the session.
func (r *Reply) copy(input io.Reader, size int64) {
	from := &source{Reader: input, reply: r}
	if size != Unknown {
		from.Reader = io.LimitReader(input, size)
	}
	n, _ := io.Copy(r.session.process, from)
	switch {
	case n == size, from.err == nil: // all is sent, or the shell had enough
		return
	case !errors.Is(from.err, io.EOF):
	case size == Unknown:
		return
	default:
		from.err = io.ErrUnexpectedEOF
	}
	r.input <- from.err
	r.session.kill()
}

// source keeps the error in which a reader ends, and notes when it is read.
type source struct {
	io.Reader
	reply *Reply
	err   error
}

func (s *source) Read(p []byte) (int, error) {
	s.reply.sent.Add(1)
	s.reply.asking.Store(true)
	n, err := s.Reader.Read(p)
	s.reply.asking.Store(false)
	if err != nil {
		s.err = err
	}
	return n, err
}
