// Package gitstage stages what is done in a workspace in a local folder: in go the
// events of package observe, out come changes of the index of the git repository
// whose work tree the file is in. Where there is none, nothing happens.
//
//	stager, err := gitstage.Open(local, dir, &gitstage.Options{Report: log})
//	fsys := observe.New(local, "repo", stager)
//
// A file that was written is staged with its bytes, one that was removed is removed
// from the index, and one that was moved is renamed there, after the operation and
// before it returns. What git ignores is not staged, but what is in the index stays there
// under its new name. Whatever goes wrong, the operation has succeeded; [Options].Report
// learns of it.
//
// # A repository is input
//
// The folder and the repository in it may come from a stranger, or be changed by an
// agent, and git runs programs that a repository names: filters, hooks, monitors of
// the file system, helpers of remotes. None of them runs here. "git add" would run a
// filter, so the file is hashed without (git hash-object --no-filters), and
// its hash is put into the index (git update-index --index-info). A file whose
// attributes ask for a filter, or for another encoding, is not staged, as its bytes
// would be the wrong ones; if it is moved, what the index has is renamed. Line ends are
// staged as they are in the file.
//
// To write an index, git looks again at other files that may have changed, by their filters
// too. A configuration that was checked may be another one when git reads it. So git
// changes a copy of the index in a git directory of our own, which has no filters, and the
// result is renamed to the index under its lock. The commands that use the git directory of the
// repository only read: hooks and monitors are switched off on their command
// line, which precedes every file of configuration, remotes are forbidden, and the
// variables GIT_… of the environment are not passed on. Where .git, the index or the objects of
// a work tree in the folder lead out of it, nothing is staged, unless they are of a linked
// worktree or submodule whose git directory names the work tree. git itself refuses repositories of
// other users, and is not run if it was found in the folder of the workspace.
package gitstage

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/session"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/observe"
)

// Op is the operation of the events that [Options].Report learns of.
const Op = "git_stage"

// DefaultTimeout is how long staging may take if the options say nothing.
const DefaultTimeout = 10 * time.Second

// Options are the settings of a [Stager].
type Options struct {
	// Timeout is how long it may take to stage what one operation has changed, up to a second
	// of waiting for another program that has locked the index included. Zero means
	// [DefaultTimeout]; Open refuses a negative one.
	Timeout time.Duration
	// Report learns, by its After, of each attempt to stage something: an event with
	// the operation [Op] and the names of the operation before. Nil means that nobody
	// does.
	Report observe.Observer
}

// Stager is an [observe.Observer] that stages what has changed. It refuses nothing,
// and is safe for concurrent use.
type Stager struct {
	fsys workspace.FileSystem
	root string // the folder, without symlinks
	git  string // the program
	opts Options

	mu     sync.Mutex      // of the indexes: git refuses two changes at a time
	locked map[string]bool // that of repository; guarded by mu
}

var _ observe.Observer = (*Stager)(nil)

// Open returns an observer for the operations on fsys, which has the files of the
// folder dir, or on wrappers of it that do not rename files. It looks for git on the
// PATH. Nil opts mean the zero Options.
//
// # Errors
//
// A folder that is not found, a git that is not found, or that is in the folder, and a
// directory of temporary files that is in it; [fs.ErrInvalid] for a negative Timeout.
func Open(fsys workspace.FileSystem, dir string, opts *Options) (*Stager, error) {
	s := &Stager{fsys: fsys, locked: map[string]bool{}}
	if opts != nil {
		s.opts = *opts
	}
	if s.opts.Timeout < 0 {
		return nil, fmt.Errorf("git: a timeout below zero: %w", fs.ErrInvalid)
	}
	if s.opts.Timeout == 0 {
		s.opts.Timeout = DefaultTimeout
	}
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if s.root, err = filepath.EvalSymlinks(absolute); err != nil {
		return nil, err
	}
	if s.git, err = exec.LookPath("git"); err != nil {
		return nil, fmt.Errorf("git: %w", err)
	}
	if real, err := filepath.EvalSymlinks(s.git); err != nil || inside(s.root, real) || inside(s.root, s.git) {
		return nil, errors.New("git: the program that the PATH names is in the workspace, and is not run: change the PATH")
	}
	if temp, err := filepath.EvalSymlinks(os.TempDir()); err != nil || inside(s.root, temp) {
		return nil, errors.New("git: the directory of temporary files is in the workspace, or does not exist: change TMPDIR")
	}
	return s, nil
}

// inside reports whether the file name is below dir. Both are absolute.
func inside(dir, name string) bool {
	rest, err := filepath.Rel(dir, name)
	return err == nil && filepath.IsLocal(rest)
}

// Before implements [observe.Observer].
func (s *Stager) Before(ctx context.Context, _ observe.Event) (context.Context, error) {
	return ctx, nil
}

// After implements [observe.Observer]: it stages what e has changed. It continues if
// ctx has ended, as the change has taken place. A change that is not [session.Undoable] is not
// staged: objects of files that do not stay would stay.
func (s *Stager) After(ctx context.Context, e observe.Event) {
	if e.Err != nil || !e.Changes() || e.Op == ops.Mkdir || e.Op == ops.Run || !session.Undoable(ctx) {
		return
	}
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.opts.Timeout)
	defer cancel()
	began := time.Now()
	staged, err := s.stage(limited, e)
	if s.opts.Report == nil || !staged && err == nil {
		return
	}
	if err != nil {
		err = ops.Error(Op, e.Path, workspace.ErrUnavailable, err)
	}
	s.opts.Report.After(ctx, observe.Finished(observe.Event{
		Time: began, Session: e.Session, Workspace: e.Workspace, Op: Op, Path: e.Path, To: e.To,
	}, err))
}

// stage stages what e has changed, and reports whether there was something to do.
func (s *Stager) stage(ctx context.Context, e observe.Event) (staged bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch e.Op {
	case ops.Rm:
		return s.remove(ctx, e.Path)
	case ops.Move:
		return s.move(ctx, e.Path, e.To)
	case ops.Copy:
		return s.add(ctx, e.To)
	}
	return s.add(ctx, e.Path)
}

// repository returns the repository that the file name is in, nil if there is none. The caller
// closes it.
// Symlinks on the way to the file, and those that a write follows, have been followed.
func (s *Stager) repository(ctx context.Context, name string, follow bool) (*repository, string, error) {
	dir, base := workspace.Split(name)
	if follow {
		dir, base = name, "."
	}
	resolved, err := workspace.Resolve(ctx, s.fsys, dir)
	if err != nil {
		return nil, "", reason(err)
	}
	name = path.Join(resolved, base)
	full := filepath.Join(s.root, filepath.FromSlash(name))
	for top := filepath.Dir(full); ; top = filepath.Dir(top) {
		if filepath.Base(top) == ".git" {
			return nil, "", nil // a file of git itself
		}
		if _, err := os.Lstat(filepath.Join(top, ".git")); err == nil {
			rel, err := filepath.Rel(top, full)
			if err != nil {
				return nil, "", err
			}
			repo, err := openRepository(ctx, &repository{git: s.git, root: s.root, top: top, name: filepath.ToSlash(rel), locked: s.locked})
			return repo, name, err
		}
		if top == filepath.Dir(top) {
			return nil, "", nil
		}
	}
}

// reason returns what an error says beside the operation and the name.
func reason(err error) error {
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		return pathError.Err
	}
	return err
}

// add stages the file name as it is now. A file that somebody has removed in
// between is left to that operation.
func (s *Stager) add(ctx context.Context, name string) (staged bool, err error) {
	repo, name, err := s.repository(ctx, name, true)
	if repo == nil {
		return false, err
	}
	defer repo.close()
	wanted, err := repo.wants(ctx)
	if !wanted || err != nil {
		return err != nil, err
	}
	entry, err := s.hash(ctx, repo, name)
	if err != nil {
		return true, err
	}
	return true, repo.update(ctx, []indexEntry{entry})
}

// hash stores the bytes of the file name as an object.
func (s *Stager) hash(ctx context.Context, repo *repository, name string) (indexEntry, error) {
	stream, _, err := workspace.Open(ctx, s.fsys, name, nil)
	if err != nil {
		return indexEntry{}, reason(err)
	}
	defer stream.Close()
	id, err := repo.add(ctx, stream)
	return indexEntry{s.mode(name), id, stageMerged, repo.name}, err
}

// mode returns the mode of a file for the index.
func (s *Stager) mode(name string) string {
	root, err := os.OpenRoot(s.root)
	if err != nil {
		return modeFile
	}
	defer root.Close()
	if info, err := root.Lstat(filepath.FromSlash(name)); err == nil && info.Mode()&0o100 != 0 {
		return modeExecutable
	}
	return modeFile
}

// remove removes the file or directory name from the index.
func (s *Stager) remove(ctx context.Context, name string) (staged bool, err error) {
	repo, _, err := s.repository(ctx, name, false)
	if repo == nil {
		return false, err
	}
	defer repo.close()
	entries, err := repo.entries(ctx)
	if err != nil || len(entries) == 0 {
		return err != nil, err
	}
	return true, repo.update(ctx, removals(entries))
}

// move renames the file or directory from in the index, as "git mv" does. A file is
// then staged as it is, whether or not it was in the index, unless git ignores its new name,
// it would have to be converted or a merge has left a conflict in it; of a directory, only
// what was in the index.
func (s *Stager) move(ctx context.Context, from, to string) (staged bool, err error) {
	source, _, err := s.repository(ctx, from, false)
	if err != nil {
		return true, err
	}
	if source != nil {
		defer source.close()
	}
	destination, name, err := s.repository(ctx, to, false)
	if err != nil {
		return true, err
	}
	var entries []indexEntry
	if source != nil {
		if entries, err = source.entries(ctx); err != nil {
			return true, err
		}
	}
	if destination != nil {
		defer destination.close()
	}
	removed, err := s.remove(ctx, from)
	if err != nil || destination == nil {
		return removed, err
	}
	info, err := s.fsys.Stat(ctx, name)
	if err != nil {
		return true, reason(err)
	}
	tracked := source != nil && source.top == destination.top && len(entries) > 0
	conflict := tracked && entries[0].stage != stageMerged
	if info.Type == workspace.TypeFile && !conflict {
		added, err := s.add(ctx, to)
		if !tracked || added && !errors.Is(err, errConverted) {
			return removed || added, err
		}
	}
	if !tracked {
		return removed, nil
	}
	for i, entry := range entries {
		entries[i].name = destination.name + strings.TrimPrefix(entry.name, source.name)
	}
	// A file with a conflict takes the place of one without only if that is removed first.
	return true, destination.update(ctx, append(removals(entries), entries...))
}
