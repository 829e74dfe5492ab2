package ignore_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
)

var corpusDirs = []string{
	"foo", "foo/bar", "foo/bar/baz", "foo/foo", "bar", "bar/foo", "foobar", "foobar/bar", "build", "build/sub",
	"src", "src/build", "src/a", "src/a/b", "src/a/b/c", "a", "a/b", "a/b/c", "a.b", ".hidden", "node_modules",
	"x y", "é", "[a]", "a*", "#d", "!d", "foo ",
}

var corpusFiles = []string{
	"foo.go", "foo.txt", "a.tar.gz", "a.gz", ".gz", "Makefile", "README.md", ".env", ".env.local", "a~", "#a", "!a",
	`\a`, `a\b`, "[", "]", "]a", "a]", "[b]", "*", "?", "a b", "b ", "b  ", " b", "b\t", "b\r", "ä", "aäb", "aé",
	"{a,b}", "b", "c", "abc", "a-b", "-", "^", "1", "a1", "Z", "z", "cab", "aab", "aXb", "aXXb", "x.pyc", "x.pyo",
	"x.pyx", "no.match.here", "a,b", "data.json", "foo.tmp",
	"foo/foo.go", "foo/b", "foo/bar/x.txt", "foo/bar/baz/x.txt", "foo/bar/baz/foo.go", "foo/foo/b",
	"bar/foo/x", "foobar/bar/x", "foobar/b", "build/out.o", "build/keep.txt", "build/sub/x", "src/build/out.o",
	"src/foo.go", "src/a/b/c/foo.go", "src/a/foo.go", "src/a/b/x.txt", "a/foo.go", "a/b/foo.go", "a/b/c/foo.go",
	"a/b/c/b", "a.b/x", ".hidden/x", "node_modules/x.js", "x y/b", "é/b", "[a]/b", "a*/b", "#d/b", "!d/b",
	"foo /b", "logs.log", "src/logs.log", "src/a/debug.log", "foo/Makefile",
}

// corpus are the contents of ".gitignore" files, each compared with git over
// corpusFiles and corpusDirs.
var corpus = []scenario{
	// Names.
	{".": "foo"}, {".": "foo/"}, {".": "foo.go"}, {".": "b"}, {".": "*"}, {".": "?"}, {".": "??"}, {".": "*.go"},
	{".": "*.gz"}, {".": "*.tar.gz"}, {".": "*~"}, {".": "a*"}, {".": "a*b"}, {".": "*a*b*"}, {".": ".*"},
	{".": ".env*"}, {".": "*.py[cod]"}, {".": "*.*"}, {".": "*."}, {".": "**"}, {".": "***"}, {".": "a**b"},
	{".": "foo**"}, {".": "**.go"}, {".": "*/"}, {".": "**/"}, {".": "foo*/"}, {".": "FOO"}, {".": "."},
	// Anchors.
	{".": "/foo"}, {".": "/foo/"}, {".": "/*"}, {".": "/*/"}, {".": "/**"}, {".": "/*.go"}, {".": "foo/bar"},
	{".": "/foo/bar"}, {".": "foo/bar/"}, {".": "bar/baz"}, {".": "src/*.go"}, {".": "src/*"}, {".": "src/*/"},
	{".": "src/*/b"}, {".": "*/foo.go"}, {".": "*/*"}, {".": "a/?/foo.go"}, {".": "./foo"}, {".": "foo/./bar"},
	{".": "../foo"}, {".": "foo//bar"}, {".": "//foo"}, {".": "foo//"}, {".": "/"}, {".": "//"}, {".": "!/"},
	// Any depth.
	{".": "**/foo"}, {".": "**/foo/"}, {".": "/**/foo"}, {".": "**/foo/bar"}, {".": "**/*.go"}, {".": "foo/**"},
	{".": "foo/**/"}, {".": "src/**/foo.go"}, {".": "src/**/b/**/foo.go"}, {".": "a/**/c"}, {".": "a/**/*"},
	{".": "**/b/**"}, {".": "**/**/foo.go"}, {".": "**/**"}, {".": "src/***/foo.go"}, {".": "***/foo.go"},
	{".": "foo**/bar"}, {".": "/foo**"}, {".": "/foo**/b"}, {".": "src/a**/foo.go"}, {".": "src/**a/foo.go"},
	{".": "src/**.log"}, {".": "/foo*/b"}, {".": "**foo/b"}, {".": "*/**/foo.go"}, {".": "**/*/foo.go"},
	{".": "foo/**/bar/**/x.txt"}, {".": `foo/**\/x.txt`}, {".": `foo\/**/x.txt`}, {".": "**/a/b/c"},
	{".": "**/"}, {".": "**//"}, {".": "/**/"}, {".": "foo/*/**/x.txt"}, {".": "src/a/b/c/foo.go/**"},
	{".": "**/**/b/foo.go"}, {".": "src/**/**/foo.go"}, {".": "**/s*/foo.go"}, {".": "**/src?a/foo.go"},
	{".": "**/src[!x]a/foo.go"}, {".": "**/a*c/foo.go"}, {".": "**/foo?bar/**"}, {".": "a/**b/foo.go"},
	// Negation, and the order of lines.
	{".": "*\n!foo.go"}, {".": "*.go\n!foo.go"}, {".": "!foo.go\n*.go"}, {".": "foo\n!foo/b"}, {".": "foo/*\n!foo/b"},
	{".": "/*\n!/foo\n/foo/*\n!/foo/bar"}, {".": "*\n!*/\n!*.go"}, {".": "build/\n!build/keep.txt"},
	{".": "foo\n!foo/"}, {".": "foo/\n!foo"}, {".": "!foo"}, {".": "!"}, {".": "!!a"}, {".": "*.txt\n!/foo/**"},
	{".": "*.txt\n!foo/bar/*.txt"}, {".": "*.go\n!src/**/foo.go\n/src/a/*"}, {".": "b\n!**/b\n/b"},
	{".": "x.pyc\n!*.pyc\nx.*"}, {".": "!*.gz\n*.gz\n!a.gz"}, {".": "*\n!*.*\n.*"},
	// Spaces, comments, escapes.
	{".": "foo "}, {".": `foo\ `}, {".": `b\  `}, {".": `b \ `}, {".": "b  "}, {".": " b"}, {".": "b\t"}, {".": `x\ y`},
	{".": "x y"}, {".": "#a"}, {".": `\#a`}, {".": " #a"}, {".": "a #b"}, {".": `\!a`}, {".": "!a"}, {".": `\a`},
	{".": `\\a`}, {".": `a\\b`}, {".": `a\b`}, {".": `\*`}, {".": `\?`}, {".": `\[`}, {".": `a\`}, {".": `\`},
	{".": `foo\/bar`}, {".": `foo\/`}, {".": `\foo`}, {".": `foo.\go`}, {".": `\.go`}, {".": `*\.go`}, {".": `*\`},
	{".": `/\foo`}, {".": `src\/*.go`}, {".": `\`}, {".": ` `}, {".": `\ b`},
	// Classes.
	{".": "[a-c]"}, {".": "[!a-c]"}, {".": "[^a-c]"}, {".": "[abc]"}, {".": "[]]"}, {".": "[]a]"}, {".": "[!]]"},
	{".": "[a"}, {".": "["}, {".": "[]"}, {".": "[!]"}, {".": "a[X]b"}, {".": "a[!a]b"}, {".": "[-]"}, {".": "[a-]b"},
	{".": "a[-c]b"}, {".": `[\]]`}, {".": `[\[]`}, {".": `[\-]`}, {".": `[a\-z]`}, {".": "[z-a]"}, {".": "[[]"},
	{".": "[[:alpha:]]"}, {".": "[![:alpha:]]"}, {".": "[[:digit:][:upper:]]"}, {".": "[[:nope:]]"}, {".": "[[:alpha]"},
	{".": "[[:]"}, {".": "[[::]]"}, {".": "[:alpha:]"}, {".": "[a[:digit:]-z]"}, {".": "[[:digit:]"}, {".": "foo[/]bar"},
	{".": "foo[!x]bar"}, {".": "foo[.-0]b"}, {".": "foo/[a-z]"}, {".": "foo[/b]"}, {".": `[\\]`}, {".": `[a\`},
	{".": "[!-0]"}, {".": "[+--]"}, {".": "[a-c-z]"}, {".": "[[-]]"}, {".": "[a-[]"}, {".": "a[[:space:]]b"},
	// Bytes and braces.
	{".": "{a,b}"}, {".": "*.{go,txt}"}, {".": "a?b"}, {".": "a??b"}, {".": "ä"}, {".": "[ä]"}, {".": "a[ä]b"},
	{".": "a[ä][ä]b"}, {".": "a*é"}, {".": "é/"}, {".": "\xc3*"}, {".": "a,b"}, {".": "a|b"}, {".": "(a)"},
	// Line ends and other structure.
	{".": "foo.go\r\nfoo.txt\r\n"}, {".": "foo.go\r"}, {".": "b\r\r\n"}, {".": "b\r\nc"}, {".": "b\rc"}, {".": "\r\n"},
	{".": "foo \r\n"}, {".": "\ufefffoo.go"}, {".": "\ufeff#a\nfoo"}, {".": "\ufeff\ufefffoo"}, {".": "foo\n\ufeffb"},
	{".": "\n\n\nb\n\n"}, {".": "foo\x00bar\nb"}, {".": "\x00\nb"}, {".": "#\x00\nb"}, {".": ""}, {".": "\n"}, {".": "b"},
	{".": "foo\vb"}, {".": "b\f"},
	// Several files.
	{".": "*.go", "src": "!foo.go"}, {".": "*.go", "src": "!foo.go", "src/a": "*.go"}, {".": "!foo.go", "src": "*.go"},
	{"src": "/foo.go"}, {"src": "a/*.go"}, {"src": "/a/**/foo.go"}, {"src": "build"}, {"foo": "bar/baz/"},
	{".": "src/a/*", "src": "!a/b", "src/a": "b/c"}, {".": "/src/**/foo.go", "src/a": "!foo.go"},
	{".": "foo/", "foo": "!b"}, {".": "foo/*", "foo": "!b"}, {".": "/a/b/c/", "a/b": "!c/"}, {"a": "b/c", "a/b": "!/c"},
	{"a": "**/b", "a/b": "!c"}, {"src": "*", "src/a": "!*"},
	{".": "src/a/foo.go", "src": "*.txt"}, {".": "src/a/b/c/foo.go", "src/a": "*.log\nb/x.txt"}, {".": "/foo/bar/baz", "foo": "", "foo/bar": "#"},
}

func TestAgreesWithGit(t *testing.T) {
	exhaustive.NotShort(t, "runs git many times")
	r := newRepo(t)
	var paths []string
	for i, s := range corpus {
		name := fmt.Sprintf("case%d", i)
		r.mkdirs(t, name, corpusDirs)
		r.write(t, name, s, corpusDirs)
		for _, path := range slices.Concat(corpusDirs, corpusFiles) {
			paths = append(paths, name+"/"+path)
		}
	}
	want := r.ignored(t, paths)
	for i, s := range corpus {
		for _, path := range slices.Concat(corpusDirs, corpusFiles) {
			dir := slices.Contains(corpusDirs, path)
			want := want[fmt.Sprintf("case%d/%s", i, path)]
			if got := s.ignored(path, dir); got != want {
				t.Errorf(".gitignore %q: %q (directory: %v) ignored = %v, and git says %v", s, path, dir, got, want)
			}
		}
	}
}

// TestNamedClassesAgreeWithGit compares every ASCII character.
func TestNamedClassesAgreeWithGit(t *testing.T) {
	names := []string{
		"alnum", "alpha", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper", "xdigit",
	}
	r := newRepo(t)
	var paths []string
	for _, name := range names {
		r.mkdirs(t, name, nil)
		r.write(t, name, scenario{".": "x[[:" + name + ":]]y"}, nil)
		for c := byte(1); c < 128; c++ {
			if c != '/' {
				paths = append(paths, name+"/x"+string(rune(c))+"y")
			}
		}
	}
	want := r.ignored(t, paths)
	for _, path := range paths {
		class, base, _ := strings.Cut(path, "/")
		s := scenario{".": "x[[:" + class + ":]]y"}
		if got := s.ignored(base, false); got != want[path] {
			t.Errorf("[:%s:] matches %q = %v, and git says %v", class, base, got, want[path])
		}
	}
}
