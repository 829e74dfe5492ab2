package policy

import (
	"context"
	"errors"
	"io"
	"io/fs"

	"github.com/workspacekit/workspacekit/workspace"
)

// locateFile returns the error of a name that cannot be used as a file.
func (r *RestrictedFS) locateFile(ctx context.Context, op, name string) error {
	p, err := r.locate(ctx, op, name)
	if err != nil || p.access > leads {
		return err
	}
	if err := r.checkDir(ctx, op, p); err != nil {
		return err
	}
	return workspace.NewPathError(op, name, workspace.ErrIsDir, nil)
}

// ReadFile implements [workspace.FileSystem].
func (r *RestrictedFS) ReadFile(ctx context.Context, name string) ([]byte, error) {
	if err := r.locateFile(ctx, workspace.OpReadFile, name); err != nil {
		return nil, err
	}
	data, err := r.fsys.ReadFile(ctx, name)
	return data, r.conceal(ctx, workspace.OpReadFile, name, err)
}

// ReadVersioned implements [workspace.VersionedReader].
func (r *RestrictedFS) ReadVersioned(ctx context.Context, name string, limit int64) ([]byte, workspace.Version, error) {
	if err := r.locateFile(ctx, workspace.OpReadFile, name); err != nil {
		return nil, "", err
	}
	data, version, err := workspace.ReadVersioned(ctx, r.fsys, name, limit)
	return data, version, r.conceal(ctx, workspace.OpReadFile, name, err)
}

// Open implements [workspace.Opener].
func (r *RestrictedFS) Open(ctx context.Context, name string, opts *workspace.OpenOptions) (io.ReadCloser, workspace.FileInfo, error) {
	if err := r.locateFile(ctx, workspace.OpOpen, name); err != nil {
		return nil, workspace.FileInfo{}, err
	}
	stream, info, err := workspace.Open(ctx, r.fsys, name, opts)
	return stream, info, r.conceal(ctx, workspace.OpOpen, name, err)
}

// WriteFile implements [workspace.FileSystem].
func (r *RestrictedFS) WriteFile(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
	if err := r.locateFile(ctx, workspace.OpWriteFile, name); err != nil {
		return "", err
	}
	version, err := r.fsys.WriteFile(ctx, name, data, opts)
	return version, r.concealChange(ctx, workspace.OpWriteFile, name, err)
}

// Create implements [workspace.Creator].
func (r *RestrictedFS) Create(ctx context.Context, name string, opts *workspace.WriteOptions) (workspace.Writer, error) {
	if err := r.locateFile(ctx, workspace.OpCreate, name); err != nil {
		return nil, err
	}
	w, err := workspace.Create(ctx, r.fsys, name, opts)
	if err != nil {
		return nil, r.concealChange(ctx, workspace.OpCreate, name, err)
	}
	return &restrictedWriter{Writer: w, r: r, ctx: ctx, name: name}, nil
}

// restrictedWriter conceals what the errors of a writer tell.
type restrictedWriter struct {
	workspace.Writer
	r    *RestrictedFS
	ctx  context.Context // of the Create, for which the writer lives
	name string
}

func (w *restrictedWriter) Commit() (workspace.Version, error) {
	version, err := w.Writer.Commit()
	if errors.Is(err, workspace.ErrNotDir) {
		err = w.r.concealChange(w.ctx, workspace.OpCreate, w.name, err)
	}
	return version, err
}

// Stat implements [workspace.FileSystem].
func (r *RestrictedFS) Stat(ctx context.Context, name string) (workspace.FileInfo, error) {
	p, err := r.locateSelf(ctx, workspace.OpStat, name)
	if err != nil {
		return workspace.FileInfo{}, err
	}
	if err := r.checkDir(ctx, workspace.OpStat, p); err != nil {
		return workspace.FileInfo{}, err
	}
	info, err := r.fsys.Stat(ctx, name)
	return info, r.conceal(ctx, workspace.OpStat, name, err)
}

// Resolve implements [workspace.Resolver].
func (r *RestrictedFS) Resolve(ctx context.Context, name string) (string, error) {
	p, err := r.locate(ctx, workspace.OpResolve, name)
	if err != nil {
		return "", err
	}
	if p.access == whole {
		return workspace.Resolve(ctx, r.fsys, name)
	}
	return p.target, nil
}

// Copy implements [workspace.Copier].
func (r *RestrictedFS) Copy(ctx context.Context, source, destination string) (workspace.Version, error) {
	if err := r.locateFile(ctx, workspace.OpCopy, source); err != nil {
		return "", err
	}
	to, err := r.locateSelf(ctx, workspace.OpCopy, destination)
	if err != nil {
		return "", err
	}
	if to.access == leads {
		return "", r.occupied(ctx, workspace.OpCopy, to)
	}
	version, err := workspace.Copy(ctx, r.fsys, source, destination)
	return version, r.concealPair(ctx, workspace.OpCopy, source, destination, err)
}

// occupied is the error of a file that cannot be made at a place where only a
// directory is not denied.
func (r *RestrictedFS) occupied(ctx context.Context, op string, p place) error {
	if err := r.checkDir(ctx, op, p); err != nil {
		return err
	}
	return workspace.NewPathError(op, p.name, fs.ErrExist, nil)
}

// concealPair conceals what the error of an operation on two names tells.
func (r *RestrictedFS) concealPair(ctx context.Context, op, source, destination string, err error) error {
	var pathError *fs.PathError
	if errors.As(err, &pathError) && pathError.Path == destination {
		return r.concealChange(ctx, op, destination, err)
	}
	return r.conceal(ctx, op, source, err)
}
