package workspace

import "context"

// FileSystem is the interface of a provider: nine methods over a tree of files
// and directories. Everything else in this module is built on them.
//
// Names follow [io/fs]: unrooted, slash-separated, "." for the root, without empty,
// "." and ".." elements ([io/fs.ValidPath]). They are valid UTF-8 without a NUL byte,
// at most 4,096 bytes long, with elements of at most 255 bytes, as in common file
// systems, that do not begin with ".workspacekit-tmp-", the prefix of the providers'
// temporary files. A provider refuses any other name and never repairs it;
// [*Workspace] repairs names.
//
// # Guarantees
//
// Every method is safe for concurrent use, checks ctx before it does anything
// and again between steps, copies bytes in and out, and accepts nil options,
// which mean the zero options. An option that a provider cannot honour is
// [errors.ErrUnsupported], never ignored.
//
// # Errors
//
// Every error is a [*io/fs.PathError] whose Op is the name of the operation, such
// as "read_file", and whose Path is the name at fault as the caller gave it, or the
// pattern or glob if that is at fault.
// Each method lists its own kinds; every method may also return:
//   - [io/fs.ErrInvalid] for a name that is not valid, a nonsensical option
//     (a negative limit), or a name that the store cannot hold;
//   - [ErrEscape], which is also [io/fs.ErrInvalid], for a name with a ".."
//     element or one that a symlink leads out of the workspace;
//   - [ErrNotDir] if an element in the middle of the name is not a directory;
//   - [io/fs.ErrPermission] if the store refuses;
//   - [ErrNoSpace] if the store is full;
//   - [ErrUnavailable] if the store cannot do it just now;
//   - [io/fs.ErrClosed] once the FileSystem has been closed;
//   - the error of ctx, once ctx has ended.
type FileSystem interface {
	// ReadFile returns the whole content of the file name. A symlink is
	// followed. The caller may change the slice.
	//
	// # Errors
	//
	// [io/fs.ErrNotExist] if name does not exist, [ErrIsDir] if it is a
	// directory.
	ReadFile(ctx context.Context, name string) ([]byte, error)

	// WriteFile gives the file name the content data. It creates the file and
	// its missing parents, or replaces the content of an existing file. Empty
	// data is content. It returns the new version.
	//
	// The write is atomic: a reader sees the old bytes or the new ones, whole,
	// also after the writing process was killed. What a crash of the system
	// leaves is for the store to promise: a local folder does so only if it
	// flushes each write. Replacing keeps the permission bits of the file. A
	// symlink is followed and stays a symlink. data is not retained.
	//
	// # Errors
	//
	// [ErrIsDir] if name is a directory, [io/fs.ErrExist] or [ErrConflict] if
	// a condition of opts does not hold, [errors.ErrUnsupported] if opts has a
	// condition and [Capabilities].ConditionalWrite is false. A refusal leaves the
	// file as it was. After the error of ctx, [ErrUnavailable] or an error of no
	// kind named here, the write may have taken place.
	WriteFile(ctx context.Context, name string, data []byte, opts *WriteOptions) (Version, error)

	// Ls returns the direct children of dir, sorted bytewise by name. A
	// symlink to a directory may be listed; its children are described as
	// children of dir.
	//
	// # Errors
	//
	// [io/fs.ErrNotExist] if dir does not exist (a missing directory is never
	// an empty list), [ErrNotDir] if it is not a directory.
	Ls(ctx context.Context, dir string, opts *LsOptions) ([]FileInfo, error)

	// Glob returns the paths, from the root and sorted bytewise, of the files
	// and symlinks below opts.Dir that pattern matches; see [GlobOptions] for
	// the dialect. A pattern that ends in "/" returns directories instead,
	// without the slash. Names that begin with a dot are matched like any
	// other. Symlinks below opts.Dir are not followed. Directories below it that
	// cannot be read are left out. No match is an empty list.
	//
	// # Errors
	//
	// [ErrPattern] if pattern is malformed, absolute, has an empty or "."
	// element, has more than 4,096 bytes, or multiplies into too many
	// alternatives, [ErrEscape] if it has a ".." element;
	// [io/fs.ErrNotExist] if opts.Dir does not exist, [ErrNotDir] if it is not
	// a directory.
	Glob(ctx context.Context, pattern string, opts *GlobOptions) ([]string, error)

	// Grep searches the files at or below opts.Path for lines that match
	// pattern, an RE2 regular expression (https://github.com/google/re2/wiki/Syntax)
	// applied to one line at a time, unless opts.Multiline is set. The pattern does
	// not see a "\r" at the end of a line, so that "$" matches before it, unless it
	// spells out a "\r" outside a class of several characters. Matches are sorted
	// bytewise by path, then by line; a limit keeps the first of that order. Symlinks
	// below opts.Path are not followed. Files and directories that could not be
	// searched are listed in [GrepResult].Skipped.
	//
	// # Errors
	//
	// [ErrPattern] if pattern is malformed, or asks for a line break without
	// opts.Multiline, [ErrPattern] or [ErrEscape] if Glob would refuse a glob of
	// opts without the "/" in front; [io/fs.ErrNotExist] if opts.Path does not exist.
	// A search that fails is an error, never an empty result.
	Grep(ctx context.Context, pattern string, opts *GrepOptions) (*GrepResult, error)

	// Stat describes name itself: a symlink is described, not followed.
	// Symlinks in the middle of name are followed.
	//
	// # Errors
	//
	// [io/fs.ErrNotExist] if name does not exist.
	Stat(ctx context.Context, name string) (FileInfo, error)

	// Rm removes the file name, the symlink name itself, or the empty
	// directory name; with opts.Recursive a directory and all below it.
	// Removing the last file of a directory leaves the directory.
	//
	// # Errors
	//
	// [io/fs.ErrNotExist] if name does not exist, with opts.Recursive too;
	// [ErrNotEmpty] if it is a directory with children and opts.Recursive is
	// not set; [io/fs.ErrInvalid] for the root.
	Rm(ctx context.Context, name string, opts *RmOptions) error

	// Mkdir creates the directory name. With opts.Recursive it also creates
	// missing parents, and succeeds if the directory exists. An empty directory
	// exists and is listed.
	//
	// # Errors
	//
	// [io/fs.ErrExist] if name exists; with opts.Recursive, [ErrNotDir] if
	// name exists and is not a directory. Without opts.Recursive,
	// [io/fs.ErrNotExist] if the parent does not exist.
	Mkdir(ctx context.Context, name string, opts *MkdirOptions) error

	// Watch reports the changes below dir, at any depth, that happen after it
	// returns, whoever makes the change. The provider closes the channel, and only
	// once ctx has ended. If more than opts.Buffer events wait for the reader,
	// one [EventOverflow] event takes the place of those that are dropped.
	// [Event] says which changes are reported.
	//
	// # Errors
	//
	// [io/fs.ErrNotExist] if dir does not exist, [ErrNotDir] if it is not a
	// directory, [errors.ErrUnsupported] if [Capabilities].Watch is [WatchNone].
	Watch(ctx context.Context, dir string, opts *WatchOptions) (<-chan Event, error)
}
