package container_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/providers/container"
	"github.com/workspacekit/workspacekit/workspace"
)

// TestGrepLooksIntoNothingIgnored counts what is sent for a search in a tree that
// is mostly ignored.
func TestGrepLooksIntoNothingIgnored(t *testing.T) {
	exhaustive.NotShort(t, "makes a large tree")
	o := &observer{}
	f := open(t, &container.Options{Executor: o, Root: t.TempDir()})
	files := map[string]string{
		".gitignore": "modules/\n*.log\n!kept.log\n", "a.log": "needle", "kept.log": "needle", "dir/b.go": "needle",
		"dir/.gitignore": "!c.log\n/d\n", "dir/c.log": "needle", "dir/d/e": "needle",
	}
	for i := range 100 {
		files[fmt.Sprintf("modules/package%d/file", i)] = "needle"
	}
	for name, content := range files {
		if _, err := f.WriteFile(t.Context(), name, []byte(content), nil); err != nil {
			t.Fatal(err)
		}
	}
	o.sent.Store(0)
	result, err := f.Grep(t.Context(), "needle", &workspace.GrepOptions{Gitignore: true})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := matched(result), []string{"dir/b.go", "dir/c.log", "kept.log"}; !slices.Equal(got, want) {
		t.Errorf("Grep with Gitignore finds %q, want %q", got, want)
	}
	if n := o.sent.Load(); n > 1500 {
		t.Errorf("%d bytes of requests were sent, want no names of ignored files", n)
	}
	if result, err = f.Grep(t.Context(), "needle", nil); err != nil || len(matched(result)) != len(files)-2 {
		t.Errorf("Grep without it finds %d files, %v, want %d", len(matched(result)), err, len(files)-2)
	}
}
