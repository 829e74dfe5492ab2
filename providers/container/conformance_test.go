package container_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/workspacekit/workspacekit/conformance"
	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/providers/localbash"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/fallback"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// TestConformance runs the suite on this computer with an FS for each case, which
// is started by its first call. In containers one FS gives each case a directory,
// as an engine takes longer to open one than most cases take. There the suite is
// run for what differs: some cases of each operation, and if tests try everything
// all but the long cases with the programs of busybox. Podman, with the same programs,
// has those about what goes through its client. Unless tests try what takes long, Docker has
// these only, and this computer some cases of each operation.
func TestConformance(t *testing.T) {
	in(t, places(), func(t *testing.T, r *running) {
		opener, opts := parts, &conformance.Options{Symlink: r.symlink, Short: true, Only: eachOperation}
		switch {
		case r.name == "local":
			opener, opts.Peer = unstarted, besideShells
			if opts.Short = !exhaustive.IsLong(); !opts.Short {
				opts.Only = nil
			}
		case r.name == "docker-busybox" && !exhaustive.IsLong():
			opts.Only = throughClient
		case r.name == "podman-busybox":
			opts.Only = exhaustive.Some(t, "most cases over Podman", eachOperation, throughClient)
		case r.name == "docker-busybox" && exhaustive.On():
			opts.Only = nil
			// The view without symlinks lists level by level there.
			opts.Skip = map[string]string{
				"Walk/after": "60 walks of 3 levels", "Names/deep": "256 levels", "Property/random-pages": "hundreds of pages",
			}
		}
		conformance.Run(t, opener(t, r), opts)
	})
}

// eachOperation are cases of each operation that take seconds together.
var eachOperation = []string{
	"Capabilities", "Context", "Copy", "Create", "Errors", "IOFS", "Linearizability", "Ls", "Mkdir", "Move", "Open",
	"ReadFile", "ReadVersioned", "Resolve", "Rm", "Stat", "WriteFile/replace", "WriteFile/if-version-mismatch", "WriteFile/if-version-race", "Glob/order",
	"Grep/order", "Walk/order", "Watch/nothing-lost",
}

// throughClient are cases about the streams, the contexts and the processes of a client.
var throughClient = []string{
	"Capabilities", "Context", "Copy", "Create", "Linearizability", "Open", "ReadFile", "ReadVersioned", "WriteFile/replace",
	"WriteFile/if-version-race", "Ls/sorted-bytewise", "Glob/order", "Grep/order", "Walk/order", "Watch/nothing-lost",
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

// besideShells is a program that uses the files without a shell: it takes a thousandth of
// the time to prepare them, and its changes are those of somebody else.
func besideShells(t *testing.T, fsys workspace.FileSystem) workspace.FileSystem {
	t.Helper()
	peer, err := localbash.Open(fallback.Root(fsys), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := peer.Close(); err != nil {
			t.Errorf("Close() of the peer = %v, want nil", err)
		}
	})
	return peer
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
