package provider

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"sort"
	"sync/atomic"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/scan"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/fallback"
)

// plain shows an FS without its optional interfaces, so that the functions of
// package workspace use their fallbacks. With them, a fallback would find the
// method of f that has just called it.
type plain struct {
	workspace.FileSystem
	fallback.Capable
}

// Open implements [workspace.Opener]. Without an [Opener] the file is read
// whole by ReadVersioned, so that the version which is returned is that of
// these very bytes.
func (f *FS) Open(ctx context.Context, name string, opts *workspace.OpenOptions) (io.ReadCloser, workspace.FileInfo, error) {
	opener, ok := f.store.(Opener)
	if !ok {
		return workspace.Open(ctx, struct {
			plain
			workspace.VersionedReader
		}{plain{f, f}, f}, name, opts)
	}
	if err := f.check(ctx, ops.Open, name); err != nil {
		return nil, workspace.FileInfo{}, err
	}
	o := valueOf(opts)
	if err := ops.CheckWindow(name, o.Offset, o.Length); err != nil {
		return nil, workspace.FileInfo{}, err
	}
	r, info, err := opener.Open(ctx, name, o)
	if err != nil {
		return nil, workspace.FileInfo{}, f.fail(ctx, ops.Open, err, name)
	}
	return &stream{store: r, fs: f, ctx: ctx, name: name}, f.described(info), nil
}

// stream is a stream of a store. It ends with its context. It tests the context
// before each Read; a Read that already waits must end by itself.
type stream struct {
	store io.ReadCloser
	fs    *FS
	ctx   context.Context
	name  string

	closed atomic.Bool
}

// Read implements [io.Reader]. After Close it is [fs.ErrClosed], also for a Read that waits
// meanwhile.
func (s *stream) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, ops.Error(ops.Open, s.name, err, nil)
	}
	if s.closed.Load() {
		return 0, ops.Error(ops.Open, s.name, fs.ErrClosed, nil)
	}
	n, err := s.store.Read(p)
	switch {
	case err == nil || err == io.EOF:
		return n, err
	case s.closed.Load():
		return n, ops.Error(ops.Open, s.name, fs.ErrClosed, nil)
	}
	return n, s.fs.fail(s.ctx, ops.Open, err, s.name)
}

// Close implements [io.Closer]. Only the first one reaches the store.
func (s *stream) Close() error {
	if s.closed.Swap(true) {
		return nil
	}
	return s.fs.fail(s.ctx, ops.Open, s.store.Close(), s.name)
}

// Create implements [workspace.Creator].
func (f *FS) Create(ctx context.Context, name string, opts *workspace.WriteOptions) (workspace.Writer, error) {
	if err := f.checkWrite(ctx, ops.Create, name, opts); err != nil {
		return nil, err
	}
	var w workspace.Writer
	var err error
	if creator, ok := f.store.(Creator); ok {
		w, err = creator.Create(ctx, name, valueOf(opts))
	} else { // collects the bytes
		w, err = workspace.Create(ctx, plain{f, f}, name, opts)
	}
	if err != nil {
		return nil, f.fail(ctx, ops.Create, err, name)
	}
	return &writer{store: w, fs: f, ctx: ctx, name: name}, nil
}

// writer is a writer of a store. It ends with its context, and with the first
// Write that fails: the store may have lost some of its bytes, and a file is
// stored whole or not at all. It is for one goroutine. Each Write tests again
// whether the FS is closed, as an upload can last long after that. After
// Commit, Close still reaches the store, once, so that it can free what it
// holds.
type writer struct {
	store  workspace.Writer
	fs     *FS
	ctx    context.Context
	name   string
	failed error // of the first Write that failed
	done   bool  // committed or closed
	ended  bool  // closed
}

// check returns the error of a writer that is no longer open.
func (w *writer) check() error {
	if w.done {
		return ops.Error(ops.Create, w.name, fs.ErrClosed, nil)
	}
	if err := w.fs.check(w.ctx, ops.Create, w.name); err != nil {
		return err
	}
	return w.failed
}

// Write implements [workspace.Writer].
func (w *writer) Write(p []byte) (int, error) {
	if err := w.check(); err != nil {
		return 0, err
	}
	n, err := w.store.Write(p)
	w.failed = w.fs.fail(w.ctx, ops.Create, err, w.name)
	return n, w.failed
}

// Commit implements [workspace.Writer].
func (w *writer) Commit() (workspace.Version, error) {
	if err := w.check(); err != nil {
		return "", err
	}
	w.done = true
	version, err := w.store.Commit()
	if err != nil {
		return "", w.fs.fail(w.ctx, ops.Create, err, w.name)
	}
	return w.fs.versioned(ops.Create, w.name, version)
}

// Close implements [workspace.Writer].
func (w *writer) Close() error {
	if w.ended {
		return nil
	}
	w.done, w.ended = true, true
	return w.fs.fail(w.ctx, ops.Create, w.store.Close(), w.name)
}

// Move implements [workspace.Mover]. Both names are checked before the store is
// asked whether it moves.
func (f *FS) Move(ctx context.Context, source, destination string) error {
	mover, ok := f.store.(Mover)
	if err := f.checkPair(ctx, ops.Move, source, destination, ok && f.Capabilities().Move); err != nil {
		return err
	}
	if source == "." {
		return ops.Error(ops.Move, source, fs.ErrInvalid, errors.New("the root cannot be moved"))
	}
	return f.fail(ctx, ops.Move, mover.Move(ctx, source, destination), source, destination)
}

// checkPair is check for a method on two names, which may not be supported.
func (f *FS) checkPair(ctx context.Context, op, source, destination string, supported bool) error {
	if err := f.check(ctx, op, source); err != nil {
		return err
	}
	if err := f.check(ctx, op, destination); err != nil {
		return err
	}
	if !supported {
		return ops.Error(op, source, errors.ErrUnsupported, nil)
	}
	return f.checkCanWrite(op, source)
}

// Copy implements [workspace.Copier]. Without a [Copier], and with one that does
// not declare Copy, the bytes go through this process, and a conditional write
// keeps the copy from replacing a file that somebody has created meanwhile.
func (f *FS) Copy(ctx context.Context, source, destination string) (workspace.Version, error) {
	caps := f.Capabilities()
	if err := f.checkPair(ctx, ops.Copy, source, destination, caps.Copy || caps.ConditionalWrite); err != nil {
		return "", err
	}
	copier, ok := f.store.(Copier)
	if !ok || !caps.Copy {
		return workspace.Copy(ctx, struct {
			plain
			workspace.Opener
			workspace.Creator
		}{plain{f, f}, f, f}, source, destination)
	}
	version, err := copier.Copy(ctx, source, destination)
	if err != nil {
		return "", f.fail(ctx, ops.Copy, err, source, destination)
	}
	return f.versioned(ops.Copy, destination, version)
}

// Walk implements [workspace.Walker].
//
// An error with which fn has ended the walk is returned as it is, since it is
// the caller's own: only what the store failed with gets the contract's form.
func (f *FS) Walk(ctx context.Context, dir string, opts *workspace.WalkOptions, fn workspace.WalkFunc) error {
	fn = f.hidden.WalkFunc(dir, fn)
	walker, ok := f.store.(Walker)
	searcher, searches := f.store.(scan.Searcher)
	switch {
	case !ok && searches && valueOf(opts).TypesOnly:
		src := searcher.GlobSource("**", workspace.GlobOptions{Dir: dir})
		names := typesOnly{FS: f, src: src, top: dir, rest: map[string][]scan.Child{}}
		return fallback.Walk(ctx, names, dir, opts, fn)
	case !ok:
		return fallback.Walk(ctx, f, dir, opts, fn)
	}
	if err := f.check(ctx, ops.Walk, dir); err != nil {
		return err
	}
	versions := f.Capabilities().Versions
	var ended error // what fn ended the walk with
	err := walker.Walk(ctx, dir, valueOf(opts), func(info workspace.FileInfo, err error) error {
		if !versions {
			info.Version = ""
		}
		err = fn(info, f.fail(ctx, ops.Walk, err, info.Path))
		if ops.EndsWalk(err, info.IsDir()) {
			ended = err
		}
		return err
	})
	if ended != nil {
		return ended
	}
	return f.fail(ctx, ops.Walk, err, dir)
}

// typesOnly is an FS whose Ls sets the names and types of entries alone. A walk
// that needs no sizes and times costs a listing for each directory, and no
// description of any file. It is for one walk, in one goroutine, which asks for
// pages with a limit and in order: the rest of a directory is kept for its next
// page.
type typesOnly struct {
	*FS
	src  scan.Source
	top  string                  // where the walk begins
	rest map[string][]scan.Child // what later pages of directories have
}

// Ls implements [workspace.FileSystem].
func (t typesOnly) Ls(ctx context.Context, dir string, opts *workspace.LsOptions) ([]workspace.FileInfo, error) {
	if err := t.check(ctx, ops.Ls, dir); err != nil {
		return nil, err
	}
	children, known := t.rest[dir]
	delete(t.rest, dir)
	if !known {
		var err error
		if children, err = t.src.List(ctx, dir, dir == t.top); err != nil {
			return nil, t.fail(ctx, ops.Ls, err, dir)
		}
	}
	if opts.After != "" {
		children = children[sort.Search(len(children), func(i int) bool { return children[i].Name > opts.After }):]
	}
	infos := make([]workspace.FileInfo, 0, min(len(children), opts.Limit))
	for i, child := range children {
		if len(infos) == opts.Limit {
			t.rest[dir] = children[i:]
			break
		}
		if !child.IsUnnamed() {
			infos = append(infos, workspace.FileInfo{Name: child.Name, Path: workspace.Join(dir, child.Name), Type: child.Type})
		}
	}
	return infos, nil
}

// Resolve implements [workspace.Resolver]. A store without a [Resolver] has no
// symlinks, so name is returned without a look at whether it exists.
func (f *FS) Resolve(ctx context.Context, name string) (string, error) {
	if err := f.check(ctx, ops.Resolve, name); err != nil {
		return "", err
	}
	resolver, ok := f.store.(Resolver)
	if !ok {
		return name, nil
	}
	target, err := resolver.Resolve(ctx, name)
	if err != nil {
		return "", f.fail(ctx, ops.Resolve, err, name)
	}
	return target, nil
}

// Exact implements [workspace.Exacter]. A store without symlinks is its own
// exact view. The view shares the facts of f, and is closed with it.
func (f *FS) Exact() (workspace.FileSystem, error) {
	exacter, ok := f.store.(Exacter)
	if !ok {
		if _, follows := f.store.(Resolver); follows {
			return nil, ops.Error(ops.Exact, ".", errors.ErrUnsupported,
				errors.New("the store follows symlinks and cannot refuse to"))
		}
		return f, nil
	}
	store, err := exacter.Exact()
	if err != nil {
		return nil, f.fail(context.Background(), ops.Exact, err, ".")
	}
	return &FS{store, f.hidden, f.shared}, nil
}

// Hide implements [fallback.Hider]. A store with a search of its own, a
// [Globber] or a [Grepper], is searched by its other methods instead. What f
// hides already stays hidden. The view is closed with f.
func (f *FS) Hide(hidden func(dir string) func(name string, isDir bool) bool) (workspace.FileSystem, error) {
	return &FS{f.store, scan.Either(f.hidden, hidden), f.shared}, nil
}
