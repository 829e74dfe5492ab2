package shell

import (
	"bytes"
	"context"
	"io"
	"os"
	"sync"

	"mvdan.cc/sh/v3/expand"

	"github.com/workspacekit/workspacekit/internal/scratch"
	"github.com/workspacekit/workspacekit/shell/internal/rewrite"
)

// output collects what a run prints: all of it, up to the budget TotalOutput.
//
// Both streams share one buffer, as a terminal would show them. A stream that goes to a
// writer of the options is not in it, and its bytes count for TotalOutput all the same.
// That writer is called with mu held, one Write at a time, so it need not be safe for
// concurrent use even if it is given for both streams.
type output struct {
	stdout, stderr io.Writer

	mu    sync.Mutex
	buf   bytes.Buffer // guarded by mu; both streams in order
	total int          // guarded by mu; what both streams have got
}

// newOutput returns the output of a run, to the writers of its options where they are set.
func newOutput(r *run) *output {
	o := &output{}
	o.stdout = &stream{run: r, output: o, to: r.given.Stdout}
	o.stderr = &stderrFilter{&stream{run: r, output: o, to: r.given.Stderr, isError: true}}
	return o
}

// last returns where the message of a run that was stopped goes; it always fits. The filter
// for traces is passed over.
func (o *output) last() io.Writer { return o.stderr.(*stderrFilter).Writer.(*stream).final() }

// stream is the standard output or the standard error.
//
// It is safe for concurrent use, as the parts of a pipeline write at the same time. One
// Write is never mixed with another.
type stream struct {
	run     *run
	output  *output
	to      io.Writer // nil: it is collected
	ended   bool      // the run is over: budgets do not count
	isError bool      // it is the standard error
}

// final returns the stream without a budget. It is used when nothing of the script runs any
// more.
func (s *stream) final() io.Writer {
	return &stream{run: s.run, output: s.output, to: s.to, ended: true}
}

// Write implements [io.Writer].
func (s *stream) Write(b []byte) (int, error) {
	if budget := s.run.stopped.Load(); budget != nil && !s.ended {
		return 0, budget // what is left to say is why, which comes last, and once
	}
	if s.isError && !s.ended && s.run.timeUp() {
		return len(b), nil // of the standard output, programs write what they still have
	}
	o := s.output
	o.mu.Lock()
	defer o.mu.Unlock()
	room := s.run.opts.TotalOutput - o.total
	over := !s.ended && len(b) > room
	if over {
		b = b[:max(room, 0)]
	}
	o.total += len(b)
	var err error
	if s.to != nil {
		_, err = s.to.Write(b)
	} else {
		o.buf.Write(b)
	}
	if over {
		return len(b), s.run.stopBudget("bytes of output", s.run.opts.TotalOutput, "TotalOutput")
	}
	return len(b), err
}

// stderrFilter leaves out of traces (set -x) what the shell itself has added to a script.
type stderrFilter struct{ io.Writer }

// Write implements [io.Writer].
//
// It returns the length of b although less is written: less would be an error of a writer.
func (f *stderrFilter) Write(b []byte) (int, error) {
	text, ok := rewrite.Trace(b)
	switch {
	case !ok:
		return len(b), nil
	case len(text) == len(b):
		return f.Writer.Write(b)
	}
	if _, err := f.Writer.Write(text); err != nil {
		return 0, err
	}
	return len(b), nil
}

// result puts the output into a result: the middle of a long one is cut, and the whole is
// kept as a file in the scratch space.
//
// If it cannot be kept, because the scratch space is too small for it, Spilled is empty and
// only what is shown is left.
func (o *output) result(ctx context.Context, result *Result) {
	o.mu.Lock()
	defer o.mu.Unlock()
	r := o.stdout.(*stream).run
	all := o.buf.Bytes()
	short := scratch.Shorten(all, all, int64(len(all)), r.opts.Output, func(output []byte) (string, error) {
		return r.shell.Spill(ctx, output)
	})
	result.Output, result.Cut, result.Spilled = short.Text, int(short.Cut), short.Spilled
}

// capture is the standard output of a command substitution. The interpreter collects what is
// written in a strings.Builder, to which the parts of a pipeline and commands in the background
// would write at the same time, and which has no bound.
type capture struct {
	run     *run
	room    int64 // what the variables leave of their budget
	mu      sync.Mutex
	w       io.Writer // guarded by mu
	written int64     // guarded by mu
}

// newCapture returns a capture for w. It adds up the variables if they may leave less than the
// quarter of their budget that a substitution has.
func (r *run) newCapture(env expand.Environ, w io.Writer) *capture {
	r.mu.Lock()
	defer r.mu.Unlock()
	limit := int64(r.opts.Variables)
	room := limit - r.held - r.stored - r.captured.Load()
	if room < limit/4 {
		r.held, r.stored = variablesSize(env), 0
		room = limit - r.held
	}
	return &capture{run: r, room: room, w: w}
}

// Write implements [io.Writer]. It ends the run if the substitution has become too long, and
// counts for run.keep.
func (c *capture) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch size := c.written + int64(len(b)); {
	case size > int64(c.run.opts.Variables/4):
		return 0, c.run.stopQuarter("bytes in a command substitution")
	case size > c.room:
		return 0, c.run.stopBudget("bytes of variables", c.run.opts.Variables, "Variables")
	}
	n, err := c.w.Write(b)
	c.written += int64(n)
	c.run.captured.Add(int64(n))
	return n, err
}

// Read implements [io.Reader], which the interpreter wants of what it opens. It fails.
func (c *capture) Read([]byte) (int, error) { return 0, os.ErrInvalid }

// Close implements [io.Closer]. The interpreter owns what is written to.
func (c *capture) Close() error { return nil }

// pipeWriter is the standard output of a part of a pipeline. It remembers that its reader
// wants no more: the part then ends, as a signal would end it.
//
// Without it, `yes | head -n 1` would go on: there is no SIGPIPE here, and a command such as
// echo ignores that its write fails. run.call looks at broken before each command.
type pipeWriter struct {
	io.Writer
	mu     sync.Mutex
	broken bool // guarded by mu
}

// Write implements [io.Writer].
func (w *pipeWriter) Write(b []byte) (int, error) {
	n, err := w.Writer.Write(b)
	if err != nil {
		w.mu.Lock()
		w.broken = true
		w.mu.Unlock()
	}
	return n, err
}

// Read implements [io.Reader], which the interpreter wants of what it opens. It fails.
func (w *pipeWriter) Read([]byte) (int, error) { return 0, os.ErrInvalid }

// Close implements [io.Closer]. The interpreter closes the pipe itself.
func (w *pipeWriter) Close() error { return nil }
