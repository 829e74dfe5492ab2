// Package shell is a bash over workspaces that starts no process. A script is read and run
// by an interpreter, the programs that it calls ("cat", "grep") are Go functions, and the
// files that it sees are those of workspaces. Nothing else of the machine can be reached:
// no process, network, environment variable or file.
//
//	s := shell.New([]*workspace.Workspace{repo}, nil)
//	result, err := s.Run(ctx, "grep -rl TODO src | xargs sed -i s/TODO/DONE/", nil)
//
// [New] returns a session over one workspace, which is the root, or over several, which
// are directories under their names. [Shell.Run] runs one script in it, within budgets for
// time, memory and output. Directory, variables, functions, options and $? are kept for
// the next one, also in a JSON form.
package shell
