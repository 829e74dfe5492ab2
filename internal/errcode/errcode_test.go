package errcode_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/workspacekit/workspacekit/internal/errcode"
	"github.com/workspacekit/workspacekit/workspace"
)

func ExampleOf() {
	fmt.Println(errcode.Of(&fs.PathError{Op: "read_file", Path: "a", Err: fs.ErrNotExist}))
	// Output: FILE_NOT_FOUND
}

// TestOf tests the order: what refines a kind has a code of its own.
func TestOf(t *testing.T) {
	for _, test := range []struct {
		err  error
		want string
	}{
		{nil, ""},
		{workspace.ErrPolicy, "POLICY_DENIED"}, // also fs.ErrPermission
		{fs.ErrPermission, "PERMISSION_DENIED"},
		{workspace.ErrSymlink, "INVALID_PATH"},
		{errors.New("of no kind"), errcode.Internal},
	} {
		if got := errcode.Of(test.err); got != test.want {
			t.Errorf("Of(%v) = %q, want %q", test.err, got, test.want)
		}
	}
}

// TestUncertain tests that only kinds that say so leave everything unchanged.
func TestUncertain(t *testing.T) {
	for err, want := range map[error]bool{
		nil: false, workspace.ErrPolicy: false, workspace.ErrNoSpace: false, workspace.ErrConflict: false,
		workspace.ErrUnavailable: true, context.Canceled: true, context.DeadlineExceeded: true,
		errors.New("of no kind"): true, errors.Join(fs.ErrPermission, workspace.ErrUnavailable): true,
	} {
		if got := errcode.Uncertain(err); got != want {
			t.Errorf("Uncertain(%v) = %t, want %t", err, got, want)
		}
	}
}
