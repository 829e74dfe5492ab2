package container_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/workspacekit/workspacekit/conformance"
	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// TestConformance runs the suite in all places: on this computer with an FS for
// each case, which is started by its first call, and in containers with one FS,
// in which each case has a directory. An engine takes longer to open one than most
// cases take.
func TestConformance(t *testing.T) {
	inPlaces(t, func(t *testing.T, r *running) {
		opener := parts
		if r.container == "" {
			opener = unstarted
		}
		// The long cases run once in a container: what differs between the others are
		// the engine and the programs of the image, which run on this computer, too.
		short := r.container != "" && (!exhaustive.On() || r.name != "docker-debian")
		conformance.Run(t, opener(t, r), &conformance.Options{Symlink: r.symlink, Short: short})
	})
}

// unstarted returns what opens FSes that have not been started.
func unstarted(t *testing.T, r *running) func(t *testing.T) workspace.FileSystem {
	t.Helper()
	executor := localExecutor(t)
	return func(t *testing.T) workspace.FileSystem {
		t.Helper()
		opts := r.options(t)
		opts.Executor, opts.Lazy = executor, true
		return open(t, opts)
	}
}

// parts returns what opens empty directories of one FS.
func parts(t *testing.T, r *running) func(t *testing.T) workspace.FileSystem {
	t.Helper()
	whole := r.open(t)
	var count atomic.Int64
	return func(t *testing.T) workspace.FileSystem {
		t.Helper()
		dir := fmt.Sprint(count.Add(1))
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
