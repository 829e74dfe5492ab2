// Package errcode names the kinds of errors of package workspace. In goes an error,
// out comes the stable code that package tools tells a model and that logs keep:
// FILE_NOT_FOUND for [fs.ErrNotExist]. Layers below the tools use it, too, which
// must not import them.
package errcode

import (
	"context"
	"errors"
	"io/fs"

	"github.com/workspacekit/workspacekit/workspace"
)

// Internal is the code of an error of no kind.
const Internal = "INTERNAL"

// kinds lists special cases before the kinds that they refine.
//
// An error can be of several kinds: [workspace.ErrEscape] is also [fs.ErrInvalid], and
// [workspace.ErrPolicy] is [fs.ErrPermission]. The first kind in the list that it is of has
// the code. Codes are for good: logs and clients know them.
var kinds = [...]struct {
	err  error
	code string
}{
	{context.DeadlineExceeded, "TIMEOUT"},
	{context.Canceled, "CANCELED"},
	{workspace.ErrPolicy, "POLICY_DENIED"},
	{workspace.ErrEscape, "INVALID_PATH"},
	{workspace.ErrPattern, "INVALID_PATTERN"},
	{workspace.ErrConflict, "VERSION_CONFLICT"},
	{workspace.ErrTooLarge, "FILE_TOO_LARGE"},
	{workspace.ErrBinary, "BINARY_FILE"},
	{workspace.ErrIsDir, "IS_A_DIRECTORY"},
	{workspace.ErrNotDir, "NOT_A_DIRECTORY"},
	{workspace.ErrNotEmpty, "DIRECTORY_NOT_EMPTY"},
	{workspace.ErrNoSpace, "NO_SPACE"},
	{workspace.ErrUnavailable, "UNAVAILABLE"},
	{errors.ErrUnsupported, "UNSUPPORTED"},
	{fs.ErrNotExist, "FILE_NOT_FOUND"},
	{fs.ErrExist, "FILE_ALREADY_EXISTS"},
	{fs.ErrPermission, "PERMISSION_DENIED"},
	{fs.ErrInvalid, "INVALID_PATH"},
	{fs.ErrClosed, "UNAVAILABLE"},
}

// Of returns the code of the most specific kind of err, [Internal] for an error of no kind,
// and "" for nil. It looks through wrapped errors, as [errors.Is] does.
func Of(err error) string {
	if err == nil {
		return ""
	}
	for _, kind := range kinds {
		if errors.Is(err, kind.err) {
			return kind.code
		}
	}
	return Internal
}

// Uncertain reports whether an operation that failed with err may have changed something: only
// the other kinds say that nothing was changed.
func Uncertain(err error) bool {
	switch Of(err) {
	case "TIMEOUT", "CANCELED", "UNAVAILABLE", Internal:
		return true
	}
	return errors.Is(err, workspace.ErrUnavailable)
}
