// Package container is a workspace inside a running container of Docker,
// Podman or containerd, a pod of Kubernetes, or any other place in which a
// command starts a POSIX shell. Nothing is installed there.
//
//	fsys, err := container.Open(ctx, &container.Options{Container: "my-app", Root: "/work"})
//	ws := workspace.New("app", fsys, nil)
//
// An engine takes some fifty milliseconds to start a program in a container,
// however short the program runs. So a few shells are started once and kept
// open, and every operation is a request to one of them.
//
// # Confinement
//
// Names cannot leave the root of the workspace, and symlinks are followed only
// inside it. That keeps an agent to its files; it is no wall against a program
// that runs in the container at the same time and exchanges directories for
// symlinks. The wall is the container.
package container

import (
	"context"
	"errors"
	"io/fs"
	"sync"

	"github.com/workspacekit/workspacekit/internal/scan"
	"github.com/workspacekit/workspacekit/providers/container/internal/command"
	"github.com/workspacekit/workspacekit/providers/container/internal/engine"
	"github.com/workspacekit/workspacekit/providers/container/internal/program"
	"github.com/workspacekit/workspacekit/providers/container/internal/remotegrep"
	"github.com/workspacekit/workspacekit/providers/container/internal/shell"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/fallback"
	"github.com/workspacekit/workspacekit/workspace/provider"
)

// FS is a directory in a container. Watches are native if the image has inotifywait
// or inotifyd, which is known once the container has been reached. Root returns the
// absolute path of the directory in the container, without symlinks, and before that
// what the options say. Close ends all shells, and what calls under way or canceled
// calls have started inside, and removes their temporary files; if the container does
// not answer, it gives that up after some seconds. It removes a container that was
// created from an image, unless it is kept. Streams then end, and watches report
// nothing more.
//
// An FS must be closed. It is safe for concurrent use.
type FS struct {
	*provider.FS
	store *store
}

// store is the [provider.Store] of an FS, or of its exact view.
type store struct {
	*shared
	exact bool // no symlink is followed
}

// shared is what a store and its exact view have in common.
type shared struct {
	opts     Options
	text     string // what each shell is taught
	start    *lazyInit
	pool     *shell.Pool
	machine  *command.Machine
	barrier  *writeBarrier
	contents remotegrep.Contents

	temporaries temporaries
	done        chan struct{}  // closed by Close
	ending      sync.Mutex     // held to close done, and to add to background
	background  sync.WaitGroup // of the goroutines that watch
}

var (
	_ provider.Store         = (*store)(nil)
	_ provider.ContentReader = (*store)(nil)
	_ scan.Searcher          = (*store)(nil)
	_ provider.Watcher       = (*store)(nil)
	_ provider.Opener        = (*store)(nil)
	_ provider.Creator       = (*store)(nil)
	_ provider.Mover         = (*store)(nil)
	_ provider.Copier        = (*store)(nil)
	_ provider.Walker        = (*store)(nil)
	_ provider.Resolver      = (*store)(nil)
	_ provider.Runner        = (*store)(nil)
	_ provider.Exacter       = (*store)(nil)
	_ fallback.Capable       = (*store)(nil)
	_ fallback.Rooter        = (*store)(nil)
	_ fallback.RootFinder    = (*store)(nil)
)

// Capabilities implements [fallback.Capable].
func (s *store) Capabilities() workspace.Capabilities {
	c := workspace.Capabilities{
		Write: true, Versions: true, ConditionalWrite: true,
		Watch: workspace.WatchPolled, Move: true, Copy: true, Run: s.runs(),
	}
	if found := s.start.found.Load(); found != nil && found.Watches != "" {
		c.Watch = workspace.WatchNative
	}
	return c
}

// runs reports whether commands can be run: another [Executor] has no way to the standard
// error of a program.
func (s *shared) runs() bool {
	switch s.opts.Executor.(type) {
	case nil, Command, *kubectl:
		return true
	}
	return false
}

// Root implements [fallback.Rooter].
func (s *store) Root() string {
	if found := s.start.found.Load(); found != nil {
		return found.Root
	}
	return s.opts.Root
}

// FindRoot implements [fallback.RootFinder]. The root of the options can have symlinks in it.
func (s *store) FindRoot(ctx context.Context) error {
	_, err := s.begin(ctx)
	return err
}

// Container returns the name or the number of the container, by which others
// can open it too. It is empty for an [Executor], and before the start for a
// container that is created from an image.
func (f *FS) Container() string {
	if found := f.store.start.found.Load(); found != nil && found.owned != nil {
		return found.owned.Name
	}
	return f.store.opts.Container
}

// Exact implements [workspace.Exacter]. The view reads the files that may match a
// search one by one, and where the find or the rm of the image is not GNU's it
// goes through directories one by one. It is an *FS, so it imports archives too.
func (f *FS) Exact() (workspace.FileSystem, error) {
	view, err := f.FS.Exact()
	if err != nil {
		return nil, err
	}
	return &FS{FS: view.(*provider.FS), store: f.store.exactView()}, nil
}

// Exact implements [provider.Exacter].
func (s *store) Exact() (provider.Store, error) { return s.exactView(), nil }

func (s *store) exactView() *store { return &store{shared: s.shared, exact: true} }

// Close implements [io.Closer].
func (s *store) Close() error {
	s.ending.Lock()
	close(s.done)
	s.ending.Unlock()
	found := s.start.end()
	s.machine.Close()
	s.pool.Close(s.temporaries.removals)
	s.background.Wait() // which ends, as there is no shell any more
	if s.opts.Create.Keep {
		return nil
	}
	return visible(found.leave())
}

func (s *shared) isClosed() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

// maxPath is the longest path that Linux takes, in bytes.
const maxPath = 4095

// begin is what every method begins with. It reaches the container if Open has
// not, and refuses the names that no path there can have.
func (s *store) begin(ctx context.Context, names ...string) (*program.Client, error) {
	found, err := s.start.do(ctx)
	if err != nil {
		return nil, s.startError(err)
	}
	for _, name := range names {
		if len(found.Root)+len("/")+len(name) > maxPath {
			return nil, provider.At(name, provider.Errorf(fs.ErrInvalid, "the container cannot hold so long a name"))
		}
	}
	return &program.Client{Image: &found.Image, Pool: s.pool, Exact: s.exact, Broken: s.callError}, nil
}

// startError returns the error of a start that failed.
func (s *shared) startError(err error) error {
	if s.isClosed() {
		return fs.ErrClosed
	}
	return visible(err)
}

// callError returns the error of a call that had no reply.
func (s *shared) callError(err error) error {
	var broken *shell.BrokenError
	switch {
	case err == nil:
		return nil
	case s.isClosed():
		return fs.ErrClosed
	case errors.As(err, new(*engine.Error)), errors.As(err, new(*engine.NotInstalledError)):
		return engine.Visible(err)
	case errors.As(err, &broken):
		return engine.Visible(engine.Broken(broken))
	case errors.As(err, new(*shell.StatusError)):
		return provider.Errorf(workspace.ErrUnavailable, "%w", err)
	}
	return err
}

// visible returns err, with which a container could not be reached, created or
// removed, with its kind and a text that callers may see.
func visible(err error) error {
	if refused := program.HelloError(err); refused != nil {
		return refused
	}
	return engine.Visible(err)
}
