package workspace

// LsOptions page through a directory of any size.
type LsOptions struct {
	// Limit is the most entries to return. Zero means all of them.
	Limit int
	// After leaves out every name that is not bytewise greater than it: the
	// last name of the page before. It need not exist. Empty means from the
	// start.
	After string
}
