package tools_test

import (
	"testing"

	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
)

// BenchmarkNew measures what each program pays before its first call.
func BenchmarkNew(b *testing.B) {
	ws := workspace.New("main", memory.New(nil), nil)
	for b.Loop() {
		if _, err := tools.New(ws, nil); err != nil {
			b.Fatal(err)
		}
	}
}
