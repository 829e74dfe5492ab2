package policy

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"strings"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

// Rules say which names of a [workspace.FileSystem] may be used.
type Rules struct {
	// AllowedPaths are globs of the names that may be used, from the root, in
	// the dialect of [workspace.GlobOptions]: "src/**" is the directory src
	// with all below it, "*.md" all names at the top that end in ".md". A
	// pattern that ends in a slash is refused, as it would allow a directory
	// and nothing in it. Empty allows all names but DeniedPaths.
	AllowedPaths []string
	// DeniedPaths are globs of names that may not be used although AllowedPaths
	// allow them. A directory is denied with all that is in it. A pattern without
	// a slash matches in every directory: ".env*" is also for "app/.env.local".
	// Letters are compared regardless of their case. One of the two lists has to
	// have a pattern.
	DeniedPaths []string
}

// RestrictedFS is a [workspace.FileSystem] in which only the names that the
// [Rules] allow may be used. A directory in which something can be allowed may
// also be listed and created, and removed or moved if nothing in it is denied.
//
// Any other name is denied: every operation on it is [workspace.ErrPolicy],
// whether it exists or not, and it is absent from Ls, Glob, Grep, Walk and
// Watch. A search with Gitignore honours all ".gitignore" files, denied or not.
//
// A symlink can be used if its target is allowed, and if each symlink on the way
// is in a directory that is not denied. RestrictedFS tests the target, and then
// uses the target's name and follows no symlink: if a call or a program changes
// a symlink in between, the operation fails. A symlink that someone changes all
// the time is [workspace.ErrUnavailable].
//
// Before it removes or moves a directory that is not allowed with all below it,
// RestrictedFS lists what is in it. A denied name that a program creates there
// after that can be moved along. RestrictedFS is safe for concurrent use.
type RestrictedFS struct {
	fsys     workspace.FileSystem // resolves names
	files    workspace.FileSystem // does all else: the exact view of fsys, unless everything is allowed
	allow    *allowlist
	noFollow bool // no symlink is followed
}

var (
	_ workspace.FileSystem      = (*RestrictedFS)(nil)
	_ workspace.Capable         = (*RestrictedFS)(nil)
	_ workspace.VersionedReader = (*RestrictedFS)(nil)
	_ workspace.Opener          = (*RestrictedFS)(nil)
	_ workspace.Creator         = (*RestrictedFS)(nil)
	_ workspace.Mover           = (*RestrictedFS)(nil)
	_ workspace.Copier          = (*RestrictedFS)(nil)
	_ workspace.Walker          = (*RestrictedFS)(nil)
	_ workspace.Resolver        = (*RestrictedFS)(nil)
	_ workspace.Exacter         = (*RestrictedFS)(nil)
	_ workspace.Rooter          = (*RestrictedFS)(nil)
)

// Restrict returns the part of fsys that rules allow.
//
// # Errors
//
// [io/fs.ErrInvalid] if rules allow no path at all, [workspace.ErrPattern] or
// [workspace.ErrEscape] for a pattern that cannot be used, and
// [errors.ErrUnsupported] if fsys follows symlinks and cannot refuse to
// ([workspace.Exact]).
func Restrict(fsys workspace.FileSystem, rules Rules) (*RestrictedFS, error) {
	allow, err := compileAllowlist(rules)
	if err != nil {
		return nil, err
	}
	if allow.access(".") == all {
		return &RestrictedFS{fsys: fsys, files: fsys, allow: allow}, nil
	}
	exact, err := workspace.Exact(fsys)
	if err != nil {
		return nil, ops.Rename(err, opRestrict, ".")
	}
	return &RestrictedFS{fsys: fsys, files: exact, allow: allow}, nil
}

// Exact implements [workspace.Exacter].
func (r *RestrictedFS) Exact() (workspace.FileSystem, error) {
	exact, err := workspace.Exact(r.fsys)
	if err != nil {
		return nil, err
	}
	return &RestrictedFS{fsys: exact, files: exact, allow: r.allow, noFollow: true}, nil
}

// Capabilities implements [workspace.Capable].
func (r *RestrictedFS) Capabilities() workspace.Capabilities {
	return workspace.CapabilitiesOf(r.fsys)
}

// Root implements [workspace.Rooter].
func (r *RestrictedFS) Root() string { return workspace.RootOf(r.fsys) }

// Close closes the FileSystem below if it is an [io.Closer].
func (r *RestrictedFS) Close() error {
	if closer, ok := workspace.As[io.Closer](r.fsys); ok {
		return closer.Close()
	}
	return nil
}

// resolved is a name that is not denied, with its target.
type resolved struct {
	alias
	access access // the lesser access of name and target
}

// at calls do with the target of name until it finds no symlink in that. last
// says whether a symlink that is the last element is followed.
func (r *RestrictedFS) at(ctx context.Context, op, name string, last bool, do func(p resolved) error) error {
	p, err := r.asSpelled(ctx, op, name)
	if err != nil {
		return err
	}
	return follow(ctx, op, name, func() error { return do(p) }, func() (bool, error) { return r.resolve(ctx, op, &p, last) })
}

// atPair is at for two names. A symlink that is the last element of destination
// is not followed.
func (r *RestrictedFS) atPair(ctx context.Context, op, source, destination string, last bool, do func(from, to resolved) error) error {
	from, err := r.asSpelled(ctx, op, source)
	if err != nil {
		return err
	}
	to, err := r.asSpelled(ctx, op, destination)
	if err != nil {
		return err
	}
	return follow(ctx, op, source, func() error { return do(from, to) }, func() (bool, error) {
		first, err := r.resolve(ctx, op, &from, last)
		if err != nil {
			return false, err
		}
		second, err := r.resolve(ctx, op, &to, false)
		return first || second, err
	})
}

// asSpelled returns name with itself as its target, as if it had no symlink.
func (r *RestrictedFS) asSpelled(ctx context.Context, op, name string) (resolved, error) {
	if err := ops.Check(ctx, op, name); err != nil {
		return resolved{}, err
	}
	p := resolved{alias{name, name}, r.allow.access(name)}
	if p.access == none {
		return resolved{}, r.denial(op, name)
	}
	return p, nil
}

// resolve follows the symlinks in the name of p, and reports whether that is
// worth another attempt. It goes element by element and stops at a symlink to a
// denied name, so that the answer shows nothing of what is there.
func (r *RestrictedFS) resolve(ctx context.Context, op string, p *resolved, last bool) (again bool, err error) {
	if r.noFollow {
		return false, nil
	}
	// With traverse, a name is a directory or denied: a symlink is not
	// followed.
	dirOnly := r.allow.access(p.name) <= traverse
	dir, base := p.name, "."
	if !last || dirOnly {
		dir, base = workspace.Split(p.name)
	}
	target := "."
	for element := range strings.SplitSeq(dir, "/") {
		target, err = workspace.Resolve(ctx, r.fsys, rebase(element, ".", target))
		if err != nil {
			return false, ops.Rename(err, op, p.name)
		}
		if r.allow.access(target) == none {
			return false, r.denial(op, p.name)
		}
	}
	target = rebase(base, ".", target)
	unchanged := target == p.target
	p.target, p.access = target, min(r.allow.access(p.name), r.allow.access(target))
	if p.access == none || unchanged && dirOnly {
		return false, r.denial(op, p.name)
	}
	return true, nil
}

// child returns the target of a name below p. It may be denied.
func (r *RestrictedFS) child(p resolved, name string) resolved {
	target := rebase(name, p.name, p.target)
	return resolved{alias{name, target}, min(r.allow.access(name), r.allow.access(target))}
}

// shows reports whether a listing shows a name of type t.
func (p resolved) shows(t workspace.FileType) bool {
	return p.access > traverse || p.access == traverse && t == workspace.TypeDirectory
}

// denial is the error of a denied name. It is the same for all of them, so that
// it does not show which exist.
func (r *RestrictedFS) denial(op, name string) error {
	return ops.Error(op, name, workspace.ErrPolicy, errors.New(r.allow.why(name)))
}

// checkDir returns the denial of a name that may only be traversed and is no
// directory.
func (r *RestrictedFS) checkDir(ctx context.Context, op string, p resolved) error {
	if p.access > traverse || p.target == "." {
		return nil
	}
	info, err := r.files.Stat(ctx, p.target)
	switch {
	case errors.Is(err, workspace.ErrUnavailable), errors.Is(err, workspace.ErrSymlink), ctx.Err() != nil:
		return ops.Rename(err, op, p.name)
	case err != nil, !info.IsDir():
		return r.denial(op, p.name)
	}
	return nil
}

// conceal returns the error of an operation on p in a form that shows nothing of
// denied names: where an element in the middle is a denied file, the error is
// [fs.ErrNotExist], as if there were no such file.
func (r *RestrictedFS) conceal(ctx context.Context, op string, p resolved, err error) error {
	if errors.Is(err, workspace.ErrNotDir) && r.deniedFile(ctx, p) {
		return ops.Error(op, p.name, fs.ErrNotExist, nil)
	}
	return ops.Rename(err, op, p.name)
}

// concealChange is conceal for an operation that creates missing parents: in the
// place of a denied file, it is refused.
func (r *RestrictedFS) concealChange(ctx context.Context, op string, p resolved, err error) error {
	if errors.Is(err, workspace.ErrNotDir) && r.deniedFile(ctx, p) {
		return r.denial(op, p.name)
	}
	return ops.Rename(err, op, p.name)
}

// deniedFile reports whether an element in the middle of p is a denied file.
func (r *RestrictedFS) deniedFile(ctx context.Context, p resolved) bool {
	for dir, _ := workspace.Split(p.target); dir != "."; dir, _ = workspace.Split(dir) {
		if r.allow.access(dir) > traverse {
			continue
		}
		info, err := r.files.Stat(ctx, dir)
		if err == nil && info.Type != workspace.TypeDirectory && info.Type != workspace.TypeSymlink {
			return true
		}
	}
	return false
}
