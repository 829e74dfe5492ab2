package tools

import (
	"context"
	"strings"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

type globInput struct {
	Pattern        string  `json:"pattern" jsonschema:"the glob, relative to path, such as **/*.go; one that ends in / finds directories"`
	Path           string  `json:"path,omitempty" jsonschema:"the directory to search; left out for the root"`
	IncludeIgnored bool    `json:"includeIgnored,omitempty" jsonschema:"find also what .gitignore files exclude, and .git"`
	Limit          integer `json:"limit,omitempty" jsonschema:"how many paths to return at most"`
	Cursor         string  `json:"cursor,omitempty" jsonschema:"nextCursor of the page before, with the other parameters unchanged"`
}

type globOutput struct {
	Matches    []string `json:"matches" jsonschema:"the paths from the root, sorted"`
	Truncated  bool     `json:"truncated" jsonschema:"whether there are more"`
	NextCursor string   `json:"nextCursor,omitempty" jsonschema:"cursor of the next page; absent at the end"`
}

var globSpec = spec{
	op: ops.Glob, annotations: Annotations{Title: "Find files", ReadOnly: true, Idempotent: true}, handler: define(runGlob, planGlob),
	shape: func(p properties, _ workspace.Capabilities) {
		p.between("limit", 1, globMax)
		p.byDefault("path", ".")
		p.byDefault("includeIgnored", false)
		p.byDefault("limit", globDefault)
	},
}

func runGlob(ctx context.Context, ts *toolset, in *globInput) (*globOutput, error) {
	id, after, err := in.after(ts)
	if err != nil {
		return nil, err
	}
	limit := orDefault(in.Limit, globDefault)
	paths, err := ts.ws.Glob(ctx, in.Pattern, &workspace.GlobOptions{
		Dir: in.Path, Limit: limit + 1, After: after.Path, Gitignore: !in.IncludeIgnored,
	})
	if err != nil {
		return nil, err
	}
	return newGlobOutput(id, paths, limit), nil
}

// after returns the id of the query, and where the page begins.
func (in *globInput) after(ts *toolset) (id string, after workspace.Position, err error) {
	id = ts.query(globInput{Pattern: in.Pattern, Path: in.Path, IncludeIgnored: in.IncludeIgnored})
	after, err = decodeCursor(ops.Glob, id, in.Cursor)
	return id, after, err
}

func planGlob(_ context.Context, ts *toolset, in *globInput) ([]policy.Request, error) {
	if _, _, err := in.after(ts); err != nil {
		return nil, err
	}
	return ts.touches(ops.Glob, policy.OpList, in.Path)
}

func newGlobOutput(id string, paths []string, limit int) *globOutput {
	paths, more := page(paths, limit, func(p string) int { return len(p) + 3 })
	out := &globOutput{Matches: append([]string{}, paths...), Truncated: more}
	if more {
		out.NextCursor = encodeCursor(ops.Glob, id, workspace.Position{Path: paths[len(paths)-1]})
	}
	return out
}

func (o *globOutput) text() string {
	if len(o.Matches) == 0 {
		return "No files match."
	}
	return strings.TrimSuffix(strings.Join(o.Matches, "\n")+"\n"+moreText(o.NextCursor), "\n")
}
