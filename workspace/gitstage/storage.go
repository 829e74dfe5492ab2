package gitstage

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// storage is what is read and written of a git directory. The programs of git that change
// something do so in another directory, of our own, and what they have made is put into
// place here: so they read no configuration of the repository, and a symlink in it leads
// nowhere.
type storage struct {
	own         string   // the git directory of our own
	dir         *os.Root // has the index
	objects     *os.Root
	objectsPath string // that of objects
}

// openRepository opens the repository at top. git has the last word on whether it is one, and refuses
// those of other users.
func openRepository(ctx context.Context, r *repository) (*repository, error) {
	format, err := r.run(ctx, nil, "rev-parse", "--show-object-format")
	if err != nil {
		return nil, err
	}
	r.storage, err = r.openStorage(ctx, strings.TrimSpace(string(format)))
	if err != nil {
		return nil, err
	}
	return r, nil
}

// openStorage opens the storage of the repository, whose objects have the given format. If its
// work tree is in the workspace, .git may be what an agent has written: it then leads nowhere
// outside, unless the git directory there names the work tree.
func (r *repository) openStorage(ctx context.Context, format string) (_ *storage, err error) {
	s := &storage{}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	base := r.root
	if !inside(r.root, r.top) {
		base = ""
	}
	dir, err := gitDir(base, r.top)
	if err != nil {
		return nil, err
	}
	if base != "" && !inside(base, dir) && r.namedBy(ctx, dir) {
		base = ""
	}
	if s.dir, err = openDir(base, dir); err != nil {
		return nil, err
	}
	common := dir
	if data, err := readFile(s.dir, "commondir"); err == nil { // a linked worktree
		common = from(dir, data)
	}
	if s.objectsPath, err = filepath.EvalSymlinks(filepath.Join(common, "objects")); err != nil {
		return nil, reason(err)
	}
	if s.objects, err = openDir(base, s.objectsPath); err != nil {
		return nil, err
	}
	s.own, err = newGitDir(format)
	return s, err
}

// gitDir returns the git directory of the repository at top, which .git is or names, without
// symlinks.
func gitDir(base, top string) (string, error) {
	name, err := filepath.EvalSymlinks(filepath.Join(top, ".git"))
	if err != nil {
		return "", reason(err)
	}
	parent, err := openDir(base, filepath.Dir(name))
	if err != nil {
		return "", err
	}
	defer parent.Close()
	if info, err := parent.Lstat(filepath.Base(name)); err != nil || info.IsDir() {
		return name, err
	}
	data, err := readFile(parent, filepath.Base(name))
	if err != nil {
		return "", err
	}
	dir, ok := strings.CutPrefix(data, "gitdir: ")
	if !ok {
		return "", errors.New("the file .git does not name a git directory")
	}
	name, err = filepath.EvalSymlinks(from(top, dir))
	return name, reason(err)
}

// namedBy reports whether the git directory dir says that it is of the work tree: that of a linked
// worktree names its file .git, and that of a submodule its work tree.
func (r *repository) namedBy(ctx context.Context, dir string) bool {
	root, err := openDir("", dir)
	if err != nil {
		return false
	}
	defer root.Close()
	if name, err := readFile(root, "gitdir"); err == nil {
		return from(dir, name) == filepath.Join(r.top, ".git")
	}
	out, err := r.run(ctx, nil, "config", "--file", filepath.Join(dir, "config"), "--get", "core.worktree")
	return err == nil && from(dir, strings.TrimRight(string(out), "\r\n")) == r.top
}

// from returns the path name, which may be relative to dir.
func from(dir, name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(dir, filepath.FromSlash(name))
}

// openDir opens the directory name, which has no symlinks: one that takes the place of a part
// of it does not lead out of the folder base. If that is empty, no part is the agent's.
func openDir(base, name string) (*os.Root, error) {
	if base == "" {
		dir, err := os.OpenRoot(name)
		return dir, reason(err)
	}
	if !inside(base, name) {
		return nil, errors.New("the git directory is outside the workspace: nothing is staged")
	}
	folder, err := os.OpenRoot(base)
	if err != nil {
		return nil, reason(err)
	}
	defer folder.Close()
	rel, err := filepath.Rel(base, name)
	if err != nil {
		return nil, err
	}
	dir, err := folder.OpenRoot(rel)
	return dir, reason(err)
}

// maxLine bounds the files that name a directory.
const maxLine = 64 << 10

// readFile returns the line that the small file name has.
func readFile(dir *os.Root, name string) (string, error) {
	file, _, err := openFile(dir, name)
	if err != nil {
		return "", err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxLine))
	return strings.TrimRight(string(data), "\r\n"), err
}

// openFile opens a regular file. Anything else could block.
func openFile(dir *os.Root, name string) (*os.File, fs.FileInfo, error) {
	file, err := dir.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, reason(err))
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no file", name)
	}
	if err != nil {
		file.Close()
		return nil, nil, err
	}
	return file, info, nil
}

// newGitDir returns a new git directory, with the least that git asks for. In a split index git
// would write a part of the index to another file.
func newGitDir(format string) (string, error) {
	dir, err := os.MkdirTemp("", "workspacekit-git-")
	if err != nil {
		return "", reason(err)
	}
	config := "[core]\n\trepositoryFormatVersion = 0\n\tsplitIndex = false\n"
	if format == "sha256" {
		config = "[core]\n\trepositoryFormatVersion = 1\n\tsplitIndex = false\n[extensions]\n\tobjectFormat = sha256\n"
	}
	return dir, reason(errors.Join(
		os.Mkdir(filepath.Join(dir, "objects"), 0o700), os.Mkdir(filepath.Join(dir, "refs"), 0o700),
		os.WriteFile(filepath.Join(dir, "HEAD"), []byte("ref: refs/heads/none\n"), 0o600),
		os.WriteFile(filepath.Join(dir, "config"), []byte(config), 0o600),
	))
}

// close deletes the git directory of our own.
func (s *storage) close() {
	for _, dir := range []*os.Root{s.dir, s.objects} {
		if dir != nil {
			dir.Close()
		}
	}
	if s.own != "" {
		os.RemoveAll(s.own)
	}
}

// environment returns the variables for a git that uses the git directory of our own for the
// work tree top.
func (s *storage) environment(top string) []string {
	return append(environment(top), "GIT_DIR="+s.own, "GIT_WORK_TREE="+top,
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull)
}

// update changes the index, in one step.
func (r *repository) update(ctx context.Context, entries []indexEntry) error {
	var lines strings.Builder
	for _, e := range entries {
		fmt.Fprintf(&lines, "%s %s %s\t%s\x00", e.mode, e.id, e.stage, e.name)
	}
	change := func() error {
		_, err := r.runIndex(ctx, strings.NewReader(lines.String()), "update-index", "-z", "--index-info")
		return err
	}
	for began := time.Now(); ; {
		err := r.changeIndex(ctx, change)
		if !errors.Is(err, errLocked) {
			delete(r.locked, r.top)
			return err
		}
		if r.locked[r.top] || time.Since(began) > lockWait {
			r.locked[r.top] = true
			return err
		}
		select { // another program changes the index
		case <-ctx.Done():
			return err
		case <-time.After(lockPause):
		}
	}
}

// lockPause is the time between two attempts to change a locked index, and lockWait how long
// there are attempts. A program that was killed can leave a lock, which stays.
const (
	lockPause = 50 * time.Millisecond
	lockWait  = time.Second
)

// maxIndex bounds the bytes of an index, with the parts of a split one. Whoever can write in the git
// directory could otherwise fill the directory of temporary files.
const maxIndex = 256 << 20

// errLargeIndex says that an index is not copied.
var errLargeIndex = fmt.Errorf("the index has more than %d MiB: nothing is staged", maxIndex>>20)

// readIndex copies the index to our git directory, with the parts of a split one.
func (s *storage) readIndex(ctx context.Context) error {
	if err := os.Remove(filepath.Join(s.own, "index")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return reason(err)
	}
	left, err := s.copyOut(ctx, "index", maxIndex)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	names, err := fs.Glob(s.dir.FS(), "sharedindex.*")
	if err != nil {
		return err
	}
	for _, name := range names {
		if left, err = s.copyOut(ctx, name, left); err != nil {
			return err
		}
	}
	return nil
}

// copyOut copies a file of at most limit bytes to our git directory, with its time, by which git
// knows which of the files in an index may have changed since. It returns what is left of limit.
func (s *storage) copyOut(ctx context.Context, name string, limit int64) (left int64, err error) {
	source, info, err := openFile(s.dir, name)
	if err != nil {
		return limit, err
	}
	defer source.Close()
	if info.Size() > limit {
		return limit, errLargeIndex
	}
	target := filepath.Join(s.own, name)
	copied, err := os.Create(target)
	if err != nil {
		return limit, reason(err)
	}
	_, err = io.Copy(copied, untilEnd{ctx, io.LimitReader(source, info.Size())}) // it can grow
	return limit - info.Size(), reason(errors.Join(err, copied.Close(), os.Chtimes(target, info.ModTime(), info.ModTime())))
}

// untilEnd reads until the end of ctx.
type untilEnd struct {
	ctx context.Context
	io.Reader
}

// Read implements [io.Reader].
func (u untilEnd) Read(p []byte) (int, error) {
	if u.ctx.Err() != nil {
		return 0, errors.New("the index was not read in time")
	}
	return u.Reader.Read(p)
}

// indexLock is the file that programs create to change the index, and then rename to it.
const indexLock = "index.lock"

// changeIndex replaces the index by what change makes of the copy of it in our git directory.
//
// # Errors
//
// [errLocked] if another program changes it.
func (s *storage) changeIndex(ctx context.Context, change func() error) (err error) {
	lock, err := s.dir.OpenFile(indexLock, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return errLocked
	}
	if err != nil {
		return fmt.Errorf("index: %w", reason(err))
	}
	defer func() {
		lock.Close()
		if err != nil {
			err = errors.Join(err, s.dir.Remove(indexLock))
		}
	}()
	if err := s.readIndex(ctx); err != nil {
		return err
	}
	if err := change(); err != nil {
		return err
	}
	if err := s.fillLock(lock); err != nil {
		return reason(err)
	}
	return s.dir.Rename(indexLock, "index")
}

// fillLock copies the index of our git directory to the lock, and closes it. It gets the
// permission bits of the index it replaces, and the time at which git wrote the copy.
func (s *storage) fillLock(lock *os.File) error {
	index, err := os.Open(filepath.Join(s.own, "index"))
	if err != nil {
		return err
	}
	defer index.Close()
	info, err := index.Stat()
	if err != nil {
		return err
	}
	if old, err := s.dir.Lstat("index"); err == nil && old.Mode().IsRegular() {
		if err := lock.Chmod(old.Mode().Perm()); err != nil {
			return err
		}
	}
	_, err = io.Copy(lock, index)
	return errors.Join(err, lock.Close(), s.dir.Chtimes(indexLock, info.ModTime(), info.ModTime()))
}

// add stores the bytes of stream as an object, and returns its name.
func (r *repository) add(ctx context.Context, stream io.Reader) (string, error) {
	out, err := r.runWith(ctx, r.environment(r.top), stream, "hash-object", "-w", "--no-filters", "--stdin")
	if err != nil {
		return "", err
	}
	id := strings.TrimSpace(string(out))
	return id, r.keepObject(id)
}

// keepObject copies an object of our git directory to the repository. Who may read it and add
// others beside it is as the directory of all objects says.
func (s *storage) keepObject(id string) error {
	if len(id) < 3 {
		return errors.New("git prints no name of an object")
	}
	source, err := os.Open(filepath.Join(s.own, "objects", id[:2], id[2:]))
	if err != nil {
		return reason(err)
	}
	defer source.Close()
	info, err := s.objects.Stat(".")
	if err != nil {
		return reason(err)
	}
	if err := s.objects.Mkdir(id[:2], 0o777); err == nil {
		err = s.objects.Chmod(id[:2], info.Mode()&(fs.ModePerm|fs.ModeSetgid))
		if err != nil {
			return reason(err)
		}
	}
	temp := path.Join(id[:2], "tmp_obj_"+rand.Text()) // git deletes such files if they stay
	target, err := s.objects.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o444)
	if err != nil {
		return reason(err)
	}
	_, err = io.Copy(target, source)
	err = errors.Join(err, target.Chmod(info.Mode().Perm()&0o444), target.Sync(), target.Close())
	if err == nil {
		err = s.objects.Rename(temp, path.Join(id[:2], id[2:]))
	}
	if err != nil {
		return errors.Join(reason(err), s.objects.Remove(temp))
	}
	return nil
}
