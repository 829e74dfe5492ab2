package shown_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/workspacekit/workspacekit/internal/unified"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy/internal/shown"
)

func Example() {
	ctx := context.Background()
	fsys := memory.New(nil)
	before, err := shown.Write(ctx, fsys, "a.txt", []byte("one\n"), true)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s\n%s", before.Note, before.Diff)
	_, _ = fsys.WriteFile(ctx, "a.txt", []byte("other\n"), nil)
	after, _ := shown.Write(ctx, fsys, "a.txt", []byte("one\n"), true)
	fmt.Println("the same:", after.Fingerprint == before.Fingerprint)
	// Output:
	// it is a new file
	// --- a/a.txt
	// +++ b/a.txt
	// @@ -0,0 +1 @@
	// +one
	// the same: false
}

// TestEmptyFiles tests that a new file without content is not called unchanged.
func TestEmptyFiles(t *testing.T) {
	fsys := memory.New(nil)
	for _, want := range []string{"it is a new file; it is empty", "the content is the same as before"} {
		got, err := shown.Write(t.Context(), fsys, "a", nil, true)
		if err != nil || got.Note != want || got.Diff != "" {
			t.Errorf("Write(nothing) = %+v, %v, want the note %q", got, err, want)
		}
		if _, err := fsys.WriteFile(t.Context(), "a", nil, nil); err != nil {
			t.Fatal(err)
		}
	}
}

// bare is a store without versions.
type bare struct{ *memory.FS }

func (b bare) Stat(ctx context.Context, name string) (workspace.FileInfo, error) {
	info, err := b.FS.Stat(ctx, name)
	info.Version = ""
	return info, err
}

func (b bare) ReadVersioned(ctx context.Context, name string, limit int64) ([]byte, workspace.Version, error) {
	data, _, err := b.FS.ReadVersioned(ctx, name, limit)
	return data, "", err
}

// TestFingerprints tests that each change shows, small and large, with versions and
// without.
func TestFingerprints(t *testing.T) {
	large := strings.Repeat("x", unified.MaxRead) + "1"
	for _, versions := range []bool{true, false} {
		m := memory.New(nil)
		var fsys workspace.FileSystem = m
		if !versions {
			fsys = bare{m}
		}
		seen := map[string]string{}
		for _, content := range []string{"", "one", "two", "one\x00", large, large[1:] + "2", "directory"} {
			_ = m.Rm(t.Context(), "a", &workspace.RmOptions{Recursive: true})
			name := "a"
			if content == "directory" {
				name = "a/b"
			}
			if _, err := m.WriteFile(t.Context(), name, []byte(content), nil); err != nil {
				t.Fatal(err)
			}
			written, err := shown.Write(t.Context(), fsys, "a", []byte("new"), true)
			if err != nil {
				t.Fatal(err)
			}
			tree, err := shown.Tree(t.Context(), fsys, "a", false, true)
			if err != nil {
				t.Fatal(err)
			}
			for kind, s := range map[string]shown.State{"write": written, "tree": tree} {
				if other, ok := seen[kind+s.Fingerprint]; ok {
					t.Errorf("versions %v, %s: two contents have one fingerprint: %d and %d bytes", versions, kind, len(content), len(other))
				}
				seen[kind+s.Fingerprint] = content
				if s.Note == "" && s.Diff == "" || !s.Exists || len(s.Note) > 2000 {
					t.Errorf("versions %v, %s of %d bytes = %+v", versions, kind, len(content), s)
				}
			}
		}
	}
}

// TestLargeDirectory tests that a description of many names is short.
func TestLargeDirectory(t *testing.T) {
	m := memory.New(nil)
	for i := range 10_001 {
		if _, err := m.WriteFile(t.Context(), fmt.Sprintf("d/%05d", i), nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	s, err := shown.Tree(t.Context(), m, "d", false, true)
	if err != nil || !strings.HasPrefix(s.Note, "a directory with more than 10,000 names below it") || len(s.Note) > 2000 {
		t.Errorf("Tree = %+v, %v", s, err)
	}
}
