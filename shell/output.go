package shell

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"sync"
)

// output collects what a run prints: all of it, up to the budget TotalOutput.
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
	o.stderr = &stderrFilter{&stream{run: r, output: o, to: r.given.Stderr}}
	return o
}

// last returns where the message of a run that was stopped goes; it always fits.
func (o *output) last() io.Writer { return o.stderr.(*stderrFilter).Writer.(*stream).final() }

// stream is the standard output or the standard error.
type stream struct {
	run    *run
	output *output
	to     io.Writer // nil: it is collected
	ended  bool
}

// final returns the stream without a budget.
func (s *stream) final() io.Writer {
	return &stream{run: s.run, output: s.output, to: s.to, ended: true}
}

// Write implements [io.Writer].
func (s *stream) Write(b []byte) (int, error) {
	o := s.output
	o.mu.Lock()
	defer o.mu.Unlock()
	room := s.run.opts.TotalOutput - o.total
	if !s.ended && len(b) > room {
		b = b[:max(room, 0)]
	}
	o.total += len(b)
	var err error
	if s.to != nil {
		_, err = s.to.Write(b)
	} else {
		o.buf.Write(b)
	}
	if !s.ended && o.total >= s.run.opts.TotalOutput {
		return len(b), s.run.stopBudget("bytes of output", s.run.opts.TotalOutput, "TotalOutput")
	}
	return len(b), err
}

// stderrFilter leaves out of traces (set -x) what the shell itself has added to a script.
type stderrFilter struct{ io.Writer }

// guardText is how a guard looks in a trace.
var guardText = regexp.MustCompile(`\$\(<\s*'` + guardPrefix + `[^']*'\) ?`)

// Write implements [io.Writer].
func (f *stderrFilter) Write(b []byte) (int, error) {
	text := string(b)
	switch {
	case strings.HasPrefix(text, "+ "+internalPrefix):
		return len(b), nil
	case strings.Contains(text, guardPrefix):
		if _, err := io.WriteString(f.Writer, guardText.ReplaceAllString(text, "")); err != nil {
			return 0, err
		}
		return len(b), nil
	}
	return f.Writer.Write(b)
}

// result puts the output into a result: the middle of a long one is cut, and the whole is
// stored as a file in the scratch workspace.
func (o *output) result(ctx context.Context, result *Result) {
	o.mu.Lock()
	defer o.mu.Unlock()
	r := o.stdout.(*stream).run
	all, limit := o.buf.Bytes(), r.opts.Output
	if len(all) <= limit {
		result.Output = string(all)
		return
	}
	head, tail := cutLine(all[:limit/2], false), cutLine(all[len(all)-limit/2:], true)
	result.Cut = len(all) - len(head) - len(tail)
	r.shell.spilled++
	name := fmt.Sprintf("/tmp/output-%d", r.shell.spilled)
	if at, err := r.files.Locate(ctx, "/", name); err == nil && at.Workspace != r.shell.scratch {
		name = "/dev/shm/" + strings.TrimPrefix(name, "/tmp/")
	}
	where := "; print less"
	if out, err := r.files.Create(ctx, "/", name, 0); err == nil {
		_, err = out.Write(all)
		if closed := out.Close(); err == nil && closed == nil {
			result.Spilled = name
			where = "; all of it is in " + name
		}
	}
	result.Output = fmt.Sprintf("%s\n[%d bytes are left out here%s]\n%s", head, result.Cut, where, tail)
}

// cutLine removes the part of a line at the end of b, or at its start, unless that is all
// there is.
func cutLine(b []byte, start bool) []byte {
	if start {
		if i := bytes.IndexByte(b, '\n'); i >= 0 && i < len(b)-1 {
			return b[i+1:]
		}
		return bytes.TrimLeftFunc(b, func(r rune) bool { return r == '\ufffd' })
	}
	if i := bytes.LastIndexByte(b, '\n'); i > 0 {
		return b[:i]
	}
	return bytes.TrimRightFunc(b, func(r rune) bool { return r == '\ufffd' })
}

// pipeWriter is the standard output of a part of a pipeline. It remembers that its reader
// wants no more: the part then ends, as a signal would end it.
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

// Read implements [io.Reader].
func (w *pipeWriter) Read([]byte) (int, error) { return 0, os.ErrInvalid }

// Close implements [io.Closer]. The interpreter closes the pipe itself.
func (w *pipeWriter) Close() error { return nil }

func (w *pipeWriter) isBroken() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.broken
}
