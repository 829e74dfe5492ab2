package afero

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/workspacekit/workspacekit/workspace"
)

// WriteFile implements [workspace.FileSystem]. The version is always empty.
func (a *FS) WriteFile(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
	if err := a.checkWrite(ctx, workspace.OpWriteFile, name); err != nil {
		return "", err
	}
	if opts != nil && *opts != (workspace.WriteOptions{}) {
		return "", refuseCondition(name, opts)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.write(name, data); err != nil {
		return "", workspace.NewPathError(workspace.OpWriteFile, name, err, nil)
	}
	return "", nil
}

// checkWrite is what every change begins with.
func (a *FS) checkWrite(ctx context.Context, op, name string) error {
	if err := workspace.Check(ctx, op, name); err != nil {
		return err
	}
	if a.readOnly {
		return workspace.NewPathError(op, name, fs.ErrPermission, errors.New("the afero file system is read-only"))
	}
	return nil
}

func refuseCondition(name string, o *workspace.WriteOptions) error {
	if err := o.Check(workspace.OpWriteFile, name); err != nil {
		return err
	}
	return workspace.NewPathError(workspace.OpWriteFile, name, errors.ErrUnsupported,
		errors.New("an afero file system has no conditional writes"))
}

// write replaces the file name by a new one with its permission bits. a.mu is
// held for writing.
func (a *FS) write(name string, data []byte) error {
	mode := fs.FileMode(0o666)
	info, err := a.stat(name)
	switch {
	case err == nil && info.IsDir():
		return workspace.ErrIsDir
	case err == nil:
		mode = info.Mode().Perm()
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	dir, _ := workspace.Split(name)
	if err := a.makeParents(dir); err != nil {
		return err
	}
	temp := filepath.FromSlash(workspace.Join(dir, workspace.ReservedPrefix+rand.Text()))
	if err := a.fill(temp, data, mode); err != nil {
		return kindOf(errors.Join(err, a.discard(temp)))
	}
	if err := a.afs.Rename(temp, filepath.FromSlash(name)); err != nil {
		return kindOf(errors.Join(err, a.discard(temp)))
	}
	return nil
}

func (a *FS) makeParents(dir string) error {
	info, err := a.stat(dir)
	switch {
	case err == nil && !info.IsDir():
		return workspace.ErrNotDir
	case err == nil || !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return kindOf(a.afs.MkdirAll(filepath.FromSlash(dir), 0o777))
}

func (a *FS) fill(temp string, data []byte, mode fs.FileMode) error {
	file, err := a.afs.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	return a.afs.Chmod(temp, mode)
}

// discard removes a temporary file, which need not exist.
func (a *FS) discard(temp string) error {
	err := a.afs.Remove(temp)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Mkdir implements [workspace.FileSystem].
func (a *FS) Mkdir(ctx context.Context, name string, opts *workspace.MkdirOptions) error {
	if err := a.checkWrite(ctx, workspace.OpMkdir, name); err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.mkdir(name, opts != nil && opts.Recursive); err != nil {
		return workspace.NewPathError(workspace.OpMkdir, name, err, nil)
	}
	return nil
}

func (a *FS) mkdir(name string, recursive bool) error {
	if recursive {
		return a.makeParents(name)
	}
	_, err := a.stat(name)
	if err == nil {
		return fs.ErrExist
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	dir, _ := workspace.Split(name)
	if _, err := a.stat(dir); err != nil {
		return err
	}
	return kindOf(a.afs.Mkdir(filepath.FromSlash(name), 0o777))
}

// Rm implements [workspace.FileSystem].
func (a *FS) Rm(ctx context.Context, name string, opts *workspace.RmOptions) error {
	if err := a.checkWrite(ctx, workspace.OpRm, name); err != nil {
		return err
	}
	if name == "." {
		return workspace.NewPathError(workspace.OpRm, name, fs.ErrInvalid, errors.New("the root cannot be removed"))
	}
	if err := a.rm(name, opts != nil && opts.Recursive); err != nil {
		return workspace.NewPathError(workspace.OpRm, name, err, nil)
	}
	return nil
}

func (a *FS) rm(name string, recursive bool) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	info, err := a.stat(name)
	if err != nil {
		return err
	}
	if info.IsDir() && !recursive {
		if children, err := a.children(name); err != nil || len(children) > 0 {
			return cmp.Or(err, workspace.ErrNotEmpty)
		}
	}
	if recursive {
		return kindOf(a.afs.RemoveAll(filepath.FromSlash(name)))
	}
	return kindOf(a.afs.Remove(filepath.FromSlash(name)))
}
