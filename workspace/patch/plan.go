package patch

import (
	"bytes"
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
	"github.com/workspacekit/workspacekit/workspace/backup"
)

// Kind is what a patch does to a file, as git's letter.
type Kind string

// The kinds.
const (
	Added    Kind = "A"
	Modified Kind = "M"
	Deleted  Kind = "D"
	Renamed  Kind = "R" // and modified, perhaps
	Copied   Kind = "C" // and modified, perhaps
)

// Change is what a patch does to one file. Before is what the workspace has,
// also if several parts of the patch change the file.
type Change struct {
	// Kind says what happens to the file.
	Kind Kind
	// Path is the name of the file after the change, or before it if it is deleted.
	Path string
	// From is the name that a renamed file had, or the file that was copied.
	From string
	// Before and After are the bytes of the file. A Before of a new file and an After
	// of a deleted one are nil.
	Before, After []byte
	// VersionBefore and Version are the versions of the file. Version is empty until
	// the change has been made.
	VersionBefore, Version workspace.Version
	// Spans are the lines that change, from the top of the file to its end.
	Spans []Span
	// Notes say what is worth knowing: lines that were matched without white space, or a
	// mode that is not set.
	Notes []string
}

// Span is a run of lines that a patch replaces. For a file of five lines, whose
// lines 2 and 3 become one:
//
//	Span{First: 2, Last: 3, Added: 1}
type Span struct {
	// First and Last are the lines in the file before the change, from 1. If lines are
	// only added, Last is First-1: they come before First.
	First, Last int
	// Added is how many lines there are instead.
	Added int
}

// Lines returns how many lines the change adds and removes.
func (c *Change) Lines() (added, removed int) {
	for _, s := range c.Spans {
		added += s.Added
		removed += s.Last - s.First + 1
	}
	return added, removed
}

// Plan is a patch whose changes have been checked. It is safe for concurrent
// use. It holds the old and the new bytes of all its files.
type Plan struct {
	ws      *workspace.Workspace
	planner *planner
	changes []Change // by file, in the order of the patch
}

// Changes returns the changes that Apply is going to make, in the order of the patch.
// Several parts of a patch for one file are one change. The caller must not change
// bytes in them.
func (p *Plan) Changes() []Change { return slices.Clone(p.changes) }

// Plan reads the files of ws that the patch changes, and returns the changes.
//
// # Errors
//
// An [*Error] with everything that is wrong with the patch: it has the kinds of the
// errors in it, [workspace.ErrTooLarge] among them. And the error of ctx.
//
// It looks for everything that is wrong before it returns, since a model would
// otherwise need a call for each mistake. A file with a wrong name is not read.
func (p *Patch) Plan(ctx context.Context, ws *workspace.Workspace) (*Plan, error) {
	return p.plan(ctx, ws, maxMemory)
}

func (p *Patch) plan(ctx context.Context, ws *workspace.Workspace, memory int) (*Plan, error) {
	pl := &planner{ws: ws, memory: memory, disk: map[string]*file{}, places: map[string]*place{}}
	files := slices.Clone(p.files)
	named := make([]error, len(files))
	for i := range files {
		named[i] = pl.resolve(ctx, &files[i])
	}
	for i, err := range named {
		if err == nil {
			err = pl.apply(ctx, &files[i])
		}
		if ctx.Err() != nil {
			return nil, ops.Error(ops.ApplyPatch, ".", ctx.Err(), nil)
		}
		pl.wrong = append(pl.wrong, flatten(err)...)
	}
	for _, r := range pl.results {
		if err := r.complete(ws.MaxFileSize()); err != nil {
			pl.wrong = append(pl.wrong, err)
		}
	}
	if len(pl.wrong) > 0 {
		return nil, &Error{pl.wrong}
	}
	return &Plan{ws, pl, pl.changes()}, nil
}

// Error is everything that is wrong with a patch.
type Error struct {
	// Causes are one error for each file or hunk that is wrong: at least one.
	Causes []error
}

// Error implements the error interface.
func (e *Error) Error() string {
	var lines []string
	for _, cause := range e.Causes {
		lines = append(lines, cause.Error())
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the causes.
func (e *Error) Unwrap() []error { return e.Causes }

// ErrMismatch is the kind of the error of a hunk whose lines are not in the file.
var ErrMismatch = errors.New("the hunk does not apply")

// ErrEncoding is the kind of the error of a hunk of a unified diff in UTF-8 for a file that
// has another encoding, which the apply_patch format would keep.
var ErrEncoding = errors.New("the file is not UTF-8, and the lines of the patch are")

// flatten returns the errors that were joined.
func flatten(err error) []error {
	if err == nil {
		return nil
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	return []error{err}
}

// planner makes a plan. Like git, it applies the parts of a patch one after the
// other, while renames and copies begin with what is in the workspace. It goes
// through the sections twice. The first time it notes which names become free,
// so that a section can use a name that a later one gives up:
//
//	a -> b    resolve: a leaves    apply: b exists, and leaves, so a may take its name
//	b -> c    resolve: b leaves    apply: c is free
type planner struct {
	ws      *workspace.Workspace
	disk    map[string]*file  // what is in the workspace; nil for a name that is free
	places  map[string]*place // what the patch does to a name
	results []*result         // in the order of the patch
	memory  int               // that is left for results
	wrong   []error
}

// maxMemory bounds the bytes of the files of one patch, and of their lines: a short patch
// can copy a large file many times.
const maxMemory = 512 << 20

// file is a file of the workspace. data is not nil, even if it is empty.
type file struct {
	data    []byte
	version workspace.Version
}

// place is what a patch does to a name.
type place struct {
	leaves bool    // the patch deletes the file, or gives it another name
	left   bool    // a part that has been applied does that
	result *result // the file that the patch leaves there, nil for none
}

// result is a file that the patch leaves, or that it deletes.
type result struct {
	Change
	text  *text // nil if it is deleted
	total int   // lines of the file before
}

// place returns what the patch does to name, which section fills in.
func (p *planner) place(name string) *place {
	if p.places[name] == nil {
		p.places[name] = &place{}
	}
	return p.places[name]
}

// resolve gives a section the names that the workspace uses. A file whose new name is
// wrong leaves its old one all the same, so that no other error comes of that.
func (p *planner) resolve(ctx context.Context, s *section) (err error) {
	same := s.old == s.new
	s.old, err = p.resolveName(ctx, s, s.old)
	if same {
		s.new = s.old
	} else {
		var wrong error
		s.new, wrong = p.resolveName(ctx, s, s.new)
		err = errors.Join(err, wrong)
	}
	if s.kind == Renamed && s.old == s.new {
		s.kind = Modified
	}
	if s.kind == Deleted || s.kind == Renamed {
		p.place(s.old).leaves = true
	}
	return err
}

// resolveName returns the name that the workspace uses for a name of s, which may have
// none. The names of a diff have to be those already, as for git. What is in .git is
// refused because git runs programs that its files name.
func (p *planner) resolveName(ctx context.Context, s *section, name string) (string, error) {
	if name == "" {
		return "", nil
	}
	if !s.exact {
		clean, err := p.ws.Clean(ctx, ops.ApplyPatch, name)
		if err != nil {
			return name, err
		}
		name = clean
	}
	if err := ops.CheckName(name); err != nil {
		return name, ops.Error(ops.ApplyPatch, name, err, nil)
	}
	if ops.InGit(name) {
		return name, ops.Error(ops.ApplyPatch, name, workspace.ErrPolicy, errors.New("a patch cannot change what is in .git"))
	}
	return name, nil
}

// apply applies a section to what the sections before it have left.
//
// After an error the other sections are tried all the same, for their errors.
func (p *planner) apply(ctx context.Context, s *section) error {
	r, err := p.source(ctx, s)
	if err != nil {
		return err
	}
	if r.text.binary && len(s.hunks) > 0 {
		return ops.Error(ops.ApplyPatch, s.read(), workspace.ErrBinary, nil)
	}
	wrong, notes, err := r.text.apply(ctx, s)
	if err != nil {
		return err
	}
	if err := mismatches(s, wrong); err != nil {
		return err
	}
	r.Notes = append(append(r.Notes, s.notes...), notes...)
	if s.kind == Deleted {
		if len(r.text.lines) > 0 && s.exact {
			return mismatches(s, []mismatch{{label: "the deletion", reason: "it does not remove all lines of the file"}})
		}
		r.text = nil
	}
	if s.kind == Deleted || s.kind == Renamed {
		p.place(s.old).left = true
	}
	if s.kind != Deleted {
		p.place(s.new).result = r
	}
	if !slices.Contains(p.results, r) {
		p.results = append(p.results, r)
	}
	return nil
}

// mismatches returns the errors of hunks that do not apply.
func mismatches(s *section, wrong []mismatch) error {
	var errs []error
	for _, m := range wrong {
		if m.missing != nil {
			errs = append(errs, ops.Error(ops.ApplyPatch, s.read(), m.missing, errors.New(m.label)))
			continue
		}
		cause := fmt.Errorf("%s: %s", m.label, m.reason)
		if m.foreign {
			cause = fmt.Errorf("%w: %w", cause, ErrEncoding)
		}
		errs = append(errs, ops.Error(ops.ApplyPatch, s.read(), ErrMismatch, cause))
	}
	return errors.Join(errs...)
}

// source returns what the hunks of a section are applied to. A section that
// modifies what an earlier one has left goes on with that text. The memory that
// a result takes is counted before it is made.
func (p *planner) source(ctx context.Context, s *section) (*result, error) {
	if s.kind != Added && s.kind != Copied {
		at := p.place(s.old)
		switch {
		case at.result != nil && s.kind == Modified:
			return at.result, nil
		case at.result != nil && (s.kind == Deleted || !s.exact), at.left: // in a diff, a rename is of the file as it was
			return nil, ops.Error(ops.ApplyPatch, s.old, fs.ErrInvalid, errors.New("an earlier part of the patch changes, deletes or renames it"))
		}
	}
	r := &result{Change: Change{Kind: s.kind, Path: s.name()}}
	if s.kind != Added {
		found, err := p.look(ctx, s.old)
		switch {
		case err != nil:
			return nil, err
		case found == nil && !s.maybeNew:
			return nil, ops.Error(ops.ApplyPatch, s.old, fs.ErrNotExist, nil)
		case found == nil:
			r.Kind = Added
		default:
			r.Before, r.VersionBefore = found.data, found.version
		}
	}
	if s.kind == Renamed || s.kind == Copied {
		r.From = s.old
	}
	if s.kind != Modified && s.kind != Deleted {
		if err := p.free(ctx, s.new); err != nil {
			return nil, err
		}
	}
	if p.memory -= len(r.Before) + lineCount(r.Before)*lineSize; p.memory < 0 {
		return nil, ops.Error(ops.ApplyPatch, r.Path, workspace.ErrTooLarge, errors.New("the files of the patch are too much for one patch; divide it"))
	}
	r.text = newText(r.Before, s.exact)
	r.total = len(r.text.lines)
	return r, nil
}

// free returns the error of a name that a section cannot create. The place of a
// file that the patch removes is free, and so is all below its name.
func (p *planner) free(ctx context.Context, name string) error {
	at := p.place(name)
	if at.result != nil {
		return ops.Error(ops.ApplyPatch, name, fs.ErrExist, errors.New("the patch creates it twice"))
	}
	if err := p.plain(ctx, name); err != nil {
		return err
	}
	info, err := p.ws.Stat(ctx, name)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, workspace.ErrNotDir) && p.belowRemoved(name):
		return nil
	case err != nil:
		return ops.Rename(err, ops.ApplyPatch, name)
	case info.IsDir():
		return ops.Error(ops.ApplyPatch, name, workspace.ErrIsDir, nil)
	case !at.leaves:
		return ops.Error(ops.ApplyPatch, name, fs.ErrExist, nil)
	}
	return nil
}

// plain returns the error of a name with a symlink. git follows none, either.
func (p *planner) plain(ctx context.Context, name string) error {
	target, err := p.ws.Resolve(ctx, name)
	if err == nil && target != name {
		err = ops.Error(ops.ApplyPatch, name, workspace.ErrSymlink, errors.New("a patch follows no symlink"))
	}
	return ops.Rename(err, ops.ApplyPatch, name)
}

// look returns the file name of the workspace, nil if there is none. Each file
// is read once, so that all sections see the same bytes, and their version is
// the one that Apply demands.
func (p *planner) look(ctx context.Context, name string) (*file, error) {
	if found, ok := p.disk[name]; ok {
		return found, nil
	}
	if err := p.plain(ctx, name); err != nil {
		return nil, err
	}
	data, version, err := p.ws.ReadVersioned(ctx, name, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		p.disk[name] = nil
		return nil, nil
	case err != nil:
		return nil, ops.Rename(err, ops.ApplyPatch, name)
	case version == "":
		return nil, ops.Error(ops.ApplyPatch, name, errors.ErrUnsupported, errors.New("the workspace has no versions of files, so a patch could overwrite what others write"))
	}
	if data == nil {
		data = []byte{}
	}
	p.disk[name] = &file{data, version}
	return p.disk[name], nil
}

// belowRemoved reports whether the patch removes a file whose name is that of a directory
// of name.
func (p *planner) belowRemoved(name string) bool {
	for dir, _ := workspace.Split(name); dir != "."; dir, _ = workspace.Split(dir) {
		if at := p.places[dir]; at != nil && at.leaves {
			return true
		}
	}
	return false
}

// complete fills in what the file holds after the change, and the lines that change. It refuses
// what the transaction would refuse because of its size, so that a dry run does, too.
func (r *result) complete(limit int64) (err error) {
	if r.text != nil {
		if r.After, err = r.text.bytes(); err != nil {
			return ops.Error(ops.ApplyPatch, r.Path, err, nil)
		}
	}
	r.Spans = r.spans()
	kept := r.Kind == Deleted || (r.Kind == Modified || r.Kind == Renamed) && !bytes.Equal(r.Before, r.After) // by the transaction
	if kept && len(r.Before) > backup.DefaultMaxChange {
		return ops.Error(ops.ApplyPatch, cmp.Or(r.From, r.Path), workspace.ErrTooLarge,
			fmt.Errorf("the change would replace or remove more than the %s that can be kept to undo it", wording.Bytes(backup.DefaultMaxChange)))
	}
	return ops.CheckSize(ops.ApplyPatch, r.Path, int64(len(r.After)), limit)
}

// changes returns the changes of all results.
func (p *planner) changes() []Change {
	list := make([]Change, len(p.results))
	for i, r := range p.results {
		list[i] = r.Change
	}
	return list
}

// spans returns the lines of the file before that are not in it after the change, and the
// lines that are new there.
func (r *result) spans() []Span {
	var spans []Span
	next, added := 1, 0 // the line of the file before that comes next, and the new lines before it
	end := func(number int) {
		if number > next || added > 0 {
			spans = append(spans, Span{First: next, Last: number - 1, Added: added})
		}
		next, added = number+1, 0
	}
	if r.text != nil {
		for _, line := range r.text.lines {
			if line.number == 0 {
				added++
			} else {
				end(line.number)
			}
		}
	}
	end(r.total + 1)
	return spans
}
