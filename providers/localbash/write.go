package localbash

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/providers/localbash/internal/sys"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/provider"
)

// WriteFile implements [provider.Store]. A read-only file is
// [fs.ErrPermission], as it is for any program that writes to it in place.
func (f *folder) WriteFile(ctx context.Context, name string, data []byte, opts workspace.WriteOptions) (workspace.Version, error) {
	return retry(func(bool) (workspace.Version, error) { return f.writeOnce(ctx, name, data, opts) })
}

// writeChunk is how much is written between two looks at the context.
const writeChunk = 4 << 20

// writeOnce writes once. It fails with errOvertaken if another writer changed
// the directory on the way, and is then tried again.
func (f *folder) writeOnce(ctx context.Context, name string, data []byte, opts workspace.WriteOptions) (workspace.Version, error) {
	t, err := f.newTempFile(ctx, name, opts, newPerm)
	if err != nil {
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

// Create implements [provider.Creator]. If the directory of the file is removed
// before Commit, that is [workspace.ErrUnavailable].
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

// Commit implements [workspace.Writer].
func (w *writer) Commit() (workspace.Version, error) {
	defer w.temp.discard()
	return w.temp.commit(w.ctx)
}

// Close implements [workspace.Writer].
func (w *writer) Close() error {
	w.temp.discard()
	return nil
}

// tempFile is a file that is written under a temporary name. It is for one
// goroutine.
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
	exact   bool // the file gets perm whatever the umask
	renamed bool // the temporary name no longer exists
}

// newPerm is the mode of new files, less the umask.
const newPerm fs.FileMode = 0o666

// newTempFile creates a temporary file for a write to name, with the mode perm
// if name is new, and tests the conditions of opts for the first time.
func (f *folder) newTempFile(ctx context.Context, name string, opts workspace.WriteOptions, perm fs.FileMode) (*tempFile, error) {
	dir, base, err := f.writeTarget(ctx, name, opts)
	if err != nil {
		return nil, err
	}
	t := &tempFile{folder: f, dir: dir, base: base, opts: opts, perm: perm, exact: perm != newPerm}
	if t.nearest, err = f.openNearest(dir); err != nil {
		return nil, err
	}
	if err := t.create(); err != nil {
		t.nearest.close()
		return nil, err
	}
	t.in = t.nearest
	return t, nil
}

// openNearest opens the directory dir or, if it does not exist, the nearest one
// above it that does.
func (f *folder) openNearest(dir string) (*dirHandle, error) {
	for {
		opened, err := f.openDir(dir)
		if dir == "." || dir == "/" || !errors.Is(err, fs.ErrNotExist) {
			return opened, err
		}
		dir, _ = splitUnclean(dir)
	}
}

// writeTarget returns where a write to name takes place: the directory, and
// the name in it. A symlink stands for its target, unless the write wants the
// name to be new.
func (f *folder) writeTarget(ctx context.Context, name string, opts workspace.WriteOptions) (dir, base string, err error) {
	if opts.IfNotExist {
		dir, base = workspace.Split(name)
		return dir, base, nil
	}
	s, err := f.lstat(name)
	if err == nil && s.kind == workspace.TypeSymlink {
		if name, err = f.linkTarget(ctx, name); errors.Is(err, fs.ErrNotExist) {
			err = errOvertaken
		}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", "", err
	}
	if strings.HasPrefix(name, ops.ReservedPrefix) || strings.Contains(name, "/"+ops.ReservedPrefix) {
		return "", "", provider.Errorf(fs.ErrInvalid, "a symlink leads to a reserved name")
	}
	dir, base = splitUnclean(name)
	return dir, base, nil
}

// linkTarget returns the name that the symlink name leads to, whether it exists
// or not.
func (f *folder) linkTarget(ctx context.Context, name string) (string, error) {
	if f.exact {
		return "", workspace.ErrSymlink
	}
	if u, ok := f.host.(unconfined); ok {
		return u.linkTarget(name)
	}
	return f.Resolve(ctx, name)
}

// linkTarget follows the last element only, as the operating system follows
// the others.
func (u unconfined) linkTarget(name string) (string, error) {
	for range maxLinks {
		target, err := u.Readlink(name)
		if err != nil {
			return name, nil
		}
		name = u.besides(name, target)
	}
	return "", provider.Errorf(fs.ErrInvalid, "too many symlinks")
}

// create creates the temporary file, with no more rights than the old file has.
func (t *tempFile) create() error {
	var old fs.FileInfo
	var err error
	if t.nearest.dir == t.dir {
		old, err = t.nearest.lstat(t.base)
	}
	if err == nil {
		err = checkReplace(old, t.opts)
	}
	if err != nil {
		return err
	}
	if old != nil {
		if err := sys.CheckWritable(t.nearest.root, t.nearest.file, t.base); err != nil {
			return err
		}
		t.perm = old.Mode().Perm()
	}
	t.file, t.name, err = t.nearest.createTemp(t.perm)
	return err
}

// checkReplace tests whether a write may replace old, which is nil if there is
// nothing.
func checkReplace(old fs.FileInfo, opts workspace.WriteOptions) error {
	if old == nil {
		if opts.IfVersion != "" {
			return workspace.ErrConflict
		}
		return nil
	}
	s := statOf(old)
	if opts.IfNotExist {
		return fs.ErrExist
	}
	if s.kind == workspace.TypeSymlink { // it was created just now
		return errOvertaken
	}
	if err := s.refuseIrregular(); err != nil {
		return err
	}
	if opts.IfVersion != "" && s.version() != opts.IfVersion {
		return workspace.ErrConflict
	}
	return nil
}

// maxTempAttempts bounds how often somebody else may remove a temporary file as
// a leftover before it is locked.
const maxTempAttempts = 100

// createTemp creates a temporary file in d. It is locked while it is open,
// which shows everybody that its writer lives.
func (d *dirHandle) createTemp(perm fs.FileMode) (*os.File, string, error) {
	for range maxTempAttempts {
		name := ops.ReservedPrefix + rand.Text()
		file, err := d.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, "", errOvertaken
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

// commit gives the file its name, and returns its version.
func (t *tempFile) commit(ctx context.Context) (workspace.Version, error) {
	if t.folder.sync {
		if err := t.file.Sync(); err != nil {
			return "", err
		}
	}
	if t.nearest.dir == t.dir {
		return t.commitTo(ctx, t.nearest)
	}
	target, err := t.folder.makeDir(t.dir)
	if err != nil {
		return "", err
	}
	defer target.close()
	return t.commitTo(ctx, target)
}

// commitTo gives the temporary file the name of its target, once the
// conditions hold.
func (t *tempFile) commitTo(ctx context.Context, target *dirHandle) (workspace.Version, error) {
	unlock, err := t.lock(ctx, target)
	if err != nil {
		return "", err
	}
	defer unlock()
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

// lock locks target. Its lock file is the temporary file itself, which takes
// that name on the way to its own, because another file would cost half as much
// as the write.
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

// prepare tests the conditions again, now that nobody else can change the
// target, and gives the file the mode and the time that it will have.
func (t *tempFile) prepare(target *dirHandle) (fileStat, error) {
	old, err := target.lstat(t.base)
	if err == nil {
		err = checkReplace(old, t.opts)
	}
	if err == nil {
		err = t.copyMode(old)
	}
	if err != nil {
		return fileStat{}, err
	}
	// A file system that cannot set times has its own; versions then rest on
	// those.
	now := t.folder.clock.next()
	_ = t.in.root.Chtimes(t.name, now, now)
	return statOfFile(t.file)
}

// copyMode gives the file the owner and the mode of old, which it replaces.
func (t *tempFile) copyMode(old fs.FileInfo) error {
	if old != nil {
		sys.CopyOwner(t.file, old)
		t.perm, t.exact = old.Mode().Perm(), true
	}
	if !t.exact {
		return nil
	}
	return t.file.Chmod(t.perm)
}

// rename gives the file its name in target.
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
	case errors.Is(err, fs.ErrExist) && !t.opts.IfNotExist:
		return workspace.ErrIsDir
	}
	return err
}

// version returns the version of the file under its name. written is what was
// known about it before: if someone has written to it since, the version is one
// that the file no longer has.
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
	t.nearest.close()
}

// remove removes the temporary file if it still has that name.
func (t *tempFile) remove() {
	if !t.renamed {
		_ = t.in.root.Remove(t.name)
		t.renamed = true
	}
}

// clock gives out times that never repeat. The kernel dates files with a clock
// so coarse that two writes can get equal times, and inode numbers are used
// again: only a time of our own makes such files differ.
type clock struct{ last atomic.Int64 }

// next returns a time of this moment, greater than every one before.
func (c *clock) next() time.Time {
	for {
		last := c.last.Load()
		now := max(time.Now().UnixNano(), last+1)
		if c.last.CompareAndSwap(last, now) {
			return time.Unix(0, now)
		}
	}
}
