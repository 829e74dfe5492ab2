package policy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/workspacekit/workspacekit/workspace"
)

// Rules say what of a [workspace.FileSystem] may be used.
type Rules struct {
	// AllowedPaths are globs of the names that may be used, from the root, in
	// the dialect of [workspace.GlobOptions]: "src/**" is the directory src
	// with all below it, "*.md" what ends in ".md" at the top. A pattern that
	// ends in a slash is refused, as it would allow a directory and nothing in
	// it. At least one is required.
	AllowedPaths []string
}

// RestrictedFS is a [workspace.FileSystem] of which only some names may be
// used: those that the [Rules] allow. A directory in which something can be
// allowed may be seen and made, too, and removed or moved if nothing in it is
// denied.
//
// Any other name is denied: to name it is [workspace.ErrPolicy], whether it
// exists or not, and it is absent from Ls, Glob, Grep, Walk and Watch. A
// symlink can be used if what it leads to may be. The ".gitignore" files that
// are denied are honoured nevertheless where a search asks for them.
//
// What is tested before an operation may be changed by another program at that
// very moment: one that can make symlinks in the store, or names in a directory
// that is being moved, may get past it. RestrictedFS is safe for concurrent
// use.
type RestrictedFS struct {
	fsys  workspace.FileSystem
	allow *allowlist
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
	_ workspace.Rooter          = (*RestrictedFS)(nil)
)

// Restrict returns fsys as far as rules allow.
//
// # Errors
//
// [io/fs.ErrInvalid] if rules allow no path at all, and
// [workspace.ErrPattern] or [workspace.ErrEscape] for a pattern that cannot be
// used.
func Restrict(fsys workspace.FileSystem, rules Rules) (*RestrictedFS, error) {
	allow, err := compileAllowlist(rules.AllowedPaths)
	if err != nil {
		return nil, err
	}
	return &RestrictedFS{fsys: fsys, allow: allow}, nil
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

// place is a name that is not denied.
type place struct {
	name   string
	target string // what name stands for once symlinks have been followed
	access access // the lesser of both
}

// locate returns the place of name, of which the last element is followed if
// it is a symlink.
func (r *RestrictedFS) locate(ctx context.Context, op, name string) (place, error) {
	return r.place(ctx, op, name, true)
}

// locateSelf returns the place of name, of which the last element is not
// followed.
func (r *RestrictedFS) locateSelf(ctx context.Context, op, name string) (place, error) {
	return r.place(ctx, op, name, false)
}

func (r *RestrictedFS) place(ctx context.Context, op, name string, follow bool) (place, error) {
	if err := workspace.Check(ctx, op, name); err != nil {
		return place{}, err
	}
	p := place{name: name, target: name, access: r.allow.access(name)}
	if p.access == denied {
		return place{}, r.denial(op, name)
	}
	// What only leads to names is a directory or denied: a symlink is not
	// followed.
	target, err := r.target(ctx, name, follow && p.access > leads)
	if err != nil {
		return place{}, r.conceal(ctx, op, name, err)
	}
	p.target = target
	if p.access = min(p.access, r.allow.access(target)); p.access == denied {
		return place{}, r.denial(op, name)
	}
	return p, nil
}

// target returns what name stands for.
func (r *RestrictedFS) target(ctx context.Context, name string, follow bool) (string, error) {
	if _, ok := workspace.As[workspace.Resolver](r.fsys); !ok || name == "." || r.allow.access(".") == whole {
		return name, nil
	}
	if follow {
		return workspace.Resolve(ctx, r.fsys, name)
	}
	parent, base := workspace.Split(name)
	target, err := workspace.Resolve(ctx, r.fsys, parent)
	return workspace.Join(target, base), err
}

// child returns the place of a name below p, which may turn out to be denied.
func (r *RestrictedFS) child(p place, name string) place {
	target := name
	if p.target != p.name {
		target = workspace.Join(p.target, (&SubFS{dir: p.name}).outer(name))
	}
	return place{name: name, target: target, access: min(r.allow.access(name), r.allow.access(target))}
}

// shows reports whether a listing shows a name of type t.
func (p place) shows(t workspace.FileType) bool {
	return p.access > leads || p.access == leads && t == workspace.TypeDirectory
}

// denial is the error of a name that is denied. It is the same for every such
// name, so as not to show which of them exist.
func (r *RestrictedFS) denial(op, name string) error {
	return workspace.NewPathError(op, name, workspace.ErrPolicy,
		fmt.Errorf("neither one of the allowed paths (%s) nor a directory that leads to one", r.allow.text))
}

// checkDir returns the denial of a place that only leads to names and is no
// directory.
func (r *RestrictedFS) checkDir(ctx context.Context, op string, p place) error {
	if p.access > leads || p.target == "." {
		return nil
	}
	info, err := r.fsys.Stat(ctx, p.target)
	switch {
	case errors.Is(err, workspace.ErrUnavailable), ctx.Err() != nil:
		return workspace.RenameError(err, op, p.name)
	case err != nil, !info.IsDir():
		return r.denial(op, p.name)
	}
	return nil
}

// conceal returns err for op and name without what it tells of denied names:
// that an element in the middle is a file, which is denied, becomes
// [fs.ErrNotExist], as if it were not there.
func (r *RestrictedFS) conceal(ctx context.Context, op, name string, err error) error {
	if errors.Is(err, workspace.ErrNotDir) && r.deniedFile(ctx, name) {
		return workspace.NewPathError(op, name, fs.ErrNotExist, nil)
	}
	return workspace.RenameError(err, op, name)
}

// concealChange is conceal for an operation that would make what is not there:
// it is refused.
func (r *RestrictedFS) concealChange(ctx context.Context, op, name string, err error) error {
	if errors.Is(err, workspace.ErrNotDir) && r.deniedFile(ctx, name) {
		return r.denial(op, name)
	}
	return workspace.RenameError(err, op, name)
}

// deniedFile reports whether an element in the middle of name is a file that is
// denied.
func (r *RestrictedFS) deniedFile(ctx context.Context, name string) bool {
	for dir, _ := workspace.Split(name); dir != "."; dir, _ = workspace.Split(dir) {
		if r.allow.access(dir) > leads {
			continue
		}
		info, err := r.fsys.Stat(ctx, dir)
		if err == nil && info.Type != workspace.TypeDirectory && info.Type != workspace.TypeSymlink {
			return true
		}
	}
	return false
}
