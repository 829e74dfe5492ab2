package tools

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/unified"
	"github.com/workspacekit/workspacekit/internal/wording"
	"github.com/workspacekit/workspacekit/tools/internal/charset"
	"github.com/workspacekit/workspacekit/tools/internal/edit"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

type editFileInput struct {
	Path       string      `json:"path" jsonschema:"the file, from the root of the workspace"`
	OldText    *string     `json:"oldText,omitempty" jsonschema:"the text to replace, exactly as in the file with its indentation; it must occur exactly once unless replaceAll"`
	NewText    *string     `json:"newText,omitempty" jsonschema:"the text to put in its place; empty removes oldText"`
	ReplaceAll bool        `json:"replaceAll,omitempty" jsonschema:"replace every occurrence of oldText"`
	Edits      []textInput `json:"edits,omitempty" jsonschema:"several replacements instead of oldText and newText; each is matched against the file as it is before the call, they must not overlap, and all are made or none"`
	DryRun     bool        `json:"dryRun,omitempty" jsonschema:"return the diff and write nothing"`
}

type textInput struct {
	OldText    string `json:"oldText" jsonschema:"the text to replace"`
	NewText    string `json:"newText" jsonschema:"the text to put in its place; empty removes oldText"`
	ReplaceAll bool   `json:"replaceAll,omitempty" jsonschema:"replace every occurrence of oldText"`
}

type editFileOutput struct {
	OK               bool              `json:"ok" jsonschema:"always true"`
	Path             string            `json:"path" jsonschema:"the file"`
	Replacements     int               `json:"replacements" jsonschema:"how many texts were replaced"`
	FirstChangedLine int               `json:"firstChangedLine" jsonschema:"the first line that is not as it was, counted from 1"`
	Diff             string            `json:"diff,omitempty" jsonschema:"what changed, as a unified diff of at most {{.DiffKiB}} KiB"`
	DiffNote         string            `json:"diffNote,omitempty" jsonschema:"why the diff is missing or not whole"`
	Version          workspace.Version `json:"version,omitempty" jsonschema:"the version of the file now; absent if dryRun"`
	DryRun           bool              `json:"dryRun,omitempty" jsonschema:"whether nothing was written"`
}

var editFileSpec = spec{
	op: ops.EditFile, annotations: Annotations{Title: "Edit file", Destructive: true}, handler: define(runEditFile, planEditFile),
	needs: func(caps workspace.Capabilities) bool { return caps.Write && caps.ConditionalWrite },
	shape: func(p properties, _ workspace.Capabilities) {
		p["edits"].MinItems, p["edits"].MaxItems = jsonschema.Ptr(1), jsonschema.Ptr(editsMax)
		p.byDefault("replaceAll", false)
		p.byDefault("dryRun", false)
		properties(p["edits"].Items.Properties).byDefault("replaceAll", false)
	},
}

func runEditFile(ctx context.Context, ts *toolset, in *editFileInput) (*editFileOutput, error) {
	e, err := ts.newEditor(in)
	if err != nil {
		return nil, err
	}
	out := &editFileOutput{OK: true, Path: e.path, DryRun: in.DryRun}
	if out.Version, err = ts.edit(ctx, e, in.DryRun); err != nil {
		return nil, explainEdit(err, in.Edits != nil)
	}
	out.Replacements, out.FirstChangedLine = len(e.change.Spans()), e.change.FirstLine()
	out.Diff, out.DiffNote = e.diff()
	return out, nil
}

// edit makes the change that e plans as one conditional write, within what the session
// was shown. A dry run only plans it.
func (ts *toolset) edit(ctx context.Context, e *editor, dryRun bool) (workspace.Version, error) {
	if dryRun {
		return "", e.dryRun(ctx, ts.whole)
	}
	e.check = func(old, text []byte, change *edit.Change) error { return ts.checkEdit(ctx, e.path, old, text, change) }
	_, version, err := ts.whole.Edit(ctx, e.path, e.apply)
	if err == nil {
		ts.edited(ctx, e.path, version, e.text, e.now, e.change)
	}
	return version, err
}

// newEditor returns the editor for the arguments.
func (ts *toolset) newEditor(in *editFileInput) (*editor, error) {
	edits, err := in.edits()
	if err != nil {
		return nil, err
	}
	path, err := ts.ws.Clean(ops.EditFile, in.Path)
	return &editor{path: path, limit: ts.whole.MaxFileSize(), edits: edits}, err
}

// planEditFile fails where the edit would: it has no diff then.
func planEditFile(ctx context.Context, ts *toolset, in *editFileInput) ([]policy.Request, error) {
	e, err := ts.newEditor(in)
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

// edits returns the replacements that the arguments ask for.
func (in *editFileInput) edits() ([]edit.Edit, error) {
	if in.Edits == nil {
		return in.single()
	}
	if in.OldText != nil || in.NewText != nil || in.ReplaceAll {
		return nil, &argumentError{message: `parameter "edits" cannot be given together with "oldText", "newText" or "replaceAll"`,
			hint: "Give either edits or one oldText and newText."}
	}
	edits := make([]edit.Edit, len(in.Edits))
	for i, e := range in.Edits {
		edits[i] = edit.Edit{Old: e.OldText, New: e.NewText, All: e.ReplaceAll}
	}
	return edits, nil
}

func (in *editFileInput) single() ([]edit.Edit, error) {
	switch {
	case in.OldText == nil:
		return nil, &argumentError{message: `missing required parameter "oldText" (string)`,
			hint: "Give oldText and newText, or a list of them in edits."}
	case in.NewText == nil:
		return nil, &argumentError{message: `missing required parameter "newText" (string)`,
			hint: `Give the text to put in the place of oldText; "" removes it.`}
	}
	return []edit.Edit{{Old: *in.OldText, New: *in.NewText, All: in.ReplaceAll}}, nil
}

// editor applies edits to what a file holds, as often as it is asked.
type editor struct {
	path   string
	limit  int64
	edits  []edit.Edit
	by     func(text []byte) (*edit.Change, error)           // plans the change instead of edits; nil for edits
	check  func(old, text []byte, change *edit.Change) error // says whether old, which holds text, may be changed so; see [toolset.checkEdit]
	text   []byte                                            // what change was planned on
	change *edit.Change                                      // the last one planned
	now    []byte                                            // what it makes of the file
}

// apply is what [workspace.Workspace.Edit] calls.
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
	least := change.Size()
	if enc != charset.UTF8 {
		least /= 3 // no character takes more than three times as much as UTF-8
	}
	if err := ops.CheckSize(ops.EditFile, e.path, least, e.limit); err != nil {
		return err
	}
	if e.now, err = enc.Encode(change.Bytes()); err != nil {
		return ops.Error(ops.EditFile, e.path, err, nil)
	}
	e.text, e.change = text, change
	return ops.CheckSize(ops.EditFile, e.path, int64(len(e.now)), e.limit)
}

func (e *editor) changeOf(text []byte) (*edit.Change, error) {
	if e.by != nil {
		return e.by(text)
	}
	return edit.New(text, e.edits)
}

func (e *editor) dryRun(ctx context.Context, ws *workspace.Workspace) error {
	old, _, err := ws.ReadVersioned(ctx, e.path, 0)
	if err != nil {
		return ops.Rename(err, ops.EditFile, e.path)
	}
	return e.plan(old)
}

func (e *editor) diff() (diff, note string) {
	before, after, whole := e.change.Head(unified.MaxSource)
	diff, note = unified.Diff(e.path, before, after)
	switch {
	case diff == "" && !whole:
		return "", "no diff: the changed part is too large"
	case note == "" && !whole:
		return diff, "the diff shows the first replacements only"
	}
	return diff, note
}

func (o *editFileOutput) text() string {
	verb := "Edited "
	if o.DryRun {
		verb = "Dry run, nothing written: would edit "
	}
	return fmt.Sprintf("%s%s (%s, first changed line %d%s).%s", verb, o.Path, wording.Count(o.Replacements, "replacement", "replacements"),
		o.FirstChangedLine, versionNote(o.Version), diffText(o.Diff, o.DiffNote))
}

// explainEdit adds to an error of the edit engine what the model can do about
// it. several says that the edits came as a list, so that one is named by its
// place.
func explainEdit(err error, several bool) error {
	if err := explainCharacter(err); err != nil {
		return err
	}
	var invalid *edit.InvalidError
	var overlap *edit.OverlapError
	var tooMany *edit.TooManyError
	var notFound *edit.NotFoundError
	var notUnique *edit.NotUniqueError
	switch {
	case errors.As(err, &invalid):
		return &argumentError{message: which(invalid.Edit, several) + invalid.Reason, hint: invalidHint}
	case errors.As(err, &overlap):
		return &argumentError{message: overlap.Error(), hint: "Join edits that touch the same text into one. Nothing was written."}
	case errors.As(err, &tooMany):
		return &argumentError{message: which(tooMany.Edit, several) + tooMany.Error(), hint: "Give a longer oldText that occurs less often."}
	case errors.As(err, &notFound):
		return &hintedError{err, which(notFound.Edit, several) + notFoundHint(notFound.Nearest)}
	case errors.As(err, &notUnique):
		return &hintedError{err, which(notUnique.Edit, several) +
			"Add lines around oldText until it occurs once, or set replaceAll. Nothing was written."}
	}
	return err
}

const invalidHint = `oldText is the text that is in the file, and newText the one to put in its place; newText may be "".`

func which(i int, several bool) string {
	if !several {
		return ""
	}
	return fmt.Sprintf("edits[%d]: ", i)
}

func notFoundHint(near *edit.Nearest) string {
	const again = "Read the file again and copy the text as it is. Nothing was written."
	if near == nil {
		return "Nothing in the file is like oldText. " + again
	}
	differs := ""
	if near.Differs != "" {
		differs = ", which differs in " + near.Differs
	}
	return fmt.Sprintf("The nearest text is on line %d%s:\n%s\nCopy the text as it is in the file. Nothing was written.", near.Line, differs, near.Text)
}
