package workspacekit

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"

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
		Check:    checkLocal,
		Grants:   grantsOfLocal,
		Local:    true,
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

func checkLocal(in config.Input) error {
	var o localOptions
	if err := in.Decode(&o); err != nil {
		return err
	}
	if o.Root == "" {
		return config.KeyError("root", errors.New(`it is empty: name a folder, such as "." for the folder of the file`))
	}
	return nil
}

func grantsOfLocal(in config.Input) ([]string, error) {
	var o localOptions
	if err := in.Decode(&o); err != nil {
		return nil, err
	}
	var grants []string
	if !in.Inside(o.Root) {
		grants = append(grants, "the folder "+in.Path(o.Root))
	}
	if o.Relaxed {
		grants = append(grants, "whatever the symlinks in the folder lead to (relaxed)")
	}
	return grants, nil
}

// parseLocal reads file:///DIR?relaxed=true&sync=true.
func parseLocal(text string) (any, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host != "" || u.Path == "" || u.User != nil || u.Fragment != "" {
		return nil, errors.New("it is to be like file:///path/of/a/folder, with %20 for a space")
	}
	o := localOptions{Root: filepath.FromSlash(u.Path)}
	if drive := strings.TrimPrefix(o.Root, `\`); filepath.VolumeName(drive) != "" {
		o.Root = drive // file:///C:/folder
	}
	return o, o.setParameters(u.RawQuery)
}

func (o *localOptions) setParameters(text string) error {
	query, err := url.ParseQuery(text)
	if err != nil {
		return errors.New("what follows the question mark cannot be read: it is to be like relaxed=true&sync=true")
	}
	for name, target := range map[string]*bool{"relaxed": &o.Relaxed, "sync": &o.Sync} {
		values, given := query[name]
		delete(query, name)
		if !given {
			continue
		}
		if *target, err = strconv.ParseBool(values[0]); err != nil || len(values) > 1 {
			return fmt.Errorf("the parameter %s is to be there once, and to be true or false", name)
		}
	}
	if len(query) > 0 {
		return errors.New("it has a parameter that is not known: there are relaxed and sync")
	}
	return nil
}
