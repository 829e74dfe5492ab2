package command

import (
	"fmt"
	"maps"
	"testing"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/internal/s3test"
	"github.com/workspacekit/workspacekit/providers/objectstore"
	"github.com/workspacekit/workspacekit/workspace"
)

// TestRequests counts the requests to a bucket: a search by a program costs as many as
// the search of the workspace.
func TestRequests(t *testing.T) {
	t.Parallel()
	exhaustive.NotShort(t, "counts the requests for 1,200 objects")
	server := s3test.New(t, &s3test.Options{Public: true})
	for i := range exhaustive.Some(t, "objects", 10_000, 1_200) {
		server.Put("workspace", fmt.Sprintf("p/dir%03d/file%d.txt", i%100, i), fmt.Appendf(nil, "line\nnumber %d\n", i))
	}
	requests := func(do func(ws *workspace.Workspace)) map[string]int {
		fsys, err := objectstore.Open(t.Context(), &objectstore.Options{
			Bucket: "workspace", Prefix: "p", Endpoint: server.URL, Region: server.Region, Anonymous: true,
			Compat: &objectstore.Compat{PathStyle: true},
		})
		if err != nil {
			t.Fatal(err)
		}
		defer fsys.Close()
		server.ResetRequests()
		do(workspace.New("lake", fsys, nil))
		counts := map[string]int{}
		for _, r := range server.Requests() {
			counts[r.Op]++
		}
		return counts
	}
	grep := func(opts *workspace.GrepOptions) func(ws *workspace.Workspace) {
		return func(ws *workspace.Workspace) {
			if _, err := ws.Grep(t.Context(), "number 17", opts); err != nil {
				t.Error(err)
			}
		}
	}
	glob := func(dir string) func(ws *workspace.Workspace) {
		return func(ws *workspace.Workspace) {
			if _, err := ws.Glob(t.Context(), "**/*7.txt", &workspace.GlobOptions{Dir: dir}); err != nil {
				t.Error(err)
			}
		}
	}
	for _, c := range []struct {
		line string
		same func(ws *workspace.Workspace)
	}{
		{"grep -rn 'number 17' .", grep(nil)},
		{"grep -rl 'number 17'", grep(&workspace.GrepOptions{FirstOnly: true})},
		{"grep -rnw -A1 --include='*7.txt' number dir007", grep(&workspace.GrepOptions{Path: "dir007", IncludeGlob: "*7.txt", After: 1})},
		{"rg -n 'number 17'", grep(&workspace.GrepOptions{Gitignore: true, ExcludeGlob: "{**/.*,**/.*/**}"})},
		{"grep -rc number dir007", grep(&workspace.GrepOptions{Path: "dir007"})},
		{"grep -rn 'number 17' dir017/file17.txt", grep(&workspace.GrepOptions{Path: "dir017/file17.txt"})},
		{"find . -name '*7.txt'", glob("")},
		{"find dir007 -name '*7.txt'", glob("dir007")},
	} {
		want := requests(c.same)
		got := requests(func(ws *workspace.Workspace) {
			if _, stderr, status := run(t, ws, "", c.line); status != 0 {
				t.Errorf("%s ends with %d: %s", c.line, status, stderr)
			}
		})
		t.Logf("%s: %v, the workspace %v", c.line, got, want)
		if !maps.Equal(got, want) {
			t.Errorf("%s makes the requests %v, the workspace %v", c.line, got, want)
		}
	}
}
