package workspacekit

import (
	"context"
	"errors"

	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/config"
)

// memoryOptions are the options of a workspace in memory.
type memoryOptions struct {
	Seed string `json:"seed,omitempty" jsonschema:"A folder whose files it begins with, from the folder of the file: up to 256 MiB and 100,000 files."`
}

func memoryKind() config.Kind {
	return config.Kind{
		Summary:  "Files in memory, which are gone when the program ends.",
		Options:  memoryOptions{},
		Open:     openMemory,
		Grants:   grantsOfMemory,
		Scheme:   "mem",
		ParseURL: parseMemory,
		About:    aboutMemory,
		Ref: func(ctx context.Context, fsys workspace.FileSystem, _ config.Input) (any, error) {
			return takeSnapshot(ctx, fsys)
		},
		Resolve: restoreMemory,
	}
}

func openMemory(ctx context.Context, in config.Input) (workspace.FileSystem, error) {
	var o memoryOptions
	if err := in.Decode(&o); err != nil {
		return nil, err
	}
	m := memory.New(nil)
	if o.Seed == "" {
		return m, nil
	}
	if err := seed(ctx, m, in.Path(o.Seed)); err != nil {
		return nil, config.KeyError("seed", err)
	}
	return m, nil
}

func grantsOfMemory(in config.Input) ([]string, error) {
	var o memoryOptions
	if err := in.Decode(&o); err != nil || o.Seed == "" || in.Inside(o.Seed) {
		return nil, err
	}
	return []string{"the files of the folder " + in.Path(o.Seed)}, nil
}

func parseMemory(text string) (any, error) {
	if text != "mem://" {
		return nil, errors.New("it is to be mem://, with nothing behind it")
	}
	return memoryOptions{}, nil
}

func restoreMemory(ctx context.Context, in config.Input) (workspace.FileSystem, error) {
	var taken snapshot
	if err := in.Decode(&taken); err != nil {
		return nil, err
	}
	m := memory.New(nil)
	return m, taken.restore(ctx, m)
}
