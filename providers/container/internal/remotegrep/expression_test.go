package remotegrep_test

import (
	"errors"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/workspacekit/workspacekit/internal/enginetest"
	"github.com/workspacekit/workspacekit/providers/container/internal/remotegrep"
)

// TestExtendedMissesNothing compares with GNU grep, which must find every line
// that the regular expression matches.
func TestExtendedMissesNothing(t *testing.T) {
	if _, err := exec.LookPath("grep"); err != nil {
		enginetest.Lacking(t, "grep is not installed: get it with your package manager")
	}
	lines := []string{
		"alpha", "beta alpha", "", "GAMMA_10 A_1 ABC_9", "sk\u017f\u212a kS", "\xff\xfe bad", "\u212aelvin", "mi\u017f", "\u017f",
		"1\u00e9b", "2\u4e16b\u754c", "func (f *F) ReadContext(x)\r", "]", "[", "^", "-", "a-z", "[^-]", "\\", "{}", "a|b", "$", "stra\u00dfe", "x\x7fy",
	}
	patterns := []string{
		"alpha", "^alpha$", "a|", "x*", "[A-Z]{3,}_[0-9]+", `func \w+`, `\bfunc\b`, "(?i)KELVIN", "(?i)mis", "(?i)sk+", "\u00e9", "[^a-z]", ".", "..",
		`\\`, `\[`, `[\]]`, `[\[^-]`, `[\^]`, `[\^\[]`, `[-\]]`, "[a\\-z]", "\\x{FFFD}", "[\u00e0-\u00ff]b", `\d.b`, "(abc)?d", "a{3}", "b{0,2}", `\{\}`, "a\\|b", "\\$$", "(?s).", "stra.e", "\x7f", "[[:punct:]]", `\D\d`,
	}
	text := strings.Join(lines, "\n") + "\n"
	check := func(t interface{ Errorf(string, ...any) }, pattern string, fold bool) {
		expression := remotegrep.Extended(pattern, false, fold)
		if expression == "" {
			return
		}
		flags := ""
		if fold {
			flags = "(?i)"
		}
		re := regexp.MustCompile(flags + pattern)
		cmd := exec.Command("grep", "-naE", "-e", expression)
		cmd.Env = []string{"LC_ALL=C", "PATH=/usr/bin:/bin"}
		cmd.Stdin = strings.NewReader(text)
		out, err := cmd.Output()
		if exit := new(exec.ExitError); err != nil && (!errors.As(err, &exit) || exit.ExitCode() > 1) {
			t.Errorf("grep -E %q, for the pattern %q: %v", expression, pattern, err)
		}
		found := "\n" + string(out)
		for i, line := range lines {
			if re.MatchString(line) && !strings.Contains(found, "\n"+strconv.Itoa(i+1)+":") {
				t.Errorf("%q is not found by %q, and %q matches it", line, expression, pattern)
			}
		}
	}
	for _, pattern := range patterns {
		check(t, pattern, false)
		check(t, pattern, true)
	}
	rapid.Check(t, func(t *rapid.T) {
		pattern := rapid.StringMatching(`([a-cK_.*+?|()\[\]^$s\\-]|\\b|\\w|\(\?i\)|[0-9]|\{2\}|é){1,10}`).Draw(t, "pattern")
		if _, err := regexp.Compile(pattern); err != nil {
			t.Skip("malformed pattern")
		}
		check(t, pattern, rapid.Bool().Draw(t, "fold"))
	})
}
