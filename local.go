package workspacekit

import (
	"context"
	"errors"
	"net/url"
	"path/filepath"

	"github.com/workspacekit/workspacekit/providers/localbash"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/config"
)

// localOptions are the options of a folder of this computer.
type localOptions struct {
	Root    string `json:"root" jsonschema:"The folder, from the folder of the file."`
	Sync    bool   `json:"sync,omitempty" jsonschema:"Makes every change durable before it is reported as done."`
	Relaxed bool   `json:"relaxed,omitempty" jsonschema:"Lets symlinks lead out of the folder: whoever can make one then reaches every file of this user."`
}

func localKind() config.Kind {
	return config.Kind{
		Summary:  "A folder of this computer.",
		Options:  localOptions{},
		Open:     openLocal,
		Scheme:   "file",
		ParseURL: parseLocal,
		About:    aboutLocal,
		Ref: func(_ context.Context, fsys workspace.FileSystem, in config.Input) (any, error) {
			var o localOptions
			err := in.Decode(&o)
			o.Root = workspace.RootOf(fsys)
			return o, err
		},
	}
}

func openLocal(_ context.Context, in config.Input) (workspace.FileSystem, error) {
	var o localOptions
	if err := in.Decode(&o); err != nil {
		return nil, err
	}
	fsys, err := localbash.Open(in.Path(o.Root), &localbash.Options{Sync: o.Sync, Relaxed: o.Relaxed})
	if err != nil {
		return nil, config.KeyError("root", err)
	}
	return fsys, nil
}

func parseLocal(text string) (any, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host != "" || u.Path == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, errors.New("it is to be like file:///path/of/a/folder, with %20 for a space")
	}
	return localOptions{Root: filepath.FromSlash(u.Path)}, nil
}
