package workspace

// RmOptions change what a [FileSystem].Rm may remove.
type RmOptions struct {
	// Recursive removes a directory with everything below it. Symlinks in it
	// are removed, never followed. It is not atomic: an error or a crash can
	// leave a part of the tree.
	Recursive bool
}
