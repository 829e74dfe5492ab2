package config

import (
	"context"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/config/internal/document"
	"github.com/workspacekit/workspacekit/workspace/observe"
)

// Workspaces is what [Config.Open] opened. It is safe for concurrent use.
type Workspaces struct {
	all    []*Workspace
	byName map[string]*Workspace
	tools  Tools
}

func (w *Workspaces) add(ws *Workspace) {
	w.all = append(w.all, ws)
	w.byName[ws.Name()] = ws
}

// All returns the workspaces in the order of the file.
func (w *Workspaces) All() []*Workspace { return slices.Clone(w.all) }

// Lookup returns the workspace with the given name.
func (w *Workspaces) Lookup(name string) (*Workspace, bool) {
	ws, ok := w.byName[name]
	return ws, ok
}

// Tools returns the settings of the tools.
func (w *Workspaces) Tools() Tools {
	settings := w.tools
	settings.Disable = slices.Clone(settings.Disable)
	return settings
}

// Close closes all workspaces, the last one first, and returns their errors.
func (w *Workspaces) Close() error {
	var errs []error
	for _, ws := range slices.Backward(w.all) {
		errs = append(errs, ws.Close())
	}
	return errors.Join(errs...)
}

// Workspace is a workspace that knows how it was opened.
type Workspace struct {
	*workspace.Workspace

	opener   provider
	fsys     workspace.FileSystem // of the provider, without settings
	settings *FS                  // shared and never changed
	audit    *Audit               // never changed, nil for no log; its paths are absolute
}

// newWorkspace returns the workspace over fsys with its settings. The observers are
// outside of all policies: they see what callers ask for.
func newWorkspace(opener provider, fsys workspace.FileSystem, settings *FS, audit *Audit) (*Workspace, error) {
	observers, err := audit.open()
	if err != nil {
		return nil, err
	}
	seen, err := opener.protect(fsys)
	if err != nil {
		return nil, err
	}
	if seen, err = settings.over(seen, fsys); err != nil {
		return nil, err
	}
	seen = observe.New(seen, opener.in.Name, observers...)
	opts := &workspace.Options{MaxFileSize: settings.MaxFileSizeMb << 20}
	return &Workspace{
		Workspace: workspace.New(opener.in.Name, seen, opts),
		opener:    opener, fsys: fsys, settings: settings, audit: audit,
	}, nil
}

// Kind returns the kind of its provider.
func (w *Workspace) Kind() string { return w.opener.name }

// Settings returns the settings that hold for it.
func (w *Workspace) Settings() FS {
	return w.settings.clone()
}

// Close closes the provider.
func (w *Workspace) Close() error { return closeIt(w.fsys) }

// maxAbout is how many bytes [Workspace.About] returns at most.
const maxAbout = 200

// About says in a few words what the provider of w runs on, with versions, for
// people: "Docker Engine 20.10.24 (linux/amd64)". It is one line without
// control characters, and empty if nothing is known. It may start what the
// first use of w would start.
//
// # Errors
//
// Those of [Kind].About.
func (w *Workspace) About(ctx context.Context) (string, error) {
	kind := w.opener.kind
	if kind.About == nil {
		return "", nil
	}
	said, err := kind.About(ctx, w.fsys, w.opener.in)
	if err != nil {
		return "", err
	}
	said = strings.TrimSpace(document.Printable(said))
	if len(said) <= maxAbout {
		return said, nil
	}
	end := maxAbout
	for !utf8.RuneStart(said[end]) {
		end--
	}
	return said[:end], nil
}
