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
//
// Those of CheckURL, and those of the kind.
func (r *Registry) OpenURL(ctx context.Context, name, url string, settings FS) (*Workspace, error) {
	opener, err := r.urlProvider(name, url, settings)
	if err != nil {
		return nil, err
	}
	return openInput(ctx, opener, settings)
}

// CheckURL returns the kind of the workspace that a URL stands for, without
// opening it.
//
// # Errors
//
// A URL that no kind reads, and a name or settings that cannot be used.
func (r *Registry) CheckURL(name, url string, settings FS) (kind string, err error) {
	opener, err := r.urlProvider(name, url, settings)
	if err != nil {
		return "", err
	}
	return opener.name, opener.check()
}

// urlProvider returns what opens the workspace that a URL stands for.
func (r *Registry) urlProvider(name, url string, settings FS) (provider, error) {
	if wrong := nameFault(name); wrong != "" {
		return provider{}, fmt.Errorf("the name %q %s", short(name), wrong)
	}
	if err := settings.checkAlone(); err != nil {
		return provider{}, err
	}
	kind, options, err := r.parseURL(url)
	if err != nil {
		return provider{}, err
	}
	dir, err := filepath.Abs("")
	if err != nil {
		return provider{}, err
	}
	in := Input{Name: name, Dir: dir, Values: assign(options)}
	return provider{name: kind, kind: r.kinds[kind], in: in, files: &configFiles{}}, nil
}

// openInput opens a workspace that no file describes.
func openInput(ctx context.Context, opener provider, settings FS) (*Workspace, error) {
	if err := opener.check(); err != nil {
		return nil, err
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
