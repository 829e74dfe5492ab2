package workspacekit

import (
	"cmp"
	"fmt"

	"github.com/workspacekit/workspacekit/shell/bashtool"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/config"
	"github.com/workspacekit/workspacekit/workspace/kind"
)

// Tools returns one set of the tools of all workspaces, with the names and
// without the operations that their file says, shared as it says, and with the tools
// bash and run if it says so.
//
// # Errors
//
// A [*config.Error] with the place of what [tools.NewAll] refuses: names that are too long or
// the same, and operations to disable that the dialect does not have.
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
	set, err := tools.NewAll(all, &tools.Options{
		Bash:    bash,
		Run:     settings.Run,
		Dialect: tools.Dialect(settings.Dialect), Naming: settings.Naming, Disable: settings.Disable, Strict: settings.Strict, Timeout: settings.Timeout,
		Descriptions: tools.Descriptions(settings.Descriptions),
		Shared:       tools.Sharing(settings.Shared), MaxTools: settings.MaxTools, ReadBeforeWrite: readFirst,
	})
	if err != nil {
		return nil, workspaces.ToolsError(cmp.Or(unknownOp(all[0], settings), err))
	}
	return set, nil
}

// unknownOp returns the error of the first operation to disable that the dialect does not
// have, nil if there is none. Nothing else can be wrong with its options.
func unknownOp(ws *workspace.Workspace, settings config.Tools) error {
	for i, op := range settings.Disable {
		if _, err := tools.New(ws, &tools.Options{Dialect: tools.Dialect(settings.Dialect), Naming: "{op}", Disable: []string{op}}); err != nil {
			return kind.KeyError(fmt.Sprintf("disable[%d]", i), err)
		}
	}
	return nil
}
