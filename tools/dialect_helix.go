package tools

import (
	"cmp"
	"context"
	"encoding/base64"
	"time"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// helixDialect has nine tools with the names of the default ones, fewer parameters,
// and results without pages.
var helixDialect = &dialect{name: DialectHelix, naming: DefaultNaming, plain: true, specs: []spec{
	{
		op: ops.ReadFile, annotations: readFileSpec.annotations, handler: define(runHelixRead, planHelixRead),
		about: "Reads a whole file, of at most {{.WholeSize}}.",
	},
	{
		op: ops.WriteFile, annotations: replaces, needs: writeFileSpec.needs,
		about: "Writes a whole file: creates it, with its missing directories, or replaces all of its content.",
		handler: adapt(func(in *helixWriteInput) *writeFileInput { return &writeFileInput{Path: in.Path, Content: in.Content} },
			runWriteFile, planWriteFile, func(*writeFileOutput) *helixOK { return &helixOK{true} }),
	},
	{
		op: ops.EditFile, annotations: editFileSpec.annotations, needs: editFileSpec.needs,
		about: "Replaces text in a file. oldText must be exactly what is in the file, and occur exactly once unless replaceAll is set.",
		shape: func(p properties, _ *toolset) { p.byDefault("replaceAll", false) },
		handler: adapt(func(in *helixEditInput) *editFileInput {
			return &editFileInput{Path: in.Path, OldText: &in.OldText, NewText: &in.NewText, ReplaceAll: in.ReplaceAll}
		}, runEditFile, planEditFile, func(*editFileOutput) *helixOK { return &helixOK{true} }),
	},
	{
		op: ops.Ls, annotations: lsSpec.annotations, handler: define(runHelixLs, planHelixLs),
		about: "Lists the direct children of a directory, sorted by name.",
		shape: func(p properties, _ *toolset) { p.byDefault("path", ".") },
	},
	{
		op: ops.Glob, annotations: globSpec.annotations, handler: define(runHelixGlob, planHelixGlob),
		about: "Finds files by name. **/*.go finds those of all directories. Leaves out .git and what .gitignore files exclude.",
	},
	{
		op: ops.Grep, annotations: grepSpec.annotations,
		about: "Searches the lines of files for an RE2 regular expression. Leaves out .git and what .gitignore files exclude, unless path is in it.",
		shape: func(p properties, _ *toolset) {
			p.between("maxResults", 1, grepMax)
			p.byDefault("maxResults", grepDefault)
			p.byDefault("path", ".")
			p.byDefault("ignoreCase", false)
		},
		handler: adapt(func(in *helixGrepInput) *grepInput {
			return &grepInput{Pattern: in.Pattern, Path: in.Path, IgnoreCase: in.IgnoreCase, IncludeGlob: in.IncludeGlob, MaxResults: in.MaxResults}
		}, runGrep, planGrep, newHelixGrep),
	},
	{
		op: ops.Stat, annotations: statSpec.annotations,
		about: "Describes a file or a directory without reading it.",
		handler: adapt(func(in *helixPath) *statInput { return &statInput{in.Path} }, runStat, planStat, func(o *statOutput) *helixStat {
			return &helixStat{helixInfo{Path: o.Path, Type: o.Type, Size: o.Size, ModTime: o.ModTime}}
		}),
	},
	{
		op: ops.Mkdir, annotations: mkdirSpec.annotations, needs: mkdirSpec.needs, shape: mkdirSpec.shape,
		about:   "Makes a directory. With recursive it makes missing parents too, and succeeds if the directory exists.",
		handler: adapt(func(in *mkdirInput) *mkdirInput { return in }, runMkdir, planMkdir, func(*mkdirOutput) *helixOK { return &helixOK{true} }),
	},
	{
		op: ops.Rm, annotations: rmSpec.annotations, needs: rmSpec.needs, shape: rmSpec.shape,
		about:   "Removes a file or an empty directory, or with recursive a directory with everything below it.",
		handler: adapt(func(in *rmInput) *rmInput { return in }, runRm, planRm, func(*rmOutput) *helixOK { return &helixOK{true} }),
	},
}}

// helixPath is the parameter of the tools about one file.
type helixPath struct {
	Path string `json:"path" jsonschema:"the name from the root of the workspace, such as src/main.go"`
}

// helixOK is the result of the tools that change something.
type helixOK struct {
	OK bool `json:"ok" jsonschema:"always true"`
}

func (o *helixOK) text() string { return "ok" }

// helixContent is the result of read_file: what the file has, and the text that the
// default tool returns for it.
type helixContent struct {
	Content string `json:"content" jsonschema:"the bytes of the file in base64"`
	Text    string `json:"text" jsonschema:"the file as text, in which U+FFFD stands for bytes that are no text"`
}

// runHelixRead returns a whole file, whatever is in it. All of it then counts as read.
func runHelixRead(ctx context.Context, ts *toolset, in *helixPath) (*helixContent, error) {
	path, file, err := ts.readWhole(ctx, in.Path)
	if err != nil {
		return nil, err
	}
	return &helixContent{base64.StdEncoding.EncodeToString(file.stored), ts.showWhole(ctx, path, file)}, nil
}

func planHelixRead(ctx context.Context, ts *toolset, in *helixPath) ([]policy.Request, error) {
	return planReadFile(ctx, ts, &readFileInput{Path: in.Path})
}

func (o *helixContent) text() string { return o.Text }

// helixWriteInput are the parameters of write_file.
type helixWriteInput struct {
	helixPath
	Content string `json:"content" jsonschema:"the whole new content of the file"`
}

// helixEditInput are the parameters of edit_file.
type helixEditInput struct {
	helixPath
	OldText    string `json:"oldText" jsonschema:"the text to replace"`
	NewText    string `json:"newText" jsonschema:"the text to put in its place"`
	ReplaceAll bool   `json:"replaceAll,omitempty" jsonschema:"replace every occurrence of oldText"`
}

// helixLsInput is the parameter of ls.
type helixLsInput struct {
	Path string `json:"path,omitempty" jsonschema:"the directory, from the root of the workspace; left out for the root"`
}

// helixEntries is the result of ls. It has no pages: what is left out is only said.
type helixEntries struct {
	Entries   []entry `json:"entries" jsonschema:"the direct children"`
	Truncated bool    `json:"truncated,omitempty" jsonschema:"whether there are more"`

	dir string
}

// runHelixLs lists a directory up to the limit of tools without pages.
func runHelixLs(ctx context.Context, ts *toolset, in *helixLsInput) (*helixEntries, error) {
	children, more, err := ts.list(ctx, in.Path)
	out := &helixEntries{Entries: make([]entry, len(children)), Truncated: more, dir: in.Path}
	for i, c := range children {
		out.Entries[i] = entry{Name: c.Name, Path: c.Path, Type: c.Type, Size: c.Size}
	}
	return out, err
}

func planHelixLs(ctx context.Context, ts *toolset, in *helixLsInput) ([]policy.Request, error) {
	return planLs(ctx, ts, &lsInput{Path: in.Path})
}

func (o *helixEntries) text() string {
	return (&lsOutput{Path: cmp.Or(o.dir, "."), Entries: o.Entries}).text() + moreNote(o.Truncated)
}

// helixGlobInput is the parameter of glob.
type helixGlobInput struct {
	Pattern string `json:"pattern" jsonschema:"the glob, from the root of the workspace, such as **/*.go"`
}

// helixPaths is the result of glob.
type helixPaths struct {
	Matches   []string `json:"matches" jsonschema:"the paths from the root, sorted"`
	Truncated bool     `json:"truncated,omitempty" jsonschema:"whether there are more"`
}

// runHelixGlob finds files up to the limit of tools without pages, which is higher than a
// page of the default tool.
func runHelixGlob(ctx context.Context, ts *toolset, in *helixGlobInput) (*helixPaths, error) {
	paths, err := ts.ws.Glob(ctx, in.Pattern, &workspace.GlobOptions{Limit: wholeEntries + 1, Gitignore: true})
	return &helixPaths{append([]string{}, paths[:min(len(paths), wholeEntries)]...), len(paths) > wholeEntries}, err
}

func planHelixGlob(ctx context.Context, ts *toolset, in *helixGlobInput) ([]policy.Request, error) {
	return planGlob(ctx, ts, &globInput{Pattern: in.Pattern})
}

func (o *helixPaths) text() string {
	return (&globOutput{Matches: o.Matches, Truncated: o.Truncated}).text() + moreNote(o.Truncated)
}

// helixGrepInput are the parameters of grep.
type helixGrepInput struct {
	Pattern     string  `json:"pattern" jsonschema:"the regular expression, applied to one line at a time"`
	Path        string  `json:"path,omitempty" jsonschema:"the file or directory to search; left out for the root"`
	IgnoreCase  bool    `json:"ignoreCase,omitempty" jsonschema:"match letters in either case"`
	IncludeGlob string  `json:"includeGlob,omitempty" jsonschema:"search only the files that this glob matches, such as *.go"`
	MaxResults  integer `json:"maxResults,omitempty" jsonschema:"how many matches to return at most"`
}

// helixMatches is the result of grep. Its text is the one of the default tool, made from
// found.
type helixMatches struct {
	Matches   []helixMatch `json:"matches" jsonschema:"the matching lines, sorted by path, then by line"`
	Truncated bool         `json:"truncated,omitempty" jsonschema:"whether there are more"`

	found grepOutput
}

// helixMatch is one line that matches.
type helixMatch struct {
	Path       string `json:"path" jsonschema:"the file"`
	LineNumber int    `json:"lineNumber" jsonschema:"the line, counted from 1"`
	Line       string `json:"line" jsonschema:"the line"`
}

// newHelixGrep makes a result from the one of the default tool. It drops the cursor, which
// this dialect has no parameter for.
func newHelixGrep(found *grepOutput) *helixMatches {
	out := &helixMatches{Matches: make([]helixMatch, len(found.Matches)), Truncated: found.Truncated, found: *found}
	out.found.NextCursor = ""
	in := *found.in
	in.IncludeIgnored = true // its text names no parameter that this dialect does not have
	out.found.in = &in
	for i, m := range found.Matches {
		out.Matches[i] = helixMatch{m.Path, m.LineNumber, m.Line}
	}
	return out
}

func (o *helixMatches) text() string { return o.found.text() + moreNote(o.Truncated) }

// helixStat is the result of stat.
type helixStat struct {
	Stat helixInfo `json:"stat" jsonschema:"what the name is"`
}

// helixInfo describes a file.
type helixInfo struct {
	Path    string             `json:"path" jsonschema:"the name from the root"`
	Type    workspace.FileType `json:"type" jsonschema:"file, directory, symlink or other"`
	Size    int64              `json:"size" jsonschema:"the size in bytes; 0 unless it is a file that is not denied"`
	ModTime time.Time          `json:"mtime,omitzero" jsonschema:"the modification time, in RFC 3339"`
}

func (o *helixStat) text() string {
	return (&statOutput{Path: o.Stat.Path, Type: o.Stat.Type, Size: o.Stat.Size, ModTime: o.Stat.ModTime}).text()
}
