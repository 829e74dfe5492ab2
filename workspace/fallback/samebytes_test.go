package fallback_test

import (
	"testing"
	"time"

	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/fallback"
)

func TestSameBytes(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for _, test := range []struct {
		a, b workspace.FileInfo
		want bool
	}{
		{workspace.FileInfo{Version: "1", Size: 1}, workspace.FileInfo{Version: "1", Size: 1, ModTime: now}, true},
		{workspace.FileInfo{Version: "1", Size: 1, ModTime: now}, workspace.FileInfo{Version: "2", Size: 1, ModTime: now}, false},
		{workspace.FileInfo{Version: "1", Size: 1, ModTime: now}, workspace.FileInfo{Size: 1, ModTime: now}, false},
		{workspace.FileInfo{Size: 1, ModTime: now}, workspace.FileInfo{Size: 1, ModTime: now.UTC()}, true},
		{workspace.FileInfo{Size: 1, ModTime: now}, workspace.FileInfo{Size: 2, ModTime: now}, false},
		{workspace.FileInfo{Size: 1, ModTime: now}, workspace.FileInfo{Size: 1, ModTime: now.Add(1)}, false},
	} {
		if fallback.SameBytes(test.a, test.b) != test.want || fallback.SameBytes(test.b, test.a) != test.want {
			t.Errorf("SameBytes of %+v and %+v = %v, want %v", test.a, test.b, !test.want, test.want)
		}
	}
}
