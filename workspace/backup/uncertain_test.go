package backup_test

import (
	"context"
	"errors"
	"testing"

	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/backup"
	"github.com/workspacekit/workspacekit/workspace/provider"
)

// broken is memory whose changes of files that exist take place and then fail without a kind.
type broken struct{ *memory.FS }

var errBroken = provider.Classify(errors.New("it broke"))

func (b broken) WriteFile(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
	if _, err := b.FS.WriteFile(ctx, name, data, opts); err != nil {
		return "", err
	}
	return "", errBroken
}

func (b broken) Rm(ctx context.Context, name string, opts *workspace.RmOptions) error {
	if err := b.FS.Rm(ctx, name, opts); err != nil {
		return err
	}
	return errBroken
}

func (b broken) Exact() (workspace.FileSystem, error) { return b, nil }

// TestUnknownFailure tests that a change stays in the journal if its error does not say that
// nothing changed.
func TestUnknownFailure(t *testing.T) {
	ctx := t.Context()
	for name, change := range map[string]func(b *backup.FS) error{
		"write": func(b *backup.FS) error { _, err := b.WriteFile(ctx, "a", []byte("new"), nil); return err },
		"rm":    func(b *backup.FS) error { return b.Rm(ctx, "a", nil) },
	} {
		raw := memory.New(nil)
		fill(t, raw, map[string]string{"a": "old"})
		if err := change(newFS(t, broken{raw}, &backup.Options{Store: raw})); !errors.Is(err, errBroken) {
			t.Fatalf("%s = %v, want %v", name, err, errBroken)
		}
		if _, err := newFS(t, raw, nil).Undo(ctx, nil); err != nil {
			t.Errorf("Undo after %s = %v", name, err)
		}
		if data, err := raw.ReadFile(ctx, "a"); err != nil || string(data) != "old" {
			t.Errorf("ReadFile after the undo of %s = %q, %v, want old", name, data, err)
		}
	}
}
