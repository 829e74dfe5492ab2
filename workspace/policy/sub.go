// Package policy has wrappers that restrict a [workspace.FileSystem]: [Sub] to a
// directory, [Restrict] to some names, [ReadOnly] to reading, and [Protect] to
// reading some names. Each of them forwards every optional interface of the
// FileSystem that it wraps, under the same restriction, and none can be
// unwrapped.
//
//	fsys, err := policy.Restrict(local, policy.Rules{AllowedPaths: []string{"src/**", "*.md"}})
//	ws := workspace.New("repo", fsys, nil)
//
// Symlinks are why this is not a test of names alone. A wrapper uses the view of
// the FileSystem that follows no symlink ([workspace.Exact]). Where that meets a
// symlink, the wrapper resolves the name, tests the result, and uses that
// instead, again with no symlink followed. So the name that was tested is the
// name that is used, whoever changes a symlink in between.
//
// A [Rule] can ask before an operation. The operation then takes place only if the
// [Approver] in its context allows it, who is shown what it would do. What is done is
// what was shown, or there is another question.
package policy

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/scan"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/fallback"
)

// SubFS is a directory of a [workspace.FileSystem] as a FileSystem of its own.
// Nothing outside that directory can be named or reached, not through symlinks
// either: a symlink that leads out of it is [workspace.ErrEscape], whoever
// creates it, at whatever moment. A symlink that someone changes all the time
// is [workspace.ErrUnavailable]. SubFS is safe for concurrent use.
type SubFS struct {
	fsys     workspace.FileSystem // resolves names
	files    workspace.FileSystem // does all else: the exact view of fsys, unless dir is "."
	dir      string
	noFollow bool        // symlinks are followed in dir only
	hidden   scan.Hidden // from searches; nil but in a view of Hide
}

var (
	_ workspace.FileSystem      = (*SubFS)(nil)
	_ fallback.Capable          = (*SubFS)(nil)
	_ workspace.VersionedReader = (*SubFS)(nil)
	_ workspace.Opener          = (*SubFS)(nil)
	_ workspace.Creator         = (*SubFS)(nil)
	_ workspace.Mover           = (*SubFS)(nil)
	_ workspace.Copier          = (*SubFS)(nil)
	_ workspace.Walker          = (*SubFS)(nil)
	_ workspace.Resolver        = (*SubFS)(nil)
	_ workspace.Exacter         = (*SubFS)(nil)
	_ workspace.Runner          = (*SubFS)(nil)
	_ fallback.Hider            = (*SubFS)(nil)
	_ fallback.Transactor       = (*SubFS)(nil)
	_ fallback.Rooter           = (*SubFS)(nil)
	_ fallback.RootFinder       = (*SubFS)(nil)
)

// Sub returns the directory dir of fsys. It does not look whether dir exists;
// each operation does. As there can be several of one fsys, a SubFS has no Close:
// whoever has opened fsys closes it.
//
// # Errors
//
// [io/fs.ErrInvalid] or [workspace.ErrEscape] if dir is not a valid name, and
// [errors.ErrUnsupported] if fsys follows symlinks and cannot refuse to
// ([workspace.Exact]).
func Sub(fsys workspace.FileSystem, dir string) (*SubFS, error) {
	if err := ops.Check(context.Background(), "sub", dir); err != nil {
		return nil, err
	}
	if dir == "." {
		return atRoot(fsys), nil
	}
	exact, err := workspace.Exact(fsys)
	if err != nil {
		return nil, ops.Rename(err, "sub", dir)
	}
	return &SubFS{fsys: fsys, files: exact, dir: dir}, nil
}

// atRoot returns a SubFS of everything in fsys. It need not look at symlinks.
func atRoot(fsys workspace.FileSystem) *SubFS {
	return &SubFS{fsys: fsys, files: fsys, dir: "."}
}

// Capabilities implements [fallback.Capable].
func (s *SubFS) Capabilities() workspace.Capabilities {
	c := workspace.CapabilitiesOf(s.fsys)
	c.Run = c.Run && s.dir == "."
	return c
}

// Root implements [fallback.Rooter].
func (s *SubFS) Root() string {
	root := fallback.Root(s.fsys)
	if root == "" || s.dir == "." {
		return root
	}
	return strings.TrimSuffix(root, "/") + "/" + s.dir
}

// FindRoot implements [fallback.RootFinder].
func (s *SubFS) FindRoot(ctx context.Context) error { return fallback.FindRoot(ctx, s.fsys) }

// Exact implements [workspace.Exacter]. Symlinks that the directory itself is
// reached through are followed.
func (s *SubFS) Exact() (workspace.FileSystem, error) {
	if s.dir != "." {
		view := *s
		view.noFollow = true
		return &view, nil
	}
	exact, err := workspace.Exact(s.fsys)
	if err != nil {
		return nil, err
	}
	return atRoot(exact).hide(s.hidden), nil
}

// Hide implements [fallback.Hider].
func (s *SubFS) Hide(hidden func(dir string) func(name string, isDir bool) bool) (workspace.FileSystem, error) {
	return s.hide(hidden), nil
}

// Transaction implements [fallback.Transactor].
func (s *SubFS) Transaction(ctx context.Context, change func(ctx context.Context) error) error {
	return fallback.Transaction(ctx, s.fsys, change)
}

// hide is Hide.
func (s *SubFS) hide(hidden scan.Hidden) *SubFS {
	view := *s
	view.hidden = scan.Either(s.hidden, hidden)
	return &view
}

// subResolved is a name of a SubFS with its target.
type subResolved struct {
	alias
	base string // the target of the SubFS's directory
}

// aliased reports whether a symlink was followed to the target.
func (p subResolved) aliased() bool { return p.target != rebase(p.name, ".", p.base) }

// at calls do with the target of name until it finds no symlink in that. last
// says whether a symlink that is the last element is followed.
func (s *SubFS) at(ctx context.Context, op, name string, last bool, do func(p subResolved) error) error {
	p, err := s.asSpelled(ctx, op, name)
	if err != nil {
		return err
	}
	return follow(ctx, op, name, func() error { return do(p) }, func() (bool, error) { return s.resolve(ctx, op, &p, last) })
}

// asSpelled returns name with its target, as if it had no symlink.
func (s *SubFS) asSpelled(ctx context.Context, op, name string) (subResolved, error) {
	if err := ops.Check(ctx, op, name); err != nil {
		return subResolved{}, err
	}
	return subResolved{alias{name, rebase(name, ".", s.dir)}, s.dir}, nil
}

// resolve follows the symlinks in the name of p, and reports whether that is
// worth another attempt.
func (s *SubFS) resolve(ctx context.Context, op string, p *subResolved, last bool) (again bool, err error) {
	base, err := workspace.Resolve(ctx, s.fsys, s.dir)
	if err != nil {
		return false, ops.Rename(err, op, p.name)
	}
	if s.noFollow {
		again = base != p.base
		p.base, p.target = base, rebase(p.name, ".", base)
		return again, nil
	}
	dir, element := rebase(p.name, ".", s.dir), "."
	if !last && p.name != "." {
		dir, element = workspace.Split(dir)
	}
	target, err := workspace.Resolve(ctx, s.fsys, dir)
	if err != nil {
		return false, ops.Rename(err, op, p.name)
	}
	if target != base && !strings.HasPrefix(target, prefixOf(base)) {
		return false, ops.Error(op, p.name, workspace.ErrEscape, nil)
	}
	p.base, p.target = base, rebase(element, ".", target)
	return true, nil
}

// atPair is at for two names. A symlink that is the last element of destination
// is not followed.
func (s *SubFS) atPair(ctx context.Context, op, source, destination string, last bool, do func(from, to subResolved) error) error {
	from, err := s.asSpelled(ctx, op, source)
	if err != nil {
		return err
	}
	to, err := s.asSpelled(ctx, op, destination)
	if err != nil {
		return err
	}
	return follow(ctx, op, source, func() error { return do(from, to) }, func() (bool, error) {
		first, err := s.resolve(ctx, op, &from, last)
		if err != nil {
			return false, err
		}
		second, err := s.resolve(ctx, op, &to, false)
		return first || second, err
	})
}

// outerPairError is outerError for an operation on two names.
func outerPairError(from, to alias, err error) error {
	if blames(to, from, err) {
		return to.outerError(err)
	}
	return from.outerError(err)
}

// blames reports whether err is about a and not about other.
func blames(a, other alias, err error) bool {
	var pathError *fs.PathError
	if !errors.As(err, &pathError) || pathError.Path != a.target {
		return false
	}
	return a.target != other.target || errors.Is(err, fs.ErrExist)
}

// ReadFile implements [workspace.FileSystem].
func (s *SubFS) ReadFile(ctx context.Context, name string) (data []byte, err error) {
	err = s.at(ctx, ops.ReadFile, name, true, func(p subResolved) error {
		data, err = s.files.ReadFile(ctx, p.target)
		return p.outerError(err)
	})
	return data, err
}

// ReadVersioned implements [workspace.VersionedReader].
func (s *SubFS) ReadVersioned(ctx context.Context, name string, limit int64) (data []byte, version workspace.Version, err error) {
	err = s.at(ctx, ops.ReadFile, name, true, func(p subResolved) error {
		data, version, err = workspace.ReadVersioned(ctx, s.files, p.target, limit)
		return p.outerError(err)
	})
	return data, version, err
}

// Open implements [workspace.Opener].
func (s *SubFS) Open(ctx context.Context, name string, opts *workspace.OpenOptions) (stream io.ReadCloser, info workspace.FileInfo, err error) {
	err = s.at(ctx, ops.Open, name, true, func(p subResolved) error {
		stream, info, err = workspace.Open(ctx, s.files, p.target, opts)
		if err != nil {
			return p.outerError(err)
		}
		stream, info = &reader{stream, p.outerError}, p.outerInfo(info)
		return nil
	})
	return stream, info, err
}

// reader renames the errors of a stream.
type reader struct {
	io.ReadCloser
	outerError func(error) error
}

// Read implements [io.Reader].
func (r *reader) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	return n, r.outerError(err)
}

// Close implements [io.Closer].
func (r *reader) Close() error { return r.outerError(r.ReadCloser.Close()) }

// follows reports whether a write follows a symlink at its name. A write with
// IfNotExist fails there instead.
func follows(opts *workspace.WriteOptions) bool {
	return opts == nil || !opts.IfNotExist
}

// WriteFile implements [workspace.FileSystem].
func (s *SubFS) WriteFile(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (version workspace.Version, err error) {
	err = s.at(ctx, ops.WriteFile, name, follows(opts), func(p subResolved) error {
		version, err = s.files.WriteFile(ctx, p.target, data, opts)
		return p.outerError(err)
	})
	return version, err
}

// Create implements [workspace.Creator].
func (s *SubFS) Create(ctx context.Context, name string, opts *workspace.WriteOptions) (w workspace.Writer, err error) {
	err = s.at(ctx, ops.Create, name, follows(opts), func(p subResolved) error {
		below, err := p.create(ctx, s.files, opts)
		if err != nil {
			return p.outerError(err)
		}
		w = &writer{below, p.name, p.outerError}
		return nil
	})
	return w, err
}

// Stat implements [workspace.FileSystem].
func (s *SubFS) Stat(ctx context.Context, name string) (info workspace.FileInfo, err error) {
	err = s.at(ctx, ops.Stat, name, false, func(p subResolved) error {
		info, err = s.files.Stat(ctx, p.target)
		if name == "." && info.Type == workspace.TypeSymlink {
			return ops.Error(ops.Stat, name, workspace.ErrSymlink, nil)
		}
		info = p.outerInfo(info)
		return p.outerError(err)
	})
	return info, err
}

// Rm implements [workspace.FileSystem].
func (s *SubFS) Rm(ctx context.Context, name string, opts *workspace.RmOptions) error {
	return s.at(ctx, ops.Rm, name, false, func(p subResolved) error {
		if name == "." {
			return ops.Error(ops.Rm, name, fs.ErrInvalid, errors.New("the root cannot be removed"))
		}
		return p.outerError(s.files.Rm(ctx, p.target, opts))
	})
}

// Mkdir implements [workspace.FileSystem].
func (s *SubFS) Mkdir(ctx context.Context, name string, opts *workspace.MkdirOptions) error {
	last := opts != nil && opts.Recursive
	return s.at(ctx, ops.Mkdir, name, last, func(p subResolved) error {
		return p.outerError(s.files.Mkdir(ctx, p.target, opts))
	})
}

// Move implements [workspace.Mover].
func (s *SubFS) Move(ctx context.Context, source, destination string) error {
	return s.atPair(ctx, ops.Move, source, destination, false, func(from, to subResolved) error {
		if source == "." {
			return ops.Error(ops.Move, source, fs.ErrInvalid, errors.New("the root cannot be moved"))
		}
		return outerPairError(from.alias, to.alias, workspace.Move(ctx, s.files, from.target, to.target))
	})
}

// Copy implements [workspace.Copier].
func (s *SubFS) Copy(ctx context.Context, source, destination string) (version workspace.Version, err error) {
	err = s.atPair(ctx, ops.Copy, source, destination, true, func(from, to subResolved) error {
		version, err = workspace.Copy(ctx, s.files, from.target, to.target)
		return outerPairError(from.alias, to.alias, err)
	})
	return version, err
}

// Resolve implements [workspace.Resolver].
func (s *SubFS) Resolve(ctx context.Context, name string) (target string, err error) {
	err = s.at(ctx, ops.Resolve, name, true, func(p subResolved) error {
		target, err = workspace.Resolve(ctx, s.files, p.target)
		target = rebase(target, p.base, ".")
		return p.outerError(err)
	})
	return target, err
}

// Ls implements [workspace.FileSystem].
func (s *SubFS) Ls(ctx context.Context, dir string, opts *workspace.LsOptions) (infos []workspace.FileInfo, err error) {
	err = s.at(ctx, ops.Ls, dir, true, func(p subResolved) error {
		infos, err = s.files.Ls(ctx, p.target, opts)
		for i := range infos {
			infos[i] = p.outerInfo(infos[i])
		}
		return p.outerError(err)
	})
	return infos, err
}

// Walk implements [workspace.Walker].
func (s *SubFS) Walk(ctx context.Context, dir string, opts *workspace.WalkOptions, fn workspace.WalkFunc) error {
	return unstop(s.at(ctx, ops.Walk, dir, true, func(p subResolved) error {
		return p.walk(ctx, hiding(s.files, p.innerHidden(s.hidden)), opts, fn)
	}))
}

// Glob implements [workspace.FileSystem].
func (s *SubFS) Glob(ctx context.Context, pattern string, opts *workspace.GlobOptions) (paths []string, err error) {
	var o workspace.GlobOptions
	if opts != nil {
		o = *opts
	}
	if o.Dir == "" {
		o.Dir = "."
	}
	err = s.at(ctx, ops.Glob, o.Dir, true, func(p subResolved) error {
		if p.aliased() && o.Gitignore { // the rules depend on the names of directories
			paths, err = fallback.Hide(s, s.hidden).Glob(ctx, pattern, &o)
			return err
		}
		inner := o
		inner.Dir, inner.After = p.target, p.position(o.After)
		paths, err = hiding(s.files, p.innerHidden(s.hidden)).Glob(ctx, pattern, &inner)
		for i := range paths {
			paths[i] = p.outer(paths[i])
		}
		return p.outerPatternError(err, map[string]string{pattern: pattern})
	})
	return paths, err
}

// Grep implements [workspace.FileSystem].
func (s *SubFS) Grep(ctx context.Context, pattern string, opts *workspace.GrepOptions) (result *workspace.GrepResult, err error) {
	var o workspace.GrepOptions
	if opts != nil {
		o = *opts
	}
	if o.Path == "" {
		o.Path = "."
	}
	err = s.at(ctx, ops.Grep, o.Path, true, func(p subResolved) error {
		if p.aliased() && (o.Gitignore || s.hidden != nil) { // the rules depend on the names of directories
			result, err = fallback.Hide(s, s.hidden).Grep(ctx, pattern, &o)
			return err
		}
		result, err = s.grep(ctx, p, pattern, o)
		return err
	})
	return result, err
}

// innerHidden is [alias.innerHidden]. Without a symlink, every name in the
// directory of the SubFS can be translated, also the parent of the target.
func (p subResolved) innerHidden(hidden scan.Hidden) scan.Hidden {
	if p.aliased() {
		return p.alias.innerHidden(hidden)
	}
	return alias{".", p.base}.innerHidden(hidden)
}

// grep searches the target of a directory, and renames what it finds.
func (s *SubFS) grep(ctx context.Context, p subResolved, pattern string, o workspace.GrepOptions) (*workspace.GrepResult, error) {
	inner := o
	inner.Path = p.target
	inner.StartAfter.Path = p.position(o.StartAfter.Path)
	result, err := hiding(s.files, p.innerHidden(s.hidden)).Grep(ctx, pattern, &inner)
	if err != nil {
		return nil, p.outerPatternError(err, map[string]string{
			o.IncludeGlob: o.IncludeGlob, o.ExcludeGlob: o.ExcludeGlob, pattern: pattern,
		})
	}
	p.outerResult(result)
	return result, nil
}

// outerResult renames the files in the result of a search.
func (a alias) outerResult(result *workspace.GrepResult) {
	for i := range result.Matches {
		result.Matches[i].Path = a.outer(result.Matches[i].Path)
	}
	for i := range result.Skipped {
		result.Skipped[i].Path = a.outer(result.Skipped[i].Path)
	}
	// The target of "." came first, and "." comes after names such as "-a".
	slices.SortStableFunc(result.Skipped, func(a, b workspace.Skipped) int { return strings.Compare(a.Path, b.Path) })
}

// Watch implements [workspace.FileSystem].
func (s *SubFS) Watch(ctx context.Context, dir string, opts *workspace.WatchOptions) (<-chan workspace.Event, error) {
	out := make(chan workspace.Event)
	err := s.at(ctx, ops.Watch, dir, true, func(p subResolved) error {
		events, err := s.files.Watch(ctx, p.target, opts)
		if err != nil {
			return p.outerError(err)
		}
		go p.forward(ctx, events, out, func(workspace.Event) bool { return true })
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}
