// Package ops has what the contract says about every operation: its name, the form
// of its errors, and the checks that it begins with. Package workspace and all
// that implement or wrap a file system share it.
package ops

// The names of the operations, as errors, tools, policies and the command line spell them.
const (
	ReadFile  = "read_file"
	ReadFiles = "read_files"
	WriteFile = "write_file"
	EditFile  = "edit_file"
	Ls        = "ls"
	Tree      = "tree"
	Glob      = "glob"
	Grep      = "grep"
	Stat      = "stat"
	Rm        = "rm"
	Mkdir     = "mkdir"
	Watch     = "watch"
	Move      = "move"
	Copy      = "copy"
	Open      = "open"
	Create    = "create"
	Walk      = "walk"
	Resolve   = "resolve"
	Exact     = "exact"
	Hide      = "hide"
	Backup    = "backup"
	Undo      = "undo"
	Run       = "run"

	ApplyPatch  = "apply_patch"
	Bash        = "bash"
	Processes   = "processes"
	Transaction = "transaction"
)
