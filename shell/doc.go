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
//
// Each script passes four steps. The parser of mvdan.cc/sh makes a tree of it, and its size
// and depth are bounded. The tree is rewritten: what would reach the host is replaced, and
// guards are put before expansions that could take much memory (package rewrite). The
// interpreter of mvdan.cc/sh runs the tree. It asks handlers for each command and each file
// (handlers.go), and those count what the budgets limit (run.go), do what the interpreter's
// own builtins would do with the host (builtins.go), open files that only the shell has
// (files.go), and call the programs of package command.
//
// What can be replaced only when its words are known, such as builtins by their flags, is
// replaced at each call (run.call).
package shell
