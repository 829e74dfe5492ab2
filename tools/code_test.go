package tools_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/tools/internal/edit"
	"github.com/workspacekit/workspacekit/workspace"
)

func TestCodeOf(t *testing.T) {
	for _, test := range []struct {
		err       error
		want      tools.Code
		retryable bool
	}{
		{nil, "", false},
		{fs.ErrNotExist, "FILE_NOT_FOUND", false},
		{fs.ErrExist, "FILE_ALREADY_EXISTS", false},
		{fs.ErrPermission, "PERMISSION_DENIED", false},
		{fs.ErrInvalid, "INVALID_PATH", false},
		{errors.ErrUnsupported, "UNSUPPORTED", false},
		{context.Canceled, "CANCELED", false},
		{context.DeadlineExceeded, "TIMEOUT", true},
		{workspace.ErrIsDir, "IS_A_DIRECTORY", false},
		{workspace.ErrNotDir, "NOT_A_DIRECTORY", false},
		{workspace.ErrNotEmpty, "DIRECTORY_NOT_EMPTY", false},
		{workspace.ErrConflict, "VERSION_CONFLICT", false},
		{workspace.ErrTooLarge, "FILE_TOO_LARGE", false},
		{workspace.ErrBinary, "BINARY_FILE", false},
		{workspace.ErrEscape, "INVALID_PATH", false},
		{workspace.ErrPattern, "INVALID_PATTERN", false},
		{workspace.ErrUnavailable, "UNAVAILABLE", true},
		{workspace.ErrPolicy, "POLICY_DENIED", false},
		{edit.ErrTextNotFound, "PATTERN_NOT_FOUND", false},
		{edit.ErrTextNotUnique, "PATTERN_NOT_UNIQUE", false},
		{errors.New("anything"), "INTERNAL", false},
		{&tools.Error{Code: tools.CodeReadRequired}, "READ_REQUIRED", false},
		{&tools.Error{Code: tools.CodeTimeout}, "TIMEOUT", true},
	} {
		for _, err := range []error{test.err, wrapped(test.err)} {
			if got := tools.CodeOf(err); got != test.want || got.Retryable() != test.retryable {
				t.Errorf("CodeOf(%v) = %s, retryable %v, want %s, %v", err, got, got.Retryable(), test.want, test.retryable)
			}
		}
	}
}

func wrapped(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("outer: %w", ops.Error("ls", "a", err, errors.New("cause")))
}
