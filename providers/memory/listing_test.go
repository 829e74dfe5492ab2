package memory_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/workspace"
)

// TestLsSeesEveryChange lists every directory before and after each change, and
// wants each entry to be what Stat says, so that no listing outlives its truth.
func TestLsSeesEveryChange(t *testing.T) {
	now := time.Unix(1, 0)
	m := memory.New(&memory.Options{Now: func() time.Time {
		now = now.Add(time.Second)
		return now
	}})
	ctx := t.Context()
	write := func(name, content string) func() error {
		return func() error {
			_, err := m.WriteFile(ctx, name, []byte(content), nil)
			return err
		}
	}
	for _, step := range []struct {
		name   string
		change func() error
	}{
		{"write a new file deep down", write("a/b/c/file", "1")},
		{"replace it", write("a/b/c/file", "22")},
		{"write another beside it", write("a/b/c/other", "3")},
		{"move a directory", func() error { return m.Move(ctx, "a/b", "x/y") }},
		{"move it back", func() error { return m.Move(ctx, "x/y", "a/b2") }},
		{"copy", func() error { _, err := m.Copy(ctx, "a/b2/c/file", "a/copy"); return err }},
		{"make a directory", func() error { return m.Mkdir(ctx, "a/b2/d", nil) }},
		{"remove a file", func() error { return m.Rm(ctx, "a/b2/c/file", nil) }},
		{"remove a tree", func() error { return m.Rm(ctx, "a/b2", &workspace.RmOptions{Recursive: true}) }},
	} {
		if err := step.change(); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		checkListings(ctx, t, m, step.name, ".")
	}
}

func checkListings(ctx context.Context, t *testing.T, m *memory.FS, step, dir string) {
	t.Helper()
	infos, err := m.Ls(ctx, dir, nil)
	if err != nil {
		t.Fatalf("after %s: Ls(%q) = %v", step, dir, err)
	}
	for _, info := range infos {
		path := workspace.Join(dir, info.Name)
		want, err := m.Stat(ctx, path)
		if diff := cmp.Diff(want, info); err != nil || diff != "" {
			t.Errorf("after %s: Ls(%q) and Stat(%q) = %v differ (-stat +ls):\n%s", step, dir, path, err, diff)
		}
		if info.IsDir() {
			checkListings(ctx, t, m, step, path)
		}
	}
}
