package workspace

// Rooter is implemented by a [FileSystem] whose root people and models know by an
// absolute path. [*Workspace] and [CleanName] accept names that begin with it.
type Rooter interface {
	// Root returns the absolute, slash-separated path of the root, or "" if it
	// has none.
	Root() string
}
