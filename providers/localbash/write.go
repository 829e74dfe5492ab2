package localbash

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/session"
	"github.com/workspacekit/workspacekit/providers/localbash/internal/sys"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/provider"
)

// WriteFile implements [provider.Store]. A read-only file is
// [fs.ErrPermission], as it is for any program that writes to it in place.
//
// The file is complete before it gets its name, so a reader finds the old bytes or the new
// ones (W7), also after a crash of this process. After a crash of the system that needs
// [Options].Sync.
func (f *folder) WriteFile(ctx context.Context, name string, data []byte, opts workspace.WriteOptions) (workspace.Version, error) {
	return retry(func(bool) (workspace.Version, error) { return f.writeOnce(ctx, name, data, opts) })
}

// maxBrief is how much is written while the directory is locked. More is written before.
const maxBrief = 64 << 10

// writeChunk is how much is written between two looks at the context.
const writeChunk = 4 << 20

// writeOnce writes once. It fails with errOvertaken if another writer changed the directory on
// the way, and is then tried again. It removes the temporary file whatever it returns.
func (f *folder) writeOnce(ctx context.Context, name string, data []byte, opts workspace.WriteOptions) (workspace.Version, error) {
	t := &tempFile{folder: f, opts: opts, perm: modeFor(ctx, newPerm), brief: len(data) <= maxBrief && !f.sync}
	if err := t.open(ctx, name); err != nil {
		return "", err
	}
	defer t.discard()
	for len(data) > 0 {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		n, err := t.file.Write(data[:min(len(data), writeChunk)])
		if err != nil {
			return "", err
		}
		data = data[n:]
	}
	return t.commit(ctx)
}

// Create implements [provider.Creator]. If the directory of the file is removed before Commit,
// that is [workspace.ErrUnavailable]. The file is created at once, so a name that cannot be
// written to, and a condition that does not hold, is an error here; Commit tests both again
// (CR4).
func (f *folder) Create(ctx context.Context, name string, opts workspace.WriteOptions) (workspace.Writer, error) {
	t, err := retry(func(bool) (*tempFile, error) { return f.newTempFile(ctx, name, opts, newPerm) })
	if err != nil {
		return nil, err
	}
	return &writer{ctx, t}, nil
}

// writer writes to a temporary file. It keeps the context of Create, which
// Commit obeys.
type writer struct {
	ctx  context.Context
	temp *tempFile
}

// Write implements [workspace.Writer].
func (w *writer) Write(p []byte) (int, error) { return w.temp.file.Write(p) }

// Commit implements [workspace.Writer]. The file is closed and removed unless it has got its
// name, so that Close has nothing left to do.
func (w *writer) Commit() (workspace.Version, error) {
	defer w.temp.discard()
	return w.temp.commit(w.ctx)
}

// Close implements [workspace.Writer].
func (w *writer) Close() error {
	w.temp.discard()
	return nil
}

// tempFile is a file that is written under a temporary name. It is for one goroutine. A write
// to a/b.txt has these steps:
//
//	open      find the directory a, test the conditions, create a/.workspacekit-tmp-X
//	          with the mode of b.txt, and lock it, which shows that its writer lives
//	          (the caller writes)
//	commit    flush it, if Sync is set, and find a again, or create it
//	lock      rename it to a/.workspacekit-tmp-lock, which locks a for others
//	prepare   test the conditions again, and set its time, owner and mode
//	rename    rename it to a/b.txt, which unlocks a, too
//	discard   close it, and remove it if a step has failed
//
// A brief write creates the file as a/.workspacekit-tmp-lock, and holds the lock from then on.
type tempFile struct {
	folder  *folder
	dir     string // of the target; it may not exist yet
	base    string // of the target, in dir
	opts    workspace.WriteOptions
	nearest *dirHandle // dir, or the nearest directory above it that exists
	in      *dirHandle // where the file is now: nearest, or dir once that is locked
	name    string     // in there
	file    *os.File   // open and locked until discard
	perm    fs.FileMode
	exact   bool   // the file gets perm whatever the umask
	renamed bool   // the temporary name no longer exists
	brief   bool   // the file is committed soon, so the directory may be locked until then
	unlock  func() // unlocks the directory; nil if it is not locked
}

// newPerm is the mode of new files, less the umask.
const newPerm fs.FileMode = 0o666

// modeFor returns perm, or what it gives the owner if ctx is [session.Private].
func modeFor(ctx context.Context, perm fs.FileMode) fs.FileMode {
	if session.Private(ctx) {
		return perm & 0o700
	}
	return perm
}

// newTempFile creates a temporary file for a write to name, with the mode perm if name is new,
// and tests the conditions of opts for the first time. The caller calls discard, unless there
// is an error.
func (f *folder) newTempFile(ctx context.Context, name string, opts workspace.WriteOptions, perm fs.FileMode) (*tempFile, error) {
	t := &tempFile{folder: f, opts: opts, perm: perm, exact: perm != newPerm}
	return t, t.open(ctx, name)
}

// open creates the file for a write to name. A symlink is followed to the place where it leads
// (Y3), whose directory then has the temporary file: a rename onto the symlink would replace
// that itself.
func (t *tempFile) open(ctx context.Context, name string) error {
	if u, ok := t.folder.host.(unconfined); ok {
		// What is too long for a path of the system could be written, but not read again.
		if _, err := u.Lstat(name); errors.Is(err, syscall.ENAMETOOLONG) {
			return err
		}
	}
	t.dir, t.base = workspace.Split(name)
	old, err := t.find()
	if err == nil && old != nil && old.kind == workspace.TypeSymlink && !t.opts.IfNotExist {
		t.nearest.close()
		if t.dir, t.base, err = t.folder.writeTarget(ctx, name); err != nil {
			return err
		}
		old, err = t.find()
	}
	if err != nil {
		return err
	}
	if err := t.create(ctx, old); err != nil {
		t.nearest.close()
		return err
	}
	t.in = t.nearest
	return nil
}

// find opens the directory of the target, or the nearest one above it that exists, and
// describes what the file will replace, nil if there is nothing. After an error t.nearest is
// closed.
func (t *tempFile) find() (old *fileStat, err error) {
	if t.nearest, err = t.folder.openNearest(t.dir); err != nil || t.nearest.dir != t.dir {
		return nil, err
	}
	if old, err = t.nearest.find(t.base); err != nil {
		t.nearest.close()
	}
	return old, err
}

// openNearest opens the directory dir or, if it does not exist, the nearest one above it that
// does. A write creates directories only when it is committed, so that one that fails before
// leaves none. Until then its file is in the nearest directory, from where a rename can reach
// the new ones.
func (f *folder) openNearest(dir string) (*dirHandle, error) {
	for {
		opened, err := f.openDir(dir)
		if dir == "." || dir == "/" || !errors.Is(err, fs.ErrNotExist) {
			return opened, err
		}
		dir, _ = splitUnclean(dir)
	}
}

// writeTarget returns where a write to the symlink name takes place: the directory, and
// the name in it.
func (f *folder) writeTarget(ctx context.Context, name string) (dir, base string, err error) {
	name, err = f.linkTarget(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		err = errOvertaken
	}
	if err != nil {
		return "", "", err
	}
	if err := checkTarget(name); err != nil {
		return "", "", err
	}
	dir, base = splitUnclean(name)
	return dir, base, nil
}

// checkTarget returns an error for a name behind a symlink that no list would show.
func checkTarget(name string) error {
	if strings.HasPrefix(name, ops.ReservedPrefix) || strings.Contains(name, "/"+ops.ReservedPrefix) {
		return provider.Errorf(fs.ErrInvalid, "a symlink leads to a reserved name")
	}
	return nil
}

// linkTarget returns the name that the symlink name leads to, whether it exists or not. In the
// exact view it is [workspace.ErrSymlink]. A target outside the folder is
// [workspace.ErrEscape], unless the folder is relaxed.
func (f *folder) linkTarget(ctx context.Context, name string) (string, error) {
	if f.exact {
		return "", workspace.ErrSymlink
	}
	if u, ok := f.host.(unconfined); ok {
		return u.linkTarget(name)
	}
	return f.Resolve(ctx, name)
}

// linkTarget follows the last element only, as the operating system follows the others. A
// chain of more than maxLinks is [fs.ErrInvalid].
func (u unconfined) linkTarget(name string) (string, error) {
	for range maxLinks + 1 {
		target, err := u.Readlink(name)
		if err != nil {
			return name, nil
		}
		name = u.besides(name, target)
	}
	return "", provider.Errorf(fs.ErrInvalid, "too many symlinks")
}

// besides returns target as seen from the directory that the symlink name is
// in.
func (u unconfined) besides(name, target string) string {
	if filepath.IsAbs(target) {
		return target
	}
	dir, _ := splitUnclean(name)
	return dir + "/" + target
}

// create creates the temporary file, with no more rights than the old file has. Until it has
// its name, nobody may read from it what they could not read from the old file.
func (t *tempFile) create(ctx context.Context, old *fileStat) error {
	err := checkReplace(old, t.opts)
	if err != nil {
		return err
	}
	if old != nil {
		if err := sys.CheckWritable(t.nearest.file, t.base, t.nearest.openFile); err != nil {
			return err
		}
		t.perm = old.perm
	}
	if t.brief && sys.HasFileLocks && t.nearest.dir == t.dir {
		t.unlock, err = t.folder.lockDir(ctx, t.nearest, t.createLock)
	}
	if err == nil && t.file == nil {
		t.file, t.name, err = t.nearest.createTemp(t.perm)
	}
	if err != nil && t.unlock != nil {
		t.unlock()
	}
	return err
}

// createLock creates the file under the name of the lock file. Where there are no locks, it
// creates nothing.
func (t *tempFile) createLock() (remove func(), err error) {
	file, err := t.nearest.openFile(lockName, os.O_WRONLY|os.O_CREATE|os.O_EXCL, t.perm)
	if errors.Is(err, fs.ErrNotExist) {
		err = t.nearest.removed()
	}
	if err != nil {
		return nil, err
	}
	state, err := t.nearest.claim(file, lockName)
	switch {
	case err == nil && state == sys.LockHeld:
		t.file, t.name = file, lockName
		return func() {}, nil // discard removes it
	case err == nil && state == sys.LockUnknown: // it would outlast us
		_ = t.nearest.remove(lockName)
	case err == nil:
		err = fs.ErrExist
	}
	file.Close()
	return func() {}, err
}

// checkReplace tests whether a write may replace old, which is nil if there is nothing. In
// this order:
//
//	old          options                    error
//	nothing      IfVersion                  ErrConflict
//	anything     IfNotExist                 fs.ErrExist
//	a symlink                               errOvertaken, as open would have followed it
//	a directory                             ErrIsDir
//	a FIFO or the like                      fs.ErrInvalid
//	a file       IfVersion of other bytes   ErrConflict
func checkReplace(old *fileStat, opts workspace.WriteOptions) error {
	if old == nil {
		if opts.IfVersion != "" {
			return workspace.ErrConflict
		}
		return nil
	}
	if opts.IfNotExist {
		return fs.ErrExist
	}
	if old.kind == workspace.TypeSymlink { // it was created just now
		return errOvertaken
	}
	if err := old.refuseIrregular(); err != nil {
		return err
	}
	if opts.IfVersion != "" && old.version() != opts.IfVersion {
		return workspace.ErrConflict
	}
	return nil
}

// maxTempAttempts bounds how often somebody else may remove a temporary file as
// a leftover before it is locked.
const maxTempAttempts = 100

// createTemp creates a temporary file in d. It is locked while it is open, which shows
// everybody that its writer lives. The caller closes it, which unlocks it, after it has
// renamed or removed it.
func (d *dirHandle) createTemp(perm fs.FileMode) (*os.File, string, error) {
	for range maxTempAttempts {
		name := ops.ReservedPrefix + rand.Text()
		file, err := d.openFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, "", d.removed()
		}
		if err != nil {
			return nil, "", err
		}
		if state, err := d.claim(file, name); err == nil && state != sys.LockTaken {
			return file, name, nil
		}
		file.Close()
	}
	return nil, "", errOvertaken
}

// commit gives the file its name, and returns its version. The bytes are flushed before the
// name exists, or a crash could leave the name with an empty file.
func (t *tempFile) commit(ctx context.Context) (workspace.Version, error) {
	if t.folder.sync {
		if err := t.file.Sync(); err != nil {
			return "", err
		}
	}
	if t.unlock != nil {
		return t.commitTo(ctx, t.nearest)
	}
	// The directory in which the file was created may have moved to where nobody may write, so
	// it is found by its name again. If the file is missing, somebody has removed both.
	if found, err := t.in.find(t.name); err != nil || found == nil {
		return "", errOvertaken
	}
	target, undo, err := t.folder.makeDir(ctx, t.dir)
	if err != nil {
		return "", err
	}
	defer target.close()
	version, err := t.commitTo(ctx, target)
	if err != nil {
		undo()
	}
	return version, err
}

// commitTo gives the temporary file the name of its target, once the
// conditions hold.
func (t *tempFile) commitTo(ctx context.Context, target *dirHandle) (workspace.Version, error) {
	if t.unlock == nil {
		unlock, err := t.lock(ctx, target)
		if err != nil {
			return "", err
		}
		defer unlock()
	}
	written, err := t.prepare(target)
	if err != nil {
		return "", err
	}
	if err := t.rename(target); err != nil {
		return "", err
	}
	version, err := t.version(written)
	if err != nil {
		return "", err
	}
	return version, t.folder.syncDir(target)
}

// lock locks target. Its lock file is the temporary file itself, which takes that name on the
// way to its own, because another file would cost half as much as the write. Where this cannot
// be, because there is no flock or no rename that keeps an existing name, target gets a lock
// file of its own or none.
func (t *tempFile) lock(ctx context.Context, target *dirHandle) (unlock func(), err error) {
	return t.folder.lockDir(ctx, target, func() (remove func(), err error) {
		if state, err := sys.TryLock(t.file); err != nil || state == sys.LockUnknown {
			return func() {}, err
		}
		err = t.folder.renameNewFile(t.in, t.name, target, lockName)
		switch {
		case err == nil:
			t.in, t.name = target, lockName
			return t.remove, nil
		case errors.Is(err, fs.ErrNotExist):
			return nil, errOvertaken
		case errors.Is(err, fs.ErrExist):
			return nil, err
		}
		return target.createLock() // this file system renames in one way only
	})
}

// prepare tests the conditions again, now that nobody else can change the target, and gives
// the file the mode and the time that it will have. The time is set before the file has its
// name, so that its version never changes afterwards by this.
func (t *tempFile) prepare(target *dirHandle) (fileStat, error) {
	old, err := target.find(t.base)
	if err == nil {
		err = checkReplace(old, t.opts)
	}
	if err != nil {
		return fileStat{}, err
	}
	// A file system that cannot set times has its own; versions then rest on
	// those.
	_ = t.in.setTime(t.name, t.folder.clock.next())
	s, err := statOfFile(t.file)
	if err != nil {
		return fileStat{}, err
	}
	return s, t.copyMode(s, old)
}

// copyMode gives the file, which s describes, the owner and the mode of old, which it
// replaces. Only the super-user can give a file another owner; any other writer becomes its
// owner.
func (t *tempFile) copyMode(s fileStat, old *fileStat) error {
	if old != nil {
		if s.owner != old.owner {
			sys.ChangeOwner(t.file, old.owner)
		}
		t.perm, t.exact = old.perm, true
	}
	if !t.exact || s.perm == t.perm {
		return nil
	}
	return t.file.Chmod(t.perm)
}

// rename gives the file its name in target. That is the moment of the write. A directory that
// has come to have the name cannot be replaced: [workspace.ErrIsDir].
func (t *tempFile) rename(target *dirHandle) error {
	rename := t.folder.renameFile
	if t.opts.IfNotExist {
		rename = t.folder.renameNewFile
	}
	err := rename(t.in, t.name, target, t.base)
	switch {
	case err == nil:
		t.renamed = true
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return errOvertaken
	case (errors.Is(err, fs.ErrExist) || errors.Is(err, syscall.EISDIR)) && !t.opts.IfNotExist:
		return workspace.ErrIsDir
	}
	return err
}

// version returns the version of the file under its name. written is what was known about it
// before: if someone has written to it since, the version is one that the file no longer has.
// Only the time of the last change is taken from afterwards, because the rename itself sets
// it.
func (t *tempFile) version(written fileStat) (workspace.Version, error) {
	now, err := statOfFile(t.file)
	if err != nil {
		return "", err
	}
	written.changed = now.changed
	return written.version(), nil
}

// discard closes the file, and removes it if it has not got its name. It may be
// called again.
func (t *tempFile) discard() {
	t.remove()
	t.file.Close()
	if t.unlock != nil {
		t.unlock()
		t.unlock = nil
	}
	t.nearest.close()
}

// remove removes the temporary file if it still has that name.
func (t *tempFile) remove() {
	if !t.renamed {
		_ = t.in.remove(t.name)
		t.renamed = true
	}
}

// clock gives out times that never repeat. The kernel dates files with a clock
// so coarse that two writes can get equal times, and inode numbers are used
// again: only a time of our own makes such files differ.
type clock struct{ last atomic.Int64 }

// next returns a time of this moment, greater than every one before. If the system clock goes
// back, it goes on by a nanosecond at a time.
func (c *clock) next() time.Time {
	for {
		last := c.last.Load()
		now := max(time.Now().UnixNano(), last+1)
		if c.last.CompareAndSwap(last, now) {
			return time.Unix(0, now)
		}
	}
}
