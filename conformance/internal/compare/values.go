package compare

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/workspacekit/workspacekit/internal/ops"
)

// generators make the arguments of operations, from so few values that
// operations meet each other.
//
// A sequence over thousands of names would write one file and read another. So
// each sequence draws its few names, one theme with a text and its patterns,
// and most arguments come from these:
//
//	names:    "a", "a-b/a", "b"
//	name:     mostly one of them; "a-b", "a/ab" (a parent, a child), or another
//	pattern:  "a*/?", "**/a", made from them by wildcards
type generators struct {
	names      []string                 // that sequences use, few of them so that operations meet
	name       *rapid.Generator[string] // of anything
	free       *rapid.Generator[string] // more often of nothing
	dir        *rapid.Generator[string] // more often the root
	path       *rapid.Generator[string] // an option; empty means the root
	after      *rapid.Generator[string] // of a limited listing
	pattern    *rapid.Generator[string]
	filter     *rapid.Generator[string] // IncludeGlob and ExcludeGlob
	expression *rapid.Generator[Pattern]
	condition  *rapid.Generator[condition]
	content    *rapid.Generator[string]
	ignore     *rapid.Generator[string] // contents of a .gitignore
	limit      *rapid.Generator[int]
	around     *rapid.Generator[int] // lines before or after a match
	lineNumber *rapid.Generator[int]
	maxSize    *rapid.Generator[int64]
}

// newGenerators draws what the operations of one sequence have in common: a few
// names, and lines with the expressions that match them. With malformed,
// arguments that must be refused are among them, about one in fifteen to
// thirty.
func newGenerators(t *rapid.T, corpus *Corpus, malformed bool) *generators {
	element := corpus.element()
	other := otherName(element)
	names := rapid.SliceOfN(other, 2, 6).Draw(t, "names")
	theme := sampled(corpus.Themes).Draw(t, "theme")
	g := &generators{
		names:      names,
		name:       corpus.oneOfNames(names, element, malformed),
		pattern:    corpus.pattern(names, malformed),
		content:    often(rapid.Just(theme.Content), sampled(corpus.contents())),
		ignore:     sampled(append(corpus.Ignores, "a\n", "*.b\n", "/a\n!a\n", "b/\n", "**/a\n!/a/b\n", "a/b\n", "*\n!*/\n!ab\n", "\\#a\n[a-b]\n")),
		expression: often(sampled(theme.Patterns), sampled(corpus.expressions(malformed))),
		condition:  anyCondition(),
		limit:      sampled([]int{0, 0, 0, 1, 1, 2, 3, 5}),
		around:     sampled([]int{0, 0, 0, 1, 2, 5}),
		lineNumber: sampled([]int{0, 1, 2, 3, 1 << 40}),
		maxSize:    sampled([]int64{0, 0, 0, 1, 4, 10, 8192, 9000}),
	}
	g.free = often(g.name, other)
	g.dir = often(rapid.Just("."), g.name)
	g.path = often(rapid.Just(""), g.name)
	g.after = often(rapid.Just(""), oneOf(g.name, sampled([]string{"/", "a/", "a-", "\xff", "zzz", " ", "\x00"})))
	g.filter = often(rapid.Just(""), oneOf(g.pattern, sampled(filters(malformed))))
	if malformed {
		g.limit, g.around = orNegative(g.limit), orNegative(g.around)
		g.maxSize = orNegative(g.maxSize)
	}
	return g
}

// anyCondition draws a condition of a write. Most writes have none, as a write
// that is refused leaves nothing to compare.
func anyCondition() *rapid.Generator[condition] {
	return sampled([]condition{
		noOptions, noOptions, noOptions, noOptions, noOptions, noOptions, noOptions, noOptions, noOptions, noOptions, zeroOptions,
		ifNotExist, ifCurrent, ifCurrent, ifStale, ifForeign, ifOdd, ifBoth,
	})
}

// sampled is one of values, each equally often. What package rapid has for this
// prefers the first ones. The first value is what a failing sequence is made
// smaller to, so the plainest one comes first.
func sampled[T any](values []T) *rapid.Generator[T] {
	return rapid.Custom(func(t *rapid.T) T { return values[index(t, len(values))] })
}

// oneOf is a value of one of generators, each equally often.
func oneOf[T any](generators ...*rapid.Generator[T]) *rapid.Generator[T] {
	return rapid.Custom(func(t *rapid.T) T { return generators[index(t, len(generators))].Draw(t, "value") })
}

// index is less than n, which is small, and becomes smaller as a sequence
// becomes shorter.
//
// It is made of single bits, which rapid draws evenly, and has four more than n
// needs: the remainder then prefers the small numbers by a sixteenth at most.
// For n = 3 six bits make 0 to 63, and 22 of these are 0, 21 are 1 and 21 are
// 2. rapid makes a sequence shorter by turning bits off, which leads to 0.
func index(t *rapid.T, n int) int {
	i := 0
	for bound := 1; bound < 16*n; bound *= 2 {
		i *= 2
		if rapid.Bool().Draw(t, "bit") {
			i++
		}
	}
	return i % n
}

// often makes values of usual and of other equally often.
func often[T any](usual, other *rapid.Generator[T]) *rapid.Generator[T] {
	return oneOf(usual, other)
}

// seldom makes one value of other among about n of usual.
func seldom[T any](n int, usual, other *rapid.Generator[T]) *rapid.Generator[T] {
	return oneOf(append(slices.Repeat([]*rapid.Generator[T]{usual}, n), other)...)
}

// orNegative returns value, or sometimes a negative number, which must be
// refused.
func orNegative[T int | int64](usual *rapid.Generator[T]) *rapid.Generator[T] {
	return seldom(30, usual, rapid.Just(T(-1)))
}

// element is one of few, and seldom an unusual or a long one.
func (c *Corpus) element() *rapid.Generator[string] {
	unusual := append(slices.Clone(c.Elements), strings.Repeat("n", ops.MaxElementLength))
	usual := sampled([]string{"a", "b", "a", "b", "a-b", "ab", "a.b", "a0", "A", ".a", ".gitignore"})
	return seldom(8, usual, sampled(unusual))
}

// otherName is up to three elements. Elements in front are dropped until every
// store can hold it.
func otherName(element *rapid.Generator[string]) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		elements := rapid.SliceOfN(element, 1, 3).Draw(t, "elements")
		for len(strings.Join(elements, "/")) > storableName {
			elements = elements[1:]
		}
		return strings.Join(elements, "/")
	})
}

// storableName is how long a name may be in every store, in bytes. A longer one
// may be refused by one side alone.
const storableName = 512

// oneOfNames is one of names, one of their parents, which may be the root, a
// name below one, or another one. Seldom it is not valid. Those that are not
// valid are left out unless malformed is set.
func (c *Corpus) oneOfNames(names []string, element *rapid.Generator[string], malformed bool) *rapid.Generator[string] {
	known := sampled(names)
	parent := rapid.Map(known, path.Dir)
	child := rapid.Custom(func(t *rapid.T) string {
		return known.Draw(t, "name") + "/" + element.Draw(t, "element")
	})
	name := oneOf(known, known, known, known, known, known, known, known, parent, child, otherName(element))
	if !malformed {
		return name
	}
	invalid := append(slices.Clone(c.MalformedNames), "..", "../a", "a/..", "a/../b", "a/./b", "a//b", "/a", "a/", "./a", "/..", ".workspacekit-tmp-a", "a/.workspacekit-tmp-/a")
	return seldom(30, name, sampled(invalid))
}

// contents are what files have: each kind of line end, what is binary, and
// what is longer than what a search looks at first.
func (c *Corpus) contents() []string {
	all := []string{
		"", "a", "b", "a\n", "ab\nb\n", "a\r\nb\r\n", "a\n\n\nb", "\n", "\x00", "a\nb\x00\n", "a\xff\nb\xc3\n",
		// The NUL of the second is the last of the 8 KiB that tell a binary file, the one
		// of the third the first byte after them.
		strings.Repeat("ab\n", 3000), strings.Repeat("b", 8191) + "\x00a\n", strings.Repeat("b\n", 4096) + "\x00\na\n",
		strings.Repeat("long ", 20000) + "a\nb\n", strings.Repeat("x\n", 5000) + "a",
	}
	for _, theme := range c.Themes {
		all = append(all, theme.Content)
	}
	return all
}

// contentOf is a content that fits a file's name: for a .gitignore file it is
// rules, so that searches with Gitignore have some to apply.
func (g *generators) contentOf(t *rapid.T, name string) string {
	if strings.HasSuffix(name, ".gitignore") {
		return g.ignore.Draw(t, "ignore")
	}
	return g.content.Draw(t, "content")
}

// expressions returns the patterns of a Grep.
func (c *Corpus) expressions(malformed bool) []Pattern {
	all := []Pattern{{Text: "a"}, {Text: "b"}, {Text: "a"}, {Text: "b"}, {Text: ""}}
	for _, theme := range c.Themes {
		all = append(all, theme.Patterns...)
	}
	if malformed {
		for _, pattern := range []string{"(", "[", "a\nb", `a\nb`, "\n", `[\n]`, "a{1001}", `\`, "(?P<a", "*", "\xff", "[^a]\n"} {
			all = append(all, Pattern{Text: pattern})
		}
	}
	return all
}

// pattern is a glob of up to three elements, and seldom one with something odd
// about it. Many are made from names, as a pattern at random seldom matches
// anything.
func (c *Corpus) pattern(names []string, malformed bool) *rapid.Generator[string] {
	element := sampled([]string{
		"*", "**", "a", "b", "*", "**", "a*", "?", "*b", "a?b", "[ab]", "[^a]", "[!a]*", "[a-b]*", "{a,b}", "{a,a-b,a/b}", "{,a}b",
		"a{,-b}", `\a`, `[\]a]`, ".*", "**b", "a**", "*a*b*", "{a,{b,ab}}", "{**/a,b}", "a.b",
	})
	plain := rapid.Custom(func(t *rapid.T) string {
		pattern := strings.Join(rapid.SliceOfN(element, 1, 3).Draw(t, "elements"), "/")
		if rapid.IntRange(0, 5).Draw(t, "directories") == 5 {
			pattern += "/"
		}
		return pattern
	})
	all := oneOf(plain, plain, plain, patternOf(names), patternOf(names), patternOf(names), sampled(c.Globs))
	if !malformed {
		return all
	}
	odd := sampled([]string{
		"", "/", "//", "/a", "//a", "./a", ".", "./", "a/.", "a/./b", "a//b", "..", "../a", "a/..", "{..,a}/b", "{a,/b}", "{.,a}/b",
		"[", "[a", "{a", "a}", `a\`, "[]", "[^]", "[b-a]", "{a,[}", "a[/]b", "{a,b", "a,b", "[a/b]", "{}", "{{{a}}}", "\x00", "\xff*", "***", "a/***/b",
		strings.Repeat("{a,b}", 30),
	})
	return seldom(15, all, odd)
}

// patternOf is a glob that matches one of names in most cases.
//
// Each element keeps a part and has a wildcard for the rest. From "a-b/ab" it
// makes, for example,
//
//	*/ab    a?b/a*    **/[a]b    a{\-b,x}/ab
//
// [^x] for a letter matches unless the letter is an x.
func patternOf(names []string) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		elements := strings.Split(sampled(names).Draw(t, "name"), "/")
		for i, element := range elements {
			runes := []rune(element)
			at := rapid.IntRange(0, len(runes)-1).Draw(t, "at")
			before, after := escaped(runes[:at]), escaped(runes[at+1:])
			elements[i] = sampled([]string{
				escaped(runes), "*", "**", before + "*", "*" + after, before + "?" + after, before + "[" + escaped(runes[at:at+1]) + "]" + after,
				before + "{" + escaped(runes[at:]) + ",x}", before + "[^x]" + after,
			}).Draw(t, "element")
		}
		return strings.Join(elements, "/")
	})
}

// escaped is a pattern that matches runes alone. In a class and in braces,
// other characters are special than elsewhere. A backslash is right for all of
// them.
func escaped(runes []rune) string {
	text := ""
	for _, r := range runes {
		if strings.ContainsRune(`*?[]{},\^!-`, r) {
			text += `\`
		}
		text += string(r)
	}
	return text
}

// filters are odd globs for IncludeGlob and ExcludeGlob. A slash in front
// anchors, and alone or doubled it is malformed.
func filters(malformed bool) []string {
	all := []string{"*", "**", "*.b", "/a", "/*", "/**/a", "a/**", "a/*", "**/b"}
	if malformed {
		all = append(all, "/", "//", "//a", "./a", "a/", "/a/", "..", "/../a", ".", "/.", "/./a", "[", "{a", "/[", "a//b")
	}
	return all
}

// equateEmpty lets nil and empty lists be equal, for pages, which are put
// together here.
var equateEmpty = cmpopts.EquateEmpty()

// Brief quotes content, shortened if it is long. It cuts at 60 bytes, also
// within a character, which is then shown as an escape.
func Brief(content string) string {
	const most = 60
	if len(content) <= most {
		return fmt.Sprintf("%q", content)
	}
	return fmt.Sprintf("%q… (%d bytes)", content[:most], len(content))
}
