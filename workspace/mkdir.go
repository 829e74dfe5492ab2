package workspace

// MkdirOptions change what a [FileSystem].Mkdir makes.
type MkdirOptions struct {
	// Recursive makes missing parents too, and accepts a directory that is
	// there already.
	Recursive bool
}
