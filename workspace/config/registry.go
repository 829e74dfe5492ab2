package config

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/workspacekit/workspacekit/workspace"
)

// Kind is a kind of provider: how its options are spelled, and how it is opened.
type Kind struct {
	// Summary says in a sentence what the kind is, for the JSON Schema.
	Summary string
	// Options is a zero value of the struct that the options are decoded into.
	// Its JSON tags are the keys in the file, of which those without
	// "omitempty" or "omitzero" are required; its jsonschema tags describe
	// them. Fields are strings, switches, signed numbers, [time.Duration], and
	// structs, slices, maps and pointers of these. It is required.
	Options any
	// Open opens what the options describe. It must not start anything
	// (processes, watches, connections) that the first use can start. It is
	// required.
	Open func(ctx context.Context, in Input) (workspace.FileSystem, error)
	// Check returns what is wrong with the options beside their types, as far
	// as that is to be known without touching anything. Nil means nothing.
	Check func(in Input) error
	// Grants returns what Open uses beyond memory and the folder in.Dir, for
	// people: "the folder /srv", "the bucket lake". A file that was found needs
	// the user's trust for it. Nil means that the kind always needs that trust.
	Grants func(in Input) ([]string, error)

	// Local says that the files are in a folder of this computer, which the
	// Root of the FileSystem names. A file that describes workspaces is then
	// protected in it.
	Local bool

	// Scheme is what the URLs begin with that stand for a workspace of the
	// kind: "mem" for "mem://". Empty means that there are none.
	Scheme string
	// ParseURL returns the options that a URL stands for, of the type of
	// Options. Its scheme is in lower case. It is required with a Scheme.
	ParseURL func(text string) (options any, err error)

	// SchemaVersion is that of the references that the kind makes, greater with
	// each change that makes old ones unreadable or new ones unreadable to old
	// programs. Zero means 1.
	SchemaVersion int
	// Ref returns what a [Ref] to fsys keeps: a value that JSON can hold,
	// without credentials, with absolute paths. in is what fsys was opened
	// with, by Open or Resolve. Nil means that no references can be made.
	Ref func(ctx context.Context, fsys workspace.FileSystem, in Input) (payload any, err error)
	// Resolve opens what Ref has returned, which in decodes, in another process
	// and any current folder. Nil means Open, if Ref returns options.
	Resolve func(ctx context.Context, in Input) (workspace.FileSystem, error)

	// About says in a few words what the provider runs on, with versions, for
	// people: "Docker Engine 20.10.24 (linux/amd64)". fsys is what Open or
	// Resolve opened with in. What it returns has no credentials and no paths
	// of this computer, and is empty if nothing is known. Nil means that
	// nothing is known.
	About func(ctx context.Context, fsys workspace.FileSystem, in Input) (string, error)
}

// version returns the version of the references that are made.
func (k Kind) version() int { return max(k.SchemaVersion, 1) }

// Registry is the kinds of provider that there are. The zero Registry has none.
// It must not be changed while it is used.
type Registry struct {
	kinds map[string]Kind
}

// Register adds a kind with its name.
//
// # Errors
//
// A name or scheme that is taken, or has other characters than lower-case
// letters, digits and dashes, and a kind without what is required.
func (r *Registry) Register(name string, kind Kind) error {
	if err := r.check(name, kind); err != nil {
		return fmt.Errorf("config: cannot register the kind %q: %w", name, err)
	}
	if r.kinds == nil {
		r.kinds = map[string]Kind{}
	}
	r.kinds[name] = kind
	return nil
}

func (r *Registry) check(name string, kind Kind) error {
	_, taken := r.kinds[name]
	_, _, schemeTaken := r.byScheme(kind.Scheme)
	switch {
	case !kindName(name):
		return errors.New("its name is to be of lower-case letters, digits and dashes")
	case taken:
		return errors.New("there is one of that name")
	case kind.Open == nil:
		return errors.New("it has no Open")
	case kind.Options == nil || reflect.TypeOf(kind.Options).Kind() != reflect.Struct:
		return errors.New("its Options are to be a struct")
	case kind.Scheme != "" && (!kindName(kind.Scheme) || kind.ParseURL == nil):
		return errors.New("a Scheme is a word such as \"s3\" and needs a ParseURL")
	case kind.Scheme != "" && schemeTaken:
		return fmt.Errorf("there is one with the scheme %q", kind.Scheme)
	}
	return optionsFault(kind.Options)
}

// optionsFault returns the error of options that no file can describe.
func optionsFault(options any) error {
	fields := fieldsOf(reflect.TypeOf(options))
	if slices.Contains(keysOf(fields), kindKey) {
		return fmt.Errorf("its Options have a key %q, which names the kind", kindKey)
	}
	_, err := schemaOf(reflect.TypeOf(options))
	return err
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
	for _, kind := range r.kinds {
		if kind.Scheme != "" {
			schemes = append(schemes, kind.Scheme)
		}
	}
	slices.Sort(schemes)
	return schemes
}

// KindOf returns the name of the kind whose URLs begin with scheme, "" if there
// is none.
func (r *Registry) KindOf(scheme string) string {
	if scheme == "" {
		return ""
	}
	name, _, _ := r.byScheme(scheme)
	return name
}

// byScheme returns the kind with a scheme.
func (r *Registry) byScheme(scheme string) (string, Kind, bool) {
	for name, kind := range r.kinds {
		if kind.Scheme == scheme {
			return name, kind, true
		}
	}
	return "", Kind{}, false
}

// IsURL reports whether text is a URL that stands for a workspace, and not a
// name or a path: it begins with a scheme, in letters of either case, and "://".
func IsURL(text string) bool {
	scheme, _, ok := strings.Cut(text, "://")
	return ok && kindName(strings.ToLower(scheme))
}

// parseURL returns the kind and the options that a URL stands for.
func (r *Registry) parseURL(text string) (name string, options any, err error) {
	scheme, rest, _ := strings.Cut(text, "://")
	scheme = strings.ToLower(scheme)
	name, kind, ok := r.byScheme(scheme)
	if !IsURL(text) || !ok {
		known := r.Schemes()
		for i := range known {
			known[i] += "://"
		}
		return "", nil, fmt.Errorf("there is no kind of provider for %q: %s", scheme+"://", suggest(scheme+"://", known))
	}
	if options, err = kind.ParseURL(scheme + "://" + rest); err != nil {
		return "", nil, fmt.Errorf("the URL cannot be used: %w", err)
	}
	return name, options, nil
}
