package conformance

import "strings"

// globTheme is a part of the glob corpus: one feature of the dialect.
type globTheme struct {
	name     string
	clauses  string // of the contract that the patterns are about
	patterns []globPattern
}

// globPattern is a pattern and the paths that it matches in globTree, in order
// and separated by spaces.
type globPattern struct{ pattern, want string }

// globTree is the tree on which the themes of the corpus run. It has names that
// are beginnings of others ("a", "a-b", "a.go"), names that look like patterns,
// a directory without files, and letters of more than one byte.
func globTree() files {
	return files{
		".env": "", ".github/workflows/ci.yml": "", "README.md": "",
		"a-b/x.txt": "", "a.go": "", "a/b.go": "", "a/x.txt": "",
		"a/deep/c.go": "", "a/deep/d_test.go": "", "a/deep/er/e.go": "",
		"b1.txt": "", "b2.txt": "", "b[1].txt": "",
		"cmd/app/main.go": "", "cmd/tool/main.go": "",
		"docs/guide.md": "", "docs/img/logo.png": "", "empty/inner/": "",
		"src/é.go": "", "src/日本.go": "", "star*.txt": "", "{brace}.txt": "",
	}
}

// globThemes returns the corpus: patterns by subject, each with the paths that
// it matches.
func globThemes() []globTheme {
	return []globTheme{
		{"literal", "G1 G8", globLiteral()},
		{"star", "G1", globStar()},
		{"double-star", "G1", globDoubleStar()},
		{"question", "G1", globQuestion()},
		{"class", "G1", globClass()},
		{"brace", "G1", globBrace()},
		{"escaped", "G1", globEscaped()},
		{"dot-files", "G4", globDotFiles()},
		{"directories", "G3", globDirectories()},
	}
}

// globLiteral has patterns without wildcards. They match whole paths: no
// beginning, no name alone, and no other case of a letter.
func globLiteral() []globPattern {
	return []globPattern{
		{"a.go", "a.go"},
		{"a/x.txt", "a/x.txt"},
		{"a/deep/er/e.go", "a/deep/er/e.go"},
		{"a", ""},
		{"missing", ""},
		{"a/missing", ""},
		{"missing/*", ""},
		{"A.GO", ""},
		{"a.g", ""},
		{"x.txt", ""},
		// These cannot be names, but they are patterns: a provider that asks for the name
		// itself must not return the error of such a name.
		{"\x00", ""},
		{"a/\x00/b.go", ""},
		{"a/" + strings.Repeat("n", 300), ""},
	}
}

// globStar has patterns in which a star matches within one element. It matches
// no slash, and names that begin with a dot like any other.
func globStar() []globPattern {
	return []globPattern{
		{"*.go", "a.go"},
		{"a*", "a.go"},
		{"*.md", "README.md"},
		{"*", ".env README.md a.go b1.txt b2.txt b[1].txt star*.txt {brace}.txt"},
		{"a/*", "a/b.go a/x.txt"},
		{"*/x.txt", "a-b/x.txt a/x.txt"},
		{"*/*.go", "a/b.go src/é.go src/日本.go"},
		{"*/*/*.go", "a/deep/c.go a/deep/d_test.go cmd/app/main.go cmd/tool/main.go"},
		{"*b*", "b1.txt b2.txt b[1].txt {brace}.txt"},
		{"x*", ""},
		{"*a*.*o", "a.go"},
		{"a*/x*", "a-b/x.txt a/x.txt"},
		{"cmd/*/main.go", "cmd/app/main.go cmd/tool/main.go"},
	}
}

// globDoubleStar has patterns that match at any depth.
func globDoubleStar() []globPattern {
	return []globPattern{
		{"**/*.go", "a.go a/b.go a/deep/c.go a/deep/d_test.go a/deep/er/e.go cmd/app/main.go cmd/tool/main.go src/é.go src/日本.go"},
		{"**", ".env .github/workflows/ci.yml README.md a-b/x.txt a.go a/b.go a/deep/c.go a/deep/d_test.go a/deep/er/e.go a/x.txt" +
			" b1.txt b2.txt b[1].txt cmd/app/main.go cmd/tool/main.go docs/guide.md docs/img/logo.png src/é.go src/日本.go star*.txt {brace}.txt"},
		{"a/**", "a/b.go a/deep/c.go a/deep/d_test.go a/deep/er/e.go a/x.txt"},
		{"a/**/*.go", "a/b.go a/deep/c.go a/deep/d_test.go a/deep/er/e.go"},
		{"a/**/*_test.go", "a/deep/d_test.go"},
		{"**/deep/**", "a/deep/c.go a/deep/d_test.go a/deep/er/e.go"},
		{"**/x.txt", "a-b/x.txt a/x.txt"},
		{"**/a.go", "a.go"},
		{"cmd/**/main.go", "cmd/app/main.go cmd/tool/main.go"},
		{"**/er/*", "a/deep/er/e.go"},
		{"**/**/*.png", "docs/img/logo.png"},
		{"a/**/deep/*", "a/deep/c.go a/deep/d_test.go"},
		{"a/deep/**/e.go", "a/deep/er/e.go"},
		{"**/missing", ""},
		{"missing/**", ""},
		// "**" stands for no element as well, so a file in front of it matches. Nothing
		// is below a file.
		{"a.go/**", "a.go"},
		{"a/deep/c.go/**", "a/deep/c.go"},
		{"a.go/b/**", ""},
		{"a.go/**/b", ""},
		{"a/missing/**", ""},
		{"empty/inner/**", ""},
	}
}

// globQuestion has patterns for one character. It is a character, not a byte:
// "é" has two bytes in UTF-8, and "日" three.
func globQuestion() []globPattern {
	return []globPattern{
		{"b?.txt", "b1.txt b2.txt"},
		{"src/?.go", "src/é.go"},
		{"src/??.go", "src/日本.go"},
		{"?.go", "a.go"},
		{"a?b/x.txt", "a-b/x.txt"},
		{"a?b.go", ""},
		{"b??1?.txt", ""},
		{"?/?.???", "a/x.txt"},
	}
}

// globClass has patterns with classes of characters. Both signs of negation
// count, and ranges are of characters.
func globClass() []globPattern {
	return []globPattern{
		{"b[12].txt", "b1.txt b2.txt"},
		{"b[0-9].txt", "b1.txt b2.txt"},
		{"b[^1].txt", "b2.txt"},
		{"b[!1].txt", "b2.txt"},
		{"[a-c]*", "a.go b1.txt b2.txt b[1].txt"},
		{"[^a-z]*", ".env README.md {brace}.txt"},
		{"src/[é].go", "src/é.go"},
		{"src/[一-龥]本.go", "src/日本.go"},
		{"a[^x]b/x.txt", "a-b/x.txt"},
		{"[ac]/**/*.go", "a/b.go a/deep/c.go a/deep/d_test.go a/deep/er/e.go"},
		{"[x-z]*", ""},
	}
}

// globBrace has patterns with alternatives. They can be nested, empty, and have
// slashes. A path that several of them match is returned once.
func globBrace() []globPattern {
	return []globPattern{
		{"*.{go,md}", "README.md a.go"},
		{"b{1,2,3}.txt", "b1.txt b2.txt"},
		{"{a,cmd}/**/*.go", "a/b.go a/deep/c.go a/deep/d_test.go a/deep/er/e.go cmd/app/main.go cmd/tool/main.go"},
		{"{a/deep,docs}/*", "a/deep/c.go a/deep/d_test.go docs/guide.md"},
		{"{docs/{guide,none}.md,README.md}", "README.md docs/guide.md"},
		{"{a/{b,deep/{c,x}},a}.go", "a.go a/b.go a/deep/c.go"},
		{"a/{b,x}.{go,txt}", "a/b.go a/x.txt"},
		{"a{-b,}/x.txt", "a-b/x.txt a/x.txt"},
		{"{a.go}", "a.go"},
		{"{a.go,a.go,*.go}", "a.go"},
		{"{**/*.png,*.md}", "README.md docs/img/logo.png"},
		{"{b[12],star*}.txt", "b1.txt b2.txt star*.txt"},
		{"{x,y}", ""},
		// Two stars that come together are a double star.
		{"{*,q}*/e.go", "a/deep/er/e.go"},
		{"a/*{,q}*/d_test.go", "a/deep/d_test.go"},
		{"a/{*}*", "a/b.go a/deep/c.go a/deep/d_test.go a/deep/er/e.go a/x.txt"},
	}
}

// globEscaped has patterns with wildcards that stand for themselves. A
// backslash in front of any other character stands for that character.
func globEscaped() []globPattern {
	return []globPattern{
		{`b\[1\].txt`, "b[1].txt"},
		{`star\*.txt`, "star*.txt"},
		{`a\*`, ""},
		{`\{brace\}.txt`, "{brace}.txt"},
		{`\a.go`, "a.go"},
		{`b[\[]1].txt`, "b[1].txt"},
		{`b\?.txt`, ""},
	}
}

// globDotFiles has patterns for hidden names, which match like others. A shell
// hides them, and a model that looks for CI files or settings would not find
// them.
func globDotFiles() []globPattern {
	return []globPattern{
		{".*", ".env"},
		{".env", ".env"},
		{"*env", ".env"},
		{"?env", ".env"},
		{".github/**", ".github/workflows/ci.yml"},
		{"**/*.yml", ".github/workflows/ci.yml"},
		{"*/*/*.yml", ".github/workflows/ci.yml"},
		{"**/.e*", ".env"},
	}
}

// globDirectories has patterns that return directories.
func globDirectories() []globPattern {
	return []globPattern{
		{"*/", ".github a a-b cmd docs empty src"},
		{"**/", ".github .github/workflows a a-b a/deep a/deep/er cmd cmd/app cmd/tool docs docs/img empty empty/inner src"},
		{"a/*/", "a/deep"},
		{"a/", "a"},
		{"**/deep/", "a/deep"},
		{"{a,docs}/*/", "a/deep docs/img"},
		{"empty/*/", "empty/inner"},
		{".*/", ".github"},
		{"a.go/", ""},
		{"*.go/", ""},
		{"a/**/er/", "a/deep/er"},
		{"none/", ""},
		// A directory matches with no element after it, a file and a missing name do not.
		{"a/**/", "a a/deep a/deep/er"},
		{"a/deep/er/**/", "a/deep/er"},
		{"empty/inner/**/", "empty/inner"},
		{"none/**/", ""},
		{"a/none/**/", ""},
		{"none/none/**/", ""},
		{"a.go/**/", ""},
		{"a/b.go/**/", ""},
		{"a.go/none/**/", ""},
	}
}
