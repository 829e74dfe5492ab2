package localbash

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/workspacekit/workspacekit/workspace"
)

// draft is a file that is being written under a temporary name. It is for one
// goroutine.
type draft struct {
	fsys   *FS
	dir    string // where the file is to be; it may have to be made
	base   string // the name to be, in dir
	opts   workspace.WriteOptions
	stage  *folder  // dir, or the nearest directory above it that exists
	in     *folder  // where the file is now: stage, or dir once that is locked
	temp   string   // the name until then
	file   *os.File // open and locked until the end
	perm   fs.FileMode
	exact  bool // perm is to be had whatever the umask
	placed bool // the temporary name is gone
}

// newPerm is the mode of new files, less the umask.
const newPerm fs.FileMode = 0o666

// begin starts a draft for name, with the mode perm if it is new, and tests
// the conditions of opts for the first time.
func (f *FS) begin(ctx context.Context, name string, opts workspace.WriteOptions, perm fs.FileMode) (*draft, error) {
	dir, base, err := f.writeTarget(ctx, name, opts)
	if err != nil {
		return nil, err
	}
	d := &draft{fsys: f, dir: dir, base: base, opts: opts, perm: perm, exact: perm != newPerm}
	if d.stage, err = f.openNearest(dir); err != nil {
		return nil, err
	}
	if err := d.open(); err != nil {
		d.stage.close()
		return nil, err
	}
	d.in = d.stage
	return d, nil
}

// open creates the temporary file, with no more rights than the old one has.
func (d *draft) open() error {
	var old fs.FileInfo
	var err error
	if d.stage.dir == d.dir {
		old, err = d.stage.lstat(d.base)
	}
	if err == nil {
		err = admit(old, d.opts)
	}
	if err != nil {
		return err
	}
	if old != nil {
		if err := d.stage.checkWritable(d.base); err != nil {
			return err
		}
		d.perm = old.Mode().Perm()
	}
	d.file, d.temp, err = d.stage.createTemp(d.perm)
	return err
}

// admit tests whether a draft may replace old, which is nil if there is
// nothing.
func admit(old fs.FileInfo, opts workspace.WriteOptions) error {
	if old == nil {
		if opts.IfVersion != "" {
			return workspace.ErrConflict
		}
		return nil
	}
	s := stampOf(old)
	if opts.IfNotExist {
		return fs.ErrExist
	}
	if s.kind == workspace.TypeSymlink {
		return fmt.Errorf("%w: a symlink took the name", errOvertaken)
	}
	if err := s.refuseIrregular(); err != nil {
		return err
	}
	if opts.IfVersion != "" && s.version() != opts.IfVersion {
		return workspace.ErrConflict
	}
	return nil
}

// commit gives the draft its name, and returns the version of it.
func (d *draft) commit(ctx context.Context) (workspace.Version, error) {
	if d.fsys.sync {
		if err := d.file.Sync(); err != nil {
			return "", err
		}
	}
	if d.stage.dir == d.dir {
		return d.commitTo(ctx, d.stage)
	}
	target, err := d.fsys.makeFolder(d.dir)
	if err != nil {
		return "", err
	}
	defer target.close()
	return d.commitTo(ctx, target)
}

func (d *draft) commitTo(ctx context.Context, target *folder) (workspace.Version, error) {
	unlock, err := d.lock(ctx, target)
	if err != nil {
		return "", err
	}
	defer unlock()
	written, err := d.prepare(target)
	if err != nil {
		return "", err
	}
	if err := d.place(target); err != nil {
		return "", err
	}
	version, err := d.version(written)
	if err != nil {
		return "", err
	}
	return version, d.fsys.syncFolder(target)
}

// lock locks target. Its lock file is the draft itself, which takes that name
// on the way to its own, because another file would cost half as much as the
// write.
func (d *draft) lock(ctx context.Context, target *folder) (unlock func(), err error) {
	return d.fsys.lockFolder(ctx, target, func() (remove func(), err error) {
		if state, err := tryLock(d.file); err != nil || state == lockUnknown {
			return func() {}, err
		}
		err = d.fsys.renameNewFile(d.in, d.temp, target, lockName)
		switch {
		case err == nil:
			d.in, d.temp = target, lockName
			return d.remove, nil
		case errors.Is(err, fs.ErrNotExist):
			return nil, errOvertaken
		case errors.Is(err, fs.ErrExist):
			return nil, err
		}
		return target.createLock() // this file system renames in one way only
	})
}

// prepare tests the conditions again, now that nobody else can change what
// they are about, and gives the file the mode and the time that it will have.
func (d *draft) prepare(target *folder) (stamp, error) {
	old, err := target.lstat(d.base)
	if err == nil {
		err = admit(old, d.opts)
	}
	if err == nil {
		err = d.dress(old)
	}
	if err != nil {
		return stamp{}, err
	}
	// A file system that cannot set times has its own; versions then rest on
	// those.
	now := d.fsys.clock.next()
	_ = d.in.root.Chtimes(d.temp, now, now)
	return stampOfFile(d.file)
}

// dress gives the draft the owner and the mode of the file that it replaces.
func (d *draft) dress(old fs.FileInfo) error {
	if old != nil {
		giveTo(d.file, old)
		d.perm, d.exact = old.Mode().Perm(), true
	}
	if !d.exact {
		return nil
	}
	return d.file.Chmod(d.perm)
}

// place renames the temporary file.
func (d *draft) place(target *folder) error {
	rename := d.fsys.renameFile
	if d.opts.IfNotExist {
		rename = d.fsys.renameNewFile
	}
	err := rename(d.in, d.temp, target, d.base)
	switch {
	case err == nil:
		d.placed = true
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return errOvertaken
	case errors.Is(err, fs.ErrExist) && !d.opts.IfNotExist:
		return workspace.ErrIsDir
	}
	return err
}

// version returns the version of the draft in its place. written is what was
// known of it before: if someone has written to it since, the version is one
// that the file no longer has.
func (d *draft) version(written stamp) (workspace.Version, error) {
	placed, err := stampOfFile(d.file)
	if err != nil {
		return "", err
	}
	written.changed = placed.changed
	return written.version(), nil
}

// syncFolder makes changes of names in d durable, if that is wanted.
func (f *FS) syncFolder(d *folder) error {
	if !f.sync {
		return nil
	}
	return d.file.Sync()
}

func stampOfFile(file *os.File) (stamp, error) {
	info, err := file.Stat()
	if err != nil {
		return stamp{}, err
	}
	return stampOf(info), nil
}

// discard ends the draft.
func (d *draft) discard() {
	d.remove()
	d.file.Close()
	d.stage.close()
}

// remove removes the temporary file if it still has that name.
func (d *draft) remove() {
	if !d.placed {
		_ = d.in.root.Remove(d.temp)
		d.placed = true
	}
}
