package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/tools/internal/edit"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// claudeDialect has the file tools of Claude Code 1.0.60. The root of the workspace is "/".
var claudeDialect = &dialect{name: DialectClaudeCode, naming: "{op}", plain: true, specs: []spec{
	{
		op: "Read", like: ops.ReadFile, annotations: readFileSpec.annotations, handler: define(runClaudeRead, planClaudeRead),
		about: "Reads a file, at most {{.ReadLines}} lines from offset on, with line numbers as cat -n has them. Images and PDFs up to {{.PartSize}} are returned as such.",
		shape: func(p properties, _ *toolset) {
			p.between("offset", 0, math.MaxInt32)
			p.between("limit", 1, readLines)
		},
	},
	{
		op: "Write", like: ops.WriteFile, annotations: replaces, needs: writeFileSpec.needs,
		about: "Writes a whole file, replacing what it held.{{if has \"edit_file\"}} To change a part, use {{tool \"edit_file\"}}.{{end}}",
		handler: adapt(func(in *codeWriteInput) *writeFileInput {
			return &writeFileInput{Path: in.FilePath, Content: in.Content}
		},
			runWriteFile, planWriteFile, func(o *writeFileOutput) *textResult { return &textResult{o.text()} }),
	},
	{
		op: "Edit", like: ops.EditFile, annotations: editFileSpec.annotations, needs: editFileSpec.needs,
		about: "Replaces text in a file. old_string must be exactly what the file has, and occur once unless replace_all is set. " +
			"Line numbers of Read are not part of it. With an empty old_string it creates the file.",
		handler: define(func(ctx context.Context, ts *toolset, in *claudeEditInput) (*textResult, error) {
			if in.OldString == "" {
				return ts.createFile(ctx, in.FilePath, in.NewString)
			}
			return ts.editInSequence(ctx, in.FilePath, []claudeReplacement{in.claudeReplacement})
		}, func(ctx context.Context, ts *toolset, in *claudeEditInput) ([]policy.Request, error) {
			if in.OldString == "" {
				return planWriteFile(ctx, ts, &writeFileInput{Path: in.FilePath, Content: in.NewString, CreateOnly: true})
			}
			return ts.planInSequence(ctx, in.FilePath, []claudeReplacement{in.claudeReplacement})
		}),
	},
	{
		op: "MultiEdit", annotations: editFileSpec.annotations, needs: editFileSpec.needs,
		about: "Makes several edits of one file,{{if has \"edit_file\"}} as {{tool \"edit_file\"}} does,{{end}} one after another: all of them or none.",
		shape: func(p properties, _ *toolset) {
			p["edits"].MinItems, p["edits"].MaxItems = jsonschema.Ptr(1), jsonschema.Ptr(editsMax)
		},
		handler: define(func(ctx context.Context, ts *toolset, in *claudeEditsInput) (*textResult, error) {
			if in.Edits[0].OldString == "" {
				content, err := in.created(ts)
				if err != nil {
					return nil, explainEdit(err, false)
				}
				return ts.createFile(ctx, in.FilePath, content)
			}
			return ts.editInSequence(ctx, in.FilePath, in.Edits)
		}, func(ctx context.Context, ts *toolset, in *claudeEditsInput) ([]policy.Request, error) {
			if in.Edits[0].OldString == "" {
				content, err := in.created(ts)
				if err != nil {
					return nil, explainEdit(err, false)
				}
				return planWriteFile(ctx, ts, &writeFileInput{Path: in.FilePath, Content: content, CreateOnly: true})
			}
			return ts.planInSequence(ctx, in.FilePath, in.Edits)
		}),
	},
	{
		op: "Glob", like: ops.Glob, annotations: globSpec.annotations,
		about: "Finds files by name, such as **/*.go. Leaves out .git and what .gitignore files exclude, unless path is in it.",
		handler: adapt(func(in *claudeGlobInput) *globInput { return &globInput{Pattern: in.Pattern, Path: in.Path} },
			runGlob, planGlob, func(o *globOutput) *textResult {
				if len(o.Matches) == 0 {
					return &textResult{"No files found"}
				}
				return &textResult{strings.Join(eachOnOneLine("/", o.Matches), "\n") + moreNote(o.Truncated)}
			}),
	},
	{
		op: "Grep", like: ops.Grep, annotations: grepSpec.annotations, handler: define(runClaudeGrep, planClaudeGrep),
		about: "Searches files for an RE2 regular expression. Returns the files that have it, or the lines, or the counts. " +
			"Leaves out .git and what .gitignore files exclude, unless path is in it.",
		shape: func(p properties, _ *toolset) {
			p.oneOf("output_mode", "files_with_matches", "content", "count")
			p.byDefault("output_mode", "files_with_matches")
			p.between("head_limit", 1, grepMax)
			p.byDefault("head_limit", grepDefault)
			for _, context := range []string{"-A", "-B", "-C"} {
				p.between(context, 0, grepContext)
			}
		},
	},
	{
		op: "LS", like: ops.Ls, annotations: lsSpec.annotations,
		about: "Lists a directory. Directories end in a slash.",
		handler: define(func(ctx context.Context, ts *toolset, in *claudeListInput) (*textResult, error) {
			children, more, err := ts.listExcept(ctx, in.Path, in.Ignore)
			var out strings.Builder
			for _, c := range children {
				slash := ""
				if c.IsDir() {
					slash = "/"
				}
				out.WriteString("- " + onOneLine(c.Name) + slash + "\n")
			}
			return &textResult{strings.TrimSuffix(out.String(), "\n") + moreNote(more)}, err
		}, func(ctx context.Context, ts *toolset, in *claudeListInput) ([]policy.Request, error) {
			return planLs(ctx, ts, &lsInput{Path: in.Path})
		}),
	},
}}

// codePath is the parameter that names a file, in this dialect and in that of Gemini.
type codePath struct {
	FilePath string `json:"file_path" jsonschema:"the path, from / as the root of the workspace"`
}

// codeWriteInput are the parameters of the tool that writes a file.
type codeWriteInput struct {
	codePath
	Content string `json:"content" jsonschema:"the whole new content"`
}

// claudeReadInput are the parameters of Read. Offset is a line, from 1.
type claudeReadInput struct {
	codePath
	Offset integer `json:"offset,omitempty" jsonschema:"the line to begin with, from 1"`
	Limit  integer `json:"limit,omitempty" jsonschema:"how many lines to return at most"`
}

// codeText is a text that may be an image or a document instead.
type codeText struct {
	Content string `json:"content" jsonschema:"the result"`

	shown []Part
}

func (o *codeText) text() string  { return o.Content }
func (o *codeText) parts() []Part { return o.shown }

// input returns the parameters of the default tool. An offset of 0 is the first line, too.
func (in *claudeReadInput) input() *readFileInput {
	return &readFileInput{Path: in.FilePath, Line: in.Offset, Limit: in.Limit}
}

// runClaudeRead returns lines after their number, in six columns, and a tab:
//
//	     2	func main() {
//	     3	}
//	[9 lines; go on with offset=4]
func runClaudeRead(ctx context.Context, ts *toolset, in *claudeReadInput) (*codeText, error) {
	o, err := ts.readLines(ctx, in.input(), "offset")
	switch {
	case err != nil:
		return nil, err
	case o.Text == "":
		return noLines(o), nil
	}
	var out strings.Builder
	n := o.StartLine
	for line := range strings.Lines(o.Text) {
		fmt.Fprintf(&out, "%6d\t%s", n, line)
		n++
	}
	if o.NextLine > 0 {
		fmt.Fprintf(&out, "[%d lines; go on with offset=%d]", o.TotalLines, o.NextLine)
	}
	return &codeText{Content: out.String()}, nil
}

// readLines is runReadFile for a tool whose first line has the name line.
func (ts *toolset) readLines(ctx context.Context, in *readFileInput, line string) (*readFileOutput, error) {
	o, err := runReadFile(ctx, ts, in)
	if errors.As(err, new(*argumentError)) { // with a line and a limit only one thing can be wrong
		err = &argumentError{message: fmt.Sprintf("%s is after the last line of %s", line, onOneLine(in.Path)), hint: "Give a smaller " + line + "."}
	}
	return o, err
}

// noLines is the result of a read that shows no lines: what the file is, or the part. The
// hint of the default tool about base64 is replaced, because it names a parameter that this
// tool does not have.
func noLines(o *readFileOutput) *codeText {
	if o.Hint != "" && !isPart(o.MIMEType) {
		o.Hint = "The file cannot be shown."
	}
	return &codeText{o.text(), o.parts()}
}

func planClaudeRead(ctx context.Context, ts *toolset, in *claudeReadInput) ([]policy.Request, error) {
	return planReadFile(ctx, ts, in.input())
}

// createFile creates a file for an edit of nothing. It replaces nothing.
//
// # Errors
//
// [fs.ErrExist] if the file exists, also if it is empty.
func (ts *toolset) createFile(ctx context.Context, path, content string) (*textResult, error) {
	out, err := runWriteFile(ctx, ts, &writeFileInput{Path: path, Content: content, CreateOnly: true})
	if err != nil {
		return nil, err
	}
	return &textResult{out.text()}, nil
}

// claudeReplacement is one edit: the old text must occur once, or all its places are
// replaced.
type claudeReplacement struct {
	OldString  string `json:"old_string" jsonschema:"the text to replace"`
	NewString  string `json:"new_string" jsonschema:"the text to put in its place"`
	ReplaceAll bool   `json:"replace_all,omitempty" jsonschema:"replace every occurrence"`
}

// claudeEditInput are the parameters of Edit.
type claudeEditInput struct {
	codePath
	claudeReplacement
}

// claudeEditsInput are the parameters of MultiEdit.
type claudeEditsInput struct {
	codePath
	Edits []claudeReplacement `json:"edits" jsonschema:"the edits, each of what those before it made"`
}

// sequenceEditor returns an editor that makes edits one after another. An error of one of
// several says which, from 1.
func (ts *toolset) sequenceEditor(ctx context.Context, path string, edits []claudeReplacement) (*editor, error) {
	path, err := ts.ws.Clean(ctx, ops.EditFile, path)
	return &editor{path: path, limit: ts.whole.MaxFileSize(), by: func(text []byte) (*edit.Change, error) {
		s, err := ts.applyFrom(0, text, edits)
		if err != nil {
			return nil, err
		}
		return s.Change(), nil
	}}, err
}

// applyFrom makes the edits from the one with the index first on. A text in another encoding than
// UTF-8 may be larger than the file; the limit on that is tested later.
func (ts *toolset) applyFrom(first int, text []byte, edits []claudeReplacement) (*edit.Sequence, error) {
	s := edit.NewSequence(text)
	for i, e := range edits[first:] {
		err := s.Apply(edit.Edit{Old: e.OldString, New: e.NewString, All: e.ReplaceAll}, 3*ts.whole.MaxFileSize())
		switch {
		case err != nil && len(edits) > 1:
			return nil, fmt.Errorf("edit %d of %d: %w", first+i+1, len(edits), err)
		case err != nil:
			return nil, err
		}
	}
	return s, nil
}

// created returns the content of the file that the first edit creates, after the others.
func (in *claudeEditsInput) created(ts *toolset) (string, error) {
	s, err := ts.applyFrom(1, []byte(in.Edits[0].NewString), in.Edits)
	if err != nil {
		return "", err
	}
	return string(s.Text()), nil
}

// editInSequence makes the edits one after the other, each in the text that the one
// before has left, and writes the file once.
func (ts *toolset) editInSequence(ctx context.Context, path string, edits []claudeReplacement) (*textResult, error) {
	e, err := ts.sequenceEditor(ctx, path, edits)
	if err != nil {
		return nil, err
	}
	version, err := ts.edit(ctx, e, false)
	if err != nil {
		return nil, explainEdit(err, false)
	}
	diff, note := e.diff()
	return textf("Edited %s%s.%s", onOneLine("/"+e.path), versionNote(version), diffText(diff, note)), nil
}

// planInSequence is what editInSequence would do.
func (ts *toolset) planInSequence(ctx context.Context, path string, edits []claudeReplacement) ([]policy.Request, error) {
	e, err := ts.sequenceEditor(ctx, path, edits)
	if err != nil {
		return nil, err
	}
	return ts.planEdit(ctx, e, false, false)
}

// claudeGlobInput are the parameters of Glob.
type claudeGlobInput struct {
	Pattern string `json:"pattern" jsonschema:"the glob, relative to path"`
	Path    string `json:"path,omitempty" jsonschema:"the directory to search; left out for the root"`
}

// claudeGrepInput are the parameters of Grep, by the names of ripgrep's flags. Numbers
// is true if it is left out.
type claudeGrepInput struct {
	Pattern    string  `json:"pattern" jsonschema:"the regular expression"`
	Path       string  `json:"path,omitempty" jsonschema:"the file or directory to search; left out for the root"`
	Glob       string  `json:"glob,omitempty" jsonschema:"search only files that this matches, such as *.go"`
	OutputMode string  `json:"output_mode,omitempty" jsonschema:"what to return"`
	Before     integer `json:"-B,omitempty" jsonschema:"lines before each match, for content"`
	After      integer `json:"-A,omitempty" jsonschema:"lines after each match, for content"`
	Context    integer `json:"-C,omitempty" jsonschema:"lines on both sides of each match, for content"`
	Numbers    *bool   `json:"-n,omitempty" jsonschema:"show line numbers, for content; true if left out"`
	IgnoreCase bool    `json:"-i,omitempty" jsonschema:"match letters in either case"`
	Multiline  bool    `json:"multiline,omitempty" jsonschema:"a match may span lines, and . matches line breaks"`
	HeadLimit  integer `json:"head_limit,omitempty" jsonschema:"how many files, matches or counts to return at most"`
}

// runClaudeGrep searches without pages: what does not fit is only said. -C is for both sides,
// and the greater of it and -A or -B counts. With multiline, "." matches line breaks, too.
func runClaudeGrep(ctx context.Context, ts *toolset, in *claudeGrepInput) (*textResult, error) {
	opts := &workspace.GrepOptions{
		Path: in.Path, IgnoreCase: in.IgnoreCase, Multiline: in.Multiline, IncludeGlob: in.Glob,
		MaxResults: int(cmp.Or(in.HeadLimit, grepDefault)), Gitignore: true,
		FirstOnly: in.OutputMode == "" || in.OutputMode == "files_with_matches", Count: in.OutputMode == "count",
	}
	if in.OutputMode == "content" {
		opts.Before, opts.After = int(max(in.Before, in.Context)), int(max(in.After, in.Context))
	}
	pattern := in.Pattern
	if in.Multiline {
		pattern = "(?s)" + pattern
	}
	found, err := ts.ws.Grep(ctx, pattern, opts)
	if err != nil {
		return nil, err
	}
	if len(found.Matches) == 0 {
		return textf("No matches found%s", notSearched(found.Skipped)), nil
	}
	w := &codeLines{numbers: in.Numbers == nil || *in.Numbers}
	for _, m := range found.Matches {
		switch {
		case opts.FirstOnly:
			w.put(onOneLine("/"+m.Path) + "\n")
		case opts.Count:
			w.put(fmt.Sprintf("%s:%d\n", onOneLine("/"+m.Path), m.Count))
		default:
			w.match(m, opts.Before+opts.After > 0)
		}
	}
	return &textResult{strings.TrimSuffix(w.out.String(), "\n") + moreNote(found.Truncated || w.full) + notSearched(found.Skipped)}, nil
}

// notSearched says how many files a search skipped. It names the first one.
func notSearched(skipped []workspace.Skipped) string {
	if len(skipped) == 0 {
		return ""
	}
	return fmt.Sprintf("\n[not searched: %d, the first is %s (%s)]", len(skipped), onOneLine(skipped[0].Path), skipped[0].Reason)
}

// planClaudeGrep has one request, for where the search begins.
func planClaudeGrep(ctx context.Context, ts *toolset, in *claudeGrepInput) ([]policy.Request, error) {
	return planGrep(ctx, ts, &grepInput{Pattern: in.Pattern, Path: in.Path})
}

// codeLines writes lines as grep does: those that match with colons, and others with
// hyphens. A line that is near two matches is written once.
type codeLines struct {
	out     strings.Builder // at most listBytes, or one line
	full    bool            // there was a line that out has no room for
	numbers bool
	path    string // of the line that was written last
	last    int    // its number
}

// put writes text, unless it or text before it does not fit.
func (w *codeLines) put(text string) {
	if w.full = w.full || w.out.Len() > 0 && w.out.Len()+len(text) > listBytes; !w.full {
		w.out.WriteString(text)
	}
}

// match writes a match as ripgrep prints it: ":" after the path and the number of a
// line that matches, "-" for context, and "--" between places that are not next to each
// other. Lines that an earlier match has printed are left out.
//
//	/a.go-2-	// before
//	/a.go:3:	find()
//	--
//	/a.go:9:	find()
func (w *codeLines) match(m workspace.Match, context bool) {
	first, separator := m.LineNumber-len(m.Before), ""
	if context && w.out.Len() > 0 && (m.Path != w.path || first > w.last+1) {
		separator = "--\n"
	}
	if m.Path != w.path {
		w.path, w.last = m.Path, 0
	}
	lines := slices.Concat(m.Before, strings.Split(m.Line, "\n"), m.After)
	end := max(m.LineNumber, m.LastLine)
	for i, line := range lines {
		n, mark := first+i, "-"
		if n <= w.last {
			continue
		}
		if n >= m.LineNumber && n <= end {
			mark = ":"
		}
		text := separator + onOneLine("/"+m.Path) + mark
		if w.numbers {
			text += strconv.Itoa(n) + mark
		}
		w.put(text + clip(strings.ToValidUTF8(strings.TrimSuffix(line, "\r"), "\uFFFD"), grepChars) + "\n")
		separator = ""
		w.last = n
	}
}

// claudeListInput are the parameters of LS.
type claudeListInput struct {
	Path   string   `json:"path" jsonschema:"the directory"`
	Ignore []string `json:"ignore,omitempty" jsonschema:"globs of names to leave out"`
}

// listExcept is list without the names that one of the globs matches. They are left out after
// the listing is cut, so that more is about the whole directory.
func (ts *toolset) listExcept(ctx context.Context, dir string, ignore []string) (children []workspace.FileInfo, more bool, err error) {
	globs, err := compileExcludes(ignore)
	if err != nil {
		return nil, false, err
	}
	children, more, err = ts.list(ctx, dir)
	return slices.DeleteFunc(children, func(c workspace.FileInfo) bool { return excluded(globs, c.Name) }), more, err
}
