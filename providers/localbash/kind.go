package localbash

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/workspacekit/workspacekit/providers/localbash/internal/sys"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/fallback"
	"github.com/workspacekit/workspacekit/workspace/kind"
)

// settings are the options of a folder of this computer, as a file has them.
type settings struct {
	Root    string `json:"root" jsonschema:"The folder. A relative path starts at the folder of this file."`
	Sync    bool   `json:"sync,omitempty" jsonschema:"Makes every change durable before the call returns."`
	Relaxed bool   `json:"relaxed,omitempty" jsonschema:"Follows symlinks that lead out of the folder: whoever can create one then reaches every file of your user."`
}

// Kind describes folders of this computer to package config.
func Kind() kind.Kind {
	return kind.Kind{
		Summary:  "A folder of this computer.",
		Options:  settings{},
		Open:     openKind,
		Check:    checkKind,
		Grants:   grantsOfKind,
		Local:    true,
		Scheme:   "file",
		ParseURL: parseURL,
		About:    about,
		Ref: func(_ context.Context, fsys workspace.FileSystem, in kind.Input) (any, error) {
			var o settings
			err := in.Decode(&o)
			o.Root = fallback.Root(fsys)
			return o, err
		},
	}
}

// openKind opens a folder for package config.
func openKind(_ context.Context, in kind.Input) (workspace.FileSystem, error) {
	var o settings
	if err := in.Decode(&o); err != nil {
		return nil, err
	}
	fsys, err := Open(in.Path(o.Root), &Options{Sync: o.Sync, Relaxed: o.Relaxed})
	if err != nil {
		return nil, kind.KeyError("root", err)
	}
	return fsys, nil
}

// checkKind returns what is wrong with the options of a file, without opening
// the folder.
func checkKind(in kind.Input) error {
	var o settings
	if err := in.Decode(&o); err != nil {
		return err
	}
	if o.Root == "" {
		return kind.KeyError("root", errors.New(`it is empty: name a folder, such as "." for the folder of the file`))
	}
	return nil
}

// grantsOfKind says what a file of workspaces needs trust for: a folder
// outside its own, and symlinks that may lead anywhere.
func grantsOfKind(in kind.Input) ([]string, error) {
	var o settings
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

// parseURL reads file:///DIR?relaxed=true&sync=true.
func parseURL(text string) (any, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host != "" || u.Path == "" || u.User != nil || u.Fragment != "" {
		return nil, errors.New("expected file:///path/of/a/folder, with %20 for a space")
	}
	o := settings{Root: filepath.FromSlash(u.Path)}
	if drive := strings.TrimPrefix(o.Root, `\`); filepath.VolumeName(drive) != "" {
		o.Root = drive // file:///C:/folder
	}
	return o, o.setParameters(u.RawQuery)
}

// setParameters sets the options from the query of a URL.
func (o *settings) setParameters(text string) error {
	query, err := url.ParseQuery(text)
	if err != nil {
		return errors.New("what follows the question mark cannot be read: expected relaxed=true&sync=true or the like")
	}
	for name, target := range map[string]*bool{"relaxed": &o.Relaxed, "sync": &o.Sync} {
		values, given := query[name]
		delete(query, name)
		if !given {
			continue
		}
		if *target, err = strconv.ParseBool(values[0]); err != nil || len(values) > 1 {
			return fmt.Errorf("expected the parameter %s once, true or false", name)
		}
	}
	if len(query) > 0 {
		return errors.New("unknown parameter: expected relaxed or sync")
	}
	return nil
}

// about names the operating system and, where it is simple to know, the
// file system that the folder is on.
func about(_ context.Context, fsys workspace.FileSystem, _ kind.Input) (string, error) {
	said := sys.Name() + " (" + runtime.GOOS + "/" + runtime.GOARCH + ")"
	if kind := sys.FileSystem(fallback.Root(fsys)); kind != "" {
		said += ", " + kind
	}
	return said, nil
}
