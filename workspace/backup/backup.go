package backup

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"strings"
	"time"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/session"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// The defaults of [Options].
const (
	DefaultDir       = ".workspacekit/backups"
	DefaultKeep      = 100
	DefaultKeepBytes = 256 << 20
	DefaultMaxChange = 64 << 20
)

// Options say where backups are, and how many of them.
type Options struct {
	// Store is where the backups are. Nil means the FileSystem that is wrapped:
	// then nobody can see or change Dir through the [FS]. Whoever sets Store to
	// the same files hides Dir from the FileSystem that is wrapped, as [Hide]
	// does. Store should have conditional writes: without them, one process at
	// a time can use it. Several FileSystems cannot share one Dir.
	Store workspace.FileSystem
	// Dir is the directory in Store, not in a ".git". Empty means [DefaultDir].
	Dir string
	// Keep is how many changes can be undone. Zero means [DefaultKeep].
	Keep int
	// KeepBytes is how many bytes of contents are kept for changes that can be undone. The
	// last change is kept whatever its size, and other contents are deleted an hour or two
	// after they were stored, at the earliest. Zero means [DefaultKeepBytes].
	KeepBytes int64
	// KeepFor is how long a change can be undone. Zero means as long as the other
	// limits allow.
	KeepFor time.Duration
	// MaxChange is how many bytes one change may replace or remove. A larger one
	// is refused with [workspace.ErrTooLarge], unless AllowUnkept is set. Zero means
	// [DefaultMaxChange].
	MaxChange int64
	// AllowUnkept lets changes through whose bytes are more than MaxChange. They
	// cannot be undone.
	AllowUnkept bool
	// KeepGit reports whether Undo refuses, with [workspace.ErrPolicy], to change a name in a
	// ".git" directory. It is for names that cannot be changed through the FileSystem: a
	// journal that says otherwise came with a repository that was cloned, and whoever wrote it
	// must not choose what git does here. Nil means that it refuses none.
	KeepGit func(name string) bool
	// Undone is called after each change that Undo has reverted, with the change. It must
	// change nothing by the FS, where changes wait for the Undo. Nil means that nobody is
	// told.
	Undone func(ctx context.Context, reverted Change)
}

// withDefaults returns o with the defaults for what is zero.
func (o Options) withDefaults() Options {
	o.Dir = cmp.Or(o.Dir, DefaultDir)
	o.Keep = cmp.Or(o.Keep, DefaultKeep)
	o.KeepBytes = cmp.Or(o.KeepBytes, DefaultKeepBytes)
	o.MaxChange = cmp.Or(o.MaxChange, DefaultMaxChange)
	return o
}

// FS is a [workspace.FileSystem] whose changes can be undone. It has the optional
// interfaces of the FileSystem that it wraps, and cannot be unwrapped. Reading
// goes straight there. It is safe for concurrent use.
//
// An operation fails, and changes nothing, if the bytes that it would replace or
// remove cannot be kept, unless they are too many and [Options].AllowUnkept is set.
type FS struct {
	followed
	r *recorder
}

// followed follows the symlinks in names before the recorder, which follows none,
// is asked to change something.
type followed = *policy.RestrictedFS

// New returns fsys with backups. Nil opts mean the zero Options. It reads and
// writes nothing: a Dir that cannot be used is the error of the first change.
//
// # Errors
//
// [io/fs.ErrInvalid] for options that make no sense, and [errors.ErrUnsupported]
// if fsys or the store follows symlinks and cannot refuse to ([workspace.Exact]).
func New(fsys workspace.FileSystem, opts *Options) (*FS, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	o = o.withDefaults()
	if ops.InGit(o.Dir) { // whose files have names like those of backups
		return nil, ops.Error(ops.Backup, o.Dir, fs.ErrInvalid, errors.New("name a directory outside of .git"))
	}
	if o.Dir == "." || o.Keep < 0 || o.KeepBytes < 0 || o.KeepFor < 0 || o.MaxChange < 0 {
		return nil, ops.Error(ops.Backup, o.Dir, fs.ErrInvalid, errors.New("name a directory below the root, and limits above zero"))
	}
	if o.Store == nil {
		hidden, err := Hide(fsys, o.Dir)
		if err != nil {
			return nil, err
		}
		fsys, o.Store = hidden, fsys
	}
	j, err := newJournal(o)
	if err != nil {
		return nil, err
	}
	r, err := newRecorder(fsys, &shared{
		journal: j, session: session.NewID(), maxChange: o.MaxChange, allowUnkept: o.AllowUnkept, keepGit: o.KeepGit, undone: o.Undone, locks: newLocks(),
	})
	if err != nil {
		return nil, err
	}
	all, err := policy.Protect(r, func(string) string { return "" }, nil)
	if err != nil {
		return nil, ops.Rename(err, ops.Backup, o.Dir)
	}
	return &FS{followed: all, r: r}, nil
}

// Hide returns fsys without the directories dirs of backups: they are absent from
// listings and searches, and every operation on them is [workspace.ErrPolicy].
//
// # Errors
//
// Those of [policy.Restrict], and [io/fs.ErrInvalid] for a directory that is no
// valid name.
func Hide(fsys workspace.FileSystem, dirs ...string) (workspace.FileSystem, error) {
	var patterns []string
	for _, dir := range dirs {
		if err := ops.CheckName(dir); err != nil {
			return nil, ops.Error(ops.Backup, dir, err, nil)
		}
		pattern := globEscaper.Replace(dir)
		if !strings.Contains(dir, "/") {
			pattern += "/**" // which makes it a path from the root, and matches dir itself, too
		}
		patterns = append(patterns, pattern)
	}
	hidden, err := policy.Restrict(fsys, policy.Rules{JournalPaths: patterns, AllowRun: true})
	if err != nil {
		return nil, err
	}
	return hidden, nil
}

// globEscaper turns a name into a pattern that matches nothing else.
var globEscaper = strings.NewReplacer(`\`, `\\`, "!", `\!`, "*", `\*`, "?", `\?`, "[", `\[`, "]", `\]`, "{", `\{`, "}", `\}`)

// Close closes the FileSystem that is wrapped if it is an [io.Closer]. The store is
// its owner's.
func (f *FS) Close() error {
	if closer, ok := workspace.As[io.Closer](f.r.files); ok {
		return closer.Close()
	}
	return nil
}

// shared is what a recorder and its exact view have in common.
type shared struct {
	journal     *journal
	session     string // of changes without a session in their context
	maxChange   int64
	allowUnkept bool
	keepGit     func(name string) bool // nil for no name
	locks       *locks
	undone      func(ctx context.Context, reverted Change) // nil if nobody is told
}
