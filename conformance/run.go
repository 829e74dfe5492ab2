package conformance

import (
	"slices"
	"testing"

	"github.com/workspacekit/workspacekit/workspace"
)

// Run tests the file systems that newFS returns against the contract. newFS is
// called once for each case, must return an empty file system that no other
// case uses, and cleans up with t.Cleanup. Cases run in parallel, so newFS and
// the functions of opts are called concurrently. Nil opts mean the zero
// [Options].
func Run(t *testing.T, newFS func(t *testing.T) workspace.FileSystem, opts *Options) {
	t.Helper()
	var o Options
	if opts != nil {
		o = *opts
	}
	all := groups()
	o.check(t, caseNames(all))
	for _, g := range all {
		t.Run(g.name, func(t *testing.T) { g.run(t, newFS, o) })
	}
}

// run runs the cases of the group that the options do not skip.
func (g group) run(t *testing.T, newFS func(t *testing.T) workspace.FileSystem, o Options) {
	for _, c := range g.cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if reason := o.leavesOut(g.name, c.name); reason != "" {
				t.Skip(reason)
			}
			c.try(newEnv(t, t, newFS(t), o))
		})
	}
}

// group is the cases of one method or subject.
type group struct {
	name  string
	cases []testCase
}

// testCase is one thing that a file system must do.
type testCase struct {
	name    string
	clauses string // ids in docs/contract.md, separated by spaces
	needs   need
	run     func(e *env)
}

// try runs c, or skips it if e lacks what it needs.
func (c testCase) try(e *env) {
	e.clauses = c.clauses
	if lacks := c.needs.lacking(e); lacks != "" {
		e.Skipf("needs %s", lacks)
	}
	c.run(e)
}

// groups returns all cases, by the method or the subject that they are about.
func groups() []group {
	return []group{
		{"Names", nameCases()},
		{"Errors", errorCases()},
		{"Context", cancelCases()},
		{"ReadFile", readFileCases()},
		{"WriteFile", slices.Concat(writeFileCases(), conditionalCases())},
		{"Ls", lsCases()},
		{"Glob", slices.Concat(globCases(), globGitignoreCases())},
		{"Grep", slices.Concat(grepCases(), grepFileCases(), grepPageCases())},
		{"Stat", statCases()},
		{"Rm", rmCases()},
		{"Mkdir", mkdirCases()},
		{"Watch", watchCases()},
		{"ReadVersioned", readVersionedCases()},
		{"Open", openCases()},
		{"Create", createCases()},
		{"Move", moveCases()},
		{"Copy", copyCases()},
		{"Walk", walkCases()},
		{"Resolve", resolveCases()},
		{"Symlink", symlinkCases()},
		{"Exact", exactCases()},
		{"Hide", hideCases()},
		{"Capabilities", capabilityCases()},
		{"Wrappers", wrapperCases()},
		{"IOFS", iofsCases()},
		{"Concurrency", concurrencyCases()},
		{"Linearizability", linearizabilityCases()},
		{"Property", propertyCases()},
	}
}

// caseNames returns the full names of all cases, by which options skip them.
func caseNames(all []group) map[string]bool {
	names := make(map[string]bool)
	for _, g := range all {
		for _, c := range g.cases {
			names[g.name+"/"+c.name] = true
		}
	}
	return names
}
