// Package workspacekit opens the workspaces that a YAML file describes, with all
// providers that come with this module:
//
//	workspaces, err := workspacekit.Open(ctx, "workspace.yaml")
//	if err != nil {
//		return err
//	}
//	defer workspaces.Close()
//	set, err := workspacekit.Tools(workspaces)
//
// It is for programs that let a file choose. One that knows its provider imports
// that, and [github.com/workspacekit/workspacekit/workspace], which has the
// contract and no dependency. docs/config.md describes the file.
package workspacekit
