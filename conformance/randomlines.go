package conformance

import (
	"regexp"
	"strings"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/workspacekit/workspacekit/workspace"
)

// randomLines compares Grep with package regexp on one line after the other.
func randomLines(e *env) {
	patterns := rapid.SampledFrom([]string{
		"a", "ab", "^a", "b$", "a.b", "a*b", "(a|b)+$", "[^a]", "^$", "", `\s`, "a{2}", "(?i)A", `\bab\b`, "é", "^.$", "a?b?$",
	})
	rapid.Check(e, func(t *rapid.T) {
		content := rapid.StringMatching(`[abAé \n\r]{0,40}`).Draw(t, "content")
		pattern := patterns.Draw(t, "pattern")
		opts := &workspace.GrepOptions{
			Path: "file", Before: rapid.IntRange(0, 2).Draw(t, "before"), After: rapid.IntRange(0, 2).Draw(t, "after"),
			FirstOnly: rapid.IntRange(0, 3).Draw(t, "first") == 3, Count: rapid.IntRange(0, 3).Draw(t, "count") == 3,
		}
		e.write("file", content)
		want := grepModel(content, regexp.MustCompile(pattern), opts)
		got := e.grep(pattern, opts).Matches
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("Grep(%q, %+v) of %q (-want +got):\n%s", pattern, *opts, content, diff)
		}
	})
}

// grepModel is Grep of the file content, as the contract words it.
func grepModel(content string, pattern *regexp.Regexp, opts *workspace.GrepOptions) []workspace.Match {
	if content == "" {
		return nil
	}
	lines := strings.Split(strings.TrimSuffix(content, "\n"), "\n")
	var matches []workspace.Match
	for i, line := range lines {
		if pattern.MatchString(strings.TrimSuffix(line, "\r")) {
			matches = append(matches, workspace.Match{
				Path: opts.Path, LineNumber: i + 1, Line: line,
				Before: lines[max(0, i-opts.Before):i],
				After:  lines[i+1 : min(len(lines), i+1+opts.After)],
			})
		}
	}
	if len(matches) > 0 && opts.Count {
		matches[0].Count = len(matches)
	}
	if len(matches) > 0 && (opts.FirstOnly || opts.Count) {
		matches = matches[:1]
	}
	return matches
}
