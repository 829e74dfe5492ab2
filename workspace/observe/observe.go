package observe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/workspacekit/workspacekit/internal/errcode"
	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/session"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/fallback"
)

// fileSystem is an observed [workspace.FileSystem]. It forwards every optional
// interface and is no [fallback.Unwrapper], so that nobody gets past it.
type fileSystem struct {
	fsys      workspace.FileSystem
	name      string
	observers []Observer
	versions  bool // an observer wants the versions before changes
}

var (
	_ workspace.FileSystem      = (*fileSystem)(nil)
	_ fallback.Capable          = (*fileSystem)(nil)
	_ workspace.VersionedReader = (*fileSystem)(nil)
	_ workspace.Opener          = (*fileSystem)(nil)
	_ workspace.Creator         = (*fileSystem)(nil)
	_ workspace.Mover           = (*fileSystem)(nil)
	_ workspace.Copier          = (*fileSystem)(nil)
	_ workspace.Walker          = (*fileSystem)(nil)
	_ workspace.Resolver        = (*fileSystem)(nil)
	_ workspace.Exacter         = (*fileSystem)(nil)
	_ fallback.Rooter           = (*fileSystem)(nil)
	_ fallback.RootFinder       = (*fileSystem)(nil)
	_ workspace.Runner          = (*fileSystem)(nil)
	_ fallback.Hider            = (*fileSystem)(nil)
)

// New returns fsys, each of whose operations the observers learn of, in the order
// in which they are given. name is Event.Workspace. Without observers it is fsys
// itself, and costs nothing. The result is safe for concurrent use, and closes fsys
// if that is an [io.Closer].
//
// An operation is what a caller calls: a Copy that fsys carries out as a read and a
// write is one. Capabilities, Root and Close are not observed.
func New(fsys workspace.FileSystem, name string, observers ...Observer) workspace.FileSystem {
	if len(observers) == 0 {
		return fsys
	}
	f := &fileSystem{fsys: fsys, name: name, observers: observers}
	for _, observer := range observers {
		if v, ok := observer.(VersionObserver); ok && v.WantsVersions() {
			f.versions = workspace.CapabilitiesOf(fsys).Versions
		}
	}
	return f
}

// Capabilities implements [fallback.Capable].
func (f *fileSystem) Capabilities() workspace.Capabilities { return workspace.CapabilitiesOf(f.fsys) }

// Root implements [fallback.Rooter].
func (f *fileSystem) Root() string { return fallback.Root(f.fsys) }

// FindRoot implements [fallback.RootFinder].
func (f *fileSystem) FindRoot(ctx context.Context) error { return fallback.FindRoot(ctx, f.fsys) }

// Close closes the FileSystem below if it is an [io.Closer].
func (f *fileSystem) Close() error {
	if closer, ok := workspace.As[io.Closer](f.fsys); ok {
		return closer.Close()
	}
	return nil
}

// Exact implements [workspace.Exacter].
func (f *fileSystem) Exact() (workspace.FileSystem, error) {
	exact, err := workspace.Exact(f.fsys)
	if err != nil {
		return nil, err
	}
	view := *f
	view.fsys = exact
	return &view, nil
}

// Hide implements [fallback.Hider].
func (f *fileSystem) Hide(hidden func(dir string) func(name string, isDir bool) bool) (workspace.FileSystem, error) {
	hider, ok := workspace.As[fallback.Hider](f.fsys)
	if !ok {
		return nil, ops.Error(ops.Hide, ".", errors.ErrUnsupported, nil)
	}
	hiding, err := hider.Hide(hidden)
	if err != nil {
		return nil, err
	}
	view := *f
	view.fsys = hiding
	return &view, nil
}

// Transaction implements [fallback.Transactor]. Observers learn of the changes in it, as
// of any others, and not that they are undone: transaction.Options of package
// workspace/transaction has a function for that.
func (f *fileSystem) Transaction(ctx context.Context, change func(ctx context.Context) error) error {
	return fallback.Transaction(ctx, f.fsys, change)
}

// observation is an operation that has begun.
type observation struct {
	Event
	fs      *fileSystem
	ctx     context.Context // what the operation uses
	refused bool            // by an observer
}

// begin tells the observers that an operation begins. If one refuses it, begin
// returns its error, and the operation has ended.
func (f *fileSystem) begin(ctx context.Context, op, path, to string) (observation, error) {
	return f.beginEvent(ctx, Event{Op: op, Path: path, To: to})
}

// beginEvent is begin for what e says. What e says of a condition is for After alone.
func (f *fileSystem) beginEvent(ctx context.Context, e Event) (observation, error) {
	e.Time, e.Session, e.Workspace = time.Now(), session.ID(ctx), f.name
	o := observation{fs: f, ctx: ctx, Event: e}
	e.VersionBefore, e.Edit = "", false
	for _, observer := range f.observers {
		next, err := observer.Before(o.ctx, e)
		if err != nil {
			o.refused = true
			return o, o.end(refusal(e.Op, e.Path, err))
		}
		o.ctx = next
	}
	return o, nil
}

// refusal is the error of an operation that an observer has refused.
func refusal(op, path string, err error) error {
	if errcode.Of(err) == errcode.Internal {
		return ops.Error(op, path, workspace.ErrPolicy, err)
	}
	return ops.Error(op, path, nil, err)
}

// beginChange is begin for a change of path, and finds out the version before it if
// somebody wants that.
func (f *fileSystem) beginChange(ctx context.Context, op, path, to string, opts *workspace.WriteOptions) (observation, error) {
	e := Event{Op: op, Path: path, To: to}
	creates := opts != nil && opts.IfNotExist
	if opts != nil && !creates {
		e.VersionBefore, e.Edit = opts.IfVersion, opts.IfVersion != ""
	}
	o, err := f.beginEvent(ctx, e)
	if err == nil && f.versions && !creates && !e.Edit {
		// The caller does not list, so nobody is asked about that, and no observer learns of it.
		o.VersionBefore = f.versionBefore(session.WithoutQuestions(ctx), op, path)
	}
	return o, err
}

// versionBefore returns the version of the file that op is about to change, empty if there
// is none. A write follows a symlink; a removal and a move are of the symlink itself.
func (f *fileSystem) versionBefore(ctx context.Context, op, path string) workspace.Version {
	info, err := f.fsys.Stat(ctx, path)
	if err == nil && info.Type == workspace.TypeSymlink && (op == ops.WriteFile || op == ops.Create) {
		var target string
		if target, err = workspace.Resolve(ctx, f.fsys, path); err == nil {
			info, err = f.fsys.Stat(ctx, target)
		}
	}
	if err != nil {
		return ""
	}
	return info.Version
}

// end tells the observers how the operation has ended, and returns err.
func (o *observation) end(err error) error {
	e := o.Event
	e.finish(err, o.refused)
	for _, observer := range o.fs.observers {
		observer.After(o.ctx, e)
	}
	return err
}

// ReadFile implements [workspace.FileSystem].
func (f *fileSystem) ReadFile(ctx context.Context, name string) ([]byte, error) {
	o, err := f.begin(ctx, ops.ReadFile, name, "")
	if err != nil {
		return nil, err
	}
	data, err := f.fsys.ReadFile(o.ctx, name)
	o.Bytes = int64(len(data))
	return data, o.end(err)
}

// ReadVersioned implements [workspace.VersionedReader].
func (f *fileSystem) ReadVersioned(ctx context.Context, name string, limit int64) ([]byte, workspace.Version, error) {
	o, err := f.begin(ctx, ops.ReadFile, name, "")
	if err != nil {
		return nil, "", err
	}
	data, version, err := workspace.ReadVersioned(o.ctx, f.fsys, name, limit)
	o.Bytes, o.VersionBefore = int64(len(data)), version
	return data, version, o.end(err)
}

// WriteFile implements [workspace.FileSystem].
func (f *fileSystem) WriteFile(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
	o, err := f.beginChange(ctx, ops.WriteFile, name, "", opts)
	if err != nil {
		return "", err
	}
	version, err := f.fsys.WriteFile(o.ctx, name, data, opts)
	if err == nil {
		o.Bytes, o.VersionAfter = int64(len(data)), version
	}
	return version, o.end(err)
}

// Ls implements [workspace.FileSystem].
func (f *fileSystem) Ls(ctx context.Context, dir string, opts *workspace.LsOptions) ([]workspace.FileInfo, error) {
	o, err := f.begin(ctx, ops.Ls, dir, "")
	if err != nil {
		return nil, err
	}
	infos, err := f.fsys.Ls(o.ctx, dir, opts)
	return infos, o.end(err)
}

// orRoot returns dir, and the root for an empty one.
func orRoot(dir string) string {
	if dir == "" {
		return "."
	}
	return dir
}

// Glob implements [workspace.FileSystem].
func (f *fileSystem) Glob(ctx context.Context, pattern string, opts *workspace.GlobOptions) ([]string, error) {
	dir := ""
	if opts != nil {
		dir = opts.Dir
	}
	o, err := f.begin(ctx, ops.Glob, orRoot(dir), "")
	if err != nil {
		return nil, err
	}
	paths, err := f.fsys.Glob(o.ctx, pattern, opts)
	return paths, o.end(err)
}

// Grep implements [workspace.FileSystem].
func (f *fileSystem) Grep(ctx context.Context, pattern string, opts *workspace.GrepOptions) (*workspace.GrepResult, error) {
	path := ""
	if opts != nil {
		path = opts.Path
	}
	o, err := f.begin(ctx, ops.Grep, orRoot(path), "")
	if err != nil {
		return nil, err
	}
	result, err := f.fsys.Grep(o.ctx, pattern, opts)
	return result, o.end(err)
}

// Stat implements [workspace.FileSystem].
func (f *fileSystem) Stat(ctx context.Context, name string) (workspace.FileInfo, error) {
	o, err := f.begin(ctx, ops.Stat, name, "")
	if err != nil {
		return workspace.FileInfo{}, err
	}
	info, err := f.fsys.Stat(o.ctx, name)
	return info, o.end(err)
}

// Rm implements [workspace.FileSystem].
func (f *fileSystem) Rm(ctx context.Context, name string, opts *workspace.RmOptions) error {
	o, err := f.beginChange(ctx, ops.Rm, name, "", nil)
	if err != nil {
		return err
	}
	return o.end(f.fsys.Rm(o.ctx, name, opts))
}

// Mkdir implements [workspace.FileSystem].
func (f *fileSystem) Mkdir(ctx context.Context, name string, opts *workspace.MkdirOptions) error {
	o, err := f.begin(ctx, ops.Mkdir, name, "")
	if err != nil {
		return err
	}
	return o.end(f.fsys.Mkdir(o.ctx, name, opts))
}

// Move implements [workspace.Mover].
func (f *fileSystem) Move(ctx context.Context, source, destination string) error {
	o, err := f.beginChange(ctx, ops.Move, source, destination, nil)
	if err != nil {
		return err
	}
	return o.end(workspace.Move(o.ctx, f.fsys, source, destination))
}

// Copy implements [workspace.Copier].
func (f *fileSystem) Copy(ctx context.Context, source, destination string) (workspace.Version, error) {
	o, err := f.begin(ctx, ops.Copy, source, destination)
	if err != nil {
		return "", err
	}
	version, err := workspace.Copy(o.ctx, f.fsys, source, destination)
	o.VersionAfter = version
	return version, o.end(err)
}

// maxCommand is how much of a command an event has, in bytes.
const maxCommand = 4 << 10

// Run implements [workspace.Runner]. What the command does with files is no operation.
func (f *fileSystem) Run(ctx context.Context, opts *workspace.RunOptions) (*workspace.RunResult, error) {
	var r workspace.RunOptions
	if opts != nil {
		r = *opts
	}
	command := fmt.Sprintf("%q", r.Command)
	o, err := f.beginEvent(ctx, Event{Op: ops.Run, Path: orRoot(r.Dir), Command: command[:min(len(command), maxCommand)]})
	if err != nil {
		return nil, err
	}
	runner, ok := workspace.As[workspace.Runner](f.fsys)
	if !ok {
		return nil, o.end(ops.Error(ops.Run, orRoot(r.Dir), errors.ErrUnsupported, nil))
	}
	result, err := runner.Run(o.ctx, &r)
	return result, o.end(err)
}

// Walk implements [workspace.Walker].
func (f *fileSystem) Walk(ctx context.Context, dir string, opts *workspace.WalkOptions, fn workspace.WalkFunc) error {
	o, err := f.begin(ctx, ops.Walk, dir, "")
	if err != nil {
		return err
	}
	return o.end(workspace.Walk(o.ctx, f.fsys, dir, opts, fn))
}

// Resolve implements [workspace.Resolver].
func (f *fileSystem) Resolve(ctx context.Context, name string) (string, error) {
	o, err := f.begin(ctx, ops.Resolve, name, "")
	if err != nil {
		return "", err
	}
	target, err := workspace.Resolve(o.ctx, f.fsys, name)
	return target, o.end(err)
}

// Watch implements [workspace.FileSystem]. A watch that has begun ends with its
// context. Its channel closes when the observers have learned of that, as an
// operation returns then.
func (f *fileSystem) Watch(ctx context.Context, dir string, opts *workspace.WatchOptions) (<-chan workspace.Event, error) {
	o, err := f.begin(ctx, ops.Watch, dir, "")
	if err != nil {
		return nil, err
	}
	events, err := f.fsys.Watch(o.ctx, dir, opts)
	if err != nil {
		return nil, o.end(err)
	}
	out := make(chan workspace.Event)
	go func() {
		defer close(out)
		for event := range events {
			select {
			case out <- event:
			case <-o.ctx.Done():
			}
		}
		o.end(nil)
	}()
	return out, nil
}
