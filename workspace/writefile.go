package workspace

// WriteOptions are the conditions of a [FileSystem].WriteFile. At most one may
// be set; both together are [io/fs.ErrInvalid].
type WriteOptions struct {
	// IfVersion lets the write happen only if the file exists and has this
	// version, and else fails it with [ErrConflict]. Empty means no condition.
	// Test and write are one step: of two writers with the same IfVersion
	// exactly one succeeds.
	IfVersion Version
	// IfNotExist lets the write happen only if nothing has the name, and else
	// fails it with [io/fs.ErrExist]. Test and write are one step: of two
	// writers exactly one succeeds.
	IfNotExist bool
}
