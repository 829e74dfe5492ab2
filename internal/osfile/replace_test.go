package osfile_test

import (
	"strings"
	"testing"

	"github.com/workspacekit/workspacekit/internal/osfile"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/workspace"
)

// TestRenameOfLargeFile replaces files that are too large to be copied, for which the target
// is moved aside.
func TestRenameOfLargeFile(t *testing.T) {
	for _, target := range []string{"target", strings.Repeat("n", 255), strings.Repeat("é", 127)} {
		m := memory.New(nil)
		large := strings.Repeat("x", 200)
		for name, content := range map[string]string{"source": large, target: "old", "target.mv~": "another"} {
			if _, err := m.WriteFile(t.Context(), name, []byte(content), nil); err != nil {
				t.Fatal(err)
			}
		}
		f := osfile.New(t.Context(), workspace.New("test", m, &workspace.Options{MaxFileSize: 100}), nil)
		if err := f.Rename("source", target); err != nil {
			t.Errorf("Rename(source, %q) = %v, want nil", target, err)
		}
		if data, err := m.ReadFile(t.Context(), target); err != nil || string(data) != large {
			t.Errorf("%q after Rename = %q, %v, want the source", target, data, err)
		}
		if infos, err := m.Ls(t.Context(), ".", nil); err != nil || len(infos) != 2 {
			t.Errorf("Ls after Rename = %v, %v, want the target and target.mv~", infos, err)
		}
	}
}
