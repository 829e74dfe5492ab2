package memory_test

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/workspacekit/workspacekit/providers/memory"
)

// TestMoveTooLong tests that no move gives a file below a directory a name that no call takes.
func TestMoveTooLong(t *testing.T) {
	t.Parallel()
	f := memory.New(nil)
	long := strings.Repeat("q/", 2000)
	if _, err := f.WriteFile(t.Context(), "s/"+long+"leaf", nil, nil); err != nil {
		t.Fatal(err)
	}
	fits := strings.Repeat("d", 4096-len("/"+long+"leaf"))
	for _, destination := range []string{"new/" + fits, fits + "d"} {
		err := f.Move(t.Context(), "s", destination)
		if failed, ok := errors.AsType[*fs.PathError](err); !errors.Is(err, fs.ErrInvalid) || !ok || failed.Path != destination {
			t.Errorf("Move to %d bytes = %v, want %v at the destination", len(destination), err, fs.ErrInvalid)
		}
	}
	if found, err := f.Ls(t.Context(), ".", nil); err != nil || len(found) != 1 {
		t.Errorf("after moves that were refused: Ls = %v, %v", found, err)
	}
	if err := f.Move(t.Context(), "s", fits); err != nil {
		t.Errorf("Move to the longest name = %v", err)
	}
	if _, err := f.Stat(t.Context(), fits+"/"+long+"leaf"); err != nil {
		t.Errorf("Stat after it = %v", err)
	}
}
