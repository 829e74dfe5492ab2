package memory

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/provider"
)

// Move implements [provider.Mover].
//
// All of it is under one lock, so nobody finds both names or none (MV5). Watches get a remove
// for each old name and a create for each new one (H4). Missing parents are made in between,
// which cannot fail any more.
func (t *tree) Move(_ context.Context, source, destination string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	n, err := t.lookup(source)
	if err != nil {
		return err
	}
	if strings.HasPrefix(destination, source+"/") && n.info.IsDir() {
		return provider.Errorf(fs.ErrInvalid, "a directory cannot be moved into itself")
	}
	if longest := n.longest() + len(destination) - len(source); longest > ops.MaxNameLength {
		return provider.At(destination, provider.Errorf(fs.ErrInvalid, "a name in it would have %d bytes", longest))
	}
	if err := t.checkFree(destination); err != nil {
		return provider.At(destination, err)
	}
	t.detach(n)
	dir, _ := workspace.Split(destination)
	parent, err := t.ensureDir(dir)
	if err != nil { // checkFree has seen to it
		return provider.At(destination, err)
	}
	n.rename(destination)
	t.attach(parent, n)
	return nil
}

// Copy implements [provider.Copier]. The copy shares the content. It has a version of its own,
// and a later write to either gives that one another content (CP1).
func (t *tree) Copy(_ context.Context, source, destination string) (workspace.Version, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n, err := t.lookup(source)
	if err == nil && n.info.IsDir() {
		err = workspace.ErrIsDir
	}
	if err != nil {
		return "", err
	}
	version, err := t.write(destination, n.content, workspace.WriteOptions{IfNotExist: true})
	if err != nil {
		return "", provider.At(destination, err)
	}
	return version, nil
}

// checkFree fails if something has the name, or cannot have it because a
// parent is a file.
func (t *tree) checkFree(name string) error {
	_, err := t.lookup(name)
	switch {
	case err == nil:
		return fs.ErrExist
	case errors.Is(err, fs.ErrNotExist):
		return nil
	}
	return err
}
