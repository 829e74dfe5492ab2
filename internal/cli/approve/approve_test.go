package approve

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/internal/cli/term"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// typed returns what reads lines from a text.
func typed(text string) func(context.Context) (string, error) {
	lines := bufio.NewReader(strings.NewReader(text))
	return func(context.Context) (string, error) { return lines.ReadString('\n') }
}

func TestAnswers(t *testing.T) {
	request := policy.Request{Op: policy.OpWrite, Path: "a", Rules: []string{"rules[0]", "rules[1]"}}
	for _, c := range []struct {
		flag  Flag
		input string
		want  policy.Answer
		asked bool
	}{
		{nil, "y\n", policy.Answer{Allow: true}, true},
		{nil, " YES \n", policy.Answer{Allow: true}, true},
		{nil, "s\n", policy.Answer{Allow: true, Session: true}, true},
		{nil, "\n", policy.Answer{}, true},
		{nil, "n\n", policy.Answer{}, true},
		{nil, "yeah\n", policy.Answer{}, true},
		{Flag{"rules[0]"}, "y\n", policy.Answer{Allow: true}, true},
		{Flag{"rules[0]", "rules[1]"}, "n\n", policy.Answer{Allow: true}, false},
		{Flag{"all"}, "n\n", policy.Answer{Allow: true}, false},
	} {
		var out bytes.Buffer
		p := &person{flag: c.flag, line: typed(c.input), out: &out, style: term.Style{Terminal: true}, width: 80}
		got, err := p.answer(t.Context(), request)
		if err != nil || got != c.want || (out.Len() > 0) != c.asked {
			t.Errorf("answer with %v and %q = %+v, %v, want %+v; it prints %q", c.flag, c.input, got, err, c.want, out.String())
		}
	}
	p := &person{line: typed("y"), out: &bytes.Buffer{}, width: 80}
	if got, err := p.answer(t.Context(), request); err == nil || got.Allow {
		t.Errorf("answer at the end of the input = %+v, %v, want an error", got, err)
	}
	p = &person{flag: Flag{"rules[1]"}}
	if got, err := p.answer(t.Context(), request); err != nil || got.Allow || !strings.Contains(got.Reason, "--approve 'rules[0]' allows it") {
		t.Errorf("answer without a terminal = %+v, %v, want the flag that is missing", got, err)
	}
}

func TestFlag(t *testing.T) {
	var f Flag
	for _, text := range []string{"rules[0]", "fs.rules[12]", "all"} {
		if err := f.Set(text); err != nil {
			t.Errorf("Set(%q) = %v", text, err)
		}
	}
	if diff := cmp.Diff(Flag{"rules[0]", "rules[12]", "all"}, f); diff != "" {
		t.Errorf("the flag (-want +got):\n%s", diff)
	}
	for _, text := range []string{"", "rules", "rules[]", "rules[0] ", "deniedPaths[0]", "ALL"} {
		if err := f.Set(text); err == nil {
			t.Errorf("Set(%q) = nil, want an error", text)
		}
	}
}

// TestWrap tests that what a terminal shows at the beginning of a line is the
// beginning of a line, or says that it is not.
func TestWrap(t *testing.T) {
	for _, line := range []string{"", "+short", "+" + strings.Repeat(" ", 39) + "Allow this?", "+" + strings.Repeat("日本", 50), "+" + strings.Repeat("\t", 9) + "x"} {
		parts := wrap(line, 40)
		for i, part := range parts {
			rest, cut := strings.CutPrefix(part, continued)
			if cut != (i > 0) {
				t.Errorf("part %d of %q is %q", i, line, part)
			}
			if cut {
				parts[i] = rest
			}
			if n := utf8.RuneCountInString(strings.ReplaceAll(part, "\t", "        ")); n > 40 {
				t.Errorf("part %q of %q has %d characters", part, line, n)
			}
		}
		if joined := strings.Join(parts, ""); joined != line {
			t.Errorf("the parts of %q are %q", line, joined)
		}
	}
}

func ExampleFlag() {
	var f Flag
	_ = f.Set("fs.rules[2]")
	fmt.Println(f)
	fmt.Println(f.Set("2"))
	// Output:
	// [rules[2]]
	// give the place of a rule, such as rules[0], or all
}
