package policy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

// ProtectedFS is a [workspace.FileSystem] in which some names can be read but not
// changed: see [Protect]. It is safe for concurrent use.
type ProtectedFS struct {
	reads
	files     workspace.FileSystem // the exact view
	protected func(name string) (why string)
}

var (
	_ workspace.FileSystem = (*ProtectedFS)(nil)
	_ workspace.Creator    = (*ProtectedFS)(nil)
	_ workspace.Mover      = (*ProtectedFS)(nil)
	_ workspace.Copier     = (*ProtectedFS)(nil)
	_ workspace.Exacter    = (*ProtectedFS)(nil)
)

// Protect returns a view of fsys in which protected names cannot be created,
// written, moved or removed, nor a directory with a protected name in it be
// moved or removed: that is [workspace.ErrPolicy]. protected returns why a name
// is protected, as a part of a sentence such as "it is generated", and "" if it is
// not. What is below a protected name is protected, too. Symlinks have been
// followed when protected is called. It must be safe for concurrent use.
//
// # Errors
//
// [errors.ErrUnsupported] if fsys follows symlinks and cannot refuse to
// ([workspace.Exact]).
func Protect(fsys workspace.FileSystem, protected func(name string) (why string)) (*ProtectedFS, error) {
	exact, err := workspace.Exact(fsys)
	if err != nil {
		return nil, ops.Rename(err, "protect", ".")
	}
	return &ProtectedFS{reads: atRoot(fsys), files: exact, protected: protected}, nil
}

// Close closes the FileSystem below if it is an [io.Closer].
func (p *ProtectedFS) Close() error {
	if closer, ok := workspace.As[io.Closer](p.reads.fsys); ok {
		return closer.Close()
	}
	return nil
}

// Exact implements [workspace.Exacter].
func (p *ProtectedFS) Exact() (workspace.FileSystem, error) { return Protect(p.files, p.protected) }

// check refuses a name that is protected, or below a protected one.
func (p *ProtectedFS) check(op string, a alias) error {
	for name := a.target; name != "."; name, _ = workspace.Split(name) {
		if why := p.protected(name); why != "" {
			return ops.Error(op, a.name, workspace.ErrPolicy, errors.New(why))
		}
	}
	return nil
}

// resolve follows the symlinks in the name of a. last says whether a symlink
// that is the last element is followed.
func (p *ProtectedFS) resolve(ctx context.Context, op string, a *alias, last bool) error {
	dir, base := a.name, "."
	if !last {
		dir, base = workspace.Split(a.name)
	}
	target, err := workspace.Resolve(ctx, p.reads.fsys, dir)
	if err != nil {
		return ops.Rename(err, op, a.name)
	}
	a.target = rebase(base, ".", target)
	return nil
}

// change calls do with the target of name, unless that is protected. last says
// whether a symlink that is the last element is followed.
func (p *ProtectedFS) change(ctx context.Context, op, name string, last bool, do func(a alias) error) error {
	if err := ops.Check(ctx, op, name); err != nil {
		return err
	}
	a := alias{name, name}
	return follow(ctx, op, name, func() error {
		if err := p.check(op, a); err != nil {
			return err
		}
		return a.outerError(do(a))
	}, func() (bool, error) { return true, p.resolve(ctx, op, &a, last) })
}

// changePair is change for two names. A symlink that is the last element of
// destination is not followed.
func (p *ProtectedFS) changePair(ctx context.Context, op, source, destination string, last bool, do func(from, to alias) error) error {
	for _, name := range []string{source, destination} {
		if err := ops.Check(ctx, op, name); err != nil {
			return err
		}
	}
	from, to := alias{source, source}, alias{destination, destination}
	return follow(ctx, op, source, func() error {
		if err := p.check(op, to); err != nil {
			return err
		}
		return outerPairError(from, to, do(from, to))
	}, func() (bool, error) {
		if err := p.resolve(ctx, op, &from, last); err != nil {
			return false, err
		}
		return true, p.resolve(ctx, op, &to, false)
	})
}

// checkTree refuses a directory that holds a protected name, or would hold one
// if it were called moved.
func (p *ProtectedFS) checkTree(ctx context.Context, op string, a alias, moved string) error {
	info, err := p.files.Stat(ctx, a.target)
	switch {
	case errors.Is(err, workspace.ErrSymlink):
		return err
	case err != nil, !info.IsDir(): // then the operation itself is right or fails
		return nil
	}
	err = a.walk(ctx, p.files, nil, func(info workspace.FileInfo, err error) error {
		if err != nil {
			return ops.Rename(err, op, a.name)
		}
		inner := rebase(info.Path, a.name, a.target)
		if why := cmp.Or(p.protected(inner), p.protected(rebase(inner, a.target, moved))); why != "" {
			return ops.Error(op, a.name, workspace.ErrPolicy,
				fmt.Errorf("it holds %s: %s", strings.TrimPrefix(inner, prefixOf(a.target)), why))
		}
		return nil
	})
	return unstop(err)
}

// WriteFile implements [workspace.FileSystem].
func (p *ProtectedFS) WriteFile(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (version workspace.Version, err error) {
	err = p.change(ctx, ops.WriteFile, name, follows(opts), func(a alias) error {
		version, err = p.files.WriteFile(ctx, a.target, data, opts)
		return err
	})
	return version, err
}

// Create implements [workspace.Creator].
func (p *ProtectedFS) Create(ctx context.Context, name string, opts *workspace.WriteOptions) (w workspace.Writer, err error) {
	err = p.change(ctx, ops.Create, name, follows(opts), func(a alias) error {
		below, err := a.create(ctx, p.files, opts)
		if err == nil {
			w = &writer{below, a.name, a.outerError}
		}
		return err
	})
	return w, err
}

// Mkdir implements [workspace.FileSystem].
func (p *ProtectedFS) Mkdir(ctx context.Context, name string, opts *workspace.MkdirOptions) error {
	return p.change(ctx, ops.Mkdir, name, opts != nil && opts.Recursive, func(a alias) error {
		return p.files.Mkdir(ctx, a.target, opts)
	})
}

// Rm implements [workspace.FileSystem].
func (p *ProtectedFS) Rm(ctx context.Context, name string, opts *workspace.RmOptions) error {
	return p.change(ctx, ops.Rm, name, false, func(a alias) error {
		if name != "." && opts != nil && opts.Recursive {
			if err := p.checkTree(ctx, ops.Rm, a, a.target); err != nil {
				return err
			}
		}
		return p.files.Rm(ctx, a.target, opts)
	})
}

// Move implements [workspace.Mover].
func (p *ProtectedFS) Move(ctx context.Context, source, destination string) error {
	return p.changePair(ctx, ops.Move, source, destination, false, func(from, to alias) error {
		if err := p.check(ops.Move, from); err != nil {
			return err
		}
		if source != "." && workspace.CapabilitiesOf(p.files).Move {
			if err := p.checkTree(ctx, ops.Move, from, to.target); err != nil {
				return err
			}
		}
		return workspace.Move(ctx, p.files, from.target, to.target)
	})
}

// Copy implements [workspace.Copier]. A protected file can be copied.
func (p *ProtectedFS) Copy(ctx context.Context, source, destination string) (version workspace.Version, err error) {
	err = p.changePair(ctx, ops.Copy, source, destination, true, func(from, to alias) error {
		version, err = workspace.Copy(ctx, p.files, from.target, to.target)
		return err
	})
	return version, err
}
