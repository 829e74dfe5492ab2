package tools

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/wording"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// lsInput are the parameters of ls.
type lsInput struct {
	Path   string  `json:"path,omitempty" jsonschema:"from the root"`
	Limit  integer `json:"limit,omitempty" jsonschema:"how many entries"`
	Cursor string  `json:"cursor,omitempty" jsonschema:"nextCursor of the previous page"`
}

// lsOutput is a page of the result of ls.
type lsOutput struct {
	Path       string  `json:"path" jsonschema:"the directory"`
	Entries    []entry `json:"entries" jsonschema:"the direct children, sorted by name"`
	Truncated  bool    `json:"truncated" jsonschema:"whether there are more"`
	NextCursor string  `json:"nextCursor,omitempty" jsonschema:"cursor of the next page, if any"`
}

// entry is a name in a directory.
type entry struct {
	Name string             `json:"name" jsonschema:"the name in the directory"`
	Path string             `json:"path" jsonschema:"the name from the root"`
	Type workspace.FileType `json:"type" jsonschema:"file, directory, symlink or other"`
	Size int64              `json:"size" jsonschema:"the size in bytes; 0 unless it is a file that is not denied"`
}

var lsSpec = spec{
	op: ops.Ls, annotations: Annotations{Title: "List directory", ReadOnly: true, Idempotent: true}, handler: define(runLs, planLs),
	shape: func(p properties, _ *toolset) {
		p.between("limit", 1, lsMax)
		p.byDefault("path", ".")
		p.byDefault("limit", lsDefault)
	},
}

// runLs returns one page: the limit and one entry more are asked for, which says whether
// there is another page. A directory that changes between two pages may have entries on
// neither, but none on both.
func runLs(ctx context.Context, ts *toolset, in *lsInput) (*lsOutput, error) {
	id, after, err := in.after(ts)
	if err != nil {
		return nil, err
	}
	path, err := ts.ws.Clean(ctx, ops.Ls, in.Path)
	if err != nil {
		return nil, err
	}
	limit := int(cmp.Or(in.Limit, lsDefault))
	children, err := ts.ws.Ls(ctx, path, &workspace.LsOptions{Limit: limit + 1, After: after.Path})
	if err != nil {
		return nil, err
	}
	return newLsOutput(path, id, children, limit), nil
}

// after returns the id of the query, and where the page begins.
func (in *lsInput) after(ts *toolset) (id string, after workspace.Position, err error) {
	id = ts.query(lsInput{Path: in.Path})
	after, err = decodeCursor(ops.Ls, id, in.Cursor)
	return id, after, err
}

// decodeCursor returns the position that text stands for, the zero Position
// for an empty text.
//
// # Errors
//
// An [*argumentError] if text was not made by op for the same parameters.
func decodeCursor(op, query, text string) (workspace.Position, error) {
	at, err := decodePlace(op, query, text, false)
	return at.Position, err
}

func planLs(ctx context.Context, ts *toolset, in *lsInput) ([]policy.Request, error) {
	if _, _, err := in.after(ts); err != nil {
		return nil, err
	}
	return ts.touches(ctx, ops.Ls, policy.OpList, in.Path)
}

// newLsOutput makes a page of children. The cursor has the last name of the page. 50 stands
// for the other members of an entry in JSON.
func newLsOutput(path, id string, children []workspace.FileInfo, limit int) *lsOutput {
	children, more := page(children, limit, func(c workspace.FileInfo) int { return len(c.Name) + len(c.Path) + 50 })
	out := &lsOutput{Path: path, Entries: make([]entry, len(children)), Truncated: more}
	for i, c := range children {
		out.Entries[i] = entry{Name: c.Name, Path: c.Path, Type: c.Type, Size: c.Size}
	}
	if more {
		last := children[len(children)-1].Name
		out.NextCursor = encodeCursor(ops.Ls, id, workspace.Position{Path: last})
	}
	return out
}

// encodeCursor makes the cursor for the page after the given position.
func encodeCursor(op, query string, after workspace.Position) string {
	return place{Position: after}.cursor(op, query, false)
}

// text lists the names: a directory with a slash, a symlink with an at sign,
// and a file with its size.
//
//	[src: 3 entries]
//	lib/
//	link@
//	main.go  1204
func (o *lsOutput) text() string {
	var out strings.Builder
	fmt.Fprintf(&out, "[%s: %s]\n", onOneLine(o.Path), wording.Count(len(o.Entries), "entry", "entries"))
	for _, e := range o.Entries {
		out.WriteString(onOneLine(e.Name))
		switch e.Type {
		case workspace.TypeDirectory:
			out.WriteString("/")
		case workspace.TypeSymlink:
			out.WriteString("@")
		case workspace.TypeFile:
			fmt.Fprintf(&out, "  %d", e.Size)
		}
		out.WriteString("\n")
	}
	return strings.TrimSuffix(out.String()+moreText(o.NextCursor), "\n")
}

// moreText says how to continue, if there is more.
func moreText(cursor string) string {
	if cursor == "" {
		return ""
	}
	return "[more: repeat with cursor=" + cursor + "]\n"
}
