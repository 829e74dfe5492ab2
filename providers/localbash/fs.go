package localbash

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/workspacekit/workspacekit/workspace"
)

// Options are the settings of an [FS].
type Options struct {
	// Sync makes every change durable before its method returns: a written
	// file and the folder that lists it are flushed to the disk. False leaves
	// that to the operating system, as most programs do; a write is atomic
	// either way.
	Sync bool
	// Relaxed TURNS THE CONFINEMENT OFF. Symlinks may then lead anywhere, up
	// by ".." and to absolute paths, as they may for any plain program.
	// Whoever can make a symlink in the folder, or finds one there, can read
	// and change every file that this process can. It is meant for folders
	// whose symlinks lead to other places on purpose. Names themselves are no
	// freer than before: one with a ".." element is [workspace.ErrEscape].
	// False, the default, confines every operation to the folder.
	Relaxed bool
}

// FS is a folder of this computer. It has everything the contract knows:
// versions, conditional writes, native watches, moves and copies. It must be
// closed. It is safe for concurrent use.
type FS struct {
	*shared
	host  host // looks names up
	quick quick
	exact bool // no symlink is followed
}

// shared is what an FS and its exact view have in common.
type shared struct {
	root     string // absolute, as the caller knows it
	escape   error  // what os.Root says of a name that leads out
	sync     bool
	relaxed  bool
	locks    locks
	lockWait time.Duration // maxLockWait but in tests
	temps    noted
	listings keptListings
	clock    clock
	buffers  buffers
	closed   atomic.Bool
}

var (
	_ workspace.FileSystem      = (*FS)(nil)
	_ workspace.Capable         = (*FS)(nil)
	_ workspace.VersionedReader = (*FS)(nil)
	_ workspace.Opener          = (*FS)(nil)
	_ workspace.Creator         = (*FS)(nil)
	_ workspace.Mover           = (*FS)(nil)
	_ workspace.Copier          = (*FS)(nil)
	_ workspace.Resolver        = (*FS)(nil)
	_ workspace.Exacter         = (*FS)(nil)
	_ workspace.Rooter          = (*FS)(nil)
)

// Open returns the folder dir as a file system. A relative dir is taken from
// the current directory, once. Nil opts mean the zero Options.
//
// # Errors
//
// [fs.ErrInvalid] if dir is empty, [fs.ErrNotExist] if it does not exist,
// [workspace.ErrNotDir] if it is not a folder, [fs.ErrPermission].
func Open(dir string, opts *Options) (*FS, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	if dir == "" {
		return nil, workspace.NewPathError(workspace.OpOpen, dir, fs.ErrInvalid,
			errors.New(`no folder is named; "." is the current one`))
	}
	root, err := filepath.Abs(dir)
	if err != nil {
		return nil, workspace.NewPathError(workspace.OpOpen, dir, nil, plainCause(err))
	}
	f := &FS{shared: &shared{root: filepath.ToSlash(root), sync: o.Sync, relaxed: o.Relaxed, lockWait: maxLockWait}}
	f.listings.limit = maxKept
	if err := f.open(root); err != nil {
		return nil, openError(dir, f.fault(workspace.OpOpen, dir, err))
	}
	return f, nil
}

func (f *FS) open(root string) error {
	opened, err := os.OpenRoot(inside(root))
	if err != nil {
		return notFolder(root, err)
	}
	_, f.escape = opened.Lstat("..")
	f.escape = plainCause(f.escape)
	f.host = confined{opened}
	if f.relaxed {
		opened.Close()
		f.host = plain{dir: root}
	}
	f.quick, err = newQuick(f.host, f.relaxed)
	if err != nil {
		f.host.Close()
	}
	return err
}

// notFolder returns err, or [workspace.ErrNotDir] if root is there and is no
// folder, for which the error of os.OpenRoot has no kind.
func notFolder(root string, err error) error {
	if info, statErr := os.Stat(root); statErr == nil && !info.IsDir() {
		return workspace.ErrNotDir
	}
	return err
}

// openError adds the remedy to an error of Open.
func openError(dir string, err error) error {
	for _, known := range []struct {
		kind   error
		remedy string
	}{
		{fs.ErrNotExist, "create the folder first, or correct its path"},
		{workspace.ErrNotDir, "name the folder that holds the file"},
		{fs.ErrPermission, "give this user the right to read and enter the folder"},
	} {
		if errors.Is(err, known.kind) {
			return workspace.NewPathError(workspace.OpOpen, dir, known.kind, errors.New(known.remedy))
		}
	}
	return err
}

// Close releases the folder. What is called afterwards fails with
// [fs.ErrClosed]; streams and watches that are open go on.
func (f *FS) Close() error {
	if f.closed.Swap(true) {
		return nil
	}
	f.listings.clear()
	f.quick.close()
	return f.fault("close", ".", f.host.Close())
}

// Exact implements [workspace.Exacter]. To close the view is to close the FS.
func (f *FS) Exact() (workspace.FileSystem, error) {
	if f.exact {
		return f, nil
	}
	quick := f.quick.exact()
	return &FS{shared: f.shared, host: nofollow{f.host, quick}, quick: quick, exact: true}, nil
}

// Root implements [workspace.Rooter]: it is the absolute path of the folder,
// with the symlinks that led to it.
func (f *FS) Root() string { return f.root }

// Capabilities implements [workspace.Capable]: everything is supported.
func (f *FS) Capabilities() workspace.Capabilities {
	return workspace.Capabilities{
		Write: true, Versions: true, ConditionalWrite: true,
		Watch: workspace.WatchNative, Move: true, Copy: true,
	}
}
