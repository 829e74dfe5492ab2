package conformance

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

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
}

// Compare makes random sequences of operations, runs each in two new, empty
// file systems, and fails t if anything that the operations return differs:
// results, their order, the kinds, Op and Path of errors, what a search
// skipped, pages, and when versions change. After every ten operations, and at
// the end, it compares the whole trees. It reports the shortest sequence that
// it finds.
//
// The reference is a file system that is known to be right, such as
// providers/memory. It must have every capability that the other one has.
// Both functions are called once for each sequence, and clean up with
// t.Cleanup.
//
// The flags of pgregory.net/rapid say how much is done: -rapid.checks is the
// number of sequences, -rapid.steps their average length, and -rapid.seed
// repeats a run. Nil opts mean the zero CompareOptions.
//
// The few differences that the contract permits are listed in
// docs/writing-a-provider.md.
func Compare(t *testing.T, newReference, newFS func(t *testing.T) workspace.FileSystem, opts *CompareOptions) {
	t.Helper()
	c := newComparison(t, newReference, newFS, opts)
	start := time.Now()
	defer func() {
		if c.sequences == 0 && !t.Failed() {
			t.Skip("no sequence ran: the flag -run leaves out the subtests of this test, or there was no time")
		}
		t.Logf("compared %d operations in %d sequences (%v)", c.steps, c.sequences, time.Since(start).Round(time.Millisecond))
	}()
	rapid.Check(t, c.check)
}

// comparison is one call of Compare. It is for one goroutine.
type comparison struct {
	t                   *testing.T
	newReference, newFS func(t *testing.T) workspace.FileSystem
	sequence            *rapid.Generator[sequence]
	until               time.Time // zero if there is no limit
	failed              bool      // what follows makes the sequence shorter
	steps, sequences    int
}

func newComparison(t *testing.T, newReference, newFS func(t *testing.T) workspace.FileSystem, opts *CompareOptions) *comparison {
	var o CompareOptions
	if opts != nil {
		o = *opts
	}
	c := &comparison{t: t, newReference: newReference, newFS: newFS, sequence: anySequence(!o.CleanNames)}
	if o.Time > 0 {
		c.until = time.Now().Add(o.Time)
	}
	return c
}

// sequence is the operations of one check.
type sequence []step

// GoString is how rapid shows the sequence that fails.
func (s sequence) GoString() string {
	text := ""
	for _, step := range s {
		text += "\n\t" + step.text
	}
	return text
}

// check runs one sequence. The file systems belong to a subtest, so that they
// are closed after it.
func (c *comparison) check(t *rapid.T) {
	if !c.failed && !c.until.IsZero() && time.Now().After(c.until) {
		return
	}
	steps := c.sequence.Draw(t, "sequence")
	difference := ""
	ran := c.t.Run("sequence", func(t *testing.T) { difference = c.run(t, steps) })
	if !ran {
		c.t.FailNow() // a file system could not be opened or closed
	}
	if difference != "" {
		c.failed = true
		t.Fatalf("%s", difference)
	}
}

// wholeTree is after how many steps the whole trees are compared.
const wholeTree = 10

// run returns the first difference, "" if there is none.
func (c *comparison) run(t *testing.T, steps sequence) string {
	want, got := newSide(c.newReference(t)), newSide(c.newFS(t))
	if lacks := missing(want.caps, got.caps); lacks != "" {
		t.Fatalf("the reference lacks %s, which the file system has", lacks)
	}
	if !got.caps.Write {
		t.Fatal("the file system cannot be written, which a comparison needs")
	}
	c.sequences++
	for i, s := range steps {
		c.steps++
		if difference := s.compare(t, want, got); difference != "" {
			return fmt.Sprintf("step %d of %d, %s (-reference +file system):\n%s", i+1, len(steps), s.text, difference)
		}
		if (i+1)%wholeTree == 0 || i == len(steps)-1 {
			if difference := treeStep().compare(t, want, got); difference != "" {
				return fmt.Sprintf("the trees after step %d of %d, %s (-reference +file system):\n%s", i+1, len(steps), s.text, difference)
			}
		}
	}
	return ""
}

// missing names what of other a file system with caps lacks, "" if nothing.
func missing(caps, other workspace.Capabilities) string {
	for _, c := range []struct {
		name        string
		has, wanted bool
	}{
		{"Write", caps.Write, true},
		{"Versions", caps.Versions, other.Versions},
		{"ConditionalWrite", caps.ConditionalWrite, other.ConditionalWrite},
		{"Move", caps.Move, other.Move},
		{"Copy", caps.Copy, other.Copy},
	} {
		if c.wanted && !c.has {
			return c.name
		}
	}
	return ""
}
