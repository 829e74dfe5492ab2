package container_test

import (
	"fmt"
	"testing"

	"github.com/workspacekit/workspacekit/conformance"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// TestConformance runs the suite in all places: with an FS for each case on this
// computer and in one container, and with one FS, of which each case has a
// directory, in the others. To open one takes an engine longer than most cases.
func TestConformance(t *testing.T) {
	inPlaces(t, func(t *testing.T, r *running) {
		open := func(t *testing.T) workspace.FileSystem { return r.open(t) }
		if r.shared {
			open = parts(t, r)
		}
		conformance.Run(t, open, &conformance.Options{Symlink: r.symlink})
	})
}

// parts returns what opens empty directories of one FS.
func parts(t *testing.T, r *running) func(t *testing.T) workspace.FileSystem {
	t.Helper()
	whole, count := r.open(t), 0
	return func(t *testing.T) workspace.FileSystem {
		t.Helper()
		count++
		dir := fmt.Sprint(count)
		if err := whole.Mkdir(t.Context(), dir, nil); err != nil {
			t.Fatal(err)
		}
		part, err := policy.Sub(whole, dir)
		if err != nil {
			t.Fatal(err)
		}
		return part
	}
}
