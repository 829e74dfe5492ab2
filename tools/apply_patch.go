package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"github.com/workspacekit/workspacekit/internal/charset"
	"github.com/workspacekit/workspacekit/internal/lazyregexp"
	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/unified"
	"github.com/workspacekit/workspacekit/internal/wording"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/patch"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// applyPatchInput are the parameters of apply_patch.
type applyPatchInput struct {
	Patch  string `json:"patch" jsonschema:"the patch; names are from the root of the workspace"`
	DryRun bool   `json:"dryRun,omitempty" jsonschema:"write nothing"`
}

// applyPatchOutput is its result: the files in the order of the patch.
type applyPatchOutput struct {
	OK     bool          `json:"ok" jsonschema:"always true"`
	Files  []patchedFile `json:"files" jsonschema:"what changes, in the order of the patch"`
	More   int           `json:"moreFiles,omitempty" jsonschema:"how many more files change"`
	DryRun bool          `json:"dryRun,omitempty" jsonschema:"whether nothing was written"`
}

// patchedFile is one file of a patch. Added and Removed count lines. Version is the one
// that the file has afterwards, empty for a deleted file and in a dry run.
type patchedFile struct {
	Kind    patch.Kind        `json:"kind" jsonschema:"A for added, M modified, D deleted, R renamed, C copied"`
	Path    string            `json:"path" jsonschema:"the file"`
	From    string            `json:"from,omitempty" jsonschema:"the name that a renamed or copied file had"`
	Added   int               `json:"added" jsonschema:"lines that are new"`
	Removed int               `json:"removed" jsonschema:"lines that are removed"`
	Version workspace.Version `json:"version,omitempty" jsonschema:"the version of the file now; absent if it is deleted or dryRun"`
	Notes   []string          `json:"notes,omitempty" jsonschema:"what is worth knowing"`
}

// applyPatchSpec needs conditional writes and versions, so that a file that somebody else
// changes meanwhile is not overwritten.
var applyPatchSpec = spec{
	op: ops.ApplyPatch, annotations: Annotations{Title: "Apply patch", Destructive: true}, handler: define(runApplyPatch, planApplyPatch),
	needs: editFileSpec.needs,
	shape: func(p properties, _ *toolset) { p.byDefault("dryRun", false) },
}

// runApplyPatch plans first: a patch that does not fit anywhere, or that a session may not
// make, writes nothing. All changes take place in one transaction, or none. In the result of
// a dry run, files have no versions.
func runApplyPatch(ctx context.Context, ts *toolset, in *applyPatchInput) (*applyPatchOutput, error) {
	plan, err := ts.planPatch(ctx, in.Patch)
	if err != nil {
		return nil, cmp.Or(ts.checkMismatches(ctx, err), err)
	}
	changes := plan.Changes()
	if err := ts.checkPatch(ctx, changes); err != nil {
		return nil, err
	}
	if !in.DryRun {
		changes, err = plan.Apply(ctx)
		switch {
		case errors.Is(err, syscall.EXDEV):
			return nil, &hintedError{err, "The old and the new name are on two file systems. Copy the file, patch the copy, and then delete the old one."}
		case err != nil:
			return nil, err
		}
		ts.patched(ctx, changes)
	}
	out := &applyPatchOutput{OK: true, DryRun: in.DryRun}
	for _, c := range changes {
		added, removed := c.Lines()
		out.Files = append(out.Files, patchedFile{c.Kind, c.Path, c.From, added, removed, c.Version, c.Notes})
	}
	shown := fit(out.Files, patchedFile.size)
	out.Files, out.More = out.Files[:shown], len(out.Files)-shown
	return out, nil
}

// size estimates the bytes of the file in the result.
func (f patchedFile) size() int {
	return len(f.Path) + len(f.From) + len(f.Version) + len(strings.Join(f.Notes, "; ")) + 50
}

// planPatch reads a patch and checks it against the files.
//
// # Errors
//
// An [*argumentError] for a text that is no patch, and for a character that the encoding of a
// file does not have; else those of [patch.Patch.Plan].
func (ts *toolset) planPatch(ctx context.Context, text string) (*patch.Plan, error) {
	p, err := patch.Parse(text)
	if err != nil {
		return nil, &argumentError{message: err.Error(), hint: "Correct the patch. Nothing was written."}
	}
	plan, err := p.Plan(ctx, ts.whole)
	if errors.As(err, new(*charset.CharacterError)) {
		_, message := describe(err)
		return nil, &argumentError{message: message, hint: "The files keep their encodings. Use other characters. Nothing was written."}
	}
	if errors.Is(err, patch.ErrEncoding) {
		return nil, &hintedError{err, `The format of Codex, which begins with "*** Begin Patch", keeps the encodings of files. Nothing was written.`}
	}
	if errors.Is(err, patch.ErrMismatch) {
		return nil, &hintedError{err, "Copy the lines as they are in the files, with the lines around them, and in the order of the file. Nothing was written."}
	}
	if errors.Is(err, fs.ErrNotExist) && deletion().MatchString(text) { // what a call did not name is not for it to remove
		return nil, &hintedError{err, "Nothing was written." + ts.lookHint(".")}
	}
	if errors.Is(err, workspace.ErrSymlink) && (deletion().MatchString(text) || renaming().MatchString(text)) {
		return nil, ts.unfollowed(ctx, err)
	}
	return plan, err
}

// deletion matches a line of a patch that deletes a file.
var deletion = lazyregexp.New(`(?m)^(\*\*\* Delete File: |\+\+\+ /dev/null|deleted file mode )`)

// renaming matches a line of a patch that renames a file.
var renaming = lazyregexp.New(`(?m)^(\*\*\* Move to: |rename from )`)

// unfollowed adds a hint to the error of a patch that deletes or renames a symlink. It does
// not name the target, which the call did not name: without it, the symlink would dangle.
func (ts *toolset) unfollowed(ctx context.Context, err error) error {
	if path, _ := describe(err); ts.typeOf(policy.WithApprover(ctx, nil), path) != workspace.TypeSymlink {
		return err
	}
	hint := "A patch follows no symlink."
	hint += ts.ifTool(ops.Rm, " Delete the link itself with %s.")
	hint += ts.ifTool(ops.Move, " Rename the link itself with %s.")
	return &hintedError{err, hint + " Nothing was written."}
}

// checkPatch returns the error of changes that the session may not make, because it has not
// read what they replace. The lines of context in a patch do not count as reading: a file may
// have changed where the patch has none. A new file and a copy replace nothing. All files
// that have to be read are in the error, so that the model reads them in one go.
func (ts *toolset) checkPatch(ctx context.Context, changes []patch.Change) error {
	if ts.session(ctx) == nil {
		return nil
	}
	var errs []error
	for _, c := range changes {
		path := c.Path
		switch c.Kind {
		case patch.Added, patch.Copied:
			continue
		case patch.Renamed:
			path = c.From
		}
		lines := func() []lineChange { return nil } // to delete or move a file, any part of it is enough
		if c.Kind != patch.Deleted {
			lines = func() []lineChange { return patchedLines(c.Spans) }
		}
		if _, err := ts.checkLines(ctx, ops.ApplyPatch, path, c.Before, lines); err != nil {
			errs = append(errs, err)
		}
	}
	return notRead(errs)
}

// checkMismatches returns the error of the files that a patch does not apply to and that the
// session has not read as they are, nil if there are none. The error of the patch would
// quote them.
func (ts *toolset) checkMismatches(ctx context.Context, err error) error {
	var wrong *patch.Error
	if !errors.As(err, &wrong) {
		return nil
	}
	var errs []error
	last := "" // file, which can have several causes in a row
	for _, cause := range wrong.Causes {
		path, _ := describe(cause)
		if !errors.Is(cause, patch.ErrMismatch) || path == last {
			continue
		}
		last = path
		err := ts.checkKnown(ctx, ops.ApplyPatch, path)
		if errors.Is(err, errReadRequired) || errors.Is(err, workspace.ErrConflict) { // others are of a file that the patch makes
			errs = append(errs, err)
		}
	}
	return notRead(errs)
}

// patchedLines returns spans as replacements. New lines belong to the line that they
// follow.
//
//	{First: 2, Last: 3, Added: 5}    {2, 3, 3}
//	{First: 4, Last: 3, Added: 2}    {3, 3, 2}    two lines after line 3
//	{First: 1, Last: 0, Added: 1}    {1, 1, 1}    at the beginning, which no line comes before
func patchedLines(spans []patch.Span) []lineChange {
	changes := make([]lineChange, len(spans))
	for i, s := range spans {
		changes[i] = lineChange{s.First, s.Last, s.Added - (s.Last - s.First + 1)}
		if s.Last < s.First {
			changes[i].first = max(s.Last, 1)
			changes[i].last = changes[i].first
		}
	}
	return changes
}

// patched records changes that were made. All records are made of those before the patch, and
// names are forgotten before others are recorded, as a patch can rename a to b and b to a.
func (ts *toolset) patched(ctx context.Context, changes []patch.Change) {
	s := ts.session(ctx)
	if s == nil {
		return
	}
	after := make([]*shownFile, len(changes))
	for i, c := range changes {
		if c.Kind != patch.Deleted {
			after[i] = shownAfter(s.file(ts.fileKey(cmp.Or(c.From, c.Path))), c)
		}
	}
	for _, c := range changes {
		switch c.Kind {
		case patch.Deleted:
			ts.forget(ctx, c.Path, "")
		case patch.Renamed:
			ts.forget(ctx, c.From, "")
		}
	}
	for i, c := range changes {
		if after[i] != nil {
			s.put(ts.fileKey(c.Path), after[i])
		}
	}
}

// shownAfter returns what a session knows of a file after a change, nil for nothing: the new
// lines, and those that were shown of the file that the change is of. before is what it knew
// of that. If the lines 1-3 and 7-9 of a file were shown, a copy of it with three lines in
// place of line 5 has 1-3, 5-7 and 9-11.
func shownAfter(before *shownFile, c patch.Change) *shownFile {
	after := &shownFile{Version: c.Version, SHA256: hash(c.After), Total: countLines(textOf(c.After)), data: c.After}
	known := before != nil && before.SHA256 == hash(c.Before)
	switch {
	case c.Kind == patch.Added, known && before.whole():
		after.add(1, after.Total)
		return after
	case !known:
		before = &shownFile{}
	}
	ranges, next, shift := before.Lines, 1, 0 // next is the line of before after the span
	keep := func(last int) {
		for ; len(ranges) > 0 && ranges[0][0] <= last; ranges = ranges[1:] {
			after.add(max(ranges[0][0], next)+shift, min(ranges[0][1]+shift, last+shift, after.Total))
			if ranges[0][1] > last {
				return
			}
		}
	}
	for _, s := range c.Spans {
		keep(s.First - 1)
		after.add(s.First+shift, min(s.First+shift+s.Added-1, after.Total))
		next, shift = s.Last+1, shift+s.Added-(s.Last-s.First+1)
	}
	keep(before.Total)
	if !known && len(after.Lines) == 0 {
		return nil
	}
	return after
}

// planApplyPatch reads the files, as the policy is asked with the diff of each change.
func planApplyPatch(ctx context.Context, ts *toolset, in *applyPatchInput) ([]policy.Request, error) {
	plan, err := ts.planPatch(ctx, in.Patch)
	if err != nil {
		return nil, err
	}
	var requests []policy.Request
	for _, c := range plan.Changes() {
		requests = append(requests, requestsOf(c, in.DryRun)...)
	}
	return requests, nil
}

// requestsOf returns what a change touches: a rename reads and moves the old name, writes the
// new one, and is an edit only if it also changes lines. The read comes first, and a dry run
// only reads.
func requestsOf(c patch.Change, dryRun bool) []policy.Request {
	from := c.Path
	if c.From != "" {
		from = c.From
	}
	var requests []policy.Request
	if c.Kind != patch.Added {
		requests = append(requests, policy.Request{Op: policy.OpRead, Path: from})
	}
	if dryRun {
		return requests
	}
	change := policy.Request{Op: policy.OpEdit, Path: c.Path}
	switch c.Kind {
	case patch.Added, patch.Copied:
		change.Op = policy.OpWrite
	case patch.Deleted:
		change.Op = policy.OpDelete
	case patch.Renamed:
		requests = append(requests, policy.Request{Op: policy.OpMove, Path: c.From, To: c.Path}, policy.Request{Op: policy.OpWrite, Path: c.Path})
		if len(c.Spans) == 0 {
			requests[len(requests)-1].Note = "no diff: it has the content of " + c.From
			return requests
		}
	}
	change.Diff, change.Note = unified.Change(c.Path, textOf(c.Before), textOf(c.After))
	if c.Kind == patch.Deleted && len(c.Before) == 0 {
		change.Note = "it is empty"
	}
	if change.Op == policy.OpWrite { // Before is nothing, or what is copied
		change.Diff, change.Note = unified.Created(c.Path, textOf(c.After))
	}
	return append(requests, change)
}

// text returns a line for each file that is listed:
//
//	Applied to 2 files.
//	M src/a.go +2 -1, version 3f2a
//	R old.go -> new.go +0 -0, version 81cc
func (o *applyPatchOutput) text() string {
	var out strings.Builder
	verb := "Applied to "
	if o.DryRun {
		verb = "Dry run, nothing written: applies to "
	}
	out.WriteString(verb + wording.Count(len(o.Files)+o.More, "file", "files") + ".")
	for _, f := range o.Files {
		from := ""
		if f.From != "" {
			from = onOneLine(f.From) + " -> "
		}
		fmt.Fprintf(&out, "\n%s %s%s +%d -%d%s", f.Kind, from, onOneLine(f.Path), f.Added, f.Removed, versionNote(f.Version))
		if len(f.Notes) > 0 {
			out.WriteString(" (" + strings.Join(f.Notes, "; ") + ")")
		}
	}
	if o.More > 0 {
		out.WriteString("\nand " + wording.Thousands(o.More) + " more")
	}
	return out.String()
}
