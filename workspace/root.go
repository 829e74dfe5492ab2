package workspace

// Rooter is implemented by a [FileSystem] whose root is known to people and
// models by an absolute path. Names that begin with it are accepted by
// [*Workspace], and by [CleanName].
type Rooter interface {
	// Root returns the absolute, slash-separated path of the root, or "" if it
	// has none.
	Root() string
}

// RootOf returns the absolute path of fsys's root, or "" if it has none.
func RootOf(fsys FileSystem) string {
	if rooter, ok := As[Rooter](fsys); ok {
		return rooter.Root()
	}
	return ""
}
