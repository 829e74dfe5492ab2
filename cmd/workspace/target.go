package main

import (
	"context"
	"fmt"

	"github.com/workspacekit/workspacekit"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/config"
)

// target is a workspace that a command is to work on.
type target struct {
	name, kind string
	// open opens it. What about returns is what its provider runs on, for
	// people. The caller calls release in the end.
	open func(context.Context) (ws *workspace.Workspace, about func(context.Context) (string, error), release func(), err error)
}

// targets returns the workspaces that the flags choose: of the file, or the one
// of -C or a URL. It opens none.
func (s *settings) targets() ([]target, error) {
	chosen, err := s.choose()
	if err != nil {
		return nil, err
	}
	return chosen.targets(), nil
}

// oneTarget returns the workspace that the flags choose for a command that
// works on one.
func (s *settings) oneTarget(command string) (target, *choice, error) {
	chosen, err := s.choose()
	if err != nil {
		return target{}, nil, err
	}
	all := chosen.targets()
	switch {
	case len(all) == 1:
		return all[0], chosen, nil
	case len(s.workspaces) > 0:
		err = fmt.Errorf("%s works on one workspace, and -w names %d: give it once", command, len(all))
	default:
		err = fmt.Errorf("%s works on one workspace, and %s has %d: choose one with -w: %s",
			command, chosen.path, len(all), listed(chosen.file.Names()))
	}
	return target{}, nil, err
}

func (c *choice) targets() []target {
	if c.file == nil {
		return []target{{name: c.place.name, kind: c.place.kind, open: opening(c.place.open)}}
	}
	var all []target
	for _, name := range c.file.Names() {
		all = append(all, target{name: name, kind: kindIn(c.file, name), open: opening(func(ctx context.Context) (*config.Workspace, error) {
			opened, err := c.file.Open(ctx, workspacekit.NewRegistry(), name)
			if err != nil {
				return nil, &runError{err}
			}
			ws, _ := opened.Lookup(name)
			return ws, nil
		})})
	}
	return all
}

// kindIn returns the kind of provider of a workspace of a file.
func kindIn(c *config.Config, name string) string {
	kind := c.Kind(name)
	if byURL := workspacekit.NewRegistry().KindOf(kind); byURL != "" {
		return byURL
	}
	return kind
}

// opening makes the open of a target.
func opening(open func(context.Context) (*config.Workspace, error)) func(context.Context) (*workspace.Workspace, func(context.Context) (string, error), func(), error) {
	return func(ctx context.Context) (*workspace.Workspace, func(context.Context) (string, error), func(), error) {
		ws, err := open(ctx)
		if err != nil {
			return nil, nil, nil, err
		}
		return ws.Workspace, ws.About, func() { ws.Close() }, nil
	}
}
