package tools

import (
	"context"
	"errors"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// rmInput are the parameters of rm.
type rmInput struct {
	Path      string `json:"path" jsonschema:"the name from the root"`
	Recursive bool   `json:"recursive,omitempty" jsonschema:"a directory with all below it"`
}

// rmOutput is the result of rm.
type rmOutput struct {
	OK   bool   `json:"ok" jsonschema:"always true"`
	Path string `json:"path" jsonschema:"what was removed"`
}

var rmSpec = spec{
	op: ops.Rm, annotations: Annotations{Title: "Remove", Destructive: true, Idempotent: true}, handler: define(runRm, planRm),
	needs: canWrite,
	shape: func(p properties, _ *toolset) { p.byDefault("recursive", false) },
}

// runRm removes a file, an empty directory, a symlink itself, or with recursive a directory
// with everything below it. A session must have read a file, and need not have read those in
// a directory. A name that does not exist is an error, also with recursive.
func runRm(ctx context.Context, ts *toolset, in *rmInput) (*rmOutput, error) {
	path, err := ts.ws.Clean(ctx, ops.Rm, in.Path)
	if err != nil {
		return nil, err
	}
	if err := ts.checkKnown(ctx, ops.Rm, path); err != nil {
		return nil, err
	}
	switch err := ts.ws.Rm(ctx, path, &workspace.RmOptions{Recursive: in.Recursive}); {
	case in.Recursive && errors.Is(err, workspace.ErrNotEmpty):
		return nil, &hintedError{err, ts.leftHint(ctx, path)}
	case err != nil:
		return nil, err
	}
	ts.forget(ctx, path, "")
	return &rmOutput{OK: true, Path: path}, nil
}

// planRm has one request, which with Recursive stands for everything below the name.
func planRm(ctx context.Context, ts *toolset, in *rmInput) ([]policy.Request, error) {
	requests, err := ts.touches(ctx, ops.Rm, policy.OpDelete, in.Path)
	if err != nil {
		return nil, err
	}
	requests[0].Recursive = in.Recursive
	return requests, nil
}

func (o *rmOutput) text() string { return "Removed " + onOneLine(o.Path) + "." }
