package workspacekit

import (
	"fmt"

	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace/config"
)

// Tools returns one set of the tools of all workspaces, with the names and
// without the operations that their file says.
//
// # Errors
//
// Names that are too long or the same, as [tools.New] and [tools.Merge] have
// them.
func Tools(workspaces *config.Workspaces) (*tools.Set, error) {
	settings := workspaces.Tools()
	var sets []*tools.Set
	for _, ws := range workspaces.All() {
		set, err := tools.New(ws.Workspace, &tools.Options{Naming: settings.Naming, Disable: settings.Disable, Timeout: settings.Timeout})
		if err != nil {
			return nil, fmt.Errorf("the workspace %q: %w", ws.Name(), err)
		}
		sets = append(sets, set)
	}
	return tools.Merge(sets...)
}
