package glob_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"
	"pgregory.net/rapid"

	"github.com/workspacekit/workspacekit/internal/glob"
	"github.com/workspacekit/workspacekit/internal/ops"
)

// reference is what Pattern documents, in terms of doublestar.Match and by
// rewriting strings. It says nothing of classes that match "/".
func reference(pattern, path string) bool {
	for _, text := range spellings(pattern) {
		for !strings.HasSuffix(text, "/") {
			if doublestar.MatchUnvalidated(text, path) {
				return true
			}
			shorter, ok := strings.CutSuffix(text, "/**")
			if !ok {
				break
			}
			text = shorter
		}
	}
	return false
}

// spellings expands the first brace of pattern, and then each result.
func spellings(pattern string) []string {
	open := findByte(pattern, "{")
	if open < 0 {
		return []string{oneStar(pattern)}
	}
	var all, options []string
	start, depth := open+1, 1
	for at := open + 1; ; {
		at += findByte(pattern[at:], "{,}")
		switch pattern[at] {
		case '{':
			depth++
		case '}':
			depth--
		}
		if depth == 0 || depth == 1 && pattern[at] == ',' {
			options = append(options, pattern[start:at])
			start = at + 1
		}
		at++
		if depth == 0 {
			break
		}
	}
	for _, option := range options {
		all = append(all, spellings(pattern[:open]+option+pattern[start:])...)
	}
	return all
}

// findByte returns the index of the first of chars outside escapes and classes.
func findByte(pattern, chars string) int {
	class := false
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '\\':
			i++
		case class:
			class = c != ']'
		case strings.IndexByte(chars, c) >= 0:
			return i
		case c == '[':
			class = true
		}
	}
	return -1
}

// oneStar replaces runs of stars, other than "**" elements, by one star.
func oneStar(pattern string) string {
	for from := 0; ; {
		at := findByte(pattern[from:], "*")
		if at < 0 {
			return pattern
		}
		at += from
		end := at
		for end < len(pattern) && pattern[end] == '*' {
			end++
		}
		element := (at == 0 || pattern[at-1] == '/') && (end == len(pattern) || pattern[end] == '/')
		from = end
		if !element || end-at != 2 {
			pattern = pattern[:at] + "*" + pattern[end:]
			from = at + 1
		}
	}
}

// patterns draws valid patterns whose classes do not match a slash.
func patterns() *rapid.Generator[string] {
	terms := []string{
		"a", "b", "é", ".", "*", "*", "**", "/", "/", "**/", "/**", "/**/", "?",
		"[ab]", "[!a/]", "[^b/]", "[a-b]", `[\]b]`, "[{,}]", `\*`, `\{`, `\a`, "***", ",",
	}
	var sequence func(depth int) *rapid.Generator[string]
	sequence = func(depth int) *rapid.Generator[string] {
		return rapid.Custom(func(t *rapid.T) string {
			var b strings.Builder
			for range rapid.IntRange(0, 5).Draw(t, "terms") {
				if depth > 0 && rapid.IntRange(0, 4).Draw(t, "brace") == 0 {
					options := rapid.SliceOfN(sequence(depth-1), 1, 3).Draw(t, "options")
					b.WriteString("{" + strings.Join(options, ",") + "}")
					continue
				}
				b.WriteString(rapid.SampledFrom(terms).Draw(t, "term"))
			}
			return b.String()
		})
	}
	return sequence(2)
}

func paths() *rapid.Generator[string] {
	names := rapid.Custom(func(t *rapid.T) string {
		runes := []rune{'a', 'a', 'b', 'é', '.', '*', '{', ',', ']'}
		return string(rapid.SliceOfN(rapid.SampledFrom(runes), 1, 3).Draw(t, "name"))
	}).Filter(func(name string) bool { return name != "." && name != ".." })
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(names, 1, 4).Draw(t, "elements"), "/")
	})
}

func TestMatchAgreesWithReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pattern := patterns().Draw(t, "pattern")
		p, err := glob.Compile(pattern)
		if err != nil {
			t.Skipf("Compile(%q): %v", pattern, err)
		}
		rest := strings.TrimSuffix(pattern, "/")
		for _, path := range rapid.SliceOfN(paths(), 20, 20).Draw(t, "paths") {
			want := reference(rest, path)
			if got := p.Match(path); got != want {
				t.Errorf("Compile(%q).Match(%q) = %v, want %v", pattern, path, got, want)
			}
			if !want && !hasSlashAtEnd(rest) && doublestar.MatchUnvalidated(rest, path) {
				t.Errorf("doublestar.Match(%q, %q) is true, and the reference is not", pattern, path)
			}
		}
	})
}

func hasSlashAtEnd(pattern string) bool {
	return slices.ContainsFunc(spellings(pattern), func(text string) bool { return strings.HasSuffix(text, "/") })
}

// TestStateAgreesWithReference walks a random tree and leaves out what the
// states say can be left out.
func TestStateAgreesWithReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pattern := patterns().Draw(t, "pattern")
		p, err := glob.Compile(pattern)
		if err != nil {
			t.Skipf("Compile(%q): %v", pattern, err)
		}
		rest := strings.TrimSuffix(pattern, "/")
		tree := rapid.SliceOfN(paths(), 10, 10).Draw(t, "tree")
		for _, path := range tree {
			if got, want := walk(p, path), reference(rest, path); got != want {
				t.Errorf("walk of %q to %q = %v, want %v", pattern, path, got, want)
			}
		}
	})
}

// TestCompileAny tests that many patterns together match what one of them matches.
func TestCompileAny(t *testing.T) {
	valid := patterns().Filter(func(pattern string) bool {
		_, err := glob.Compile(pattern)
		return err == nil
	})
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfN(valid, 0, 40).Draw(t, "patterns")
		together, err := glob.CompileAny(all...)
		if err != nil {
			t.Fatalf("CompileAny(%q) = %v, want nil", all, err)
		}
		for _, path := range rapid.SliceOfN(paths(), 10, 10).Draw(t, "paths") {
			want := slices.ContainsFunc(all, func(pattern string) bool {
				p, _ := glob.Compile(pattern)
				return p.Match(path)
			})
			if got := together.Match(path); got != want {
				t.Errorf("CompileAny(%q).Match(%q) = %v, want %v", all, path, got, want)
			}
			if got := walk(together, path); got != want {
				t.Errorf("walk of %q to %q = %v, want %v", all, path, got, want)
			}
		}
	})
}

// walk enters the directories of path, from the root each time so that every
// state is asked for more than one name, unless one of them is empty.
func walk(p *glob.Pattern, path string) bool {
	names := strings.Split(path, "/")
	state := p.Start()
	for _, name := range names[:len(names)-1] {
		if state.Empty() {
			return false
		}
		state.Match(name)
		state = state.Enter(name)
	}
	return state.Match(names[len(names)-1])
}

func FuzzMatch(f *testing.F) {
	for i, pattern := range corpusPatterns {
		f.Add(pattern, corpusPaths[i%len(corpusPaths)])
	}
	f.Fuzz(func(t *testing.T, pattern, path string) {
		p, err := glob.Compile(pattern)
		if err != nil || !ops.ValidName(path) {
			return
		}
		got := p.Match(path)
		if len(pattern) > 200 || strings.Contains(pattern, `\/`) || classMatchesSlash(pattern) {
			return
		}
		if want := reference(strings.TrimSuffix(pattern, "/"), path); got != want {
			t.Errorf("Compile(%q).Match(%q) = %v, want %v", pattern, path, got, want)
		}
	})
}

// classMatchesSlash reports whether a class of pattern can match "/".
func classMatchesSlash(pattern string) bool {
	return slices.ContainsFunc(classes(pattern), func(class string) bool {
		return doublestar.MatchUnvalidated(class, "/")
	})
}

func classes(pattern string) []string {
	var all []string
	for {
		open := findByte(pattern, "[")
		if open < 0 {
			return all
		}
		length := findClassEnd(pattern[open:])
		all = append(all, pattern[open:open+length])
		pattern = pattern[open+length:]
	}
}

func findClassEnd(class string) int {
	for i := 1; ; i++ {
		switch class[i] {
		case '\\':
			i++
		case ']':
			return i + 1
		}
	}
}
