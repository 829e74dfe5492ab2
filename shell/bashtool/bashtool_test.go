package bashtool_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/shell"
	"github.com/workspacekit/workspacekit/shell/bashtool"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
)

// TestTimeout runs scripts that take longer than a shell allows by itself: the time of the
// call is the limit.
func TestTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, opts := range []*shell.Options{nil, {Output: 1 << 20}} {
			s := bashtool.New(opts).NewShell([]*workspace.Workspace{workspace.New("main", memory.New(nil), nil)})
			for script, want := range map[string]int{"sleep 80": 0, "sleep 100": 124} {
				result, err := s.Run(t.Context(), &tools.ShellCall{Script: script, Timeout: 90 * time.Second})
				if err != nil || result.ExitCode != want {
					t.Errorf("Run(%q) with %+v = %+v, %v, want the exit code %d", script, opts, result, err, want)
				}
			}
		}
	})
}
