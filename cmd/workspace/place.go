package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
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
	p := &place{what: flag + shownURL(text), url: text, name: s.name, settings: config.FS{MaxFileSizeMb: s.maxFileMB, ReadOnly: s.readOnly}}
	if !config.IsURL(text) {
		if scheme := nearlyURL(text); scheme != "" {
			return nil, fmt.Errorf("%s %q is neither a folder nor a URL: a URL begins with %q; name a folder of that name as %q",
				flag, text, scheme+"://", "./"+text)
		}
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

// shownURL returns a URL as errors show it after the flag that gave it: without
// one that has credentials.
func shownURL(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.User != nil {
		return ""
	}
	return fmt.Sprintf(" %q", text)
}

// nearlyURL returns the scheme of a text such as "file:/srv", which is no URL of
// a workspace and is meant as one, and "" for a folder.
func nearlyURL(text string) string {
	scheme, _, ok := strings.Cut(text, ":/")
	letters := strings.IndexFunc(scheme, func(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') }) < 0
	if _, err := os.Stat(text); !ok || !letters || len(scheme) < 2 || err == nil { // "c:/" is a drive
		return ""
	}
	return strings.ToLower(scheme)
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
