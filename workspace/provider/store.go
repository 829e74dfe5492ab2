package provider

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

// Store is what a provider implements: six methods over a tree of files and
// directories. They mean what the methods of [workspace.FileSystem] with the
// same names mean, and [FS] does for each of them what the contract asks of
// every provider. A method can rely on this:
//
//   - Names are valid ([ValidName]). Rm is never called for the root.
//   - Options are values, and checked: no negative limit, no two conditions.
//   - ctx had not ended, and the FS was not closed, when the call began. A
//     method still obeys ctx while it waits, and between steps.
//   - What [Facts] do not declare is never asked for: no change without Write,
//     no condition without ConditionalWrite.
//
// And it may leave this out:
//
//   - An error need not be a [*io/fs.PathError]. Any error works that is a kind
//     of the contract for [errors.Is], and an error number of the operating
//     system does, too. [Errorf] adds a text that a caller may see; any other
//     text is withheld. [At] names the second name of a Move or Copy.
//   - An empty result may be nil.
//
// The methods are called concurrently.
type Store interface {
	// ReadFile returns the content of the file name, which the caller may
	// change, and the version of exactly these bytes, "" without Versions. A
	// file larger than limit bytes need not be read: [workspace.ErrTooLarge].
	// Zero means no limit.
	ReadFile(ctx context.Context, name string, limit int64) ([]byte, workspace.Version, error)
	// WriteFile replaces or creates the file name, atomically, with its missing
	// parents. It must not retain data.
	WriteFile(ctx context.Context, name string, data []byte, opts workspace.WriteOptions) (workspace.Version, error)
	// Ls returns the children of dir that opts choose, sorted bytewise by name.
	// Names that are not valid are left out.
	Ls(ctx context.Context, dir string, opts workspace.LsOptions) ([]workspace.FileInfo, error)
	// Stat describes name itself, without following it if it is a symlink.
	Stat(ctx context.Context, name string) (workspace.FileInfo, error)
	// Rm removes name, which is not the root.
	Rm(ctx context.Context, name string, opts workspace.RmOptions) error
	// Mkdir creates the directory name.
	Mkdir(ctx context.Context, name string, opts workspace.MkdirOptions) error
}

// A Store implements any of the interfaces below if it can do better than what
// [FS] does without.
type (
	// Globber searches names. opts.Dir is never empty. The pattern has not been
	// checked. Without a Globber, FS lists the directories in which the pattern
	// can match.
	Globber interface {
		Glob(ctx context.Context, pattern string, opts workspace.GlobOptions) ([]string, error)
	}
	// Grepper searches contents. opts.Path is never empty. The pattern and the
	// globs have not been checked. Without a Grepper, FS reads every file that
	// the globs leave over.
	Grepper interface {
		Grep(ctx context.Context, pattern string, opts workspace.GrepOptions) (*workspace.GrepResult, error)
	}
	// Watcher reports changes, best by [NewEvents]. opts.Buffer is never zero. Without a Watcher, FS
	// walks the tree at every interval, if Facts declare a watch.
	Watcher interface {
		Watch(ctx context.Context, dir string, opts workspace.WatchOptions) (<-chan workspace.Event, error)
	}
	// ContentReader reads a file without its version, for a store where a
	// version costs extra. Without a ContentReader, FS calls [Store].ReadFile.
	ContentReader interface {
		ReadContent(ctx context.Context, name string) ([]byte, error)
	}
	// Opener streams a window of a file. FS ends the stream with ctx; a Read
	// that waits must obey ctx itself. Without an Opener, FS reads the file
	// whole.
	Opener interface {
		Open(ctx context.Context, name string, opts workspace.OpenOptions) (io.ReadCloser, workspace.FileInfo, error)
	}
	// Creator writes a file from a stream. FS fails a Write or Commit once ctx
	// has ended, or after Commit, Close or a Write that failed. Without a Creator,
	// FS collects the bytes for a WriteFile.
	Creator interface {
		Create(ctx context.Context, name string, opts workspace.WriteOptions) (workspace.Writer, error)
	}
	// Mover moves within the store. source is never the root. The Store itself refuses a
	// destination that exists, and one below a directory source. A Store that declares Move
	// needs it.
	Mover interface {
		Move(ctx context.Context, source, destination string) error
	}
	// Copier copies within the store. A Store that declares Copy without
	// ConditionalWrite needs it. Without a Copier, FS copies through the caller.
	Copier interface {
		Copy(ctx context.Context, source, destination string) (workspace.Version, error)
	}
	// Walker lists a tree. Without a Walker, FS lists each directory.
	Walker interface {
		Walk(ctx context.Context, dir string, opts workspace.WalkOptions, fn workspace.WalkFunc) error
	}
	// Resolver follows symlinks. A Store with symlinks needs it, and an
	// Exacter.
	Resolver interface {
		Resolve(ctx context.Context, name string) (string, error)
	}
	// Runner runs commands on the machine where the files are. The options are checked
	// ([workspace.Runner] says how), Dir is never empty, Env and the streams may be
	// nil, and Duration of the result is set by FS. When ctx ends, it kills the
	// command and everything that it has started, and returns when these processes
	// have ended: FS ends ctx also if a stream fails, so it need not look at what Write
	// returns. It does not wait for a Read of Stdin that has begun. A Store that declares
	// Run needs it.
	Runner interface {
		Run(ctx context.Context, opts workspace.RunOptions) (*workspace.RunResult, error)
	}
	// Exacter returns the same store without following symlinks, as
	// [workspace.Exacter] describes it.
	Exacter interface {
		Exact() (Store, error)
	}
)

// ValidName reports whether a [workspace.FileSystem] accepts name, by the rules that it
// has for names: for a store that lists names that others have made.
//
// Bytes that are unusual but legal in file names (backslashes, newlines,
// control characters, leading dashes) are valid.
func ValidName(name string) bool { return ops.ValidName(name) }

// CheckWrite returns the error of a write with opts to a name, where info and
// err are what Stat returns for that name. It returns nil if the write may create
// or replace the file. A store for which Stat and write are not one step needs a
// lock around both.
//
// A missing file fails IfVersion, and not with [io/fs.ErrNotExist]: for its
// writer, the file has changed.
func CheckWrite(info workspace.FileInfo, err error, opts workspace.WriteOptions) error {
	exists := err == nil
	switch {
	case !exists && !errors.Is(err, fs.ErrNotExist):
		return err
	case exists && opts.IfNotExist:
		return fs.ErrExist
	case exists && info.IsDir():
		return workspace.ErrIsDir
	case opts.IfVersion != "" && info.Version != opts.IfVersion:
		return workspace.ErrConflict
	}
	return nil
}

// CheckMkdir returns the error of a Mkdir with opts, where info and err are
// what Stat returns for the name. It returns nil if the directory may be
// created, or exists and that is enough. Whether the parents exist is for the
// store to check.
func CheckMkdir(info workspace.FileInfo, err error, opts workspace.MkdirOptions) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !opts.Recursive:
		return fs.ErrExist
	case !info.IsDir():
		return workspace.ErrNotDir
	}
	return nil
}

// Page sorts infos, the children of a directory, and returns those that opts
// choose. It changes infos. Names are compared as bytes. A Limit of zero means
// all, an empty After means from the beginning. It is for a store that has all
// children anyway: one that can ask for a page should.
func Page(infos []workspace.FileInfo, opts workspace.LsOptions) []workspace.FileInfo {
	infos = slices.DeleteFunc(infos, func(info workspace.FileInfo) bool { return info.Name <= opts.After })
	slices.SortFunc(infos, func(a, b workspace.FileInfo) int { return strings.Compare(a.Name, b.Name) })
	if opts.Limit > 0 {
		infos = infos[:min(opts.Limit, len(infos))]
	}
	return infos
}
