package fallback

import "github.com/workspacekit/workspacekit/workspace"

// Rooter is implemented by a [workspace.FileSystem] whose root people and models know by
// an absolute path. [*workspace.Workspace] and [workspace.CleanName] accept names that
// begin with it.
type Rooter interface {
	// Root returns the absolute, slash-separated path of the root, or "" if it
	// has none.
	Root() string
}

// Root returns the absolute path of fsys's root, or "" if it has none
// ([Rooter]).
func Root(fsys workspace.FileSystem) string {
	if rooter, ok := workspace.As[Rooter](fsys); ok {
		return rooter.Root()
	}
	return ""
}
