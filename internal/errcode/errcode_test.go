package errcode_test

import (
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
