package workspace

import (
	"errors"
	"io/fs"
)

// The kinds of error, beside [fs.ErrNotExist], [fs.ErrExist],
// [fs.ErrPermission], [fs.ErrInvalid], [errors.ErrUnsupported] and the errors
// of a context. Ask for them with [errors.Is].
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
	ErrTooLarge = errors.New("file too large")
	// ErrBinary says that a file is not text where text is needed.
	ErrBinary = errors.New("binary file")
	// ErrEscape says that a name leads out of the workspace. It is also
	// [fs.ErrInvalid].
	ErrEscape error = refinement{text: "name leads out of the workspace", of: fs.ErrInvalid}
	// ErrSymlink says that a name has a symlink in it, where none is followed
	// ([Exacter]). It is also [fs.ErrInvalid].
	ErrSymlink error = refinement{text: "name has a symlink in it", of: fs.ErrInvalid}
	// ErrPattern says that a pattern is malformed or too costly.
	ErrPattern = errors.New("invalid pattern")
	// ErrUnavailable says that a store cannot be reached just now. A retry may
	// succeed.
	ErrUnavailable = errors.New("temporarily unavailable")
	// ErrNoSpace says that the store has no space left, or that a quota has been
	// reached. Nothing was written.
	ErrNoSpace = errors.New("no space left")
	// ErrPolicy says that a policy forbids the operation. It is also
	// [fs.ErrPermission].
	ErrPolicy error = refinement{text: "forbidden by policy", of: fs.ErrPermission}
	// ErrTextNotFound says that the text to replace does not occur.
	ErrTextNotFound = errors.New("text not found")
	// ErrTextNotUnique says that the text to replace occurs more than once.
	ErrTextNotUnique = errors.New("text not unique")
)

// refinement is a kind that is a special case of another kind.
type refinement struct {
	text string
	of   error
}

func (r refinement) Error() string        { return r.text }
func (r refinement) Is(target error) bool { return target == r.of }

// NewPathError returns the one form in which this module reports an error: a
// [*fs.PathError] for the caller's op and name, in which both kind and cause
// can be found with [errors.Is] and [errors.As]. kind is nil if the cause
// belongs to no kind. cause is nil if there is nothing to add to kind; its
// text becomes part of the message, so it must not show a host path, a key or
// a credential.
func NewPathError(op, name string, kind, cause error) error {
	return &fs.PathError{Op: op, Path: name, Err: joinKind(kind, cause)}
}

func joinKind(kind, cause error) error {
	switch {
	case kind == nil && cause == nil:
		return errors.New("unknown error")
	case kind == nil:
		return cause
	case cause == nil || kind == cause:
		return kind
	}
	return &kindError{kind: kind, cause: cause}
}

// kindError is a kind and its cause.
type kindError struct {
	kind, cause error
	only        bool // the message is the cause's alone
}

func (e *kindError) Error() string {
	if e.only {
		return e.cause.Error()
	}
	return e.kind.Error() + ": " + e.cause.Error()
}

func (e *kindError) Unwrap() []error { return []error{e.kind, e.cause} }

// RenameError returns err with another name, for a wrapper that shows its files
// under other names: if err is a [*fs.PathError], the result has the Path name,
// and the Op op unless that is empty. Any other err is returned as it is.
func RenameError(err error, op, name string) error {
	var pathError *fs.PathError
	if !errors.As(err, &pathError) {
		return err
	}
	if op == "" {
		op = pathError.Op
	}
	return &fs.PathError{Op: op, Path: name, Err: pathError.Err}
}
