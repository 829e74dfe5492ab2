package container

import (
	"context"
	"errors"
	"io/fs"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/providers/container/internal/shell"
	"github.com/workspacekit/workspacekit/workspace"
)

// Open opens a directory in a container. If the options are Lazy the first call
// does that, and fails as Open would have.
//
// # Errors
//
// [io/fs.ErrInvalid] for options that make no sense, [errors.ErrUnsupported] if
// the client is not installed, the engine cannot do what the options say, or the
// image lacks what is needed (a POSIX shell, and the programs that busybox has),
// [io/fs.ErrNotExist] if there is no directory Root, [io/fs.ErrPermission] if
// this user may not use the engine, [workspace.ErrNoSpace] if its disk is full,
// and [workspace.ErrUnavailable] if the engine or the container does not run, or
// for a failure that is not known. What stays as it is until somebody corrects
// it, such as a container or an image that does not exist, is of no kind. Each
// error of the engine has a method Remedy() string, which says what to do, and
// shows no path or address of its computer.
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
		return nil, openError(ops.Open, o.name(), err)
	}
	if o.Lazy {
		return f, nil
	}
	if _, err := f.start.do(ctx); err != nil {
		_ = f.Close() // the first error is the one that matters
		return nil, openError(ops.Open, o.name(), err)
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
	if p, ok := in.executor.(*kubectl); ok {
		var err error
		if in.executor, err = p.pin(ctx, f.opts.timeout()); err != nil {
			return nil, err
		}
	}
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

// searchPath is where a shell finds programs. The program leaves out what is
// below the root, where whoever uses the workspace can write.
const searchPath = "PATH=/usr/bin:/bin:/usr/sbin:/sbin:/usr/local/bin:/usr/local/sbin:/busybox:/run/current-system/sw/bin"

// shellCommands are the command lines that start a shell, best first. The environment of
// the image does not reach it: functions and options that a shell takes from there,
// and the directories in which it looks for programs, would change what it does.
// Each program has its path, as the engine would look for it where the image says.
var shellCommands = [][]string{
	{"/usr/bin/env", "-i", searchPath, "/bin/sh"},
	{"/bin/env", "-i", searchPath, "/bin/sh"},
	{"/busybox/env", "-i", searchPath, "/busybox/sh"},
}

// openFirst opens a shell where the options say and notes what it tells.
func (f *FS) openFirst(ctx context.Context, in *inside) (*shell.Session, error) {
	candidates := shellCommands
	if in.made != nil && in.made.shell != nil { // it has been started by one of them
		candidates = [][]string{in.made.shell}
	}
	session, err := f.openBy(ctx, in, candidates)
	if err != nil {
		return nil, err
	}
	if in.image, err = parseGreeting(session.Greeting); err != nil {
		session.Close()
		return nil, err
	}
	if in.made != nil {
		if err := in.made.handOver(ctx, session, in.image); err != nil {
			session.Close()
			return nil, err
		}
	}
	return session, nil
}

// openBy opens a shell by the first of some command lines that the image has.
func (f *FS) openBy(ctx context.Context, in *inside, candidates [][]string) (session *shell.Session, err error) {
	for _, in.shell = range candidates {
		session, err = f.openIn(ctx, in, f.opts.Root)
		if err = firstFault(err); !isNoShell(err) {
			break
		}
	}
	return session, err
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
	session, err := f.openIn(ctx, in, in.root)
	return session, laterFault(err)
}

// openIn opens a shell in the directory root.
func (f *FS) openIn(ctx context.Context, in *inside, root string) (*shell.Session, error) {
	start := func() (shell.Process, error) { return in.executor.Start(in.shell...) }
	session, err := shell.Open(ctx, start, f.program, ask("hello", root), f.opts.timeout())
	if p, ok := in.executor.(*kubectl); ok && !errors.Is(err, shell.ErrSilent) {
		if lost := p.check(ctx); lost != nil && (err == nil || errors.Is(lost, ErrPodLost)) {
			if err == nil {
				session.Close()
			}
			return nil, lost
		}
	}
	var broken *shell.BrokenError
	if errors.As(err, &broken) {
		return nil, shellFault(broken)
	}
	return session, err
}

// reap returns the call that ends what a shell still does that was given up.
func reap(dead *shell.Session) shell.Call {
	i, err := parseGreeting(dead.Greeting)
	if err != nil || i.group == "" {
		return ask(":")
	}
	return ask("reap", i.group, i.started, i.first)
}

// Close ends all shells, and what calls that are under way or were canceled
// have started inside, and removes their temporary files. If the container does
// not answer it gives that up after some seconds. A container that was made of
// an image is removed unless it is to be kept. What is called afterwards fails
// with [io/fs.ErrClosed]; streams end, and watches have nothing more to tell.
func (f *FS) Close() error {
	if f.closed.Swap(true) {
		return nil
	}
	close(f.done)
	in := f.start.end()
	f.pool.Close(f.temporaries.removals)
	f.background.Wait() // which ends, as there is no shell any more
	if f.opts.Create.Keep {
		return nil
	}
	if err := in.leave(); err != nil {
		return openError("close", ".", err)
	}
	return nil
}

// startError returns err, with which a start failed that was made for the
// caller's op and name, as one of the contract.
func (f *FS) startError(op, name string, err error) error {
	if f.closed.Load() {
		return ops.Error(op, name, fs.ErrClosed, nil)
	}
	return openError(op, name, err)
}

// openError returns err, with which a container could not be opened, as one of
// the contract.
func openError(op, name string, err error) error {
	fail := func(kind, cause error) error { return ops.Error(op, name, kind, cause) }
	var missing *notInstalledError
	var fault *engineError
	var refused *shell.StatusError
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return fail(nil, err)
	case errors.As(err, &missing):
		return fail(errors.ErrUnsupported, missing)
	case errors.As(err, &fault):
		return fail(fault.kind, fault)
	case errors.As(err, &refused) && refused.Status == statusLacking:
		return fail(errors.ErrUnsupported, errors.New(failure([]byte(refused.Text))))
	case errors.As(err, &refused):
		kind, _ := statusKind(refused.Status)
		return fail(kind, errors.New("the root of the workspace cannot be entered"))
	}
	return fail(workspace.ErrUnavailable, err)
}
