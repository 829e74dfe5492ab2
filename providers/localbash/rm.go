package localbash

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"github.com/workspacekit/workspacekit/workspace"
)

// Rm implements [workspace.FileSystem].
func (f *FS) Rm(ctx context.Context, name string, opts *workspace.RmOptions) error {
	if err := f.check(ctx, workspace.OpRm, name); err != nil {
		return err
	}
	return f.fault(workspace.OpRm, name, f.rm(ctx, name, opts != nil && opts.Recursive))
}

func (f *FS) rm(ctx context.Context, name string, recursive bool) error {
	if name == "." {
		return fmt.Errorf("%w: the root cannot be removed", fs.ErrInvalid)
	}
	dir, base := workspace.Split(name)
	d, err := f.openFolder(dir)
	if err != nil {
		return err
	}
	defer d.close()
	err = f.rmEntry(ctx, d, base)
	if !errors.Is(err, workspace.ErrNotEmpty) {
		return err
	}
	if recursive {
		return f.rmTree(ctx, d, base)
	}
	// What is left may be nothing but temporary files of the dead, which no
	// listing shows.
	if err := f.sweepAll(ctx, name); err != nil {
		return err
	}
	return f.rmEntry(ctx, d, base)
}

// rmEntry removes a file or an empty directory. Only a regular file needs a
// lock, as no write replaces anything else.
func (f *FS) rmEntry(ctx context.Context, d *folder, base string) error {
	info, err := d.root.Lstat(base)
	if err != nil {
		return err
	}
	if info.Mode().IsRegular() {
		unlock, err := f.lock(ctx, d)
		if errors.Is(err, errOvertaken) {
			return fs.ErrNotExist
		}
		if err != nil {
			return err
		}
		defer unlock()
	}
	if err := removeEntry(d.root, base); err != nil {
		return err
	}
	return f.syncFolder(d)
}

func (f *FS) rmTree(ctx context.Context, d *folder, base string) error {
	r := &removal{ctx: ctx}
	if err := r.tree(d.root, base, 0); err != nil {
		return err
	}
	return f.syncFolder(d)
}

// removeEntry removes a file or an empty directory.
func removeEntry(parent *os.Root, base string) error {
	err := parent.Remove(base)
	switch plainCause(err) {
	case syscall.ENOTEMPTY, syscall.EEXIST:
		return workspace.ErrNotEmpty
	}
	return err
}

const (
	// maxRemoveAttempts bounds how often a directory is emptied that others
	// fill.
	maxRemoveAttempts = 10
	// maxRemoveDepth is how many levels of a tree are open at a time.
	maxRemoveDepth = 64
)

// removal removes a tree. Each level that it has gone down is an open file. So
// a directory that is too deep is moved to the top of the tree, and removed from
// there: a tree of any depth can be removed.
type removal struct {
	ctx   context.Context
	top   *os.File // the tree, open
	moved bool     // that something has come to the top
}

// tree removes base and everything below it. It does not hold a lock meanwhile:
// who writes to a file that is removed makes its folder anew.
func (r *removal) tree(parent *os.Root, base string, depth int) error {
	for attempt := 1; ; attempt++ {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		err := removeEntry(parent, base)
		if !errors.Is(err, workspace.ErrNotEmpty) || attempt > maxRemoveAttempts {
			return err
		}
		if depth > maxRemoveDepth && r.lift(parent, base) == nil {
			return nil
		}
		err = r.children(parent, base, depth)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, workspace.ErrSymlink) {
			return err
		}
	}
}

// lift moves the directory base to the top, if this system can do that with
// open directories.
func (r *removal) lift(parent *os.Root, base string) error {
	file, err := parent.Open(".")
	if err != nil {
		return err
	}
	defer file.Close()
	err = renameExclusive(&folder{file: file}, base, &folder{file: r.top}, workspace.ReservedPrefix+rand.Text())
	r.moved = r.moved || err == nil
	return err
}

// children empties the directory base.
func (r *removal) children(parent *os.Root, base string, depth int) error {
	child, err := openExactly(parent, base)
	if err != nil {
		return err
	}
	defer child.Close()
	if depth > 0 {
		return r.empty(child, depth)
	}
	if r.top, err = child.Open("."); err != nil {
		return err
	}
	defer r.top.Close()
	for r.moved = true; r.moved && err == nil; {
		r.moved = false
		err = r.empty(child, depth)
	}
	return err
}

// empty removes what is in dir.
func (r *removal) empty(dir *os.Root, depth int) error {
	names, err := readNames(dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := r.tree(dir, name, depth+1); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// openExactly opens the directory base, and no other that a symlink leads to.
func openExactly(parent *os.Root, base string) (*os.Root, error) {
	before, err := lstatPlain(parent, base)
	if err != nil {
		return nil, err
	}
	child, err := parent.OpenRoot(inside(base))
	if err != nil {
		return nil, err
	}
	return sameRoot(child, before)
}

func readNames(dir *os.Root) ([]string, error) {
	file, err := dir.Open(".")
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return file.Readdirnames(-1)
}

// sweepAll removes from dir what dead processes have left.
func (f *FS) sweepAll(ctx context.Context, dir string) error {
	l, err := f.openListing(dir, true)
	if err != nil {
		return err
	}
	defer l.Close()
	_, temps, err := l.entries(ctx, dir)
	if err != nil {
		return err
	}
	d, err := f.openFolder(dir)
	if err != nil {
		return err
	}
	defer d.close()
	d.sweep(temps)
	return nil
}
