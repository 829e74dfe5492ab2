package workspacekit

import (
	"context"
	"errors"
	"io/fs"

	"github.com/workspacekit/workspacekit/workspace/config"
)

// Open opens the workspaces that the file path describes, or only those with the
// given names. If one cannot be opened, none is. The caller closes them. Open starts
// nothing that can wait for the first use: no process, no watch, and no connection but to
// a bucket with "probe: true". An empty path means what it means to [Load].
//
// # Errors
//
// Those of [Load] and [config.Config.Open].
func Open(ctx context.Context, path string, names ...string) (*config.Workspaces, error) {
	c, err := Load(path)
	if err != nil {
		return nil, err
	}
	return c.Open(ctx, NewRegistry(), names...)
}

// currentFolder describes the workspace that there is without a file.
const currentFolder = `workspaces: {main: {provider: {kind: localbash, root: .}}}`

// Load reads the file path, and checks it with the kinds of [NewRegistry]. The
// empty path means the file that [config.Locate] finds, and if there is none,
// that the current folder is the only workspace, "main".
//
// # Errors
//
// A [*config.Error] for what is wrong with the content, and those of [config.Locate]
// and [os.Open].
func Load(path string) (*config.Config, error) {
	located, err := config.Locate(path, "", nil)
	switch {
	case err == nil:
		return LoadLocation(located)
	case errors.Is(err, fs.ErrNotExist):
		return config.Parse([]byte(currentFolder), &config.Options{Name: "the current folder", Registry: NewRegistry()})
	}
	return nil, err
}

// LoadLocation is [Load] for a file that [config.Locate] returned. One that was
// found is loaded with the user's [config.TrustStore], so what it may open
// without being trusted is limited.
//
// # Errors
//
// Those of Load.
func LoadLocation(located config.Location) (*config.Config, error) {
	opts := &config.Options{Registry: NewRegistry()}
	if located.Found {
		var err error
		if opts.Trust, err = config.UserTrustStore(); err != nil {
			opts.Trust = config.NewTrustStore("") // which trusts nothing
		}
	}
	return config.Load(located.Path, opts)
}
