package fallback_test

import (
	"context"
	"testing"

	"github.com/workspacekit/workspacekit/conformance"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/fallback"
)

// easy is a provider that does the easy methods itself and delegates the hard
// ones, as a newcomer's would. It has no optional interface.
type easy struct{ workspace.FileSystem }

func (e easy) Capabilities() workspace.Capabilities {
	return workspace.Capabilities{Write: true, Versions: true, ConditionalWrite: true, Watch: workspace.WatchPolled, Copy: true}
}

func (e easy) Glob(ctx context.Context, pattern string, opts *workspace.GlobOptions) ([]string, error) {
	return fallback.Glob(ctx, e, pattern, opts)
}

func (e easy) Grep(ctx context.Context, pattern string, opts *workspace.GrepOptions) (*workspace.GrepResult, error) {
	return fallback.Grep(ctx, e, pattern, opts)
}

func (e easy) Watch(ctx context.Context, dir string, opts *workspace.WatchOptions) (<-chan workspace.Event, error) {
	return fallback.Poll(ctx, e, dir, opts)
}

func TestConformance(t *testing.T) {
	conformance.Run(t, func(*testing.T) workspace.FileSystem { return easy{memory.New(nil)} }, nil)
}
