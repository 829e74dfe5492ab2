// Package transaction makes several changes of a workspace as one: all of them take
// place, or none does. In go a [workspace.FileSystem] and a function; out come its
// changes, or the state before them.
//
//	fsys, err := transaction.New(local, nil)
//	ws := workspace.New("repo", fsys, nil)
//	err = ws.Transaction(ctx, func(ctx context.Context) error { return ws.Rm(ctx, "old.md", nil) })
//
// [New] adds transactions to a FileSystem, below policies and whatever else restricts
// callers, so that nothing forbids to undo a change. The Transaction of a
// [workspace.Workspace] finds it there. [Run] needs no New in a workspace without policies.
//
// # What is guaranteed
//
// If the function returns an error, panics, or its context ends, its changes are undone
// before Transaction returns. If the program is killed, they are undone by the next
// Transaction of any program, by the first change through an [FS], by [Recover], and when
// package config opens a folder that can be changed. A change is undone by package backup:
// files get the bytes that they had, and what was created is removed. A transaction in the
// function of another, with the context and the workspace that the function gets, is a part
// of it, and is undone with it, not by itself.
//
// Other readers see each change when it is made, and see it disappear if it is undone:
// there is no isolation. Each single file has its old bytes or its new ones, whole.
//
// A file that somebody else has changed since the transaction changed it is left as it is
// when the rest is undone. That is an error that wraps [workspace.ErrConflict] and names
// the file. What was in a directory that is a file now does not come back. So the changes of
// others are never lost, as long as the function makes its own on a condition (IfVersion,
// IfNotExist). To remove or move a file has no condition in the contract: what another
// program writes to it in the same moment is lost.
//
// The same holds for a bucket. A store without conditional writes has these guarantees
// if only one program at a time changes it.
//
// Modes and modification times are not brought back, nor is what no listing shows in a
// directory that is removed, nor are symlinks: a Rm of one cannot be undone, and is refused
// in a transaction. So is a change that replaces or removes more than
// [backup.DefaultMaxChange] bytes, with [workspace.ErrTooLarge].
//
// # How it works
//
// A transaction has a directory with a name that nobody can guess. There is its state and,
// below changes, the journal of package backup for what it changes:
//
//	.workspacekit/transactions/<id>/state.json   {"state": "open", "process": ..., "until": ...}
//	.workspacekit/transactions/<id>/changes/...
//
// The state becomes "done" or "undoing" with a conditional write, so only one of these
// happens, whoever tries. "done" is the moment at which the transaction has taken place.
// The directory is removed then, or when all is undone; the state is removed last.
//
// An open transaction belongs to its process. Another process undoes it once it knows that
// this process has ended, or, as it may not know that (another user, computer or container),
// [MaxDuration] and some minutes after the beginning. A transaction ends after MaxDuration,
// so it never continues after that.
//
// A journal may also have come with the files, in a repository that somebody has cloned. So
// a transaction of another user or computer that has changed ".git" is never undone by itself:
// that is an error, which names its directory. So is a state that cannot be read, and a change
// that cannot be undone, such as one whose old bytes the journal lacks: the others are undone.
// None of these is a reason to refuse another transaction.
package transaction

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"

	"sync/atomic"
	"time"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/session"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/backup"
	"github.com/workspacekit/workspacekit/workspace/fallback"
)

// DefaultDir is the directory for the transactions that run, where [Options] name none.
const DefaultDir = ".workspacekit/transactions"

// MaxDuration is how long a transaction may take. Its context ends then.
const MaxDuration = 15 * time.Minute

// Options say where the journals of transactions are.
type Options struct {
	// Store is where they are. Nil means the FileSystem itself: then nobody can see or
	// change Dir through the [FS]. Whoever sets Store to the same files hides Dir, as
	// [backup.Hide] does.
	Store workspace.FileSystem
	// Dir is the directory in Store, which exists only while it is needed. Empty means
	// [DefaultDir]. All programs that change the same files should name the same.
	Dir string
	// Undone is called after each change that was undone because its transaction failed, with
	// the change. It should not take long, as the undo waits for it. Nil means that nobody is
	// told.
	Undone func(ctx context.Context, reverted backup.Change)
}

// FS is a [workspace.FileSystem] with transactions. It has the optional interfaces of the
// FileSystem that it wraps. It is safe for concurrent use: changes with the context of a
// transaction belong to it, and any others go straight to the FileSystem.
type FS struct {
	workspace.FileSystem
	*shared
	exact bool // the view that follows no symlink
}

// shared is what an FS and its exact view have in common.
type shared struct {
	fsys  workspace.FileSystem // that is wrapped
	store workspace.FileSystem
	dir   string
	id    string // of this one, among those of the process
	now   func() time.Time

	undone func(ctx context.Context, reverted backup.Change) // nil if nobody is told

	recovered atomic.Bool // what others left has been looked for
	active    sync.Map    // the directories of transactions that run here
}

var (
	_ workspace.FileSystem = (*FS)(nil)
	_ fallback.Unwrapper   = (*FS)(nil)
	_ workspace.Creator    = (*FS)(nil)
	_ workspace.Mover      = (*FS)(nil)
	_ workspace.Copier     = (*FS)(nil)
	_ workspace.Exacter    = (*FS)(nil)
	_ fallback.Transactor  = (*FS)(nil)
)

// New returns fsys with transactions. Nil opts mean the zero Options. It reads and writes
// nothing.
//
// # Errors
//
// [io/fs.ErrInvalid] for a Dir that is no directory below the root, and
// [errors.ErrUnsupported] if fsys follows symlinks and cannot refuse to
// ([workspace.Exact]).
func New(fsys workspace.FileSystem, opts *Options) (*FS, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	if o.Dir == "" {
		o.Dir = DefaultDir
	}
	if o.Dir == "." || !ops.ValidName(o.Dir) {
		return nil, ops.Error(ops.Transaction, o.Dir, fs.ErrInvalid, errors.New("name a directory below the root"))
	}
	if o.Store == nil {
		hidden, err := backup.Hide(fsys, o.Dir)
		if err != nil {
			return nil, ops.Rename(err, ops.Transaction, o.Dir)
		}
		fsys, o.Store = hidden, fsys
	}
	if _, err := workspace.Exact(fsys); err != nil {
		return nil, ops.Rename(err, ops.Transaction, o.Dir)
	}
	exact, err := workspace.Exact(o.Store)
	if err != nil {
		return nil, ops.Rename(err, ops.Transaction, o.Dir)
	}
	return &FS{FileSystem: fsys, shared: &shared{fsys: fsys, store: exact, dir: o.Dir, id: session.NewID(), now: time.Now, undone: o.Undone}}, nil
}

// Unwrap implements [fallback.Unwrapper]: reading goes straight to the FileSystem.
func (f *FS) Unwrap() workspace.FileSystem { return f.FileSystem }

// Exact implements [workspace.Exacter].
func (f *FS) Exact() (workspace.FileSystem, error) {
	exact, err := workspace.Exact(f.FileSystem)
	if err != nil {
		return nil, err
	}
	return &FS{FileSystem: exact, shared: f.shared, exact: true}, nil
}

// Close closes the FileSystem that is wrapped if it is an [io.Closer]. The store is its
// owner's.
func (f *FS) Close() error {
	if closer, ok := workspace.As[io.Closer](f.FileSystem); ok {
		return closer.Close()
	}
	return nil
}

// key is the key of the transaction of a [shared] in a context.
type key struct{ *shared }

// current returns the transaction that ctx belongs to, nil if it belongs to none.
func (s *shared) current(ctx context.Context) *running {
	tx, _ := ctx.Value(key{s}).(*running)
	return tx
}

// change makes a change of name with do, in the transaction of ctx if there is one.
func (f *FS) change(ctx context.Context, op, name string, do func(files workspace.FileSystem) error) error {
	tx := f.current(ctx)
	if tx == nil {
		f.recoverOnce(ctx)
		return do(f.FileSystem)
	}
	tx.mu.RLock()
	defer tx.mu.RUnlock()
	if tx.ended {
		return ops.Error(op, name, fs.ErrClosed, errors.New("the transaction has ended"))
	}
	if f.exact {
		return do(tx.exact)
	}
	return do(tx.files)
}

// recoverOnce tries to undo what has been left, before the first change. That it fails is no
// reason to refuse the change.
func (s *shared) recoverOnce(ctx context.Context) {
	if s.recovered.Swap(true) || !workspace.CapabilitiesOf(s.store).Write {
		return
	}
	if err := s.undoLeft(ctx); err != nil && ctx.Err() != nil {
		s.recovered.Store(false)
	}
}

// WriteFile implements [workspace.FileSystem].
func (f *FS) WriteFile(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (version workspace.Version, err error) {
	err = f.change(ctx, ops.WriteFile, name, func(files workspace.FileSystem) error {
		version, err = files.WriteFile(ctx, name, data, opts)
		return err
	})
	return version, err
}

// Create implements [workspace.Creator].
func (f *FS) Create(ctx context.Context, name string, opts *workspace.WriteOptions) (w workspace.Writer, err error) {
	err = f.change(ctx, ops.Create, name, func(files workspace.FileSystem) error {
		w, err = workspace.Create(ctx, files, name, opts)
		return err
	})
	if err == nil && f.current(ctx) != nil {
		w = &writer{w, f, ctx, name}
	}
	return w, err
}

// writer is a file that is created in a transaction. Its Commit is the change.
type writer struct {
	workspace.Writer
	fs   *FS
	ctx  context.Context
	name string
}

// Commit implements [workspace.Writer].
func (w *writer) Commit() (version workspace.Version, err error) {
	err = w.fs.change(w.ctx, ops.Create, w.name, func(workspace.FileSystem) error {
		version, err = w.Writer.Commit()
		return err
	})
	return version, err
}

// Rm implements [workspace.FileSystem].
func (f *FS) Rm(ctx context.Context, name string, opts *workspace.RmOptions) error {
	return f.change(ctx, ops.Rm, name, func(files workspace.FileSystem) error {
		if f.current(ctx) != nil {
			if err := restorable(ctx, f.FileSystem, name, opts); err != nil {
				return err
			}
		}
		return files.Rm(ctx, name, opts)
	})
}

// restorable returns the error of a removal that cannot be undone. The removal has
// any other error, too.
func restorable(ctx context.Context, fsys workspace.FileSystem, name string, opts *workspace.RmOptions) error {
	check := func(info workspace.FileInfo, err error) error {
		if err == nil && info.Type != workspace.TypeFile && !info.IsDir() {
			return ops.Error(ops.Rm, name, errors.ErrUnsupported, fmt.Errorf("a transaction cannot bring back %s, which is no file", info.Path))
		}
		return nil
	}
	info, err := fsys.Stat(ctx, name)
	if err := check(info, err); err != nil || opts == nil || !opts.Recursive || !info.IsDir() {
		return err
	}
	if err := workspace.Walk(ctx, fsys, name, nil, check); errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return nil
}

// Mkdir implements [workspace.FileSystem].
func (f *FS) Mkdir(ctx context.Context, name string, opts *workspace.MkdirOptions) error {
	return f.change(ctx, ops.Mkdir, name, func(files workspace.FileSystem) error { return files.Mkdir(ctx, name, opts) })
}

// Move implements [workspace.Mover].
func (f *FS) Move(ctx context.Context, source, destination string) error {
	return f.change(ctx, ops.Move, source, func(files workspace.FileSystem) error {
		return workspace.Move(ctx, files, source, destination)
	})
}

// Copy implements [workspace.Copier].
func (f *FS) Copy(ctx context.Context, source, destination string) (version workspace.Version, err error) {
	err = f.change(ctx, ops.Copy, source, func(files workspace.FileSystem) error {
		version, err = workspace.Copy(ctx, files, source, destination)
		return err
	})
	return version, err
}

// Check returns the error that [Run] returns at once, because of what ws is.
//
// # Errors
//
// [workspace.ErrPolicy] for policies without New below them, which could forbid to undo a
// change, and for a read-only workspace; [io/fs.ErrPermission] for one that cannot be changed.
func Check(ws *workspace.Workspace) error {
	ended, cancel := context.WithCancel(context.Background())
	cancel() // so nothing happens
	if err := ws.Transaction(ended, nil); errors.Is(err, workspace.ErrPolicy) {
		return err
	}
	if !ws.Capabilities().Write {
		return ops.Error(ops.Transaction, ".", fs.ErrPermission, nil)
	}
	return nil
}

// Run makes the changes of change as one. change gets a view of ws for its changes, with
// the context for them. See the package for what is guaranteed. Where ws has no
// transactions, Run adds them, and then other callers can see the journal.
//
// # Errors
//
// The error of change; those of [Check]; [workspace.ErrConflict] with each file that somebody
// else has changed meanwhile, and that was therefore not brought back; and those of the
// store that keeps the journal.
func Run(ctx context.Context, ws *workspace.Workspace, change func(ctx context.Context, tx *workspace.Workspace) error) error {
	called := false
	err := ws.Transaction(ctx, func(ctx context.Context) error {
		called = true
		return change(ctx, ws)
	})
	if called || !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	files, err := over(ws)
	if err != nil {
		return err
	}
	limit := ws.MaxFileSize()
	if limit == 0 {
		limit = -1
	}
	tx := workspace.New(ws.Name(), files, &workspace.Options{MaxFileSize: limit})
	return files.Transaction(ctx, func(ctx context.Context) error { return change(ctx, tx) })
}

// over returns ws with transactions, whose journals are in ws.
func over(ws *workspace.Workspace) (*FS, error) { return New(ws, &Options{Store: ws}) }

// Recover undoes the transactions of programs that have been killed. There need be none.
//
// # Errors
//
// Those of [Check] and of the store, and [workspace.ErrConflict] with each file that somebody
// else has changed since, and that was therefore not brought back, or with the directory of a
// transaction that is left alone.
func Recover(ctx context.Context, ws *workspace.Workspace) error {
	err := ws.Transaction(ctx, nil)
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	files, err := over(ws)
	if err != nil {
		return err
	}
	return files.Transaction(ctx, nil)
}
