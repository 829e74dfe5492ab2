package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/wording"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// copyInput are the parameters of copy.
type copyInput struct {
	Source      string `json:"source" jsonschema:"from the root"`
	Destination string `json:"destination" jsonschema:"the name of the copy; must not exist"`
	Recursive   bool   `json:"recursive,omitempty" jsonschema:"with all files below it"`
}

// copyOutput is the result of copy. The counts are zero for a file; for a directory
// Version is empty.
type copyOutput struct {
	OK          bool              `json:"ok" jsonschema:"always true"`
	Source      string            `json:"source" jsonschema:"what was copied"`
	Destination string            `json:"destination" jsonschema:"the copy"`
	Version     workspace.Version `json:"version,omitempty" jsonschema:"the version of the copy of a file"`
	Files       int               `json:"files,omitempty" jsonschema:"how many files of a directory were copied"`
	Directories int               `json:"directories,omitempty" jsonschema:"how many directories, the copy itself included"`
	Bytes       int64             `json:"bytes,omitempty" jsonschema:"the size of these files"`
	Skipped     int               `json:"skipped,omitempty" jsonschema:"how many symlinks, special files and protected .git were not copied"`
	LeftOut     []string          `json:"leftOut,omitempty" jsonschema:"the first of these"`
}

// copyFileSpec needs a workspace that copies itself, or one on which a new file can be
// written without replacing another.
var copyFileSpec = spec{
	op: ops.Copy, annotations: Annotations{Title: "Copy"}, handler: define(runCopy, planCopy),
	needs: func(caps workspace.Capabilities) bool { return caps.Write && (caps.Copy || caps.ConditionalWrite) },
}

// runCopy copies a file, or with recursive a directory. It replaces nothing. A file may be
// copied with recursive, too, and a symlink stands for its target.
func runCopy(ctx context.Context, ts *toolset, in *copyInput) (*copyOutput, error) {
	from, to, err := ts.cleanPair(ctx, ops.Copy, in.Source, in.Destination)
	if err != nil {
		return nil, err
	}
	if in.Recursive {
		quiet := policy.WithApprover(ctx, nil)
		dir, err := ts.ws.Resolve(quiet, from)
		if err != nil && !errors.Is(err, workspace.ErrPolicy) {
			return nil, ops.Rename(err, ops.Copy, from)
		}
		if err == nil && ts.typeOf(quiet, dir) == workspace.TypeDirectory {
			return ts.copyDir(ctx, from, dir, to)
		}
	}
	version, err := ts.ws.Copy(ctx, from, to)
	if in.Recursive && errors.Is(err, workspace.ErrIsDir) { // a rule asks before it can be told
		dir, err := ts.ws.Resolve(ctx, from)
		if err != nil {
			return nil, ops.Rename(err, ops.Copy, from)
		}
		return ts.copyDir(ctx, from, dir, to)
	}
	if err != nil {
		return nil, err
	}
	ts.copied(ctx, from, to)
	return &copyOutput{OK: true, Source: from, Destination: to, Version: version}, nil
}

// planCopy has the requests of the names, which stand for everything below a directory, as
// the rules are asked for each file.
func planCopy(ctx context.Context, ts *toolset, in *copyInput) ([]policy.Request, error) {
	requests, err := ts.touchesPair(ctx, ops.Copy, policy.OpCopy, in.Source, in.Destination)
	if err != nil || !in.Recursive {
		return requests, err
	}
	requests[0].Recursive = true
	if dir, err := ts.ws.Resolve(ctx, requests[0].Path); err == nil && ts.typeOf(ctx, dir) == workspace.TypeDirectory {
		requests = append(requests, policy.Request{Op: policy.OpMkdir, Path: requests[0].To})
	}
	return requests, nil
}

// copyDir copies the directory from, which is dir without symlinks. It is listed
// before the first file is copied. What cannot be copied does not keep the rest from
// it.
//
// The store has no such operation, so this is one call for each entry, and not atomic: what
// was copied before an error stays. Symlinks and special files below the directory are
// counted and left out, as the contract has no operation that makes one. So is a ".git" that
// rules forbid to make. The error has the kind of the first failure, and counts all.
func (ts *toolset) copyDir(ctx context.Context, from, dir, to string) (*copyOutput, error) {
	target, err := ts.ws.Resolve(ctx, to)
	if err != nil {
		return nil, ops.Rename(err, ops.Copy, to)
	}
	entries, err := ts.entriesToCopy(ctx, dir, target)
	switch {
	case errors.Is(err, workspace.ErrTooLarge): // the usual hint is about the size of a file
		return nil, &hintedError{ops.Rename(err, ops.Copy, from), ts.copyHint() + " Nothing was copied."}
	case err != nil:
		name := from
		if fault, ok := errors.AsType[*fs.PathError](err); ok && strings.HasPrefix(fault.Path, dir+"/") {
			name = fault.Path
		}
		return nil, ops.Rename(err, ops.Copy, name)
	}
	if parent, _ := workspace.Split(to); parent != "." {
		if err := ts.ws.Mkdir(ctx, parent, &workspace.MkdirOptions{Recursive: true}); err != nil {
			return nil, ops.Rename(err, ops.Copy, to)
		}
	}
	if err := ts.ws.Mkdir(ctx, to, nil); err != nil {
		return nil, ops.Rename(err, ops.Copy, to)
	}
	out := &copyOutput{OK: true, Source: from, Destination: to, Directories: 1}
	partial := &partialCopy{out: out}
	var refused []string // directories that may not be made, with a slash: to write a file in one would make it
	for _, entry := range entries {
		if entry.Type == workspace.TypeFile {
			partial.files++
		}
		if errors.Is(partial.first, workspace.ErrNoSpace) || errors.Is(partial.first, workspace.ErrUnavailable) {
			continue // which would fail, too
		}
		if slices.ContainsFunc(refused, func(dir string) bool { return strings.HasPrefix(entry.Path, dir) }) {
			continue
		}
		err := ts.copyEntry(ctx, out, entry, to+strings.TrimPrefix(entry.Path, dir))
		if err == nil {
			continue
		}
		if ctx.Err() != nil {
			return nil, err
		}
		if entry.IsDir() && (errors.Is(err, workspace.ErrPolicy) || errors.Is(err, fs.ErrPermission)) {
			refused = append(refused, entry.Path+"/")
		}
		if ops.InGit(entry.Name) && errors.As(err, new(*policy.DeniedError)) {
			out.leaveOut(entry.Path) // a repository is copied without its history
			continue
		}
		partial.add(err)
	}
	if partial.failed > 0 {
		return nil, partlyDone{&hintedError{ops.Error(ops.Copy, from, nil, partial), "What was copied stays. " + partial.remedy()}}
	}
	return out, nil
}

// copyHint says how to copy a directory with more than copyMax entries.
func (ts *toolset) copyHint() string {
	return cmp.Or(ts.ifTool(ops.Bash, "Copy it with cp -r in %s."), "Copy what is in it with several calls.")
}

// entriesToCopy returns what is below dir, for a copy that is not below it itself. Parents
// come before what is in them. Neither name has symlinks, so that a copy of a directory into
// itself is noticed.
//
// # Errors
//
// [fs.ErrInvalid] for such a copy, [workspace.ErrTooLarge] for more than copyMax entries, and
// those of a walk.
func (ts *toolset) entriesToCopy(ctx context.Context, dir, to string) (entries []workspace.FileInfo, err error) {
	if dir == "." || to == dir || strings.HasPrefix(to, dir+"/") {
		hint := outsideHint
		if dir == "." {
			hint = "Copy what is in the root by itself."
		}
		why := errors.New("the copy of a directory cannot be the directory or below it")
		return nil, ops.Error(ops.Copy, dir, fs.ErrInvalid, &hintedError{why, hint})
	}
	err = ts.ws.Walk(ctx, dir, nil, func(info workspace.FileInfo, err error) error {
		if entries = append(entries, info); err == nil && len(entries) > copyMax {
			err = ops.Error(ops.Copy, dir, workspace.ErrTooLarge, fmt.Errorf("the directory has more than %s", wording.Count(copyMax, "entry", "entries")))
		}
		return err
	})
	return entries, err
}

// copyEntry copies one file or makes one directory. The parent of to has been made. What has
// the name already is not replaced: a program beside this one may have made it.
func (ts *toolset) copyEntry(ctx context.Context, out *copyOutput, entry workspace.FileInfo, to string) error {
	switch entry.Type {
	case workspace.TypeDirectory:
		if err := ts.ws.Mkdir(ctx, to, nil); err != nil {
			return err
		}
		out.Directories++
	case workspace.TypeFile:
		if _, err := ts.ws.Copy(ctx, entry.Path, to); err != nil {
			return err
		}
		ts.copied(ctx, entry.Path, to)
		out.Files++
		out.Bytes += entry.Size
	default:
		out.leaveOut(entry.Path)
	}
	return nil
}

// leaveOut counts a name that is not copied, and lists the first ones.
func (o *copyOutput) leaveOut(name string) {
	if o.Skipped++; len(o.LeftOut) < copyListed {
		o.LeftOut = append(o.LeftOut, name)
	}
}

// partialCopy is the error of a directory that was copied in part.
type partialCopy struct {
	out    *copyOutput
	files  int // that there are
	failed int // entries
	first  error
	texts  []string // of the first errors
}

// add counts a failure, and keeps the text of the first ones.
func (p *partialCopy) add(err error) {
	if p.failed++; p.failed == 1 {
		p.first = err
	}
	if len(p.texts) < copyListed {
		_, text := describe(err)
		p.texts = append(p.texts, text)
	}
}

// remedy says what to do about what is missing.
func (p *partialCopy) remedy() string {
	switch {
	case errors.Is(p.first, workspace.ErrNoSpace):
		return "Ask the user for space."
	case errors.Is(p.first, workspace.ErrPolicy): // a rule or a quota, which refuses it in another call, too
		return "Tell the user what is missing."
	}
	return "Copy what is missing by itself, or tell the user."
}

// Error says what was copied, and what was not.
func (p *partialCopy) Error() string {
	text := fmt.Sprintf("%s of %s (%s) copied to %s, not copied: %s", wording.Thousands(p.out.Files), wording.Count(p.files, "file", "files"),
		wording.Count(int(p.out.Bytes), "byte", "bytes"), onOneLine(p.out.Destination), strings.Join(p.texts, "; "))
	if rest := p.failed - len(p.texts); rest > 0 {
		text += fmt.Sprintf("; and %s more", wording.Thousands(rest))
	}
	return text
}

// Unwrap returns the first error, whose kind the copy has.
func (p *partialCopy) Unwrap() error { return p.first }

// text says what was copied, and what was left out:
//
//	Copied docs to old (12 files, 3 directories, 4,096 bytes). Not copied, as not files or protected: docs/link.
func (o *copyOutput) text() string {
	text := "Copied " + onOneLine(o.Source) + " to " + onOneLine(o.Destination)
	if o.Directories > 0 {
		text += fmt.Sprintf(" (%s, %s, %s)", wording.Count(o.Files, "file", "files"),
			wording.Count(o.Directories, "directory", "directories"), wording.Count(int(o.Bytes), "byte", "bytes"))
	}
	text += versionNote(o.Version) + "."
	if o.Skipped > 0 {
		text += fmt.Sprintf(" Not copied, as not files or protected: %s", strings.Join(eachOnOneLine("", o.LeftOut), ", "))
		if rest := o.Skipped - len(o.LeftOut); rest > 0 {
			text += fmt.Sprintf(" and %s more", wording.Thousands(rest))
		}
		text += "."
	}
	return text
}
