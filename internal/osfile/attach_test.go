package osfile

import (
	"os"
	"testing"

	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/workspace"
)

// TestAttachForgotten opens a file at the moment at which its last writer closes it, or it is
// removed or renamed: the content that OpenFile has found is not used, as nothing would store it
// by that name.
func TestAttachForgotten(t *testing.T) {
	t.Parallel()
	for name, forget := range map[string]func(f *FS, first *File) error{
		"close":  func(_ *FS, first *File) error { return first.Close() },
		"remove": func(f *FS, _ *File) error { return f.Remove("a") },
		"rename": func(f *FS, _ *File) error { return f.Rename("a", "b") },
	} {
		f := New(t.Context(), workspace.New("test", memory.New(nil), nil), nil)
		first, err := f.OpenFile("a", os.O_WRONLY|os.O_CREATE, 0o644)
		if err != nil {
			t.Fatal(err)
		}
		found := f.open("a")
		if err := forget(f, first); err != nil {
			t.Fatal(err)
		}
		file := &File{fs: f, name: "a", flag: os.O_WRONLY | os.O_CREATE}
		if f.attach(file, "a", found, found, 0o644) {
			t.Errorf("after %s, a content is attached that is not known by the name any more", name)
		}
	}
}

// TestTruncateStored opens a file with O_TRUNC when its writer has stored it and is still known,
// as at the end of a Close.
func TestTruncateStored(t *testing.T) {
	t.Parallel()
	ws := workspace.New("test", memory.New(nil), nil)
	f := New(t.Context(), ws, nil)
	for _, text := range []string{"long", ""} {
		file, err := f.OpenFile("a", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
		if err != nil {
			t.Fatal(err)
		}
		if text != "" {
			if _, err := file.Write([]byte(text)); err != nil {
				t.Fatal(err)
			}
		}
		if err := file.Sync(); err != nil {
			t.Fatal(err)
		}
	}
	if data, err := ws.ReadFile(t.Context(), "a"); err != nil || len(data) != 0 {
		t.Errorf("ReadFile = %q, %v, want an empty file", data, err)
	}
}
