package workspace_test

import (
	"context"
	"errors"
	"io/fs"
	"testing"

	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/workspace"
)

// plainFS has the methods of FileSystem and no other.
type plainFS struct{ workspace.FileSystem }

// TestEndedContext tests that an ended context is reported before anything else that is
// wrong with a call (C1).
func TestEndedContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, ws := range map[string]*workspace.Workspace{
		"memory":   workspace.New("w", memory.New(nil), &workspace.Options{MaxFileSize: 4}),
		"plain":    workspace.New("w", plainFS{memory.New(nil)}, &workspace.Options{MaxFileSize: 4}),
		"no limit": workspace.New("w", memory.New(nil), &workspace.Options{MaxFileSize: -1}),
	} {
		for call, do := range map[string]func() error{
			"Grep": func() error {
				_, err := ws.Grep(ctx, "x", &workspace.GrepOptions{MaxFileSize: -1})
				return err
			},
			"ReadVersioned": func() error { _, _, err := ws.ReadVersioned(ctx, "a", -1); return err },
			"WriteFile":     func() error { _, err := ws.WriteFile(ctx, "a", []byte("12345"), nil); return err },
			"Move":          func() error { return ws.Move(ctx, "a", "b") },
			"Copy":          func() error { _, err := ws.Copy(ctx, "a", "b"); return err },
			"Run":           func() error { _, err := ws.Run(ctx, nil); return err },
		} {
			if err := do(); !errors.Is(err, context.Canceled) {
				t.Errorf("%s: %s = %v, want %v", name, call, err, context.Canceled)
			}
		}
	}
	for _, maxSize := range []int64{4, -1} {
		ws := workspace.New("w", memory.New(nil), &workspace.Options{MaxFileSize: maxSize})
		if _, err := ws.Grep(t.Context(), "x", &workspace.GrepOptions{MaxFileSize: -1}); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("Grep with a negative MaxFileSize = %v, want %v", err, fs.ErrInvalid)
		}
	}
}
