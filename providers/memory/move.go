package memory

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	"github.com/workspacekit/workspacekit/workspace"
)

// Move implements [workspace.Mover]. It is atomic, of directories too.
func (m *FS) Move(ctx context.Context, source, destination string) error {
	if err := checkPair(ctx, workspace.OpMove, source, destination); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.lookup(source)
	if err != nil {
		return workspace.NewPathError(workspace.OpMove, source, err, nil)
	}
	if source == "." || strings.HasPrefix(destination, source+"/") && n.info.IsDir() {
		return workspace.NewPathError(workspace.OpMove, source, fs.ErrInvalid,
			errors.New("a directory cannot be moved into itself"))
	}
	if err := m.checkFree(destination); err != nil {
		return workspace.NewPathError(workspace.OpMove, destination, err, nil)
	}
	m.detach(n)
	dir, _ := workspace.Split(destination)
	parent, err := m.ensureDir(dir)
	if err != nil { // checkFree has seen to it
		return workspace.NewPathError(workspace.OpMove, destination, err, nil)
	}
	n.rename(destination)
	m.attach(parent, n)
	return nil
}

// Copy implements [workspace.Copier]. The copy shares the bytes.
func (m *FS) Copy(ctx context.Context, source, destination string) (workspace.Version, error) {
	if err := checkPair(ctx, workspace.OpCopy, source, destination); err != nil {
		return "", err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.lookup(source)
	if err == nil && n.info.IsDir() {
		err = workspace.ErrIsDir
	}
	if err != nil {
		return "", workspace.NewPathError(workspace.OpCopy, source, err, nil)
	}
	version, err := m.write(destination, n.data, workspace.WriteOptions{IfNotExist: true})
	if err != nil {
		return "", workspace.NewPathError(workspace.OpCopy, destination, err, nil)
	}
	return version, nil
}

func checkPair(ctx context.Context, op, source, destination string) error {
	if err := workspace.Check(ctx, op, source); err != nil {
		return err
	}
	return workspace.Check(ctx, op, destination)
}

// checkFree fails if something has the name, or cannot have it because a
// parent is a file.
func (m *FS) checkFree(name string) error {
	_, err := m.lookup(name)
	switch {
	case err == nil:
		return fs.ErrExist
	case errors.Is(err, fs.ErrNotExist):
		return nil
	}
	return err
}
