package config

import (
	"context"
	"fmt"
	"path/filepath"
)

// OpenURL opens the workspace that a URL stands for, such as "mem://", and
// gives it a name and settings. Relative folders start from the current one.
//
// # Errors
// A URL that no kind reads, a name or settings that cannot be used, and those
// of the kind.
func (r *Registry) OpenURL(ctx context.Context, name, url string, settings FS) (*Workspace, error) {
	if wrong := nameFault(name); wrong != "" {
		return nil, fmt.Errorf("the name %q %s", short(name), wrong)
	}
	if err := settings.checkAlone(); err != nil {
		return nil, err
	}
	kind, options, err := r.parseURL(url)
	if err != nil {
		return nil, err
	}
	dir, err := filepath.Abs("")
	if err != nil {
		return nil, err
	}
	in := Input{Name: name, Dir: dir, decode: assign(options)}
	return openInput(ctx, provider{name: kind, kind: r.kinds[kind], in: in}, settings)
}

// openInput opens a workspace that no file describes.
func openInput(ctx context.Context, opener provider, settings FS) (*Workspace, error) {
	if check := opener.kind.Check; check != nil {
		if err := check(opener.in); err != nil {
			return nil, err
		}
	}
	fsys, err := opener.kind.Open(ctx, opener.in)
	if err != nil {
		return nil, err
	}
	ws, err := newWorkspace(opener, fsys, settings)
	if err != nil {
		release(fsys)
		return nil, err
	}
	return ws, nil
}
