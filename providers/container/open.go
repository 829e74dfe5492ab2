package container

import (
	"cmp"
	"context"
	"errors"
	"io"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/providers/container/internal/engine"
	"github.com/workspacekit/workspacekit/providers/container/internal/program"
	"github.com/workspacekit/workspacekit/providers/container/internal/shell"
	"github.com/workspacekit/workspacekit/workspace/provider"
)

// Open opens a directory in a container. If the options are Lazy the first call
// does that, and fails as Open would have.
//
// # Errors
//
// [io/fs.ErrInvalid] for options that make no sense, [errors.ErrUnsupported] if
// the client is not installed, the engine cannot do what the options say, or the
// image lacks what is needed (a POSIX shell, and the programs that busybox has),
// [io/fs.ErrNotExist] if there is no directory Root, [workspace.ErrNotDir] if that
// is a file, [io/fs.ErrPermission] if this user may not use the engine or enter Root,
// [workspace.ErrNoSpace] if its disk is full, and [workspace.ErrUnavailable] if the
// engine or the container does not run, or for a failure that is not known. What
// stays as it is until somebody corrects it, such as a container or an image that
// does not exist, is of no kind. Each error of the engine has a method
// Remedy() string, which says what to do, and shows no path or address of its
// computer.
func Open(ctx context.Context, opts *Options) (*FS, error) {
	o := valueOf(opts)
	if err := o.check(); err != nil {
		return nil, err
	}
	s, err := newStore(o)
	if err != nil {
		return nil, ops.Error(ops.Open, o.name(), visible(err), nil)
	}
	f := &FS{FS: provider.New(s, provider.Facts{}), store: s}
	if o.Lazy {
		return f, nil
	}
	if _, err := s.start.do(ctx); err != nil {
		_ = f.Close() // the first error is the one that matters
		return nil, ops.Error(ops.Open, o.name(), visible(err), nil)
	}
	return f, nil
}

// newStore returns a store that has not been started.
func newStore(o Options) (*store, error) {
	text, err := program.Text()
	if err != nil {
		return nil, err
	}
	shells := o.Shells
	if shells == 0 {
		shells = DefaultShells
	}
	s := &shared{opts: o, text: text, barrier: newWriteBarrier(), done: make(chan struct{})}
	s.start = newLazyInit(s.reach, s.done)
	s.machine = s.newMachine()
	s.pool = shell.NewPool(shells, s.openShell, program.KillOrphan)
	return &store{shared: s}, nil
}

// reach creates the container, if that is wanted, and opens the first shell in
// it, which reports what the image has. If it fails it leaves nothing but a container
// that is kept.
func (s *shared) reach(ctx context.Context) (*session, error) {
	found := &session{}
	if err := s.locate(ctx, found); err != nil {
		return nil, err
	}
	first, err := s.openFirst(ctx, found)
	if err != nil {
		_ = found.leave() // the first error is the one that matters
		return nil, err
	}
	s.pool.Add(first)
	return found, nil
}

// locate notes how programs are started where the files are.
func (s *shared) locate(ctx context.Context, found *session) (err error) {
	switch {
	case s.opts.Container != "":
		found.executor = execIn(s.opts.engine(), s.opts.Container, s.opts.User)
		return nil
	case s.opts.Image != "":
		if found.owned, err = s.opts.create(ctx); err != nil {
			return err
		}
		found.executor = execIn(s.opts.engine(), found.owned.Name, s.opts.User)
		return nil
	}
	found.executor = s.opts.Executor
	k, ok := found.executor.(*kubectl)
	if !ok {
		return nil
	}
	pinned, err := k.pod.Pin(ctx, s.opts.timeout())
	if err == nil {
		found.executor = &kubectl{*pinned}
	}
	return err
}

// create creates the container that the options describe.
func (o *Options) create(ctx context.Context) (*engine.OwnedContainer, error) {
	return o.client().Create(ctx, &engine.Spec{
		Image: o.Image, Name: o.Create.Name, Keep: o.Create.Keep, Workdir: o.Create.Workdir, Flags: o.createFlags(),
	})
}

// openFirst opens a shell where the options say and notes what it reports.
func (s *shared) openFirst(ctx context.Context, found *session) (*shell.Session, error) {
	candidates := engine.ShellCommands
	if found.owned != nil && found.owned.Shell != nil { // one of them has started it
		candidates = [][]string{found.owned.Shell}
	}
	sh, err := s.openBy(ctx, found, candidates)
	if err != nil {
		return nil, err
	}
	found.Image, err = program.ParseGreeting(sh.Greeting)
	if err == nil && found.owned != nil {
		err = s.opts.handOver(ctx, found.owned, sh, &found.Image)
	}
	if err != nil {
		sh.Close()
		return nil, err
	}
	return sh, nil
}

// handOver gives the directory in which the container starts programs to the user
// that the shells run as, if it is empty and that user cannot write there: engines
// and images create it for root. What is mounted belongs to somebody else.
func (o *Options) handOver(ctx context.Context, owned *engine.OwnedContainer, sh *shell.Session, i *program.Image) error {
	if o.Create.Workdir == "" || o.Create.ReadOnlyRoot || i.User == 0 {
		return nil
	}
	reply, err := sh.Start(ctx, program.Idempotent("barred", o.Create.Workdir))
	if err != nil {
		return err
	}
	dir, err := io.ReadAll(reply)
	if err != nil || reply.Status != 0 || len(dir) == 0 {
		return err
	}
	return owned.Give(ctx, string(dir), int(i.User), i.Group())
}

// openBy opens a shell by the first of some command lines that the image has.
func (s *shared) openBy(ctx context.Context, found *session, candidates [][]string) (sh *shell.Session, err error) {
	for _, found.shell = range candidates {
		sh, err = s.openIn(ctx, found, cmp.Or(s.opts.Root, s.opts.Create.Workdir))
		if err = engine.FirstFault(err); !engine.IsNoShell(err) {
			break
		}
	}
	return sh, err
}

// openShell opens one more shell.
func (s *shared) openShell(ctx context.Context) (*shell.Session, error) {
	found := s.start.found.Load()
	sh, err := s.openIn(ctx, found, found.Root)
	return sh, engine.LaterFault(err)
}

// openIn opens a shell in the directory root.
func (s *shared) openIn(ctx context.Context, found *session, root string) (*shell.Session, error) {
	start := func() (shell.Process, error) { return found.executor.Start(found.shell...) }
	sh, failed := shell.Open(ctx, start, s.text, program.Hello(root), s.opts.timeout())
	err := found.checked(ctx, failed)
	if err != nil && failed == nil {
		sh.Close()
	}
	var broken *shell.BrokenError
	if errors.As(err, &broken) {
		err = engine.ShellFault(broken)
	}
	if err != nil {
		return nil, err
	}
	return sh, nil
}

// checked returns err, with which a shell was opened, or that it may be in another pod.
// The pod may have been replaced by then: the new one has other files.
func (s *session) checked(ctx context.Context, err error) error {
	k, ok := s.executor.(*kubectl)
	if !ok || errors.Is(err, shell.ErrSilent) {
		return err
	}
	if lost := k.pod.Check(ctx); lost != nil && (err == nil || errors.Is(lost, ErrPodLost)) {
		return lost
	}
	return err
}
