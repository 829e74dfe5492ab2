package container_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/providers/container"
)

// TestMoveOfWhatIsMadeAgain has the names of a file and of a directory used again as
// soon as mv has moved them: the moves have taken place.
func TestMoveOfWhatIsMadeAgain(t *testing.T) {
	for _, mv := range []string{"mv", "busybox mv"} {
		t.Run(mv, func(t *testing.T) {
			t.Parallel()
			exhaustive.Program(t, strings.Fields(mv)[0])
			root := t.TempDir()
			again := fmt.Sprintf("PATH=$path; %s \"$@\"; result=$?\nmkdir -p %[2]q; echo again >%[2]q/file; exit $result", mv, root+"/dir")
			shell(t, root, "mkdir dir; echo first >dir/file")
			f := open(t, &container.Options{Executor: stubbed(t, "mv", again), Root: root})
			for _, name := range []string{"dir/file", "dir"} {
				if err := f.Move(t.Context(), name, "moved/"+name+"s"); err != nil {
					t.Errorf("Move(%q), whose name is used again at once, = %v, want nil", name, err)
				}
			}
		})
	}
}
