package workspace

// MkdirOptions change what a [FileSystem].Mkdir creates.
type MkdirOptions struct {
	// Recursive creates missing parents too, and accepts a directory that
	// exists.
	Recursive bool
}
