package workspace

// WriteOptions are the conditions of a [FileSystem].WriteFile. At most one may
// be set; both together are [fs.ErrInvalid].
type WriteOptions struct {
	// IfVersion makes the write fail with [ErrConflict] unless the file exists
	// and has this version. Empty means no condition. Test and write are one
	// step: of two writers with the same IfVersion that change the bytes exactly
	// one succeeds.
	IfVersion Version
	// IfNotExist makes the write fail with [fs.ErrExist] if the name exists. Test
	// and write are one step: of two writers exactly one succeeds.
	IfNotExist bool
}
