package afero

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/afero"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

// WriteFile implements [provider.Store]. The version is always empty.
func (s *store) WriteFile(ctx context.Context, name string, data []byte, _ workspace.WriteOptions) (workspace.Version, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return "", s.write(ctx, name, data)
}

// write replaces the file name by a new one with its permission bits. One that
// did not exist has those that the backend gives. s.mu is held for writing.
func (s *store) write(ctx context.Context, name string, data []byte) error {
	mode := fs.FileMode(0o666)
	info, err := s.stat(ctx, name)
	replaces := err == nil
	switch {
	case replaces && info.IsDir():
		return workspace.ErrIsDir
	case replaces:
		mode = info.Mode().Perm()
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	dir, _ := workspace.Split(name)
	undo, err := s.makeParents(ctx, dir)
	if err != nil {
		return err
	}
	temp := filepath.FromSlash(workspace.Join(dir, ops.ReservedPrefix+rand.Text()))
	err = cmp.Or(s.fill(temp, data, mode), ctx.Err())
	if err == nil && replaces {
		err = s.afs.Chmod(temp, mode)
	}
	if err == nil {
		err = s.afs.Rename(temp, filepath.FromSlash(name))
	}
	if err != nil {
		err = errors.Join(err, s.discard(temp))
		undo()
	}
	return err
}

// makeParents creates dir with its parents, if it is missing. undo removes
// those that it has created, as long as they are empty. After an error that has
// been done.
func (s *store) makeParents(ctx context.Context, dir string) (undo func(), err error) {
	info, err := s.stat(ctx, dir)
	switch {
	case err == nil && !info.IsDir():
		return nil, workspace.ErrNotDir
	case err == nil || !errors.Is(err, fs.ErrNotExist):
		return func() {}, err
	}
	var missing []string // the deepest first
	for up := dir; up != "."; up, _ = workspace.Split(up) {
		if _, err := s.afs.Stat(filepath.FromSlash(up)); err == nil {
			break
		}
		missing = append(missing, filepath.FromSlash(up))
	}
	undo = func() {
		for _, name := range missing {
			if left, err := afero.ReadDir(s.afs, name); err == nil && len(left) == 0 {
				_ = s.afs.Remove(name)
			}
		}
	}
	if err := s.afs.MkdirAll(filepath.FromSlash(dir), 0o777); err != nil {
		undo()
		return nil, err
	}
	return undo, nil
}

// fill writes data to a new temporary file with the mode, or with less than
// that as the backend has it.
func (s *store) fill(temp string, data []byte, mode fs.FileMode) error {
	file, err := s.afs.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	return errors.Join(err, file.Close())
}

// discard removes a temporary file, which need not exist.
func (s *store) discard(temp string) error {
	err := s.afs.Remove(temp)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Mkdir implements [provider.Store].
func (s *store) Mkdir(ctx context.Context, name string, opts workspace.MkdirOptions) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if opts.Recursive {
		_, err := s.makeParents(ctx, name)
		return err
	}
	if _, err := s.stat(ctx, name); !errors.Is(err, fs.ErrNotExist) {
		return cmp.Or(err, fs.ErrExist)
	}
	dir, _ := workspace.Split(name)
	if _, err := s.stat(ctx, dir); err != nil {
		return err
	}
	return s.afs.Mkdir(filepath.FromSlash(name), 0o777)
}

// Rm implements [provider.Store].
func (s *store) Rm(ctx context.Context, name string, opts workspace.RmOptions) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	info, err := s.stat(ctx, name)
	if err != nil {
		return err
	}
	if info.IsDir() && !opts.Recursive {
		if children, err := s.children(ctx, name); err != nil || len(children) > 0 {
			return cmp.Or(err, workspace.ErrNotEmpty)
		}
	}
	if opts.Recursive {
		return s.afs.RemoveAll(filepath.FromSlash(name))
	}
	return s.afs.Remove(filepath.FromSlash(name))
}
