// Package exhaustive says how much tests try. What takes long and seldom finds
// anything that shorter tests do not is tried only with
//
//	WORKSPACEKIT_EXHAUSTIVE=1
//
// in the environment, as in ".ci/run exhaustive", and never with -short.
package exhaustive

import (
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
