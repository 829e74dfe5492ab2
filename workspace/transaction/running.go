package transaction

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/process"
	"github.com/workspacekit/workspacekit/internal/session"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/backup"
)

// The states of a transaction.
const (
	stateOpen    = "open"
	stateDone    = "done"
	stateUndoing = "undoing"
)

// record is the state of a transaction in the store.
type record struct {
	State   string    `json:"state"`
	Process string    `json:"process"` // whose turn it is
	FS      string    `json:"fs"`      // and which FS of the process
	Until   time.Time `json:"until"`   // how long at most
}

// grace is how long after its time a process may still be busy with a transaction.
const grace = 5 * time.Minute

// undoTimeout is how long an undo may take, whose context may have ended.
const undoTimeout = 2 * time.Minute

// running is a transaction in the store: this program's, or one that was left.
type running struct {
	*shared
	dir     string
	version workspace.Version // of the state
	journal *backup.FS
	files   workspace.FileSystem // that record changes
	exact   workspace.FileSystem

	mu    sync.RWMutex // held for reading by each change
	ended bool         // guarded by mu
}

// open returns the transaction in dir.
func (s *shared) open(dir string) (*running, error) {
	journal, err := backup.New(s.fsys, &backup.Options{
		Store: s.store, Dir: dir + "/changes", Keep: math.MaxInt32, KeepBytes: math.MaxInt64, Undone: s.undone,
	})
	if err != nil {
		return nil, ops.Rename(err, ops.Transaction, dir)
	}
	exact, err := journal.Exact()
	if err != nil {
		return nil, ops.Rename(err, ops.Transaction, dir)
	}
	return &running{shared: s, dir: dir, journal: journal, files: journal, exact: exact}, nil
}

// stateName returns the name of the file with the state.
func (tx *running) stateName() string { return tx.dir + "/state.json" }

// set writes the state, if it is still what this program knows. The first one must not
// exist.
func (tx *running) set(ctx context.Context, state string) error {
	data, err := json.Marshal(record{state, process.This().String(), tx.id, tx.now().Add(MaxDuration + grace).UTC()})
	if err != nil {
		return err
	}
	var opts *workspace.WriteOptions
	if workspace.CapabilitiesOf(tx.store).ConditionalWrite {
		opts = &workspace.WriteOptions{IfVersion: tx.version, IfNotExist: tx.version == ""}
	}
	version, err := tx.store.WriteFile(ctx, tx.stateName(), data, opts)
	if err == nil {
		tx.version = version
	}
	return err
}

// maxState is how many bytes of a state are read.
const maxState = 1 << 16

// state returns the state that the store has, with its version.
func (tx *running) state(ctx context.Context) (record, workspace.Version, error) {
	data, version, err := workspace.ReadVersioned(ctx, tx.store, tx.stateName(), maxState)
	if err != nil {
		return record{}, "", err
	}
	var r record
	if err := json.Unmarshal(data, &r); err != nil {
		return record{}, "", err
	}
	return r, version, nil
}

// Transaction implements [fallback.Transactor].
func (f *FS) Transaction(ctx context.Context, change func(ctx context.Context) error) (err error) {
	if err := ops.Check(ctx, ops.Transaction, "."); err != nil {
		return err
	}
	if change != nil && f.current(ctx) != nil {
		return change(ctx)
	}
	if !workspace.CapabilitiesOf(f.FileSystem).Write {
		return ops.Error(ops.Transaction, ".", fs.ErrPermission, nil)
	}
	if err := f.undoLeft(ctx); err != nil && (change == nil || !errors.Is(err, workspace.ErrConflict)) {
		return err
	}
	if change == nil {
		f.removeEmpty(ctx, f.dir) // which a program that was killed has left
		return nil
	}
	ctx = session.WithCall(ctx) // the changes and what undoes them are one to a journal below
	tx, err := f.begin(ctx)
	if err != nil {
		return err
	}
	defer f.active.Delete(tx.dir)
	inner, cancel := context.WithTimeout(context.WithValue(ctx, key{f.shared}, tx), MaxDuration)
	returned := false
	defer func() {
		if !returned { // change has panicked
			cancel()
			tx.end()
			_ = tx.undo(ctx) // the panic continues; what is left is undone later
		}
	}()
	err = change(inner)
	returned = true
	if err == nil && inner.Err() != nil {
		err = ops.Error(ops.Transaction, ".", inner.Err(), nil)
	}
	cancel()
	tx.end()
	if err == nil {
		err = tx.commit(ctx)
		if err == nil {
			return nil
		}
	}
	return errors.Join(err, tx.undo(ctx))
}

// maxBegins is how often a transaction tries to begin while others remove directories that
// are empty.
const maxBegins = 10

// begin returns a new transaction, which is active.
func (s *shared) begin(ctx context.Context) (*running, error) {
	for attempt := 1; ; attempt++ {
		tx, err := s.open(s.dir + "/" + session.NewID())
		if err != nil {
			return nil, err
		}
		s.active.Store(tx.dir, true)
		err = tx.set(ctx, stateOpen)
		if err == nil {
			return tx, nil
		}
		s.active.Delete(tx.dir)
		if !errors.Is(err, fs.ErrNotExist) || attempt == maxBegins {
			return nil, ops.Rename(err, ops.Transaction, ".")
		}
	}
}

// end waits for the changes that still run, whose context has ended, and lets no other
// begin.
func (tx *running) end() {
	tx.mu.Lock()
	defer tx.mu.Unlock()
	tx.ended = true
}

// commit makes the changes final.
func (tx *running) commit(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTimeout)
	defer cancel()
	err := tx.set(ctx, stateDone)
	if err == nil {
		_ = tx.remove(ctx) // or the next transaction removes it
		return nil
	}
	// The answer may be lost, and somebody else may have begun to undo it.
	found, version, readErr := tx.state(ctx)
	switch {
	case readErr == nil && found.State == stateDone:
		_ = tx.remove(ctx)
		return nil
	case errors.Is(err, workspace.ErrConflict) || errors.Is(readErr, fs.ErrNotExist):
		return ops.Error(ops.Transaction, ".", workspace.ErrConflict, errors.New("another program has undone it, because it took too long"))
	case readErr == nil && found.State == stateOpen:
		tx.version = version
	}
	return ops.Rename(err, ops.Transaction, ".")
}

// undo reverts the changes of tx and removes it. It does nothing if the transaction has
// been removed, or if somebody else reverts it.
func (tx *running) undo(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTimeout)
	defer cancel()
	err := tx.set(ctx, stateUndoing)
	if errors.Is(err, workspace.ErrConflict) || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = tx.revert(ctx)
	}
	if err != nil && !onlyConflicts(err) {
		return fmt.Errorf("not all changes could be undone yet; a later transaction tries again: %w", err)
	}
	return errors.Join(err, tx.remove(ctx))
}

// revert undoes the changes, those of each session and call.
func (tx *running) revert(ctx context.Context) error {
	changes, err := tx.journal.Changes(ctx, "")
	if err != nil {
		return err
	}
	original := map[string]backup.State{}
	for _, c := range changes { // the last one first
		for _, step := range slices.Backward(c.Steps) {
			if c.Undoes == 0 {
				original[step.Path] = step.Before
			}
		}
	}
	for { // while a change waits for one of another session, which was made after it
		done := map[string]bool{}
		progress := false
		var errs []error
		for _, c := range changes {
			if done[c.Session] {
				continue
			}
			done[c.Session] = true
			as := session.InCall(ctx, c.Call) // for what records changes below
			if session.ID(ctx) != "" {
				as = session.WithID(as, c.Session)
			}
			reverted, err := tx.journal.Undo(as, &backup.UndoOptions{Session: c.Session, All: true})
			progress = progress || len(reverted) > 0
			if !errors.Is(err, fs.ErrNotExist) {
				errs = append(errs, tx.unlessRestored(ctx, err, original))
			}
		}
		if err := errors.Join(errs...); err == nil || !progress || !onlyConflicts(err) {
			return err
		}
	}
}

// unlessRestored returns err without the conflicts of files that are as they were before
// the transaction. An undo that is cut off and continues may take its own work for that of
// somebody else, if the transaction has written a file twice.
func (tx *running) unlessRestored(ctx context.Context, err error, original map[string]backup.State) error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var left []error
		for _, one := range joined.Unwrap() {
			left = append(left, tx.unlessRestored(ctx, one, original))
		}
		return errors.Join(left...)
	}
	conflict, ok := errors.AsType[*fs.PathError](err)
	if !ok || !errors.Is(err, workspace.ErrConflict) {
		return err
	}
	before := original[conflict.Path]
	info, statErr := tx.fsys.Stat(ctx, conflict.Path)
	switch {
	case before.Type == "" && errors.Is(statErr, fs.ErrNotExist):
		return nil
	case statErr != nil, info.Type != before.Type:
		return err
	case info.Type != workspace.TypeFile, before.Version != "" && info.Version == before.Version:
		return nil
	}
	data, _, readErr := workspace.ReadVersioned(ctx, tx.fsys, conflict.Path, max(before.Size, 1))
	sum := sha256.Sum256(data)
	if readErr == nil && hex.EncodeToString(sum[:]) == before.SHA256 {
		return nil
	}
	return err
}

// onlyConflicts reports whether err is nothing but conflicts.
func onlyConflicts(err error) bool {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, one := range joined.Unwrap() {
			if !onlyConflicts(one) {
				return false
			}
		}
		return true
	}
	return errors.Is(err, workspace.ErrConflict)
}

// remove removes the directory of the transaction, which is done or undone. The state goes
// last: without it, nobody would know that.
func (tx *running) remove(ctx context.Context) error {
	for _, name := range []string{tx.dir + "/changes", tx.dir} {
		if err := tx.store.Rm(ctx, name, &workspace.RmOptions{Recursive: true}); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return ops.Rename(err, ops.Transaction, ".")
		}
	}
	tx.removeEmpty(ctx, tx.shared.dir)
	return nil
}

// removeEmpty removes dir and the directories that it is in, up to the first that is not
// empty.
func (s *shared) removeEmpty(ctx context.Context, dir string) {
	for ; dir != "."; dir, _ = workspace.Split(dir) {
		if err := s.store.Rm(ctx, dir, nil); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return
		}
	}
}

// undoLeft undoes the transactions of processes that have ended.
func (s *shared) undoLeft(ctx context.Context) error {
	infos, err := s.store.Ls(ctx, s.dir, nil)
	if errors.Is(err, workspace.ErrNotDir) { // not of a name of the caller
		return ops.Error(ops.Transaction, ".", errors.ErrUnsupported, ops.Remedy("move away what is in the place of the directory "+s.dir))
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return ops.Rename(err, ops.Transaction, ".")
	}
	if err == nil && len(infos) == 0 {
		s.removeEmpty(ctx, s.dir)
	}
	var errs []error
	for _, info := range infos {
		if info.IsDir() {
			errs = append(errs, s.undoIfLeft(ctx, info.Path))
		}
	}
	return errors.Join(errs...)
}

// undoIfLeft undoes the transaction in dir, if its process has ended.
func (s *shared) undoIfLeft(ctx context.Context, dir string) error {
	if _, active := s.active.LoadOrStore(dir, true); active {
		return nil
	}
	defer s.active.Delete(dir)
	tx, err := s.open(dir)
	if err != nil {
		return err
	}
	found, version, err := tx.state(ctx)
	tx.version = version
	switch {
	case errors.Is(err, fs.ErrNotExist): // it has not begun, or has just been removed
		s.removeEmpty(ctx, dir)
		return nil
	case err != nil:
		return tx.unreadable(ctx, "the state of a transaction", err)
	case found.State == stateDone:
		return tx.remove(ctx)
	}
	if s.now().Before(found.Until) && s.inUse(found) {
		return nil
	}
	if owner, _ := process.Parse(found.Process); owner.User != process.This().User {
		if err := tx.sparesGit(ctx); err != nil {
			return err
		}
	}
	err = tx.undo(ctx)
	if err != nil && !onlyConflicts(err) && !later(ctx, err) {
		return tx.leftAlone(err.Error())
	}
	return err
}

// sparesGit returns the error of a transaction of another user or computer that has changed
// what is in .git. Its journal may be a part of a repository that was cloned: whoever
// wrote it must not choose what git does here.
func (tx *running) sparesGit(ctx context.Context) error {
	changes, err := tx.journal.Changes(ctx, "")
	if err != nil {
		return tx.unreadable(ctx, "the journal of another user or computer", err)
	}
	for _, c := range changes {
		if c.InGit() {
			return tx.leftAlone("another user or computer has changed .git in a transaction")
		}
	}
	return nil
}

// leftAlone is the error of a transaction that is not undone because of what it is. No
// other one waits for it.
func (tx *running) leftAlone(why string) error {
	return ops.Error(ops.Transaction, tx.dir, workspace.ErrConflict, errors.New(why+": remove the directory, which holds the old files"))
}

// unreadable is leftAlone for what cannot be read, unless the store may read it later.
func (tx *running) unreadable(ctx context.Context, what string, err error) error {
	if later(ctx, err) {
		return ops.Rename(err, ops.Transaction, tx.dir)
	}
	return tx.leftAlone(what + " cannot be read")
}

// later reports whether what failed with err may succeed later, though nobody changes the
// journal or the files.
func later(ctx context.Context, err error) bool {
	temporary := []error{context.DeadlineExceeded, workspace.ErrUnavailable, workspace.ErrNoSpace}
	return ctx.Err() != nil || slices.ContainsFunc(temporary, func(kind error) bool { return errors.Is(err, kind) })
}

// inUse reports whether a transaction that is not active here may still continue.
func (s *shared) inUse(r record) bool {
	self := process.This()
	if r.Process == self.String() && r.FS == s.id {
		return false
	}
	owner, known := process.Parse(r.Process)
	if !known {
		return true
	}
	ended, known := owner.Ended(self)
	return !known || !ended
}
