package workspace

import (
	"errors"
	"io/fs"

	"github.com/workspacekit/workspacekit/internal/ops"
)

// The kinds of error, besides [fs.ErrNotExist], [fs.ErrExist],
// [fs.ErrPermission], [fs.ErrInvalid], [fs.ErrClosed], [errors.ErrUnsupported] and
// the errors of a context. Ask for them with [errors.Is].
var (
	// ErrIsDir says that a name is a directory where a file is needed.
	ErrIsDir = errors.New("is a directory")
	// ErrNotDir says that a name, or an element in the middle of it, is not a
	// directory where one is needed.
	ErrNotDir = errors.New("not a directory")
	// ErrNotEmpty says that a directory has children.
	ErrNotEmpty = errors.New("directory not empty")
	// ErrConflict says that a file no longer has the expected version, or no
	// longer exists.
	ErrConflict = errors.New("file has changed")
	// ErrTooLarge says that a file is larger than a limit.
	ErrTooLarge = ops.ErrTooLarge
	// ErrBinary says that a file is not text where text is needed.
	ErrBinary = errors.New("binary file")
	// ErrEscape says that a name leads out of the workspace. It is also
	// [fs.ErrInvalid].
	ErrEscape = ops.ErrEscape
	// ErrSymlink says that a name has a symlink in it, where none is followed
	// ([Exacter]). It is also [fs.ErrInvalid].
	ErrSymlink error = ops.Refinement{Text: "name has a symlink in it", Of: fs.ErrInvalid}
	// ErrPattern says that a pattern is malformed or too costly.
	ErrPattern = errors.New("invalid pattern")
	// ErrUnavailable says that an operation cannot be done just now, as when a
	// store cannot be reached or a file changes all the time. A retry may succeed.
	ErrUnavailable = errors.New("temporarily unavailable")
	// ErrNoSpace says that the store has no space left, or that a quota of the store
	// has been reached. Nothing was written. The quotas of package quota are [ErrPolicy].
	ErrNoSpace = errors.New("no space left")
	// ErrPolicy says that a policy forbids the operation. It is also
	// [fs.ErrPermission].
	ErrPolicy error = ops.Refinement{Text: "forbidden by policy", Of: fs.ErrPermission}
)
