package conformance

import (
	"context"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

// call is one way to give a name to a file system, for what is true of all of
// them. A rule for all methods is written once, as a method of call, and the
// groups Names, Errors and Context make a case of it for each call. So the one
// method that a provider forgot fails under its own name, such as
// Errors/rm-missing, and can be skipped alone.
type call struct {
	name  string // in names of cases
	text  string // in failures, a format for the name
	op    string
	needs need // without which the case is skipped
	do    func(ctx context.Context, fsys workspace.FileSystem, name string) error
}

// calls returns the calls of the nine methods and of the optional interfaces.
// Run is not among them, because what it gets is a command: command.go tests
// its Dir.
func calls() []call {
	return append(readingCalls(), writingCalls()...)
}

// readingCalls returns the calls that change nothing. The optional ones are
// made by the functions of package workspace, so a file system that has an
// interface and one that is read through the fallback must return the same
// errors.
func readingCalls() []call {
	return []call{
		{"read-file", "ReadFile(%q)", ops.ReadFile, 0, callReadFile},
		{"ls", "Ls(%q)", ops.Ls, 0, callLs},
		{"glob-dir", `Glob("**", Dir: %q)`, ops.Glob, 0, callGlob},
		{"grep-path", `Grep("x", Path: %q)`, ops.Grep, 0, callGrep},
		{"stat", "Stat(%q)", ops.Stat, 0, callStat},
		{"watch", "Watch(%q)", ops.Watch, needWatch, callWatch},
		{"read-versioned", "ReadVersioned(%q)", ops.ReadFile, 0, callReadVersioned},
		{"open", "Open(%q)", ops.Open, 0, callOpen},
		{"walk", "Walk(%q)", ops.Walk, 0, callWalk},
		{"resolve", "Resolve(%q)", ops.Resolve, 0, callResolve},
	}
}

// writingCalls returns the calls that create, change or remove a name. Rm and
// Mkdir are there with Recursive as well, which is another path through most
// providers. Move and Copy are there twice, because either name can be at
// fault: the other one is then "file", which exists in callTree, or
// "new/destination", which does not, so a refused call must not make its parent.
func writingCalls() []call {
	return []call{
		{"write-file", `WriteFile(%q, "new")`, ops.WriteFile, needWrite, callWriteFile},
		{"rm", "Rm(%q)", ops.Rm, needWrite, callRm},
		{"rm-recursive", "Rm(%q, Recursive)", ops.Rm, needWrite, callRmRecursive},
		{"mkdir", "Mkdir(%q)", ops.Mkdir, needWrite, callMkdir},
		{"mkdir-recursive", "Mkdir(%q, Recursive)", ops.Mkdir, needWrite, callMkdirRecursive},
		{"create", "Create(%q) to its Commit", ops.Create, needWrite, callCreate},
		{"move-source", `Move(%q, "new/destination")`, ops.Move, needWrite | needMove, callMoveSource},
		{"move-destination", `Move("file", %q)`, ops.Move, needWrite | needMove, callMoveDestination},
		{"copy-source", `Copy(%q, "new/destination")`, ops.Copy, needWrite | needCopy, callCopySource},
		{"copy-destination", `Copy("file", %q)`, ops.Copy, needWrite | needCopy, callCopyDestination},
	}
}

// callTree is the tree that calls work on: "file" is there to be moved and
// copied.
func callTree() files {
	return files{"file": "old", "dir/child": "x", "empty/": ""}
}

// callReadFile reads a whole file.
func callReadFile(ctx context.Context, fsys workspace.FileSystem, name string) error {
	_, err := fsys.ReadFile(ctx, name)
	return err
}

// callWriteFile writes a file, with no condition.
func callWriteFile(ctx context.Context, fsys workspace.FileSystem, name string) error {
	_, err := fsys.WriteFile(ctx, name, []byte("new"), nil)
	return err
}

// callLs lists a directory.
func callLs(ctx context.Context, fsys workspace.FileSystem, name string) error {
	_, err := fsys.Ls(ctx, name, nil)
	return err
}

// callGlob finds all files below a directory. No part of the pattern is
// literal, so it cannot be answered without a look at the directory.
func callGlob(ctx context.Context, fsys workspace.FileSystem, name string) error {
	_, err := fsys.Glob(ctx, "**", &workspace.GlobOptions{Dir: name})
	return err
}

// callGrep searches a file or a directory.
func callGrep(ctx context.Context, fsys workspace.FileSystem, name string) error {
	_, err := fsys.Grep(ctx, "x", &workspace.GrepOptions{Path: name})
	return err
}

// callStat describes a name.
func callStat(ctx context.Context, fsys workspace.FileSystem, name string) error {
	_, err := fsys.Stat(ctx, name)
	return err
}

// callRm removes a file or an empty directory.
func callRm(ctx context.Context, fsys workspace.FileSystem, name string) error {
	return fsys.Rm(ctx, name, nil)
}

// callRmRecursive removes a tree.
func callRmRecursive(ctx context.Context, fsys workspace.FileSystem, name string) error {
	return fsys.Rm(ctx, name, &workspace.RmOptions{Recursive: true})
}

// callMkdir creates one directory.
func callMkdir(ctx context.Context, fsys workspace.FileSystem, name string) error {
	return fsys.Mkdir(ctx, name, nil)
}

// callMkdirRecursive creates a directory with its parents.
func callMkdirRecursive(ctx context.Context, fsys workspace.FileSystem, name string) error {
	return fsys.Mkdir(ctx, name, &workspace.MkdirOptions{Recursive: true})
}

// callWatch opens a watch and ends it at once: only the error of Watch itself
// counts.
func callWatch(ctx context.Context, fsys workspace.FileSystem, name string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	_, err := fsys.Watch(ctx, name, nil)
	return err
}

// callReadVersioned reads a file with its version.
func callReadVersioned(ctx context.Context, fsys workspace.FileSystem, name string) error {
	_, _, err := workspace.ReadVersioned(ctx, fsys, name, 0)
	return err
}

// callOpen opens a stream and closes it unread.
func callOpen(ctx context.Context, fsys workspace.FileSystem, name string) error {
	stream, _, err := workspace.Open(ctx, fsys, name, nil)
	if err != nil {
		return err
	}
	return stream.Close()
}

// callWalk walks a tree and returns the first error that the walk reports.
func callWalk(ctx context.Context, fsys workspace.FileSystem, name string) error {
	return workspace.Walk(ctx, fsys, name, nil, func(_ workspace.FileInfo, err error) error { return err })
}

// callResolve follows the symlinks of a name.
func callResolve(ctx context.Context, fsys workspace.FileSystem, name string) error {
	_, err := workspace.Resolve(ctx, fsys, name)
	return err
}

// callCreate writes a file as a stream, up to its Commit, because each step
// may return the error.
func callCreate(ctx context.Context, fsys workspace.FileSystem, name string) error {
	_, err := create(ctx, fsys, name, "new", nil)
	return err
}

// create writes name by a stream and returns the first error on the way. Which
// step fails is up to the file system: one that streams to its store learns at
// the first byte what one that collects the bytes learns at the Commit. Close
// comes last in any case, so nothing of a stream that failed stays in the
// store.
func create(ctx context.Context, fsys workspace.FileSystem, name, content string, opts *workspace.WriteOptions) (workspace.Version, error) {
	w, err := workspace.Create(ctx, fsys, name, opts)
	if err != nil {
		return "", err
	}
	defer w.Close()
	if _, err := w.Write([]byte(content)); err != nil {
		return "", err
	}
	return w.Commit()
}

// callMoveSource moves name to another name, so that name is at fault.
func callMoveSource(ctx context.Context, fsys workspace.FileSystem, name string) error {
	return workspace.Move(ctx, fsys, name, "new/destination")
}

// callMoveDestination moves a file to name, so that name is at fault.
func callMoveDestination(ctx context.Context, fsys workspace.FileSystem, name string) error {
	return workspace.Move(ctx, fsys, "file", name)
}

// callCopySource copies name, so that name is at fault.
func callCopySource(ctx context.Context, fsys workspace.FileSystem, name string) error {
	_, err := workspace.Copy(ctx, fsys, name, "new/destination")
	return err
}

// callCopyDestination copies a file to name, so that name is at fault.
func callCopyDestination(ctx context.Context, fsys workspace.FileSystem, name string) error {
	_, err := workspace.Copy(ctx, fsys, "file", name)
	return err
}
