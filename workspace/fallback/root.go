package fallback

import "github.com/workspacekit/workspacekit/workspace"

// Root returns the absolute path of fsys's root, or "" if it has none
// ([workspace.Rooter]).
func Root(fsys workspace.FileSystem) string {
	if rooter, ok := workspace.As[workspace.Rooter](fsys); ok {
		return rooter.Root()
	}
	return ""
}
