package config

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/workspacekit/workspacekit/internal/wording"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/backup"
	"github.com/workspacekit/workspacekit/workspace/fallback"
	"github.com/workspacekit/workspacekit/workspace/transaction"
)

// Open opens the workspaces with the given names, or all of them if there are
// no names. If one fails, the others are closed. Open starts nothing that can wait
// for the first use.
//
// # Errors
//
// An [*Error], which has the kinds of the error of a provider for [errors.Is],
// [ErrUntrusted] for what an untrusted file may not use; a name that the file does
// not have; a nil r; and the error of ctx.
func (c *Config) Open(ctx context.Context, r *Registry, names ...string) (*Workspaces, error) {
	chosen, err := c.choose(names)
	if err != nil {
		return nil, err
	}
	providers, err := c.providers(r, chosen)
	if err != nil {
		return nil, err
	}
	journals := c.journals(ctx, r)
	opened := &Workspaces{byName: make(map[string]*Workspace, len(chosen)), tools: c.Tools, config: c}
	for i, d := range chosen {
		ws, err := c.open(ctx, r, providers[i], d, journals)
		if err != nil {
			_ = opened.Close() // the first error is the one that matters
			return nil, err
		}
		opened.add(ws)
	}
	return opened, nil
}

func (w *Workspaces) add(ws *Workspace) {
	w.all = append(w.all, ws)
	w.byName[ws.Name()] = ws
}

// choose returns the descriptions with the names, in the order of the file.
func (c *Config) choose(names []string) ([]*description, error) {
	if len(names) == 0 {
		return c.descriptions, nil
	}
	wanted := make(map[string]bool, len(names))
	for _, name := range names {
		wanted[name] = true
	}
	var chosen []*description
	for _, d := range c.descriptions {
		if wanted[d.name] {
			chosen = append(chosen, d)
			delete(wanted, d.name)
		}
	}
	for _, name := range names {
		if wanted[name] {
			return nil, fmt.Errorf("%s has no workspace %q: %s", c.file, name, wording.Suggest(name, c.Names()))
		}
	}
	return chosen, nil
}

// providers returns what opens each of the descriptions, or all that is wrong
// with them.
func (c *Config) providers(r *Registry, chosen []*description) ([]provider, error) {
	if r == nil {
		return nil, errors.New("config: no registry")
	}
	p := c.problems()
	providers := make([]provider, len(chosen))
	for i, d := range chosen {
		providers[i] = c.provider(p, r, d)
	}
	c.checkStores(p, r, chosen)
	return providers, p.err()
}

// open opens the workspace d, which hides those of journals that are in it.
func (c *Config) open(ctx context.Context, r *Registry, opener provider, d *description, journals []string) (*Workspace, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := c.checkTrust(opener, d); err != nil {
		return nil, err
	}
	fsys, err := opener.kind.Open(ctx, opener.in)
	if err != nil {
		return nil, c.failure(d, err)
	}
	l := layers{settings: c.settings(d), watchers: d.watchers(opener.in), backup: d.Backup, hidden: c.backupsIn(d.name)}
	if _, hides := l.settings.transactions(fsys); hides && opener.kind.Local {
		l.hidden = append(l.hidden, journalsBelow(fallback.Root(fsys), journals)...)
	}
	if l.store, err = c.openStore(ctx, r, d.Backup); err != nil {
		release(fsys)
		return nil, err
	}
	ws, err := newWorkspace(opener, fsys, l)
	if err != nil {
		release(fsys)
		release(l.store)
		return nil, c.failure(d, err)
	}
	ws.undoKilled(ctx)
	if missing := lacking(ws.Capabilities(), d.Requires); missing != "" {
		_ = ws.Close() // the lack is the error that matters
		p := c.problems()
		c.addMissing(p, opener, d, missing)
		return nil, withCause(p.err(), errors.ErrUnsupported)
	}
	if ws.Capabilities().Run {
		ws.createRecord()
	}
	return ws, nil
}

// openStore opens the workspace that has the backups b, without its settings. It returns
// nil if b are in the workspace that they are of.
func (c *Config) openStore(ctx context.Context, r *Registry, b *Backup) (workspace.FileSystem, error) {
	if b == nil || b.Workspace == "" {
		return nil, nil
	}
	at := slices.IndexFunc(c.all, func(d *description) bool { return d.name == b.Workspace })
	d := c.all[at] // which checkBackups has found
	providers, err := c.providers(r, []*description{d})
	if err != nil {
		return nil, err
	}
	if err := c.checkTrust(providers[0], d); err != nil {
		return nil, err
	}
	in := providers[0].in
	in.ReadOnly = false
	fsys, err := providers[0].kind.Open(ctx, in)
	if err != nil {
		return nil, c.failure(d, err)
	}
	return fsys, nil
}

// backupsIn returns the directories of the workspace name that have backups of other
// workspaces.
func (c *Config) backupsIn(name string) []string {
	var dirs []string
	for _, d := range c.backedUp {
		if d.Backup.Workspace == name {
			dirs = append(dirs, d.Backup.dir(d.name))
		}
	}
	return dirs
}

// journals returns the directories that workspaces of the file keep in folders of this computer,
// and the symlinks on the way to them: backups, and transactions. Patterns for any directory
// would do, but an rm of a directory would then have to look at all names in it.
func (c *Config) journals(ctx context.Context, r *Registry) []string {
	if len(c.all) < 2 {
		return nil // its own are hidden anyway
	}
	folders := map[string]string{} // of workspaces
	dirs := map[string]bool{}
	for _, d := range c.all {
		if folder := c.folder(ctx, r, d); folder != "" {
			folders[d.name] = filepath.FromSlash(folder)
			dirs[filepath.Join(folders[d.name], filepath.FromSlash(transaction.DefaultDir))] = true
		}
	}
	for _, d := range c.all {
		if d.Backup == nil {
			continue
		}
		if folder, ok := folders[cmp.Or(d.Backup.Workspace, d.name)]; ok {
			dirs[filepath.Join(folder, filepath.FromSlash(d.Backup.dir(d.name)))] = true
		}
	}
	var paths []string
	for dir := range dirs {
		paths = append(paths, waysTo(dir)...)
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// journalsBelow returns the names of journals below root, without those that rules hide.
func journalsBelow(root string, journals []string) []string {
	return slices.DeleteFunc(namesOf(root, journals), func(dir string) bool {
		return slices.Contains([]string{".", backup.DefaultDir, transaction.DefaultDir}, dir)
	})
}

// folder returns the folder of this computer that d describes, "" for none, or if it cannot be
// opened, which is the error of whoever opens d.
func (c *Config) folder(ctx context.Context, r *Registry, d *description) string {
	p := c.problems()
	opener := c.provider(p, r, d)
	if p.err() != nil || !opener.kind.Local || c.checkTrust(opener, d) != nil {
		return ""
	}
	fsys, err := opener.kind.Open(ctx, opener.in)
	if err != nil {
		return ""
	}
	defer release(fsys)
	return fallback.Root(fsys)
}

// failure returns the error of a workspace that cannot be opened.
func (c *Config) failure(d *description, err error) error {
	var own *Error
	if errors.As(err, &own) {
		return err
	}
	p := c.problems()
	d.addError(p, fmt.Errorf("the workspace %q cannot be opened: %w", d.name, err))
	return withCause(p.err(), err)
}

func withCause(err, cause error) error {
	var own *Error
	if errors.As(err, &own) {
		own.cause = cause
	}
	return err
}

// release closes fsys after another error, which is the one that matters.
func release(fsys workspace.FileSystem) { _ = closeIt(fsys) }

// closeIt closes fsys if it can be closed.
func closeIt(fsys workspace.FileSystem) error {
	if fsys == nil {
		return nil
	}
	if closer, ok := workspace.As[io.Closer](fsys); ok {
		return closer.Close()
	}
	return nil
}

// Only returns c with the workspaces of the given names alone, or all of them if
// there are no names, in the order of the file.
//
// # Errors
//
// A name that the file does not have.
func (c *Config) Only(names ...string) (*Config, error) {
	chosen, err := c.choose(names)
	if err != nil {
		return nil, err
	}
	subset := *c
	subset.descriptions = chosen
	return &subset, nil
}

// ReadOnly returns c with the setting readOnly in each workspace.
func (c *Config) ReadOnly() *Config {
	return c.with(func(_ *description, settings *FS) { settings.ReadOnly = true })
}

// AllowSensitive returns c with the setting sensitive: allow in each workspace,
// which the caller trusts with that.
func (c *Config) AllowSensitive() *Config {
	return c.with(func(d *description, settings *FS) { d.sensitive, settings.Sensitive = true, AccessAllow })
}

// with returns c with settings that change has changed, in each workspace.
func (c *Config) with(change func(d *description, settings *FS)) *Config {
	changed := *c
	changed.descriptions = slices.Clone(c.descriptions)
	for i, d := range changed.descriptions {
		other, settings := *d, *d.settings()
		change(&other, &settings)
		other.FS = &settings
		changed.descriptions[i] = &other
	}
	return &changed
}
