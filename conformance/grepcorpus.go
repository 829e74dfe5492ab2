package conformance

import "github.com/workspacekit/workspacekit/workspace"

// grepTheme is a part of the grep corpus: patterns on one file. A theme is also
// a source of texts and patterns for [Compare].
type grepTheme struct {
	name     string
	clauses  string // of the contract that the patterns are about
	content  string // of the one file that is searched
	patterns []grepPattern
}

// grepPattern is a pattern and the lines that it matches. Of a match that spans
// lines it has the first, and the negative of the last. Wants of {1, -3, 4} are
// a match of the lines 1 to 3, and one of line 4 alone.
type grepPattern struct {
	pattern string
	opts    workspace.GrepOptions
	want    []int // the numbers of the lines that match
}

// finds is a pattern without options.
func finds(pattern string, lines ...int) grepPattern {
	return grepPattern{pattern: pattern, want: lines}
}

// grepThemes returns the corpus: patterns by subject, each with the lines that
// it matches.
func grepThemes() []grepTheme {
	return []grepTheme{
		{"literal-text", "S1", "alpha\nbeta\nalphabet\nALPHA\n", grepLiterals()},
		{"regular-expression", "S1", "foo(1)\nfoo 22\n\tbar\nfoo333\nend.\n", grepExpressions()},
		{"one-line-at-a-time", "S1", "a\nb\na b\n\nb a\n", grepLineByLine()},
		{"literal", "S2", "a.b\naxb\n(x\n[z]\n\\d\n^$\na|b\nA.B\n", grepLiteralOption()},
		{"ignore-case", "S3", "straße\nSTRASSE\nÄrger\närger\nK\n\u212a\nk\nΣς\nσ\nI\nı\n", grepIgnoreCase()},
		{"empty-lines", "S1 S4", "a\n\n\nb\n\n", grepEmptyLines()},
		{"empty-file", "S4", "", []grepPattern{finds(""), finds("^$"), finds(".*")}},
		{"no-line-break-at-end", "S4", "one\ntwo", []grepPattern{finds("two", 2), finds("", 1, 2), finds("two$", 2)}},
		{"line-break-at-end", "S4", "one\ntwo\n", []grepPattern{finds("", 1, 2), finds("^$")}},
		{"only-line-breaks", "S4", "\n\n", []grepPattern{finds("", 1, 2), finds("^$", 1, 2)}},
		{"unicode", "S1", "日本語\nnaïve\ncafe\u0301\n🙂 smile\n", grepUnicode()},
		{"carriage-return", "S18", "one\r\ntwo \r\n\r\nx\r\r\nlast\r", grepCarriageReturns()},
		{"multiline", "S19 S20 S21", "a {\n  b\n}\nc\n\na {\n}\n", grepMultiline()},
		{"multiline-carriage-return", "S18 S19 S20", "a {\r\n  b\r\n}\r\nc\n\r\nend\r", grepMultilineCR()},
		{"multiline-no-line-break-at-end", "S19 S20", "a\nb", []grepPattern{spans(`b\z`, 2), spans(`a\z`), spans(`b\n`), spans("$", 1, 2), spans(`(?s)a.*`, 1, -2)}},
		{"multiline-empty-file", "S19", "", []grepPattern{spans(""), spans("^$"), spans(`\A\z`)}},
		{"not-utf-8", "S1", "caf\xe9 latin\nplain\n\xff\xfe\n", []grepPattern{finds("latin", 1), finds("^caf", 1), finds("plain", 2)}},
	}
}

// spans is a pattern that can match over several lines.
func spans(pattern string, lines ...int) grepPattern {
	return grepPattern{pattern, workspace.GrepOptions{Multiline: true}, lines}
}

// grepCarriageReturns has patterns for lines that end with "\r\n". Files from
// Windows have them. With GNU grep "one$" does not match there, and a model
// does not see why. Only one "\r" is hidden, so "x\r\r" ends in one for the
// pattern.
func grepCarriageReturns() []grepPattern {
	return []grepPattern{
		finds("one$", 1),
		finds(`one\z`, 1),
		finds(`[^ ]$`, 1, 4, 5),
		finds(`\s$`, 2, 4),
		finds("^$", 3),
		finds(".", 1, 2, 4, 5),
		finds("x$"),
		finds("^x.$", 4),
		finds("last$", 5),
		finds(`\r`, 1, 2, 3, 4, 5),
		finds(`one\r$`, 1),
		finds(`\r\r$`, 4),
		finds(`(?:one|two )\r?$`, 1, 2),
		{"\r", workspace.GrepOptions{Literal: true}, []int{1, 2, 3, 4, 5}},
		{"o\r", workspace.GrepOptions{Literal: true}, nil},
	}
}

// grepMultiline has patterns that span lines, and those that a search line by
// line would find as well. Matches do not overlap: the next one begins on a
// later line than the last one ended, so the empty pattern matches each line
// once.
func grepMultiline() []grepPattern {
	return []grepPattern{
		spans(`\{\n\s+b\n\}`, 1, -3),
		spans("\\{\n  b", 1, -2),
		spans(`\{\s*\}`, 6, -7),
		spans(`a \{[^}]*\}`, 1, -3, 6, -7),
		spans(`(?s)a.*\}`, 1, -7),
		spans(`(?s)a.*?\}`, 1, -3, 6, -7),
		spans("a.*b"),
		spans("^  b$", 2),
		spans("^a|c$", 1, 4, 6),
		spans(`\Aa`, 1),
		spans(`\Aa|\}`, 1, 3, 7),
		spans(`\}\n\z`, 7),
		spans(`\}\z`),
		spans("^$", 5),
		spans("^", 1, 2, 3, 4, 5, 6, 7),
		spans("$", 1, 2, 3, 4, 5, 6, 7),
		spans("", 1, 2, 3, 4, 5, 6, 7),
		spans(`\n`, 1, 2, 3, 4, 5, 6, 7),
		spans(`\n\n`, 4, -5),
		spans(`c\s+a`, 4, -6),
		spans(`b\n`, 2),
		spans(`\bb\b`, 2),
		spans(`[\n]c`, 3, -4),
		spans(`\{(?:\n  b)?\n\}|c`, 1, -3, 4, 6, -7),
		spans(`\w\r\n`),
		{"{\n  b", workspace.GrepOptions{Multiline: true, Literal: true}, []int{1, -2}},
		{"{\n  B", workspace.GrepOptions{Multiline: true, Literal: true, IgnoreCase: true}, []int{1, -2}},
		{"B\n}", workspace.GrepOptions{Multiline: true, IgnoreCase: true}, []int{2, -3}},
	}
}

// grepMultilineCR has patterns that span lines with different ends. A model
// writes "\n" in its pattern whatever the file has, and copies "\r\n" from what
// it has read.
func grepMultilineCR() []grepPattern {
	return []grepPattern{
		spans(`\{\n  b\n\}`, 1, -3),
		spans(`\{\r\n  b`, 1, -2),
		spans(`\{\r?\n  b`, 1, -2),
		spans(`c\r\n`),
		spans(`c\n\n`, 4, -5),
		spans(`c\n\r`, 4, -5),
		spans("b$", 2),
		spans(`^$`, 5),
		spans(`end$`, 6),
		spans(`end\z`, 6),
		spans(`(?s)\}.*end`, 3, -6),
		{"{\n  b", workspace.GrepOptions{Multiline: true, Literal: true}, []int{1, -2}},
	}
}

// grepLiterals has patterns that are plain text.
func grepLiterals() []grepPattern {
	return []grepPattern{
		finds("alpha", 1, 3),
		finds("beta", 2),
		finds("bet", 2, 3),
		finds("ALPHA", 4),
		finds("gamma"),
		finds("", 1, 2, 3, 4),
	}
}

// grepExpressions has the forms of regular expressions. In a basic expression,
// the default of grep, "+", "|" and "{2,}" stand for themselves, and "\d" is no
// class of POSIX.
func grepExpressions() []grepPattern {
	return []grepPattern{
		finds("^foo", 1, 2, 4),
		finds(`foo\(\d\)`, 1),
		finds(`\d{2,}`, 2, 4),
		finds(`\d{2}$`, 2, 4),
		finds(`^\s`, 3),
		finds("bar|end", 3, 5),
		finds(`\.$`, 5),
		finds("fo+[ (]", 1, 2),
		finds(`\bbar\b`, 3),
		finds("(?i)FOO3", 4),
		finds("^.{4}$", 3, 5),
		finds("[[:punct:]]$", 1, 5),
		finds("(foo)(.)*3", 4),
		finds(`\Afoo`, 1, 2, 4),
	}
}

// grepLineByLine has patterns that a search of the whole text gets wrong.
func grepLineByLine() []grepPattern {
	return []grepPattern{
		finds("^a", 1, 3),
		finds("b$", 2, 3),
		// In the whole text, the line break after "a" would be the space in front of "b".
		finds(`a\s+b`, 3),
		finds(`a\s*$`, 1, 5),
		finds("(?s)a.b", 3),
		finds("(?s)a.*b", 3),
		// In the whole text, the line break would be the character that is not "a".
		finds("[^a]b", 3),
		finds("^[^x]*$", 1, 2, 3, 4, 5),
		finds(`a\z`, 1, 5),
		finds(`\Ab`, 2, 5),
	}
}

// grepLiteralOption has patterns whose special characters stand for themselves.
// "\Q" and "\E" are among them, because a provider that quotes with these ends
// its quotes where the text has them.
func grepLiteralOption() []grepPattern {
	literal := workspace.GrepOptions{Literal: true}
	folded := workspace.GrepOptions{Literal: true, IgnoreCase: true}
	return []grepPattern{
		{"a.b", literal, []int{1}},
		{"(", literal, []int{3}},
		{"[z]", literal, []int{4}},
		{`\d`, literal, []int{5}},
		{"^$", literal, []int{6}},
		{"a|b", literal, []int{7}},
		{"a.b", folded, []int{1, 8}},
		{`\Q`, literal, nil},
		{`\E`, literal, nil},
		{"", literal, []int{1, 2, 3, 4, 5, 6, 7, 8}},
	}
}

// grepIgnoreCase has patterns for letters in either case. Simple folding goes
// letter by letter: the Kelvin sign matches "k", and both small sigmas match
// the capital one, but "ß" is not "ss", and the dotless i of Turkish is no "I".
// Programs that fold by the locale, or in ASCII only, differ in some of these.
func grepIgnoreCase() []grepPattern {
	folded := workspace.GrepOptions{IgnoreCase: true}
	return []grepPattern{
		{"strasse", folded, []int{2}},
		{"STRAßE", folded, []int{1}},
		{"ärger", folded, []int{3, 4}},
		{"ÄRGER", folded, []int{3, 4}},
		{"^k$", folded, []int{5, 6, 7}},
		{"^[k]$", folded, []int{5, 6, 7}},
		{"\u212a", folded, []int{5, 6, 7}},
		{"σ", folded, []int{8, 9}},
		{"^i$", folded, []int{10}},
		finds("ärger", 4),
		{"^k$", workspace.GrepOptions{IgnoreCase: true, Literal: true}, nil},
		{"k", workspace.GrepOptions{IgnoreCase: true, Literal: true}, []int{5, 6, 7}},
	}
}

// grepEmptyLines has patterns that match empty lines. There is no line after
// the last line break, so "$" has five matches and not six.
func grepEmptyLines() []grepPattern {
	return []grepPattern{
		finds("^$", 2, 3, 5),
		finds("", 1, 2, 3, 4, 5),
		finds(".", 1, 4),
		finds("x*", 1, 2, 3, 4, 5),
		finds("^", 1, 2, 3, 4, 5),
		finds("$", 1, 2, 3, 4, 5),
	}
}

// grepUnicode has patterns for text that is not ASCII. A dot is a character,
// and a letter with a combining accent is two, which "[é]" does not match. A
// grep in the locale C sees bytes.
func grepUnicode() []grepPattern {
	return []grepPattern{
		finds("本", 1),
		finds("^...$", 1),
		finds("na.ve", 2),
		finds(`\p{Han}+`, 1),
		finds("[é]"),
		finds("e\u0301", 3),
		finds("🙂", 4),
		finds("[🙀-🙃]", 4),
	}
}
