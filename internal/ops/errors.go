package ops

import (
	"errors"
	"io/fs"
)

// The kinds that the checks of this package return. Package workspace exports
// them.
var (
	ErrEscape   error = Refinement{"name leads out of the workspace", fs.ErrInvalid}
	ErrTooLarge       = errors.New("file too large")
)

// Refinement is a kind that is a special case of another kind.
type Refinement struct {
	Text string
	Of   error
}

// Error implements error.
func (r Refinement) Error() string { return r.Text }

// Is makes the refinement equal to what it refines, for [errors.Is].
func (r Refinement) Is(target error) bool { return target == r.Of }

// Error returns the one form in which this module reports an error: a
// [*fs.PathError] for the caller's op and name, in which both kind and cause
// can be found with [errors.Is] and [errors.As]. kind is nil if the cause
// belongs to no kind. cause is nil if there is nothing to add to kind; its
// text becomes part of the message, so it must not show a host path, a key or
// a credential.
func Error(op, name string, kind, cause error) error {
	return &fs.PathError{Op: op, Path: name, Err: joinKind(kind, cause)}
}

// IsShown reports whether err, the Err of a [*fs.PathError], has a cause that was given to
// [Error]: its text may be shown.
func IsShown(err error) bool {
	_, ok := err.(*kindError)
	return ok
}

// joinKind returns an error with a kind and a cause, or the kind alone.
func joinKind(kind, cause error) error {
	switch {
	case kind == nil && cause == nil:
		return errors.New("unknown error")
	case kind == nil:
		return &kindError{cause: cause, only: true}
	case cause == nil || kind == cause:
		return kind
	}
	return &kindError{kind: kind, cause: cause}
}

// kindError is a kind, which may be nil, and its cause.
type kindError struct {
	kind, cause error
	only        bool // the message is the cause's alone
}

// Error returns the texts of the kind and of the cause, or the cause's alone.
func (e *kindError) Error() string {
	if e.only {
		return e.cause.Error()
	}
	return e.kind.Error() + ": " + e.cause.Error()
}

// Unwrap returns kind and cause, so that [errors.Is] finds both.
func (e *kindError) Unwrap() []error { return []error{e.kind, e.cause} }

// Rename returns err with another name, for a wrapper that shows its files
// under other names: if err is a [*fs.PathError], the result has the Path name,
// and the Op op unless that is empty. Any other err is returned as it is.
func Rename(err error, op, name string) error {
	var pathError *fs.PathError
	if !errors.As(err, &pathError) {
		return err
	}
	if op == "" {
		op = pathError.Op
	}
	return &fs.PathError{Op: op, Path: name, Err: pathError.Err}
}

// Remedy is an error whose text is what a person can do about it: "create the
// folder first". As the cause of [Error], it is both a part of the text and what
// [RemedyOf] returns.
type Remedy string

// Error implements error.
func (r Remedy) Error() string { return string(r) }

// Remedy returns the text of r.
func (r Remedy) Remedy() string { return string(r) }

// RemedyOf returns what a person can do about err: what the first error in its
// tree returns that has a method Remedy() string. It returns "" if there is none.
func RemedyOf(err error) string {
	if known, ok := errors.AsType[interface {
		error
		Remedy() string
	}](err); ok {
		return known.Remedy()
	}
	return ""
}

// Path returns the Path of the [*fs.PathError] in err, "" if there is none.
func Path(err error) string {
	if known, ok := errors.AsType[*fs.PathError](err); ok {
		return known.Path
	}
	return ""
}
