package conformance

import (
	"io/fs"

	"github.com/workspacekit/workspacekit/workspace"
)

// errorCases has the errors that do not depend on the method.
func errorCases() []testCase {
	var cases []testCase
	for _, c := range calls() {
		if c.op != workspace.OpResolve {
			cases = append(cases, testCase{c.name + "-file-in-the-middle", "E3 E1 E2 E5", needFiles | c.needs, c.refusesFileInMiddle})
		}
		if c.wantsExisting() {
			cases = append(cases, testCase{c.name + "-missing", "E4 E1 E2 E5", needFiles | c.needs, c.refusesMissing})
		}
	}
	return cases
}

// wantsExisting reports whether c is for a name that exists.
func (c call) wantsExisting() bool {
	switch c.name {
	case "write-file", "create", "mkdir", "mkdir-recursive", "move-destination", "copy-destination", "resolve":
		return false
	}
	return true
}

func (c call) refusesFileInMiddle(e *env) {
	e.given(callTree())
	before := e.tree()
	for _, name := range []string{"dir/child/x", "dir/child/x/y"} {
		err := c.do(e.ctx, e.fsys, name)
		e.refused(err, workspace.ErrNotDir, at(c.op, name), c.text, name)
	}
	e.unchanged(before, c.text, "dir/child/x")
}

func (c call) refusesMissing(e *env) {
	e.given(callTree())
	before := e.tree()
	for _, name := range []string{"none", "dir/none", "none/none", "dir/chil", "fil", "file2", "dir/child2"} {
		err := c.do(e.ctx, e.fsys, name)
		e.refused(err, fs.ErrNotExist, at(c.op, name), c.text, name)
	}
	e.unchanged(before, c.text, "a name that does not exist")
}
