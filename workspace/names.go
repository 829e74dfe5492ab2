package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"unicode/utf8"
)

const (
	// MaxNameLength is the longest valid name, in bytes.
	MaxNameLength = 4096
	// MaxElementLength is the longest element of a valid name, in bytes: the
	// NAME_MAX of common file systems.
	MaxElementLength = 255
	// ReservedPrefix begins the names of the providers' temporary files. No
	// valid name has an element with this prefix, and no listing shows one.
	ReservedPrefix = ".workspacekit-tmp-"
)

// ValidName reports whether a [FileSystem] accepts name: it is valid for
// [io/fs.ValidPath] (so "." or unrooted, slash-separated, without empty, "." and
// ".." elements), has no NUL byte, and is at most [MaxNameLength] bytes long; its
// elements are at most [MaxElementLength] bytes long and do not begin with
// [ReservedPrefix].
//
// Bytes that are unusual but legal in file names (backslashes, newlines,
// control characters, leading dashes) are valid.
func ValidName(name string) bool { return nameError(name) == nil }

// Check returns the error of ctx if it has ended, and the error of name if that
// is not valid, as a [*io/fs.PathError]. Every method of a provider calls it
// first.
//
// # Errors
//
// [io/fs.ErrInvalid], [ErrEscape], or the error of ctx.
func Check(ctx context.Context, op, name string) error {
	if err := ctx.Err(); err != nil {
		return NewPathError(op, name, err, nil)
	}
	if err := nameError(name); err != nil {
		return NewPathError(op, name, err, nil)
	}
	return nil
}

// nameError returns the reason why name is not valid, nil if it is.
func nameError(name string) error {
	switch {
	case name == "":
		return invalidName("empty name")
	case !utf8.ValidString(name):
		return invalidName("name is not valid UTF-8")
	case strings.IndexByte(name, 0) >= 0:
		return invalidName("name has a NUL byte")
	case len(name) > MaxNameLength:
		return invalidName(fmt.Sprintf("name is longer than %d bytes", MaxNameLength))
	case climbs(name):
		return ErrEscape
	case name[0] == '/':
		return invalidName("name begins with a slash")
	case !fs.ValidPath(name):
		return invalidName("name has an empty or a \".\" element")
	case strings.HasPrefix(name, ReservedPrefix), strings.Contains(name, "/"+ReservedPrefix):
		return invalidName(fmt.Sprintf("names that begin with %q are reserved for temporary files", ReservedPrefix))
	case hasLongElement(name):
		return invalidName(fmt.Sprintf("an element of the name is longer than %d bytes", MaxElementLength))
	}
	return nil
}

func invalidName(why string) error {
	return &kindError{kind: fs.ErrInvalid, cause: errors.New(why), only: true}
}

// climbs reports whether name has a ".." element.
func climbs(name string) bool {
	if !strings.Contains(name, "..") {
		return false
	}
	for element := range strings.SplitSeq(name, "/") {
		if element == ".." {
			return true
		}
	}
	return false
}

func hasLongElement(name string) bool {
	if len(name) <= MaxElementLength {
		return false
	}
	for element := range strings.SplitSeq(name, "/") {
		if len(element) > MaxElementLength {
			return true
		}
	}
	return false
}

// CleanName turns what people and models write ("/src/a", "./src/a",
// "src//a/", "") into a valid name. root is the absolute path under which
// they know the workspace, "" or "/" if there is none; it is removed from names
// that begin with it. A "." element and a repeated slash are removed; a ".."
// element that stays inside is resolved by its spelling.
//
// With the root "/home/me/app":
//
//	/home/me/app/src/a.go   src/a.go
//	/src/a.go               src/a.go, as from the workspace's own root
//	src//b/../a.go          src/a.go
//	../other                ErrEscape
//	src/a\x00go             fs.ErrInvalid
//
// # Errors
//
// [ErrEscape] if the name climbs out of the workspace (it is never clamped),
// [io/fs.ErrInvalid] if what remains is not valid.
func CleanName(root, name string) (string, error) {
	clean := path.Clean("./" + trimRoot(root, name))
	if clean == ".." || strings.HasPrefix(clean, "../") {
		return "", ErrEscape
	}
	if err := nameError(clean); err != nil {
		return "", err
	}
	return clean, nil
}

// trimRoot removes root from an absolute name that begins with it, with whatever
// slashes and dots the two are spelled. Another absolute name is one from the
// workspace's own root, and stays as it is.
func trimRoot(root, name string) string {
	if root == "" || !path.IsAbs(name) {
		return name
	}
	root = strings.TrimSuffix(path.Clean(root), "/")
	for _, spelled := range []string{name, path.Clean(name)} {
		if rest, ok := strings.CutPrefix(spelled, root); ok && (rest == "" || rest[0] == '/') {
			return rest
		}
	}
	return name
}
