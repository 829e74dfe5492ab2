package container

import (
	"context"
	"errors"
	"fmt"

	"github.com/workspacekit/workspacekit/providers/container/internal/shell"
	"github.com/workspacekit/workspacekit/workspace"
)

// Open opens a directory in a container.
//
// # Errors
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
	f, err := open(ctx, &o)
	if err != nil {
		return nil, openError(o.name(), err)
	}
	return f, nil
}

func open(ctx context.Context, o *Options) (*FS, error) {
	text, err := program()
	if err != nil {
		return nil, err
	}
	f := &FS{program: text, root: o.Root, writers: newGate(), executor: o.Executor, done: make(chan struct{})}
	if o.Image != "" {
		if f.made, err = o.create(ctx); err != nil {
			return nil, err
		}
		f.executor = execIn(o.engine(), f.made.name, o.User)
	}
	if o.Container != "" {
		f.executor = execIn(o.engine(), o.Container, o.User)
	}
	shells := o.Shells
	if shells == 0 {
		shells = DefaultShells
	}
	f.pool = shell.NewPool(shells, f.openSession, reap)
	if err := f.begin(ctx); err != nil {
		_ = f.Close() // the first error is the one that matters
		return nil, err
	}
	return f, nil
}

// begin opens the first session, which tells what the image has.
func (f *FS) begin(ctx context.Context) error {
	session, err := f.openSession(ctx)
	if err != nil {
		return err
	}
	f.image, err = parseGreeting(session.Greeting)
	f.root = f.image.root
	f.pool.Add(session)
	return err
}

// openSession opens a shell in the root.
func (f *FS) openSession(ctx context.Context) (*shell.Session, error) {
	start := func() (shell.Process, error) { return f.executor.Start("sh") }
	return shell.Open(ctx, start, f.program, ask("hello", f.root))
}

// reap returns the call that ends what a shell still does that was given up.
func reap(dead *shell.Session) shell.Call {
	i, err := parseGreeting(dead.Greeting)
	if err != nil || i.group == "" {
		return ask(":")
	}
	return ask("reap", i.group, i.started)
}

// Close ends all shells, and removes the container if Open has made it. What is
// called afterwards fails with [io/fs.ErrClosed]; streams end, and watches have
// nothing more to tell.
func (f *FS) Close() error {
	if f.closed.Swap(true) {
		return nil
	}
	close(f.done)
	f.pool.Close()
	f.background.Wait() // which ends, as there is no shell any more
	if f.made == nil {
		return nil
	}
	if err := f.made.remove(); err != nil {
		return workspace.NewPathError("close", ".", workspace.ErrUnavailable, err)
	}
	return nil
}

// openError returns err, with which the container name could not be opened, as
// one of the contract.
func openError(name string, err error) error {
	fail := func(kind, cause error) error { return workspace.NewPathError(workspace.OpOpen, name, kind, cause) }
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
		return statusError(workspace.OpOpen, name, refused.Status, []byte(refused.Text))
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
