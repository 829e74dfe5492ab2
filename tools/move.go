package tools

import (
	"context"
	"errors"
	"syscall"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// moveInput are the parameters of move. Destination is the whole new name, also for a place
// in a directory that exists.
type moveInput struct {
	Source      string `json:"source" jsonschema:"its name from the root"`
	Destination string `json:"destination" jsonschema:"its new name, not the directory to put it in"`
}

// moveOutput is the result of move. It has no version, which a file can lose by a move.
type moveOutput struct {
	OK          bool   `json:"ok" jsonschema:"always true"`
	Source      string `json:"source" jsonschema:"the old name"`
	Destination string `json:"destination" jsonschema:"the new name"`
}

// moveSpec needs a store that moves by itself: a copy and a removal would not be one step,
// and readers could see both names or none.
var moveSpec = spec{
	op: ops.Move, annotations: Annotations{Title: "Move or rename", Destructive: true}, handler: define(runMove, planMove),
	needs: func(caps workspace.Capabilities) bool { return caps.Write && caps.Move },
}

// runMove moves a file, a directory with everything below it, or a symlink itself. It
// replaces nothing. What the session has read of it stays read, under the new name.
func runMove(ctx context.Context, ts *toolset, in *moveInput) (*moveOutput, error) {
	from, to, err := ts.cleanPair(ctx, ops.Move, in.Source, in.Destination)
	if err != nil {
		return nil, err
	}
	if err := ts.checkKnown(ctx, ops.Move, from); err != nil {
		return nil, err
	}
	err = ts.ws.Move(ctx, from, to)
	switch {
	case errors.Is(err, syscall.EXDEV): // also for a directory of an image, on overlayfs
		return nil, &hintedError{err, "The names are on two file systems, or it is a directory in a layer of one. Copy it, and then delete it."}
	case err != nil:
		return nil, err
	}
	ts.forget(ctx, from, to)
	return &moveOutput{OK: true, Source: from, Destination: to}, nil
}

// planMove has a request for the old name and one for the new, for a directory two. They
// stand for everything below it.
func planMove(ctx context.Context, ts *toolset, in *moveInput) ([]policy.Request, error) {
	requests, err := ts.touchesPair(ctx, ops.Move, policy.OpMove, in.Source, in.Destination)
	if err == nil && ts.typeOf(ctx, requests[0].Path) == workspace.TypeDirectory {
		requests = append(requests, policy.Request{Op: policy.OpMkdir, Path: requests[0].To})
	}
	return requests, err
}

func (o *moveOutput) text() string {
	return "Moved " + onOneLine(o.Source) + " to " + onOneLine(o.Destination) + "."
}
