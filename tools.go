package workspacekit

import (
	"github.com/workspacekit/workspacekit/shell/bashtool"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/config"
)

// Tools returns one set of the tools of all workspaces, with the names and
// without the operations that their file says, shared as it says, and with the tools
// bash and run if it says so.
//
// # Errors
//
// Names that are too long or the same, as [tools.NewAll] has them.
func Tools(workspaces *config.Workspaces) (*tools.Set, error) {
	settings := workspaces.Tools()
	var all []*workspace.Workspace
	var readFirst []string
	for _, ws := range workspaces.All() {
		all = append(all, ws.Workspace)
		if ws.Settings().ReadBeforeWrite {
			readFirst = append(readFirst, ws.Name())
		}
	}
	var bash tools.Bash
	if settings.Bash {
		bash = bashtool.New(nil)
	}
	return tools.NewAll(all, &tools.Options{
		Bash:    bash,
		Run:     settings.Run,
		Dialect: tools.Dialect(settings.Dialect), Naming: settings.Naming, Disable: settings.Disable, Strict: settings.Strict, Timeout: settings.Timeout,
		Descriptions: tools.Descriptions(settings.Descriptions),
		Shared:       tools.Sharing(settings.Shared), MaxTools: settings.MaxTools, ReadBeforeWrite: readFirst,
	})
}
