package repotest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/workspacekit/workspacekit"
	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/tools"
)

// TestConfigExample opens the first file that docs/config.md shows, as it is
// printed, with a real container, and calls every tool.
func TestConfigExample(t *testing.T) {
	useEngine(t) // also keeps away the other test that uses the prefix of the file in a real bucket
	useStore(t)
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "docs", "a.md"), "one needle\n")
	writeFile(t, filepath.Join(dir, "fixtures", "a.md"), "one needle\n")
	workspaces := open(t, writeConfig(t, dir, firstExample(t)))
	seedLake(t)
	set, err := workspacekit.Tools(workspaces)
	if err != nil {
		t.Fatal(err)
	}
	useTools(t, set, "repo", "docs", true)
	useTools(t, set, "scratch", ".", true)
	useTools(t, set, "box", ".", true)
	useTools(t, set, "lake", ".", false)
	for _, tool := range set.Tools() {
		if tool.Op == ops.Rm {
			t.Errorf("there is a tool %s, which the file disables", tool.Name)
		}
	}
}

// seedLake writes the file that is looked for into the bucket, which the file
// lets nobody write to.
func seedLake(t *testing.T) {
	t.Helper()
	path := writeConfig(t, t.TempDir(),
		`workspaces: {lake: {provider: {kind: objectstore, bucket: "${BUCKET}", prefix: team-a/, endpoint: "${S3_ENDPOINT}"}}}`)
	lake := lookup(t, open(t, path), "lake")
	if _, err := lake.WriteFile(t.Context(), "a.md", []byte("one needle\n"), nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // without the context of the test, which has ended by then
		if err := lake.Rm(context.Background(), "a.md", nil); err != nil {
			t.Error(err)
		}
	})
}

// useTools calls every tool of the workspace name, in dir.
func useTools(t *testing.T, set *tools.Set, name, dir string, writes bool) {
	t.Helper()
	changing := [][2]string{
		{ops.WriteFile, `{"path": "%s/a.md", "content": "one needle\n"}`},
		{ops.EditFile, `{"path": "%s/a.md", "oldText": "one", "newText": "two"}`},
		{ops.Mkdir, `{"path": "%[1]s/new"}`},
		{ops.Copy, `{"source": "%[1]s/a.md", "destination": "%[1]s/new/b.md"}`},
		{ops.Move, `{"source": "%[1]s/new/b.md", "destination": "%[1]s/new/c.md"}`},
		{ops.ApplyPatch, `{"patch": "*** Begin Patch\n*** Add File: %s/p.md\n+patched\n*** End Patch"}`},
	}
	calls := [][2]string{
		{ops.ReadFile, `{"path": "%s/a.md"}`},
		{ops.ReadFiles, `{"paths": ["%s/a.md"]}`},
		{ops.Ls, `{"path": "%s"}`},
		{ops.Tree, `{"path": "%s"}`},
		{ops.Glob, `{"path": "%s", "pattern": "**/*.md"}`},
		{ops.Grep, `{"path": "%s", "pattern": "needle"}`},
		{ops.Stat, `{"path": "%s/a.md"}`},
	}
	if writes {
		calls = append(changing, calls...)
	}
	var ops []string
	for _, call := range calls {
		ops = append(ops, call[0])
		use(t, set, fmt.Sprintf("workspace__%s__%s", name, call[0]), fmt.Sprintf(call[1], dir))
	}
	for _, tool := range set.Tools() {
		if strings.HasPrefix(tool.Name, "workspace__"+name+"__") && !slices.Contains(ops, tool.Op) {
			t.Errorf("the tool %s is not tried", tool.Name)
		}
	}
}

// use calls a tool.
func use(t *testing.T, set *tools.Set, name, args string) {
	t.Helper()
	tool, ok := set.Lookup(name)
	if !ok {
		t.Errorf("there is no tool %s", name)
		return
	}
	result, err := tool.Call(t.Context(), json.RawMessage(args))
	switch {
	case err != nil:
		t.Errorf("%s(%s) = %v", name, args, err)
	case result.IsError:
		t.Errorf("%s(%s) = %s", name, args, result.Text)
	case tool.Op == ops.Grep && !strings.Contains(result.Text, "needle"):
		t.Errorf("%s(%s) = %q, want the needle", name, args, result.Text)
	}
}

// firstExample returns the first file that docs/config.md shows.
func firstExample(t *testing.T) string {
	t.Helper()
	_, rest, ok := strings.Cut(read(t, "docs/config.md"), "```yaml\n")
	if !ok {
		t.Fatal("docs/config.md has no example")
	}
	example, _, _ := strings.Cut(rest, "```")
	return example
}
