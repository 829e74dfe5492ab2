package config

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/workspacekit/workspacekit/internal/wording"
	"github.com/workspacekit/workspacekit/workspace/kind"

	"github.com/workspacekit/workspacekit/workspace/config/internal/document"
)

// versionOf returns the version of the references that a kind makes.
func versionOf(k *kind.Kind) int { return max(k.SchemaVersion, 1) }

// Registry is the kinds of provider that there are. The zero Registry has none.
// It must not be changed while it is used.
type Registry struct {
	kinds map[string]*kind.Kind // shared by all workspaces of a kind
}

// Register adds a kind with its name.
//
// # Errors
//
// A name or scheme that is taken, or has other characters than lower-case
// letters, digits and dashes, and a kind without what is required.
func (r *Registry) Register(name string, k kind.Kind) error {
	if err := r.check(name, k); err != nil {
		return fmt.Errorf("config: cannot register the kind %q: %w", name, err)
	}
	if r.kinds == nil {
		r.kinds = map[string]*kind.Kind{}
	}
	r.kinds[name] = &k
	return nil
}

func (r *Registry) check(name string, k kind.Kind) error {
	_, taken := r.kinds[name]
	_, _, schemeTaken := r.byScheme(k.Scheme)
	switch {
	case !kindName(name):
		return errors.New("its name has other characters than lower-case letters, digits and dashes")
	case taken:
		return errors.New("there is one of that name")
	case k.Open == nil:
		return errors.New("it has no Open")
	case k.Options == nil || reflect.TypeOf(k.Options).Kind() != reflect.Struct:
		return errors.New("its Options must be a struct")
	case k.Scheme != "" && (!kindName(k.Scheme) || k.ParseURL == nil):
		return errors.New("a Scheme is a word such as \"s3\" and needs a ParseURL")
	case k.Scheme != "" && schemeTaken:
		return fmt.Errorf("there is one with the scheme %q", k.Scheme)
	}
	return document.CheckType(reflect.TypeOf(k.Options), kindKey)
}

func kindName(name string) bool {
	return name != "" && strings.IndexFunc(name, func(r rune) bool {
		return r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z')
	}) < 0
}

// Kinds returns the names of the kinds, sorted.
func (r *Registry) Kinds() []string { return slices.Sorted(maps.Keys(r.kinds)) }

// Schemes returns the schemes of the kinds that have one, sorted.
func (r *Registry) Schemes() []string {
	var schemes []string
	for _, k := range r.kinds {
		if k.Scheme != "" {
			schemes = append(schemes, k.Scheme)
		}
	}
	slices.Sort(schemes)
	return schemes
}

// KindOf returns the name of the kind whose URLs begin with scheme, which is in
// lower case, "" if there is none.
func (r *Registry) KindOf(scheme string) string {
	if scheme == "" {
		return ""
	}
	name, _, _ := r.byScheme(scheme)
	return name
}

// byScheme returns the kind with a scheme.
func (r *Registry) byScheme(scheme string) (string, *kind.Kind, bool) {
	for name, k := range r.kinds {
		if k.Scheme == scheme {
			return name, k, true
		}
	}
	return "", nil, false
}

// IsURL reports whether text is a URL that stands for a workspace, and not a
// name or a path: it begins with a scheme of letters, in either case, digits and dashes,
// and "://".
func IsURL(text string) bool {
	scheme, _, ok := strings.Cut(text, "://")
	return ok && kindName(strings.ToLower(scheme))
}

// parseURL returns the kind and the options that a URL stands for. written is text as the caller
// spelled it, with variables that an error must not replace.
func (r *Registry) parseURL(text, written string) (name string, options any, err error) {
	scheme, rest, _ := strings.Cut(text, "://")
	scheme = strings.ToLower(scheme)
	name, k, ok := r.byScheme(scheme)
	if !IsURL(text) || !ok {
		known := r.Schemes()
		for i := range known {
			known[i] += "://"
		}
		written, _, _ = strings.Cut(written, "://")
		return "", nil, fmt.Errorf("there is no kind of provider for %q: %s", written+"://", wording.Suggest(scheme+"://", known))
	}
	if options, err = k.ParseURL(scheme + "://" + rest); err != nil {
		return "", nil, fmt.Errorf("the URL cannot be used: %w", err)
	}
	return name, options, nil
}

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
	if err := opener.check(); err != nil {
		return nil, err
	}
	fsys, err := opener.kind.Open(ctx, opener.in)
	if err != nil {
		return nil, err
	}
	ws, err := newWorkspace(opener, fsys, layers{settings: &settings})
	if err != nil {
		release(fsys)
		return nil, err
	}
	ws.undoKilled(ctx)
	return ws, nil
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
		return provider{}, fmt.Errorf("the name %q %s", document.Short(name), wrong)
	}
	if err := settings.checkAlone(); err != nil {
		return provider{}, err
	}
	of, options, err := r.parseURL(url, url)
	if err != nil {
		return provider{}, err
	}
	dir, err := filepath.Abs("")
	if err != nil {
		return provider{}, err
	}
	in := kind.Input{Name: name, Dir: dir, ReadOnly: settings.ReadOnly, Values: assign(options)}
	return provider{name: of, kind: r.kinds[of], in: in, files: &configFiles{}}, nil
}

// assign is a decode of options that there are already.
func assign(options any) func(into any) error {
	return func(into any) error {
		v, target := reflect.ValueOf(options), reflect.ValueOf(into).Elem()
		if v.Kind() == reflect.Pointer && !v.IsNil() {
			v = v.Elem()
		}
		if !v.IsValid() || v.Type() != target.Type() {
			return fmt.Errorf("config: the options are a %T, and not to be decoded into a %T", options, into)
		}
		target.Set(v)
		return nil
	}
}
