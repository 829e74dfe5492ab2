// Package exhaustive says how much tests try. What takes long and seldom finds
// anything that shorter tests do not is tried only with
//
//	WORKSPACEKIT_EXHAUSTIVE=1
//
// in the environment, as in ".ci/run exhaustive", and never with -short.
package exhaustive

import (
	"hash/fnv"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
)

const variable = "WORKSPACEKIT_EXHAUSTIVE"

// On reports whether tests try everything.
func On() bool { return os.Getenv(variable) != "" && !testing.Short() }

// Need skips the test unless tests try everything, and says what is left out.
func Need(tb testing.TB, what string) {
	tb.Helper()
	if !On() {
		tb.Skipf("left out: %s; run it with %s=1 and without -short", what, variable)
	}
}

// Some returns all if tests try everything. Otherwise it returns some, and the
// test's log says what is left out.
func Some[T any](tb testing.TB, what string, all, some T) T {
	tb.Helper()
	if On() {
		return all
	}
	tb.Logf("left out: %s; run it with %s=1 and without -short", what, variable)
	return some
}

// Drawn reports whether this run tries one of many like cases: about one time in n,
// and always if tests try everything. Each run draws others, so what fails in one may
// be left out of the next: the test's log says how to try it again.
func Drawn(tb testing.TB, n int) bool {
	tb.Helper()
	if On() {
		return true
	}
	if rand.IntN(n) > 0 {
		return false
	}
	tb.Logf("drawn by chance, one time in %d; %s=1 repeats it", n, variable)
	return true
}

// Draw skips the test unless it is [Drawn].
func Draw(tb testing.TB, n int) {
	tb.Helper()
	if !Drawn(tb, n) {
		tb.Skipf("left out: each run draws one in %d of these; run it with %s=1 and without -short", n, variable)
	}
}

// Sample skips the test with -short, unless its name is one of the about one in n that
// short tests try. Without -short it does nothing.
func Sample(tb testing.TB, n uint32) {
	tb.Helper()
	if len(Sampled([]string{tb.Name()}, n)) == 0 {
		tb.Skipf("left out: -short tries one in %d of these", n)
	}
}

// Sampled returns all names, or with -short the about one in n that short tests try:
// the same ones in each run.
func Sampled(names []string, n uint32) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		sum := fnv.New32a()
		io.WriteString(sum, name)
		return testing.Short() && sum.Sum32()%n != 0
	})
}

// Long skips the test with -short: it makes many rounds, or meets many moments, of what
// other tests try once.
func Long(tb testing.TB) {
	tb.Helper()
	if testing.Short() {
		tb.Skip("left out: it takes too long for -short")
	}
}
