package glob_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/workspacekit/workspacekit/internal/glob"
)

// enter returns the state of pattern in dir.
func enter(t testing.TB, pattern, dir string) glob.State {
	t.Helper()
	state := compile(t, pattern).Start()
	if dir == "." {
		return state
	}
	for name := range strings.SplitSeq(dir, "/") {
		state = state.Enter(name)
	}
	return state
}

func TestStateEmpty(t *testing.T) {
	tests := []struct {
		pattern, dir string
		want         bool
	}{
		{"*", ".", false},
		{"*", "a", true},
		{"a/*", "a", false},
		{"a/*", "b", true},
		{"a/*", "a/b", true},
		{"a/b", "a", false},
		{"a/b", "a/b", true},
		{"a/**", "a/b/c", false},
		{"a/**", "b", true},
		{"**/x", "a/b/c", false},
		{"src/**/x", "src/a/b", false},
		{"src/**/x", "lib", true},
		{"{a,b}/c/d", "b/c", false},
		{"{a,b}/c/d", "b/d", true},
		{"{a,b}/c/d", "c", true},
		{"a*/b", "ab", false},
		{"a*/b", "b", true},
		{"[ab]/?/c", "a/x", false},
		{"[ab]/?/c", "a/xy", true},
		{"a/**/b", "a", false},
	}
	for _, test := range tests {
		if got := enter(t, test.pattern, test.dir).Empty(); got != test.want {
			t.Errorf("state of %q in %q: Empty() = %v, want %v", test.pattern, test.dir, got, test.want)
		}
	}
}

func TestZeroStateMatchesNothing(t *testing.T) {
	var state glob.State
	if !state.Empty() || state.Match("a") || !state.Enter("a").Empty() {
		t.Error("the zero State matches something")
	}
}

// TestEnterKeepsState holds what a walk relies on for its speed: where nothing
// changes the state is the same value, and no state is made.
func TestEnterKeepsState(t *testing.T) {
	tests := []struct{ pattern, dir, name string }{
		{"**/*_test.go", ".", "src"},
		{"**/*_test.go", "src/lib", "x"},
		{"**", ".", "a"},
		{"src/**", "src", "a"},
		{"src/**/*.go", "src", "a"},
		{"src/**/test/*.go", "src/test", "test"},
		{"**/*/*.go", "a", "b"},
		{"{**/*.go,**/*.md}", ".", "src"},
	}
	for _, test := range tests {
		state := enter(t, test.pattern, test.dir)
		if next := state.Enter(test.name); next != state {
			t.Errorf("state of %q in %q: Enter(%q) is another state", test.pattern, test.dir, test.name)
		}
		if n := testing.AllocsPerRun(100, func() { state.Enter(test.name).Match(test.name) }); n != 0 {
			t.Errorf("state of %q in %q: Enter(%q) allocates %v times", test.pattern, test.dir, test.name, n)
		}
	}
}

func TestEnterDoesNotAllocate(t *testing.T) {
	tests := []struct{ pattern, dir, name string }{
		{"src/lib/*.go", ".", "src"},
		{"src/lib/*.go", "src", "lib"},
		{"src/**/x", ".", "src"},
		{"*/*/*", "a", "b"},
		{"**/test/*.go", "a/test", "b"},
	}
	for _, test := range tests {
		state := enter(t, test.pattern, test.dir)
		if n := testing.AllocsPerRun(100, func() { state.Enter(test.name) }); n != 0 {
			t.Errorf("state of %q in %q: Enter(%q) allocates %v times", test.pattern, test.dir, test.name, n)
		}
	}
}

// TestManyLiterals has more names at one place than are compared one by one.
func TestManyLiterals(t *testing.T) {
	var names []string
	for i := range 30 {
		names = append(names, fmt.Sprintf("n%d", i))
	}
	set := "{" + strings.Join(names, ",") + "}"
	p := compile(t, "{"+set+"/"+set+",*.go}")
	for path, want := range map[string]bool{
		"n0/n29": true, "n29/n0": true, "n1": false, "n1/x": false, "x/n1": false, "x.go": true,
		"n1/n2/n3": false,
	} {
		if got := p.Match(path); got != want {
			t.Errorf("Match(%q) = %v, want %v", path, got, want)
		}
	}
}

// TestHostilePatterns bounds the time of patterns made to be slow.
func TestHostilePatterns(t *testing.T) {
	stars := strings.Repeat("*a", 2000)
	deep := strings.Repeat("**/a/", 800) + "b"
	wide := strings.Repeat("**/*/", 800) + "b"
	classes := strings.Repeat("*[ab]", 800)
	names := strings.Repeat("a", 255)
	path := strings.TrimSuffix(strings.Repeat("a/", 200), "/")
	for name, test := range map[string]struct{ pattern, path string }{
		"stars":       {stars, names},
		"classes":     {classes + "c", names},
		"deep":        {deep, path},
		"wide":        {wide, path},
		"bomb":        {strings.Repeat("{a,b}/", 9) + "c", path},
		"many-braces": {strings.Repeat("{a,b}", 9) + strings.Repeat("{a}", 150), names},
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			if compile(t, test.pattern).Match(test.path) {
				t.Errorf("Match(%.20q…) = true, want false", test.path)
			}
			if took := time.Since(start); took > 2*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}

func TestLiteral(t *testing.T) {
	for _, c := range []struct {
		pattern string
		name    string // the only one that matters in the first directory
		ok      bool
		deep    bool
	}{
		{"a", "a", true, false},
		{"a/b", "a", true, false},
		{"a/**", "a", true, false},
		{`\*/b`, "*", true, false},
		{"{a,a/b}", "a", true, false},
		{"{a/x,a/y}/z", "a", true, false},
		{"{a,b}/c", "", false, false},
		{"*", "", false, false},
		{"a*/b", "", false, false},
		{"?", "", false, false},
		{"[a]", "", false, false},
		{"**", "", false, true},
		{"**/a", "", false, true},
		{"{a,**/b}", "", false, true},
		{"{a,b,c,d,e,f,g,h,i,j}/x", "", false, false},
	} {
		pattern, err := glob.Compile(c.pattern)
		if err != nil {
			t.Fatalf("Compile(%q) = %v", c.pattern, err)
		}
		start := pattern.Start()
		if name, ok := start.Literal(); name != c.name || ok != c.ok {
			t.Errorf("Literal of %q = %q, %v, want %q, %v", c.pattern, name, ok, c.name, c.ok)
		}
		if deep := start.Deep(); deep != c.deep {
			t.Errorf("Deep of %q = %v, want %v", c.pattern, deep, c.deep)
		}
	}
	if name, ok := (glob.State{}).Literal(); ok || (glob.State{}).Deep() {
		t.Errorf("the zero State has the literal %q, or is deep", name)
	}
}
