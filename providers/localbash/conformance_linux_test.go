package localbash_test

import (
	"testing"

	"github.com/workspacekit/workspacekit/conformance"
	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/workspace"
)

// TestConformanceOldKernel runs the cases in which other operating systems go other ways.
func TestConformanceOldKernel(t *testing.T) {
	only := ofNames()
	if only != nil && exhaustive.IsLong() {
		only = append(only, "WriteFile", "Create", "Open", "ReadVersioned", "Concurrency", "Walk", "Watch", "Property/random-operations")
	}
	conformance.Run(t, func(t *testing.T) workspace.FileSystem {
		return open(t, t.TempDir(), nil).WithoutOpenat2()
	}, &conformance.Options{Symlink: symlink, Short: !exhaustive.On(), Only: only})
}

func TestExactConformanceOldKernel(t *testing.T) {
	exhaustive.Need(t, "the exact view without openat2, whose plain view has a run")
	conformance.Run(t, func(t *testing.T) workspace.FileSystem {
		return exact(t, open(t, t.TempDir(), nil).WithoutOpenat2())
	}, &conformance.Options{Short: !exhaustive.IsLong()})
}

// TestCompareOldKernel compares folders with and without openat2, as they are and in their
// exact views.
func TestCompareOldKernel(t *testing.T) {
	t.Parallel()
	exhaustive.Long(t)
	for name, view := range map[string]func(*testing.T, workspace.FileSystem) workspace.FileSystem{
		"folder": func(_ *testing.T, fsys workspace.FileSystem) workspace.FileSystem { return fsys },
		"exact":  func(t *testing.T, fsys workspace.FileSystem) workspace.FileSystem { return exact(t, fsys) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conformance.Compare(t,
				func(t *testing.T) workspace.FileSystem { return view(t, open(t, t.TempDir(), nil)) },
				func(t *testing.T) workspace.FileSystem { return view(t, open(t, t.TempDir(), nil).WithoutOpenat2()) },
				&conformance.CompareOptions{Symlink: symlink})
		})
	}
}
