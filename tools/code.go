package tools

import (
	"context"
	"errors"
	"io/fs"

	"github.com/workspacekit/workspacekit/tools/internal/edit"
	"github.com/workspacekit/workspacekit/workspace"
)

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
	// CodeInvalidArguments says that the arguments of a call are not what the
	// tool's InputSchema describes, or contradict each other. No file was touched.
	CodeInvalidArguments Code = "INVALID_ARGUMENTS"
)

// CodeOf returns the code of the most specific kind of err, and [CodeInternal] for
// an error of no kind. CodeOf(nil) is empty.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	for _, kind := range kinds {
		if errors.Is(err, kind.err) {
			return kind.code
		}
	}
	return CodeInternal
}

// kinds lists special cases before the kinds that they refine.
var kinds = [...]struct {
	err  error
	code Code
}{
	{context.DeadlineExceeded, CodeTimeout},
	{context.Canceled, CodeCanceled},
	{workspace.ErrPolicy, CodePolicy},
	{workspace.ErrEscape, CodeInvalid},
	{workspace.ErrPattern, CodePattern},
	{edit.ErrTextNotFound, CodeTextNotFound},
	{edit.ErrTextNotUnique, CodeTextNotUnique},
	{workspace.ErrConflict, CodeConflict},
	{workspace.ErrTooLarge, CodeTooLarge},
	{workspace.ErrBinary, CodeBinary},
	{workspace.ErrIsDir, CodeIsDir},
	{workspace.ErrNotDir, CodeNotDir},
	{workspace.ErrNotEmpty, CodeNotEmpty},
	{workspace.ErrNoSpace, CodeNoSpace},
	{workspace.ErrUnavailable, CodeUnavailable},
	{errors.ErrUnsupported, CodeUnsupported},
	{fs.ErrNotExist, CodeNotExist},
	{fs.ErrExist, CodeExist},
	{fs.ErrPermission, CodePermission},
	{fs.ErrInvalid, CodeInvalid},
	{fs.ErrClosed, CodeUnavailable},
}

// Retryable reports whether the same call may succeed later although the caller
// changes nothing.
func (c Code) Retryable() bool {
	return c == CodeUnavailable || c == CodeTimeout
}
