package tools

import (
	"cmp"
	"context"
	"strings"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// globInput are the parameters of glob.
type globInput struct {
	Pattern        string     `json:"pattern" jsonschema:"a final / for directories"`
	Path           string     `json:"path,omitempty" jsonschema:"directory"`
	Sort           resultSort `json:"sort,omitempty" jsonschema:"mtime: newest first"`
	IncludeIgnored bool       `json:"includeIgnored,omitempty" jsonschema:"also .git and gitignored files"`
	Limit          integer    `json:"limit,omitempty" jsonschema:"per page"`
	Cursor         string     `json:"cursor,omitempty" jsonschema:"last nextCursor"`
}

// globOutput is a page of the result of glob.
type globOutput struct {
	Matches    []string `json:"matches" jsonschema:"the paths from the root, in order"`
	Truncated  bool     `json:"truncated" jsonschema:"whether there are more"`
	NextCursor string   `json:"nextCursor,omitempty" jsonschema:"cursor of the next page, if any"`

	dirs  bool   // the matches are directories
	later bool   // this is not the first page
	total int    // of all pages; 0 if that is not known
	hint  string // where there is no match, what has been meant perhaps
}

var globSpec = spec{
	op: ops.Glob, annotations: Annotations{Title: "Find files", ReadOnly: true, Idempotent: true}, handler: define(runGlob, planGlob),
	shape: func(p properties, _ *toolset) {
		p.between("limit", 1, globMax)
		p.byDefault("limit", globDefault)
		p.sorted()
	},
}

// runGlob returns one page. In the order of paths, the workspace returns only what the page
// needs and one more. In the order of time, every page finds all paths and their times again,
// so the total is known.
func runGlob(ctx context.Context, ts *toolset, in *globInput) (*globOutput, error) {
	id, after, err := in.after(ts)
	if err != nil {
		return nil, err
	}
	limit := int(cmp.Or(in.Limit, globDefault))
	out := &globOutput{dirs: strings.HasSuffix(in.Pattern, "/"), later: in.Cursor != ""}
	opts := workspace.GlobOptions{Dir: in.Path, Gitignore: !in.IncludeIgnored}
	if !in.Sort.byTime() {
		opts.Limit, opts.After = limit+1, after.Path
	}
	paths, err := ts.ws.Glob(ctx, in.Pattern, &opts)
	if err != nil {
		return nil, err
	}
	var modified map[string]int64
	if in.Sort.byTime() {
		path := func(p string) string { return p }
		if modified, err = newestFirst(ctx, ts, ops.Glob, in.Path, paths, path); err != nil {
			return nil, err
		}
		out.total = len(paths)
		paths = paths[comesAfter(paths, after, modified, path):]
	}
	if len(paths) == 0 && !out.later && !ts.dialect.plain {
		out.hint = in.hint(ctx, ts)
	}
	paths, out.Truncated = page(paths, limit, func(p string) int { return len(p) + 3 })
	// An empty list is [] in JSON, not null.
	out.Matches = append([]string{}, paths...)
	if out.Truncated {
		last := paths[len(paths)-1]
		out.NextCursor = place{workspace.Position{Path: last}, modified[last]}.cursor(ops.Glob, id, in.Sort.byTime())
	}
	return out, nil
}

// after returns the id of the query, and where the page begins. The id leaves out what may
// differ from page to page.
func (in *globInput) after(ts *toolset) (id string, after place, err error) {
	id = ts.query(globInput{Pattern: in.Pattern, Path: in.Path, Sort: in.Sort, IncludeIgnored: in.IncludeIgnored})
	after, err = decodePlace(ops.Glob, id, in.Cursor, in.Sort.byTime())
	return id, after, err
}

func planGlob(ctx context.Context, ts *toolset, in *globInput) ([]policy.Request, error) {
	if _, _, err := in.after(ts); err != nil {
		return nil, err
	}
	return ts.touches(ctx, ops.Glob, policy.OpList, in.Path)
}

// hint returns what a pattern without a match may have been meant for, and nothing if that is
// not known. It costs two or three more searches, and each ends at the first match. As they
// look at .git and what .gitignore excludes, which can be most of the tree, their time is bounded.
func (in *globInput) hint(ctx context.Context, ts *toolset) string {
	ctx, cancel := context.WithTimeout(ctx, settleTime)
	defer cancel()
	found := func(pattern string, gitignore bool) bool {
		paths, _ := ts.ws.Glob(ctx, pattern, &workspace.GlobOptions{Dir: in.Path, Limit: 1, Gitignore: gitignore})
		return len(paths) > 0
	}
	if !in.IncludeIgnored && found(in.Pattern, false) {
		return "includeIgnored finds .git and what .gitignore excludes"
	}
	var hints []string
	if dirs := in.Pattern + "/"; !strings.HasSuffix(in.Pattern, "/") && found(dirs, false) {
		if !in.IncludeIgnored && !found(dirs, true) && ctx.Err() == nil {
			return "directories do, in .git or excluded by .gitignore: end the pattern with / and set includeIgnored"
		}
		hints = append(hints, "directories do: end the pattern with /")
	}
	if !strings.Contains(strings.TrimSuffix(in.Pattern, "/"), "/") && !strings.Contains(in.Pattern, "**") {
		hints = append(hints, "for any depth use **/"+in.Pattern)
	}
	return strings.Join(hints, "; ")
}

// text returns a heading with the number of names, then one name a line.
//
//	first 2 files
//	a.go
//	b.go
//	[more: repeat with cursor=b.go#1k3f9a]
func (o *globOutput) text() string {
	one, many := "file", "files"
	if o.dirs {
		one, many = "directory", "directories"
	}
	if len(o.Matches) == 0 {
		text := "no " + many + " match"
		if o.later {
			text = "no more " + many + " match"
		}
		if o.hint != "" {
			text += "; " + o.hint
		}
		return text
	}
	heading := extent(o.later, o.Truncated, len(o.Matches), &o.total, one, many)
	return strings.TrimSuffix(heading+"\n"+strings.Join(eachOnOneLine("", o.Matches), "\n")+"\n"+moreText(o.NextCursor), "\n")
}
