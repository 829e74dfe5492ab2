// Package scan is the search engine that every provider shares. A provider
// describes its tree as a [Source]; [Glob] and [Grep] return what the methods
// of [workspace.FileSystem] must return for it, so that all providers give the
// same results.
//
// Glob visits a tree in bytewise order of paths, which is the order of its
// result, and so can stop at a limit. It lists only directories in which the
// pattern can match. Of a [Walker], such as an object store, it asks for whole
// trees at once where the pattern can match at any depth. The directories of an
// [Opener], such as a local folder, are listed by several workers.
//
// Grep always has several workers, which list directories and search files side by
// side. They share a heap of tasks in order of paths, so that a search with a
// limit stays near the beginning of the tree, and a collector, which keeps the
// first results in that order. Package lines finds the lines.
//
// Both read the ".gitignore" files on their way if the options ask for it.
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
	// The caller may keep the slice and must not change it.
	//
	// Errors are [*io/fs.PathError]s with dir as their Path.
	List(ctx context.Context, dir string, top bool) ([]Child, error)
	// Read returns the content of the file name, which the caller must not
	// change. It may lie in scratch, which Read may grow, and is then valid
	// until the next Read with the same scratch.
	Read(ctx context.Context, name string, scratch *[]byte, opts ReadOptions) ([]byte, error)
	// Stat describes name, following a symlink.
	Stat(ctx context.Context, name string) (workspace.FileType, error)
}

// Walker is a Source that lists a tree at less than the cost of listing each of
// its directories. It must have no symlinks: Glob calls Lookup, which follows
// them, for the names that a pattern spells out.
type Walker interface {
	Source
	// Walk is [workspace.Walker].Walk. It calls visit for the paths that are
	// greater than after.
	Walk(ctx context.Context, dir, after string, visit func(workspace.FileInfo) error) error
	// Lookup is Stat, but what is below a file may be [fs.ErrNotExist].
	Lookup(ctx context.Context, name string) (workspace.FileType, error)
	// WasFile reports whether name is known to have been a file. It costs nothing.
	WasFile(name string) bool
}

// Opener is a Source that can open a directory once for its listing and its files, at less
// than the cost of finding each by its path.
type Opener interface {
	Source
	// OpenDir opens a directory. The error is that of List.
	OpenDir(dir string, top bool) (Dir, error)
}

// Dir is a directory that is open until Close. It is for one goroutine.
type Dir interface {
	// List is that of [Source], in any order.
	List(ctx context.Context) ([]Child, error)
	// Read is that of [Source], for the path of a child. A symlink is
	// [workspace.ErrSymlink].
	Read(ctx context.Context, path string, scratch *[]byte, opts ReadOptions) ([]byte, error)
	Close() error
}

// Sieve is a Dir that knows, without reading them, of files in which nothing matches.
type Sieve interface {
	Dir
	// Lacks reports whether the file name, a child, is known to be a text in which the
	// pattern of the search matches nothing, and within the search's limit of the size.
	// It is called in the order of List.
	Lacks(name string) bool
	// Sub returns the directory dir, which is below this one, if as much is known of
	// it, and nil if not.
	Sub(dir string) Sieve
}

// Tree is a Dir that knows of what is below it without opening that. Its directories have
// numbers in order of their paths with a slash at the end, so that each comes before what is
// below it; 0 is the Dir itself. A Tree may be used by many goroutines.
type Tree interface {
	// Size returns how many directories there are.
	Size() int
	// Dir describes the directory n. What is below it has the numbers up to end. Of one that is
	// not known nothing below it has a number.
	Dir(n int) (path string, end int, known bool)
	// Children calls yield for each child of the directory n, which is known, in order of
	// their names, until that returns false.
	Children(n int, yield func(Child) bool)
	// Left appends to names the files of the directory n, which is known, that must be
	// searched, and returns how many are left out: those for which a Sieve's Lacks returns true.
	Left(n int, names []string) (left []string, lacking int)
	// Open returns the directory n, which is known.
	Open(n int) Dir
}

// unopened is a Dir of a Source that is no [Opener].
type unopened struct {
	Source
	dir *dirState
}

// List implements [Dir].
func (d unopened) List(ctx context.Context) ([]Child, error) {
	return d.Source.List(ctx, d.dir.path, d.dir.top)
}

// Close implements [Dir].
func (unopened) Close() error { return nil }

// ReadOptions say how a file is read.
type ReadOptions struct {
	// Limit makes a larger file [workspace.ErrTooLarge], before it is read.
	// Zero means no limit.
	Limit int64
	// Top says that the search begins at this file, as for List.
	Top bool
	// Text lets Read return only the beginning of a file that internal/lines
	// calls binary.
	Text bool
	// Lines, if it is not nil, lets Read return only some lines of the file,
	// with all that match among them, and set it to the numbers of these lines.
	Lines *[]int
	// Enough, if it is not nil, lets Read return only the beginning of a file,
	// once that is at least 8 KiB for which Enough returns true.
	Enough func(head []byte) bool
	// Known is the file's description from a Walk. Nil means that there is
	// none.
	Known *workspace.FileInfo
}

// Child is one entry of a directory.
type Child struct {
	Name string
	Type workspace.FileType
}

// UnnamedFile and UnnamedDirectory are the types of children whose paths are
// not valid names. No call can reach them, so they appear in a List only, and
// Grep lists the directory that holds them as skipped.
const (
	UnnamedFile      workspace.FileType = "unnamed file"
	UnnamedDirectory workspace.FileType = "unnamed directory"
)

// Unnamed returns the type of something of type t whose path is not a valid
// name. It returns false for types that no search looks into.
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
