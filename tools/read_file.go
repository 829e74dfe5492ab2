package tools

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/workspacekit/workspacekit/internal/ops"
	sessionid "github.com/workspacekit/workspacekit/internal/session"
	"github.com/workspacekit/workspacekit/internal/wording"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// readFileInput are the parameters of read_file. Line and Limit, Tail, or Line and
// Column choose a part of the file.
type readFileInput struct {
	Path          string            `json:"path" jsonschema:"from the root: src/main.go"`
	Line          integer           `json:"line,omitempty" jsonschema:"the first line, from 1"`
	Limit         integer           `json:"limit,omitempty" jsonschema:"how many lines; with column, characters"`
	Tail          integer           `json:"tail,omitempty" jsonschema:"return the last N lines"`
	Column        integer           `json:"column,omitempty" jsonschema:"start at this character of the line"`
	LineNumbers   bool              `json:"lineNumbers,omitempty" jsonschema:"number the lines"`
	UnlessVersion workspace.Version `json:"unlessVersion,omitempty" jsonschema:"leave out the text if the file has this version"`
	Encoding      string            `json:"encoding,omitempty" jsonschema:"base64: return the bytes, up to {{.Base64KiB}} KiB"`
}

// readFileOutput is the result of read_file. Lines are counted from 1. Text is empty
// for a binary file, whose bytes are in Base64 if they were asked for.
type readFileOutput struct {
	Path       string            `json:"path" jsonschema:"the file"`
	Text       string            `json:"text" jsonschema:"the lines, as UTF-8, with their line ends; with lineNumbers each begins with its number and a tab; empty if binary, unchanged or base64"`
	StartLine  int               `json:"startLine" jsonschema:"the first line of text, from 1; 0 if empty"`
	EndLine    int               `json:"endLine" jsonschema:"the last line of text; 0 if empty"`
	TotalLines int               `json:"totalLines" jsonschema:"how many lines the file has; 0 if binary, unchanged or base64"`
	NextLine   int               `json:"nextLine,omitempty" jsonschema:"the line to continue at; absent at the end, or if column was given"`
	Column     int               `json:"column,omitempty" jsonschema:"the character that text begins with, if column was given"`
	Columns    int               `json:"columns,omitempty" jsonschema:"how many characters the line has, if column was given"`
	NextColumn int               `json:"nextColumn,omitempty" jsonschema:"the column to continue at; absent at the end"`
	Unchanged  bool              `json:"unchanged,omitempty" jsonschema:"whether the file still has the version of unlessVersion"`
	Truncated  bool              `json:"truncated" jsonschema:"whether lines after endLine (without column), lines of the tail or ends of lines are left out"`
	CutLines   []int             `json:"cutLines,omitempty" jsonschema:"lines longer than {{.LineChars}} characters, which are cut"`
	Version    workspace.Version `json:"version,omitempty" jsonschema:"the version of the whole file"`
	Size       int               `json:"size" jsonschema:"the size of the file in bytes"`
	storage
	Binary   bool   `json:"binary,omitempty" jsonschema:"whether the file is not text"`
	MIMEType string `json:"mimeType,omitempty" jsonschema:"the type of a binary file"`
	Base64   string `json:"base64,omitempty" jsonschema:"the whole file, if encoding is base64"`
	Hint     string `json:"hint,omitempty" jsonschema:"what to do with a file that is not text"`

	picture *Part
}

var readFileSpec = spec{
	op: ops.ReadFile, annotations: Annotations{Title: "Read file", ReadOnly: true, Idempotent: true}, handler: define(runReadFile, planReadFile),
	shape: func(p properties, _ *toolset) {
		// No parameter has a default in the schema, as a client that fills
		// defaults in would then contradict tail.
		p.atLeast("line", 1)
		p.between("limit", 1, readLines)
		p.between("tail", 1, readLines)
		p.atLeast("column", 1)
		p.oneOf("encoding", "utf-8", "base64")
	},
}

// runReadFile reads a part of a file, or describes one that is not text. A name in /tmp can
// be one of the session's scratch space, which comes before the workspace: there a command or
// a script has left a long output. Only lines that are in the result count as read.
func runReadFile(ctx context.Context, ts *toolset, in *readFileInput) (*readFileOutput, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	if file := ts.scratchFile(ctx, in.Path); file != nil {
		if in.Encoding == "base64" {
			return encodeFile(ctx, ts, in.Path, file)
		}
		return ts.show(ctx, in.Path, file, in, readBytes, partBytes)
	}
	path, err := ts.ws.Clean(ctx, ops.ReadFile, in.Path)
	if err != nil {
		return nil, err
	}
	if in.UnlessVersion != "" {
		if info, still := ts.still(ctx, path, in.UnlessVersion); still {
			return &readFileOutput{Path: path, Version: info.Version, Size: int(info.Size), Unchanged: true}, nil
		}
	}
	if in.Encoding == "base64" {
		return encodeFile(ctx, ts, path, nil)
	}
	file, err := ts.read(ctx, path)
	if err != nil {
		return nil, err
	}
	return ts.show(ctx, path, file, in, readBytes, partBytes)
}

// hasScratch reports whether something can put files in the scratch space of a session.
func (ts *toolset) hasScratch() bool { return ts.bash != nil || ts.has(ops.Run) }

// scratchFile returns a file of the scratch space of the session, nil if there is none. Any
// error means that the name is one of the workspace. The file has no version.
func (ts *toolset) scratchFile(ctx context.Context, name string) *content {
	if !ts.hasScratch() || !strings.HasPrefix(name, "/tmp/") && !strings.HasPrefix(name, "/dev/shm/") {
		return nil
	}
	space, err := ts.scratch(ctx)
	if err != nil {
		return nil
	}
	data, err := space.ReadScratch(sessionid.WithWorkspace(ctx, ts.ws.Name()), name)
	if err != nil {
		return nil
	}
	return newContent(data, "")
}

// show returns what in asks for of a file, at most so many bytes of text, or a part of
// at most room bytes. The session has then been shown it.
func (ts *toolset) show(ctx context.Context, path string, file *content, in *readFileInput, most, room int) (*readFileOutput, error) {
	out := &readFileOutput{Path: path, Version: file.version, Size: len(file.stored)}
	if !file.text {
		out.describe(file.stored, room)
		ts.saw(ctx, path, file.version, file.stored, 0, 0, 0)
		return out, nil
	}
	if err := out.show(file, in, most); err != nil {
		return nil, err
	}
	ts.saw(ctx, path, file.version, file.stored, out.StartLine, out.EndLine, out.TotalLines)
	return out, nil
}

// planReadFile has one request, whatever part is read.
func planReadFile(ctx context.Context, ts *toolset, in *readFileInput) ([]policy.Request, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	return ts.touches(ctx, ops.ReadFile, policy.OpRead, in.Path)
}

// check refuses parameters that contradict each other, which a schema cannot say.
func (in *readFileInput) check() error {
	switch {
	case in.Tail > 0 && (in.Line > 0 || in.Limit > 0):
		return &argumentError{message: `parameter "tail" cannot be given together with "line" or "limit"`,
			hint: "Give tail alone for the end of the file, or line and limit for a part of it."}
	case in.Column > 0 && (in.Tail > 0 || in.LineNumbers):
		return &argumentError{message: `parameter "column" cannot be given together with "tail" or "lineNumbers"`,
			hint: "Give line and column for a part of one line."}
	case in.Encoding == "base64" && (in.Tail > 0 || in.Line > 0 || in.Limit > 0 || in.Column > 0 || in.LineNumbers):
		return &argumentError{message: `parameters "line", "limit", "tail", "column" and "lineNumbers" are for text, and "encoding" is "base64"`,
			hint: "Leave them out: base64 returns the whole file."}
	}
	return nil
}

// encodeFile returns the bytes of a file as base64. There are no pages, so the file must be
// small. All its bytes then count as read. kept is one of the scratch space, nil for a file of
// the workspace.
func encodeFile(ctx context.Context, ts *toolset, path string, kept *content) (*readFileOutput, error) {
	var data []byte
	var version workspace.Version
	var err error
	if kept != nil {
		data, err = kept.stored, ops.CheckSize(ops.ReadFile, path, int64(len(kept.stored)), base64Bytes)
	} else {
		data, version, err = ts.ws.ReadVersioned(ctx, path, base64Bytes)
	}
	if errors.Is(err, workspace.ErrTooLarge) {
		if info, statErr := ts.ws.Stat(ctx, path); statErr == nil {
			if err := ops.CheckSize(ops.ReadFile, path, info.Size, ts.whole.MaxFileSize()); err != nil { // leaving encoding out would not help
				return nil, err
			}
			return nil, &hintedError{err, "Only smaller files are returned as base64. Leave encoding out to read a larger text, or an image or a PDF up to " + ts.partSize() + "."}
		}
	}
	if err != nil {
		return nil, err
	}
	out := &readFileOutput{Path: path, Version: version, Size: len(data), Base64: base64.StdEncoding.EncodeToString(data)}
	if !newContent(data, version).text {
		out.Binary, out.MIMEType = true, mimeType(data)
	}
	ts.wrote(ctx, path, version, data)
	return out, nil
}

// describe says what a file is that is not text, and takes a picture or a document along.
// room is how many bytes other files of the same call have left. data becomes part of the
// result.
func (o *readFileOutput) describe(data []byte, room int) {
	o.Binary, o.MIMEType = true, mimeType(data)
	why := unfit(o.MIMEType, data)
	switch {
	case why != "":
		o.Hint = why
	case isPart(o.MIMEType) && len(data) <= room:
		o.picture = &Part{Path: o.Path, MIMEType: o.MIMEType, Data: data}
	case isPart(o.MIMEType) && len(data) <= partBytes:
		o.Hint = "It can be read by itself."
	case len(data) <= base64Bytes:
		o.Hint = `The file is not text. Its bytes can be read with encoding "base64".`
	case isPart(o.MIMEType):
		o.Hint = "Images and documents are returned up to " + byteSize(partBytes) + "."
	default:
		o.Hint = "The file is not text, and too large to be returned as base64."
	}
}

// show puts the lines that in asks for into the result.
//
// # Errors
//
// An [*argumentError] for a line or a column after the last. Line 1 of an empty file and
// column 1 of an empty line exist.
func (o *readFileOutput) show(file *content, in *readFileInput, most int) error {
	var w window
	switch {
	case in.Tail > 0:
		w = file.tail(int(in.Tail), most, in.LineNumbers)
	case in.Column > 0:
		w = file.part(max(int(in.Line), 1), int(in.Column), int(cmp.Or(in.Limit, columnChars)))
	default:
		w = file.headWithin(max(int(in.Line), 1), int(cmp.Or(in.Limit, readLines)), most, in.LineNumbers)
	}
	if w.start > max(file.lines, 1) {
		hint := fmt.Sprintf("Give a line from 1 to %d, or tail for the last lines.", file.lines)
		switch file.lines {
		case 0:
			hint = "The file is empty: there is nothing to read."
		case 1:
			hint = "Give line 1."
		}
		return &argumentError{message: fmt.Sprintf(`parameter "line" is %d, and %s has %s`, in.Line, onOneLine(o.Path), wording.Count(file.lines, "line", "lines")), hint: hint}
	}
	if in.Column > 0 && in.Column > 1 && int(in.Column) > w.columns {
		return &argumentError{message: fmt.Sprintf(`parameter "column" is %d, and line %d has %s`, in.Column, w.start, wording.Count(w.columns, "character", "characters")),
			hint: fmt.Sprintf("Give a column from 1 to %d.", max(w.columns, 1))}
	}
	o.Text, o.TotalLines, o.CutLines = w.text, file.lines, w.cut
	o.storage = newStorage(file.data, file.enc, file.ends)
	if file.lines > 0 {
		o.StartLine, o.EndLine = w.start, w.end
	}
	if in.Column > 0 {
		o.Column, o.Columns, o.NextColumn = int(in.Column), w.columns, w.next
	} else if w.end < file.lines {
		o.NextLine = w.end + 1
	}
	o.Truncated = o.NextLine > 0 || o.NextColumn > 0 || w.short || len(w.cut) > 0
	return nil
}

// tail shows the last limit lines, fewer if they are too many bytes: then it is
// the first of them that are left out.
//
// It goes backwards from the end to find where to begin, which needs no count of the lines
// before, and leaves the rest to headWithin. A line is measured as it will be shown: cut, and
// with its number.
func (c *content) tail(limit, most int, numbered bool) window {
	size, lines := 0, 0
	for rest := c.data; len(rest) > 0 && lines < limit; lines++ {
		at := bytes.LastIndexByte(rest[:len(rest)-1], '\n') + 1
		shown := len(rest) - at
		if shown > lineChars {
			clipped, _ := clipLine(string(rest[at:]), lineChars)
			shown = len(clipped)
		}
		if size += shown + len(lineNumber(c.lines-lines, numbered)); size > most {
			break
		}
		rest = rest[:at]
	}
	w := c.headWithin(c.lines-lines+1, lines, most, numbered)
	w.short = lines < min(limit, c.lines)
	return w
}

// parts returns the picture, if the file is one.
func (o *readFileOutput) parts() []Part {
	if o.picture == nil {
		return nil
	}
	return []Part{*o.picture}
}

// text is the lines as they are, between a line that says which they are and
// one that says how to continue.
//
//	[a.txt: lines 2-3 of 9, version 3f2a]
//	two
//	three
//	[more: go on with line=4]
func (o *readFileOutput) text() string {
	switch {
	case o.Unchanged:
		return strings.TrimSpace(o.header("unchanged"))
	case o.Base64 != "":
		return o.header(wording.Count(o.Size, "byte", "bytes")+" as base64") + o.Base64
	case o.picture != nil:
		return strings.TrimSpace(o.header(o.MIMEType + ", " + wording.Count(o.Size, "byte", "bytes")))
	case o.Binary:
		return o.header(o.MIMEType+", "+wording.Count(o.Size, "byte", "bytes")) + o.Hint
	case o.TotalLines == 0:
		return strings.TrimSpace(o.header("empty file"))
	}
	return o.lines() + o.Text + o.footer()
}

// lines is the header of a text. Its length is where the text begins, for excerpt.
func (o *readFileOutput) lines() string {
	what := fmt.Sprintf("lines %d-%d of %d", o.StartLine, o.EndLine, o.TotalLines)
	switch {
	case o.none():
		what = fmt.Sprintf("no room for lines %d-%d", o.StartLine, o.TotalLines)
	case o.Column > 0:
		last := max(o.Columns, 1)
		if o.NextColumn > 0 {
			last = o.NextColumn - 1
		}
		what = fmt.Sprintf("line %d of %d, columns %d-%d of %d", o.StartLine, o.TotalLines, o.Column, last, o.Columns)
	}
	return o.header(strings.Join(append([]string{what}, o.words()...), ", "))
}

// excerpt returns the lines that were read. In JSON they are between the members
// before and after them, whose quotes cannot be within a string, where a quote
// has a backslash before it:
//
//	{"path":"a.txt","text":"one \"two\"\n","startLine":1,
//	                       ^^^^^^^^^^^^^^^
func (o *readFileOutput) excerpt(structured []byte) excerpt {
	_, after, found := bytes.Cut(structured, []byte(`,"text":"`))
	end := bytes.LastIndex(after, []byte(`","startLine":`))
	if o.Text == "" || !found || end < 0 {
		return excerpt{}
	}
	start := len(o.lines())
	return excerpt{start: start, end: start + len(o.Text), encoded: after[:end]}
}

// header returns the first line of the text, which names the file and the version to
// write with.
func (o *readFileOutput) header(what string) string {
	if o.Version != "" {
		what += ", version " + string(o.Version)
	}
	return "[" + onOneLine(o.Path) + ": " + what + "]\n"
}

// none reports whether no line is shown, as even the first is too long.
func (o *readFileOutput) none() bool { return o.EndLine < o.StartLine }

// footer is one line of notes, if there are any. A last line without a line end gets one
// here, and a note, so that the note is not taken as a part of the file.
func (o *readFileOutput) footer() string {
	var notes []string
	lead := ""
	if o.NextColumn > 0 {
		return fmt.Sprintf("\n[more: go on with line=%d column=%d]", o.StartLine, o.NextColumn)
	}
	if !strings.HasSuffix(o.Text, "\n") && !o.none() {
		lead = "\n"
		notes = append(notes, "[no line end at the end of the file]")
	}
	switch n := len(o.CutLines); n {
	case 0:
	case 1:
		notes = append(notes, fmt.Sprintf("[line %d is cut: go on with line=%d column=%d]", o.CutLines[0], o.CutLines[0], lineChars+1))
	default:
		notes = append(notes, fmt.Sprintf("[%d lines are cut: go on with line=%d column=%d]", n, o.CutLines[0], lineChars+1))
	}
	if o.NextLine > 0 {
		notes = append(notes, fmt.Sprintf("[more: go on with line=%d]", o.NextLine))
	}
	return lead + strings.Join(notes, " ")
}
