package osfile

import (
	"os"
	"testing"

	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/workspace"
)

// TestTruncateClosed opens a file with O_TRUNC at the moment at which its last writer closes it:
// the content that OpenFile has found has no writer any more when it is attached.
func TestTruncateClosed(t *testing.T) {
	t.Parallel()
	ws := workspace.New("test", memory.New(nil), nil)
	f := New(t.Context(), ws, nil)
	first, err := f.OpenFile("a", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := first.Write([]byte("long")); err != nil {
		t.Fatal(err)
	}
	found := f.open("a")
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	found.attach(true)
	if err := f.close(found); err != nil {
		t.Fatal(err)
	}
	if data, err := ws.ReadFile(t.Context(), "a"); err != nil || len(data) != 0 {
		t.Errorf("ReadFile = %q, %v, want an empty file", data, err)
	}
}
