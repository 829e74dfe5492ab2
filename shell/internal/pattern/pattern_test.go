package pattern_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/internal/lines"
	"github.com/workspacekit/workspacekit/shell/internal/pattern"
)

// texts are the lines that the patterns are tried on.
var texts = strings.Split(strings.Join([]string{
	"", "a", "b", "ab", "ba", "aab", "abab", "abcabc", "a b", "a-b", "a_b", "A", "aB", "foo bar", "foo.bar", "foobar",
	"x*", "+a", "*a", "?", "{1}", "a{1", "a{2}", "()", "(a)", "a|b", "[a]", "a]", "^a", "a^b", "a$", "$", "\\", "a\\b", "\\d",
	"é", "café", "cafés", "éa", "naïve a", "日本 a", "Ä", "ä b", "1", "12", "a1", "1a2", "\t", " a", "a ", "a\tb", ".", "..", "a.b",
	"aaa", "aaaa", "bbb", "cab", "a,b;c", "-", "a-c", "]", "x y z", "_", "a a", "aa aa", "\r", "a\r",
}, "\n"), "\n")

var atoms = map[pattern.Syntax][]string{
	pattern.Basic: {"a", "b", "c", ".", "[ab]", "[^a]", "[a-c]", "[]a]", "[^]a]", "[a-]", "[[:alpha:]]", "[[:digit:]x]", "[^[:space:]]", "[[:upper:]]", "[[:punct:]]",
		"\\.", "\\*", "\\[", "\\w", "\\W", "\\s", "\\S", "\\<", "\\>", "\\b", "\\B", "^", "$", "é", "[é]", "+", "?", "{", "}", "|", "(", ")", "*", " ", "\\(a\\)", "\\(ab*\\)", "\\(a\\|b\\)", "\\`", "\\'", "[\\.]", "\\\\"},
	pattern.Extended: {"a", "b", "c", ".", "[ab]", "[^a]", "[a-c]", "[]a]", "[^]a]", "[a-]", "[[:alpha:]]", "[[:digit:]x]", "[^[:space:]]", "[[:upper:]]", "[[:punct:]]",
		"\\.", "\\*", "\\[", "\\w", "\\W", "\\s", "\\S", "\\<", "\\>", "\\b", "\\B", "^", "$", "é", "[é]", "\\+", "\\?", "\\{", "}", "\\|", "\\(", "\\)", " ", "(a)", "(ab*)", "(a|b)", "()", "(a|)", "[\\.]", "\\\\", "a{1"},
	pattern.Perl: {"a", "b", "c", ".", "[ab]", "[^a]", "[a-c]", "[]a]", "[a-]", "[[:alpha:]]", "[\\d]", "[^\\s]", "[\\w-]", "\\d", "\\D", "\\w", "\\W", "\\s", "\\S", "\\h", "\\b", "\\B", "^", "$", "\\.", "\\x61", "\\t",
		"(a)", "(?:ab)", "(a|b)", "(?i)A", "(?i:A)", "(?<n>a)", "(?#x)a", "\\Qa.\\E", "é", "\\p{L}", "\\pN", "a{1", "}", "[^\\D]", "\\A", "\\z", "\\Z", "\\x{e9}", "\\N"},
}

var operators = map[pattern.Syntax][]string{
	pattern.Basic:    {"*", "\\+", "\\?", "\\{2\\}", "\\{1,2\\}", "\\{,1\\}", "\\{2,\\}", "\\|"},
	pattern.Extended: {"*", "+", "?", "{2}", "{1,2}", "{,1}", "{2,}", "|"},
	pattern.Perl:     {"*", "+", "?", "{2}", "{1,2}", "{2,}", "|", "*?", "+?", "??"},
}

func generate(r *rand.Rand, language pattern.Syntax) string {
	var b strings.Builder
	for range 1 + r.IntN(4) {
		atom := atoms[language][r.IntN(len(atoms[language]))]
		b.WriteString(atom)
		// GNU's grep and sed do not agree on what repeats an assertion.
		if assertion := strings.HasPrefix(atom, "\\") && strings.ContainsAny(atom, "<>bB`'") || atom == "^" || atom == "$"; !assertion && r.IntN(3) == 0 {
			b.WriteString(operators[language][r.IntN(len(operators[language]))])
		}
	}
	return b.String()
}

// TestGrep compares what generated patterns match with the matches of the real grep.
func TestGrep(t *testing.T) {
	t.Parallel()
	exhaustive.NotShort(t, "runs grep many times")
	for language, flag := range map[pattern.Syntax]string{pattern.Basic: "-G", pattern.Extended: "-E", pattern.Perl: "-P", pattern.Fixed: "-F"} {
		t.Run(flag, func(t *testing.T) {
			t.Parallel()
			program, texts := real(t, "grep"), texts
			if language == pattern.Perl { // Debian's grep -P does not match "é" with "\S"
				texts = slices.DeleteFunc(slices.Clone(texts), func(line string) bool { return strings.ContainsFunc(line, func(r rune) bool { return r > 127 }) })
			}
			file := filepath.Join(t.TempDir(), "text")
			if err := os.WriteFile(file, []byte(strings.Join(texts, "\n")+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			r := rand.New(rand.NewPCG(1, uint64(language)))
			for range exhaustive.Some(t, "patterns", 3000, 150) {
				from := language
				if from == pattern.Fixed {
					from = pattern.Basic
				}
				text, opts, flags := generate(r, from), &pattern.Options{}, []string{flag, "-a", "-on"}
				switch r.IntN(6) {
				case 0:
					opts.IgnoreCase, flags = true, append(flags, "-i")
				case 1:
					opts.Word, flags = true, append(flags, "-w")
				case 2:
					opts.Line, flags = true, append(flags, "-x")
				}
				printed, status := output(t, program, append(flags, "-e", text, file)...)
				want := string(printed)
				compiled, err := pattern.Compile([]string{text}, language, opts)
				if bad := (*pattern.Error)(nil); errors.As(err, &bad) && bad.Unsupported {
					t.Logf("%s %q: %v", flags, text, err)
					continue
				}
				if (status == 2) != (err != nil) {
					t.Errorf("Compile(%q, %s) = %v, grep's status is %d: %s", text, flags, err, status, want)
					continue
				}
				if err != nil {
					continue
				}
				got := only(compiled, texts)
				if opts.Word { // GNU's grep does not always find the matches after the first one of a line
					want, got = firsts(want), firsts(got)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s %q (-want +got):\n%s", flags, text, diff)
				}
				checkRemote(t, compiled, text)
			}
		})
	}
}

// only returns what grep -on prints.
func only(compiled *pattern.Regexp, texts []string) string {
	var b strings.Builder
	for i, line := range texts {
		for _, m := range compiled.All(context.Background(), []byte(line), -1) {
			if m[0] < m[1] {
				fmt.Fprintf(&b, "%d:%s\n", i+1, line[m[0]:m[1]])
			}
		}
	}
	return b.String()
}

// firsts returns the first line of each number.
func firsts(printed string) string {
	var b strings.Builder
	last := ""
	for line := range strings.Lines(printed) {
		if number, _, _ := strings.Cut(line, ":"); number != last {
			b.WriteString(line)
			last = number
		}
	}
	return b.String()
}

// checkRemote checks that the expressions for a store find the lines that match.
func checkRemote(t *testing.T, compiled *pattern.Regexp, text string) {
	t.Helper()
	remote, exact := compiled.Remote()
	candidates, is := compiled.Candidates()
	for _, expression := range []string{remote, candidates} {
		m, err := lines.Compile(expression, lines.Options{})
		if err != nil {
			t.Errorf("%q: the expression %q: %v", text, expression, err)
			return
		}
		for _, line := range texts {
			scanner := m.Scan(t.Context(), []byte(line+"\n"))
			_, _, found := scanner.Next()
			match := compiled.Match(t.Context(), []byte(line))
			if match && !found || expression == remote && exact && found != match {
				t.Errorf("%q: %q finds %q = %v, the pattern matches = %v", text, expression, line, found, match)
			}
			if found && expression == candidates && match != (is == nil || is(t.Context(), []byte(line))) {
				t.Errorf("%q: %q finds %q, and decides otherwise than the pattern, which matches = %v", text, expression, line, match)
			}
		}
	}
}

// TestSed compares matches and their groups with those of the real sed.
func TestSed(t *testing.T) {
	t.Parallel()
	program := real(t, "sed")
	file := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(file, []byte(strings.Join(texts, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range exhaustive.Some(t, "patterns", 3000, 150) {
		language, flags := pattern.Basic, []string{"-n"}
		if r.IntN(2) == 0 {
			language, flags = pattern.Extended, []string{"-n", "-E"}
		}
		text := generate(r, language)
		compiled, err := pattern.Compile([]string{text}, language, &pattern.Options{Sed: true})
		script := "s/" + text + "/<&>/gp"
		if err == nil && compiled.Groups() > 0 {
			script = "s/" + text + "/<&|\\1>/gp"
		}
		want, status := output(t, program, append(flags, "-e", script, file)...)
		if bad := (*pattern.Error)(nil); errors.As(err, &bad) && bad.Unsupported {
			continue
		}
		if (status != 0) != (err != nil) {
			t.Errorf("Compile(%q) = %v, sed's status is %d", text, err, status)
			continue
		}
		if err != nil {
			continue
		}
		var got bytes.Buffer
		for _, line := range texts {
			at := 0
			all := compiled.All(t.Context(), []byte(line), -1)
			for _, m := range all {
				group := ""
				if compiled.Groups() > 0 {
					group = "|"
					if m[2] >= 0 {
						group += line[m[2]:m[3]]
					}
				}
				got.WriteString(line[at:m[0]] + "<" + line[m[0]:m[1]] + group + ">")
				at = m[1]
			}
			if len(all) > 0 {
				got.WriteString(line[at:] + "\n")
			}
		}
		// The group of the last repetition is another one if that is empty.
		if diff := cmp.Diff(string(want), got.String()); diff != "" && !emptyInUnicode.MatchString(got.String()) && !strings.Contains(text, "(a|){") {
			t.Errorf("%s %q (-want +got):\n%s", flags, script, diff)
		}
	}
}

// emptyInUnicode matches an empty match before a character of several bytes, which
// Debian's sed cuts into its bytes.
var emptyInUnicode = regexp.MustCompile(`<\|?>[^\x00-\x7f]`)

// TestRefused has patterns that RE2 cannot do, and what the error says.
func TestRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		language pattern.Syntax
		text     string
		says     string
	}{
		{pattern.Basic, `\(a\)\1`, `the back reference \1`},
		{pattern.Extended, `(a)\1`, `the back reference \1`},
		{pattern.Perl, `(a)\1`, `the back reference \1`},
		{pattern.Perl, `a(?=b)`, "look ahead"},
		{pattern.Perl, `a(?!b)`, "look ahead"},
		{pattern.Perl, `(?<=a)b`, "look behind"},
		{pattern.Perl, `(?<!a)b`, "look behind"},
		{pattern.Perl, `(?>a)b`, "atomic"},
		{pattern.Perl, `a++`, "possessive"},
		{pattern.Perl, `a\Kb`, `\K`},
		{pattern.Extended, `a{1001}`, "1000 times"},
		{pattern.Rust, `[a&&b]`, "classes"},
	} {
		_, err := pattern.Compile([]string{c.text}, c.language, nil)
		if bad := (*pattern.Error)(nil); !errors.As(err, &bad) || !bad.Unsupported || !strings.Contains(err.Error(), c.says) {
			t.Errorf("Compile(%q) = %v, want an error that says %q", c.text, err, c.says)
		}
	}
}

// TestRust has what Rust's expressions match that is not in RE2's.
func TestRust(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, line string
		want       bool
	}{
		{`\bé\b`, "a é b", true}, {`\bé\b`, "aéb", false}, {`^\w+$`, "naïve", true}, {`\d`, "٣", true},
		{`a{2}{2}`, "aaaa", true}, {`a{2}{2}`, "aaa", false}, {`[\W\d]`, "x", false}, {`foo\(`, "foo(", true},
	} {
		compiled, err := pattern.Compile([]string{c.text}, pattern.Rust, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := compiled.Match(t.Context(), []byte(c.line)); got != c.want {
			t.Errorf("Match(%q, %q) = %v, want %v", c.text, c.line, got, c.want)
		}
	}
}

// TestMachine compares the machine with package regexp where both can do a pattern.
func TestMachine(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	for range 500 {
		text := generate(r, pattern.Perl)
		compiled, err := pattern.Compile([]string{text}, pattern.Perl, &pattern.Options{Word: true})
		if err != nil {
			continue
		}
		plain, err := regexp.Compile(`(?:^|[^\pL\p{Nd}_])(?:` + text + `)(?:[^\pL\p{Nd}_]|$)`)
		if err != nil || strings.ContainsAny(text, "^$") || strings.Contains(text, `\s`) || strings.ContainsAny(strings.ReplaceAll(text, `\`, "|"), "ABbzZ") {
			continue // RE2 knows other spaces, and an anchor sees what stands around it
		}
		for _, line := range texts {
			if got, want := compiled.Match(t.Context(), []byte(line)), plain.MatchString(line); got != want {
				t.Errorf("-w: Match(%q, %q) = %v, want %v", text, line, got, want)
			}
		}
	}
}

// real returns the path of a program of GNU, or skips the test.
func real(t *testing.T, name string) string {
	t.Helper()
	program := exhaustive.Program(t, name)
	version, err := exec.Command(program, "--version").Output()
	if err == nil && !bytes.Contains(version, []byte("GNU")) {
		err = errors.New("it is not GNU's")
	}
	if err != nil {
		if os.Getenv("WORKSPACEKIT_REQUIRE_PROGRAMS") != "" {
			t.Fatalf("%s: %v", name, err)
		}
		t.Skipf("%s: %v", name, err)
	}
	return program
}

// output runs a program, and returns what it prints and its status.
func output(t *testing.T, program string, args ...string) ([]byte, int) {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Env = []string{"LC_ALL=C.UTF-8"}
	var stdout bytes.Buffer
	cmd.Stdout = &stdout
	err := cmd.Run()
	if bad := (*exec.ExitError)(nil); err != nil && !errors.As(err, &bad) {
		t.Fatal(err)
	}
	return stdout.Bytes(), cmd.ProcessState.ExitCode()
}
