package policy_test

import (
	"sync"
	"testing"

	"github.com/workspacekit/workspacekit/conformance"
	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

func TestSubConformance(t *testing.T) {
	conformance.Run(t, newSub, &conformance.Options{Short: !exhaustive.IsLong()})
}

// newSub returns a directory whose name is hostile to globs, beside files that
// no case may see.
func newSub(t *testing.T) workspace.FileSystem {
	m := memory.New(nil)
	for _, name := range []string{"su[b]", "su[b]-x/a", "outside.txt", "a/outside.txt"} {
		if name == "su[b]" {
			if err := m.Mkdir(t.Context(), name, nil); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if _, err := m.WriteFile(t.Context(), name, []byte("outside"), nil); err != nil {
			t.Fatal(err)
		}
	}
	sub, err := policy.Sub(m, "su[b]")
	if err != nil {
		t.Fatal(err)
	}
	return sub
}

func TestReadOnlyConformance(t *testing.T) {
	var below sync.Map // from a wrapper to what it wraps
	conformance.Run(t, func(*testing.T) workspace.FileSystem {
		m := memory.New(nil)
		fsys := policy.ReadOnly(m)
		below.Store(fsys, m)
		return fsys
	}, &conformance.Options{
		Short: !exhaustive.IsLong(),
		Peer: func(_ *testing.T, fsys workspace.FileSystem) workspace.FileSystem {
			m, _ := below.Load(fsys)
			return m.(workspace.FileSystem)
		},
	})
}
