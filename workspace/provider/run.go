package provider

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

// Run implements [workspace.Runner]. When several things went wrong, the first
// of these counts: the end of ctx; a stream that failed, as that is why the
// command was killed; what the store says.
func (f *FS) Run(ctx context.Context, opts *workspace.RunOptions) (*workspace.RunResult, error) {
	o := valueOf(opts)
	if o.Dir == "" {
		o.Dir = "."
	}
	if err := f.check(ctx, ops.Run, o.Dir); err != nil {
		return nil, err
	}
	if err := checkCommand(o); err != nil {
		return nil, ops.Error(ops.Run, o.Dir, fs.ErrInvalid, err)
	}
	runner, ok := f.store.(Runner)
	if !ok || !f.Capabilities().Run {
		return nil, ops.Error(ops.Run, o.Dir, errors.ErrUnsupported, errors.New("the workspace has no machine that runs commands"))
	}
	running, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	streams := streamsOf(&o, stop)
	began := time.Now()
	result, err := runner.Run(running, o)
	duration := time.Since(began)
	if failed := streams.end(); failed != nil && ctx.Err() == nil {
		return nil, ops.Error(ops.Run, o.Dir, nil, failed)
	}
	if ended := ctx.Err(); ended != nil {
		if shown, ok := errors.AsType[*visibleError](err); ok && errors.Is(shown.kind, ended) {
			ended = shown // it says what the command may have left
		}
		return nil, ops.Error(ops.Run, o.Dir, ended, nil)
	}
	if err == nil && result == nil {
		err = errors.New("the store returned no result")
	}
	if err != nil {
		return nil, f.fail(ctx, ops.Run, err, o.Dir, o.Command[0])
	}
	result.Duration = duration
	return result, nil
}

// checkCommand returns the error of a command that no machine can start. The
// system would cut an argument at a NUL byte, and the command would then do
// something else than what was approved.
func checkCommand(o workspace.RunOptions) error {
	if len(o.Command) == 0 || o.Command[0] == "" {
		return errors.New("there is no command")
	}
	for _, argument := range o.Command {
		if strings.IndexByte(argument, 0) >= 0 {
			return errors.New("an argument has a NUL byte")
		}
	}
	for name, value := range o.Env {
		if name == "" || strings.ContainsAny(name, "=\x00") {
			return fmt.Errorf("%q is not the name of a variable", name)
		}
		if name == "WORKSPACEKIT_RUN" { // by which providers find what a command has started
			return fmt.Errorf("the variable %s is the provider's own", name)
		}
		if strings.IndexByte(value, 0) >= 0 {
			return fmt.Errorf("the value of the variable %q has a NUL byte", name)
		}
	}
	return nil
}

// streams are the streams of a command. The first one that fails stops the
// command. A store may still copy when the command has ended. So that nothing
// reaches the caller's reader and writers by then, a Read or Write that begins
// after end fails.
type streams struct {
	stop  context.CancelCauseFunc
	mu    sync.Mutex
	err   error // guarded by mu: what the first of them failed with
	ended bool  // guarded by mu: nothing more is read or written
}

// streamsOf puts the streams of o into streams that call stop when they fail.
// Two equal writers get one output, because no two calls of Write may run at a
// time then. They are compared only if the value of one allows it: the
// comparison would panic.
func streamsOf(o *workspace.RunOptions, stop context.CancelCauseFunc) *streams {
	s := &streams{stop: stop}
	same := o.Stdout != nil && reflect.ValueOf(o.Stdout).Comparable() && o.Stdout == o.Stderr
	if o.Stdin != nil {
		o.Stdin = &input{s, o.Stdin}
	}
	if o.Stdout != nil {
		o.Stdout = &output{streams: s, to: o.Stdout}
	}
	switch {
	case same:
		o.Stderr = o.Stdout
	case o.Stderr != nil:
		o.Stderr = &output{streams: s, to: o.Stderr}
	}
	return s
}

// end ends the streams, and returns what the first of them failed with.
func (s *streams) end() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	return s.err
}

// check returns the error of streams that have failed or ended. An error stays,
// so that a store which goes on in spite of it gets it again.
func (s *streams) check() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended && s.err == nil {
		return fs.ErrClosed
	}
	return s.err
}

// fail keeps err, if it is the first error, and stops the command.
func (s *streams) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil && !s.ended {
		s.err = err
		s.stop(err)
	}
}

// input is the standard input of a command. [io.EOF] is no failure: it is how
// the input ends.
type input struct {
	*streams
	from io.Reader
}

// Read implements [io.Reader].
func (i *input) Read(p []byte) (int, error) {
	if err := i.check(); err != nil {
		return 0, err
	}
	n, err := i.from.Read(p)
	if err != nil && err != io.EOF {
		i.fail(err)
	}
	return n, err
}

// output is the standard output of a command, its standard error, or both.
type output struct {
	*streams
	to      io.Writer
	writing sync.Mutex // one Write at a time
}

// Write implements [io.Writer].
func (o *output) Write(p []byte) (int, error) {
	o.writing.Lock()
	defer o.writing.Unlock()
	if err := o.check(); err != nil {
		return 0, err
	}
	n, err := o.to.Write(p)
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	if err != nil {
		o.fail(err)
	}
	return n, err
}
