package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/workspacekit/workspacekit"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/config"
)

// TestProtectedParents tests that nothing but a new directory takes the name of a missing parent
// of the record of trusted files: through a symlink there, the record has another name, too.
func TestProtectedParents(t *testing.T) {
	for name, change := range map[string]func(ws *config.Workspace) error{
		"symlink to the parent": func(ws *config.Workspace) error {
			return ws.Move(t.Context(), "foo", ".local/state/workspace")
		},
		"symlink to a parent above": func(ws *config.Workspace) error {
			return ws.Move(t.Context(), "foo", ".local/state")
		},
		"symlink in a directory": func(ws *config.Workspace) error {
			return ws.Move(t.Context(), "dir", ".local/state")
		},
		"empty directory": func(ws *config.Workspace) error {
			return ws.Move(t.Context(), "empty", ".local/state/workspace")
		},
		"file": func(ws *config.Workspace) error {
			_, err := ws.WriteFile(t.Context(), ".local/State", []byte("x"), nil)
			return err
		},
		"copy": func(ws *config.Workspace) error {
			_, err := ws.Copy(t.Context(), "file", ".local/state/workspace")
			return err
		},
		"parent moved away": func(ws *config.Workspace) error {
			if err := ws.Mkdir(t.Context(), ".local/state", nil); err != nil {
				return err
			}
			return ws.Move(t.Context(), ".local/state", "other")
		},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			t.Setenv("XDG_STATE_HOME", filepath.Join(home, ".local", "state"))
			for _, dir := range []string{"bar", "dir", "empty", ".local/state/workspace"} {
				if err := os.MkdirAll(filepath.Join(home, filepath.FromSlash(dir)), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			writeFile(t, filepath.Join(home, "file"), "x")
			for _, link := range []string{"foo", "dir/workspace"} {
				if err := os.Symlink(filepath.Join(home, "bar"), filepath.Join(home, filepath.FromSlash(link))); err != nil {
					t.Skipf("symlinks cannot be created here: %v", err)
				}
			}
			path := filepath.Join(home, "home.yaml")
			writeFile(t, path, "workspaces: {main: {provider: {kind: localbash, root: .}}}\n")
			c, err := config.Load(path, nil)
			if err != nil {
				t.Fatal(err)
			}
			opened, err := c.Open(t.Context(), workspacekit.NewRegistry())
			if err != nil {
				t.Fatal(err)
			}
			defer opened.Close()
			ws := opened.All()[0]
			for _, empty := range []string{".local/state/workspace", ".local/state"} {
				if err := ws.Rm(t.Context(), empty, nil); err != nil {
					t.Fatalf("Rm(%q) = %v", empty, err)
				}
			}
			if err := change(ws); !errors.Is(err, workspace.ErrPolicy) {
				t.Errorf("the change = %v, want %v", err, workspace.ErrPolicy)
			}
			if err := ws.Mkdir(t.Context(), ".local/state/workspace", &workspace.MkdirOptions{Recursive: true}); err != nil {
				t.Errorf("Mkdir of the parents = %v", err)
			}
		})
	}
}
