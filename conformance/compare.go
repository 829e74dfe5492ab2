package conformance

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/workspacekit/workspacekit/conformance/internal/compare"
	"github.com/workspacekit/workspacekit/workspace"
)

// CompareOptions adapt [Compare]. The zero CompareOptions are right for a
// plain provider.
type CompareOptions struct {
	// Time ends the comparison early: no sequence begins once it has passed.
	// Zero means that -rapid.checks alone says how many sequences run.
	Time time.Duration
	// CleanNames says that one of the two file systems cleans names with
	// [workspace.CleanName] and the other refuses them. Names that are not
	// valid are then left out. False means that both treat them alike.
	CleanNames bool
	// Symlink creates a symlink in one of the two file systems, as
	// [Options].Symlink does. Versions are then not compared, as a file changes
	// by several names. Nil means that there are no symlinks.
	Symlink func(t *testing.T, fsys workspace.FileSystem, target, name string)
}

// Compare makes random sequences of operations, runs each in two new, empty
// file systems, and fails t if anything that the operations return differs:
// results, their order, the kinds, Op and Path of errors, what a search
// skipped, pages, and when versions change. After every ten operations, and at
// the end, it compares the whole trees. It reports the shortest sequence that
// it finds.
//
// The reference is a file system that is known to be right, such as
// providers/memory. It must have every capability of the other one except Watch and Run,
// and the other one must declare Write. Both functions are called once for each sequence,
// and clean up with t.Cleanup.
//
// The flags of pgregory.net/rapid say how much is done: -rapid.checks is the
// number of sequences, -rapid.steps their average length, and -rapid.seed
// repeats a run. Nil opts mean the zero CompareOptions.
//
// The few differences that the contract permits are listed in
// docs/writing-a-provider.md.
func Compare(t *testing.T, newReference, newFS func(t *testing.T) workspace.FileSystem, opts *CompareOptions) {
	t.Helper()
	var o CompareOptions
	if opts != nil {
		o = *opts
	}
	c := compare.New(t, newReference, newFS, compare.Options{Time: o.Time, CleanNames: o.CleanNames, Symlink: o.Symlink, Corpus: compareCorpus()})
	start := time.Now()
	defer func() {
		if c.Sequences == 0 && !t.Failed() {
			t.Skip("no sequence ran: the flag -run leaves out the subtests of this test, or there was no time")
		}
		t.Logf("compared %d operations in %d sequences (%v)", c.Steps, c.Sequences, time.Since(start).Round(time.Millisecond))
	}()
	rapid.Check(t, c.Check)
}

// compareCorpus returns the suite's own corpora for the comparison. What cases
// test one by one meets here in sequences that nobody has written: globs of the
// corpus among unusual names, and texts with their patterns in a tree that has
// .gitignore files.
func compareCorpus() *compare.Corpus {
	c := &compare.Corpus{Ignores: []string{rootIgnore, subIgnore}}
	c.MalformedNames, _ = malformedNames()
	for _, theme := range unusualThemes() {
		c.Elements = append(c.Elements, theme.elements...)
	}
	for _, theme := range globThemes() {
		for _, p := range theme.patterns {
			c.Globs = append(c.Globs, p.pattern)
		}
	}
	for _, theme := range grepThemes() {
		t := compare.Theme{Content: theme.content}
		for _, p := range theme.patterns {
			t.Patterns = append(t.Patterns, compare.Pattern{Text: p.pattern, Opts: p.opts})
		}
		c.Themes = append(c.Themes, t)
	}
	return c
}
