package container_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/workspacekit/workspacekit/conformance"
	"github.com/workspacekit/workspacekit/internal/enginetest"
	"github.com/workspacekit/workspacekit/internal/swaptest"
	"github.com/workspacekit/workspacekit/providers/container"
	"github.com/workspacekit/workspacekit/workspace"
)

func TestMain(m *testing.M) {
	swaptest.Main()
	os.Exit(m.Run())
}

// inShells runs test with each of the shells, and the programs that belong to
// it.
func inShells(t *testing.T, shells []string, test func(t *testing.T, executor container.Command)) {
	for _, name := range shells {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path, err := exec.LookPath(name)
			if err != nil {
				enginetest.Lacking(t, "%s is not installed", name)
			}
			bin := t.TempDir()
			if name == "busybox" {
				if out, err := exec.Command(path, "--install", "-s", bin).CombinedOutput(); err != nil {
					t.Fatalf("busybox --install: %v: %s", err, out)
				}
			} else if err := os.Symlink(path, filepath.Join(bin, "sh")); err != nil {
				t.Fatal(err)
			}
			test(t, container.Command{"env", "PATH=" + bin + ":" + os.Getenv("PATH")})
		})
	}
}

// TestExactConformance runs the suite on the view that follows no symlinks, in
// one shell: what differs between them is how they follow symlinks, for which
// there is TestPoliciesBesideSwaps.
func TestExactConformance(t *testing.T) {
	inShells(t, []string{"dash"}, func(t *testing.T, executor container.Command) {
		if testing.Short() {
			t.Skip("-short: the cases of the group Exact are enough")
		}
		conformance.Run(t, func(t *testing.T) workspace.FileSystem {
			view, err := workspace.Exact(open(t, &container.Options{Executor: executor, Root: t.TempDir()}))
			if err != nil {
				t.Fatalf("Exact() = %v, want nil", err)
			}
			return view
		}, nil)
	})
}

// TestPoliciesBesideSwaps tests that nothing gets past a policy while files and
// directories are swapped for symlinks.
func TestPoliciesBesideSwaps(t *testing.T) {
	inShells(t, []string{"dash", "bash", "busybox"}, func(t *testing.T, executor container.Command) {
		swaptest.Run(t, func(t *testing.T, dir string) workspace.FileSystem {
			return open(t, &container.Options{Executor: executor, Root: dir})
		})
	})
}
