package conformance

import (
	"errors"
	"fmt"
	"io/fs"
	"sync"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

// moveCases are the cases for Move. A model renames as a part of larger
// changes: what is lost on the way, or replaced without a word, is noticed much
// later.
var moveCases = []testCase{
	{"file", "MV1", needWrite | needMove, moveFile},
	{"directory", "MV1", needWrite | needMove, moveDirectory},
	{"empty-directory", "MV1", needWrite | needMove, moveEmptyDirectory},
	{"missing-parents", "MV2", needWrite | needMove, moveMissingParents},
	{"leaves-parent", "MV1 X7", needWrite | needMove, moveLeavesParent},
	{"existing-destination", "MV3 E1 E2 E5", needWrite | needMove, moveExisting},
	{"onto-itself", "MV3 E5", needWrite | needMove, moveOntoItself},
	{"root", "MV4 E1 E2 E5", needWrite | needMove, moveRoot},
	{"below-itself", "MV4 E1 E2 E5", needWrite | needMove, moveBelowItself},
	{"below-file", "E3 E1 E2 E5", needWrite | needMove, moveBelowFile},
	{"prefix-of-siblings", "MV1", needWrite | needMove, movePrefix},
	{"at-every-moment-one-name", "MV5", needWrite | needMove, moveAtomically},
	{"race-for-destination", "MV6", needWrite | needMove, moveRace},
	{"race-for-source", "MV6", needWrite | needMove, moveSourceRace},
	{"and-write-again", "MV1 W1", needWrite | needMove, moveAndWriteAgain},
}

// moveFile tests that a file moves with its bytes, to another directory and to
// another name. A Move that copies leaves the old name, and a search finds
// everything twice.
func moveFile(e *env) {
	e.given(files{"file": everyByte(), "dir/other": "x"})
	e.move("file", "dir/file")
	e.leaves(files{"dir/": "", "dir/file": everyByte(), "dir/other": "x"}, "Move(%q, %q)", "file", "dir/file")
	_, err := e.fsys.Stat(e.ctx, "file")
	e.refused(err, fs.ErrNotExist, at(ops.Stat, "file"), "Stat(%q) after Move", "file")
	e.move("dir/file", "renamed")
	e.leaves(files{"dir/": "", "dir/other": "x", "renamed": everyByte()}, "Move(%q, %q)", "dir/file", "renamed")
}

// moveDirectory tests that a directory moves with everything below it, hidden
// names included. A pattern such as "a/*" of a shell leaves out the hidden
// ones, and a store without directories the empty ones.
func moveDirectory(e *env) {
	e.given(files{"a/b/file": "deep", "a/empty/": "", "a/file": "x", "a/.hidden": "h"})
	e.move("a", "c")
	e.leaves(files{"c/": "", "c/b/": "", "c/b/file": "deep", "c/empty/": "", "c/file": "x", "c/.hidden": "h"}, "Move(%q, %q)", "a", "c")
}

// moveEmptyDirectory tests that an empty directory moves.
func moveEmptyDirectory(e *env) {
	e.given(files{"a/": "", "dir/": ""})
	e.move("a", "dir/b")
	e.leaves(files{"dir/": "", "dir/b/": ""}, "Move(%q, %q)", "a", "dir/b")
}

// moveMissingParents tests that Move creates the parents of the destination.
// The system call refuses this, so a provider must make them first.
func moveMissingParents(e *env) {
	e.given(files{"file": "x", "dir/child": "y"})
	e.move("file", "new/parents/file")
	e.move("dir", "other/parents/dir")
	e.leaves(files{
		"new/": "", "new/parents/": "", "new/parents/file": "x",
		"other/": "", "other/parents/": "", "other/parents/dir/": "", "other/parents/dir/child": "y",
	}, "Move to names without parents")
}

// moveLeavesParent tests that a directory stays when its last file moves away.
func moveLeavesParent(e *env) {
	e.given(files{"dir/sub/file": "x"})
	e.move("dir/sub/file", "file")
	e.leaves(files{"dir/": "", "dir/sub/": "", "file": "x"}, "Move(%q, %q)", "dir/sub/file", "file")
}

// moveExisting tests that Move replaces nothing, not even an empty directory.
// rename(2) replaces files and empty directories, and the program mv moves into
// a directory instead. A model that has not looked would destroy somebody's
// file.
func moveExisting(e *env) {
	e.given(files{"file": "f", "other": "o", "dir/child": "d", "full/child": "c", "empty/": ""})
	before := e.tree()
	for _, c := range [][2]string{
		{"file", "other"}, {"file", "dir"}, {"file", "empty"}, {"file", "dir/child"},
		{"dir", "other"}, {"dir", "full"}, {"dir", "empty"}, {"empty", "dir"}, {"empty", "file"}, {"dir", "full/child"},
	} {
		err := workspace.Move(e.ctx, e.fsys, c[0], c[1])
		e.refused(err, fs.ErrExist, at(ops.Move, c[1]), "Move(%q, %q)", c[0], c[1])
	}
	e.unchanged(before, "Move to names that exist")
}

// moveOntoItself tests that a move to the same name is refused and changes
// nothing. A provider that copies and then removes the source would remove the
// only one. rename(2) does nothing and succeeds.
func moveOntoItself(e *env) {
	e.given(files{"file": "f", "dir/child": "d"})
	before := e.tree()
	for _, name := range []string{"file", "dir"} {
		err := workspace.Move(e.ctx, e.fsys, name, name)
		e.refusedAny(err, []error{fs.ErrExist, fs.ErrInvalid}, at(ops.Move, name), "Move(%q, %q)", name, name)
	}
	e.unchanged(before, "Move of names to themselves")
}

// moveRoot tests that the root cannot move, and that nothing can move to its
// name.
func moveRoot(e *env) {
	e.given(files{"file": "f", "dir/child": "d"})
	before := e.tree()
	for _, destination := range []string{"new", "dir/new"} {
		err := workspace.Move(e.ctx, e.fsys, ".", destination)
		e.refused(err, fs.ErrInvalid, at(ops.Move, "."), "Move(%q, %q)", ".", destination)
	}
	err := workspace.Move(e.ctx, e.fsys, "file", ".")
	e.refused(err, fs.ErrExist, at(ops.Move, "."), "Move(%q, %q)", "file", ".")
	e.unchanged(before, "Move of the root")
}

// moveBelowItself tests that a directory cannot move into itself. A provider
// that moves key by key may never end, as it lists the new keys below the old
// name. Whether the destination exists makes no difference: the source is at
// fault.
func moveBelowItself(e *env) {
	e.given(files{"dir/sub/child": "d"})
	before := e.tree()
	for _, destination := range []string{"dir/new", "dir/sub/new", "dir/no/parent", "dir/sub", "dir/sub/child", "dir/sub/child/new"} {
		err := workspace.Move(e.ctx, e.fsys, "dir", destination)
		e.refused(err, fs.ErrInvalid, at(ops.Move, "dir"), "Move(%q, %q)", "dir", destination)
	}
	e.unchanged(before, "Move of a directory below itself")
}

// moveBelowFile moves to names below a file, which may be the one that moves.
// For a file there is no "below itself": the destination is at fault, as it is
// for every other name below a file.
func moveBelowFile(e *env) {
	e.given(files{"file": "f", "dir/child": "d"})
	before := e.tree()
	for _, c := range [][2]string{{"file", "file/new"}, {"file", "file/no/parent"}, {"file", "dir/child/new"}, {"dir", "file/new"}} {
		err := workspace.Move(e.ctx, e.fsys, c[0], c[1])
		e.refused(err, workspace.ErrNotDir, at(ops.Move, c[1]), "Move(%q, %q)", c[0], c[1])
	}
	e.unchanged(before, "Move to names below a file")
}

// movePrefix moves a name that others begin with, and to such a name. Keys that
// begin with "a" are not all below "a".
func movePrefix(e *env) {
	e.given(files{"a/x": "1", "ab": "2", "a-b/x": "3", "a0": "4"})
	e.move("a", "abc")
	e.leaves(files{"abc/": "", "abc/x": "1", "ab": "2", "a-b/": "", "a-b/x": "3", "a0": "4"}, "Move(%q, %q)", "a", "abc")
}

// moveAtomically looks at the old name and then at the new one while a file
// moves once: it has never left the one before it has the other. The order of
// the two looks matters. If the old name is missing, the move has taken place,
// so the new one must be there; in the other order a move between the looks
// would hide both. A reader that finds neither reports a file as lost.
func moveAtomically(e *env) {
	for round := range 30 {
		from, to := fmt.Sprintf("from%d", round), fmt.Sprintf("to%d", round)
		e.given(files{from: "x"})
		moved := make(chan error, 1)
		go func() {
			defer close(moved)
			moved <- workspace.Move(e.ctx, e.fsys, from, to)
		}()
		for running := true; running; {
			select {
			case err := <-moved:
				if err != nil {
					e.Fatalf("Move(%q, %q) = %v, want nil", from, to, err)
				}
				running = false
			default:
			}
			_, oldErr := e.fsys.Stat(e.ctx, from)
			_, newErr := e.fsys.Stat(e.ctx, to)
			if oldErr != nil && newErr != nil {
				<-moved
				e.Fatalf("during Move(%q, %q), Stat of the one = %v and then of the other = %v, want one of them", from, to, oldErr, newErr)
			}
		}
		e.has(to, "x")
	}
}

// moveRace moves several files to one name. It finds a look at the destination
// and then a rename: the file that moved first is replaced by the second, and
// its bytes are nowhere.
func moveRace(e *env) {
	const movers = 16
	errs := make([]error, movers)
	sources := make([]string, movers)
	for i := range movers {
		sources[i] = fmt.Sprintf("source%02d", i)
		e.given(files{sources[i]: sources[i]})
	}
	together(movers, func(i int) { errs[i] = workspace.Move(e.ctx, e.fsys, sources[i], "destination") })
	want := make(files)
	for i, err := range errs {
		if err == nil {
			want["destination"] += sources[i]
			continue
		}
		e.refused(err, fs.ErrExist, at(ops.Move, "destination"), "Move(%q, %q) by one of %d", sources[i], "destination", movers)
		want[sources[i]] = sources[i]
	}
	e.leaves(want, "%d concurrent Move to %q", movers, "destination")
}

// together runs n functions that begin at the same moment, and waits for them.
// run is called with 0 to n-1. It must not end the case, which only the test's
// own goroutine can.
func together(n int, run func(i int)) {
	var start, done sync.WaitGroup
	start.Add(1)
	for i := range n {
		done.Go(func() {
			start.Wait()
			run(i)
		})
	}
	start.Done()
	done.Wait()
}

// moveSourceRace moves one file to several names. A provider that copies before
// it removes makes several files of one.
func moveSourceRace(e *env) {
	const movers = 16
	e.given(files{"source": "x"})
	errs := make([]error, movers)
	together(movers, func(i int) { errs[i] = workspace.Move(e.ctx, e.fsys, "source", fmt.Sprintf("to%02d", i)) })
	want := make(files)
	for i, err := range errs {
		if err == nil {
			want[fmt.Sprintf("to%02d", i)] = "x"
		} else if !errors.Is(err, fs.ErrNotExist) {
			e.Errorf("Move(%q) by one of %d = %v, want %q", "source", movers, err, fs.ErrNotExist)
		}
	}
	if len(want) != 1 {
		e.Errorf("%d of %d concurrent Move(%q) succeeded, want 1", len(want), movers, "source")
	}
	e.leaves(want, "%d concurrent Move(%q)", movers, "source")
}

// moveAndWriteAgain tests that the old name is free after a move. A rename that
// leaves a pointer to the new name would send the second write to the moved
// file.
func moveAndWriteAgain(e *env) {
	e.write("file", "one")
	e.move("file", "moved")
	e.write("file", "two")
	e.leaves(files{"file": "two", "moved": "one"}, "WriteFile(%q) after Move", "file")
}
