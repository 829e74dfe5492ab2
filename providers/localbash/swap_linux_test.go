package localbash_test

import (
	"testing"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/internal/swaptest"
	"github.com/workspacekit/workspacekit/providers/localbash"
	"github.com/workspacekit/workspacekit/workspace"
)

// TestPoliciesBesideSwaps tests that nothing gets past a policy while files and
// directories are swapped for symlinks.
func TestPoliciesBesideSwaps(t *testing.T) {
	exhaustive.Long(t)
	for name, openFS := range map[string]func(t *testing.T, dir string) workspace.FileSystem{
		"openat2": func(t *testing.T, dir string) workspace.FileSystem { return open(t, dir, nil) },
		"sync": func(t *testing.T, dir string) workspace.FileSystem {
			return open(t, dir, &localbash.Options{Sync: true})
		},
		"relaxed": func(t *testing.T, dir string) workspace.FileSystem {
			return open(t, dir, &localbash.Options{Relaxed: true})
		},
		"old-kernel": func(t *testing.T, dir string) workspace.FileSystem { return open(t, dir, nil).WithoutOpenat2() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			swaptest.Run(t, openFS)
		})
	}
}

// beSwapper swaps names if this is a child process for that.
func beSwapper() { swaptest.Main() }
