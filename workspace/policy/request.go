package policy

// Request is what an operation would do with a name.
type Request struct {
	// Op is the operation.
	Op Op
	// Path is the name.
	Path string
	// To is the destination of OpMove and OpCopy.
	To string
	// Recursive says that OpDelete deletes all below Path, too.
	Recursive bool
	// Diff is what a write or an edit changes, as a unified diff of at most 8 KiB.
	Diff string
	// Note says why Diff is missing or not whole, and what else there is to know.
	Note string
}
