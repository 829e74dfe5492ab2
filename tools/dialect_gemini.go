package tools

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/wording"
	"github.com/workspacekit/workspacekit/tools/internal/edit"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// geminiDialect has the file tools of Gemini CLI. The root of the workspace is "/".
var geminiDialect = &dialect{name: DialectGemini, naming: "{op}", plain: true, specs: []spec{
	{
		op: ops.ReadFile, annotations: readFileSpec.annotations, handler: define(runGeminiRead, planGeminiRead),
		about: "Reads a file, at most {{.ReadLines}} lines. Images and PDFs are returned as such.",
		shape: func(p properties, _ workspace.Capabilities) {
			p.between("offset", 0, math.MaxInt32)
			p.between("limit", 1, readLines)
		},
	},
	{
		op: ops.WriteFile, annotations: replaces, needs: writeFileSpec.needs,
		about: "Writes a whole file, replacing what it held.{{if has \"edit_file\"}} To change a part, use {{tool \"edit_file\"}}.{{end}}",
		handler: adapt(func(in *codeWriteInput) *writeFileInput {
			return &writeFileInput{Path: in.FilePath, Content: in.Content}
		},
			runWriteFile, planWriteFile, func(o *writeFileOutput) *textResult { return &textResult{o.text()} }),
	},
	{
		op: "replace", like: ops.EditFile, annotations: editFileSpec.annotations, needs: editFileSpec.needs, handler: define(runGeminiReplace, planGeminiReplace),
		about: "Replaces text in a file. old_string must be exactly what the file has, and occur as often as expected_replacements says. " +
			"With an empty old_string it creates the file.",
		shape: func(p properties, _ workspace.Capabilities) {
			p.between("expected_replacements", 1, edit.MaxReplacements)
			p.byDefault("expected_replacements", 1)
		},
	},
	{
		op: "list_directory", like: ops.Ls, annotations: lsSpec.annotations,
		about: "Lists a directory, what is a directory first.",
		handler: define(runGeminiList, func(ctx context.Context, ts *toolset, in *geminiListInput) ([]policy.Request, error) {
			return planLs(ctx, ts, &lsInput{Path: in.DirPath})
		}),
	},
	{
		op: ops.Glob, annotations: globSpec.annotations, handler: define(runGeminiGlob, planGeminiGlob),
		about: "Finds files by name, such as src/**/*.ts.",
		shape: func(p properties, _ workspace.Capabilities) { p.byDefault("respect_git_ignore", true) },
	},
	{
		op: "search_file_content", like: ops.Grep, annotations: grepSpec.annotations, handler: define(runGeminiSearch, planGeminiSearch),
		about: "Searches the lines of files for an RE2 regular expression. Leaves out .git and what .gitignore files exclude.",
	},
}}

// geminiReadInput are the parameters of read_file. Offset counts lines from 0: it is how many
// come before.
type geminiReadInput struct {
	codePath
	Offset integer `json:"offset,omitempty" jsonschema:"how many lines to leave out at the beginning"`
	Limit  integer `json:"limit,omitempty" jsonschema:"how many lines to return at most"`
}

// input returns the parameters of the default tool, whose lines count from 1.
func (in *geminiReadInput) input() *readFileInput {
	return &readFileInput{Path: in.FilePath, Line: in.Offset + 1, Limit: in.Limit}
}

// runGeminiRead returns the lines as they are. Only a part that is not the last has a line
// before them, with the offset to go on with.
func runGeminiRead(ctx context.Context, ts *toolset, in *geminiReadInput) (*codeText, error) {
	o, err := ts.readLines(ctx, in.input())
	switch {
	case err != nil:
		return nil, err
	case o.Text == "":
		return noLines(o), nil
	case o.NextLine > 0:
		return &codeText{Content: fmt.Sprintf("[lines %d-%d of %d; go on with offset=%d]\n%s", o.StartLine, o.EndLine, o.TotalLines, o.EndLine, o.Text)}, nil
	}
	return &codeText{Content: o.Text}, nil
}

func planGeminiRead(ctx context.Context, ts *toolset, in *geminiReadInput) ([]policy.Request, error) {
	return planReadFile(ctx, ts, in.input())
}

// geminiReplaceInput are the parameters of replace. An Expected of 0 is 1.
type geminiReplaceInput struct {
	codePath
	OldString string  `json:"old_string" jsonschema:"the text to replace"`
	NewString string  `json:"new_string" jsonschema:"the text to put in its place"`
	Expected  integer `json:"expected_replacements,omitempty" jsonschema:"how often old_string occurs; all occurrences are replaced"`
}

// editor returns an editor that replaces old_string as often as expected, or not. Package
// edit tests that one text occurs once. More are replaced wherever they are, and counted
// afterwards, before anything is written.
func (in *geminiReplaceInput) editor(ts *toolset) (*editor, error) {
	path, err := ts.ws.Clean(ops.EditFile, in.FilePath)
	return &editor{path: path, limit: ts.whole.MaxFileSize(), by: func(text []byte) (*edit.Change, error) {
		change, err := edit.New(text, []edit.Edit{{Old: in.OldString, New: in.NewString, All: in.Expected > 1}})
		if n := int(in.Expected); err == nil && n > 1 && len(change.Spans()) != n {
			return nil, &argumentError{
				message: fmt.Sprintf("old_string occurs %s, and expected_replacements is %d", wording.Count(len(change.Spans()), "time", "times"), n),
				hint:    "Give the number of occurrences, or a longer old_string. Nothing was written.",
			}
		}
		return change, err
	}}, err
}

// runGeminiReplace edits a file, or creates one if the old text is empty.
func runGeminiReplace(ctx context.Context, ts *toolset, in *geminiReplaceInput) (*textResult, error) {
	if in.OldString == "" {
		return ts.createFile(ctx, in.FilePath, in.NewString)
	}
	e, err := in.editor(ts)
	if err != nil {
		return nil, err
	}
	version, err := ts.edit(ctx, e, false)
	if err != nil {
		return nil, explainEdit(err, false)
	}
	diff, note := e.diff()
	return textf("Modified /%s (%s%s).%s", e.path, wording.Count(len(e.change.Spans()), "replacement", "replacements"),
		versionNote(version), diffText(diff, note)), nil
}

func planGeminiReplace(ctx context.Context, ts *toolset, in *geminiReplaceInput) ([]policy.Request, error) {
	if in.OldString == "" {
		return planWriteFile(ctx, ts, &writeFileInput{Path: in.FilePath, Content: in.NewString, CreateOnly: true})
	}
	e, err := in.editor(ts)
	if err != nil {
		return nil, err
	}
	return ts.planEdit(ctx, e, false, false)
}

// geminiListInput are the parameters of list_directory.
type geminiListInput struct {
	DirPath string   `json:"dir_path" jsonschema:"the directory"`
	Ignore  []string `json:"ignore,omitempty" jsonschema:"globs of names to leave out"`
}

// runGeminiList lists directories first, then everything else, each in the order of names.
func runGeminiList(ctx context.Context, ts *toolset, in *geminiListInput) (*textResult, error) {
	children, more, err := ts.listExcept(ctx, in.DirPath, in.Ignore)
	if err != nil {
		return nil, err
	}
	rank := func(c workspace.FileInfo) int {
		if c.IsDir() {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(children, func(a, b workspace.FileInfo) int { return rank(a) - rank(b) })
	var out strings.Builder
	fmt.Fprintf(&out, "Directory listing for %s:", cmp.Or(in.DirPath, "/"))
	for _, c := range children {
		out.WriteString("\n")
		if c.IsDir() {
			out.WriteString("[DIR] ")
		}
		out.WriteString(c.Name)
	}
	return &textResult{out.String() + moreNote(more)}, nil
}

// geminiGlobInput are the parameters of glob. A GitIgnore of nil is true.
type geminiGlobInput struct {
	Pattern   string `json:"pattern" jsonschema:"the glob, relative to dir_path"`
	DirPath   string `json:"dir_path,omitempty" jsonschema:"the directory to search; left out for the root"`
	GitIgnore *bool  `json:"respect_git_ignore,omitempty" jsonschema:"leave out .git and what .gitignore files exclude"`
}

func (in *geminiGlobInput) input() *globInput {
	return &globInput{Pattern: in.Pattern, Path: in.DirPath, IncludeIgnored: in.GitIgnore != nil && !*in.GitIgnore}
}

// runGeminiGlob returns the first page of the default tool. It drops the cursor, which this
// dialect has no parameter for.
func runGeminiGlob(ctx context.Context, ts *toolset, in *geminiGlobInput) (*textResult, error) {
	o, err := runGlob(ctx, ts, in.input())
	switch {
	case err != nil:
		return nil, err
	case len(o.Matches) == 0:
		return textf("No files match %q in %s.", in.Pattern, cmp.Or(in.DirPath, "/")), nil
	}
	return textf("Found %s matching %q in %s:\n/%s%s", wording.Count(len(o.Matches), "file", "files"), in.Pattern, cmp.Or(in.DirPath, "/"),
		strings.Join(o.Matches, "\n/"), moreNote(o.Truncated)), nil
}

func planGeminiGlob(ctx context.Context, ts *toolset, in *geminiGlobInput) ([]policy.Request, error) {
	return planGlob(ctx, ts, in.input())
}

// geminiSearchInput are the parameters of search_file_content.
type geminiSearchInput struct {
	Pattern string `json:"pattern" jsonschema:"the regular expression, applied to one line at a time"`
	DirPath string `json:"dir_path,omitempty" jsonschema:"the directory to search; left out for the root"`
	Include string `json:"include,omitempty" jsonschema:"search only files that this glob matches, such as *.go"`
}

func (in *geminiSearchInput) input() *grepInput {
	return &grepInput{Pattern: in.Pattern, Path: in.DirPath, IncludeGlob: in.Include}
}

// runGeminiSearch returns the first page of the default tool, in the form of Gemini CLI:
//
//	Found 2 matches for pattern "find" in path "/":
//	---
//	File: /a.go
//	L3: find()
//	---
//	File: /b.go
//	L9: find()
//	---
func runGeminiSearch(ctx context.Context, ts *toolset, in *geminiSearchInput) (*textResult, error) {
	o, err := runGrep(ctx, ts, in.input())
	if err != nil {
		return nil, err
	}
	where := fmt.Sprintf("for pattern %q in path %q", in.Pattern, cmp.Or(in.DirPath, "/"))
	if in.Include != "" {
		where += fmt.Sprintf(" (filter: %q)", in.Include)
	}
	if len(o.Matches) == 0 {
		return textf("No matches found %s.%s", where, notSearched(o.skipped)), nil
	}
	var out strings.Builder
	fmt.Fprintf(&out, "Found %s %s:\n---\n", wording.Count(len(o.Matches), "match", "matches"), where)
	path := ""
	for _, m := range o.Matches {
		if m.Path != path {
			if path != "" {
				out.WriteString("---\n")
			}
			path = m.Path
			fmt.Fprintf(&out, "File: /%s\n", path)
		}
		fmt.Fprintf(&out, "L%d: %s\n", m.LineNumber, strings.TrimSuffix(m.Line, "\r"))
	}
	return &textResult{out.String() + "---" + moreNote(o.Truncated) + notSearched(o.skipped)}, nil
}

func planGeminiSearch(ctx context.Context, ts *toolset, in *geminiSearchInput) ([]policy.Request, error) {
	return planGrep(ctx, ts, in.input())
}
