package conformance

import (
	"context"
	"errors"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/fallback"
)

// Run tests the file systems that newFS returns against the contract. newFS is
// called once for each case, must return an empty file system that no other
// case uses, and cleans up with t.Cleanup. Cases run in parallel, so newFS and
// the functions of opts are called concurrently. Nil opts mean the zero
// [Options].
//
// A case that lacks what it needs is skipped and says so, which is no failure.
// A mistake in opts, such as a reason that is missing in Skip, is one.
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

// check fails t for entries of Skip and Only that have no effect, and for those
// of Skip that have no reason.
func (o Options) check(t testing.TB, known map[string]bool) {
	t.Helper()
	for name, reason := range o.Skip {
		if !known[name] {
			t.Errorf("conformance: Options.Skip[%q]: there is no such case", name)
		}
		if reason == "" {
			t.Errorf("conformance: Options.Skip[%q] gives no reason", name)
		}
	}
	for _, name := range o.Only {
		if !known[name] && !isGroup(name) {
			t.Errorf("conformance: Options.Only has %q, and there is no such case or group", name)
		}
	}
}

// isGroup reports whether name is the name of a group.
func isGroup(name string) bool {
	return slices.ContainsFunc(groups(), func(g group) bool { return g.name == name })
}

// shortShare is how many cases of a group there are for one that runs with both
// Options.Short and -short. The first case that Skip and Only leave in always
// runs, so no group is forgotten.
const shortShare = 4

// run runs the cases of the group that the options do not leave out.
func (g group) run(t *testing.T, newFS func(t *testing.T) workspace.FileSystem, o Options) {
	wanted := 0
	for _, c := range g.cases {
		reason := o.leavesOut(g.name, c.name)
		if reason == "" {
			if o.Short && testing.Short() && wanted%shortShare != 0 {
				reason = "left out by Options.Short and -short"
			}
			wanted++
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if reason != "" {
				t.Skip(reason)
			}
			c.tryInTime(newEnv(t, t, newFS(t), o))
		})
	}
}

// leavesOut returns why the case is left out, "" if it is not. Skip comes
// before Only, because its reason says more.
func (o Options) leavesOut(group, name string) string {
	full := group + "/" + name
	if reason, skip := o.Skip[full]; skip {
		return "left out by Options.Skip: " + reason
	}
	if len(o.Only) > 0 && !slices.Contains(o.Only, group) && !slices.Contains(o.Only, full) {
		return "left out by Options.Only"
	}
	return ""
}

// group is the cases of one method or subject.
type group struct {
	name  string
	cases []testCase
}

// testCase is one thing that a file system must do. Its name is a part of the
// documented interface: users write it in Skip and after -run. The tests of
// this package want clauses that exist, and a mutant, which is a file system
// with one mistake, that the case finds.
type testCase struct {
	name    string
	clauses string // ids in docs/contract.md, separated by spaces
	needs   need
	run     func(e *env)
}

// endTime is how long calls of a case that takes too long have to obey the end of their
// context.
const endTime = 2 * time.Second

// tryInTime is try, and fails the case if it takes too long or panics. A call that never
// returns keeps its goroutine, one that returns later ends it, and the other cases go on.
func (c testCase) tryInTime(e *env) {
	e.clauses = c.clauses
	var cancel context.CancelFunc
	e.ctx, cancel = context.WithCancel(e.ctx)
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if p := recover(); p != nil {
				e.Errorf("panic: %v\n%s", p, debug.Stack())
			}
		}()
		c.try(e)
	}()
	select {
	case <-done:
	case <-time.After(e.opts.caseTime()):
		e.Errorf("not done after %v (Options.CaseTime): does a call wait for a lock that this case's own calls hold? With a shorter -timeout, go test shows where", e.opts.caseTime())
		cancel()
		select {
		case <-done:
		case <-time.After(endTime):
			e.givenUp.Store(true)
		}
	}
}

// try runs c, or skips it if e lacks what it needs. The needs are asked of e,
// and so of what the file system declares: the Capabilities group tests that
// this is true.
func (c testCase) try(e *env) {
	if lacks := c.needs.lacking(e); lacks != "" {
		e.Skipf("needs %s", lacks)
	}
	c.run(e)
}

// groups returns all cases, by the method or the subject that they are about.
//
// A group is a file, mostly: a table of its cases, and below it a function for
// each. Several files serve them all.
//
//	env.go tree.go refused.go        prepare files, make calls, compare trees and errors
//	call.go                          every call that gets a name, for rules that hold for all
//	globcorpus.go grepcorpus.go      patterns, and what they match
//	watcher.go                       reads events, within a time
//	model.go property.go             random operations beside a simple tree
//	compare.go internal/compare      random operations in two file systems
//
// A new case needs a clause that it cites, and a mutant that it finds.
func groups() []group {
	return []group{
		{"Names", nameCases()},
		{"Errors", errorCases()},
		{"Context", cancelCases()},
		{"ReadFile", readFileCases},
		{"WriteFile", slices.Concat(writeFileCases, conditionalCases)},
		{"Ls", lsCases},
		{"Glob", slices.Concat(globCases(), globGitignoreCases)},
		{"Grep", slices.Concat(grepCases(), grepFileCases, grepPageCases)},
		{"Stat", statCases},
		{"Rm", rmCases},
		{"Mkdir", mkdirCases},
		{"Watch", watchCases},
		{"ReadVersioned", readVersionedCases},
		{"Open", openCases},
		{"Create", createCases},
		{"Move", moveCases},
		{"Copy", copyCases},
		{"Run", runCases},
		{"Walk", walkCases},
		{"Resolve", resolveCases},
		{"Symlink", symlinkCases},
		{"Exact", exactCases},
		{"Hide", hideCases},
		{"Capabilities", capabilityCases},
		{"Wrappers", wrapperCases},
		{"IOFS", iofsCases},
		{"Concurrency", concurrencyCases},
		{"Linearizability", linearizabilityCases},
		{"Property", propertyCases},
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

// need is a set of things without which a case cannot run. A case that needs
// several has all of their bits.
type need uint

// The needs of cases. features says how each is found out.
const (
	// needFiles is a way to prepare files: the file system's own writes or
	// those of a peer.
	needFiles need = 1 << iota
	needWrite
	needVersions
	needConditional
	needWatch
	needMove
	needCopy
	needRun
	needSymlink
	needRefusal // names are refused, not cleaned
	needCleaning
	needOpener
	needCreator
	needExact
	needHider
	needTime // too long for -short and Options.Short
)

// lacking says which of n the file system of e has not, "" if it has all.
func (n need) lacking(e *env) string {
	var lacks []string
	for _, f := range features() {
		if n&f.need != 0 && !f.has(e) {
			lacks = append(lacks, f.name)
		}
	}
	return strings.Join(lacks, " and ")
}

// feature is one need: how a skipped case calls it, and how to find out.
type feature struct {
	need need
	name string
	has  func(e *env) bool // whether what is tested has it
}

// features lists the needs of cases, each with a way to ask whether a file
// system has it.
func features() []feature {
	return []feature{
		{needFiles, "Capabilities.Write or Options.Peer", func(e *env) bool { return e.caps.Write || e.opts.Peer != nil }},
		{needWrite, "Capabilities.Write", func(e *env) bool { return e.caps.Write }},
		{needVersions, "Capabilities.Versions", func(e *env) bool { return e.caps.Versions }},
		{needConditional, "Capabilities.ConditionalWrite", func(e *env) bool { return e.caps.ConditionalWrite }},
		{needWatch, "Capabilities.Watch", func(e *env) bool { return e.caps.Watch != workspace.WatchNone }},
		{needMove, "Capabilities.Move", func(e *env) bool { return e.caps.Move }},
		{needCopy, "Capabilities.Copy", func(e *env) bool { return e.caps.Copy }},
		{needRun, "Capabilities.Run", func(e *env) bool { return e.caps.Run }},
		{needSymlink, "Options.Symlink", func(e *env) bool { return e.opts.Symlink != nil }},
		{needRefusal, "Options.CleanNames to be false", func(e *env) bool { return !e.opts.CleanNames }},
		{needCleaning, "Options.CleanNames", func(e *env) bool { return e.opts.CleanNames }},
		{needOpener, "an Opener", func(e *env) bool { _, ok := workspace.As[workspace.Opener](e.fsys); return ok }},
		{needCreator, "a Creator", func(e *env) bool { _, ok := workspace.As[workspace.Creator](e.fsys); return ok }},
		{needExact, "an exact view", func(e *env) bool { _, err := workspace.Exact(e.fsys); return err == nil }},
		{needHider, "a Hider", hasHider},
		{needTime, "time, and -short or Options.Short is set", func(e *env) bool { return !e.short }},
	}
}

// hasHider reports whether the file system has a Hider that can hide names: a wrapper
// says only then whether what it wraps can.
func hasHider(e *env) bool {
	hider, ok := workspace.As[fallback.Hider](e.fsys)
	if !ok {
		return false
	}
	_, err := hider.Hide(hiddenIn)
	return !errors.Is(err, errors.ErrUnsupported)
}
