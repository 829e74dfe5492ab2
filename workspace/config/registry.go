package config

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// versionOf returns the version of the references that a kind makes.
func versionOf(k *Kind) int { return max(k.SchemaVersion, 1) }

// Registry is the kinds of provider that there are. The zero Registry has none.
// It must not be changed while it is used.
type Registry struct {
	kinds map[string]*Kind // shared by all workspaces of a kind
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
		r.kinds = map[string]*Kind{}
	}
	r.kinds[name] = &kind
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
	return undecodable(reflect.TypeOf(options), nil)
}

// undecodable returns the error of a type that no value in a file can be decoded
// into. inside are the types that it is a part of. A schema would have the same
// error, and takes much longer: programs register kinds each time they start.
func undecodable(t reflect.Type, inside []reflect.Type) error {
	switch t.Kind() {
	case reflect.String, reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Float32, reflect.Float64:
		return nil
	case reflect.Map:
		if t.Key().Kind() == reflect.String {
			return undecodable(t.Elem(), inside)
		}
	case reflect.Slice, reflect.Pointer:
		return undecodable(t.Elem(), inside)
	case reflect.Struct:
		if slices.Contains(inside, t) {
			break
		}
		for _, f := range fieldsOf(t) {
			if err := undecodable(t.Field(f.index).Type, append(inside, t)); err != nil {
				return fmt.Errorf("%s: %w", f.key, err)
			}
		}
		return nil
	}
	return fmt.Errorf("its Options have the type %s, which no value in a file can have", t)
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
func (r *Registry) byScheme(scheme string) (string, *Kind, bool) {
	for name, kind := range r.kinds {
		if kind.Scheme == scheme {
			return name, kind, true
		}
	}
	return "", nil, false
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
