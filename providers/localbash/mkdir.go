package localbash

import (
	"context"
	"errors"
	"io/fs"

	"github.com/workspacekit/workspacekit/workspace"
)

// newDirPerm is the mode of new directories, less the umask.
const newDirPerm fs.FileMode = 0o777

// Mkdir implements [workspace.FileSystem].
func (f *FS) Mkdir(ctx context.Context, name string, opts *workspace.MkdirOptions) error {
	if err := f.check(ctx, workspace.OpMkdir, name); err != nil {
		return err
	}
	if opts != nil && opts.Recursive {
		return f.fault(workspace.OpMkdir, name, f.mkdirAll(name))
	}
	err := f.host.Mkdir(name, newDirPerm)
	if err == nil {
		err = f.syncParents(name)
	}
	return f.fault(workspace.OpMkdir, name, err)
}

// mkdirAll makes the directory name and its missing parents. What is there
// and no directory is [workspace.ErrNotDir].
func (f *FS) mkdirAll(name string) error {
	err := f.host.MkdirAll(name, newDirPerm)
	if errors.Is(err, fs.ErrExist) {
		return workspace.ErrNotDir
	}
	if err != nil {
		return err
	}
	return f.syncParents(name)
}

// syncParents makes the directory name and all above it durable, if that is
// wanted.
func (f *FS) syncParents(name string) error {
	for f.sync && name != "." && name != "/" {
		name, _ = splitUnclean(name)
		d, err := f.openFolder(name)
		if err != nil {
			return err
		}
		err = d.file.Sync()
		d.close()
		if err != nil {
			return err
		}
	}
	return nil
}
