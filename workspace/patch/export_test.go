package patch

import (
	"context"

	"github.com/workspacekit/workspacekit/workspace"
)

// PlanWithin is [Patch.Plan] with another limit of memory.
func PlanWithin(ctx context.Context, p *Patch, ws *workspace.Workspace, memory int) (*Plan, error) {
	return p.plan(ctx, ws, memory)
}
