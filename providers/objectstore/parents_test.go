package objectstore_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/workspacekit/workspacekit/internal/s3test"
	"github.com/workspacekit/workspacekit/providers/objectstore"
	"github.com/workspacekit/workspacekit/workspace"
)

// TestDirectoryNotedMeanwhile lets a call happen while the store has answered a request of another
// one, which does not know of it. A later write must: no file lies where a directory is, or in a file.
func TestDirectoryNotedMeanwhile(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		keys      []string
		before    action
		do        action
		op, key   string // of the request
		meanwhile []action
		refused   bool // the write of do
		write     string
		want      error
	}{
		{name: "new-directory", do: write("n/a", nil), op: "PutObject", key: "p/n/a",
			meanwhile: []action{write("n/x/f", nil)}, write: "n/x", want: workspace.ErrIsDir},
		{name: "mkdir-after-listing", keys: []string{"n/z"}, do: write("n/a", nil), op: "ListObjectsV2",
			meanwhile: []action{mkdir("n/x", false)}, write: "n/x", want: workspace.ErrIsDir},
		{name: "written-while-removed", keys: []string{"n/x/old"}, before: write("n/a", nil), do: rm("n/x", true), op: "PutObject", key: "p/n/",
			meanwhile: []action{write("n/x/f", nil)}, write: "n/x", want: workspace.ErrIsDir},
		{name: "removed-after-listing", keys: []string{"n/z"}, do: write("n/a", nil), op: "ListObjectsV2",
			meanwhile: []action{rm("n", true), write("n", nil)}, refused: true, write: "n/b", want: workspace.ErrNotDir},
		{name: "moved-after-listing", keys: []string{"n/z"}, do: write("n/a", nil), op: "ListObjectsV2",
			meanwhile: []action{moveTo("n", "m"), write("n", nil)}, refused: true, write: "n/b", want: workspace.ErrNotDir},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := s3test.New(t, nil)
			seed(server, c.keys...)
			f := inProcess(server, awsCompat()).open(t, "p", objectstore.Options{})
			if c.before != nil {
				if err := c.before(t.Context(), f); err != nil {
					t.Fatal(err)
				}
			}
			var begun atomic.Bool
			server.Inject(func(r s3test.Request) s3test.Fault {
				if c.refused && r.Op == "PutObject" && r.Key == "p/n/a" {
					return s3test.Fault{Status: http.StatusForbidden, Code: "AccessDenied"}
				}
				if r.Op != c.op || !strings.HasPrefix(r.Key, c.key) || begun.Swap(true) {
					return s3test.Fault{}
				}
				return s3test.Fault{Edit: func(*s3test.Answer) { doAll(t, f, c.meanwhile) }}
			})
			if err := c.do(t.Context(), f); (err != nil) != c.refused {
				t.Fatalf("error = %v, want one: %v", err, c.refused)
			}
			if _, err := f.WriteFile(t.Context(), c.write, nil, nil); !errors.Is(err, c.want) {
				t.Errorf("WriteFile(%q) = %v, want %v", c.write, err, c.want)
			}
		})
	}
}

func doAll(t *testing.T, f *objectstore.FS, actions []action) {
	for _, do := range actions {
		if err := do(context.WithoutCancel(t.Context()), f); err != nil {
			t.Errorf("meanwhile: %v", err)
		}
	}
}
