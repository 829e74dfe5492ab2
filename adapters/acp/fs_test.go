package acp_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/workspacekit/workspacekit/adapters/acp"
	"github.com/workspacekit/workspacekit/conformance"
	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/fallback"
)

// both is what a client advertises that reads and writes.
var both = sdk.FileSystemCapabilities{ReadTextFile: true, WriteTextFile: true}

func newFS(t *testing.T, below workspace.FileSystem, e acp.Editor, can sdk.FileSystemCapabilities, opts *acp.FSOptions) *acp.FS {
	t.Helper()
	fsys, err := acp.NewFS(below, e, "s", can, opts)
	if err != nil {
		t.Fatal(err)
	}
	return fsys
}

// TestNewFSRefusesOptions tests that options which an FS cannot honour are refused.
func TestNewFSRefusesOptions(t *testing.T) {
	t.Parallel()
	for _, opts := range []acp.FSOptions{{Root: "a"}, {Root: "/", Timeout: -1}} {
		if _, err := acp.NewFS(memory.New(nil), nil, "s", both, &opts); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("NewFS(%+v) = %v, want %v", opts, err, fs.ErrInvalid)
		}
	}
}

// overEditor returns fsys as an editor shows it that serves fsys.
func overEditor(t *testing.T, fsys workspace.FileSystem, can sdk.FileSystemCapabilities, opts *acp.FSOptions) *acp.FS {
	t.Helper()
	ws := workspace.New("main", fsys, &workspace.Options{MaxFileSize: -1})
	return newFS(t, fsys, agentOf(t, newFiles(t, ws, nil)), can, opts)
}

// TestConformance runs the suite with an editor that serves the files below. A short
// run has the groups in which an FS is more than what it lies over.
func TestConformance(t *testing.T) {
	own := []string{"ReadFile", "ReadVersioned", "WriteFile", "Open", "Create", "Copy", "Stat", "Hide", "Concurrency"}
	t.Run("memory", func(t *testing.T) {
		opts := &conformance.Options{Short: !exhaustive.On()}
		if testing.Short() {
			opts.Only = own
		}
		conformance.Run(t, func(t *testing.T) workspace.FileSystem { return overEditor(t, newMemory(t, nil), both, nil) }, opts)
	})
	if testing.Short() {
		return
	}
	t.Run("local", func(t *testing.T) {
		conformance.Run(t, func(t *testing.T) workspace.FileSystem {
			return overEditor(t, openFolder(t, newFolder(t, nil)), both, nil)
		},
			&conformance.Options{Short: !exhaustive.On(), Symlink: symlink, Only: exhaustive.Some(t, "what is the same in memory", nil,
				slices.Concat(own, []string{"Symlink", "Exact", "Resolve", "Glob/order", "Grep/order", "Walk/order"}))})
	})
	reads := []string{"Capabilities", "ReadFile", "ReadVersioned", "Open/whole", "Open/window", "Stat", "Copy", "Grep/order", "Grep/follows-writes", "Grep/path-file"}
	writes := []string{"Capabilities", "WriteFile", "Create/new", "Create/if-version", "Concurrency/never-torn"}
	for name, variant := range map[string]struct {
		can  sdk.FileSystemCapabilities
		only []string
	}{
		"read":    {sdk.FileSystemCapabilities{ReadTextFile: true}, reads},
		"write":   {sdk.FileSystemCapabilities{WriteTextFile: true}, writes},
		"nothing": {sdk.FileSystemCapabilities{}, slices.Concat(reads, writes[1:])},
	} {
		t.Run(name, func(t *testing.T) {
			conformance.Run(t, func(t *testing.T) workspace.FileSystem { return overEditor(t, newMemory(t, nil), variant.can, nil) },
				&conformance.Options{Short: true, Only: exhaustive.Some(t, "what the editor has no part in", slices.Concat(own, []string{"Grep", "Capabilities"}), variant.only)})
		})
	}
	t.Run("search-saved", func(t *testing.T) {
		conformance.Run(t, func(t *testing.T) workspace.FileSystem {
			return overEditor(t, newMemory(t, nil), both, &acp.FSOptions{SearchSaved: true})
		}, &conformance.Options{Short: true, Only: exhaustive.Some(t, "searches in long files", []string{"Grep", "Hide"},
			[]string{"Hide", "Grep/order", "Grep/follows-writes", "Grep/path-file", "Grep/pages", "Grep/first-only", "Grep/gitignore", "Grep/many-files"})})
	})
}

func symlink(t *testing.T, fsys workspace.FileSystem, target, name string) {
	t.Helper()
	path := filepath.Join(filepath.FromSlash(fallback.Root(fsys)), filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.FromSlash(target), path); err != nil {
		t.Fatal(err)
	}
}
