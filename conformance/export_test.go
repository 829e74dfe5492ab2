package conformance

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"pgregory.net/rapid"

	"github.com/workspacekit/workspacekit/conformance/internal/compare"
	"github.com/workspacekit/workspacekit/workspace"
)

// Outcome is how a case ended that was run to see whether it fails.
type Outcome struct {
	Failed, Skipped bool
	Log             string
	Late            func() bool // whether the case has failed or logged after its end; of RunCase only
}

// RunCase runs the case "Group/case" on fsys without failing t.
func RunCase(t *testing.T, name string, fsys workspace.FileSystem, opts Options) Outcome {
	t.Helper()
	r := &recorder{TB: t, name: name}
	c := find(t, name)
	r.run(func() { c.tryInTime(newEnv(r, t, fsys, opts)) })
	logged := len(r.log)
	return Outcome{Failed: r.Failed(), Skipped: r.skipped, Log: strings.Join(r.log, "\n"), Late: func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return len(r.log) > logged
	}}
}

func find(t *testing.T, name string) testCase {
	t.Helper()
	for _, g := range groups() {
		for _, c := range g.cases {
			if g.name+"/"+c.name == name {
				return c
			}
		}
	}
	t.Fatalf("there is no case %q", name)
	return testCase{}
}

// CaseNames returns every "Group/case", sorted.
func CaseNames() []string { return slices.Sorted(maps.Keys(caseNames(groups()))) }

// CitedClauses returns the clauses of each "Group/case".
func CitedClauses() map[string][]string {
	cited := make(map[string][]string)
	for _, g := range groups() {
		for _, c := range g.cases {
			cited[g.name+"/"+c.name] = strings.Fields(c.clauses)
		}
	}
	return cited
}

// CheckSkips returns what Run reports for opts before it runs a case.
func CheckSkips(t *testing.T, opts Options) Outcome {
	t.Helper()
	r := &recorder{TB: t}
	r.run(func() { opts.check(r, caseNames(groups())) })
	return Outcome{Failed: r.Failed(), Log: strings.Join(r.log, "\n")}
}

// RunCompare runs Compare without failing t.
func RunCompare(t *testing.T, newReference, newFS func(t *testing.T) workspace.FileSystem, opts CompareOptions) Outcome {
	t.Helper()
	r := &recorder{TB: t, name: t.Name()}
	r.run(func() {
		rapid.Check(r, compare.New(t, newReference, newFS, compare.Options{Symlink: opts.Symlink, Corpus: compareCorpus()}).Check)
	})
	return Outcome{Failed: r.Failed(), Log: strings.Join(r.log, "\n")}
}

// CheckWrites looks, for timeout at most, for an order of writes that all happen at the same
// time, and of a read after them that returns what none of them has written.
func CheckWrites(t *testing.T, writes int, timeout time.Duration) Outcome {
	t.Helper()
	r := &recorder{TB: t}
	h := &history{env: &env{TB: r, givenUp: new(atomic.Bool)}}
	for i := range writes {
		h.operations = append(h.operations, porcupine.Operation{ClientId: i, Return: 1, Input: regInput{kind: regWrite, content: fmt.Sprint(i)}, Output: regState{}})
	}
	h.operations = append(h.operations, porcupine.Operation{Call: 2, Return: 3, Input: regInput{kind: regRead}, Output: regState{content: "other", ok: true}})
	r.run(func() { h.check(regState{}, timeout) })
	return Outcome{Failed: r.Failed(), Skipped: r.skipped, Log: strings.Join(r.log, "\n")}
}
