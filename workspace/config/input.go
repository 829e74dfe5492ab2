package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
)

// Input is what a [Kind] is given to open a workspace.
type Input struct {
	// Name is the name of the workspace.
	Name string
	// Dir is the folder of the file, from which relative folders start. It is
	// absolute, or empty for the current folder.
	Dir string
	// File is what errors call the file that has the options. It is empty if they
	// come from the command line, a Go program or a reference.
	File string
	// SchemaVersion is that of the reference that is resolved, and zero where
	// the options come from elsewhere.
	SchemaVersion int

	decode      func(into any) error
	path        string // of the file that has the options, empty if there is none
	unprotected bool   // the configuration may be changed in the workspace
}

// Decode sets into, a pointer to a struct of the type of [Kind].Options, to the
// options, or to what [Kind].Ref returned if a reference is resolved.
//
// # Errors
//
// What is unknown, missing or of the wrong type, as an [*Error] with its place
// if the options come from a file.
func (in Input) Decode(into any) error {
	v := reflect.ValueOf(into)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
		return fmt.Errorf("config: Decode needs a pointer to a struct, and not a %T", into)
	}
	if in.decode == nil {
		return nil
	}
	return in.decode(into)
}

// Path returns the folder or file name, which is taken from Dir if it is
// relative.
func (in Input) Path(name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(in.Dir, filepath.FromSlash(name))
}

// Inside reports whether the folder or file name lies in Dir once symlinks are
// followed. What does not exist is taken as it is spelled.
func (in Input) Inside(name string) bool {
	dir, err := filepath.Abs(in.Dir)
	if err != nil {
		return false
	}
	rest, err := filepath.Rel(followed(dir), followed(in.Path(name)))
	return err == nil && filepath.IsLocal(rest)
}

// followed returns path without symlinks in the part of it that exists.
func followed(path string) string {
	real, err := filepath.EvalSymlinks(path)
	parent := filepath.Dir(path)
	switch {
	case err == nil:
		return real
	case parent == path:
		return path
	}
	return filepath.Join(followed(parent), filepath.Base(path))
}

// KeyError returns err as one about the option key, so that it is shown with
// the place of that. For a part of an option key is a path: mounts[0].target.
func KeyError(key string, err error) error { return &keyError{key, err} }

type keyError struct {
	key string
	err error
}

func (e *keyError) Error() string { return e.key + ": " + e.err.Error() }
func (e *keyError) Unwrap() error { return e.err }

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

// decodeJSON is a decode of what a reference keeps.
func decodeJSON(data []byte) func(into any) error {
	return func(into any) error {
		decoder := json.NewDecoder(bytes.NewReader(data))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(into); err != nil {
			return fmt.Errorf("config: the payload of the reference cannot be read: %w", err)
		}
		if decoder.More() {
			return errors.New("config: the payload of the reference has more than one value")
		}
		return nil
	}
}
