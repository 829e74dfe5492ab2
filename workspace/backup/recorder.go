package backup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/workspacekit/workspacekit/internal/errcode"
	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/session"
	"github.com/workspacekit/workspacekit/internal/wording"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/fallback"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// recorder is a FileSystem that records its changes. They are for names without
// symlinks: [policy.Protect] resolves names, and makes changes by the exact view.
type recorder struct {
	reads
	*shared
	files       workspace.FileSystem // that the changes are made in
	writable    bool
	conditional bool // files has conditional writes
}

// reads are the methods that a recorder forwards.
type reads = *policy.SubFS

var (
	_ workspace.FileSystem = (*recorder)(nil)
	_ workspace.Creator    = (*recorder)(nil)
	_ workspace.Mover      = (*recorder)(nil)
	_ workspace.Copier     = (*recorder)(nil)
	_ workspace.Exacter    = (*recorder)(nil)
	_ fallback.Hider       = (*recorder)(nil)
)

func newRecorder(fsys workspace.FileSystem, s *shared) (*recorder, error) {
	all, err := policy.Sub(fsys, ".")
	if err != nil {
		return nil, err
	}
	caps := workspace.CapabilitiesOf(fsys)
	return &recorder{reads: all, shared: s, files: fsys, writable: caps.Write, conditional: caps.ConditionalWrite}, nil
}

// Exact implements [workspace.Exacter].
func (r *recorder) Exact() (workspace.FileSystem, error) {
	exact, err := workspace.Exact(r.files)
	if err != nil {
		return nil, err
	}
	return newRecorder(exact, r.shared)
}

// Hide implements [fallback.Hider].
func (r *recorder) Hide(hidden func(dir string) func(name string, isDir bool) bool) (workspace.FileSystem, error) {
	hiding, err := r.reads.Hide(hidden)
	if err != nil {
		return nil, err
	}
	view := *r
	view.reads = hiding.(reads)
	return &view, nil
}

// begin returns a change that begins now, in the session of ctx.
func (r *recorder) begin(ctx context.Context, op, name, to string) *Change {
	id := session.ID(ctx)
	if id == "" {
		id = r.session
	}
	return &Change{Time: r.journal.now().UTC(), Session: id, Call: session.Call(ctx), Op: op, Path: name, To: to}
}

// record makes a change: it adds c to the journal, calls do, and notes in the journal
// that it is done. do may complete the steps, with versions for instance. If do fails,
// nothing has changed and c is removed again, unless that is not certain. Of a change that is
// not [session.Undoable], the journal has nothing.
func (r *recorder) record(ctx context.Context, c *Change, do func() error) error {
	if r.journal.now().Sub(c.Time) > maxDelay { // its contents may have been deleted
		return storeError(c.Op, c.Path, notKept, fmt.Errorf("that took longer than %s", maxDelay))
	}
	if !session.Undoable(ctx) {
		if err := r.journal.try(ctx, c); err != nil {
			return r.journal.refused(ctx, c.Op, c.Path, err)
		}
		return do()
	}
	if err := r.journal.add(ctx, c); err != nil {
		return r.journal.refused(ctx, c.Op, c.Path, err)
	}
	err := do()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishTimeout)
	defer cancel()
	switch {
	case err == nil:
		// If this fails, whoever reads the journal finds out by comparing.
		c.Done = true
		_ = r.journal.update(ctx, c)
		r.journal.tidy(ctx, c.Number)
	case !errcode.Uncertain(err) && !c.divisible():
		_ = r.journal.remove(ctx, c.Number)
	}
	return err
}

// tidy prunes the journal if enough has changed since the last time, by this program or, as
// the number of the change shows, by all. It reports no error, because that change has been
// made; a later one tries again.
func (j *journal) tidy(ctx context.Context, number int64) {
	j.mu.Lock()
	j.since++
	due := j.since >= pruneEvery || number%pruneEvery == 0 || j.bytes > j.limits.KeepBytes/4
	if due {
		j.since, j.bytes = 0, 0
	}
	j.mu.Unlock()
	if due {
		_ = j.prune(ctx)
	}
}

// notKept is what the error says about a change that is refused because the store fails.
const notKept = "its backup cannot be kept"

// refused returns the error of a change for which the store failed with err. What is in the
// place of a directory of the store stays there until somebody moves it away, so that is
// [errors.ErrUnsupported]: the same change would fail again. If the store has no remedy for a
// missing right, the error has one that names its directory.
func (j *journal) refused(ctx context.Context, op, name string, err error) error {
	if blocked := j.blocked(ctx, op, name, notKept, err); blocked != nil {
		return blocked
	}
	if errors.Is(err, fs.ErrPermission) && ops.RemedyOf(err) == "" {
		remedy := ops.Remedy("let this user create and change files in " + j.dir + ", where the backups are")
		return ops.Error(op, name, fs.ErrPermission, fmt.Errorf("%s: %w", notKept, remedy))
	}
	return storeError(op, name, notKept, err)
}

// blocked returns the error of a call that could not do what because of an obstacle, nil if
// that is not why the store failed with err.
func (j *journal) blocked(ctx context.Context, op, name, what string, err error) error {
	if !errors.Is(err, workspace.ErrNotDir) && !errors.Is(err, workspace.ErrSymlink) {
		return nil
	}
	path := j.obstacle(ctx)
	if path == "" {
		return nil
	}
	remedy := ops.Remedy("move " + path + " away, which is in the place of a directory of the backups")
	return ops.Error(op, name, errors.ErrUnsupported, fmt.Errorf("%s: %w", what, remedy))
}

// obstacle returns the name of the file or symlink that is in the place of a directory of the
// store, "" if there is none.
func (j *journal) obstacle(ctx context.Context) string {
	for _, dir := range []string{j.changesDir(), j.contentsDir()} {
		elements := strings.Split(dir, "/")
		for i := range elements {
			name := strings.Join(elements[:i+1], "/")
			if info, err := j.files.Stat(ctx, name); err == nil && !info.IsDir() {
				return name
			}
		}
	}
	return ""
}

// finishTimeout is how long the journal may take after a change, whose context may
// have ended.
const finishTimeout = 10 * time.Second

// divisible reports whether c may have taken place in part.
func (c *Change) divisible() bool {
	return len(c.Steps) > 1 && (c.Undoes != 0 || c.Op == ops.Rm || c.Op == ops.Move)
}

// keep keeps the bytes of the file name for a change op that may keep so many more
// bytes, and returns its state. With AllowUnkept, a larger file is not kept. If ifVersion is
// not empty, a file with another version is [workspace.ErrConflict], and is not kept: whoever
// tries again and again must not fill the store.
func (r *recorder) keep(ctx context.Context, op, name string, limit int64, ifVersion workspace.Version) (State, error) {
	data, version, err := workspace.ReadVersioned(ctx, r.files, name, max(limit, 1)) // zero would be no limit
	switch {
	case errors.Is(err, workspace.ErrTooLarge):
		return r.tooLarge(ctx, op, name)
	case err != nil:
		return absent, ops.Rename(err, op, name)
	case ifVersion != "" && version != ifVersion:
		return absent, ops.Error(op, name, workspace.ErrConflict, nil)
	}
	s, err := r.journal.keep(ctx, data, version)
	if err != nil {
		return absent, r.journal.refused(ctx, op, name, err)
	}
	return s, nil
}

// tooLarge returns the state of a file that is too large to keep, or the error of
// its change.
func (r *recorder) tooLarge(ctx context.Context, op, name string) (State, error) {
	info, err := r.files.Stat(ctx, name)
	if err == nil && !r.allowUnkept {
		cause := fmt.Errorf("the change would replace or remove more than the %s that can be kept to undo it", wording.Bytes(r.maxChange))
		if r.maxChange == r.journal.limits.KeepBytes/4 { // as in a configuration, not in a transaction
			cause = fmt.Errorf("%w: %w", cause, ops.Remedy("raise backup.maxMb in the configuration: this is a quarter of it"))
		}
		err = ops.Error(op, name, workspace.ErrTooLarge, cause)
	}
	return stateOf(info), ops.Rename(err, op, name)
}

// missing returns the steps that create name, if it does not exist, and those of its
// parents that do not, from the top.
func (r *recorder) missing(ctx context.Context, name string) []Step {
	var steps []Step
	for ; name != "."; name, _ = workspace.Split(name) {
		// Any other error is the error of the operation, too.
		if _, err := r.files.Stat(ctx, name); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		steps = append(steps, Step{name, absent, directory})
	}
	slices.Reverse(steps)
	return steps
}

// missingParents is missing for the directory of name.
func (r *recorder) missingParents(ctx context.Context, name string) []Step {
	dir, _ := workspace.Split(name)
	return r.missing(ctx, dir)
}

// WriteFile implements [workspace.FileSystem].
func (r *recorder) WriteFile(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
	after := State{Type: workspace.TypeFile, Size: int64(len(data)), SHA256: hashOf(data)}
	return r.write(ctx, ops.WriteFile, name, after, opts, func(opts *workspace.WriteOptions) (workspace.Version, error) {
		return r.files.WriteFile(ctx, name, data, opts)
	})
}

// maxConflicts is how often a write without a condition begins again because another
// process has replaced the bytes that it kept.
const maxConflicts = 100

// write records a write of name, which commit does under the conditions that it gets.
func (r *recorder) write(ctx context.Context, op, name string, after State, opts *workspace.WriteOptions, commit func(*workspace.WriteOptions) (workspace.Version, error)) (workspace.Version, error) {
	var o workspace.WriteOptions
	if opts != nil {
		o = *opts
	}
	conditioned := o != workspace.WriteOptions{}
	if !r.writable || conditioned && !r.conditional || o.IfNotExist && o.IfVersion != "" {
		return commit(&o) // which refuses
	}
	unlock, err := r.locks.one(ctx, op, name)
	if err != nil {
		return "", err
	}
	defer unlock()
	for range maxConflicts {
		c, err := r.writing(ctx, op, name, o)
		if err != nil {
			return "", err
		}
		before := c.Steps[len(c.Steps)-1].Before
		if !conditioned && r.conditional {
			o = workspace.WriteOptions{IfVersion: before.Version, IfNotExist: before == absent}
		}
		version, err := r.commit(ctx, c, after, func() (workspace.Version, error) { return commit(&o) })
		lost := errors.Is(err, workspace.ErrConflict) || errors.Is(err, fs.ErrExist)
		if conditioned || !lost {
			return version, err
		}
		o = workspace.WriteOptions{}
	}
	return "", ops.Error(op, name, workspace.ErrUnavailable, errors.New("other programs write it all the time"))
}

// writing returns the change of a write of name, which keeps the bytes that it
// replaces. The last step is for name, without the state after it.
func (r *recorder) writing(ctx context.Context, op, name string, o workspace.WriteOptions) (*Change, error) {
	c := r.begin(ctx, op, name, "")
	before := absent
	if o.IfNotExist {
		// A record of a write that the store is going to refuse would be a puzzle after
		// a crash.
		_, err := r.files.Stat(ctx, name)
		switch {
		case err == nil:
			return nil, ops.Error(op, name, fs.ErrExist, nil)
		case !errors.Is(err, fs.ErrNotExist):
			return nil, ops.Rename(err, op, name)
		}
	} else {
		var err error
		before, err = r.keep(ctx, op, name, r.maxChange, o.IfVersion)
		missing := errors.Is(err, fs.ErrNotExist)
		if o.IfVersion != "" && (missing || err == nil && before.Version != o.IfVersion) {
			return nil, ops.Error(op, name, workspace.ErrConflict, nil)
		}
		if err != nil && !missing {
			return nil, err
		}
	}
	if before == absent {
		c.Steps = r.missingParents(ctx, name)
	}
	c.Steps = append(c.Steps, Step{Path: name, Before: before})
	return c, nil
}

// commit records c, whose last step leads to after, with the version that do returns.
func (r *recorder) commit(ctx context.Context, c *Change, after State, do func() (workspace.Version, error)) (version workspace.Version, err error) {
	last := &c.Steps[len(c.Steps)-1]
	last.After = after
	err = r.record(ctx, c, func() error {
		version, err = do()
		last.After.Version = version
		return err
	})
	return version, err
}

// Mkdir implements [workspace.FileSystem].
func (r *recorder) Mkdir(ctx context.Context, name string, opts *workspace.MkdirOptions) error {
	unlock, err := r.locks.one(ctx, ops.Mkdir, name)
	if err != nil {
		return err
	}
	defer unlock()
	c := r.begin(ctx, ops.Mkdir, name, "")
	c.Steps = r.missing(ctx, name)
	if len(c.Steps) == 0 || !r.writable { // it exists, or this fails
		return r.files.Mkdir(ctx, name, opts)
	}
	return r.record(ctx, c, func() error { return r.files.Mkdir(ctx, name, opts) })
}

// Copy implements [workspace.Copier]. The bytes of a copy are those of its source,
// so they are neither read nor kept.
func (r *recorder) Copy(ctx context.Context, source, destination string) (workspace.Version, error) {
	unlock, err := r.locks.one(ctx, ops.Copy, destination)
	if err != nil {
		return "", err
	}
	defer unlock()
	info, err := r.files.Stat(ctx, source)
	c := r.begin(ctx, ops.Copy, source, destination)
	c.Steps = r.missing(ctx, destination)
	if err != nil || info.Type != workspace.TypeFile || len(c.Steps) == 0 || !r.writable { // then this fails
		return workspace.Copy(ctx, r.files, source, destination)
	}
	return r.commit(ctx, c, State{Type: info.Type, Size: info.Size}, func() (workspace.Version, error) {
		return workspace.Copy(ctx, r.files, source, destination)
	})
}
