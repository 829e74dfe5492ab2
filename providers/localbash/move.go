package localbash

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/workspacekit/workspacekit/workspace"
)

// Move implements [workspace.Mover]. A move to another mount inside the folder
// is [errors.ErrUnsupported].
func (f *FS) Move(ctx context.Context, source, destination string) error {
	for _, name := range []string{source, destination} {
		if err := f.check(ctx, workspace.OpMove, name); err != nil {
			return err
		}
	}
	for attempt := 1; ; attempt++ {
		err := f.move(ctx, source, destination)
		if !errors.Is(err, errOvertaken) || attempt == maxWriteAttempts {
			return f.faultOf(workspace.OpMove, source, err)
		}
	}
}

func (f *FS) move(ctx context.Context, source, destination string) error {
	if source == "." {
		return fmt.Errorf("%w: the root cannot be moved", fs.ErrInvalid)
	}
	from, old, err := f.openParent(source)
	if err != nil {
		return err
	}
	defer from.close()
	if _, err := from.root.Lstat(old); err != nil {
		return err
	}
	if err := f.checkMove(ctx, source, destination); err != nil {
		return &blame{destination, err}
	}
	dir, base := workspace.Split(destination)
	to, err := f.makeFolder(dir)
	if err != nil {
		return &blame{destination, err}
	}
	defer to.close()
	return f.moveLocked(ctx, from, old, to, base, destination)
}

// openParent opens the directory that name is in.
func (f *FS) openParent(name string) (*folder, string, error) {
	dir, base := workspace.Split(name)
	d, err := f.openFolder(dir)
	return d, base, err
}

// checkMove refuses a destination that exists or lies below source, before
// anything is made for it.
func (f *FS) checkMove(ctx context.Context, source, destination string) error {
	if _, err := f.lstat(destination); err == nil {
		return fs.ErrExist
	}
	from, err := f.resolveParent(ctx, source)
	if err != nil {
		return f.ifConfined(err)
	}
	to, err := f.resolveParent(ctx, destination)
	if err != nil {
		return f.ifConfined(err)
	}
	if strings.HasPrefix(to+"/", from+"/") {
		return errBelowSource
	}
	return nil
}

// ifConfined returns err unless it says no more than that a symlink of a
// relaxed FS leads out.
func (f *FS) ifConfined(err error) error {
	if f.relaxed && errors.Is(err, workspace.ErrEscape) {
		return nil
	}
	return err
}

var errBelowSource = fmt.Errorf("%w: the destination lies below the source", fs.ErrInvalid)

// resolveParent resolves the symlinks on the way to name, and not that which
// it may be.
func (f *FS) resolveParent(ctx context.Context, name string) (string, error) {
	dir, base := workspace.Split(name)
	parent, err := f.resolve(ctx, dir)
	return workspace.Join(parent, base), err
}

func (f *FS) moveLocked(ctx context.Context, from *folder, old string, to *folder, new, destination string) error {
	unlock, err := f.lock(ctx, from, to)
	if err != nil {
		return err
	}
	defer unlock()
	if _, err := from.root.Lstat(old); err != nil {
		return err
	}
	if err := f.renameNew(from, old, to, new); err != nil {
		if errors.Is(err, fs.ErrNotExist) { // not the source: the folder it was to go to
			return errOvertaken
		}
		return &blame{destination, err}
	}
	if err := f.syncFolder(to); err != nil {
		return err
	}
	return f.syncFolder(from)
}
