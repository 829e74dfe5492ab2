package tools

import (
	"context"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/workspacekit/workspacekit/internal/charset"
	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/unified"
	"github.com/workspacekit/workspacekit/internal/wording"
	"github.com/workspacekit/workspacekit/tools/internal/edit"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// editFileInput are the parameters of edit_file. There is either one edit, in OldText
// and what follows it, or a list in Edits. Pointers tell a text that was left out from
// an empty one.
type editFileInput struct {
	Path          string      `json:"path" jsonschema:"the file; with replaceAll or regexp also a glob, like src/**/*.go"`
	OldText       *string     `json:"oldText,omitempty" jsonschema:"exactly as in the file; in one file, once unless replaceAll"`
	NewText       *string     `json:"newText,omitempty" jsonschema:"its replacement; empty deletes it"`
	ReplaceAll    bool        `json:"replaceAll,omitempty" jsonschema:"all occurrences"`
	ExpectedCount integer     `json:"expectedCount,omitempty" jsonschema:"above 0: replace all, if exactly this many"`
	InsertLine    integer     `json:"insertLine,omitempty" jsonschema:"insert newText before this line, without oldText; last + 1 appends"`
	Regexp        bool        `json:"regexp,omitempty" jsonschema:"oldText is RE2 (^ and $ at each line), newText has $1, ${name}"`
	Tolerant      bool        `json:"tolerant,omitempty" jsonschema:"if not found, ignore line ends, trailing blanks, Unicode quotes and dashes, indentation"`
	Edits         []textInput `json:"edits,omitempty" jsonschema:"several edits of the original, all or none"`
	DryRun        bool        `json:"dryRun,omitempty" jsonschema:"only show the diff"`
}

// textInput is one of several edits. Its members are those of editFileInput.
type textInput struct {
	OldText    string  `json:"oldText,omitempty"`
	NewText    string  `json:"newText"`
	ReplaceAll bool    `json:"replaceAll,omitempty"`
	InsertLine integer `json:"insertLine,omitempty"`
}

// editFileOutput is the result of edit_file. Files and Skipped are set only if the path
// was a glob.
type editFileOutput struct {
	OK               bool              `json:"ok" jsonschema:"always true"`
	Path             string            `json:"path" jsonschema:"the file, or the glob"`
	Replacements     int               `json:"replacements" jsonschema:"how many texts were replaced or inserted"`
	FirstChangedLine int               `json:"firstChangedLine,omitempty" jsonschema:"the first line that changed, from 1; absent for a glob, and if none did"`
	Files            []editedFile      `json:"files,omitempty" jsonschema:"for a glob: the files that were edited"`
	Skipped          []string          `json:"skipped,omitempty" jsonschema:"for a glob: the files that cannot be edited, and why"`
	Tolerated        string            `json:"tolerated,omitempty" jsonschema:"how the replaced text differs from oldText, if tolerant"`
	Diff             string            `json:"diff,omitempty" jsonschema:"a unified diff of at most {{.DiffKiB}} KiB"`
	DiffNote         string            `json:"diffNote,omitempty" jsonschema:"why the diff is missing or not whole"`
	Version          workspace.Version `json:"version,omitempty" jsonschema:"the version of the file now; absent if dryRun, and for a glob"`
	DryRun           bool              `json:"dryRun,omitempty" jsonschema:"whether nothing was written"`
}

// editFileSpec needs conditional writes and versions, so that a change that somebody else makes
// meanwhile is not lost.
var editFileSpec = spec{
	op: ops.EditFile, annotations: Annotations{Title: "Edit file", Destructive: true}, handler: define(runEditFiles, planEditFiles),
	needs: func(caps workspace.Capabilities) bool { return caps.Write && caps.ConditionalWrite && caps.Versions },
	shape: func(p properties, _ *toolset) {
		p["edits"].MinItems, p["edits"].MaxItems = jsonschema.Ptr(1), jsonschema.Ptr(editsMax)
		p.atLeast("insertLine", 1)
		p.atLeast("expectedCount", 0) // which means nothing: models fill in what they need not
	},
}

// runEditFile edits one file, whose name is not a glob. All edits are made, or none. The diff
// and the numbers are of the file as it was at the moment of the write, or of the dry run.
func runEditFile(ctx context.Context, ts *toolset, in *editFileInput) (*editFileOutput, error) {
	e, err := ts.newEditor(ctx, in)
	if err != nil {
		return nil, err
	}
	out := &editFileOutput{OK: true, Path: e.path, DryRun: in.DryRun}
	if out.Version, err = ts.edit(ctx, e, in.DryRun); err != nil {
		return nil, explainEdit(err, in.Edits != nil)
	}
	out.Replacements, out.FirstChangedLine, out.Tolerated = len(e.change.Spans()), e.change.FirstLine(), e.tolerated()
	out.Diff, out.DiffNote = e.diff()
	return out, nil
}

// edit makes the change that e plans as one conditional write, within what the session was
// shown. A dry run only plans it. Whoever changes the file at the same time loses nothing:
// the edits are then planned again, on the new content. Afterwards e has what was written.
//
// # Errors
//
// Those of [workspace.Workspace.Edit], of the session and of package edit, for [explainEdit].
// A dry run has no version, and needs no file that was read.
func (ts *toolset) edit(ctx context.Context, e *editor, dryRun bool) (workspace.Version, error) {
	if dryRun {
		return "", e.dryRun(ctx, ts.whole)
	}
	unlock, err := ts.lockFile(ctx, ops.EditFile, e.path)
	if err != nil {
		return "", err
	}
	defer unlock()
	e.check = func(old, text []byte, change *edit.Change) (err error) {
		e.shown, err = ts.checkEdit(ctx, e.path, old, text, change)
		return err
	}
	_, version, err := ts.whole.Edit(ctx, e.path, e.apply)
	if err == nil {
		ts.edited(ctx, version, e)
	}
	return version, err
}

// tolerated returns how what the edits match differs from their texts.
func (e *editor) tolerated() string {
	var parts []string
	for _, t := range e.change.Tolerated() {
		parts = append(parts, which(t.Edit, len(e.edits) > 1)+t.What)
	}
	return strings.Join(parts, "; ")
}

// newEditor returns the editor for the arguments.
func (ts *toolset) newEditor(ctx context.Context, in *editFileInput) (*editor, error) {
	edits, err := in.edits()
	if err != nil {
		return nil, err
	}
	path, err := ts.ws.Clean(ctx, ops.EditFile, in.Path)
	return &editor{path: path, limit: ts.whole.MaxFileSize(), edits: edits}, err
}

// planEditFile fails where the edit would: it has no diff then.
func planEditFile(ctx context.Context, ts *toolset, in *editFileInput) ([]policy.Request, error) {
	e, err := ts.newEditor(ctx, in)
	if err != nil {
		return nil, err
	}
	return ts.planEdit(ctx, e, in.DryRun, in.Edits != nil)
}

// planEdit returns what e would touch. several is for [explainEdit].
func (ts *toolset) planEdit(ctx context.Context, e *editor, dryRun, several bool) ([]policy.Request, error) {
	if err := e.dryRun(ctx, ts.whole); err != nil {
		return nil, explainEdit(err, several)
	}
	requests := []policy.Request{{Op: policy.OpRead, Path: e.path}}
	if !dryRun {
		change := policy.Request{Op: policy.OpEdit, Path: e.path}
		change.Diff, change.Note = e.diff()
		requests = append(requests, change)
	}
	return requests, nil
}

// edits returns the edits that the arguments ask for. Edits of a list have no counts. Those
// that insert lines match nothing, so regexp and tolerant are not for them. Package edit
// checks the rest.
func (in *editFileInput) edits() ([]edit.Edit, error) {
	if in.Edits == nil {
		return in.single()
	}
	given := func(text *string) bool { return text != nil && *text != "" } // models fill in what they need not
	if given(in.OldText) || given(in.NewText) || in.ReplaceAll || in.ExpectedCount != 0 || in.InsertLine != 0 {
		return nil, &argumentError{message: `parameter "edits" cannot be given together with those of a single edit`,
			hint: "Give either edits, or one oldText and newText. Of the others, regexp, tolerant and dryRun apply to all edits."}
	}
	edits := make([]edit.Edit, len(in.Edits))
	for i, e := range in.Edits {
		edits[i] = edit.Edit{Old: e.OldText, New: e.NewText, All: e.ReplaceAll, Line: int(e.InsertLine)}
		if e.InsertLine == 0 {
			edits[i].Regexp, edits[i].Tolerant = in.Regexp, in.Tolerant
		}
	}
	return edits, nil
}

// single returns the edit that stands outside of the list.
func (in *editFileInput) single() ([]edit.Edit, error) {
	switch {
	case in.OldText == nil && in.InsertLine == 0:
		return nil, &argumentError{message: `missing required parameter "oldText" (string)`,
			hint: "Give oldText and newText, or a list of them in edits."}
	case in.NewText == nil:
		return nil, &argumentError{message: `missing required parameter "newText" (string)`,
			hint: `Give the text to put in the place of oldText; "" removes it.`}
	}
	e := edit.Edit{New: *in.NewText, All: in.ReplaceAll, Count: int(in.ExpectedCount), Line: int(in.InsertLine), Regexp: in.Regexp, Tolerant: in.Tolerant}
	if in.OldText != nil {
		e.Old = *in.OldText
	}
	return []edit.Edit{e}, nil
}

// editor applies edits to what a file holds, as often as it is asked.
//
// An edit runs through it like this:
//
//	Workspace.Edit    reads the file, and calls apply with its bytes
//	apply             check: was the file shown as it is?
//	plan              decodes, computes the change, encodes, compares with limit
//	apply             check: were the lines shown that change?
//	Workspace.Edit    writes if the version is still the same, or begins again
//
// So all fields below check are of the last attempt. An editor is for one call.
type editor struct {
	path   string
	limit  int64
	edits  []edit.Edit
	by     func(text []byte) (*edit.Change, error)           // plans the change instead of edits; nil for edits
	check  func(old, text []byte, change *edit.Change) error // says whether old, which holds text, may be changed so; see [toolset.checkEdit]
	shown  *shownFile                                        // what check has found that the session knows; nil if nobody minds
	text   []byte                                            // what change was planned on
	change *edit.Change                                      // the last one planned
	result []byte                                            // what it makes of text
	now    []byte                                            // the same as bytes of the file
}

// apply is what [workspace.Workspace.Edit] calls. It has no effect but on e, so that it can
// be called again.
func (e *editor) apply(old []byte) ([]byte, error) {
	if err := e.check(old, nil, nil); err != nil {
		return nil, err
	}
	if err := e.plan(old); err != nil {
		return nil, err
	}
	return e.now, e.check(old, e.text, e.change)
}

// plan edits the text that old holds. The bytes of what it does not replace stay,
// because [charset.Decode] refuses what would not come back: that is edited as bytes.
//
// The size is estimated before the result is made, as a replacement in many places can make a
// small file larger than memory. Bytes that are no text are never edited if they have a NUL;
// others are edited as they are, and get ASCII alone.
//
// # Errors
//
// [workspace.ErrBinary], [workspace.ErrTooLarge], a [*charset.CharacterError], and those of
// package edit, all as a *fs.PathError.
func (e *editor) plan(old []byte) error {
	text, enc, ok := charset.Decode(old)
	switch {
	case !ok && charset.HasNUL(old):
		return ops.Error(ops.EditFile, e.path, workspace.ErrBinary, nil)
	case !ok:
		text, enc = old, charset.UTF8
	}
	change, err := e.changeOf(text)
	if err != nil {
		return ops.Error(ops.EditFile, e.path, err, nil)
	}
	if !ok {
		if err := onlyASCII(text, change.Spans()); err != nil {
			return ops.Error(ops.EditFile, e.path, err, nil)
		}
	}
	least := change.Size()
	if enc != charset.UTF8 {
		least /= 3 // no character takes more than three times as much as UTF-8
	}
	if err := ops.CheckSize(ops.EditFile, e.path, least, e.limit); err != nil {
		return err
	}
	result := change.Bytes()
	if e.now, err = enc.Encode(result); err != nil {
		return ops.Error(ops.EditFile, e.path, err, nil)
	}
	e.text, e.change, e.result = text, change, result
	return ops.CheckSize(ops.EditFile, e.path, int64(len(e.now)), e.limit)
}

// onlyASCII returns a [*charset.CharacterError] if spans add other characters than ASCII to
// text, whose encoding is not known. Those of the text that a span replaces are not new: the
// groups of a regular expression bring them back.
func onlyASCII(text []byte, spans []edit.Span) error {
	for _, s := range spans {
		kept := map[rune]bool{}
		for _, r := range string(text[s.Start:s.End]) {
			kept[r] = r != utf8.RuneError
		}
		for i, r := range s.New {
			if r > unicode.MaxASCII && !kept[r] && strings.HasPrefix(s.New[i:], string(r)) { // and no other byte
				return &charset.CharacterError{Character: r}
			}
		}
	}
	return nil
}

// changeOf computes the change of a text. Dialects with edits of another kind set by.
func (e *editor) changeOf(text []byte) (*edit.Change, error) {
	if e.by != nil {
		return e.by(text)
	}
	return edit.New(text, e.edits)
}

// dryRun computes the change of the file as it is now, and writes nothing. It asks no
// session, as it replaces nothing.
func (e *editor) dryRun(ctx context.Context, ws *workspace.Workspace) error {
	old, _, err := ws.ReadVersioned(ctx, e.path, 0)
	if err != nil {
		return ops.Rename(err, ops.EditFile, e.path)
	}
	return e.plan(old)
}

// diff returns the change as a unified diff, and what is left out of it. Only the part of the
// text that a diff may be made of is compared. A plan must have succeeded.
func (e *editor) diff() (diff, note string) {
	before, after, whole := e.change.Head(unified.MaxSource)
	diff, note = unified.Diff(e.path, e.text[:before], e.result[:after])
	switch {
	case diff == "" && !whole:
		return "", "no diff: the changed part is too large"
	case note == "" && !whole:
		return diff, "the diff shows the first replacements only"
	}
	return diff, note
}

func (o *editFileOutput) text() string {
	var out strings.Builder
	if o.DryRun {
		out.WriteString("Dry run, nothing written: would edit ")
	} else {
		out.WriteString("Edited ")
	}
	if len(o.Files) > 0 {
		out.WriteString(wording.Count(len(o.Files), "file", "files"))
	} else {
		out.WriteString(onOneLine(o.Path))
	}
	fmt.Fprintf(&out, " (%s%s).", wording.Count(o.Replacements, "replacement", "replacements"), versionNote(o.Version))
	if o.Tolerated != "" {
		fmt.Fprintf(&out, " It matched but for %s.", o.Tolerated)
	}
	if len(o.Skipped) > 0 {
		fmt.Fprintf(&out, " Left out: %s.", strings.Join(eachOnOneLine("", o.Skipped), ", "))
	}
	diff := diffText(o.Diff, o.DiffNote)
	if len(o.Files) > 0 {
		note, lines, _ := strings.Cut(diff, "\n")
		out.WriteString(note)
		for _, f := range o.Files {
			fmt.Fprintf(&out, "\n%s: %d", onOneLine(f.Path), f.Replacements)
		}
		diff = strings.TrimSuffix("\n"+lines, "\n")
	}
	out.WriteString(diff)
	return out.String()
}
