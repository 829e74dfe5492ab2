// Package policy has wrappers that restrict a [workspace.FileSystem]. Each of
// them forwards every optional interface of what it wraps, under the same
// restriction, and none can be unwrapped.
package policy

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"strings"

	"github.com/workspacekit/workspacekit/workspace"
)

// SubFS is a directory of a [workspace.FileSystem] as a FileSystem of its own.
// Nothing outside that directory can be named or reached, not through symlinks
// either: a symlink that leads out of it is [workspace.ErrEscape]. That is
// tested before each operation, so a program that can make symlinks in the
// store may get past it by changing one at that moment. SubFS is safe for
// concurrent use.
type SubFS struct {
	fsys workspace.FileSystem
	dir  string
}

var (
	_ workspace.FileSystem      = (*SubFS)(nil)
	_ workspace.Capable         = (*SubFS)(nil)
	_ workspace.VersionedReader = (*SubFS)(nil)
	_ workspace.Opener          = (*SubFS)(nil)
	_ workspace.Creator         = (*SubFS)(nil)
	_ workspace.Mover           = (*SubFS)(nil)
	_ workspace.Copier          = (*SubFS)(nil)
	_ workspace.Walker          = (*SubFS)(nil)
	_ workspace.Resolver        = (*SubFS)(nil)
	_ workspace.Rooter          = (*SubFS)(nil)
)

// Sub returns the directory dir of fsys. Whether dir exists is for each
// operation to find out.
//
// # Errors
//
// [io/fs.ErrInvalid] or [workspace.ErrEscape] if dir is not a valid name.
func Sub(fsys workspace.FileSystem, dir string) (*SubFS, error) {
	if err := workspace.Check(context.Background(), "sub", dir); err != nil {
		return nil, err
	}
	return &SubFS{fsys: fsys, dir: dir}, nil
}

// Capabilities implements [workspace.Capable].
func (s *SubFS) Capabilities() workspace.Capabilities { return workspace.CapabilitiesOf(s.fsys) }

// Root implements [workspace.Rooter].
func (s *SubFS) Root() string {
	root := workspace.RootOf(s.fsys)
	if root == "" || s.dir == "." {
		return root
	}
	return strings.TrimSuffix(root, "/") + "/" + s.dir
}

// inner returns the name below for name, of which the last element will be
// followed if it is a symlink.
func (s *SubFS) inner(ctx context.Context, op, name string) (string, error) {
	if err := workspace.Check(ctx, op, name); err != nil {
		return "", err
	}
	inner := s.join(name)
	return inner, s.confine(ctx, op, name, inner)
}

// innerSelf returns the name below for name, of which the last element will
// not be followed.
func (s *SubFS) innerSelf(ctx context.Context, op, name string) (string, error) {
	if err := workspace.Check(ctx, op, name); err != nil {
		return "", err
	}
	if name == "." {
		return s.dir, nil
	}
	parent, _ := workspace.Split(name)
	return s.join(name), s.confine(ctx, op, name, s.join(parent))
}

func (s *SubFS) join(name string) string {
	if name == "." {
		return s.dir
	}
	return workspace.Join(s.dir, name)
}

// confine fails if a symlink leads inner out of the directory.
func (s *SubFS) confine(ctx context.Context, op, name, inner string) error {
	if _, ok := workspace.As[workspace.Resolver](s.fsys); !ok || s.dir == "." {
		return nil
	}
	base, err := workspace.Resolve(ctx, s.fsys, s.dir)
	if err != nil {
		return workspace.RenameError(err, op, name)
	}
	target, err := workspace.Resolve(ctx, s.fsys, inner)
	if err != nil {
		return workspace.RenameError(err, op, name)
	}
	if !within(base, target) {
		return workspace.NewPathError(op, name, workspace.ErrEscape, nil)
	}
	return nil
}

func within(dir, name string) bool {
	return dir == "." || name == dir || strings.HasPrefix(name, dir+"/")
}

// outer returns the name of what is called inner below.
func (s *SubFS) outer(inner string) string {
	switch {
	case s.dir == ".":
		return inner
	case inner == s.dir:
		return "."
	}
	return strings.TrimPrefix(inner, s.dir+"/")
}

func (s *SubFS) outerInfo(info workspace.FileInfo) workspace.FileInfo {
	info.Path = s.outer(info.Path)
	if info.Path == "." {
		info.Name = "."
	}
	return info
}

func (s *SubFS) outerError(err error) error {
	var pathError *fs.PathError
	if !errors.As(err, &pathError) {
		return err
	}
	return workspace.RenameError(err, "", s.outer(pathError.Path))
}

// ReadFile implements [workspace.FileSystem].
func (s *SubFS) ReadFile(ctx context.Context, name string) ([]byte, error) {
	inner, err := s.inner(ctx, workspace.OpReadFile, name)
	if err != nil {
		return nil, err
	}
	data, err := s.fsys.ReadFile(ctx, inner)
	return data, s.outerError(err)
}

// ReadVersioned implements [workspace.VersionedReader].
func (s *SubFS) ReadVersioned(ctx context.Context, name string, limit int64) ([]byte, workspace.Version, error) {
	inner, err := s.inner(ctx, workspace.OpReadFile, name)
	if err != nil {
		return nil, "", err
	}
	data, version, err := workspace.ReadVersioned(ctx, s.fsys, inner, limit)
	return data, version, s.outerError(err)
}

// Open implements [workspace.Opener].
func (s *SubFS) Open(ctx context.Context, name string, opts *workspace.OpenOptions) (io.ReadCloser, workspace.FileInfo, error) {
	inner, err := s.inner(ctx, workspace.OpOpen, name)
	if err != nil {
		return nil, workspace.FileInfo{}, err
	}
	stream, info, err := workspace.Open(ctx, s.fsys, inner, opts)
	return stream, s.outerInfo(info), s.outerError(err)
}

// WriteFile implements [workspace.FileSystem].
func (s *SubFS) WriteFile(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
	inner, err := s.inner(ctx, workspace.OpWriteFile, name)
	if err != nil {
		return "", err
	}
	version, err := s.fsys.WriteFile(ctx, inner, data, opts)
	return version, s.outerError(err)
}

// Create implements [workspace.Creator].
func (s *SubFS) Create(ctx context.Context, name string, opts *workspace.WriteOptions) (workspace.Writer, error) {
	inner, err := s.inner(ctx, workspace.OpCreate, name)
	if err != nil {
		return nil, err
	}
	w, err := workspace.Create(ctx, s.fsys, inner, opts)
	if err != nil {
		return nil, s.outerError(err)
	}
	return &subWriter{s: s, w: w}, nil
}

// subWriter renames the errors of a writer.
type subWriter struct {
	s *SubFS
	w workspace.Writer
}

func (w *subWriter) Write(p []byte) (int, error) {
	n, err := w.w.Write(p)
	return n, w.s.outerError(err)
}

func (w *subWriter) Commit() (workspace.Version, error) {
	version, err := w.w.Commit()
	return version, w.s.outerError(err)
}

func (w *subWriter) Close() error { return w.s.outerError(w.w.Close()) }

// Stat implements [workspace.FileSystem].
func (s *SubFS) Stat(ctx context.Context, name string) (workspace.FileInfo, error) {
	inner, err := s.innerSelf(ctx, workspace.OpStat, name)
	if err != nil {
		return workspace.FileInfo{}, err
	}
	info, err := s.fsys.Stat(ctx, inner)
	return s.outerInfo(info), s.outerError(err)
}

// Rm implements [workspace.FileSystem].
func (s *SubFS) Rm(ctx context.Context, name string, opts *workspace.RmOptions) error {
	inner, err := s.innerSelf(ctx, workspace.OpRm, name)
	if err != nil {
		return err
	}
	if name == "." {
		return workspace.NewPathError(workspace.OpRm, name, fs.ErrInvalid, errors.New("the root cannot be removed"))
	}
	return s.outerError(s.fsys.Rm(ctx, inner, opts))
}

// Mkdir implements [workspace.FileSystem].
func (s *SubFS) Mkdir(ctx context.Context, name string, opts *workspace.MkdirOptions) error {
	inner, err := s.inner(ctx, workspace.OpMkdir, name)
	if err != nil {
		return err
	}
	return s.outerError(s.fsys.Mkdir(ctx, inner, opts))
}

// Move implements [workspace.Mover].
func (s *SubFS) Move(ctx context.Context, source, destination string) error {
	from, err := s.innerSelf(ctx, workspace.OpMove, source)
	if err != nil {
		return err
	}
	to, err := s.innerSelf(ctx, workspace.OpMove, destination)
	if err != nil {
		return err
	}
	if source == "." {
		return workspace.NewPathError(workspace.OpMove, source, fs.ErrInvalid, errors.New("the root cannot be moved"))
	}
	return s.outerError(workspace.Move(ctx, s.fsys, from, to))
}

// Copy implements [workspace.Copier].
func (s *SubFS) Copy(ctx context.Context, source, destination string) (workspace.Version, error) {
	from, err := s.inner(ctx, workspace.OpCopy, source)
	if err != nil {
		return "", err
	}
	to, err := s.innerSelf(ctx, workspace.OpCopy, destination)
	if err != nil {
		return "", err
	}
	version, err := workspace.Copy(ctx, s.fsys, from, to)
	return version, s.outerError(err)
}

// Resolve implements [workspace.Resolver].
func (s *SubFS) Resolve(ctx context.Context, name string) (string, error) {
	inner, err := s.inner(ctx, workspace.OpResolve, name)
	if err != nil {
		return "", err
	}
	base, err := workspace.Resolve(ctx, s.fsys, s.dir)
	if err != nil {
		return "", s.outerError(err)
	}
	target, err := workspace.Resolve(ctx, s.fsys, inner)
	if err != nil {
		return "", s.outerError(err)
	}
	return (&SubFS{dir: base}).outer(target), nil
}
