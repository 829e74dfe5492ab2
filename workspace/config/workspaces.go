package config

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/audit"
	"github.com/workspacekit/workspacekit/workspace/backup"
	"github.com/workspacekit/workspacekit/workspace/config/internal/document"
	"github.com/workspacekit/workspacekit/workspace/fallback"
	"github.com/workspacekit/workspacekit/workspace/gitstage"
	"github.com/workspacekit/workspacekit/workspace/observe"
	"github.com/workspacekit/workspacekit/workspace/policy"
	"github.com/workspacekit/workspacekit/workspace/quota"
	"github.com/workspacekit/workspacekit/workspace/transaction"
)

// Workspaces is what [Config.Open] opened. It is safe for concurrent use.
type Workspaces struct {
	all    []*Workspace
	byName map[string]*Workspace
	tools  Tools
	config *Config
}

// All returns the workspaces in the order of the file.
func (w *Workspaces) All() []*Workspace { return slices.Clone(w.all) }

// Lookup returns the workspace with the given name.
func (w *Workspaces) Lookup(name string) (*Workspace, bool) {
	ws, ok := w.byName[name]
	return ws, ok
}

// Tools returns the settings of the tools.
func (w *Workspaces) Tools() Tools {
	settings := w.tools
	settings.Disable = slices.Clone(settings.Disable)
	return settings
}

// ToolsError returns err, which says what is wrong with the settings of the tools, with its
// place in the file, as [Config.CheckTools] does, and without values of the environment. It is
// nil if err is.
//
// # Errors
//
// An [*Error] with err.
func (w *Workspaces) ToolsError(err error) error {
	at := w.config.descriptions[0].at
	if w.config.tools != nil {
		at = w.config.tools.At
	}
	return w.config.toolsError(at, err)
}

// Close closes all workspaces, the last one first, and returns their errors.
func (w *Workspaces) Close() error {
	var errs []error
	for _, ws := range slices.Backward(w.all) {
		errs = append(errs, ws.Close())
	}
	return errors.Join(errs...)
}

// Workspace is a workspace that knows how it was opened.
type Workspace struct {
	*workspace.Workspace

	opener  provider
	fsys    workspace.FileSystem // of the provider, without settings
	layers  layers
	backups *backup.FS // nil for none
	quota   *quota.FS  // nil for none
}

// layers are what is around the provider of a workspace. They are shared and never
// changed.
type layers struct {
	settings *FS
	watchers watchers
	backup   *Backup              // nil for none
	store    workspace.FileSystem // for the backups; nil for the workspace itself
	hidden   []string             // directories with the backups of other workspaces
}

// newWorkspace returns the workspace over fsys in its layers. The observers are outside
// of all policies: they see what callers ask for. Backups are inside of them, as a backup
// reads what it keeps and writes on a condition, and policies are about what callers ask
// for. So are transactions, whose undo is a change for the backups.
func newWorkspace(opener provider, fsys workspace.FileSystem, l layers) (*Workspace, error) {
	w := &Workspace{opener: opener, fsys: fsys, layers: l}
	log, err := l.watchers.audit.open()
	if err != nil {
		return nil, &settingError{"audit", err}
	}
	var stager *gitstage.Stager
	if l.watchers.git.on() {
		if stager, err = newStager(fsys, log); err != nil {
			return nil, err
		}
	}
	seen, err := opener.protect(fsys)
	if err != nil {
		return nil, err
	}
	if seen, err = l.hideBackups(opener.in.Name, seen); err != nil {
		return nil, err
	}
	if w.backups, err = l.keepBackups(opener.in.Name, seen, fsys, log); err != nil {
		return nil, err
	}
	if w.backups != nil {
		seen = w.backups
	}
	if undoes, _ := l.settings.transactions(fsys); undoes {
		opts := &transaction.Options{Store: fsys}
		if log != nil || stager != nil {
			opts.Undone = rolledBack(log, stager, opener.in.Name)
		}
		if seen, err = transaction.New(seen, opts); err != nil {
			return nil, err
		}
	}
	if seen, err = l.settings.over(seen, fsys); err != nil {
		return nil, err
	}
	if limits := l.settings.Quota; limits != nil && !l.settings.ReadOnly {
		if w.quota, err = quota.New(seen, quota.Limits{Files: limits.Files, Bytes: limits.Mb << 20}); err != nil {
			return nil, err
		}
		seen = w.quota
	}
	if log != nil || stager != nil {
		seen = over(seen, opener.in.Name, log, stager, l.settings.Mode)
	}
	w.Workspace = workspace.New(opener.in.Name, seen, &workspace.Options{MaxFileSize: l.settings.MaxFileSizeMb << 20})
	return w, nil
}

// undoKilled undoes the changes of transactions whose programs were killed, if w is a folder that
// can be changed: in other stores, that waits for the first change.
func (w *Workspace) undoKilled(ctx context.Context) {
	if undoes, _ := w.layers.settings.transactions(w.fsys); !undoes || !w.opener.kind.Local {
		return
	}
	// A path of this computer is enough to see that nothing was left.
	if _, err := os.Lstat(filepath.Join(fallback.Root(w.fsys), transaction.DefaultDir)); err == nil {
		_ = w.Transaction(ctx, nil) // what cannot be undone yet is tried again
	}
}

// keepBackups returns fsys with backups, nil if there are none. raw is the FileSystem of
// the provider. log, which may be nil, learns what is undone.
func (l layers) keepBackups(name string, fsys, raw workspace.FileSystem, log *audit.Log) (*backup.FS, error) {
	if l.backup == nil || l.settings.ReadOnly {
		return nil, nil
	}
	opts := &backup.Options{
		Store: l.store, Dir: l.backup.dir(name), Keep: l.backup.Keep,
		KeepBytes: l.backup.MaxMb << 20, MaxChange: l.backup.MaxMb << 18,
		KeepGit: l.settings.protectsGit(), Undone: undone(log, name),
	}
	if l.store == nil {
		opts.Store = raw
	}
	return backup.New(fsys, opts)
}

// protectsGit returns what reports whether the rules refuse a change of a name in a ".git"
// directory, or ask about one. It returns nil if they protect nothing. Another spelling of
// ".git", which only some file systems have, is protected by any rule: patterns do not match it.
func (s FS) protectsGit() func(name string) bool {
	rules := s.Policy()
	if rules.Empty() || s.Mode == ModeAudit {
		return nil
	}
	return func(name string) bool {
		for _, op := range []policy.Op{policy.OpWrite, policy.OpEdit, policy.OpDelete, policy.OpMove, policy.OpMkdir} {
			if d, err := policy.Explain(rules, op, name); err != nil || d.Effect != policy.Allow {
				return true
			}
		}
		return !strings.Contains("/"+strings.ToLower(name)+"/", "/.git/")
	}
}

// undone returns what tells log, which may be nil, of the changes of the workspace name
// that were undone.
func undone(log *audit.Log, name string) func(ctx context.Context, reverted backup.Change) {
	if log == nil {
		return nil
	}
	return func(ctx context.Context, reverted backup.Change) {
		log.After(ctx, observe.Finished(observe.Event{
			Time: time.Now(), Session: reverted.Session, Workspace: name, Op: opUndo, Path: reverted.Path, To: reverted.To,
		}, nil))
	}
}

// hideBackups returns fsys without the directories that have backups.
func (l layers) hideBackups(name string, fsys workspace.FileSystem) (workspace.FileSystem, error) {
	hidden := slices.Clone(l.hidden)
	if l.backup != nil && l.store == nil {
		hidden = append(hidden, l.backup.dir(name))
	}
	if len(hidden) == 0 {
		return fsys, nil
	}
	return backup.Hide(fsys, hidden...)
}

// Backups returns the backups of w, which can undo changes. It returns nil if w keeps
// none.
func (w *Workspace) Backups() *backup.FS { return w.backups }

// Quota returns what counts the writes of sessions in w. It returns nil if there is no
// limit for them.
func (w *Workspace) Quota() *quota.FS { return w.quota }

// Kind returns the kind of its provider.
func (w *Workspace) Kind() string { return w.opener.name }

// Settings returns the settings that hold for it.
func (w *Workspace) Settings() FS {
	return w.layers.settings.clone()
}

// Close closes the provider, and the provider of the backups.
func (w *Workspace) Close() error { return errors.Join(closeIt(w.fsys), closeIt(w.layers.store)) }

// maxAbout is how many bytes [Workspace.About] returns at most.
const maxAbout = 200

// About says in a few words what the provider of w runs on, with versions, for
// people: "Docker Engine 20.10.24 (linux/amd64)". It is one line without
// control characters, of at most 200 bytes, and empty if nothing is known. It may start what the
// first use of w would start.
//
// # Errors
//
// Those of [kind.Kind].About.
func (w *Workspace) About(ctx context.Context) (string, error) {
	kind := w.opener.kind
	if kind.About == nil {
		return "", nil
	}
	said, err := kind.About(ctx, w.fsys, w.opener.in)
	if err != nil {
		return "", err
	}
	said = strings.TrimSpace(document.Printable(said))
	if len(said) <= maxAbout {
		return said, nil
	}
	end := maxAbout
	for !utf8.RuneStart(said[end]) {
		end--
	}
	return said[:end], nil
}
