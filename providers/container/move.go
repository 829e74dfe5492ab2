package container

import (
	"context"
	"errors"
	"path"

	"github.com/workspacekit/workspacekit/providers/container/internal/shell"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/provider"
)

// Move implements [provider.Mover].
func (s *store) Move(ctx context.Context, source, destination string) error {
	_, err := s.between(ctx, source, destination, func(*temporary) shell.Call { return once("move") })
	return err
}

// Copy implements [provider.Copier]. The copy has the permission bits of the
// source.
func (s *store) Copy(ctx context.Context, source, destination string) (workspace.Version, error) {
	return newVersion(s.between(ctx, source, destination, func(t *temporary) shell.Call { return once("duplicate", t.name) }))
}

// between makes a call for two names. The directory of the second gets a
// temporary file, or at least a lock.
func (s *store) between(ctx context.Context, source, destination string, callFor func(*temporary) shell.Call) ([]byte, error) {
	c, err := s.begin(ctx, source, destination)
	if err != nil {
		return nil, err
	}
	temp := s.newTemporary(c, path.Dir(destination))
	call := callFor(temp)
	call.Args = append(append(pair(source), pair(destination)...), call.Args...)
	body, err := s.betweenAlone(ctx, c, destination, call)
	temp.end(ctx, err)
	return body, err
}

func (s *store) betweenAlone(ctx context.Context, c *client, destination string, call shell.Call) ([]byte, error) {
	leave, err := s.barrier.enterAlone(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	for attempt := 1; ; attempt++ { // nothing has been done where somebody was faster
		body, status, err := c.try(ctx, call)
		switch {
		case err != nil:
			return nil, err
		case status > statusOther:
			err = provider.At(destination, statusError(status-statusOther, body))
		case status != 0:
			err = statusError(status, body)
		}
		if !errors.Is(err, errOvertaken) || attempt == maxWriteAttempts {
			return body, err
		}
	}
}
