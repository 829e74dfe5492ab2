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

// geminiDialect has the file tools of Gemini CLI 0.61. The root of the workspace is "/".
var geminiDialect = &dialect{name: DialectGemini, naming: "{op}", plain: true, specs: []spec{
	{
		op: ops.ReadFile, annotations: readFileSpec.annotations, handler: define(runGeminiRead, planGeminiRead),
		about: "Reads a file, at most {{.ReadLines}} lines. Images and PDFs up to {{.PartSize}} are returned as such.",
		shape: func(p properties, _ *toolset) {
			p.between("start_line", 1, math.MaxInt32)
			p.between("end_line", 1, math.MaxInt32)
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
		about: "Replaces text in a file. old_string must be exactly what the file has, and occur once unless allow_multiple is set. " +
			"With an empty old_string it creates the file.",
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
		shape: func(p properties, _ *toolset) { p.byDefault("respect_git_ignore", true) },
	},
	{
		op: "grep_search", like: ops.Grep, annotations: grepSpec.annotations, handler: define(runGeminiSearch, planGeminiSearch),
		about: "Searches the lines of files for an RE2 regular expression. Leaves out .git and what .gitignore files exclude, unless dir_path is in it.",
		shape: func(p properties, _ *toolset) {
			for _, context := range []string{"context", "after", "before"} {
				p.between(context, 0, grepContext)
			}
			p.between("total_max_matches", 1, grepMax)
			p.byDefault("total_max_matches", grepDefault)
		},
	},
}}

// geminiReadInput are the parameters of read_file. A line of 0 is one that was left out.
type geminiReadInput struct {
	codePath
	Start integer `json:"start_line,omitempty" jsonschema:"the first line to return, from 1"`
	End   integer `json:"end_line,omitempty" jsonschema:"the last line to return"`
}

// input returns the parameters of the default tool. Lines in the wrong order, which a schema
// cannot refuse, are an error.
func (in *geminiReadInput) input() (*readFileInput, error) {
	out := &readFileInput{Path: in.FilePath, Line: in.Start}
	if in.End == 0 {
		return out, nil
	}
	first := max(1, in.Start)
	if in.End < first {
		return nil, &argumentError{message: fmt.Sprintf("start_line is %d, and end_line is %d", first, in.End), hint: "Give a last line that is not before the first."}
	}
	out.Limit = min(in.End-first+1, readLines)
	return out, nil
}

// runGeminiRead returns the lines as they are. Only a part that is not the last has a line
// before them, with the line to go on with.
func runGeminiRead(ctx context.Context, ts *toolset, in *geminiReadInput) (*codeText, error) {
	args, err := in.input()
	if err != nil {
		return nil, err
	}
	o, err := ts.readLines(ctx, args, "start_line")
	switch {
	case err != nil:
		return nil, err
	case o.Text == "":
		return noLines(o), nil
	case o.NextLine > 0:
		return &codeText{Content: fmt.Sprintf("[lines %d-%d of %d; go on with start_line=%d]\n%s", o.StartLine, o.EndLine, o.TotalLines, o.NextLine, o.Text)}, nil
	}
	return &codeText{Content: o.Text}, nil
}

func planGeminiRead(ctx context.Context, ts *toolset, in *geminiReadInput) ([]policy.Request, error) {
	args, err := in.input()
	if err != nil {
		return nil, err
	}
	return planReadFile(ctx, ts, args)
}

// geminiReplaceInput are the parameters of replace. Instruction is accepted because Gemini CLI
// requires it, for a model that may correct the edit. Nothing reads it.
type geminiReplaceInput struct {
	codePath
	Instruction string `json:"instruction,omitempty" jsonschema:"what the change is for; may be left out"`
	OldString   string `json:"old_string" jsonschema:"the text to replace"`
	NewString   string `json:"new_string" jsonschema:"the text to put in its place"`
	Multiple    bool   `json:"allow_multiple,omitempty" jsonschema:"replace every occurrence"`
}

// editor returns an editor that replaces old_string.
func (in *geminiReplaceInput) editor(ctx context.Context, ts *toolset) (*editor, error) {
	path, err := ts.ws.Clean(ctx, ops.EditFile, in.FilePath)
	return &editor{path: path, limit: ts.whole.MaxFileSize(), edits: []edit.Edit{{Old: in.OldString, New: in.NewString, All: in.Multiple}}}, err
}

// runGeminiReplace edits a file, or creates one if the old text is empty.
func runGeminiReplace(ctx context.Context, ts *toolset, in *geminiReplaceInput) (*textResult, error) {
	if in.OldString == "" {
		return ts.createFile(ctx, in.FilePath, in.NewString)
	}
	e, err := in.editor(ctx, ts)
	if err != nil {
		return nil, err
	}
	version, err := ts.edit(ctx, e, false)
	if err != nil {
		return nil, explainEdit(err, false)
	}
	diff, note := e.diff()
	return textf("Modified %s (%s%s).%s", onOneLine("/"+e.path), wording.Count(len(e.change.Spans()), "replacement", "replacements"),
		versionNote(version), diffText(diff, note)), nil
}

func planGeminiReplace(ctx context.Context, ts *toolset, in *geminiReplaceInput) ([]policy.Request, error) {
	if in.OldString == "" {
		return planWriteFile(ctx, ts, &writeFileInput{Path: in.FilePath, Content: in.NewString, CreateOnly: true})
	}
	e, err := in.editor(ctx, ts)
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

// runGeminiList lists directories first, then everything else, each in the order of names,
// files with their size.
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
	fmt.Fprintf(&out, "Directory listing for %s:", onOneLine(cmp.Or(in.DirPath, "/")))
	for _, c := range children {
		out.WriteString("\n")
		if c.IsDir() {
			out.WriteString("[DIR] ")
		}
		out.WriteString(onOneLine(c.Name))
		if c.Type == workspace.TypeFile {
			fmt.Fprintf(&out, " (%d bytes)", c.Size)
		}
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
		return textf("No files match %q in %s.", in.Pattern, onOneLine(cmp.Or(in.DirPath, "/"))), nil
	}
	return textf("Found %s matching %q in %s:\n%s%s", wording.Count(len(o.Matches), "file", "files"), in.Pattern, onOneLine(cmp.Or(in.DirPath, "/")),
		strings.Join(eachOnOneLine("/", o.Matches), "\n"), moreNote(o.Truncated)), nil
}

func planGeminiGlob(ctx context.Context, ts *toolset, in *geminiGlobInput) ([]policy.Request, error) {
	return planGlob(ctx, ts, in.input())
}

// geminiSearchInput are the parameters of grep_search.
type geminiSearchInput struct {
	Pattern   string  `json:"pattern" jsonschema:"the regular expression, applied to one line at a time"`
	DirPath   string  `json:"dir_path,omitempty" jsonschema:"the file or directory to search; left out for the root"`
	Include   string  `json:"include_pattern,omitempty" jsonschema:"search only files that this glob matches, such as *.go"`
	NamesOnly bool    `json:"names_only,omitempty" jsonschema:"return only the paths of files"`
	Case      bool    `json:"case_sensitive,omitempty" jsonschema:"do not match letters in the other case"`
	Fixed     bool    `json:"fixed_strings,omitempty" jsonschema:"pattern is plain text"`
	Context   integer `json:"context,omitempty" jsonschema:"lines on both sides of each match"`
	After     integer `json:"after,omitempty" jsonschema:"lines after each match"`
	Before    integer `json:"before,omitempty" jsonschema:"lines before each match"`
	NoIgnore  bool    `json:"no_ignore,omitempty" jsonschema:"also search .git and what .gitignore files exclude"`
	Limit     integer `json:"total_max_matches,omitempty" jsonschema:"how many matches, or with names_only files, to return at most"`
}

func (in *geminiSearchInput) input() *grepInput {
	out := &grepInput{
		Pattern: in.Pattern, Path: in.DirPath, IncludeGlob: in.Include, IgnoreCase: !in.Case, Literal: in.Fixed,
		Before: max(in.Before, in.Context), After: max(in.After, in.Context), IncludeIgnored: in.NoIgnore, MaxResults: in.Limit,
	}
	if in.NamesOnly {
		out.Output = shapeFiles
	}
	return out
}

// where says what was searched for, and where.
func (in *geminiSearchInput) where() string {
	text := fmt.Sprintf("for pattern %q in path %q", in.Pattern, cmp.Or(in.DirPath, "/"))
	if in.Include != "" {
		text += fmt.Sprintf(" (filter: %q)", in.Include)
	}
	return text
}

// runGeminiSearch returns the first page of the default tool, in the form of Gemini CLI:
//
//	Found 2 matches for pattern "find" in path "/":
//	---
//	File: /a.go
//	L2- // before
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
	var out strings.Builder
	switch {
	case len(o.Files) > 0:
		fmt.Fprintf(&out, "Found %s with matches %s:", wording.Count(len(o.Files), "file", "files"), in.where())
		for _, f := range o.Files {
			out.WriteString("\n" + onOneLine("/"+f.Path))
		}
	case len(o.Matches) > 0:
		fmt.Fprintf(&out, "Found %s %s:\n---\n", wording.Count(len(o.Matches), "match", "matches"), in.where())
		writeGeminiMatches(&out, o.Matches)
	default:
		fmt.Fprintf(&out, "No matches found %s.", in.where())
	}
	return &textResult{out.String() + moreNote(o.Truncated) + notSearched(o.skipped)}, nil
}

// writeGeminiMatches writes matches below the name of their file. The last line has no end.
func writeGeminiMatches(out *strings.Builder, matches []grepMatch) {
	g := &grepWriter{out: out, format: "L%d%s %s\n"}
	for i, m := range matches {
		if m.Path != g.path {
			fmt.Fprintf(out, "File: %s\n", onOneLine("/"+m.Path))
			g.path, g.line = m.Path, 0 // grepWriter writes no heading of its own
		}
		g.match(m, matches[i+1:])
		switch {
		case i+1 == len(matches):
			out.WriteString("---")
		case matches[i+1].Path != m.Path:
			out.WriteString("---\n")
		}
	}
}

func planGeminiSearch(ctx context.Context, ts *toolset, in *geminiSearchInput) ([]policy.Request, error) {
	return planGrep(ctx, ts, in.input())
}
