// Package shell speaks with POSIX shells that are kept open: one request after
// the other, each a line of shell, each answered by bytes of any kind.
//
// # Protocol
//
// A request is a call of a function that the shell was taught when it was
// opened. Names and other arguments are quoted, so nothing in them is syntax.
// A reply is what the function writes, followed by a frame: a line break, a
// marker, a space, the exit status and a line break. The marker is made at
// random for each request, after whatever the reply can contain was stored, so
// a reply cannot have it in it.
//
// Bytes that a request carries beside its arguments are sent only after the
// function has asked for them, by a frame with "+" in place of the status. By
// then the shell has read the whole line and reads no further, so these bytes
// go to the program that is to have them and to no other.
package shell

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"time"
)

// Process is a running shell that reads commands, as package container has it.
type Process interface {
	io.Reader
	io.Writer
	Close() error
	Kill()
	Complaint() string
}

// Starter starts a shell.
type Starter func() (Process, error)

// Session is one open shell. It carries out one call at a time.
type Session struct {
	process Process
	// Greeting is the reply to the call that opened the session.
	Greeting string
	broken   atomic.Bool   // it has been closed, or must be
	buffer   []byte        // what is read into
	rest     []byte        // of the output, read and not yet part of a reply; in buffer
	used     time.Time     // when the last reply ended
	silence  time.Duration // how long a reply may keep silent; zero for no limit
}

// ErrSilent is the cause of a [BrokenError] of a shell that was given up.
var ErrSilent = errors.New("a program in the container, or the client that leads to it, did not answer in time")

// BrokenError says that a shell ended, or was ended, in the middle of things.
type BrokenError struct {
	Complaint string // what was written to its standard error
	Cause     error  // what was seen on this side
	Exit      error  // how the process ended, if it did so by itself
}

func (e *BrokenError) Error() string {
	if errors.Is(e.Cause, ErrSilent) {
		return e.Cause.Error()
	}
	if words := OneLine(e.Complaint); words != "" {
		return words
	}
	return "the shell has ended: " + e.Cause.Error()
}

// maxWords is how much of what a program said is passed on, in bytes.
const maxWords = 400

// OneLine returns what a program said as one line that is not too long: the end
// of it, as what matters is said last, and from the beginning of a line on if
// there is one.
func OneLine(said string) string {
	said = strings.TrimSpace(said)
	if cut := len(said) - maxWords; cut > 0 {
		said = said[cut:]
		if _, lines, ok := strings.Cut(said, "\n"); ok {
			said = lines
		}
	}
	return strings.ToValidUTF8(strings.Join(strings.Fields(said), " "), "?")
}

func (e *BrokenError) Unwrap() error { return e.Cause }

// openTimeout bounds the wait for a shell that may be no shell.
const openTimeout = time.Minute

// Open starts a shell, teaches it the functions of script, and makes the call
// hello, which must succeed. A shell from which nothing comes for the time
// silence while a reply is awaited is given up; zero means no limit.
//
// # Errors
//
// [*BrokenError] if the shell does not answer, [*StatusError] if hello fails.
func Open(ctx context.Context, start Starter, script string, hello Call, silence time.Duration) (*Session, error) {
	process, err := start()
	if err != nil {
		return nil, &BrokenError{Cause: err}
	}
	s := &Session{process: process, silence: silence}
	if err := s.greet(ctx, script, hello); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// greet makes the call that opens the session.
func (s *Session) greet(ctx context.Context, script string, hello Call) error {
	reply, err := s.send(ctx, hello, script)
	if err != nil {
		return err
	}
	reply.silence = s.shortSilence()
	greeting, err := io.ReadAll(reply)
	if err == nil && reply.Status != 0 {
		err = &StatusError{Status: reply.Status, Text: string(greeting)}
	}
	s.Greeting = string(greeting)
	if broken := new(BrokenError); errors.As(err, &broken) && broken.Complaint == "" {
		broken.Complaint = OneLine(s.Greeting) // where Docker says why no shell was started
	}
	return err
}

// shortSilence is how long a reply may keep silent that takes no work.
func (s *Session) shortSilence() time.Duration {
	if s.silence > 0 {
		return min(s.silence, openTimeout)
	}
	return openTimeout
}

// StatusError is the status of a call that had to succeed.
type StatusError struct {
	Status int
	Text   string // the reply
}

func (e *StatusError) Error() string { return "the shell refused: " + e.Text }

// Close ends the shell, which has nothing to do.
func (s *Session) Close() {
	s.broken.Store(true)
	_ = s.process.Close() // however it ends, it has
}

// Broken reports whether the session cannot be used any more.
func (s *Session) Broken() bool { return s.broken.Load() }

// kill ends the shell in the middle of what it does.
func (s *Session) kill() {
	s.broken.Store(true)
	s.process.Kill()
}

// Start makes a call. The reply must be read to its end, or closed, before the
// next call. Once ctx has ended the session is broken, and so it is after any
// error.
func (s *Session) Start(ctx context.Context, call Call) (*Reply, error) {
	return s.send(ctx, call, "")
}

// send makes a call after the lines of preface.
func (s *Session) send(ctx context.Context, call Call, preface string) (*Reply, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	marker := newMarker()
	r := &Reply{session: s, ctx: ctx, silence: s.silence, frame: []byte("\n" + marker + " ")}
	r.release = context.AfterFunc(ctx, s.kill)
	r.writing.Go(func() {
		_, _ = s.process.Write(append([]byte(preface), call.line(marker)...)) // what goes wrong shows in the reply
	})
	if call.Input == nil {
		return r, nil
	}
	status, err := r.ready()
	if err != nil {
		return nil, err
	}
	if status == asks {
		r.input = make(chan error, 1)
		r.writing.Go(func() { r.copy(call.Input, call.Size) })
	}
	return r, nil
}

// newMarker returns a marker that nobody can know of in advance.
func newMarker() string {
	var raw [16]byte
	rand.Read(raw[:])
	return hex.EncodeToString(raw[:])
}
