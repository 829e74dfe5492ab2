package tools

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/wording"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// openaiDialect has apply_patch, which OpenAI's models are trained on, with the tools
// that the Codex agent had to read, to list and to search.
var openaiDialect = &dialect{name: DialectOpenAI, naming: "{op}", plain: true, fail: (*Error).plainText, specs: []spec{
	{
		op: ops.ReadFile, annotations: readOnly("Read file"), handler: define(runOpenAIRead, planOpenAIRead),
		about: "Reads a text file, with a number before each line: L1: first line.",
		shape: func(p properties, _ *toolset) {
			p.between("offset", 1, math.MaxInt32)
			p.between("limit", 1, readLines)
			p.byDefault("offset", 1)
			p.byDefault("limit", readLines)
		},
	},
	{
		op: "list_dir", like: ops.Ls, annotations: readOnly("List directory"), handler: define(runOpenAIList, planOpenAIList),
		about: "Lists a directory and what is below it, sorted: a directory ends in /, a symlink in @.",
		shape: func(p properties, _ *toolset) {
			p.between("offset", 1, math.MaxInt32)
			p.between("limit", 1, lsMax)
			p.between("depth", 1, openaiDepth)
			p.byDefault("offset", 1)
			p.byDefault("limit", openaiEntries)
			p.byDefault("depth", 2)
		},
	},
	{
		op: "grep_files", like: ops.Grep, annotations: readOnly("Search files"), handler: define(runOpenAIGrep, planOpenAIGrep),
		about: "Finds the files with a line that an RE2 regular expression matches, and returns their paths.",
		shape: func(p properties, _ *toolset) {
			p.between("limit", 1, openaiFiles)
			p.byDefault("limit", 100)
			p.byDefault("path", "/")
		},
	},
	{
		op: ops.ApplyPatch, annotations: applyPatchSpec.annotations, needs: applyPatchSpec.needs,
		about: `Changes several files, all or none, by a patch:

*** Begin Patch
*** Update File: a.go
@@ func main() {
 context
-old
+new
*** Add File: b.go
+text
*** Delete File: c.go
*** End Patch

"*** Move to: NAME" after an Update line renames. Give 3 lines of context. Paths are relative to the root.`,
		handler: adapt(func(in *openaiPatchInput) *applyPatchInput { return &applyPatchInput{Patch: in.Input} },
			runApplyPatch, planApplyPatch, newOpenAIPatch),
	},
}}

const (
	openaiEntries = 25   // entries of one list_dir
	openaiDepth   = 10   // levels of one list_dir
	openaiFiles   = 2000 // paths of one grep_files
)

// openaiReadInput are the parameters of read_file. Offset is a line, from 1.
type openaiReadInput struct {
	FilePath string  `json:"file_path" jsonschema:"the file, from the root of the workspace, which is /"`
	Offset   integer `json:"offset,omitempty" jsonschema:"the line to begin with, counted from 1"`
	Limit    integer `json:"limit,omitempty" jsonschema:"how many lines to return at most"`
}

// runOpenAIRead returns lines after "L12: ", without their ends, and at last how to go on if
// there are more. Only these lines count as read.
func runOpenAIRead(ctx context.Context, ts *toolset, in *openaiReadInput) (*textResult, error) {
	name, file, err := ts.readText(ctx, in.FilePath)
	if err != nil {
		return nil, err
	}
	first := max(1, int(in.Offset))
	if first > max(1, file.lines) {
		return nil, &argumentError{message: fmt.Sprintf("offset exceeds file length: it is %d, and %s has %s", first, onOneLine(in.FilePath), wording.Count(file.lines, "line", "lines")),
			hint: "Give the number of a line."}
	}
	w := file.head(first, int(cmp.Or(in.Limit, readLines)), false)
	ts.saw(ctx, name, file.version, file.stored, w.start, w.end, file.lines)
	var lines []string
	for line := range strings.Lines(w.text) {
		lines = append(lines, fmt.Sprintf("L%d: %s", w.start+len(lines), wording.LineBody(line)))
	}
	if w.end < file.lines {
		lines = append(lines, fmt.Sprintf("[lines %d-%d of %d; go on with offset %d]", w.start, w.end, file.lines, w.end+1))
	}
	return &textResult{strings.Join(lines, "\n")}, nil
}

func planOpenAIRead(ctx context.Context, ts *toolset, in *openaiReadInput) ([]policy.Request, error) {
	return planReadFile(ctx, ts, &readFileInput{Path: in.FilePath})
}

// openaiListInput are the parameters of list_dir. Offset is an entry, from 1.
type openaiListInput struct {
	DirPath string  `json:"dir_path" jsonschema:"the directory, from the root of the workspace, which is /"`
	Offset  integer `json:"offset,omitempty" jsonschema:"the entry to begin with, counted from 1"`
	Limit   integer `json:"limit,omitempty" jsonschema:"how many entries to return at most"`
	Depth   integer `json:"depth,omitempty" jsonschema:"how many levels to list"`
}

// runOpenAIList returns a part of the entries of some levels:
//
//	Absolute path: /src
//	lib/
//	  a.go
//	link@
//	More than 3 entries found
//
// Every call lists all levels again, as an offset is a number and no name.
func runOpenAIList(ctx context.Context, ts *toolset, in *openaiListInput) (*textResult, error) {
	root, err := ts.ws.Clean(ctx, ops.Ls, in.DirPath)
	if err != nil {
		return nil, err
	}
	entries, unread, more, err := ts.levels(ctx, root, int(cmp.Or(in.Depth, 2)))
	if err != nil {
		return nil, err
	}
	first := max(1, int(in.Offset))
	if first > max(1, len(entries)) {
		return nil, &argumentError{message: "offset exceeds directory entry count", hint: fmt.Sprintf("There are %s.", wording.Count(len(entries), "entry", "entries"))}
	}
	lines := []string{"Absolute path: " + onOneLine(absolute(root))}
	last := min(len(entries), first-1+int(cmp.Or(in.Limit, openaiEntries)))
	for _, e := range entries[first-1 : last] {
		lines = append(lines, openaiLine(root, e))
	}
	if last < len(entries) {
		lines = append(lines, fmt.Sprintf("More than %d entries found", last-first+1))
	}
	return &textResult{strings.Join(lines, "\n") + unreadNote(unread) + moreNote(more)}, nil
}

// levels returns what is below dir, so many levels deep, sorted by path, and whether
// there is more than it returns: at most wholeEntries.
//
// It goes level by level, so that of a large tree the upper levels are whole. A directory
// that has been deleted, or may not be listed, has no entries; unread are the latter. Symlinks
// are not followed.
func (ts *toolset) levels(ctx context.Context, dir string, depth int) (entries []workspace.FileInfo, unread []string, more bool, err error) {
	entries, more, err = ts.list(ctx, dir)
	if err != nil {
		return nil, nil, false, err
	}
	for from, level := 0, 1; level < depth && !more; level++ {
		to := len(entries)
		for _, e := range entries[from:to] {
			if e.Type != workspace.TypeDirectory {
				continue
			}
			children, moreBelow, isUnread, err := ts.listBelow(ctx, e.Path)
			if err != nil {
				return nil, nil, false, err
			}
			if isUnread {
				unread = append(unread, absolute(e.Path))
			}
			entries = append(entries, children...)
			if more = moreBelow || len(entries) > wholeEntries; more {
				entries = entries[:min(len(entries), wholeEntries)]
				break
			}
		}
		from = to
	}
	slices.SortFunc(entries, func(a, b workspace.FileInfo) int {
		return slices.Compare(strings.Split(a.Path, "/"), strings.Split(b.Path, "/")) // what is in a directory follows it
	})
	return entries, unread, more, nil
}

// openaiLine is an entry, indented by its level. root is clean, and e is below it.
func openaiLine(root string, e workspace.FileInfo) string {
	below := strings.TrimPrefix(absolute(e.Path), strings.TrimSuffix(absolute(root), "/")+"/")
	mark := ""
	switch e.Type {
	case workspace.TypeDirectory:
		mark = "/"
	case workspace.TypeSymlink:
		mark = "@"
	}
	return strings.Repeat("  ", strings.Count(below, "/")) + onOneLine(path.Base(below)) + mark
}

func planOpenAIList(ctx context.Context, ts *toolset, in *openaiListInput) ([]policy.Request, error) {
	return planLs(ctx, ts, &lsInput{Path: in.DirPath})
}

// openaiGrepInput are the parameters of grep_files, which returns paths only.
type openaiGrepInput struct {
	Pattern string  `json:"pattern" jsonschema:"the regular expression"`
	Include string  `json:"include,omitempty" jsonschema:"search only the files that this glob matches, such as *.{ts,tsx}"`
	Path    string  `json:"path,omitempty" jsonschema:"the file or directory to search; left out for the root"`
	Limit   integer `json:"limit,omitempty" jsonschema:"how many paths to return at most"`
}

// planOpenAIGrep has one request, for where the search begins.
func planOpenAIGrep(ctx context.Context, ts *toolset, in *openaiGrepInput) ([]policy.Request, error) {
	return planGrep(ctx, ts, &grepInput{Pattern: in.Pattern, Path: in.Path})
}

// openaiPatchInput is the parameter of apply_patch: the envelope that begins with "***
// Begin Patch".
type openaiPatchInput struct {
	Input string `json:"input" jsonschema:"the patch, from *** Begin Patch to *** End Patch"`
}

// newOpenAIPatch returns the words with which Codex reports a patch.
//
//	Success. Updated the following files:
//	M src/a.go
//	A b.go
func newOpenAIPatch(o *applyPatchOutput) *textResult {
	lines := []string{"Success. Updated the following files:"}
	for _, f := range o.Files {
		lines = append(lines, fmt.Sprintf("%s %s", f.Kind, onOneLine(f.Path)))
	}
	return &textResult{strings.Join(lines, "\n") + moreNote(o.More > 0)}
}

// runOpenAIGrep returns the paths of files with a match, sorted, one a line.
func runOpenAIGrep(ctx context.Context, ts *toolset, in *openaiGrepInput) (*textResult, error) {
	found, err := ts.ws.Grep(ctx, in.Pattern, &workspace.GrepOptions{
		Path: in.Path, IncludeGlob: in.Include, FirstOnly: true, MaxResults: int(cmp.Or(in.Limit, grepDefault)), Gitignore: true,
	})
	if err != nil {
		return nil, err
	}
	if len(found.Matches) == 0 {
		return textf("No matches found.%s", notSearched(found.Skipped)), nil
	}
	paths := make([]string, len(found.Matches))
	for i, m := range found.Matches {
		paths[i] = onOneLine(absolute(m.Path))
	}
	paths, less := page(paths, len(paths), func(p string) int { return len(p) + 1 })
	return &textResult{strings.Join(paths, "\n") + moreNote(found.Truncated || less) + notSearched(found.Skipped)}, nil
}
