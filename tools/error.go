package tools

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/workspacekit/workspacekit/internal/errcode"
	"github.com/workspacekit/workspacekit/tools/internal/edit"
	"github.com/workspacekit/workspacekit/workspace/patch"
)

// Error is a failed call, told to a model.
type Error struct {
	// Code is the stable kind of the error: what [CodeOf] returns, or
	// [CodeInvalidArguments].
	Code Code `json:"code"`
	// Message says what went wrong.
	Message string `json:"message"`
	// Path is the name at fault, empty if there is none.
	Path string `json:"path,omitempty"`
	// Hint says what to do instead, if there is something to say.
	Hint string `json:"hint,omitempty"`
	// Retryable says that the same call may succeed later.
	Retryable bool `json:"retryable"`
}

// Error implements the error interface.
func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }

func (e *Error) text() string {
	if e.Hint == "" {
		return e.Error()
	}
	return e.Error() + "\n" + e.Hint
}

// argumentError says that arguments are not what a tool takes.
type argumentError struct {
	message, hint string
}

func (e *argumentError) Error() string { return e.message }

// hintedError is an error that knows what to do about it.
type hintedError struct {
	err  error
	hint string
}

func (e *hintedError) Error() string { return e.err.Error() }
func (e *hintedError) Unwrap() error { return e.err }

// explain makes of err what a model is told.
func (ts *toolset) explain(ctx context.Context, op string, err error) *Error {
	var bad *argumentError
	if errors.As(err, &bad) {
		return &Error{Code: CodeInvalidArguments, Message: clip(bad.message, errorChars), Hint: clip(bad.hint, errorChars)}
	}
	path, message := describe(err)
	code := CodeOf(err)
	hint := ts.hint
	if ts.dialect.plain {
		hint = ts.plainHint
	}
	hinted := clip(hint(ctx, op, path, code, err), errorChars)
	if ts.dialect.code != nil {
		code = ts.dialect.code(code)
	}
	return &Error{
		Code:      code,
		Message:   clip(message, errorChars),
		Path:      clip(path, pathChars),
		Hint:      hinted,
		Retryable: code.Retryable(),
	}
}

// timedOut is what a model is told about a call that took too long.
func (ts *toolset) timedOut(op string) *Error {
	return &Error{
		Code:      CodeTimeout,
		Message:   fmt.Sprintf("the call took longer than %v and was stopped", ts.timeout),
		Hint:      ts.timeoutHint(op),
		Retryable: CodeTimeout.Retryable(),
	}
}

// describe returns the path of err and its text without the operation, which
// the model knows.
func describe(err error) (path, message string) {
	var pathError *fs.PathError
	var worded *wordedError
	switch {
	case !errors.As(err, &pathError):
		return "", err.Error()
	case errors.As(err, &worded):
		return pathError.Path, worded.text
	}
	if all := causes(err); len(all) > 1 {
		lines := []string{fmt.Sprintf("%d errors", len(all))}
		for _, one := range all {
			_, line := describe(one)
			lines = append(lines, line)
		}
		return pathError.Path, strings.Join(lines, "\n")
	}
	return pathError.Path, clip(pathError.Path, pathChars) + ": " + pathError.Err.Error()
}

// causes returns the errors of several files that were joined to err.
func causes(err error) []error {
	var hinted *hintedError
	if errors.As(err, &hinted) {
		err = hinted.err
	}
	if _, one := err.(*fs.PathError); one {
		return nil
	}
	joined, _ := err.(interface{ Unwrap() []error })
	if joined == nil {
		return nil
	}
	return joined.Unwrap()
}

// Code is the stable name of a kind of error on the wire: in tool results,
// audit records and protocols.
type Code string

// The codes. They are never renamed.
const (
	CodeNotExist      Code = "FILE_NOT_FOUND"
	CodeExist         Code = "FILE_ALREADY_EXISTS"
	CodePermission    Code = "PERMISSION_DENIED"
	CodeNotEmpty      Code = "DIRECTORY_NOT_EMPTY"
	CodeInvalid       Code = "INVALID_PATH"
	CodeIsDir         Code = "IS_A_DIRECTORY"
	CodeNotDir        Code = "NOT_A_DIRECTORY"
	CodePattern       Code = "INVALID_PATTERN"
	CodeTextNotFound  Code = "PATTERN_NOT_FOUND"
	CodeTextNotUnique Code = "PATTERN_NOT_UNIQUE"
	CodeTooLarge      Code = "FILE_TOO_LARGE"
	CodeBinary        Code = "BINARY_FILE"
	CodeConflict      Code = "VERSION_CONFLICT"
	CodePolicy        Code = "POLICY_DENIED"
	CodeNoSpace       Code = "NO_SPACE"
	CodeUnsupported   Code = "UNSUPPORTED"
	CodeUnavailable   Code = "UNAVAILABLE"
	CodeTimeout       Code = "TIMEOUT"
	CodeCanceled      Code = "CANCELED"
	CodeInternal      Code = "INTERNAL"
	// CodeReadRequired says that a file has to be read before it is changed: see
	// [Options].ReadBeforeWrite.
	CodeReadRequired Code = "READ_REQUIRED"
	// CodeInvalidArguments says that the arguments of a call are not what the
	// tool's InputSchema describes, or contradict each other. No file was touched.
	CodeInvalidArguments Code = "INVALID_ARGUMENTS"
)

// CodeOf returns the code of the most specific kind of err, and [CodeInternal] for
// an error of no kind. CodeOf(nil) is empty.
func CodeOf(err error) Code {
	for _, kind := range kinds {
		if errors.Is(err, kind.err) {
			return kind.code
		}
	}
	return Code(errcode.Of(err))
}

// kinds are the kinds of errors that only the tools have.
var kinds = [...]struct {
	err  error
	code Code
}{
	{errReadRequired, CodeReadRequired},
	{edit.ErrTextNotFound, CodeTextNotFound},
	{edit.ErrTextNotUnique, CodeTextNotUnique},
	{edit.ErrPattern, CodePattern},
	{patch.ErrMismatch, CodeTextNotFound},
}

// Retryable reports whether the same call may succeed later although the caller
// changes nothing.
func (c Code) Retryable() bool {
	return c == CodeUnavailable || c == CodeTimeout
}
