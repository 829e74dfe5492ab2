package edit_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/workspacekit/workspacekit/tools/internal/edit"
)

// corpusEdits are edits of the lines "alpha(1)", "  beta(2)" and "gamma(3)", which
// are somewhere in a file. What they make of these lines is written with line feeds.
var corpusEdits = []struct {
	name string
	edit edit.Edit
	want string
}{
	{"word", edit.Edit{Old: "beta", New: "delta"}, "alpha(1)\n  delta(2)\ngamma(3)\n"},
	{"delete", edit.Edit{Old: "(2)", New: ""}, "alpha(1)\n  beta\ngamma(3)\n"},
	{"line", edit.Edit{Old: "  beta(2)\n", New: "  delta(2)\n"}, "alpha(1)\n  delta(2)\ngamma(3)\n"},
	{"delete-line", edit.Edit{Old: "  beta(2)\n", New: ""}, "alpha(1)\ngamma(3)\n"},
	{"lines", edit.Edit{Old: "alpha(1)\n  beta(2)\n", New: "one\ntwo\nthree\n"}, "one\ntwo\nthree\ngamma(3)\n"},
	{"across", edit.Edit{Old: "(1)\n  beta", New: "(1,\n2)"}, "alpha(1,\n2)(2)\ngamma(3)\n"},
	{"from-line-end", edit.Edit{Old: "\n  beta(2)", New: ""}, "alpha(1)\ngamma(3)\n"},
	{"crlf", edit.Edit{Old: "alpha(1)\r\n  beta(2)\r\n", New: "x\r\ny\r\n"}, "x\ny\ngamma(3)\n"},
	{"all", edit.Edit{Old: "(", New: "[", All: true}, "alpha[1)\n  beta[2)\ngamma[3)\n"},
	{"count", edit.Edit{Old: "a(", New: "a[", Count: 3}, "alpha[1)\n  beta[2)\ngamma[3)\n"},
	{"regexp", edit.Edit{Old: `(\w+)\((\d)\)$`, New: "$2($1)", Regexp: true, All: true}, "1(alpha)\n  2(beta)\n3(gamma)\n"},
	{"regexp-lines", edit.Edit{Old: `\(1\)\n\s+(?P<name>\w+)`, New: "\n$name: ${name}", Regexp: true}, "alpha\n$name: beta(2)\ngamma(3)\n"},
	{"regexp-start", edit.Edit{Old: `^(  )?(alpha|beta)`, New: "$1// $2", Regexp: true, Count: 2}, "// alpha(1)\n  // beta(2)\ngamma(3)\n"},
	{"tolerant-ends", edit.Edit{Old: "alpha(1)  \n  beta(2)\t\n", New: "x\n", Tolerant: true}, "x\ngamma(3)\n"},
	{"tolerant-type", edit.Edit{Old: "beta\u00a0(2)", New: "x", Tolerant: true}, ""},
	{"tolerant-indent", edit.Edit{Old: "\talpha(1)\n\t  beta(2)\n", New: "\tx\n\t\ty\n", Tolerant: true}, "x\n\ty\ngamma(3)\n"},
	{"missing", edit.Edit{Old: "delta", New: "x"}, ""},
	{"twice", edit.Edit{Old: "a(", New: "x"}, ""},
	{"wrong-count", edit.Edit{Old: "a(", New: "x", Count: 2}, ""},
}

// TestCorpus edits files that differ in their line ends, their byte order mark, their
// last line and the bytes around the edited lines. What is outside must stay as it is.
func TestCorpus(t *testing.T) {
	cases := 0
	for _, mark := range []string{"", "\ufeff"} {
		for _, end := range []string{"\n", "\r\n"} {
			for name, around := range map[string][2]string{
				"alone":        {"", ""},
				"first":        {"", "after\nlast"},
				"last":         {"before\n\n", ""},
				"middle":       {"before\nblanks \t\n", "\n\nafter"},
				"latin-1":      {"caf\xe9\n", "\xa0\xff"},
				"typographic":  {"“quoted” – text…\n", "\u2028 ☃\n"},
				"control":      {"\x01\x1b[0m\n", "a\x00b\n"},
				"lone-returns": {"a\rb\n", "c\r"},
				"long-line":    {strings.Repeat("x", 100_000) + "\n", strings.Repeat("é", 100_000)},
			} {
				for _, c := range corpusEdits {
					cases++
					t.Run(fmt.Sprintf("%s%q/%s/%s", mark, end, name, c.name), func(t *testing.T) {
						ends := strings.NewReplacer("\n", end)
						before, after := mark+ends.Replace(around[0]), ends.Replace(around[1])
						data := []byte(before + ends.Replace("alpha(1)\n  beta(2)\ngamma(3)\n") + after)
						want := before + ends.Replace(c.want) + after
						change, err := edit.New(bytes.Clone(data), []edit.Edit{c.edit})
						switch {
						case c.want == "":
							if err == nil {
								t.Fatalf("New = %q, want an error", change.Bytes())
							}
						case err != nil:
							t.Fatalf("New = %v", err)
						case string(change.Bytes()) != want:
							t.Errorf("Bytes() = %q, want %q", change.Bytes(), want)
						default:
							checkUndo(t, data, change)
						}
					})
				}
			}
		}
	}
	if cases < 300 {
		t.Errorf("%d cases, want at least 300", cases)
	}
}

// TestHugeFile edits 100 MiB.
func TestHugeFile(t *testing.T) {
	if testing.Short() {
		t.Skip("left out with -short: it takes a GiB of memory")
	}
	before, after := bytes.Repeat([]byte("a line of text\r\n"), 50<<16), bytes.Repeat([]byte("x"), 50<<20)
	data := slicesJoin(before, []byte("old(1)\r\n  old(2)\r\n"), after)
	for _, c := range []struct {
		edit edit.Edit
		want string
	}{
		{edit.Edit{Old: "old(1)\n", New: "new\n"}, "new\r\n  old(2)\r\n"},
		{edit.Edit{Old: "old", New: "n", Count: 2}, "n(1)\r\n  n(2)\r\n"},
		{edit.Edit{Old: "\told(1)\n\t  old(2)", New: "\tnew", Tolerant: true}, "new\r\n"},
		{edit.Edit{Line: 50<<16 + 1, New: "new"}, "new\r\nold(1)\r\n  old(2)\r\n"},
	} {
		change, err := edit.New(data, []edit.Edit{c.edit})
		if err != nil {
			t.Fatalf("New(%+v) = %v", c.edit, err)
		}
		if !bytes.Equal(change.Bytes(), slicesJoin(before, []byte(c.want), after)) {
			t.Errorf("New(%+v) changes other bytes", c.edit)
		}
	}
}

func slicesJoin(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

func TestInsert(t *testing.T) {
	for _, c := range []struct {
		name, data string
		line       int
		text, want string
	}{
		{"first", "a\nb\n", 1, "x", "x\na\nb\n"},
		{"middle", "a\nb\n", 2, "x\n", "a\nx\nb\n"},
		{"last", "a\nb\n", 2, "x\ny", "a\nx\ny\nb\n"},
		{"end", "a\nb\n", 3, "x\n", "a\nb\nx\n"},
		{"end-without-newline", "a\nb", 3, "x", "a\nb\nx"},
		{"end-without-newline-from-line", "a\nb", 3, "x\n", "a\nb\nx"},
		{"before-last-without-newline", "a\nb", 2, "x", "a\nx\nb"},
		{"empty-line", "a\n", 1, "", "\na\n"},
		{"two-empty-lines", "a\n", 2, "\n\n", "a\n\n\n"},
		{"empty-file", "", 1, "x", "x"},
		{"mark", "\ufeffa\n", 1, "x", "\ufeffx\na\n"},
		{"only-mark", "\ufeff", 1, "x\n", "\ufeffx\n"},
		{"crlf", "a\r\nb\r\n", 2, "x\ny\n", "a\r\nx\r\ny\r\nb\r\n"},
		{"crlf-first", "a\r\nb\r\n", 1, "x", "x\r\na\r\nb\r\n"},
		{"crlf-end", "a\r\nb", 3, "x\n", "a\r\nb\r\nx"},
		{"crlf-into-lf", "a\nb\n", 2, "x\r\ny\r\n", "a\nx\ny\nb\n"},
		{"mixed", "a\r\nb\nc\n", 2, "x", "a\r\nx\r\nb\nc\n"},
		{"mixed-lf", "a\r\nb\nc\n", 3, "x", "a\r\nb\nx\nc\n"},
		{"one-line", "a", 2, "x", "a\nx"},
	} {
		t.Run(c.name, func(t *testing.T) {
			change, err := edit.New([]byte(c.data), []edit.Edit{{Line: c.line, New: c.text}})
			if err != nil {
				t.Fatal(err)
			}
			if got := string(change.Bytes()); got != c.want {
				t.Errorf("%q before line %d of %q makes %q, want %q", c.text, c.line, c.data, got, c.want)
			}
			checkUndo(t, []byte(c.data), change)
		})
	}
	two := []edit.Edit{{Line: 2, New: "x"}, {Old: "b", New: "B"}, {Line: 2, New: "y"}, {Line: 3, New: "z"}}
	if change, err := edit.New([]byte("a\nb\n"), two); err != nil || string(change.Bytes()) != "a\nx\ny\nB\nz\n" {
		t.Errorf("New(%+v) = %v, %q", two, err, change.Bytes())
	}
}

// TestReindent tests what a tolerant edit makes of indentations.
func TestReindent(t *testing.T) {
	for _, c := range []struct{ name, data, old, text, want, what string }{
		{"deeper", "x\n\tif a {\n\t\tb\n\t}\n", "if a {\n\tb\n}", "if c {\n\td\n\t\te\n}", "x\n\tif c {\n\t\td\n\t\t\te\n\t}\n", "indentation"},
		{"shallower", "if a {\n\tb\n}\n", "\t\tif a {\n\t\t\tb\n\t\t}\n", "\t\tc\n\n\t\t\td\n", "c\n\n\td\n", "indentation"},
		{"spaces-for-tabs", "\tif a {\n\t\tb\n\t}\n", "    if a {\n        b\n    }", "    if a {\n        if c {\n            d\n        }\n    }", "\tif a {\n\t\tif c {\n\t\t\td\n\t\t}\n\t}\n", "indentation"},
		{"two-spaces-for-tabs", "if a {\n\tb\n}\n", "if a {\n  b\n}", "if a {\n  b\n    c\n}", "if a {\n\tb\n\t\tc\n}\n", "indentation"},
		{"tabs-for-spaces", "if a:\n    b\n", "if a:\n\tb", "if a:\n\tif c:\n\t\td", "if a:\n    if c:\n        d\n", "indentation"},
		{"deeper-and-tabs", "\tif a {\n\t\tb\n\t}\n", "if a {\n    b\n}", "if a {\n    b\n    c\n}", "\tif a {\n\t\tb\n\t\tc\n\t}\n", "indentation"},
		{"after-indentation", "\tif a {\n\t\tb\n\t}\n", "if a {  \n\t\tb\n\t}", "if c {\n\t\td\n\t}", "\tif c {\n\t\td\n\t}\n", "line ends or trailing blanks"},
		{"after-indentation-and-spaces", "\tif a {\n\t\tb\n\t}\n", "if a {\n        b\n    }", "if c {\n        d\n    }", "\tif c {\n\t\td\n\t}\n", "indentation"},
		{"one-line", "  a(1)\n", "\ta(1)", "\tb(1)", "  b(1)\n", "indentation"},
		{"crlf", "\ta\r\n\t\tb\r\n", "a\n\tb\n", "c\n\td\n", "\tc\r\n\t\td\r\n", "indentation"},
		{"trailing", "a  \nb\t\n", "a\nb", "c", "c\t\n", "line ends or trailing blanks"},
		{"trailing-of-old", "a\nb\n", "a\nb  ", "c", "c\n", "line ends or trailing blanks"},
		{"mixed-ends", "a\r\nb\nc\n", "a\nb\nc\n", "x\ny\n", "x\r\ny\r\n", "line ends or trailing blanks"},
		{"quotes", "say “hi” – now\n", `say "hi" - now`, `say "ho"`, "say \"ho\"\n", "quotes, dashes or spaces"},
		{"quotes-of-all-kinds", "«say» 〝hi〞 ‹x› ＂ ＇ ― ⸺ ﹘ －\u1680\u3000now\n", `"say" "hi" 'x' " ' - - - -  now`, "x", "x\n", "quotes, dashes or spaces"},
		{"plain-quotes", "say \"hi\"\n", "say “hi”", "x", "x\n", "quotes, dashes or spaces"},
		{"no-break-space", "a\u00a0b\n", "a b", "c", "c\n", "quotes, dashes or spaces"},
		{"all-of-it", "\tsay ‘hi’  \n\tb\n", "say 'hi'\nb", "x\ny", "\tx\n\ty\n", "indentation, and quotes, dashes or spaces"},
		{"mark", "\ufeff  a\n  b\n", "a\nb", "c", "\ufeff  c\n", "indentation"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := edit.Edit{Old: c.old, New: c.text}
			if _, err := edit.New([]byte(c.data), []edit.Edit{e}); err == nil {
				t.Fatal("New finds the text without tolerance")
			}
			e.Tolerant = true
			change, err := edit.New([]byte(c.data), []edit.Edit{e})
			if err != nil {
				t.Fatal(err)
			}
			if got := string(change.Bytes()); got != c.want {
				t.Errorf("Bytes() = %q, want %q", got, c.want)
			}
			if got := change.Tolerated(); len(got) != 1 || got[0].What != c.what {
				t.Errorf("Tolerated() = %v, want %q", got, c.what)
			}
			checkUndo(t, []byte(c.data), change)
		})
	}
}

// TestToleranceHasLimits tests that a tolerant edit does not guess.
func TestToleranceHasLimits(t *testing.T) {
	for _, c := range []struct{ name, data, old, text string }{
		{"two-places", "\ta b\n\ta  b\na b \n", "  a b", "  x"},
		{"two-places-but-for-type", "a “b”\na „b“\n", `a "b"`, "x"},
		{"other-words", "\ta b\n", "  a c", "x"},
		{"inner-spaces", "a  b\n", "a b", "x"},
		{"case", "A b\n", "a b", "x"},
		{"uneven-indentation", "a\n  b\n   c\n", " a\n    b\n c", " x"},
		{"new-text-with-less", "a\n\tb\n", "\ta\n\t\tb", "\tx\ny"},
		{"new-text-of-one-line", "  a()\n", "    a()", "x()"},
		{"new-text-between-tabs", "\ta\n\t\tb\n", "    a\n        b", "    x\n      y"},
		{"only-blanks", "a\n\t\t\nb\n", "\n  \n", "x"},
		{"middle-of-line", "x = f(\n\ta)\n", "f(\n    a)", "g"},
		{"part-of-a-word", "iffy\n", "if ", "x"},
	} {
		t.Run(c.name, func(t *testing.T) {
			change, err := edit.New([]byte(c.data), []edit.Edit{{Old: c.old, New: c.text, Tolerant: true}})
			if err == nil {
				t.Fatalf("New makes %q, want an error", change.Bytes())
			}
			var missing *edit.NotFoundError
			if got := errors.As(err, &missing) && missing.Indent; got != strings.HasPrefix(c.name, "new-text") {
				t.Errorf("New = %#v, Indent is %v", err, got)
			}
		})
	}
	// What occurs as it is comes first.
	change, err := edit.New([]byte("\ta\n  a\n"), []edit.Edit{{Old: "\ta", New: "\tb", Tolerant: true, All: true}})
	if err != nil || string(change.Bytes()) != "\tb\n  a\n" || change.Tolerated() != nil {
		t.Errorf("New = %v, want the exact match alone", err)
	}
}

func TestRegexp(t *testing.T) {
	for _, c := range []struct{ name, data, old, text, want string }{
		{"groups", "f(a, b)\n", `f\((\w+), (?P<second>\w+)\)`, "f(${second}, $1)", "f(b, a)\n"},
		{"whole", "ab\n", "a.", "<$0>", "<ab>\n"},
		{"dollar", "a\n", "a", "$$1 $x ${1", "$1 $x ${1\n"},
		{"group-and-letters", "ab\n", "(a)b", "$1x", "ax\n"},
		{"group-and-digit", "ab\n", "(a)b", "${1}0", "a0\n"},
		{"unmatched-group", "b\n", "(a)?b", "<$1>", "<>\n"},
		{"line-starts", "a\nb\n", "^", "# ", "# a\n# b\n"},
		{"line-ends", "a\r\nb\r\n", "$", ";", "a;\r\nb;\r\n"},
		{"no-final-newline", "a\nb", "$", ";", "a;\nb;"},
		{"text-end", "a\n", `\z`, "b", "a\nb"},
		{"dot-and-crlf", "a b\r\nc\r\n", "a.*", "x", "x\r\nc\r\n"},
		{"across-crlf", "a\r\nb\r\n", `a\nb`, "x\ny", "x\r\ny\r\n"},
		{"group-keeps-ends", "a\r\nb\nc\r\n", `a(\n)b(\n)c`, "x${1}y${2}z\n", "x\r\ny\nz\r\n\r\n"},
		{"crlf-into-lf", "a\nb\n", `a\nb`, "x\r\ny", "x\ny\n"},
		{"crlf-into-mixed", "a\r\nb\nc\n", "[bc]", "x\r\ny", "a\r\nx\r\ny\nx\ny\n"},
		{"crlf-as-it-is", "a\nb\n", `\r?\n`, "\r\n", "a\r\nb\r\n"},
		{"carriage-return", "a\r\nb\n", `\r\n`, "\n", "a\nb\n"},
		{"carriage-return-in-hex", "a\r\nb\n", `\x0d\n`, "\n", "a\nb\n"},
		{"carriage-return-in-octal", "a\r\nb\n", `\015\n`, "\n", "a\nb\n"},
		{"carriage-return-in-braces", "a\r\nb\n", `\x{00D}\n`, "\n", "a\nb\n"},
		{"carriage-return-in-class", "a\r\nb \n", `[ \r]+$`, "", "a\nb\n"},
		{"carriage-return-after-backslash", "\\\r\na\n", `\\\r`, "x\n", "x\n\na\n"},
		{"carriage-return-quoted", "a\r\nb\n", "\\Q\r\n\\E", "\n", "a\nb\n"},
		{"backslash-and-r", "path C:\\root\r\n", `C:\\root$`, "x\ny", "path x\r\ny\r\n"},
		{"backslash-and-r-quoted", "path C:\\root\r\n", `\QC:\root\E$`, "x\ny", "path x\r\ny\r\n"},
		{"after-mark", "\ufeffa\n", "^", "# ", "\ufeff# a\n"},
		{"flags", "A\nb\n", "(?i)a", "x", "x\nb\n"},
		{"same", "a\n", "a", "a", "a\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			change, err := edit.New([]byte(c.data), []edit.Edit{{Old: c.old, New: c.text, Regexp: true, All: true}})
			if err != nil {
				t.Fatal(err)
			}
			if got := string(change.Bytes()); got != c.want {
				t.Errorf("%q to %q makes %q of %q, want %q", c.old, c.text, got, c.data, c.want)
			}
			checkUndo(t, []byte(c.data), change)
		})
	}
}
