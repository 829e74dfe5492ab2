package workspace

import (
	"context"
	"errors"
	"io"
	"path"
	"strings"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/session"
)

// DefaultMaxFileSize is the largest file, in bytes, that a [Workspace] whose
// options set no limit reads or writes whole: 10 MiB.
const DefaultMaxFileSize = 10 << 20

// Options are the settings of a [Workspace].
type Options struct {
	// MaxFileSize is the largest file that is read or written whole, edited,
	// copied or searched, in bytes. Zero means [DefaultMaxFileSize], a negative
	// value no limit. Windows of larger files can be read with ReadRange and Open.
	MaxFileSize int64
}

// Workspace is a named [FileSystem] with limits, the type that programs hold. It is
// a FileSystem itself, with the guarantees of that interface and two
// differences: names are cleaned by [CleanName] instead of refused (errors then
// carry the clean name), as are the beginnings of patterns and globs, and files
// larger than the limit are [ErrTooLarge], or skipped by Grep. It is safe for
// concurrent use.
type Workspace struct {
	name    string
	fsys    FileSystem
	rooter  interface{ Root() string } // nil if fsys has no root
	maxSize int64                      // in bytes, zero for no limit
}

var (
	_ FileSystem      = (*Workspace)(nil)
	_ VersionedReader = (*Workspace)(nil)
	_ Opener          = (*Workspace)(nil)
	_ Creator         = (*Workspace)(nil)
	_ Walker          = (*Workspace)(nil)
	_ Resolver        = (*Workspace)(nil)
	_ Exacter         = (*Workspace)(nil)
	_ Mover           = (*Workspace)(nil)
	_ Copier          = (*Workspace)(nil)
	_ Runner          = (*Workspace)(nil)
)

// New returns the workspace name over fsys. Nil opts mean the zero Options.
func New(name string, fsys FileSystem, opts *Options) *Workspace {
	w := &Workspace{name: name, fsys: fsys, maxSize: DefaultMaxFileSize}
	w.rooter, _ = As[interface{ Root() string }](fsys)
	if opts != nil && opts.MaxFileSize != 0 {
		w.maxSize = max(opts.MaxFileSize, 0)
	}
	return w
}

// Name returns the name that New was given.
func (w *Workspace) Name() string { return w.name }

// MaxFileSize returns the limit in bytes, zero if there is none.
func (w *Workspace) MaxFileSize() int64 { return w.maxSize }

// Root returns the absolute path of the root, or "" if it has none. A container that
// starts at its first use may have none, or another one, before that.
func (w *Workspace) Root() string {
	if w.rooter == nil {
		return ""
	}
	return w.rooter.Root()
}

// Capabilities returns the capabilities of the FileSystem beneath.
func (w *Workspace) Capabilities() Capabilities { return CapabilitiesOf(w.fsys) }

// Close closes the FileSystem beneath if it is an [io.Closer].
func (w *Workspace) Close() error {
	if closer, ok := As[io.Closer](w.fsys); ok {
		return closer.Close()
	}
	return nil
}

// findRoot returns Root once that is final. It starts a container that has to be started for that.
func (w *Workspace) findRoot(ctx context.Context) (string, error) {
	var err error
	if below, ok := As[*Workspace](w.fsys); ok {
		_, err = below.findRoot(ctx)
	} else if finder, ok := As[interface {
		FindRoot(ctx context.Context) error
	}](w.fsys); ok {
		err = finder.FindRoot(ctx)
	}
	return w.Root(), err
}

// Clean returns the valid name for name, as every method of w uses it. An
// absolute name starts a container that has to be started to know its root.
//
// # Errors
//
// Those of [CleanName] and of a start, as a [*io/fs.PathError] for op and name.
func (w *Workspace) Clean(ctx context.Context, op, name string) (string, error) {
	root := ""
	if path.IsAbs(name) { // a relative name needs no start
		var err error
		if root, err = w.findRoot(ctx); err != nil {
			return "", ops.Rename(err, op, name)
		}
	}
	clean, err := CleanName(root, name)
	if err != nil {
		return "", ops.Error(op, name, err, nil)
	}
	return clean, nil
}

// ReadFile implements [FileSystem].
//
// # Errors
//
// Also [ErrTooLarge].
func (w *Workspace) ReadFile(ctx context.Context, name string) ([]byte, error) {
	data, _, err := w.ReadVersioned(ctx, name, 0)
	return data, err
}

// ReadVersioned implements [VersionedReader]. The lower of limit and the
// workspace's own applies.
func (w *Workspace) ReadVersioned(ctx context.Context, name string, limit int64) ([]byte, Version, error) {
	clean, err := w.Clean(ctx, ops.ReadFile, name)
	if err != nil {
		return nil, "", err
	}
	if limit >= 0 { // any other is refused
		limit = lowerLimit(limit, w.maxSize)
	}
	return ReadVersioned(ctx, w.fsys, clean, limit)
}

// lowerLimit returns the lower of two limits. Zero means no limit.
func lowerLimit(a, b int64) int64 {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// ReadRange returns at most length bytes of name from offset, at the cost of
// that window where the provider can, whatever the size of the file; fewer at
// the end of the file. Zero length means to the end.
//
// # Errors
//
// Those of [Opener], and [ErrTooLarge] if the window is larger than the limit.
func (w *Workspace) ReadRange(ctx context.Context, name string, offset, length int64) ([]byte, error) {
	clean, err := w.Clean(ctx, ops.ReadFile, name)
	if err != nil {
		return nil, err
	}
	stream, info, err := Open(ctx, w.fsys, clean, &OpenOptions{Offset: offset, Length: length})
	if err != nil {
		return nil, ops.Rename(err, ops.ReadFile, clean)
	}
	defer stream.Close()
	window := max(info.Size-offset, 0)
	if length > 0 {
		window = min(window, length)
	}
	if err := ops.CheckSize(ops.ReadFile, clean, window, w.maxSize); err != nil {
		return nil, err
	}
	data, err := io.ReadAll(stream)
	return data, ops.Rename(err, ops.ReadFile, clean)
}

// Open implements [Opener].
func (w *Workspace) Open(ctx context.Context, name string, opts *OpenOptions) (io.ReadCloser, FileInfo, error) {
	clean, err := w.Clean(ctx, ops.Open, name)
	if err != nil {
		return nil, FileInfo{}, err
	}
	return Open(ctx, w.fsys, clean, opts)
}

// WriteFile implements [FileSystem].
//
// # Errors
//
// Also [ErrTooLarge].
func (w *Workspace) WriteFile(ctx context.Context, name string, data []byte, opts *WriteOptions) (Version, error) {
	clean, err := w.Clean(ctx, ops.WriteFile, name)
	if err != nil {
		return "", err
	}
	if err := ops.Check(ctx, ops.WriteFile, clean); err != nil {
		return "", err
	}
	if err := ops.CheckSize(ops.WriteFile, clean, int64(len(data)), w.maxSize); err != nil {
		return "", err
	}
	return w.fsys.WriteFile(ctx, clean, data, opts)
}

// Create implements [Creator]. The limit does not apply to a stream.
func (w *Workspace) Create(ctx context.Context, name string, opts *WriteOptions) (Writer, error) {
	clean, err := w.Clean(ctx, ops.Create, name)
	if err != nil {
		return nil, err
	}
	return Create(ctx, w.fsys, clean, opts)
}

// Ls implements [FileSystem].
func (w *Workspace) Ls(ctx context.Context, dir string, opts *LsOptions) ([]FileInfo, error) {
	clean, err := w.Clean(ctx, ops.Ls, dir)
	if err != nil {
		return nil, err
	}
	return w.fsys.Ls(ctx, clean, opts)
}

// Glob implements [FileSystem]. The root, "/" or "./" at the beginning of pattern
// is removed: every pattern is relative to opts.Dir.
func (w *Workspace) Glob(ctx context.Context, pattern string, opts *GlobOptions) ([]string, error) {
	var o GlobOptions
	if opts != nil {
		o = *opts
	}
	dir, err := w.Clean(ctx, ops.Glob, o.Dir)
	if err != nil {
		return nil, err
	}
	o.Dir = dir
	if pattern, err = w.cleanPattern(ctx, ops.Glob, pattern); err != nil {
		return nil, err
	}
	return w.fsys.Glob(ctx, pattern, &o)
}

// cleanPattern is CleanName for a glob. It changes only the beginning, as the
// rest need not be a name: the provider refuses a "..".
func (w *Workspace) cleanPattern(ctx context.Context, op, pattern string) (string, error) {
	root := ""
	if path.IsAbs(pattern) {
		var err error
		if root, err = w.findRoot(ctx); err != nil {
			return "", ops.Rename(err, op, pattern)
		}
		root = strings.TrimSuffix(path.Clean(root), "/")
	}
	for {
		pattern = strings.TrimLeft(pattern, "/")
		rest, ok := strings.CutPrefix(pattern, "./")
		if !ok && root != "" {
			rest, ok = strings.CutPrefix("/"+pattern, root+"/")
			root = "" // which is removed once
		}
		if !ok {
			return pattern, nil
		}
		pattern = rest
	}
}

// Grep implements [FileSystem]. Files larger than the workspace's limit are
// skipped.
func (w *Workspace) Grep(ctx context.Context, pattern string, opts *GrepOptions) (*GrepResult, error) {
	var o GrepOptions
	if opts != nil {
		o = *opts
	}
	clean, err := w.Clean(ctx, ops.Grep, o.Path)
	if err != nil {
		return nil, err
	}
	o.Path = clean
	if o.MaxFileSize >= 0 { // any other is refused
		o.MaxFileSize = lowerLimit(o.MaxFileSize, w.maxSize)
	}
	for _, filter := range []*string{&o.IncludeGlob, &o.ExcludeGlob} {
		if *filter, err = w.cleanFilter(ctx, *filter); err != nil {
			return nil, err
		}
	}
	return w.fsys.Grep(ctx, pattern, &o)
}

// cleanFilter is cleanPattern for a glob on files, which is one on names if it
// has no slash: a glob that was anchored stays anchored.
func (w *Workspace) cleanFilter(ctx context.Context, pattern string) (string, error) {
	clean, err := w.cleanPattern(ctx, ops.Grep, pattern)
	if err == nil && clean != pattern {
		clean = "/" + clean
	}
	return clean, err
}

// Stat implements [FileSystem].
func (w *Workspace) Stat(ctx context.Context, name string) (FileInfo, error) {
	clean, err := w.Clean(ctx, ops.Stat, name)
	if err != nil {
		return FileInfo{}, err
	}
	return w.fsys.Stat(ctx, clean)
}

// Rm implements [FileSystem].
func (w *Workspace) Rm(ctx context.Context, name string, opts *RmOptions) error {
	clean, err := w.Clean(ctx, ops.Rm, name)
	if err != nil {
		return err
	}
	return w.fsys.Rm(ctx, clean, opts)
}

// Mkdir implements [FileSystem].
func (w *Workspace) Mkdir(ctx context.Context, name string, opts *MkdirOptions) error {
	clean, err := w.Clean(ctx, ops.Mkdir, name)
	if err != nil {
		return err
	}
	return w.fsys.Mkdir(ctx, clean, opts)
}

// Watch implements [FileSystem].
func (w *Workspace) Watch(ctx context.Context, dir string, opts *WatchOptions) (<-chan Event, error) {
	clean, err := w.Clean(ctx, ops.Watch, dir)
	if err != nil {
		return nil, err
	}
	return w.fsys.Watch(ctx, clean, opts)
}

// Walk implements [Walker].
func (w *Workspace) Walk(ctx context.Context, dir string, opts *WalkOptions, fn WalkFunc) error {
	clean, err := w.Clean(ctx, ops.Walk, dir)
	if err != nil {
		return err
	}
	return Walk(ctx, w.fsys, clean, opts, fn)
}

// Resolve implements [Resolver].
func (w *Workspace) Resolve(ctx context.Context, name string) (string, error) {
	clean, err := w.Clean(ctx, ops.Resolve, name)
	if err != nil {
		return "", err
	}
	return Resolve(ctx, w.fsys, clean)
}

// Exact implements [Exacter]: the view is a Workspace of the same name and limits.
func (w *Workspace) Exact() (FileSystem, error) {
	exact, err := Exact(w.fsys)
	if err != nil {
		return nil, err
	}
	view := *w
	view.fsys = exact
	return &view, nil
}

// Hide returns a view whose searches leave out what is hidden, for a wrapper that
// denies names: see the Hider of package fallback. The view is a Workspace of the
// same name and limits.
//
// # Errors
//
// [errors.ErrUnsupported] if the FileSystem beneath cannot hide names.
func (w *Workspace) Hide(hidden func(dir string) func(name string, isDir bool) bool) (FileSystem, error) {
	hider, ok := As[interface {
		Hide(hidden func(dir string) func(name string, isDir bool) bool) (FileSystem, error)
	}](w.fsys)
	if !ok {
		return nil, ops.Error(ops.Hide, ".", errors.ErrUnsupported, errors.New("the file system cannot hide names"))
	}
	hiding, err := hider.Hide(hidden)
	if err != nil {
		return nil, err
	}
	view := *w
	view.fsys = hiding
	return &view, nil
}

// Transaction calls change, and undoes what it changes with the context that it gets if it
// returns an error or panics, if that context ends, or if the program is killed before it
// returns. A file that somebody else has changed since is left as it is. A transaction in the
// function of another is a part of it, and is undone with it, not by itself. The FileSystem
// needs transactions: those of package config have them, except if they are read-only, most
// relaxed folders, and in audit mode folders and what has a quota or backups. transaction.New
// of package workspace/transaction, which says what is guaranteed, adds them to any other that
// can be written.
//
// # Errors
//
// The error of change, as it is, or joined with those of the undo, among them [ErrConflict] for
// each file that is left; the error of the context; [ErrConflict] if change took so long that
// another program has undone it; [fs.ErrPermission] if nothing can be written;
// [errors.ErrUnsupported]; and [ErrPolicy] from a policy that is read-only or has no
// transactions below it.
func (w *Workspace) Transaction(ctx context.Context, change func(ctx context.Context) error) error {
	t, ok := As[interface {
		Transaction(ctx context.Context, change func(ctx context.Context) error) error
	}](w.fsys)
	if !ok {
		return ops.Error(ops.Transaction, ".", errors.ErrUnsupported, nil)
	}
	return t.Transaction(ctx, change)
}

// Move implements [Mover].
func (w *Workspace) Move(ctx context.Context, source, destination string) error {
	from, to, err := w.cleanPair(ctx, ops.Move, source, destination)
	if err != nil {
		return err
	}
	return Move(ctx, w.fsys, from, to)
}

// Copy implements [Copier]. A source that is larger than the workspace's limit
// when the call begins is [ErrTooLarge].
func (w *Workspace) Copy(ctx context.Context, source, destination string) (Version, error) {
	from, to, err := w.cleanPair(ctx, ops.Copy, source, destination)
	if err != nil {
		return "", err
	}
	if err := w.checkCopy(ctx, from); errors.Is(err, ErrPolicy) {
		ctx = session.WithCopyLimit(ctx, w.maxSize) // the policy checks it
	} else if err != nil {
		return "", err
	}
	return Copy(ctx, w.fsys, from, to)
}

// checkCopy returns the error of a source that is too large, or [ErrPolicy] if its size may not
// be known without a question. The copy itself finds all other errors.
func (w *Workspace) checkCopy(ctx context.Context, source string) error {
	if w.maxSize <= 0 {
		return nil
	}
	ctx = session.WithoutQuestions(ctx)
	info, err := w.fsys.Stat(ctx, source)
	if err == nil && info.Type == TypeSymlink {
		var target string
		if target, err = Resolve(ctx, w.fsys, source); err == nil {
			info, err = w.fsys.Stat(ctx, target)
		}
	}
	if errors.Is(err, ErrPolicy) {
		var file io.ReadCloser
		if file, info, err = Open(ctx, w.fsys, source, nil); err == nil {
			file.Close()
		}
	}
	switch {
	case errors.Is(err, ErrPolicy):
		return err
	case err != nil:
		return nil
	}
	return ops.CheckSize(ops.Copy, source, info.Size, w.maxSize)
}

// cleanPair is Clean for two names.
func (w *Workspace) cleanPair(ctx context.Context, op, source, destination string) (from, to string, err error) {
	if from, err = w.Clean(ctx, op, source); err != nil {
		return "", "", err
	}
	to, err = w.Clean(ctx, op, destination)
	return from, to, err
}
