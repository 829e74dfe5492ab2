package tools

import (
	"context"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

type copyInput struct {
	Source      string `json:"source" jsonschema:"the file to copy, from the root of the workspace"`
	Destination string `json:"destination" jsonschema:"the name of the copy from the root, not the directory to put it in; it must not exist"`
}

type copyOutput struct {
	OK          bool              `json:"ok" jsonschema:"always true"`
	Source      string            `json:"source" jsonschema:"the file that was copied"`
	Destination string            `json:"destination" jsonschema:"the copy"`
	Version     workspace.Version `json:"version,omitempty" jsonschema:"the version of the copy"`
}

var copyFileSpec = spec{
	op: ops.Copy, annotations: Annotations{Title: "Copy file"}, handler: define(runCopy, planCopy),
	needs: func(caps workspace.Capabilities) bool { return caps.Write && (caps.Copy || caps.ConditionalWrite) },
}

func runCopy(ctx context.Context, ts *toolset, in *copyInput) (*copyOutput, error) {
	from, to, err := ts.cleanPair(ops.Copy, in.Source, in.Destination)
	if err != nil {
		return nil, err
	}
	version, err := ts.ws.Copy(ctx, from, to)
	return &copyOutput{OK: true, Source: from, Destination: to, Version: version}, err
}

func planCopy(_ context.Context, ts *toolset, in *copyInput) ([]policy.Request, error) {
	return ts.touchesPair(ops.Copy, policy.OpCopy, in.Source, in.Destination)
}

func (o *copyOutput) text() string {
	return "Copied " + o.Source + " to " + o.Destination + versionNote(o.Version) + "."
}
