package conformance

import (
	"regexp"
	"strings"

	"github.com/workspacekit/workspacekit/workspace"
)

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
