package ops_test

import (
	"errors"
	"io/fs"
	"syscall"
	"testing"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

func TestError(t *testing.T) {
	err := ops.Error("rm", "a/b", workspace.ErrUnavailable, syscall.EIO)
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
}

func TestRename(t *testing.T) {
	inner := ops.Error("ls", "in/a", fs.ErrNotExist, nil)
	for _, test := range []struct {
		err      error
		op, want string
	}{
		{inner, "glob", "glob a: file does not exist"},
		{inner, "", "ls a: file does not exist"},
		{errors.New("plain"), "glob", "plain"},
	} {
		if got := ops.Rename(test.err, test.op, "a"); got.Error() != test.want {
			t.Errorf("Rename(%v, %q, a) = %q, want %q", test.err, test.op, got, test.want)
		}
	}
	if got := ops.Rename(nil, "glob", "a"); got != nil {
		t.Errorf("Rename(nil) = %v, want nil", got)
	}
}
