package policy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

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
// exists or not, and it is absent from Ls, Glob, Grep, Walk and Watch. The
// ".gitignore" files that are denied are honoured nevertheless where a search
// asks for them.
//
// A symlink can be used if what it leads to is allowed, and if each symlink on
// the way is in a directory that is not denied. The name that a symlink leads to
// is tested, and then that name is used with no symlink followed: whoever
// changes a symlink in between, a call or a program, gets an error. A symlink
// that someone changes all the time is [workspace.ErrUnavailable].
//
// Removing and moving a directory of which a part is allowed begins with a look
// at what is in it: a program that creates a denied name there at that moment
// can have it moved along. RestrictedFS is safe for concurrent use.
type RestrictedFS struct {
	fsys  workspace.FileSystem // resolves names
	files workspace.FileSystem // does all else: the exact view of fsys, unless everything is allowed
	allow *allowlist
	still bool // no symlink is followed
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

// Restrict returns fsys as far as rules allow.
//
// # Errors
//
// [io/fs.ErrInvalid] if rules allow no path at all, [workspace.ErrPattern] or
// [workspace.ErrEscape] for a pattern that cannot be used, and
// [errors.ErrUnsupported] if fsys follows symlinks and cannot refuse to
// ([workspace.Exact]).
func Restrict(fsys workspace.FileSystem, rules Rules) (*RestrictedFS, error) {
	allow, err := compileAllowlist(rules.AllowedPaths)
	if err != nil {
		return nil, err
	}
	if allow.access(".") == whole {
		return &RestrictedFS{fsys: fsys, files: fsys, allow: allow}, nil
	}
	exact, err := workspace.Exact(fsys)
	if err != nil {
		return nil, workspace.RenameError(err, opRestrict, ".")
	}
	return &RestrictedFS{fsys: fsys, files: exact, allow: allow}, nil
}

// Exact implements [workspace.Exacter].
func (r *RestrictedFS) Exact() (workspace.FileSystem, error) {
	exact, err := workspace.Exact(r.fsys)
	if err != nil {
		return nil, err
	}
	return &RestrictedFS{fsys: exact, files: exact, allow: r.allow, still: true}, nil
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
	alias
	access access // the lesser of those of name and target
}

// at calls do with the place of name until it meets no symlink. last says whether
// a symlink that is the last element is followed.
func (r *RestrictedFS) at(ctx context.Context, op, name string, last bool, do func(p place) error) error {
	p, err := r.place(ctx, op, name)
	if err != nil {
		return err
	}
	return follow(ctx, op, name, func() error { return do(p) }, func() (bool, error) { return r.resolve(ctx, op, &p, last) })
}

// atPair is at for two names. The last element of destination is not followed.
func (r *RestrictedFS) atPair(ctx context.Context, op, source, destination string, last bool, do func(from, to place) error) error {
	from, err := r.place(ctx, op, source)
	if err != nil {
		return err
	}
	to, err := r.place(ctx, op, destination)
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

// place returns the place of name if there is no symlink in it.
func (r *RestrictedFS) place(ctx context.Context, op, name string) (place, error) {
	if err := workspace.Check(ctx, op, name); err != nil {
		return place{}, err
	}
	p := place{alias{name, name}, r.allow.access(name)}
	if p.access == denied {
		return place{}, r.denial(op, name)
	}
	return p, nil
}

// resolve finds out what p stands for once symlinks have been followed, and
// reports whether that is worth another attempt. It goes element by element: a
// symlink to a denied place is as far as it looks, so what is there changes
// nothing.
func (r *RestrictedFS) resolve(ctx context.Context, op string, p *place, last bool) (again bool, err error) {
	if r.still {
		return false, nil
	}
	// What only leads to names is a directory or denied: a symlink is not
	// followed.
	leading := r.allow.access(p.name) <= leads
	dir, base := p.name, "."
	if !last || leading {
		dir, base = workspace.Split(p.name)
	}
	target := "."
	for element := range strings.SplitSeq(dir, "/") {
		target, err = workspace.Resolve(ctx, r.fsys, rebase(element, ".", target))
		if err != nil {
			return false, workspace.RenameError(err, op, p.name)
		}
		if r.allow.access(target) == denied {
			return false, r.denial(op, p.name)
		}
	}
	target = rebase(base, ".", target)
	unchanged := target == p.target
	p.target, p.access = target, min(r.allow.access(p.name), r.allow.access(target))
	if p.access == denied || unchanged && leading {
		return false, r.denial(op, p.name)
	}
	return true, nil
}

// child returns the place of a name below p, which may turn out to be denied.
func (r *RestrictedFS) child(p place, name string) place {
	target := rebase(name, p.name, p.target)
	return place{alias{name, target}, min(r.allow.access(name), r.allow.access(target))}
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
	info, err := r.files.Stat(ctx, p.target)
	switch {
	case errors.Is(err, workspace.ErrUnavailable), errors.Is(err, workspace.ErrSymlink), ctx.Err() != nil:
		return workspace.RenameError(err, op, p.name)
	case err != nil, !info.IsDir():
		return r.denial(op, p.name)
	}
	return nil
}

// conceal returns the error of an operation on p without what it tells of denied
// names: that an element in the middle is a file, which is denied, becomes
// [fs.ErrNotExist], as if it were not there.
func (r *RestrictedFS) conceal(ctx context.Context, op string, p place, err error) error {
	if errors.Is(err, workspace.ErrNotDir) && r.deniedFile(ctx, p) {
		return workspace.NewPathError(op, p.name, fs.ErrNotExist, nil)
	}
	return workspace.RenameError(err, op, p.name)
}

// concealChange is conceal for an operation that would make what is not there:
// it is refused.
func (r *RestrictedFS) concealChange(ctx context.Context, op string, p place, err error) error {
	if errors.Is(err, workspace.ErrNotDir) && r.deniedFile(ctx, p) {
		return r.denial(op, p.name)
	}
	return workspace.RenameError(err, op, p.name)
}

// deniedFile reports whether an element in the middle of p is a file that is
// denied.
func (r *RestrictedFS) deniedFile(ctx context.Context, p place) bool {
	for dir, _ := workspace.Split(p.target); dir != "."; dir, _ = workspace.Split(dir) {
		if r.allow.access(dir) > leads {
			continue
		}
		info, err := r.files.Stat(ctx, dir)
		if err == nil && info.Type != workspace.TypeDirectory && info.Type != workspace.TypeSymlink {
			return true
		}
	}
	return false
}
