package conformance

import (
	"io/fs"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

// errorCases has the errors that do not depend on the method. The kind of an
// error is what a model acts on: it creates what does not exist, chooses
// another name where something is in the way, and lists where it expected a
// file. The wrong kind sends it the wrong way.
func errorCases() []testCase {
	var cases []testCase
	for _, c := range calls() {
		if c.op != ops.Resolve {
			cases = append(cases, testCase{c.name + "-file-in-the-middle", "E3 E1 E2 E5", needFiles | c.needs, c.refusesFileInMiddle})
		}
		if c.wantsExisting() {
			cases = append(cases, testCase{c.name + "-missing", "E4 E1 E2 E5", needFiles | c.needs, c.refusesMissing})
		}
	}
	return append(cases, testCase{"behind-options", "E3 E4 L4 L5 G12 WK5", needFiles, errorsBehindOptions})
}

// errorsBehindOptions tests that options which leave everything out do not hide
// that the directory does not exist, or is a file. A provider that finds that
// nothing can come after After, and returns an empty page without a request,
// tells an agent that it has seen all of a directory that is not there.
func errorsBehindOptions(e *env) {
	e.given(callTree())
	for dir, kind := range map[string]error{
		"none": fs.ErrNotExist, "dir/none": fs.ErrNotExist, "none/none": fs.ErrNotExist,
		"file": workspace.ErrNotDir, "dir/child": workspace.ErrNotDir, "dir/child/x": workspace.ErrNotDir,
	} {
		for _, after := range []string{"", "a", dir, dir + "/x", "zzz", "\U0010ffff"} {
			for _, limit := range []int{0, 1} {
				ls := &workspace.LsOptions{After: after, Limit: limit}
				_, err := e.fsys.Ls(e.ctx, dir, ls)
				e.refused(err, kind, at(ops.Ls, dir), "Ls(%q, %+v)", dir, *ls)
				for _, pattern := range []string{"*", "**", "*/", "none", "a/b", "a/**", "[a]/b"} {
					glob := &workspace.GlobOptions{Dir: dir, After: after, Limit: limit}
					_, err := e.fsys.Glob(e.ctx, pattern, glob)
					e.refused(err, kind, at(ops.Glob, dir), "Glob(%q, %+v)", pattern, *glob)
				}
			}
			walk := &workspace.WalkOptions{After: after}
			err := workspace.Walk(e.ctx, e.fsys, dir, walk, func(workspace.FileInfo, error) error { return nil })
			e.refused(err, kind, at(ops.Walk, dir), "Walk(%q, %+v)", dir, *walk)
		}
	}
}

// wantsExisting reports whether c is for a name that exists. Resolve is not: it
// keeps elements that do not exist.
func (c call) wantsExisting() bool {
	switch c.name {
	case "write-file", "create", "mkdir", "mkdir-recursive", "move-destination", "copy-destination", "resolve":
		return false
	}
	return true
}

// refusesFileInMiddle tests c with names below a file: they are ErrNotDir, not
// missing. In a bucket nothing stands in the way, and a write makes a name that
// is a file and a directory at once. Where a read says that the name is
// missing, a model creates it, and is refused.
func (c call) refusesFileInMiddle(e *env) {
	e.given(callTree())
	before := e.tree()
	for _, name := range []string{"dir/child/x", "dir/child/x/y"} {
		err := c.do(e.ctx, e.fsys, name)
		e.refused(err, workspace.ErrNotDir, at(c.op, name), c.text, name)
	}
	e.unchanged(before, c.text, "dir/child/x")
}

// refusesMissing tests c with names that do not exist, in directories that do
// and that do not. Some names are the beginning of others, and some begin with
// others: a store that asks for keys with a prefix finds "dir/child" where
// "dir/chil" was asked for.
func (c call) refusesMissing(e *env) {
	e.given(callTree())
	before := e.tree()
	for _, name := range []string{"none", "dir/none", "none/none", "dir/chil", "fil", "file2", "dir/child2"} {
		err := c.do(e.ctx, e.fsys, name)
		e.refused(err, fs.ErrNotExist, at(c.op, name), c.text, name)
	}
	e.unchanged(before, c.text, "a name that does not exist")
}
