package tools

import (
	"context"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

type moveInput struct {
	Source      string `json:"source" jsonschema:"the file, symlink or directory to move, from the root of the workspace"`
	Destination string `json:"destination" jsonschema:"its new name from the root, not the directory to put it in; it must not exist"`
}

type moveOutput struct {
	OK          bool   `json:"ok" jsonschema:"always true"`
	Source      string `json:"source" jsonschema:"the old name"`
	Destination string `json:"destination" jsonschema:"the new name"`
}

var moveSpec = spec{
	op: ops.Move, annotations: Annotations{Title: "Move or rename", Destructive: true}, handler: define(runMove),
	needs: func(caps workspace.Capabilities) bool { return caps.Write && caps.Move },
}

func runMove(ctx context.Context, ts *toolset, in *moveInput) (*moveOutput, error) {
	from, err := ts.ws.Clean(ops.Move, in.Source)
	if err != nil {
		return nil, err
	}
	to, err := ts.ws.Clean(ops.Move, in.Destination)
	if err != nil {
		return nil, err
	}
	if err := ts.checkKnown(ctx, ops.Move, from); err != nil {
		return nil, err
	}
	if err := ts.ws.Move(ctx, from, to); err != nil {
		return nil, err
	}
	ts.forget(ctx, from, to)
	return &moveOutput{OK: true, Source: from, Destination: to}, nil
}

func (o *moveOutput) text() string { return "Moved " + o.Source + " to " + o.Destination + "." }
