// Package compare runs random sequences of operations in two file systems and
// reports the first difference.
//
// A [step] is one operation with its arguments, drawn before it runs, so that
// package rapid can leave steps out to find the shortest sequence that fails. A
// [side] is one of the two file systems, with what it has returned so far: the
// versions, which may differ between the two, must change at the same steps.
//
//	values.go                          the arguments
//	read.go write.go list.go search.go one generator of steps for each operation
//	side.go version.go                 what a step returns, made comparable
//	compare.go                         the sequences, and the comparison
package compare

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/workspacekit/workspacekit/workspace"
)

// Options adapt a [Comparison].
type Options struct {
	Time       time.Duration // no sequence begins once it has passed; zero means no limit
	CleanNames bool          // names that are not valid are left out
	// Symlink creates a symlink in a file system. Nil means that there are none.
	Symlink func(t *testing.T, fsys workspace.FileSystem, target, name string)
	Corpus  *Corpus
}

// Corpus is what the arguments of the operations are drawn from, beside names
// and patterns that are made up.
type Corpus struct {
	Elements       []string // unusual elements of names
	MalformedNames []string
	Ignores        []string // contents of a .gitignore
	Globs          []string
	Themes         []Theme
}

// Theme is a text, and patterns that find something in it.
type Theme struct {
	Content  string
	Patterns []Pattern
}

// Pattern is a pattern of a grep. Of its options only IgnoreCase, Literal and
// Multiline matter.
type Pattern struct {
	Text string
	Opts workspace.GrepOptions
}

// Comparison runs random sequences of operations in two file systems. It is for
// one goroutine. It has a reference that is trusted and a file system that is
// tested, both new for each sequence, and ends at the first step whose answers
// differ.
type Comparison struct {
	t                   *testing.T
	newReference, newFS func(t *testing.T) workspace.FileSystem
	symlink             func(t *testing.T, fsys workspace.FileSystem, target, name string)
	sequence            *rapid.Generator[sequence]
	until               time.Time // zero if there is no limit
	failed              bool      // what follows makes the sequence shorter
	Steps, Sequences    int       // how much has been compared
}

// New returns a comparison of the file systems that the two functions return,
// which are called once for each sequence. The time of o begins now.
func New(t *testing.T, newReference, newFS func(t *testing.T) workspace.FileSystem, o Options) *Comparison {
	c := &Comparison{t: t, newReference: newReference, newFS: newFS, symlink: o.Symlink, sequence: anySequence(o.Corpus, !o.CleanNames, o.Symlink != nil)}
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

// anySequence makes sequences of -rapid.steps operations on average. Names and
// patterns that are malformed are among them if malformed is set, and symlinks if
// linked is. The first
// steps write some of the names, so that there is something to find. One step
// in fifty has a context that has ended, and must change nothing on either
// side.
func anySequence(corpus *Corpus, malformed, linked bool) *rapid.Generator[sequence] {
	return rapid.Custom(func(t *rapid.T) sequence {
		g := newGenerators(t, corpus, malformed)
		var s sequence
		for _, name := range g.names {
			if rapid.Bool().Draw(t, "exists") {
				s = append(s, g.write(t, name, noOptions))
			}
		}
		any := g.step()
		if linked {
			any = seldom(8, any, g.symlink())
		}
		t.Repeat(map[string]func(*rapid.T){"step": func(t *rapid.T) {
			next := any.Draw(t, "step")
			if rapid.IntRange(0, 49).Draw(t, "ended") == 49 {
				next.ended = true
				next.text += ", its context ended"
			}
			s = append(s, next)
		}})
		return s
	})
}

// step draws an operation with its arguments. What is listed more often is
// drawn more often: without writes, everything else would find an empty tree.
func (g *generators) step() *rapid.Generator[step] {
	return oneOf(
		g.writeFile(), g.writeFile(), g.writeFile(), g.writeFile(), g.writeFile(), g.create(), g.mkdir(), g.rm(), g.move(), g.copy(),
		g.readFile(), g.readVersioned(), g.open(), g.ls(), g.lsPages(), g.stat(), g.glob(), g.glob(), g.globPages(),
		g.grep(), g.grep(), g.grepPages(), g.walk(), g.resolve(),
	)
}

// Check runs one sequence, for [rapid.Check]. The file systems belong to a
// subtest, so that they are closed after it. Once a sequence has failed, rapid
// calls Check with shorter ones, to which the time limit does not apply. Until
// then, a call after the limit passes and does nothing.
func (c *Comparison) Check(t *rapid.T) {
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

// wholeTree is after how many steps the whole trees are compared. It finds a
// change that no step has looked at, near the step that made it.
const wholeTree = 10

// run returns the first difference, "" if there is none. A reference that lacks
// something, and a file system that cannot be opened or written, are no
// difference: they end the whole comparison.
func (c *Comparison) run(t *testing.T, steps sequence) string {
	want, got := c.newSide(t, c.newReference), c.newSide(t, c.newFS)
	if lacks := missing(want.caps, got.caps); lacks != "" {
		t.Fatalf("the reference lacks %s, which the file system has", lacks)
	}
	if !got.caps.Write {
		t.Fatal("the file system cannot be written, which a comparison needs")
	}
	c.Sequences++
	for i, s := range steps {
		c.Steps++
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
// Writing is always needed. Watches are not compared.
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
