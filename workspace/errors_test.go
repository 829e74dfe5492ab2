package workspace_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"testing"

	"github.com/workspacekit/workspacekit/workspace"
)

func TestCodeOf(t *testing.T) {
	for _, test := range []struct {
		err       error
		want      workspace.Code
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
		{workspace.ErrTextNotFound, "PATTERN_NOT_FOUND", false},
		{workspace.ErrTextNotUnique, "PATTERN_NOT_UNIQUE", false},
		{errors.New("anything"), "INTERNAL", false},
	} {
		for _, err := range []error{test.err, wrapped(test.err)} {
			if got := workspace.CodeOf(err); got != test.want || got.Retryable() != test.retryable {
				t.Errorf("CodeOf(%v) = %s, retryable %v, want %s, %v", err, got, got.Retryable(), test.want, test.retryable)
			}
		}
	}
}

func wrapped(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("outer: %w", workspace.NewPathError("ls", "a", err, errors.New("cause")))
}

func TestNewPathError(t *testing.T) {
	err := workspace.NewPathError("rm", "a/b", workspace.ErrUnavailable, syscall.EIO)
	if want := "rm a/b: temporarily unavailable: input/output error"; err.Error() != want {
		t.Errorf("Error() = %q, want %q", err, want)
	}
	var pathError *fs.PathError
	if !errors.As(err, &pathError) || pathError.Op != "rm" || pathError.Path != "a/b" {
		t.Errorf("%v is not a PathError for rm a/b", err)
	}
	if !errors.Is(err, workspace.ErrUnavailable) || !errors.Is(err, syscall.EIO) {
		t.Errorf("%v hides its kind or its cause", err)
	}
	if err := workspace.NewPathError("rm", "a", nil, syscall.ENOSPC); workspace.CodeOf(err) != workspace.CodeInternal {
		t.Errorf("CodeOf(%v) = %s, want INTERNAL", err, workspace.CodeOf(err))
	}
}

func TestRefinedKinds(t *testing.T) {
	if !errors.Is(workspace.ErrEscape, fs.ErrInvalid) || errors.Is(fs.ErrInvalid, workspace.ErrEscape) {
		t.Error("ErrEscape must be a kind of ErrInvalid, and not the other way round")
	}
	if !errors.Is(workspace.ErrPolicy, fs.ErrPermission) || errors.Is(workspace.ErrPolicy, workspace.ErrEscape) {
		t.Error("ErrPolicy must be a kind of ErrPermission, and no kind of ErrEscape")
	}
}

func TestRenameError(t *testing.T) {
	inner := workspace.NewPathError("ls", "in/a", fs.ErrNotExist, nil)
	for _, test := range []struct {
		err      error
		op, want string
	}{
		{inner, "glob", "glob a: file does not exist"},
		{inner, "", "ls a: file does not exist"},
		{errors.New("plain"), "glob", "plain"},
	} {
		if got := workspace.RenameError(test.err, test.op, "a"); got.Error() != test.want {
			t.Errorf("RenameError(%v, %q, a) = %q, want %q", test.err, test.op, got, test.want)
		}
	}
	if got := workspace.RenameError(nil, "glob", "a"); got != nil {
		t.Errorf("RenameError(nil) = %v, want nil", got)
	}
}
