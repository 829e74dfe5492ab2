// Package scan is the search engine that every provider shares: it walks a
// tree in path order, matches globs, honours .gitignore files, and searches
// lines with several workers, so that results are identical on every provider.
package scan

import (
	"context"

	"github.com/workspacekit/workspacekit/workspace"
)

// Source is a tree that can be searched. It is safe for concurrent use.
type Source interface {
	// List returns the children of dir, sorted bytewise by name. top says
	// that dir is where the search begins: only then is a symlink followed.
	// Children without a valid name have a type that says so, or are left out.
	// The slice is the caller's to keep and not to change.
	//
	// Errors are [*io/fs.PathError]s with dir as their Path.
	List(ctx context.Context, dir string, top bool) ([]Child, error)
	// Read returns the content of the file name, not to be changed. It may lie
	// in scratch, which Read may grow, and is then valid until the next Read
	// with the same scratch.
	Read(ctx context.Context, name string, scratch *[]byte, opts ReadOptions) ([]byte, error)
	// Stat describes name, following a symlink.
	Stat(ctx context.Context, name string) (workspace.FileType, error)
}

// Walker is a Source that lists a tree at less than the cost of listing each of
// its directories. It has no symlinks: what a pattern spells out is asked for by
// Stat, which would follow them.
type Walker interface {
	Source
	// Walk is [workspace.Walker].Walk, with visit for what is behind the path
	// after.
	Walk(ctx context.Context, dir, after string, visit func(workspace.FileInfo) error) error
}

// ReadOptions say how a file is read.
type ReadOptions struct {
	// Limit makes a larger file [workspace.ErrTooLarge], before it is read.
	// Zero means no limit.
	Limit int64
	// Top is as for List.
	Top bool
	// Text allows to return no more than the beginning of a file that
	// internal/lines calls binary.
	Text bool
	// Lines, if it is not nil, allows to return only lines of a file among which
	// are all that match, and to set it to their numbers.
	Lines *[]int
	// Known is what a Walk has said of the file, nil if it was not walked to.
	Known *workspace.FileInfo
}

// Child is one entry of a directory.
type Child struct {
	Name string
	Type workspace.FileType
}

// UnnamedFile and UnnamedDirectory are the types of children whose paths are
// not valid names. Nothing can ask for them, so they appear in a List only, and
// Grep lists the directory that holds them as skipped.
const (
	UnnamedFile      workspace.FileType = "unnamed file"
	UnnamedDirectory workspace.FileType = "unnamed directory"
)

// Unnamed returns the type of something of type t whose path is not a valid
// name. It returns false for what no search looks into.
func Unnamed(t workspace.FileType) (workspace.FileType, bool) {
	switch t {
	case workspace.TypeFile:
		return UnnamedFile, true
	case workspace.TypeDirectory:
		return UnnamedDirectory, true
	}
	return "", false
}

// IsUnnamed reports whether the path of c is not a valid name.
func (c Child) IsUnnamed() bool { return c.Type == UnnamedFile || c.Type == UnnamedDirectory }
