package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/workspacekit/workspacekit"
	"github.com/workspacekit/workspacekit/workspace/config"
)

// place is where the files of a workspace are that no file describes.
type place struct {
	what     string // what errors call it
	url      string
	kind     string
	name     string
	settings config.FS
}

// newPlace returns the place that a URL, or a folder, given by a flag means.
func (s *settings) newPlace(flag, text string) (*place, error) {
	p := &place{what: flag, url: text, name: s.name, settings: config.FS{MaxFileSizeMb: s.maxFileMB, ReadOnly: s.readOnly}}
	if !config.IsURL(text) {
		folder, err := folderURL(text)
		if err != nil {
			return nil, fmt.Errorf("folder %q of %s: %w", text, flag, err)
		}
		p.what, p.url = fmt.Sprintf("folder %q of %s", text, flag), folder
	}
	var err error
	if p.kind, err = workspacekit.NewRegistry().CheckURL(p.name, p.url, p.settings); err != nil {
		return nil, errors.New(plain(err))
	}
	if s.relaxed {
		return p, p.relax()
	}
	return p, nil
}

// folderURL returns the URL of a folder.
func folderURL(dir string) (string, error) {
	if dir == "" {
		return "", errors.New("it has no name: the current folder is \".\"")
	}
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	path := filepath.ToSlash(absolute)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // a drive
	}
	return (&url.URL{Scheme: "file", Path: path}).String(), nil
}

// relax lets symlinks lead out of the folder.
func (p *place) relax() error {
	u, err := url.Parse(p.url)
	if err != nil || u.Scheme != "file" {
		return fmt.Errorf("--relaxed has no meaning for a workspace of the kind %s", p.kind)
	}
	query := u.Query()
	query.Set("relaxed", "true")
	u.RawQuery = query.Encode()
	p.url = u.String()
	return nil
}

func (p *place) open(ctx context.Context) (*config.Workspace, error) {
	ws, err := workspacekit.NewRegistry().OpenURL(ctx, p.name, p.url, p.settings)
	if err != nil {
		return nil, fmt.Errorf("%s: %s", p.what, plain(err))
	}
	return ws, nil
}
