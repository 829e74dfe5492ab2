package container

import (
	"context"
	"errors"
	"io/fs"
	"sync"
	"sync/atomic"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/providers/container/internal/shell"
	"github.com/workspacekit/workspacekit/workspace"
)

// FS is a directory in a container. It has everything the contract knows:
// versions, conditional writes, watches, moves and copies. It must be closed.
// It is safe for concurrent use.
type FS struct {
	*shared
	pool requests
}

// shared is what an FS and its exact view have in common.
type shared struct {
	opts     Options
	program  string
	start    *start
	writers  *gate
	contents contents
	closed   atomic.Bool

	temporaries temporaries
	done        chan struct{}  // closed by Close
	background  sync.WaitGroup // of those who observe
}

var (
	_ workspace.FileSystem      = (*FS)(nil)
	_ workspace.Capable         = (*FS)(nil)
	_ workspace.VersionedReader = (*FS)(nil)
	_ workspace.Opener          = (*FS)(nil)
	_ workspace.Creator         = (*FS)(nil)
	_ workspace.Mover           = (*FS)(nil)
	_ workspace.Copier          = (*FS)(nil)
	_ workspace.Walker          = (*FS)(nil)
	_ workspace.Resolver        = (*FS)(nil)
	_ workspace.Exacter         = (*FS)(nil)
	_ workspace.Rooter          = (*FS)(nil)
)

// inside returns where the files are. It is nil before the start, so never for
// those who have called check.
func (f *FS) inside() *inside { return f.start.found.Load() }

// Capabilities implements [workspace.Capable]: everything is supported. Watch
// is native if the image has inotifywait or inotifyd, which is known after the start.
func (f *FS) Capabilities() workspace.Capabilities {
	c := workspace.Capabilities{
		Write: true, Versions: true, ConditionalWrite: true,
		Watch: workspace.WatchPolled, Move: true, Copy: true,
	}
	if in := f.inside(); in != nil && in.watches != "" {
		c.Watch = workspace.WatchNative
	}
	return c
}

// Root implements [workspace.Rooter]: it is the absolute path of the directory
// in the container, without symlinks. Before the start it is what the options
// say.
func (f *FS) Root() string {
	if in := f.inside(); in != nil {
		return in.root
	}
	return f.opts.Root
}

// Container returns the name or the number of the container, by which others
// can open it too. It is empty for an [Executor], and for a container that is
// made of an image before the start. One that was made lives until Close.
func (f *FS) Container() string {
	if in := f.inside(); in != nil && in.made != nil {
		return in.made.name
	}
	return f.opts.Container
}

// maxPath is the longest path that Linux takes, in bytes.
const maxPath = 4095

// check is what every method begins with. It starts what was not started by
// Open.
//
// # Errors
//
// Those of [ops.Check], [fs.ErrInvalid] for a name that the container
// cannot hold, [fs.ErrClosed], and those of [Open].
func (f *FS) check(ctx context.Context, op, name string) error {
	if f.closed.Load() {
		return ops.Error(op, name, fs.ErrClosed, nil)
	}
	if err := ops.Check(ctx, op, name); err != nil {
		return err
	}
	in, err := f.start.do(ctx)
	if err != nil {
		return f.startError(op, name, err)
	}
	if len(in.root)+len("/")+len(name) > maxPath {
		return ops.Error(op, name, fs.ErrInvalid, errors.New("the container cannot hold so long a name"))
	}
	return nil
}

// do makes a call that is for the caller's op and name, and returns its reply.
func (f *FS) do(ctx context.Context, op, name string, call shell.Call) ([]byte, error) {
	body, status, err := f.pool.Do(ctx, call)
	if err != nil {
		return nil, f.broken(op, name, err)
	}
	if status != 0 && call.Once {
		return nil, statusError(op, name, status, body)
	}
	if status != 0 { // what it wrote is no message
		return nil, statusError(op, name, status, nil)
	}
	return body, nil
}

// ask returns the call of a function that can be made again.
func ask(function string, args ...string) shell.Call {
	return shell.Call{Function: function, Args: args}
}

// act returns the call of a function that is to be made once.
func act(function string, args ...string) shell.Call {
	return shell.Call{Function: function, Args: args, Once: true}
}

// broken returns the error of a call that had no reply.
func (f *FS) broken(op, name string, err error) error {
	var broken *shell.BrokenError
	switch {
	case err == nil:
		return nil
	case f.closed.Load():
		return ops.Error(op, name, fs.ErrClosed, nil)
	case errors.As(err, new(*engineError)), errors.As(err, new(*notInstalledError)):
		return openError(op, name, err)
	case errors.As(err, &broken):
		return openError(op, name, &engineError{kind: workspace.ErrUnavailable, text: brokenText(broken), remedy: "see that the container runs", cause: err})
	case errors.As(err, new(*shell.StatusError)):
		return ops.Error(op, name, workspace.ErrUnavailable, err)
	}
	return ops.Error(op, name, nil, err)
}

// names returns what a call needs to know of name.
func names(name string) []string {
	dir, base := workspace.Split(name)
	return []string{dir, base}
}
