package view

import (
	"bufio"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/internal/cli/term"
	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/tools"
)

func TestGrepViewAtATerminal(t *testing.T) {
	pages := []string{
		`{"matches": [{"path": "a", "lineNumber": 3, "line": "m\r", "before": ["b"], "after": ["c", "d"]}]}`,
		`{"matches": [{"path": "a", "lineNumber": 5, "line": "m", "before": ["c", "x"]},
			{"path": "a", "lineNumber": 9, "line": "m"}, {"path": "b\n", "lineNumber": 1, "line": "m"}],
			"skipped": [{"path": "s", "reason": "binary"}], "skippedTotal": 7, "nextCursor": "c"}`,
	}
	const want = "a\n2-b\n3:m\n4-c\n5:m\n--\n9:m\n\nb\\x0a\n1:m\n"
	var out, notes strings.Builder
	v := New(ops.Grep, json.RawMessage(`{"pattern": "m", "before": 1}`), term.Console{Writer: bufio.NewWriter(&out), Style: term.Style{Terminal: true}, Notes: &notes})
	for _, page := range pages {
		if _, err := v.Take(&tools.Result{Structured: json.RawMessage(page)}); err != nil {
			t.Fatal(err)
		}
		v.Show()
	}
	if err := v.End(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("output differs (-want +got):\n%s", diff)
	}
	if got := notes.String(); !strings.Contains(got, "s (binary), and 6 more") || !strings.Contains(got, "--all") {
		t.Errorf("notes = %q, want the skipped files and how to go on", got)
	}
}

// TestTextViewAtATerminal tests that the text of a tool keeps its lines.
func TestTextViewAtATerminal(t *testing.T) {
	for _, op := range []string{ops.Bash, ops.Tree, ops.ReadFiles, ops.Run, "Grep"} {
		var out strings.Builder
		v := New(op, nil, term.Console{Writer: bufio.NewWriter(&out), Style: term.Style{Terminal: true}})
		if _, err := v.Take(&tools.Result{Text: "a\n\tb\x1b[2J\n[exit code 1]"}); err != nil {
			t.Fatal(err)
		}
		v.Show()
		if err := v.End(); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff("a\n\tb\\x1b[2J\n[exit code 1]\n", out.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", op, diff)
		}
	}
}

func TestHighlighter(t *testing.T) {
	tests := []struct {
		name, line, want string
		query            query
	}{
		{"regexp", "a bb b", "a <bb> <b>", query{Pattern: "b+"}},
		{"literal", "a.b axb", "<a.b> axb", query{Pattern: "a.b", Literal: true}},
		{"ignore-case", "Ab", "<Ab>", query{Pattern: "aB", IgnoreCase: true}},
		{"empty-match", "ab", "ab", query{Pattern: "x*"}},
		{"invalid", "ab", "ab", query{Pattern: "("}},
	}
	marks := strings.NewReplacer("\x1b["+term.BoldRed+"m", "<", "\x1b[0m", ">")
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := marks.Replace(test.query.highlighter(term.Style{Color: true}).highlight(test.line)); got != test.want {
				t.Errorf("highlight(%q) = %q, want %q", test.line, got, test.want)
			}
			if got := test.query.highlighter(term.Style{}).highlight(test.line); got != test.line {
				t.Errorf("highlight(%q) without colors = %q, want no change", test.line, got)
			}
		})
	}
}

func TestMergePages(t *testing.T) {
	tests := []struct {
		name  string
		pages []string
		want  string
	}{
		{
			"lists", []string{`{"matches": [1], "skipped": [], "skippedTotal": 2, "truncated": true, "nextCursor": "c"}`,
				`{"matches": [], "skipped": [], "skippedTotal": 3, "truncated": true, "nextCursor": "d"}`,
				`{"matches": [2, 3], "skipped": [4], "skippedTotal": 1, "truncated": false}`},
			`{"matches": [1, 2, 3], "skipped": [4], "skippedTotal": 6, "truncated": false}`,
		},
		{
			"empty-lists", []string{`{"entries": [], "nextCursor": "c"}`, `{"entries": []}`}, `{"entries": []}`,
		},
		{
			"text", []string{`{"text": "<a\n", "startLine": 3, "endLine": 3, "nextLine": 4, "version": "v", "truncated": true}`,
				`{"text": "é", "startLine": 4, "endLine": 4, "version": "v", "truncated": false}`},
			`{"text": "<a\né", "startLine": 3, "endLine": 4, "version": "v", "truncated": false}`,
		},
		{
			"cut-lines", []string{`{"text": "a", "startLine": 1, "cutLines": [1], "truncated": true}`, `{"text": "b", "startLine": 2, "truncated": false}`},
			`{"text": "ab", "startLine": 1, "cutLines": [1], "truncated": true}`,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var out strings.Builder
			v := &JSON{Out: &out}
			for _, page := range test.pages {
				if _, err := v.Take(&tools.Result{Structured: json.RawMessage(page)}); err != nil {
					t.Fatal(err)
				}
				v.Show()
			}
			if err := v.End(); err != nil {
				t.Fatal(err)
			}
			var want, got any
			if err := json.Unmarshal([]byte(test.want), &want); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal([]byte(out.String()), &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("merged pages differ (-want +got):\n%s", diff)
			}
			if strings.Contains(out.String(), `\u003c`) {
				t.Errorf("output = %s, want no escapes for HTML", &out)
			}
		})
	}
}
