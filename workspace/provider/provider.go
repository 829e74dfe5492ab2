// Package provider has what every provider would otherwise write itself. [New]
// turns a [Store], six plain methods, into a complete [workspace.FileSystem]: an
// [FS] checks names, options, contexts and capabilities, gives every error the
// contract's form without the host's details, and ends streams with their
// contexts. Where the store has none of their methods, it provides Glob, Grep,
// Walk, streams, Watch if the [Facts] declare it, and Copy if they declare
// conditional writes. Only Move and Run need the store.
//
//	fsys := provider.New(store, provider.Facts{Capabilities: workspace.Capabilities{Write: true}})
//
// docs/quickstart-provider.md has a whole provider.
package provider

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"reflect"
	"sync/atomic"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/scan"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/fallback"
)

// Facts are what a [Store]'s methods alone do not show.
type Facts struct {
	// Capabilities are what the store can do. What they do not declare is
	// refused without asking the store; undeclared versions are left out. If the
	// Store is a [fallback.Capable], its answer counts instead.
	Capabilities workspace.Capabilities
	// Root is the absolute path by which people and models know the root. Empty
	// means that there is none. If the Store is a [fallback.Rooter], its
	// answer counts instead.
	Root string
	// CheckName returns an error for a valid name that the store cannot hold.
	// No method is called with such a name. Nil means that there are none. Its
	// error should be one of [Errorf] with [io/fs.ErrInvalid]: one without a
	// kind is shown as a failure of the store. It is called concurrently.
	CheckName func(name string) error
	// Kind returns the kind of the contract that an error of the library below
	// the store has, and nil for an error that it does not know. Nil means that
	// the errors tell their kinds themselves. It is called concurrently,
	// without the paths that package os adds, and not for an error of [Errorf] or
	// what is then a bare [syscall.Errno].
	Kind func(err error) error
	// Log gets, at debug level, the texts of errors that callers do not see.
	// Nil means none.
	Log *slog.Logger
}

// FS is a [workspace.FileSystem] over a [Store], with every optional interface but
// [fallback.Transactor]. It is safe for concurrent use.
//
// Each method has the same four steps:
//
//	check     the context, the name, whether the FS is closed, the options
//	refuse    what the capabilities do not have
//	call      the store, or the fallback without it
//	fail      give the error the contract's form, or check what a success must have
//
// So a store can rely on what [Store] promises, and callers meet errors of one
// form.
type FS struct {
	store  Store
	hidden scan.Hidden // from searches; nil but in a view of Hide
	*shared
}

// shared is what an FS and its views have in common. Closing one of them closes
// them all.
type shared struct {
	facts  Facts
	whole  Store // as it was given to [New]
	closed atomic.Bool
}

var (
	_ workspace.FileSystem      = (*FS)(nil)
	_ fallback.Capable          = (*FS)(nil)
	_ workspace.VersionedReader = (*FS)(nil)
	_ workspace.Opener          = (*FS)(nil)
	_ workspace.Creator         = (*FS)(nil)
	_ workspace.Mover           = (*FS)(nil)
	_ workspace.Copier          = (*FS)(nil)
	_ workspace.Walker          = (*FS)(nil)
	_ workspace.Resolver        = (*FS)(nil)
	_ workspace.Exacter         = (*FS)(nil)
	_ workspace.Runner          = (*FS)(nil)
	_ fallback.Hider            = (*FS)(nil)
	_ fallback.Rooter           = (*FS)(nil)
	_ fallback.RootFinder       = (*FS)(nil)
)

// New returns the FileSystem over store.
//
// It calls no method of store. From then on Close of the FS is what closes the
// store.
func New(store Store, facts Facts) *FS {
	return &FS{store: store, shared: &shared{facts: facts, whole: store}}
}

// Close closes the store if it is an [io.Closer]. Every later operation on files
// fails with [fs.ErrClosed]; Close itself does nothing more. It does not wait
// for calls that are under way. Only the first Close reports the error of the
// store.
func (f *FS) Close() error {
	if f.closed.Swap(true) {
		return nil
	}
	if closer, ok := f.whole.(io.Closer); ok {
		return f.fail(context.Background(), "close", closer.Close(), ".")
	}
	return nil
}

// Capabilities implements [fallback.Capable]. It is what the store declares and has the
// methods for. Without a [Copier], which knows itself whether it can, it is Copy where a
// copy through the caller is possible. Without a [Watcher], a watch polls. A
// [fallback.Capable] is asked for every call that depends on it, so it must be fast.
func (f *FS) Capabilities() workspace.Capabilities {
	caps := f.facts.Capabilities
	if capable, ok := f.store.(fallback.Capable); ok {
		caps = capable.Capabilities()
	}
	if _, copies := f.store.(Copier); !copies {
		caps.Copy = caps.Write && caps.ConditionalWrite
	}
	if _, moves := f.store.(Mover); !moves {
		caps.Move = false
	}
	if _, runs := f.store.(Runner); !runs {
		caps.Run = false
	}
	if _, watches := f.store.(Watcher); !watches && caps.Watch != workspace.WatchNone {
		caps.Watch = workspace.WatchPolled
	}
	return caps
}

// Declared returns the type of the store and what the Facts declare, with or without the methods
// for it. It is for package conformance, which fails if a method is missing or has a wrong
// signature.
func (f *FS) Declared() (store reflect.Type, caps workspace.Capabilities) {
	return reflect.TypeOf(f.store), f.facts.Capabilities
}

// Root implements [fallback.Rooter].
func (f *FS) Root() string {
	if rooter, ok := f.store.(fallback.Rooter); ok {
		return rooter.Root()
	}
	return f.facts.Root
}

// FindRoot implements [fallback.RootFinder]. Without one as its store, it does nothing.
func (f *FS) FindRoot(ctx context.Context) error {
	finder, ok := f.store.(fallback.RootFinder)
	if !ok {
		return nil
	}
	if err := f.check(ctx, ops.Open, "."); err != nil {
		return err
	}
	return f.fail(ctx, ops.Open, finder.FindRoot(ctx), ".")
}

// check is what every method begins with. The name is judged before the store's
// own rules, so CheckName gets valid names only.
func (f *FS) check(ctx context.Context, op, name string) error {
	if err := ops.Check(ctx, op, name); err != nil {
		return err
	}
	if f.closed.Load() {
		return ops.Error(op, name, fs.ErrClosed, nil)
	}
	if f.facts.CheckName == nil {
		return nil
	}
	if err := f.facts.CheckName(name); err != nil {
		return f.fail(ctx, op, err, name)
	}
	return nil
}

// checkChange is check for a method that changes name. A workspace that is
// read-only says so for any name, also for one that does not exist.
func (f *FS) checkChange(ctx context.Context, op, name string) error {
	if err := f.check(ctx, op, name); err != nil {
		return err
	}
	return f.checkCanWrite(op, name)
}

func (f *FS) checkCanWrite(op, name string) error {
	if !f.Capabilities().Write {
		return ops.Error(op, name, fs.ErrPermission, errors.New("the workspace cannot be written to"))
	}
	return nil
}

// checkWrite is checkChange for the bytes of a file. The options are compared
// with the zero ones, so that a condition which is added to them later is
// refused, too, and not ignored.
func (f *FS) checkWrite(ctx context.Context, op, name string, opts *workspace.WriteOptions) error {
	if err := f.checkChange(ctx, op, name); err != nil {
		return err
	}
	o := valueOf(opts)
	if err := ops.CheckConditions(op, name, string(o.IfVersion), o.IfNotExist); err != nil {
		return err
	}
	if o != (workspace.WriteOptions{}) && !f.Capabilities().ConditionalWrite {
		return ops.Error(op, name, errors.ErrUnsupported, errors.New("the workspace has no conditional writes"))
	}
	return nil
}

// valueOf returns the options that opts point to. Nil means the zero ones. The
// copy keeps a caller that changes its options during the call from being seen.
func valueOf[T any](opts *T) T {
	if opts == nil {
		var zero T
		return zero
	}
	return *opts
}

// versioned returns version, or none where versions are not declared. A file
// without one where they are is an error: as the condition of a write it would be
// none.
func (f *FS) versioned(op, name string, version workspace.Version) (workspace.Version, error) {
	if !f.Capabilities().Versions {
		return "", nil
	}
	if version == "" {
		return "", ops.Error(op, name, workspace.ErrUnavailable, errors.New("the store named no version"))
	}
	return version, nil
}

// hideVersions removes the versions of infos where versions are not declared.
func (f *FS) hideVersions(infos []workspace.FileInfo) {
	if f.Capabilities().Versions {
		return
	}
	for i := range infos {
		infos[i].Version = ""
	}
}

// described returns info without its version where versions are not declared.
func (f *FS) described(info workspace.FileInfo) workspace.FileInfo {
	if !f.Capabilities().Versions {
		info.Version = ""
	}
	return info
}

// ReadFile implements [workspace.FileSystem].
func (f *FS) ReadFile(ctx context.Context, name string) ([]byte, error) {
	reader, ok := f.store.(ContentReader)
	if !ok {
		data, _, err := f.ReadVersioned(ctx, name, 0)
		return data, err
	}
	if err := f.check(ctx, ops.ReadFile, name); err != nil {
		return nil, err
	}
	data, err := reader.ReadContent(ctx, name)
	if err != nil {
		return nil, f.fail(ctx, ops.ReadFile, err, name)
	}
	return data, nil
}

// ReadVersioned implements [workspace.VersionedReader].
//
// The operation in its errors is read_file. The size is checked again for a
// store that has read more than limit.
func (f *FS) ReadVersioned(ctx context.Context, name string, limit int64) ([]byte, workspace.Version, error) {
	const op = ops.ReadFile
	if err := f.check(ctx, op, name); err != nil {
		return nil, "", err
	}
	if err := ops.CheckSize(op, name, 0, limit); err != nil {
		return nil, "", err
	}
	data, version, err := f.store.ReadFile(ctx, name, limit)
	if err != nil {
		return nil, "", f.fail(ctx, op, err, name)
	}
	if err := ops.CheckSize(op, name, int64(len(data)), limit); err != nil {
		return nil, "", err
	}
	if version, err = f.versioned(op, name, version); err != nil {
		return nil, "", err
	}
	return data, version, nil
}

// WriteFile implements [workspace.FileSystem].
//
// An error about a missing version comes after the write: the file has the new
// content.
func (f *FS) WriteFile(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
	const op = ops.WriteFile
	if err := f.checkWrite(ctx, op, name, opts); err != nil {
		return "", err
	}
	version, err := f.store.WriteFile(ctx, name, data, valueOf(opts))
	if err != nil {
		return "", f.fail(ctx, op, err, name)
	}
	return f.versioned(op, name, version)
}

// Stat implements [workspace.FileSystem].
func (f *FS) Stat(ctx context.Context, name string) (workspace.FileInfo, error) {
	if err := f.check(ctx, ops.Stat, name); err != nil {
		return workspace.FileInfo{}, err
	}
	info, err := f.store.Stat(ctx, name)
	if err != nil {
		return workspace.FileInfo{}, f.fail(ctx, ops.Stat, err, name)
	}
	return f.described(info), nil
}

// Ls implements [workspace.FileSystem].
func (f *FS) Ls(ctx context.Context, dir string, opts *workspace.LsOptions) ([]workspace.FileInfo, error) {
	if err := f.check(ctx, ops.Ls, dir); err != nil {
		return nil, err
	}
	o := valueOf(opts)
	if err := ops.CheckLimit(ops.Ls, dir, int64(o.Limit)); err != nil {
		return nil, err
	}
	infos, err := f.store.Ls(ctx, dir, o)
	if err != nil {
		return nil, f.fail(ctx, ops.Ls, err, dir)
	}
	f.hideVersions(infos)
	return orEmpty(infos), nil
}

// orEmpty returns list, or an empty list for nil: the two differ in JSON.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// Rm implements [workspace.FileSystem].
func (f *FS) Rm(ctx context.Context, name string, opts *workspace.RmOptions) error {
	if err := f.checkChange(ctx, ops.Rm, name); err != nil {
		return err
	}
	if name == "." {
		return ops.Error(ops.Rm, name, fs.ErrInvalid, errors.New("the root cannot be removed"))
	}
	return f.fail(ctx, ops.Rm, f.store.Rm(ctx, name, valueOf(opts)), name)
}

// Mkdir implements [workspace.FileSystem].
func (f *FS) Mkdir(ctx context.Context, name string, opts *workspace.MkdirOptions) error {
	if err := f.checkChange(ctx, ops.Mkdir, name); err != nil {
		return err
	}
	return f.fail(ctx, ops.Mkdir, f.store.Mkdir(ctx, name, valueOf(opts)), name)
}

// Glob implements [workspace.FileSystem].
func (f *FS) Glob(ctx context.Context, pattern string, opts *workspace.GlobOptions) ([]string, error) {
	o := valueOf(opts)
	if o.Dir == "" {
		o.Dir = "."
	}
	if err := f.check(ctx, ops.Glob, o.Dir); err != nil {
		return nil, err
	}
	if err := scan.CheckGlob(pattern, o); err != nil {
		return nil, err
	}
	paths, err := f.glob(ctx, pattern, o)
	if err != nil {
		return nil, f.fail(ctx, ops.Glob, err, o.Dir, pattern)
	}
	return orEmpty(paths), nil
}

// glob asks the store, or searches with the store's other methods. A Globber
// cannot hide names. A [scan.Searcher] comes first: the engine of this module
// searches it, and leaves out what is hidden by itself.
func (f *FS) glob(ctx context.Context, pattern string, o workspace.GlobOptions) ([]string, error) {
	if searcher, ok := f.store.(scan.Searcher); ok {
		return scan.Glob(ctx, searcher.GlobSource(pattern, o), pattern, &o, f.hidden)
	}
	if globber, ok := f.store.(Globber); ok && f.hidden == nil {
		return globber.Glob(ctx, pattern, o)
	}
	return fallback.Hide(f, f.hidden).Glob(ctx, pattern, &o)
}

// Grep implements [workspace.FileSystem]. A store that returns nothing is an
// error: a model would read an empty result as "no line matches".
func (f *FS) Grep(ctx context.Context, pattern string, opts *workspace.GrepOptions) (*workspace.GrepResult, error) {
	o := valueOf(opts)
	if o.Path == "" {
		o.Path = "."
	}
	if err := f.check(ctx, ops.Grep, o.Path); err != nil {
		return nil, err
	}
	if err := scan.CheckGrep(o); err != nil {
		return nil, err
	}
	result, err := f.grep(ctx, pattern, o)
	if err == nil && result == nil {
		err = errors.New("the store returned no result")
	}
	if err != nil {
		return nil, f.fail(ctx, ops.Grep, err, o.Path, pattern, o.IncludeGlob, o.ExcludeGlob)
	}
	result.Matches = orEmpty(result.Matches)
	return result, nil
}

// grep asks the store, or searches with the store's other methods. A Grepper
// cannot hide names.
func (f *FS) grep(ctx context.Context, pattern string, o workspace.GrepOptions) (*workspace.GrepResult, error) {
	if searcher, ok := f.store.(scan.Searcher); ok {
		src, workers := searcher.GrepSource(pattern, o, f.hidden)
		return scan.Grep(ctx, src, pattern, &o, workers, f.hidden)
	}
	if grepper, ok := f.store.(Grepper); ok && f.hidden == nil {
		return grepper.Grep(ctx, pattern, o)
	}
	return fallback.Hide(f, f.hidden).Grep(ctx, pattern, &o)
}

// Watch implements [workspace.FileSystem].
func (f *FS) Watch(ctx context.Context, dir string, opts *workspace.WatchOptions) (<-chan workspace.Event, error) {
	if err := f.check(ctx, ops.Watch, dir); err != nil {
		return nil, err
	}
	o := valueOf(opts)
	if err := ops.CheckWatch(dir, o.Buffer, o.Interval); err != nil {
		return nil, err
	}
	if f.Capabilities().Watch == workspace.WatchNone {
		return nil, ops.Error(ops.Watch, dir, errors.ErrUnsupported, nil)
	}
	if o.Buffer == 0 {
		o.Buffer = ops.DefaultWatchBuffer
	}
	events, err := f.watch(ctx, dir, o)
	if err != nil {
		return nil, f.fail(ctx, ops.Watch, err, dir)
	}
	return events, nil
}

// watch asks the store, or compares the tree at intervals. A Poll walks f
// itself, so it works for any store that can be listed, and hidden names show.
func (f *FS) watch(ctx context.Context, dir string, o workspace.WatchOptions) (<-chan workspace.Event, error) {
	if watcher, ok := f.store.(Watcher); ok {
		return watcher.Watch(ctx, dir, o)
	}
	return fallback.Poll(ctx, &FS{f.store, nil, f.shared}, dir, &o)
}
