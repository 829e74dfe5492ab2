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
	"os"
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

// Sample skips the test with -short, unless its name is one of the about one in n that
// short tests try. Without -short it does nothing.
func Sample(tb testing.TB, n uint32) {
	tb.Helper()
	sum := fnv.New32a()
	io.WriteString(sum, tb.Name())
	if testing.Short() && sum.Sum32()%n != 0 {
		tb.Skipf("left out: -short tries one in %d of these", n)
	}
}
