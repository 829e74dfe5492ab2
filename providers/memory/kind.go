package memory

import (
	"context"
	"errors"

	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/kind"
)

// settings are the options of a workspace in memory, as a file has them.
type settings struct {
	Seed string `json:"seed,omitempty" jsonschema:"A folder whose files are copied at the start, up to 256 MiB and 100,000 files. A relative path starts at the folder of this file."`
}

// Kind describes workspaces in memory to package config.
func Kind() kind.Kind {
	return kind.Kind{
		Summary:  "Files in memory, until the program ends.",
		Options:  settings{},
		Open:     openKind,
		Grants:   grantsOfKind,
		Scheme:   "mem",
		ParseURL: parseURL,
		About:    about,
		Ref: func(ctx context.Context, fsys workspace.FileSystem, _ kind.Input) (any, error) {
			return takeSnapshot(ctx, fsys)
		},
		Resolve: restoreKind,
	}
}

// openKind opens a workspace in memory for package config, with the files of
// the seed if there is one.
func openKind(ctx context.Context, in kind.Input) (workspace.FileSystem, error) {
	var o settings
	if err := in.Decode(&o); err != nil {
		return nil, err
	}
	m := New(nil)
	if o.Seed == "" {
		return m, nil
	}
	if err := seed(ctx, m, in.Path(o.Seed)); err != nil {
		return nil, kind.KeyError("seed", err)
	}
	return m, nil
}

// grantsOfKind says what a configuration file needs trust for: a seed outside
// its own folder.
func grantsOfKind(in kind.Input) ([]string, error) {
	var o settings
	if err := in.Decode(&o); err != nil || o.Seed == "" || in.Inside(o.Seed) {
		return nil, err
	}
	return []string{"the files of the folder " + in.Path(o.Seed)}, nil
}

// parseURL returns the options of a URL, which has none.
func parseURL(text string) (any, error) {
	if text != "mem://" {
		return nil, errors.New("expected mem:// and nothing after it")
	}
	return settings{}, nil
}

// restoreKind opens the files that a reference carries.
func restoreKind(ctx context.Context, in kind.Input) (workspace.FileSystem, error) {
	var taken snapshot
	if err := in.Decode(&taken); err != nil {
		return nil, err
	}
	m := New(nil)
	return m, taken.restore(ctx, m)
}

// about says what the workspace runs on.
func about(context.Context, workspace.FileSystem, kind.Input) (string, error) {
	return "the memory of this process", nil
}
