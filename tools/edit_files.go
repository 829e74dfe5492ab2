package tools

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/unified"
	"github.com/workspacekit/workspacekit/internal/wording"
	"github.com/workspacekit/workspacekit/tools/internal/edit"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// editedFile is one of the files that a glob matches.
type editedFile struct {
	Path         string            `json:"path" jsonschema:"the file"`
	Replacements int               `json:"replacements" jsonschema:"how many texts were replaced in it"`
	Version      workspace.Version `json:"version,omitempty" jsonschema:"its version now; absent if dryRun"`
}

// runEditFiles is runEditFile for a path that may be a glob.
//
// All files are read, and everything is checked, before the first is written. Each is
// written under the condition that it still is as it was read. If one of the writes
// fails, the others take place all the same, and the error says which did not.
func runEditFiles(ctx context.Context, ts *toolset, in *editFileInput) (*editFileOutput, error) {
	plan, err := ts.planFiles(ctx, in, !in.DryRun)
	switch {
	case err != nil:
		return nil, err
	case plan == nil:
		return runEditFile(ctx, ts, in)
	}
	out := &editFileOutput{OK: true, Path: plan.pattern, Skipped: plan.skipped, DryRun: in.DryRun}
	var failed []error
	for _, f := range plan.files {
		file := editedFile{Path: f.path, Replacements: len(f.change.Spans())}
		if !in.DryRun {
			if file.Version, err = ts.whole.WriteFile(ctx, f.path, f.now, &workspace.WriteOptions{IfVersion: f.version}); err != nil {
				failed = append(failed, ops.Rename(err, ops.EditFile, f.path))
				continue
			}
			ts.edited(ctx, file.Version, &f.editor)
		}
		out.Replacements += file.Replacements
		out.Files = append(out.Files, file)
		if how := f.tolerated(); how != "" && !strings.Contains(out.Tolerated, how) {
			out.Tolerated = strings.TrimPrefix(out.Tolerated+"; "+how, "; ")
		}
	}
	if len(failed) > 0 {
		return nil, partlyEdited(out.Files, failed)
	}
	out.Diff, out.DiffNote = plan.diff()
	return out, nil
}

// partlyEdited is the error of an edit of several files that failed for some. It has the kind
// of the first failure, and says how many files were edited. The hint names every file, so that
// the model knows which to edit again.
func partlyEdited(edited []editedFile, failed []error) error {
	var hint strings.Builder
	for i, err := range failed {
		_, message := describe(err)
		fmt.Fprintf(&hint, "%s %s", [2]string{"Failed:", ";"}[min(i, 1)], message)
	}
	for i, f := range edited {
		fmt.Fprintf(&hint, "%s %s", [2]string{". Edited were:", ","}[min(i, 1)], onOneLine(f.Path))
	}
	_, message := describe(failed[0])
	message += fmt.Sprintf("; edited: %d of %s", len(edited), wording.Count(len(failed)+len(edited), "file", "files"))
	all := &hintedError{&wordedError{failed[0], message}, hint.String() + "."}
	if len(edited) == 0 {
		return all
	}
	return partlyDone{all}
}

// planEditFiles returns the requests of runEditFiles. A glob lists the tree and reads every
// file that it matches, changed or not.
func planEditFiles(ctx context.Context, ts *toolset, in *editFileInput) ([]policy.Request, error) {
	plan, err := ts.planFiles(ctx, in, false)
	switch {
	case err != nil:
		return nil, err
	case plan == nil:
		return planEditFile(ctx, ts, in)
	}
	requests := []policy.Request{{Op: policy.OpList, Path: plan.pattern}, {Op: policy.OpList, Path: "."}}
	for _, path := range plan.read {
		requests = append(requests, policy.Request{Op: policy.OpRead, Path: path})
	}
	for _, f := range plan.files {
		if !in.DryRun {
			change := policy.Request{Op: policy.OpEdit, Path: f.path}
			change.Diff, change.Note = f.diff()
			requests = append(requests, change)
		}
	}
	return requests, nil
}

// filesPlan is what an edit would do to the files that a glob matches.
type filesPlan struct {
	pattern string         // the glob, cleaned
	read    []string       // the files that were read
	files   []*plannedFile // those that change
	skipped []string       // the first files that were left out, with the reason
}

// plannedFile is a file whose change has been computed: what it had, and the version that
// must still be there when it is written. data is set free once the change is planned.
type plannedFile struct {
	editor
	data    []byte
	version workspace.Version
}

// planFiles reads the files that the glob in path matches, and plans the edits of
// those that have the text. It returns nil if path is no glob. With check, the session
// must have been shown what the edits replace.
//
// Files are planned with edits that need not occur and have no count, because these are about
// all files together: [filesPlan.check] tests them afterwards. The number of files and their
// bytes, before and after, are bounded, since all results are in memory until the first
// write. Files in .git, and those that .gitignore excludes, are not edited.
func (ts *toolset) planFiles(ctx context.Context, in *editFileInput, check bool) (*filesPlan, error) {
	edits, err := in.edits()
	if err != nil {
		return nil, err
	}
	pattern, err := ts.editGlob(ctx, in.Path, edits)
	if pattern == "" || err != nil {
		return nil, err
	}
	paths, err := ts.ws.Glob(ctx, pattern, &workspace.GlobOptions{Limit: editFilesMax + 1, Gitignore: true})
	switch {
	case errors.Is(err, workspace.ErrPattern):
		return nil, &hintedError{ops.Rename(err, ops.EditFile, pattern), globHint}
	case err != nil:
		return nil, ops.Rename(err, ops.EditFile, pattern)
	case len(paths) == 0:
		return nil, ts.noMatch(ctx, pattern)
	case len(paths) > editFilesMax:
		return nil, &argumentError{message: fmt.Sprintf("the glob matches more than %d files", editFilesMax), hint: "Give a narrower glob. Nothing was written."}
	}
	plan := &filesPlan{pattern: pattern}
	each := make([]edit.Edit, len(edits)) // what the counts of all files add up to is tested at the end
	for i, e := range edits {
		e.All, e.Count, e.Optional = true, 0, true
		each[i] = e
	}
	var unread []error
	size := 0
	for _, path := range paths {
		f, err := ts.planOne(ctx, plan, path, each)
		switch {
		case err != nil:
			return nil, explainEdit(err, in.Edits != nil)
		case f == nil:
			continue
		case check:
			if f.shown, err = ts.checkEdit(ctx, path, f.data, f.text, f.change); err != nil {
				unread = append(unread, err)
			}
		}
		f.data = nil
		plan.files = append(plan.files, f)
		if size += len(f.text) + len(f.now); size > editFilesBytes {
			return nil, &argumentError{message: fmt.Sprintf("the changed files have more than %s together, before and after", byteSize(editFilesBytes)), hint: "Give a narrower glob. Nothing was written."}
		}
	}
	if err := notRead(unread); err != nil {
		return nil, err
	}
	return plan, plan.check(edits, in.Edits != nil)
}

// noMatch is the error of a glob that matches no file, or only files in .git and those that
// .gitignore excludes. The second search ends at the first match, and its time is bounded, as
// it looks at all that is excluded.
func (ts *toolset) noMatch(ctx context.Context, pattern string) error {
	limited, cancel := context.WithTimeout(policy.WithApprover(ctx, nil), settleTime)
	defer cancel()
	why, hint := "the glob matches no file", globHint
	if paths, _ := ts.ws.Glob(limited, pattern, &workspace.GlobOptions{Limit: 1}); len(paths) > 0 {
		why, hint = "the glob matches only .git and what .gitignore excludes", "Edit them one by one, by their names. Nothing was written."
	}
	return &hintedError{ops.Error(ops.EditFile, pattern, fs.ErrNotExist, errors.New(why)), hint}
}

// editGlob returns the glob that path is, and "" if it names one file: without
// characters of a glob, if such a file exists, and if the edits are for one place.
//
//	path        edits                          result
//	a.go        any                            ""
//	[id].tsx    any, if it exists              ""
//	*.go        replaceAll                     *.go
//	*.go        a text that must occur once    an error
//
// A name with such characters is common in some frameworks, so a file comes before a glob.
func (ts *toolset) editGlob(ctx context.Context, path string, edits []edit.Edit) (pattern string, err error) {
	if !strings.ContainsAny(path, "*?[{") {
		return "", nil
	}
	name, err := ts.ws.Clean(ctx, ops.EditFile, path)
	if err != nil {
		return "", err
	}
	if _, err := ts.ws.Stat(policy.WithApprover(ctx, nil), name); err == nil {
		return "", nil
	}
	all, inserts := true, false
	for _, e := range edits {
		all = all && (e.All || e.Count != 0 || e.Regexp && e.Line == 0)
		inserts = inserts || e.Line != 0
	}
	if !all {
		hint := "For all files that a glob matches, set replaceAll."
		if inserts {
			hint = "insertLine is for one file: give its name."
		}
		return "", &hintedError{ops.Error(ops.EditFile, name, fs.ErrNotExist, nil), hint + " Nothing was written."}
	}
	return name, nil
}

// planOne plans the edits of one file, and returns nil if it does not have the text, or
// cannot be edited. One that cannot be edited, because it is binary, too large or a symlink,
// is noted in plan: it is no reason to leave the others as they are.
func (ts *toolset) planOne(ctx context.Context, plan *filesPlan, path string, edits []edit.Edit) (*plannedFile, error) {
	quiet := policy.WithApprover(ctx, nil)
	data, version, err := ts.whole.ReadVersioned(ctx, path, 0)
	if errors.Is(err, fs.ErrNotExist) && ts.typeOf(quiet, path) != workspace.TypeSymlink {
		return nil, nil // removed since the glob was matched
	}
	plan.read = append(plan.read, path)
	if errors.Is(err, workspace.ErrTooLarge) || err == nil && edits[0].Regexp && len(data) > edit.MaxRegexpSource {
		return nil, plan.skip(path, "too large")
	}
	f := &plannedFile{editor{path: path, limit: ts.whole.MaxFileSize(), edits: edits}, data, version}
	if err == nil {
		err = f.plan(data)
	}
	switch {
	case errors.Is(err, workspace.ErrBinary):
		return nil, plan.skip(path, "binary")
	case err == nil && len(f.change.Spans()) == 0:
		return nil, nil
	case ts.typeOf(quiet, path) == workspace.TypeSymlink: // the file that it leads to may be another match
		return nil, plan.skip(path, "a symlink")
	case err != nil:
		return nil, ops.Rename(err, ops.EditFile, path)
	}
	return f, nil
}

// skip notes a file that cannot be edited. It returns nil. A bounded number is listed, and
// then that there are others.
func (p *filesPlan) skip(path, why string) error {
	switch n := len(p.skipped); {
	case n < editSkipped:
		p.skipped = append(p.skipped, path+" ("+why+")")
	case n == editSkipped:
		p.skipped = append(p.skipped, "and others")
	}
	return nil
}

// check returns the error of an edit that is not made in any file, or not as often as it
// says. The counts are of all files together, and the error lists them by file.
func (p *filesPlan) check(edits []edit.Edit, several bool) error {
	for i, e := range edits {
		total := 0
		var where []string
		for _, f := range p.files {
			if n := f.change.Count(i); n > 0 {
				total += n
				where = append(where, fmt.Sprintf("%s: %d", onOneLine(f.path), n))
			}
		}
		switch {
		case total == 0:
			hint := "Search the text first."
			if len(p.skipped) > 0 {
				hint += " Left out: " + strings.Join(eachOnOneLine("", p.skipped), ", ") + "."
			}
			return &hintedError{ops.Error(ops.EditFile, p.pattern, edit.ErrTextNotFound, errors.New(which(i, several)+
				"not in any file that the glob matches")), hint + " Nothing was written."}
		case e.Count != 0 && total != e.Count:
			return &hintedError{ops.Error(ops.EditFile, p.pattern, edit.ErrTextNotUnique, fmt.Errorf("%sit occurs %s, not %d",
				which(i, several), wording.Count(total, "time", "times"), e.Count)), strings.Join(where, ", ") + ". Nothing was written."}
		}
	}
	return nil
}

// notRead is the error of a change of files that the session was not shown as they are, nil
// for none.
func notRead(errs []error) error {
	switch len(errs) {
	case 0:
		return nil
	case 1:
		return errs[0]
	}
	paths := make([]string, len(errs))
	for i, err := range errs {
		paths[i], _ = describe(err)
	}
	return &hintedError{errs[0], fmt.Sprintf("Read these %d files first: %s. Nothing was written.", len(errs), strings.Join(eachOnOneLine("", paths), ", "))}
}

// diff returns the diffs of the first files. It ends before a file whose diff does not fit
// whole.
func (p *filesPlan) diff() (diff, note string) {
	for i, f := range p.files {
		one, oneNote := f.diff()
		if len(diff)+len(one) > unified.MaxBytes {
			return diff, fmt.Sprintf("the diff shows the first %s only", wording.Count(i, "file", "files"))
		}
		if diff += one; oneNote != "" {
			note = onOneLine(f.path) + ": " + oneNote
		}
	}
	return diff, note
}
