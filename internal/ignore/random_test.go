package ignore_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/workspacekit/workspacekit/internal/ignore"
)

// randomTree is every name of up to three elements over a few; those in dirs
// are directories.
func randomTree() (dirs, all []string) {
	files := []string{"b", "b.a", "aé", "b "}
	parents := []string{""}
	for range 3 {
		var below []string
		for _, parent := range parents {
			for _, name := range []string{"a", "ab", "a.b"} {
				below = append(below, parent+name+"/")
				dirs = append(dirs, parent+name)
			}
			for _, name := range files {
				all = append(all, parent+name)
			}
		}
		parents = below
	}
	return dirs, append(all, dirs...)
}

func gitignores() *rapid.Generator[string] {
	terms := []string{
		"a", "a", "b", "b", "é", ".", "*", "*", "**", "***", "/", "/", "**/", "/**", "?", `\`, " ", "!", "#", "-", "]",
		"[ab]", "[!a]", "[^b.]", "[a-", "[", "[[:alpha:]]", `[\]a]`, "[]a]", "[.-z]", "\r", "a.b", "*.a", "{a,b}",
	}
	line := rapid.Custom(func(t *rapid.T) string {
		front := rapid.SampledFrom([]string{"", "", "", "!", "/", "!/"}).Draw(t, "front")
		middle := rapid.SliceOfN(rapid.SampledFrom(terms), 1, 6).Draw(t, "terms")
		return front + strings.Join(middle, "") + rapid.SampledFrom([]string{"", "", "/"}).Draw(t, "end")
	})
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(line, 0, 4).Draw(t, "lines"), "\n")
	})
}

// scenariosPerRun share one run of git.
const scenariosPerRun = 5

func TestRandomAgreesWithGit(t *testing.T) {
	r := newRepo(t)
	dirs, all := randomTree()
	var paths []string
	for i := range scenariosPerRun {
		name := fmt.Sprintf("case%d", i)
		r.mkdirs(t, name, dirs)
		for _, path := range all {
			paths = append(paths, name+"/"+path)
		}
	}
	some := []string{".", "a", "a/a", "ab"}
	rapid.Check(t, func(t *rapid.T) {
		scenarios := make([]scenario, scenariosPerRun)
		for i := range scenarios {
			scenarios[i] = make(scenario)
			for _, dir := range some {
				if dir == "." || rapid.IntRange(0, 2).Draw(t, "has file") == 0 {
					scenarios[i][dir] = gitignores().Draw(t, "content")
				}
			}
			r.write(t, fmt.Sprintf("case%d", i), scenarios[i], some[1:])
		}
		want := r.ignored(t, paths)
		for i, s := range scenarios {
			for _, path := range all {
				want := want[fmt.Sprintf("case%d/%s", i, path)]
				if got := s.ignored(path, slices.Contains(dirs, path)); got != want {
					t.Errorf(".gitignore %q: %q ignored = %v, and git says %v", s, path, got, want)
				}
			}
		}
	})
}

// TestHostileFiles bounds the time of patterns made to be slow: git's own
// matcher takes exponential time for those with many "**".
func TestHostileFiles(t *testing.T) {
	name := strings.Repeat("a", 255)
	for test, line := range map[string]string{
		"stars":       strings.Repeat("*a", 2000),
		"any":         strings.Repeat("**/a/", 800) + "b",
		"any-stars":   strings.Repeat("**/*a*a*/", 450) + "b",
		"any-path":    strings.Repeat(`**\/a/`, 600) + "b",
		"classes":     strings.Repeat("*[ab]", 800) + "c",
		"open-class":  strings.Repeat("[a", 2000),
		"many-stars":  strings.Repeat("*", 4096) + "b",
		"longest":     strings.Repeat("?", 4096),
		"named-class": "[" + strings.Repeat("[:alpha", 580) + "]",
	} {
		t.Run(test, func(t *testing.T) {
			start := time.Now()
			rules := (*ignore.Rules)(nil).Enter("", ignore.Parse([]byte(line)))
			for range 100 {
				rules = rules.Enter("a", nil)
			}
			if rules.Ignored(name, true) {
				t.Errorf("Ignored(%.10q…) = true, want false", name)
			}
			if took := time.Since(start); took > 2*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range corpus {
		f.Add([]byte(s["."]), "foo.go")
	}
	f.Fuzz(func(t *testing.T, data []byte, name string) {
		rules := (*ignore.Rules)(nil).Enter("", ignore.Parse(data))
		inside := rules.Enter("foo", ignore.Parse(data))
		below := inside.Enter("bar", nil)
		for _, r := range []*ignore.Rules{rules, inside, below} {
			// What excludes a file excludes a directory of that name, unless a
			// later rule for directories re-includes it.
			if r.Ignored(name, false) && !r.Ignored(name, true) && !strings.Contains(string(data), "!") {
				t.Errorf(".gitignore %q: %q is ignored, and not if it is a directory", data, name)
			}
		}
	})
}
