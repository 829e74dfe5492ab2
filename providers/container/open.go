package container

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/workspacekit/workspacekit/providers/container/internal/shell"
	"github.com/workspacekit/workspacekit/workspace"
)

// Open opens a directory in a container. If the options are Lazy the first call
// does that, and fails as Open would have.
//
// # Errors
//
// [io/fs.ErrInvalid] for options that make no sense, [errors.ErrUnsupported] if
// the client is not installed or the image lacks what is needed (a POSIX
// shell, and the programs that busybox has), [io/fs.ErrNotExist] if there is no
// directory Root, [workspace.ErrUnavailable] with the words of the engine if
// the container cannot be reached or made.
func Open(ctx context.Context, opts *Options) (*FS, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	f, err := newFS(o)
	if err != nil {
		return nil, openError(workspace.OpOpen, o.name(), err)
	}
	if o.Lazy {
		return f, nil
	}
	if _, err := f.start.do(ctx); err != nil {
		_ = f.Close() // the first error is the one that matters
		return nil, openError(workspace.OpOpen, o.name(), err)
	}
	return f, nil
}

// newFS returns an FS that has not been started.
func newFS(o Options) (*FS, error) {
	text, err := program()
	if err != nil {
		return nil, err
	}
	shells := o.Shells
	if shells == 0 {
		shells = DefaultShells
	}
	f := &FS{shared: &shared{opts: o, program: text, writers: newGate(), done: make(chan struct{})}}
	f.start = newStart(f.reach, f.done)
	f.pool = requests{Pool: shell.NewPool(shells, f.openSession, reap)}
	return f, nil
}

// reach makes the container, if one is to be made, and opens the first shell in
// it, which tells what the image has. If that fails nothing is left.
func (f *FS) reach(ctx context.Context) (*inside, error) {
	in := &inside{executor: f.opts.Executor}
	if f.opts.Container != "" {
		in.executor = execIn(f.opts.engine(), f.opts.Container, f.opts.User)
	}
	if f.opts.Image != "" {
		var err error
		if in.made, err = f.opts.create(ctx); err != nil {
			return nil, err
		}
		in.executor = execIn(f.opts.engine(), in.made.name, f.opts.User)
	}
	session, err := f.openFirst(ctx, in)
	if err != nil {
		_ = in.leave() // the first error is the one that matters
		return nil, err
	}
	f.pool.Add(session)
	return in, nil
}

// openFirst opens a shell where the options say and notes what it tells.
func (f *FS) openFirst(ctx context.Context, in *inside) (*shell.Session, error) {
	session, err := f.openIn(ctx, in.executor, f.opts.Root)
	if err != nil {
		return nil, err
	}
	if in.image, err = parseGreeting(session.Greeting); err != nil {
		session.Close()
		return nil, err
	}
	return session, nil
}

// leave removes the container if it was made for this.
func (in *inside) leave() error {
	if in == nil || in.made == nil {
		return nil
	}
	return in.made.remove()
}

// openSession opens one more shell.
func (f *FS) openSession(ctx context.Context) (*shell.Session, error) {
	in := f.inside()
	return f.openIn(ctx, in.executor, in.root)
}

// openIn opens a shell in the directory root.
func (f *FS) openIn(ctx context.Context, executor Executor, root string) (*shell.Session, error) {
	start := func() (shell.Process, error) { return executor.Start("sh") }
	return shell.Open(ctx, start, f.program, ask("hello", root), f.opts.timeout())
}

// reap returns the call that ends what a shell still does that was given up.
func reap(dead *shell.Session) shell.Call {
	i, err := parseGreeting(dead.Greeting)
	if err != nil || i.group == "" {
		return ask(":")
	}
	return ask("reap", i.group, i.started)
}

// Close ends all shells, and removes the container if it was made of an image
// and is not to be kept. What is called afterwards fails with
// [io/fs.ErrClosed]; streams end, and watches have nothing more to tell.
func (f *FS) Close() error {
	if f.closed.Swap(true) {
		return nil
	}
	close(f.done)
	in := f.start.end()
	f.pool.Close()
	f.background.Wait() // which ends, as there is no shell any more
	if f.opts.Create.Keep {
		return nil
	}
	if err := in.leave(); err != nil {
		return workspace.NewPathError("close", ".", workspace.ErrUnavailable, err)
	}
	return nil
}

// startError returns err, with which a start failed that was made for the
// caller's op and name, as one of the contract.
func (f *FS) startError(op, name string, err error) error {
	if f.closed.Load() {
		return workspace.NewPathError(op, name, fs.ErrClosed, nil)
	}
	return openError(op, name, err)
}

// openError returns err, with which a container could not be opened, as one of
// the contract.
func openError(op, name string, err error) error {
	fail := func(kind, cause error) error { return workspace.NewPathError(op, name, kind, cause) }
	var broken *shell.BrokenError
	var refused *shell.StatusError
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return fail(nil, err)
	case errors.As(err, new(*notInstalledError)):
		return fail(errors.ErrUnsupported, err)
	case errors.As(err, &broken) && lacksShell(broken):
		return fail(errors.ErrUnsupported, fmt.Errorf("there is no shell to be started: %w", err))
	case errors.As(err, &refused) && refused.Status == statusLacking:
		return fail(errors.ErrUnsupported, errors.New(failure([]byte(refused.Text))))
	case errors.As(err, &refused):
		kind, _ := statusKind(refused.Status)
		return fail(kind, errors.New("the root of the workspace cannot be entered"))
	}
	return fail(workspace.ErrUnavailable, err)
}

// lacksShell reports whether a shell has not answered because there is none:
// engines then end with the statuses that shells have for that.
func lacksShell(err *shell.BrokenError) bool {
	const cannotRun, notFound = 126, 127
	var exit interface{ ExitCode() int }
	if !errors.As(err.Exit, &exit) {
		return false
	}
	return exit.ExitCode() == cannotRun || exit.ExitCode() == notFound
}
