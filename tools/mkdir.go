package tools

import (
	"context"
	"errors"
	"io/fs"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

type mkdirInput struct {
	Path      string `json:"path" jsonschema:"the directory, from the root of the workspace"`
	Recursive bool   `json:"recursive,omitempty" jsonschema:"make missing parents too, and succeed if the directory exists"`
}

type mkdirOutput struct {
	OK   bool   `json:"ok" jsonschema:"always true"`
	Path string `json:"path" jsonschema:"the directory"`
}

func mkdir() spec {
	s := define(ops.Mkdir, Annotations{Title: "Make directory", Idempotent: true}, runMkdir)
	s.needs = canWrite
	s.shape = func(p properties, _ workspace.Capabilities) { p.byDefault("recursive", false) }
	return s
}

func runMkdir(ctx context.Context, k *kit, in *mkdirInput) (*mkdirOutput, error) {
	path, err := k.ws.Clean(ops.Mkdir, in.Path)
	if err != nil {
		return nil, err
	}
	err = k.ws.Mkdir(ctx, path, &workspace.MkdirOptions{Recursive: in.Recursive})
	if in.Recursive && errors.Is(err, fs.ErrNotExist) { // as a policy hides what is in the way
		err = &hintedError{err, "It cannot be made there. Choose another place."}
	}
	return &mkdirOutput{OK: true, Path: path}, err
}

func (o *mkdirOutput) text() string { return "Made the directory " + o.Path + "." }
