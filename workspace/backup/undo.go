package backup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

// UndoOptions say what [FS.Undo] undoes.
type UndoOptions struct {
	// Session is the id of the session whose changes are undone. Empty means the
	// session of the last change that is not undone yet.
	Session string
	// Last is how many changes are undone. Those of one call of a tool count as one.
	// If one of them cannot be undone, none is. Zero means one; Undo refuses a negative
	// number.
	Last int
	// All undoes all changes of the session that the journal has. A file that somebody
	// else has changed is left out, and is one of the errors. So is a change whose files
	// were not kept.
	All bool
	// Redo undoes what Undo did, instead: the last undo first.
	Redo bool
	// DryRun changes nothing.
	DryRun bool
}

// Changes returns the changes of a session that the journal has, the last one first,
// those that have been undone among them. An empty session means every session.
//
// # Errors
//
// [errors.ErrUnsupported], with a remedy, if a file is in the place of the journal, and those
// of the store.
func (f *FS) Changes(ctx context.Context, session string) ([]Change, error) {
	all, err := f.r.journal.within(ctx)
	if err != nil {
		return nil, err
	}
	var list []Change
	for _, c := range slices.Backward(all) {
		if session == "" || c.Session == session {
			clone := *c
			clone.Steps = slices.Clone(c.Steps)
			list = append(list, clone)
		}
	}
	return list, nil
}

// Undo reverts the last changes of a session, the last one first, and returns the
// changes that it reverted. It gives files the bytes that they had, removes files,
// copies and directories that are new and have not been written since, and moves back
// what was moved. A directory that is new and not empty stays. It passes over a call that
// left everything as it was, such as a transaction that failed.
//
// A symlink that was removed does not come back: a change that removed more is reverted
// without it. Of a change whose files were not kept, Undo fails once, and notes in the
// journal that it passes over it from then on: an undo of the change before it replaces
// what it left.
//
// Undo is itself a change: the journal has it, and Redo reverts it. Only bytes beyond
// [Options].MaxChange are not kept for that, and the change that Undo returns then has
// Unkept: a new file of that size is deleted for good. If it fails or the
// program is killed, the next Undo continues where it stopped. Other changes by f wait
// until it returns.
//
// A session that changed a from A to B and then to C, and whose first undo is undone:
//
//	7  write_file a  A -> B
//	8  write_file a  B -> C
//	9  write_file a  C -> B  undoes 8    Undo
//	10 write_file a  B -> A  undoes 7    Undo
//	11 write_file a  A -> B  undoes 10   Undo with Redo
//
// # Errors
//
// [workspace.ErrConflict] with the name of a file that somebody else has written,
// created or removed since; [io/fs.ErrNotExist] if there is nothing to undo;
// [io/fs.ErrInvalid] for a negative UndoOptions.Last;
// [errors.ErrUnsupported] for what was not kept, or is lost; and those of the operations that
// revert a change, such as [workspace.ErrPolicy].
func (f *FS) Undo(ctx context.Context, opts *UndoOptions) ([]Change, error) {
	exact, err := f.r.Exact() // as Protect makes all other changes
	if err != nil {
		return nil, err
	}
	u := undo{recorder: exact.(*recorder)}
	if opts != nil {
		u.UndoOptions = *opts
	}
	if u.Last < 0 {
		return nil, ops.Error(ops.Undo, ".", fs.ErrInvalid, errors.New("a negative number of changes"))
	}
	unlock, err := u.locks.all(ctx, ops.Undo, ".")
	if err != nil {
		return nil, err
	}
	defer unlock()
	return u.run(ctx)
}

// undo is one call of Undo.
type undo struct {
	UndoOptions
	*recorder
	supposed map[string]State // what a dry run would have changed, by name
	last     *Change          // that was reverted
	unkept   bool             // the revert that was last cannot be redone
	stays    bool             // a directory that it should have removed is not empty
	lost     *Change          // that was not kept, nil if none was met
	groups   int              // of changes that were reverted together
	nothing  bool             // a change had nothing to revert
	versions *lineage
}

// run reverts what the options say.
func (u *undo) run(ctx context.Context) ([]Change, error) {
	if !u.All && !u.DryRun { // all that is wanted, or nothing
		plan := *u
		plan.DryRun = true
		if _, err := plan.run(ctx); err != nil {
			u.pass(ctx, plan.lost)
			return nil, err
		}
	}
	all, err := u.journal.within(ctx)
	if err != nil {
		return nil, err
	}
	var reverted []Change
	var errs []error
	undone := map[int64]bool{} // by a later change; false if that was cut off
	byNumber := map[int64]*Change{}
	for _, c := range all {
		byNumber[c.Number] = c
	}
	u.versions = newLineage(all, byNumber)
	changed := u.versions.changed(all)
	for i, c := range slices.Backward(all) {
		mine := u.Session == "" || c.Session == u.Session || u.last != nil && u.together(c)
		if !mine || undone[c.Number] {
			continue
		}
		if c.Undoes != 0 {
			whole := !c.Partial && (c.Done || u.happened(ctx, c, byNumber[c.Undoes], all[i+1:]))
			undone[c.Undoes] = undone[c.Undoes] || whole
		}
		if u.enough(c) || u.Redo != (c.Undoes != 0) || c.Redo {
			continue
		}
		if c.Undoes == 0 && c.Call != "" && !changed[c.Call] {
			u.nothing = true
			continue
		}
		_, begun := undone[c.Number]
		did, err := u.revert(ctx, c, begun)
		u.nothing = u.nothing || !did
		if did {
			u.Session = cmp.Or(u.Session, c.Session)
			u.count(c)
			u.tell(ctx, c)
			reported := *c
			reported.Unkept, reported.Stays = u.unkept, u.stays
			reverted = append(reverted, reported)
		}
		if err != nil {
			u.Session = cmp.Or(u.Session, c.Session)
			// Several changes of one file can fail alike.
			if !slices.ContainsFunc(errs, func(e error) bool { return e.Error() == err.Error() }) {
				errs = append(errs, err)
			}
			if u.lost != nil && u.lost.Undoes == 0 {
				u.versions.pass(u.lost, all)
			}
			if !u.DryRun {
				u.pass(ctx, u.lost)
			}
			if !u.All || !errors.Is(err, workspace.ErrConflict) && !errors.Is(err, errors.ErrUnsupported) {
				break
			}
		}
	}
	if len(reverted) == 0 && len(errs) == 0 {
		return nil, ops.Error(ops.Undo, ".", ops.Refinement{Text: u.none(), Of: fs.ErrNotExist}, nil)
	}
	return reverted, errors.Join(errs...)
}

// pass notes in the journal, as an undo without steps, that the change c cannot be undone,
// so that the next undo goes further back. If that fails, the next undo fails as this one
// did. A redo that fails is tried again: after it, the undos before it would mean something
// else.
func (u *undo) pass(ctx context.Context, c *Change) {
	if c == nil || c.Undoes != 0 {
		return
	}
	r := u.begin(ctx, c.Op, c.Path, c.To)
	r.Session, r.Undoes, r.Done, r.Steps = c.Session, c.Number, true, []Step{}
	_ = u.journal.add(ctx, r)
	u.lost = nil
}

// none says that there is nothing that the options ask for.
func (u *undo) none() string {
	text := "there is no change to undo"
	switch {
	case u.nothing && u.Redo:
		return "nothing is left to redo: the files are as they were before the undos, or have been removed"
	case u.nothing:
		return "nothing is left to undo: the files are as they were before the changes, or have been removed"
	case u.Redo:
		text = "there is no undo to take back"
	}
	if u.Session != "" {
		text += fmt.Sprintf(" of the session %q", u.Session)
	}
	return text
}

// enough reports whether as many changes are reverted as the options say, so that c is
// not reverted.
func (u *undo) enough(c *Change) bool {
	return !u.All && u.groups >= cmp.Or(u.Last, 1) && !u.together(c)
}

// count counts c, which was reverted.
func (u *undo) count(c *Change) {
	if u.last == nil || !u.together(c) {
		u.groups++
	}
	u.last = c
}

// tell tells who wants to know that c was reverted.
func (u *undo) tell(ctx context.Context, c *Change) {
	if !u.DryRun && u.shared.undone != nil {
		u.shared.undone(ctx, *c)
	}
}

// together reports whether c and the change that was reverted last count as one: one
// call made both, or they undid one change, because the undo was cut off.
func (u *undo) together(c *Change) bool {
	return c.Call != "" && c.Call == u.last.Call || c.Undoes != 0 && c.Undoes == u.last.Undoes
}

// happened reports whether the undo r, which is not done, took place: the names are as it
// leaves them, or were when the next of the changes after it began.
func (u *undo) happened(ctx context.Context, r *Change, undone *Change, later []*Change) bool {
	steps := slices.Clone(r.Steps)
	for i, step := range steps {
		step, now, err := u.look(ctx, r, step)
		if next, changed := beforeOf(later, step.Path); changed && u.versions.same(step.Path, next, step.After) {
			now = next
		}
		if err != nil || !u.versions.same(step.Path, now, step.After) {
			return false
		}
		steps[i].After = now
	}
	if undone != nil {
		u.versions.join(undone.Steps, steps)
	}
	return true
}

// beforeOf returns what a name was before the first of changes that is about it.
func beforeOf(changes []*Change, name string) (before State, changed bool) {
	for _, c := range changes {
		for _, step := range c.Steps {
			if step.Path == name {
				return step.Before, true
			}
		}
	}
	return absent, false
}

// look returns what the name of a step of c stands for now, and the step with what
// was not known when it was recorded.
func (u *undo) look(ctx context.Context, c *Change, step Step) (Step, State, error) {
	now, supposed := u.supposed[step.Path]
	if !supposed {
		info, err := u.files.Stat(ctx, step.Path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, workspace.ErrNotDir) {
			return step, absent, ops.Rename(err, ops.Undo, step.Path)
		}
		now = stateOf(info)
	}
	step.Before, step.After = u.versions.complete(step.Path, step.Before), u.versions.complete(step.Path, step.After)
	after := &step.After
	unknown := after.Type == workspace.TypeFile && after.Size == now.Size && after.Version == "" && after.SHA256 == ""
	var err error
	switch {
	case now.Type != workspace.TypeFile:
		return step, now, nil
	case unknown && c.Op == ops.Move: // a move back loses nothing, so the size is enough
		*after = now
	case unknown && c.Op == ops.Copy:
		*after, err = u.hashed(ctx, c.Path, *after)
	}
	for _, s := range []State{step.Before, *after} {
		if err == nil && now.SHA256 == "" && s.SHA256 != "" && s.Size == now.Size && !u.versions.same(step.Path, s, now) {
			now, err = u.hashed(ctx, step.Path, now)
		}
	}
	return step, now, err
}

// hashed returns the state s of the file name with its hash. A file that has another
// size by now, or does not exist any more, has none.
func (u *undo) hashed(ctx context.Context, name string, s State) (State, error) {
	data, version, err := workspace.ReadVersioned(ctx, u.files, name, max(s.Size, 1))
	switch {
	case errors.Is(err, workspace.ErrTooLarge), errors.Is(err, fs.ErrNotExist):
		return s, nil
	case err != nil:
		return s, ops.Rename(err, ops.Undo, name)
	}
	return State{Type: workspace.TypeFile, Size: int64(len(data)), Version: version, SHA256: hashOf(data)}, nil
}

// revert reverts c. It reports false if there is nothing to revert, because c has not
// taken place or somebody has reverted it. begun says that an undo of c was cut off.
func (u *undo) revert(ctx context.Context, c *Change, begun bool) (did bool, err error) {
	steps, changed, err := u.pending(ctx, c)
	// Of a file that somebody has removed only the directory is left, which is theirs,
	// unless c was cut off before it created the file, or removed the directory.
	theirs := onlyDirs(steps) && !onlyDirs(c.Steps) && c.Op != ops.Rm && (changed != nil || c.Done && !begun && c.Undoes == 0)
	if err != nil || len(steps) == 0 || theirs || changed != nil && !u.All {
		return false, cmp.Or(err, changed)
	}
	if name, kept := u.inKeptGit(c, steps); kept {
		return false, ops.Error(ops.Undo, name, workspace.ErrPolicy, errors.New("no change of .git is reverted"))
	}
	u.stays = false
	u.unkept = c.Op != ops.Move && c.Undoes == 0 && u.tooLarge(steps) // of a redo, the first change has all
	if u.DryRun {
		u.suppose(steps)
		return true, changed
	}
	whole, err := u.movesWhole(ctx, c, steps)
	if err != nil {
		return false, err
	}
	r := u.begin(ctx, c.Op, c.Path, c.To)
	r.Call, r.Session, r.Undoes, r.Redo, r.Steps = c.Call, c.Session, c.Number, c.Undoes != 0, inverse(steps)
	r.Partial = changed != nil
	if c.Op == ops.Move {
		r.Path, r.To = c.To, c.Path
		for i := range r.Steps {
			r.Steps[i].After.Version = "" // which may be another one
		}
		if !whole {
			r.Steps = removeDirsLast(r.Steps)
		}
	} else if err := u.keepAll(ctx, r.Steps); err != nil {
		return false, err
	}
	err = u.record(ctx, r, func() error {
		if whole {
			if err := u.move(ctx, r); err != nil {
				return conflict(r.To, err)
			}
		}
		return u.apply(ctx, r, whole)
	})
	u.versions.join(c.Steps, r.Steps)
	return err == nil, cmp.Or(err, changed)
}

// movesWhole reports whether reverting steps of c is one move back: it reverts all of a move,
// and what it moves has nothing that c did not move.
func (u *undo) movesWhole(ctx context.Context, c *Change, steps []Step) (bool, error) {
	top := slices.IndexFunc(steps, func(step Step) bool { return step.Path == c.To })
	if c.Op != ops.Move || len(steps) != len(c.Steps) || top < 0 {
		return false, nil
	}
	if steps[top].After != directory {
		return true, nil
	}
	infos, err := u.below(ctx, ops.Undo, c.To)
	moved := map[string]bool{}
	for _, step := range steps {
		moved[step.Path] = true
	}
	added := slices.ContainsFunc(infos, func(info workspace.FileInfo) bool { return !moved[info.Path] })
	return !added, err
}

// inKeptGit returns a name that reverting the steps of c would change, and must not: see
// [Options].KeepGit.
func (u *undo) inKeptGit(c *Change, steps []Step) (name string, kept bool) {
	if u.keepGit == nil {
		return "", false
	}
	var names []string
	if c.Op == ops.Move {
		names = append(names, c.Path, c.To)
	}
	for _, step := range steps {
		names = append(names, step.Path)
		if c.Op == ops.Move && step.Before != absent { // it is moved back from there, whatever the other steps say
			names = append(names, c.To+strings.TrimPrefix(step.Path, c.Path))
		}
	}
	i := slices.IndexFunc(names, func(name string) bool { return ops.InGit(name) && u.keepGit(name) })
	if i < 0 {
		return "", false
	}
	return names[i], true
}

// inverse returns the steps that undo steps: the last one first.
func inverse(steps []Step) []Step {
	undone := make([]Step, 0, len(steps))
	for _, step := range slices.Backward(steps) {
		undone = append(undone, Step{step.Path, step.After, step.Before})
	}
	return undone
}

// removeDirsLast returns the steps of a move of single files with the directories that they
// remove at the end, what is in a directory before the directory.
func removeDirsLast(steps []Step) []Step {
	var dirs []Step
	steps = slices.DeleteFunc(steps, func(step Step) bool {
		removes := step.Before == directory && step.After == absent
		if removes {
			dirs = append(dirs, step)
		}
		return removes
	})
	slices.SortFunc(dirs, func(a, b Step) int { return cmp.Compare(b.Path, a.Path) })
	return append(steps, dirs...)
}

// onlyDirs reports whether steps are about directories alone.
func onlyDirs(steps []Step) bool {
	return !slices.ContainsFunc(steps, func(step Step) bool {
		return step.Before != directory && step.After != directory
	})
}

// suppose notes what reverting steps would change.
func (u *undo) suppose(steps []Step) {
	if u.supposed == nil {
		u.supposed = map[string]State{}
	}
	for _, step := range steps {
		u.supposed[step.Path] = step.Before
	}
}

// pending returns the steps of c that have to be reverted: those whose names are as
// they were after c. A name that is as it was before c needs nothing, and any other
// is a conflict, which changed says. Nothing below such a name can be reverted. A symlink
// that c removed is left out, unless nothing else is left. If c was refused or cut off, what
// it has perhaps not come to needs nothing, either, whatever was written to it since.
func (u *undo) pending(ctx context.Context, c *Change) (steps []Step, changed, err error) {
	var unkept error
	var conflicts []error
	theirs := map[string]bool{} // names that somebody else has changed
	for _, step := range c.Steps {
		step, now, err := u.look(ctx, c, step)
		switch {
		case err != nil:
			return nil, nil, err
		case u.versions.same(step.Path, step.Before, step.After): // c has not changed it
		case u.versions.same(step.Path, now, step.Before):
		case !c.Done && c.Undoes == 0 && c.divisible() && step.After == absent && now != absent:
		case !u.versions.same(step.Path, now, step.After):
			if !u.All {
				return nil, changedSince(step.Path), nil
			}
			conflicts = append(conflicts, changedSince(step.Path))
			theirs[step.Path] = true
		case c.Op != ops.Move && !restorable(step.Before):
			unkept = ops.Error(ops.Undo, step.Path, errors.ErrUnsupported, errors.New("what it was could not be kept"))
			if step.Before.Type != workspace.TypeSymlink {
				u.lost = c
				return nil, nil, unkept
			}
		default:
			step.After = now
			steps = append(steps, step)
		}
	}
	steps = slices.DeleteFunc(steps, func(step Step) bool { return withinAny(step.Path, theirs) })
	switch {
	case c.Op == ops.Move:
		steps, unpaired := paired(c.Steps, steps, theirs)
		return steps, errors.Join(append(conflicts, unpaired...)...), nil
	case len(steps) == 0 && unkept != nil:
		u.lost = c
		return nil, nil, unkept
	}
	return steps, errors.Join(conflicts...), nil
}

// withinAny reports whether name is one of names or below one.
func withinAny(name string, names map[string]bool) bool {
	for ; name != "."; name, _ = workspace.Split(name) {
		if names[name] {
			return true
		}
	}
	return false
}

// paired returns the pending steps of a move with the steps all, without those of a file
// that is under both of its names or under none. It is a conflict, unless one of the
// names is theirs, which has been reported. The step in which a file gets its new name
// comes right before the one in which it loses the old one.
func paired(all, pending []Step, theirs map[string]bool) (steps []Step, conflicts []error) {
	isPending := map[string]bool{}
	for _, step := range pending {
		isPending[step.Path] = true
	}
	for i := 1; i < len(all); i++ {
		step, pair := all[i-1], all[i]
		appears := step.Before == absent && step.After.Type != workspace.TypeDirectory && pair.After == absent
		if !appears || isPending[step.Path] == isPending[pair.Path] {
			continue
		}
		if !withinAny(step.Path, theirs) && !withinAny(pair.Path, theirs) {
			conflicts = append(conflicts, changedSince(step.Path))
		}
		isPending[step.Path], isPending[pair.Path] = false, false
	}
	return slices.DeleteFunc(pending, func(step Step) bool { return !isPending[step.Path] }), conflicts
}

// changedSince is the conflict of a name.
func changedSince(name string) error {
	return ops.Error(ops.Undo, name, workspace.ErrConflict, errors.New("somebody else has changed it since"))
}

// restorable reports whether the state can be brought back.
func restorable(s State) bool {
	return s == absent || s.Type == workspace.TypeDirectory || s.Kept != 0
}

// keepAll keeps the bytes of the files that steps replace or remove, so that the undo
// can be undone. What is more than the limit is not kept.
func (u *undo) keepAll(ctx context.Context, steps []Step) error {
	left := u.maxChange
	for i := range steps {
		before := &steps[i].Before
		if before.Type != workspace.TypeFile || before.Size > left {
			continue
		}
		kept, err := u.keep(ctx, ops.Undo, steps[i].Path, left, "")
		switch {
		case err != nil:
			return err
		case !kept.same(*before) && u.All: // which apply finds out, too
			continue
		case !kept.same(*before):
			return changedSince(steps[i].Path)
		}
		*before = kept
		left -= kept.Size
	}
	return nil
}

// tooLarge reports whether keepAll does not keep all of what reverting steps replaces or
// removes.
func (u *undo) tooLarge(steps []Step) bool {
	var size int64
	for _, step := range steps {
		if step.After.Type == workspace.TypeFile {
			size += step.After.Size
		}
	}
	return size > u.maxChange
}

// apply takes the steps of the undo r, in their order. moved says that what r moves
// has been moved. If everything is undone, a conflict, and
// contents that are lost, end no more than their step.
func (u *undo) apply(ctx context.Context, r *Change, moved bool) error {
	var conflicts []error
	for i := range r.Steps {
		step := &r.Steps[i]
		var err error
		switch {
		case step.After.Type == workspace.TypeDirectory:
			err = u.files.Mkdir(ctx, step.Path, &workspace.MkdirOptions{Recursive: true})
		case step.Before.Type == workspace.TypeDirectory:
			err = u.removeDir(ctx, step.Path)
		case r.Op == ops.Move && (moved || step.After == absent): // the step with the other name moves it
		case r.Op == ops.Move:
			if err = workspace.Move(ctx, u.files, r.Path+strings.TrimPrefix(step.Path, r.To), step.Path); err == nil {
				info, _ := u.files.Stat(ctx, step.Path) // without the version, a redo compares less
				step.After.Version = info.Version
			}
		case step.After == absent:
			err = u.removeFile(ctx, *step)
		default:
			err = u.restore(ctx, step)
		}
		err = conflict(step.Path, err)
		if u.All && (errors.Is(err, workspace.ErrConflict) || errors.Is(err, errors.ErrUnsupported)) {
			conflicts = append(conflicts, err)
		} else if err != nil {
			return err
		}
	}
	return errors.Join(conflicts...)
}

// conflict returns the error of an undo that met another program in its last step.
func conflict(name string, err error) error {
	if errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) {
		return ops.Error(ops.Undo, name, workspace.ErrConflict, cause(err))
	}
	return ops.Rename(err, ops.Undo, name)
}

// removeDir removes a directory, unless somebody has put something into it.
func (u *undo) removeDir(ctx context.Context, name string) error {
	err := u.files.Rm(ctx, name, nil)
	switch {
	case errors.Is(err, workspace.ErrNotEmpty):
		u.stays = true
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return nil
	}
	return err
}

// removeFile removes a file that has not changed since it was looked at.
func (u *undo) removeFile(ctx context.Context, step Step) error {
	if err := u.unchanged(ctx, step); err != nil {
		return err
	}
	return u.files.Rm(ctx, step.Path, nil)
}

// restore writes the bytes that a file had.
func (u *undo) restore(ctx context.Context, step *Step) error {
	data, err := u.journal.content(ctx, step.After)
	if err != nil {
		return storeErrorOr(errors.ErrUnsupported, ops.Undo, step.Path, "the bytes that it had cannot be read", err)
	}
	var opts *workspace.WriteOptions
	if u.conditional {
		opts = &workspace.WriteOptions{IfVersion: step.Before.Version, IfNotExist: step.Before == absent}
	}
	step.After.Version, err = u.files.WriteFile(ctx, step.Path, data, opts)
	return err
}
