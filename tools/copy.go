package tools

import (
	"context"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
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

func copyFile() spec {
	s := define(ops.Copy, Annotations{Title: "Copy file"}, runCopy)
	s.needs = func(caps workspace.Capabilities) bool { return caps.Write && (caps.Copy || caps.ConditionalWrite) }
	return s
}

func runCopy(ctx context.Context, k *kit, in *copyInput) (*copyOutput, error) {
	from, err := k.ws.Clean(ops.Copy, in.Source)
	if err != nil {
		return nil, err
	}
	to, err := k.ws.Clean(ops.Copy, in.Destination)
	if err != nil {
		return nil, err
	}
	version, err := k.ws.Copy(ctx, from, to)
	return &copyOutput{OK: true, Source: from, Destination: to, Version: version}, err
}

func (o *copyOutput) text() string {
	return "Copied " + o.Source + " to " + o.Destination + versionNote(o.Version) + "."
}
