package glob_test

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/workspacekit/workspacekit/internal/glob"
	"github.com/workspacekit/workspacekit/workspace"
)

func compile(t testing.TB, pattern string) *glob.Pattern {
	t.Helper()
	p, err := glob.Compile(pattern)
	if err != nil {
		t.Fatalf("Compile(%q): %v", pattern, err)
	}
	return p
}

// corpusPatterns are matched against every one of corpusPaths, and must agree
// with doublestar.Match.
var corpusPatterns = []string{
	"*", "**", "?", "??", "a", "ab", "a*", "*a", "*b*", "a*b", "a*b*c", "*.go",
	"*_test.go", "**/*.go", "**/*_test.go", "**/a", "**/a/**", "a/**", "a/b/**",
	"a/**/b", "a/**/*", "a/**/c/d", "**/b/**/c", "**/**/c", "a/*/c", "*/*",
	"*/*/*", "**/*", "**/*/*", "*/**/*", "a**", "a**b", "**b", "a**/b", "**b/c",
	"*a**c*", "***", "***/b", "*/***", "**.go", "**/**.go",
	"[ab]", "[a-c]", "[^a/]", "[!a/]", "[^/]", "[]a]x", "[a-]", "[-a]", "[x-z]*",
	`[\]]`, `[\-a]`, "[a,b]", "[{}]", "[*?]", "a[*]b", "[[]", "[é]", "[à-ü]", "[^a-z/]*",
	`\*`, `\?`, `\[a\]`, `a\*b`, `\a`, `\{a,b\}`, `a\,b`, `*\*`, `\\`, `a\\b`,
	"é", "?é", "é?", "*é", "h?llo", "☺*", "?☺?",
	"{a,b}", "{a,b}/c", "a/{b,c}", "a/{b/c,c}/d", "{a,b,c}{a,b,c}", "{a,}b", "{,a}b",
	"a{,b}", "a{b,}c", "{a}", "{}a", "{a,{b,c}}", "{a,{b,{c,}}}x", "{a/b,c}/d",
	"**/*.{go,md}", "**/{a,b}/*", "{**/a,b}", "src/{lib,test}/**/*.{ts,tsx}",
	"{[a,b],c}", `{\,,a}`, `{\{,a}`, "{a,b}*", "*{a,b}", "{*,a}b", "{a*,b?}", "a{[}],b}",
	".*", ".git", "**/.*", ".a/**", "*.*", "a.", "*.",
	"a/", "a/b/", "**/", "a/**/",
	" ", "a b", "-", "!a", "^a", "#", "$", "(a|b)", "+(a)", "a,b", "A", "\n", "~",
	"\xff", "a\xff", "a\ufffd",
}

var corpusPaths = []string{
	"a", "b", "c", "x", "ab", "ac", "bb", "abc", "aXbYc", "aab", "bax", "cx", "a.go", "a_test.go",
	"a.md", "_test.go", ".go", "a/b", "a/b/c", "a/b/c/d", "a/c", "a/c/d", "b/c", "b/x/c", "c/d",
	"x/a", "x/a/y", "x/y/a", "a/a", "a/a/a", "a/x.go", "a/b/x_test.go", "a/x/b", "a/x/y/b", "aa/b",
	"a*b", "*", "?", "[", "]", "]x", "[a]", "{", "}", "{a,b}", "a,b", ",", `\`, `a\b`, "-",
	"é", "aé", "éa", "hello", "hállo", "☺", "☺☺", "a☺b", "à", "ü",
	".git", ".git/config", ".a/.b", "a/.b", "a/.b/c", ".", "a.", ".b", "a.b",
	"src/lib/a.ts", "src/test/x/y/b.tsx", "src/lib/a.js", "src/a.ts",
	" ", "a b", "!a", "^a", "#", "$", "(a|b)", "a\nb", "\n", "A", "~", "a\ufffd", "\ufffd",
}

func TestMatchAgreesWithDoublestar(t *testing.T) {
	for _, pattern := range corpusPatterns {
		p, err := glob.Compile(pattern)
		if !doublestar.ValidatePattern(pattern) {
			if !errors.Is(err, workspace.ErrPattern) {
				t.Errorf("Compile(%q) = %v, want ErrPattern", pattern, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("Compile(%q): %v", pattern, err)
			continue
		}
		for _, path := range corpusPaths {
			want := doublestar.MatchUnvalidated(strings.TrimSuffix(pattern, "/"), path)
			if got := p.Match(path); got != want {
				t.Errorf("Compile(%q).Match(%q) = %v, want %v", pattern, path, got, want)
			}
		}
	}
}

// TestMatchDiffersFromDoublestar holds each difference that Pattern documents.
func TestMatchDiffersFromDoublestar(t *testing.T) {
	tests := []struct {
		name, pattern, path string
		want                bool
	}{
		{"class-and-slash", "a[!b]c", "a/c", false},
		{"class-of-slash", "a[/]c", "a/c", false},
		{"class-range-with-slash", "a[.-0]c", "a/c", false},
		{"any-in-braces", "a/{**,b}", "a", true},
		{"star-before-braces", "a*{,x}", "a", true},
		{"any-before-braces", "**{,x}/c", "a/b/c", true},
		{"any-made-by-braces", "*{*,a}/c", "a/b/c", true},
		{"three-stars-at-end", "a***", "a", true},
		{"three-stars-after-class", "[a]***", "a", true},
		{"star-before-any-at-end", "a*/**", "a", true},
		{"two-any-at-end", "a/**/**", "a", true},
		{"escaped-slash", `a\/**`, "a", true},
		{"escaped-slash-after-any", `**\/c`, "a/b/c", true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := compile(t, test.pattern).Match(test.path); got != test.want {
				t.Errorf("Compile(%q).Match(%q) = %v, want %v", test.pattern, test.path, got, test.want)
			}
			if doublestar.MatchUnvalidated(test.pattern, test.path) == test.want {
				t.Errorf("doublestar.Match(%q, %q) = %v too: no longer a difference", test.pattern, test.path, test.want)
			}
		})
	}
}

func TestCompileErrors(t *testing.T) {
	tests := []struct {
		name, pattern string
		want          error
		text          string
	}{
		{"empty", "", workspace.ErrPattern, "empty"},
		{"open-class", "a[b", workspace.ErrPattern, "not complete"},
		{"empty-class", "[]", workspace.ErrPattern, "not complete"},
		{"open-brace", "{a,b", workspace.ErrPattern, "not complete"},
		{"stray-brace", "a}", workspace.ErrPattern, "not complete"},
		{"trailing-escape", `a\`, workspace.ErrPattern, "not complete"},
		{"absolute", "/a", workspace.ErrPattern, "begins with a slash"},
		{"only-slash", "/", workspace.ErrPattern, "begins with a slash"},
		{"escaped-absolute", `\/a`, workspace.ErrPattern, "begins with a slash"},
		{"only-escaped-slash", `\/`, workspace.ErrPattern, "begins with a slash"},
		{"absolute-in-braces", "{a,/b}", workspace.ErrPattern, `it stands for "/b", which begins with a slash`},
		{"too-long", strings.Repeat("a", 4097), workspace.ErrPattern, "4096 bytes"},
		{"too-long-with-stars", "**/" + strings.Repeat("a", 4094), workspace.ErrPattern, "4096 bytes"},
		{"brace-bomb", strings.Repeat("{a,b}", 800), workspace.ErrPattern, "1000 alternatives"},
		{"nested-brace-bomb", strings.Repeat("{a,{b,c}x}", 400), workspace.ErrPattern, "1000 alternatives"},
		{"flat-braces", "{" + strings.Repeat(",", 1000) + "}a", workspace.ErrPattern, "1000 alternatives"},
		{"equal-alternatives", strings.Repeat("{a,a}", 10), workspace.ErrPattern, "1000 alternatives"},
		{"long-alternatives", strings.Repeat("{a,b}", 9) + strings.Repeat("x", 4000), workspace.ErrPattern, "262144 bytes"},
		{"dot", ".", workspace.ErrPattern, `a "." element`},
		{"dot-first", "./a", workspace.ErrPattern, `a "." element`},
		{"dot-inside", "a/./b", workspace.ErrPattern, `a "." element`},
		{"dot-directory", "a/./", workspace.ErrPattern, `a "." element`},
		{"dot-alternative", "a/{b,.}", workspace.ErrPattern, `a "." element`},
		{"dot-escaped", `a/\.`, workspace.ErrPattern, `a "." element`},
		{"two-slashes", "a//b", workspace.ErrPattern, "two slashes"},
		{"two-slashes-at-the-end", "a//", workspace.ErrPattern, "two slashes"},
		{"slash-at-the-end-of-an-alternative", "{a/**/,b}", workspace.ErrPattern, "ends in a slash"},
		{"empty-alternative", "{a,}", workspace.ErrPattern, "alternative that is empty"},
		{"parent", "..", workspace.ErrEscape, "leads out"},
		{"parent-first", "../a", workspace.ErrEscape, "leads out"},
		{"parent-inside", "a/../b", workspace.ErrEscape, "leads out"},
		{"parent-last", "**/..", workspace.ErrEscape, "leads out"},
		{"parent-directory", "../", workspace.ErrEscape, "leads out"},
		{"parent-alternative", "{a,..}/b", workspace.ErrEscape, "leads out"},
		{"parent-made-by-braces", ".{a,.}/b", workspace.ErrEscape, "leads out"},
		{"parent-escaped", `\.\./b`, workspace.ErrEscape, "leads out"},
		{"parent-and-empty-element", "..//b", workspace.ErrEscape, "leads out"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := glob.Compile(test.pattern)
			if !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.text) {
				t.Errorf("Compile(%q) = %v, want a %v with %q", test.pattern, err, test.want, test.text)
			}
		})
	}
}

func TestCompileAccepts(t *testing.T) {
	for _, pattern := range []string{
		"...", "..a", "a..", "a..b", "[.][.]", "**..", ".{a,b}.",
		strings.Repeat("a", 4096),
		strings.Repeat("{", 2000) + "a" + strings.Repeat("}", 2000),
		strings.Repeat("{a}", 1365),
		"{" + strings.Repeat(",", 999) + "}a", "[.]", "a/{.b,b}", "{,a/}b",
		"{0,1,2,3,4,5,6,7,8,9}{0,1,2,3,4,5,6,7,8,9}{0,1,2,3,4,5,6,7,8,9}",
	} {
		if _, err := glob.Compile(pattern); err != nil {
			t.Errorf("Compile(%.40q): %v", pattern, err)
		}
	}
}

// TestEscapeIsInvalid holds that a caller who asks for either kind finds it.
func TestEscapeIsInvalid(t *testing.T) {
	if _, err := glob.Compile("../a"); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("Compile(%q) = %v, want also fs.ErrInvalid", "../a", err)
	}
}

func TestDirs(t *testing.T) {
	tests := []struct {
		pattern string
		want    bool
		match   string
	}{
		{"a", false, "a"},
		{"a/", true, "a"},
		{"a/b/", true, "a/b"},
		{"**/", true, "a/b"},
		{"src/**/", true, "src"},
		{`a\/`, true, "a"},
		{`a\\/`, true, `a\`},
		{"{a,b}/", true, "b"},
	}
	for _, test := range tests {
		p := compile(t, test.pattern)
		if got := p.Dirs(); got != test.want {
			t.Errorf("Compile(%q).Dirs() = %v, want %v", test.pattern, got, test.want)
		}
		if !p.Match(test.match) {
			t.Errorf("Compile(%q).Match(%q) = false, want true", test.pattern, test.match)
		}
	}
}
