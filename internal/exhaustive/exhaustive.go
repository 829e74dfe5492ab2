// Package exhaustive says how much tests try. What takes long and seldom finds anything
// that shorter tests do not is tried with one of
//
//	WORKSPACEKIT_TESTS=long    also long tests, and all of what else is sampled, as .ci/run does
//	WORKSPACEKIT_TESTS=all     everything, as ".ci/run exhaustive" does
//
// in the environment, and not with -short. With -short alone, still less is tried.
package exhaustive

import (
	"flag"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
)

const variable = "WORKSPACEKIT_TESTS"

// level returns the value of the variable. It is read when a test asks, so that go test
// knows that a result depends on it.
var level = sync.OnceValue(func() string {
	switch level := os.Getenv(variable); level {
	case "", "long", "all":
		return level
	default:
		panic(variable + "=" + level + " is unknown: there are long and all")
	}
})

// On reports whether tests try everything.
func On() bool { return level() == "all" && !testing.Short() }

// IsLong reports whether tests try what takes long.
func IsLong() bool { return level() != "" && !testing.Short() }

// Need skips the test unless tests try everything, and says what is left out.
func Need(tb testing.TB, what string) {
	tb.Helper()
	if !On() {
		tb.Skipf("left out: %s; run it with %s=all and without -short", what, variable)
	}
}

// Some returns all if tests try everything. Otherwise it returns some, and the
// test's log says what is left out.
func Some[T any](tb testing.TB, what string, all, some T) T {
	tb.Helper()
	if On() {
		return all
	}
	tb.Logf("left out: %s; run it with %s=all and without -short", what, variable)
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
	tb.Logf("drawn by chance, one time in %d; %s=all repeats it", n, variable)
	return true
}

// Draw skips the test unless it is [Drawn].
func Draw(tb testing.TB, n int) {
	tb.Helper()
	if !Drawn(tb, n) {
		tb.Skipf("left out: each run draws one in %d of these; run it with %s=all and without -short", n, variable)
	}
}

// Sample skips the test, unless its name is one of those that [Sampled] returns.
func Sample(tb testing.TB, n uint32) {
	tb.Helper()
	if len(Sampled([]string{tb.Name()}, n)) == 0 {
		tb.Skipf("left out: a sample of one in %d of these; run all with %s=long and without -short", n, variable)
	}
}

// Sampled returns about one in n of names, the same ones in each run: one in 3n with -short alone,
// and all if tests try what takes long or -run asks for subtests.
func Sampled(names []string, n uint32) []string {
	if IsLong() || strings.Contains(flag.Lookup("test.run").Value.String(), "/") {
		return names
	}
	if isShort() {
		n *= 3
	}
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		sum := fnv.New32a()
		io.WriteString(sum, name)
		return sum.Sum32()%n != 0
	})
}

// isShort reports whether there is -short alone. With the variable, as in the step of .ci/run with
// the race detector, -short leaves out less.
func isShort() bool { return testing.Short() && level() == "" }

// NotShort skips the test with -short alone, and says what it does that takes time.
func NotShort(tb testing.TB, what string) {
	tb.Helper()
	if isShort() {
		tb.Skipf("left out: it %s; run it without -short", what)
	}
}

// Long skips the test, unless tests try what takes long: it makes many rounds, or meets many
// moments, of what other tests try once.
func Long(tb testing.TB) {
	tb.Helper()
	if !IsLong() {
		tb.Skipf("left out: it takes long; run it with %s=long and without -short", variable)
	}
}

// Program returns the path of a program that a test needs. Without it, the test is skipped, or
// fails if WORKSPACEKIT_REQUIRE_PROGRAMS is set.
func Program(tb testing.TB, name string) (path string) {
	tb.Helper()
	path, err := exec.LookPath(name)
	switch {
	case err == nil:
	case os.Getenv("WORKSPACEKIT_REQUIRE_PROGRAMS") != "":
		tb.Fatalf("%s is missing, and WORKSPACEKIT_REQUIRE_PROGRAMS is set", name)
	default:
		tb.Skipf("%s is missing: install it with the package manager of this system, as .ci/run does", name)
	}
	return path
}
