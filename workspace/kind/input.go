package kind

import (
	"fmt"
	"os"
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
	// SchemaVersion is the version of the reference that is resolved. It is
	// zero where the options come from elsewhere.
	SchemaVersion int
	// ReadOnly says that the workspace lets nothing be changed. Open should not
	// write either.
	ReadOnly bool

	// Values sets into, a pointer to a struct, to the options. Nil means that
	// there are none. A kind calls Decode, which checks into.
	Values func(into any) error
	// ConfigIn returns the names that the files of the configuration have below the
	// folder with an absolute path, "." for the path of one. Nil means that there are
	// none. A kind calls ConfigNames or Protected.
	ConfigIn func(path string) []string
}

// Decode sets into, a pointer to a struct of the type of [Kind].Options, to the
// options, or to what [Kind].Ref returned if a reference is resolved.
//
// # Errors
//
// What is unknown, missing or of the wrong type, with its place if the options
// come from a file.
func (in Input) Decode(into any) error {
	v := reflect.ValueOf(into)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
		return fmt.Errorf("kind: Decode needs a pointer to a struct, not a %T", into)
	}
	if in.Values == nil {
		return nil
	}
	return in.Values(into)
}

// Path returns the folder or file name, which is taken from Dir if it is
// relative.
func (in Input) Path(name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(in.Dir, filepath.FromSlash(name))
}

// Protected reports whether the folder or file name is or holds an audit log, or the file
// that has the options or the record of trusted files, which no workspace may change. With
// "protectConfig: false" in the file, only logs and their keys are protected.
func (in Input) Protected(name string) bool { return len(in.ConfigNames(name)) > 0 }

// ConfigNames returns the names that the files which [Input.Protected] is about have below
// the folder name.
func (in Input) ConfigNames(name string) []string {
	if in.ConfigIn == nil {
		return nil
	}
	path, err := filepath.Abs(in.Path(name))
	if err != nil {
		return []string{"."} // which may be one
	}
	return in.ConfigIn(path)
}

// Inside reports whether the folder or file name lies in Dir once symlinks are
// followed. What does not exist is taken as it is spelled.
func (in Input) Inside(name string) bool {
	dir, err := filepath.Abs(in.Dir)
	if err != nil {
		return false
	}
	path, err := filepath.Abs(in.Path(name))
	if err != nil {
		return false
	}
	rest, err := filepath.Rel(RealPath(dir), RealPath(path))
	return err == nil && filepath.IsLocal(rest)
}

// RealPath returns path without symlinks in the part of it that exists. A symlink
// that leads to nothing is followed, too.
func RealPath(path string) string {
	const maxLinks = 255 // more than an operating system follows
	return realPath(path, maxLinks)
}

// realPath is RealPath for at most links symlinks that lead to nothing, as they can
// lead in a loop.
func realPath(path string, links int) string {
	real, err := filepath.EvalSymlinks(path)
	parent := filepath.Dir(path)
	switch {
	case err == nil:
		return real
	case parent == path:
		return path
	}
	parent = realPath(parent, links)
	target, err := os.Readlink(path)
	switch {
	case err != nil || links == 0:
		return filepath.Join(parent, filepath.Base(path))
	case !filepath.IsAbs(target):
		target = filepath.Join(parent, target)
	}
	return realPath(target, links-1)
}

// Error is an error about one option.
type Error struct {
	Key string // the option, or the path of a part of it
	Err error  // what is wrong with it
}

// KeyError returns err as an [*Error] about the option key, so that it is shown
// with the place of that option. For a part of an option key is a path:
// "mounts[0].target".
func KeyError(key string, err error) error { return &Error{key, err} }

// Error implements error.
func (e *Error) Error() string { return e.Key + ": " + e.Err.Error() }

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }
