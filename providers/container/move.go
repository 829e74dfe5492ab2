package container

import (
	"context"
	"path"

	"github.com/workspacekit/workspacekit/providers/container/internal/program"
	"github.com/workspacekit/workspacekit/providers/container/internal/shell"
	"github.com/workspacekit/workspacekit/workspace"
)

// Move implements [provider.Mover].
func (s *store) Move(ctx context.Context, source, destination string) error {
	_, err := s.between(ctx, source, destination, func(t *temporary) shell.Call { return program.Once("move", t.name) })
	return err
}

// Copy implements [provider.Copier]. The copy has the permission bits of the
// source.
func (s *store) Copy(ctx context.Context, source, destination string) (workspace.Version, error) {
	return newVersion(s.between(ctx, source, destination, func(t *temporary) shell.Call { return program.Once("duplicate", t.name) }))
}

// between makes a call for two names. The directory of the second gets a
// temporary file, or at least a lock; a Move locks the directory of the first, too.
func (s *store) between(ctx context.Context, source, destination string, callFor func(*temporary) shell.Call) ([]byte, error) {
	c, err := s.begin(ctx, source, destination)
	if err != nil {
		return nil, err
	}
	temp := s.newTemporary(c, path.Dir(destination), "")
	from := s.newTemporary(c, path.Dir(source), "")
	call := callFor(temp)
	call.Args = append(append(program.Pair(source), program.Pair(destination)...), call.Args...)
	body, err := s.betweenAlone(ctx, c, destination, call)
	temp.end(ctx, err)
	from.end(ctx, err)
	return body, err
}

func (s *store) betweenAlone(ctx context.Context, c *program.Client, destination string, call shell.Call) ([]byte, error) {
	leave, err := s.barrier.enterAlone(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	return retry(func() ([]byte, error) { return c.DoPair(ctx, destination, call) })
}
