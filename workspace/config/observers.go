package config

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync/atomic"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/audit"
	"github.com/workspacekit/workspacekit/workspace/backup"
	"github.com/workspacekit/workspacekit/workspace/config/internal/document"
	"github.com/workspacekit/workspacekit/workspace/fallback"
	"github.com/workspacekit/workspacekit/workspace/gitstage"
	"github.com/workspacekit/workspacekit/workspace/kind"
	"github.com/workspacekit/workspacekit/workspace/observe"
)

// Audit says where each operation on a workspace is recorded, denials included: see
// package audit.
type Audit struct {
	// File is the path of the log, from the folder of the file if it is relative. It
	// is created if it does not exist. Several workspaces can have one log.
	File string `json:"file" jsonschema:"The log, created if it does not exist. In local folders of the file, only commands without a sandbox, or during which it rotates, can change it."`
	// HashPaths lets the log have no names but their HMAC.
	HashPaths bool `json:"hashPaths,omitempty" jsonschema:"Replaces names in the log by their HMAC with the key in keyFile."`
	// KeyFile is the path of the file with the key of HashPaths, which is created if
	// it does not exist. Empty means File with ".key" appended.
	KeyFile string `json:"keyFile,omitempty" jsonschema:"The file with the key for hashPaths, created if it does not exist. Default: the name of the log with .key appended."`
	// Sync lets each line reach the disk before its operation returns.
	Sync bool `json:"sync,omitempty" jsonschema:"Makes each line survive a loss of power."`
	// MaxSizeMb is the size in MiB at which the log goes on in a new file, and the old
	// one gets a number: see package audit. Zero means that it is one file.
	MaxSizeMb int64 `json:"maxSizeMb,omitempty" jsonschema:"The size in MiB at which a new file begins; the old one gets a number. Not on Windows. Default: the log is one file."`
	// Keep is how many of the old files are kept. Zero means all.
	Keep int `json:"keep,omitempty" jsonschema:"How many old files are kept. Default: all."`
}

// check adds what is wrong with the settings that n has, beside their types.
func (a *Audit) check(p *diagnostics, n *document.Node) {
	if file := n.Lookup("file"); file != nil && file.Kind == document.Text && file.Text == "" {
		p.Add(file.At, "file is empty: name the log")
	}
	for key, path := range map[string]string{"file": a.File, "keyFile": a.KeyFile} {
		if err := ops.CheckHostPath(path); err != nil {
			p.Add(n.Lookup(key).At, "%s: %s", key, document.Redact(err.Error(), n.Lookup(key).Used))
		}
	}
	if key := n.Lookup("keyFile"); key != nil && !a.HashPaths {
		p.Add(key.At, "keyFile is of no use without hashPaths: true")
	}
	size, keep := n.Lookup("maxSizeMb"), n.Lookup("keep")
	if size != nil && size.IsInteger() && (a.MaxSizeMb < 1 || a.MaxSizeMb > maxMb) {
		p.Add(size.At, "maxSizeMb must be between 1 and %d, in MiB: leave it out for a log of one file", int64(maxMb))
	}
	if keep != nil && keep.IsInteger() && a.Keep < 1 {
		p.Add(keep.At, "keep must be at least 1: leave it out to keep all files")
	}
	if keep != nil && size == nil {
		p.Add(keep.At, "keep is of no use without maxSizeMb")
	}
}

// at returns a with absolute paths, which in takes from the folder of the file.
func (a *Audit) at(in kind.Input) *Audit {
	if a == nil {
		return nil
	}
	found := *a
	found.File = in.Path(a.File)
	switch {
	case !a.HashPaths:
	case a.KeyFile == "":
		found.KeyFile = found.File + ".key"
	default:
		found.KeyFile = in.Path(a.KeyFile)
	}
	return &found
}

// grants returns what the settings use beyond memory and the folder of the file. A
// log inside the folder is among it: somebody might have put a file there that must
// not grow.
func (a *Audit) grants() []string {
	if a == nil {
		return nil
	}
	files := []string{"the audit log " + a.File}
	if a.KeyFile != "" {
		files = append(files, "the key of an audit log, "+a.KeyFile)
	}
	return files
}

// open returns the log that a, which has absolute paths, describes, nil for none.
func (a *Audit) open() (*audit.Log, error) {
	if a == nil {
		return nil, nil
	}
	opts := &audit.Options{Sync: a.Sync, MaxSize: a.MaxSizeMb << 20, Keep: a.Keep}
	if a.HashPaths {
		var err error
		opts.Key, err = audit.LoadKey(a.KeyFile)
		switch {
		case errors.Is(err, fs.ErrNotExist) && filepath.Dir(a.KeyFile) == filepath.Dir(a.File): // perhaps only the log was named
			return nil, fmt.Errorf("audit log: %w", withFolder(a.File, err))
		case err != nil:
			return nil, fmt.Errorf("audit log: the key: %w", withFolder(a.KeyFile, err))
		}
	}
	log, err := audit.Open(a.File, opts)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("audit log: %w", withFolder(a.File, err))
	}
	return log, err
}

// withFolder returns err with a remedy if the file cannot be created as its folder is missing.
func withFolder(file string, err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return ops.Error(ops.Open, file, fs.ErrNotExist, ops.Remedy("create its folder first, or correct the path"))
}

// Git says what happens to the git repository that a local folder is in, if it is in
// one: see package gitstage.
type Git struct {
	// Stage stages what is written, removed and moved.
	Stage bool `json:"stage" jsonschema:"Stages changes in the git repository that a file is in, if any."`
}

// on reports whether g asks for something.
func (g *Git) on() bool { return g != nil && g.Stage }

// watchers is who observes a workspace.
type watchers struct {
	audit *Audit // nil for no log; its paths are absolute
	git   *Git   // nil for no staging
}

// watchers returns who observes the workspace d.
func (d *description) watchers(in kind.Input) watchers { return watchers{d.Audit.at(in), d.Git} }

// watchingLog is a log that learns of what would have been refused, if rules are not
// enforced.
type watchingLog struct{ *audit.Log }

// denialKey is the key of the rule that would have refused an operation.
type denialKey struct{}

// Before implements [observe.Observer].
func (l watchingLog) Before(ctx context.Context, e observe.Event) (context.Context, error) {
	return l.Log.Before(context.WithValue(ctx, denialKey{}, new(atomic.Pointer[string])), e)
}

// After implements [observe.Observer].
func (l watchingLog) After(ctx context.Context, e observe.Event) {
	if rule, ok := ctx.Value(denialKey{}).(*atomic.Pointer[string]); ok && rule.Load() != nil && e.Decision == observe.Allowed {
		e.Decision, e.Rule = observe.WouldDeny, *rule.Load()
	}
	l.Log.After(ctx, e)
}

// opUndo is the operation of the events of changes that were undone, which is below
// the observers.
const opUndo = "undo"

// newStager returns what stages the changes of fsys. log, which may be nil, learns what was
// staged.
func newStager(fsys workspace.FileSystem, log *audit.Log) (*gitstage.Stager, error) {
	opts := &gitstage.Options{}
	if log != nil {
		opts.Report = log
	}
	stager, err := gitstage.Open(fsys, filepath.FromSlash(fallback.Root(fsys)), opts)
	if err != nil {
		return nil, &settingError{"git", err}
	}
	return stager, nil
}

// over returns seen, which shows files with their settings, with the observers log and
// stager, unless they are nil. They are outside of all policies, so they see what callers
// ask for.
func over(seen workspace.FileSystem, name string, log *audit.Log, stager *gitstage.Stager, mode Mode) workspace.FileSystem {
	var observers []observe.Observer
	switch {
	case log != nil && mode == ModeAudit:
		observers = append(observers, watchingLog{log})
	case log != nil:
		observers = append(observers, log)
	}
	if stager != nil {
		observers = append(observers, stager)
	}
	return observe.New(seen, name, observers...)
}

// rolledBack returns what tells log and stager, which may be nil, of the changes of the
// workspace name that were undone because their transaction failed.
func rolledBack(log *audit.Log, stager *gitstage.Stager, name string) func(ctx context.Context, reverted backup.Change) {
	logged := undone(log, name)
	if stager == nil {
		return logged
	}
	return func(ctx context.Context, reverted backup.Change) {
		if logged != nil {
			logged(ctx, reverted)
		}
		restage(ctx, stager, name, reverted)
	}
}

// restage lets stager stage the files of a change of the workspace name that was undone, as
// they are now.
func restage(ctx context.Context, stager *gitstage.Stager, name string, reverted backup.Change) {
	e := observe.Event{Session: reverted.Session, Workspace: name}
	if reverted.Op == ops.Move {
		e.Op, e.Path, e.To = ops.Move, reverted.To, reverted.Path
		stager.After(ctx, e)
		return
	}
	for _, step := range reverted.Steps {
		switch {
		case step.Before.Type == workspace.TypeFile:
			e.Op = ops.WriteFile
		case step.After.Type == workspace.TypeFile:
			e.Op = ops.Rm
		default:
			continue
		}
		e.Path = step.Path
		stager.After(ctx, e)
	}
}
