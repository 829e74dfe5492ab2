package tools

import (
	"context"
	"errors"
	"io/fs"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// mkdirInput are the parameters of mkdir.
type mkdirInput struct {
	Path      string `json:"path" jsonschema:"its name"`
	Recursive bool   `json:"recursive,omitempty" jsonschema:"create parents too; it may exist"`
}

// mkdirOutput is the result of mkdir. With recursive, it does not say whether the directory
// was there before.
type mkdirOutput struct {
	OK   bool   `json:"ok" jsonschema:"always true"`
	Path string `json:"path" jsonschema:"the directory"`
}

var mkdirSpec = spec{
	op: ops.Mkdir, annotations: Annotations{Title: "Make directory", Idempotent: true}, handler: define(runMkdir, planMkdir),
	needs: canWrite,
	shape: func(p properties, _ *toolset) { p.byDefault("recursive", false) },
}

// runMkdir needs no session: an empty directory replaces nothing.
func runMkdir(ctx context.Context, ts *toolset, in *mkdirInput) (*mkdirOutput, error) {
	path, err := ts.ws.Clean(ctx, ops.Mkdir, in.Path)
	if err != nil {
		return nil, err
	}
	err = ts.ws.Mkdir(ctx, path, &workspace.MkdirOptions{Recursive: in.Recursive})
	if in.Recursive && errors.Is(err, fs.ErrNotExist) && !ts.rootless(policy.WithApprover(ctx, nil)) { // as a policy hides what is in the way
		err = &hintedError{err, "It cannot be made there. Choose another place."}
	}
	return &mkdirOutput{OK: true, Path: path}, err
}

// planMkdir has one request, also if parents are missing.
func planMkdir(ctx context.Context, ts *toolset, in *mkdirInput) ([]policy.Request, error) {
	return ts.touches(ctx, ops.Mkdir, policy.OpMkdir, in.Path)
}

func (o *mkdirOutput) text() string { return "Made the directory " + onOneLine(o.Path) + "." }
