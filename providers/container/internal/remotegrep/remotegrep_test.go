package remotegrep_test

import (
	"math"
	"strings"
	"testing"

	"github.com/workspacekit/workspacekit/providers/container/internal/remotegrep"
	"github.com/workspacekit/workspacekit/workspace"
)

// TestExpressionFor checks the examples in the documentation.
func TestExpressionFor(t *testing.T) {
	multiline := workspace.GrepOptions{Multiline: true}
	for _, c := range []struct {
		pattern             string
		opts                workspace.GrepOptions
		options, expression string
		exact               bool
	}{
		{"needle", workspace.GrepOptions{}, "-F", "needle", true},
		{"(?i)needle|thread", workspace.GrepOptions{}, "-F -i", "needle\nthread", false},
		{"(?i:needle)|thread", workspace.GrepOptions{}, "-E", "([Nn][Ee][Ee][Dd][Ll][Ee]|thread)", false},
		{"need.e", workspace.GrepOptions{}, "-E", "need.{1,4}e", false},
		{"^", workspace.GrepOptions{}, "", "", false},
		{`needle\n +thread`, multiline, "-F", "needle", false},
		{"n.\nneedle", multiline, "-F", "needle", false},
		{`\n`, multiline, "", "", false},
		{`a.\d`, multiline, "-F", "a", false},
	} {
		options, expression, exact := remotegrep.ExpressionFor(c.pattern, c.opts)
		if options != c.options || expression != c.expression || exact != c.exact {
			t.Errorf("the expression for %q is %q %q, exact %v, want %q %q, %v", c.pattern, options, expression, exact, c.options, c.expression, c.exact)
		}
	}
}

// TestLargeFrame reads frames of more bytes than are asked for.
func TestLargeFrame(t *testing.T) {
	sizes := map[string]int64{"a": math.MaxInt64, "b": math.MaxInt64, "c": 1 << 40}
	for _, reply := range []string{"1\n./a//\n", "2\n./a//\n./b//\n", "3\n./a//\n./b//\n./c//\n", "1\n./c//\n"} {
		if got := remotegrep.Frames(sizes, "MARK", reply, 0); len(got) > 0 {
			t.Errorf("Frames of %q has %d files, want none", reply, len(got))
		}
	}
}

// FuzzFrames reads what no program of ours would write.
func FuzzFrames(f *testing.F) {
	f.Add("2\n./a//\n./b//\naaabb\nMARK\n1 3 1970-01-01 00:00:00.000000000 +0000 ./a//\n2 2 1970-01-01 00:00:00.000000000 +0000 ./b//\nMARK\n", int64(0))
	f.Add("1\n./a//\naaa\nMARK\nMARK\n", int64(2))
	f.Add("2\n./a//\n./b//\na\nMARK\n1 1 x//\nMARK\n3\n", int64(1))
	f.Fuzz(func(t *testing.T, reply string, length int64) {
		sizes := map[string]int64{"a": 3, "b": 2, "c\nd": 0}
		for name, data := range remotegrep.Frames(sizes, "MARK", reply, max(length, 0)) {
			want := sizes[name]
			if length > 0 {
				want = min(want, length)
			}
			if int64(len(data)) != want {
				t.Errorf("%q has %d bytes, want %d", name, len(data), want)
			}
		}
	})
}

// FuzzLines reads what no grep would write.
func FuzzLines(f *testing.F) {
	f.Add("./a:1:x\n./a:3:y:z\n//0 2\n./b\n//0 2\n")
	f.Add("//1 1\n//1 1\n./b:7:\n//0 1\n//1 1\n")
	f.Add("./a:1\n//0 2\n//1 2\n")
	f.Fuzz(func(t *testing.T, reply string) {
		text, numbers, sure := remotegrep.Lines([]string{"a", "b"}, reply)
		for name, lines := range text {
			if name != "a" && name != "b" || strings.Count(lines, "\n") != len(numbers[name]) || !strings.HasSuffix(lines, "\n") {
				t.Errorf("%q has the lines %q, with the numbers %v", name, lines, numbers[name])
			}
		}
		if sure && !strings.Contains(reply, "//") {
			t.Errorf("%q is taken for all that there is", reply)
		}
	})
}
