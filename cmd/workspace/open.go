package main

import (
	"context"

	"github.com/workspacekit/workspacekit"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace/config"
)

// opened is the tools of the workspaces that the flags choose.
type opened struct {
	set         *tools.Set
	maxFileSize int64 // the greatest of all, in bytes
	all         []*config.Workspace
	release     func()
}

// openTools opens the workspaces that the flags choose, all of them or none.
func (s *settings) openTools(ctx context.Context) (*opened, error) {
	chosen, err := s.choose()
	if err != nil {
		return nil, err
	}
	if chosen.file == nil {
		return chosen.place.openTools(ctx)
	}
	all, err := chosen.file.Open(ctx, workspacekit.NewRegistry())
	if err != nil {
		return nil, &runError{err}
	}
	set, err := workspacekit.Tools(all)
	return newOpened(set, err, func() { all.Close() }, all.All()...)
}

func (p *place) openTools(ctx context.Context) (*opened, error) {
	ws, err := p.open(ctx)
	if err != nil {
		return nil, err
	}
	set, err := tools.New(ws.Workspace, nil)
	return newOpened(set, err, func() { ws.Close() }, ws)
}

// newOpened returns the tools of some workspaces, or releases those if there is
// an error.
func newOpened(set *tools.Set, err error, release func(), all ...*config.Workspace) (*opened, error) {
	if err != nil {
		release()
		return nil, err
	}
	o := &opened{set: set, all: all, release: release}
	for _, ws := range all {
		o.maxFileSize = max(o.maxFileSize, ws.MaxFileSize())
	}
	return o, nil
}
