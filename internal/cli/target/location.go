package target

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/workspacekit/workspacekit/internal/cli/term"
	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/providers/localbash"
	"github.com/workspacekit/workspacekit/workspace/config"
)

// location is where the files of a workspace are that no file describes.
type location struct {
	what     string // what errors call it
	url      string // of a folder, too
	kind     string
	name     string
	settings config.FS
	registry *config.Registry // with a folder, of its kind alone: the others take longer to make than a folder to open
}

// newLocation returns the location that a URL, or a folder, given by a flag means. The URL is
// checked, and nothing is opened. flag is how errors call the flag, such as -C.
func (f *Flags) newLocation(flag, text string) (*location, error) {
	l := &location{url: text, name: f.name, settings: config.FS{MaxFileSizeMb: f.maxFileMB, ReadOnly: f.ReadOnly}}
	if f.sensitive {
		l.settings.Sensitive = config.AccessAllow
	}
	if config.IsURL(text) {
		l.what, l.registry = flag+shownURL(text), f.Registry()
	} else {
		if begin := nearlyURL(text); begin != "" {
			return nil, fmt.Errorf("%s %q is neither a folder nor a URL: a URL begins with %q; write %q for a folder of that name",
				flag, text, begin, "./"+text)
		}
		folder, err := folderURL(text)
		if err != nil {
			return nil, fmt.Errorf("folder %q: %w", text, err)
		}
		l.what, l.url, l.registry = fmt.Sprintf("folder %q", text), folder, &config.Registry{}
		if err := l.registry.Register(KindLocal, localbash.Kind()); err != nil {
			return nil, err
		}
	}
	var err error
	if l.kind, err = l.registry.CheckURL(l.name, l.url, l.settings); err != nil {
		return nil, errors.New(term.Plain(err))
	}
	if f.relaxed {
		return l, l.relax()
	}
	return l, nil
}

// isRelaxed reports whether symlinks may lead out of the folder.
func (l *location) isRelaxed() bool {
	u, err := url.Parse(l.url)
	if err != nil || u.Scheme != "file" {
		return false
	}
	return u.Query().Get("relaxed") == "true"
}

// shownURL returns a URL as errors show it after the flag that gave it: not at
// all if it has credentials.
func shownURL(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.User != nil {
		return ""
	}
	return fmt.Sprintf(" %q", text)
}

// nearlyURL returns how a URL begins if text is meant as the URL of a workspace and is none,
// and "" for a folder, which includes everything that exists.
//
//	file:/srv     file:///
//	file:srv      file:///
//	S3:/bucket    s3://
//	c:/srv        "", a drive
//	src/a:/b      "", as a scheme has no slash
func nearlyURL(text string) string {
	scheme, rest, ok := strings.Cut(text, ":")
	scheme = strings.ToLower(scheme)
	letters := strings.IndexFunc(scheme, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') }) < 0
	if !ok || !letters || len(scheme) < 2 { // "c:/" is a drive
		return ""
	}
	if _, err := os.Stat(text); err == nil {
		return ""
	}
	switch {
	case scheme == "file":
		return "file:///"
	case strings.HasPrefix(rest, "/"):
		return scheme + "://"
	}
	return ""
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
func (l *location) relax() error {
	u, err := url.Parse(l.url)
	if err != nil || u.Scheme != "file" {
		return fmt.Errorf("--relaxed has no meaning for a workspace of the kind %s", l.kind)
	}
	query := u.Query()
	query.Set("relaxed", "true")
	u.RawQuery = query.Encode()
	l.url = u.String()
	return nil
}

// openLocation opens the workspace that no file describes. What a store or an engine answers,
// which has a remedy, is a [term.Failure], and the end of ctx is its error; anything else is a
// mistake on the command line.
func (s *Selection) openLocation(ctx context.Context) (*config.Workspace, error) {
	l := s.location
	ws, err := l.registry.OpenURL(ctx, l.name, l.url, l.settings)
	switch {
	case err == nil:
		return ws, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case l.kind != KindLocal && ops.RemedyOf(err) != "":
		return nil, term.Fail(term.Cause(err))
	}
	return nil, fmt.Errorf("%s: %w", l.what, term.Cause(err))
}
