package policy_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/workspace"
)

// TestRestrictWatch tests that events come for what may be seen, and for
// nothing else.
func TestRestrictWatch(t *testing.T) {
	r, m := newTree(t)
	events, err := r.Watch(t.Context(), ".", nil)
	if err != nil {
		t.Fatal(err)
	}
	write(t, m, "secret.env", "changed")
	write(t, m, "pkg/file", "changed")
	write(t, m, "pkg/new/key", "changed") // in a directory that leads to names
	remove(t, m, "pkg/file")              // a denied file where a directory would not be
	remove(t, m, "pkg/two/key")
	remove(t, m, "pkg/two") // a directory that was there before the watch
	remove(t, m, "vault")
	write(t, m, "src/a.go", "changed")
	want := []workspace.Event{
		{Op: workspace.EventCreate, Path: "pkg/new"},
		{Op: workspace.EventRemove, Path: "pkg/two"},
		{Op: workspace.EventWrite, Path: "src/a.go"},
	}
	if diff := cmp.Diff(want, take(t, events, len(want))); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func remove(t *testing.T, fsys workspace.FileSystem, name string) {
	t.Helper()
	if err := fsys.Rm(t.Context(), name, &workspace.RmOptions{Recursive: true}); err != nil {
		t.Fatal(err)
	}
}

// take returns the next n events.
func take(t *testing.T, events <-chan workspace.Event, n int) (got []workspace.Event) {
	t.Helper()
	late := time.After(10 * time.Second)
	for range n {
		select {
		case event := <-events:
			got = append(got, event)
		case <-late:
			t.Fatalf("%d of %d events came: %v", len(got), n, got)
		}
	}
	return got
}
