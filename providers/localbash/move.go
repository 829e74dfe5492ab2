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
	info, err := from.root.Lstat(old)
	if err != nil {
		return err
	}
	if info.IsDir() {
		if err := f.checkBelow(ctx, source, destination); err != nil {
			return err
		}
	}
	if _, err := f.lstat(destination); err == nil { // before anything is made for it
		return &blame{destination, fs.ErrExist}
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

// checkBelow refuses to move the directory source to a name below itself.
func (f *FS) checkBelow(ctx context.Context, source, destination string) error {
	if strings.HasPrefix(destination, source+"/") {
		return errBelowSource
	}
	from, err := f.resolveParent(ctx, source)
	if err != nil {
		return f.ifConfined(err)
	}
	to, err := f.resolveParent(ctx, destination)
	if err != nil {
		return f.ifConfined(&blame{destination, err})
	}
	if strings.HasPrefix(to, from+"/") {
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
