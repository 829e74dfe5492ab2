// Package localbash opens a folder of this computer as a workspace.
//
// # Confinement
//
// Nothing outside the folder is read or written, whatever names and symlinks a
// model comes up with. Names are resolved by the kernel below the folder
// (openat2 with RESOLVE_BENEATH on Linux) or by [os.Root]; a folder that is
// swapped for a symlink in the middle of a call cannot lead it astray. A
// relative symlink that stays inside the folder is followed, up to 40 of them in
// one name, as on Linux. Every absolute symlink is refused with
// [workspace.ErrEscape], even one that points back into the folder, and so is a
// relative one that climbs out of it. Mounts inside the folder are part of it.
// [Options].Relaxed gives this up.
//
// # Writes
//
// A write goes to a temporary file in the folder of its target (or the nearest
// one above it that exists), and takes the target's name when it is complete. So
// the caller needs the right to write to that folder; a file that the caller
// could not write to is not replaced either.
// Permission bits are kept; hard links, access lists and extended attributes of
// the replaced file are not.
//
// Names that begin with ".workspacekit-tmp-" are reserved for these files: they
// are hidden, and naming one is [io/fs.ErrInvalid]. A process that is killed can
// leave one behind. The file is locked while its writer lives. After that, an [FS]
// that has listed the folder (in any way) removes it with its next change there;
// listing alone deletes nothing, so a workspace that is only read stays as it is.
//
// # Versions and conditions
//
// A version consists of a file's inode, size and times. Every write sets a
// modification time of its own, so that no two contents share one even if the
// clock of the file system is coarse. A program that rewrites a file in place
// with as many bytes is noticed by the file's times: on Linux before 6.13 only
// if a tick of the kernel's clock (up to 10 ms) lies between that and the look
// before.
//
// Changes lock the folder that they happen in, for a moment and with a hidden
// file of their own, so that the conditions of [workspace.WriteOptions] hold
// against every writer of this package, in this process or another. Locks of
// other programs make no difference. A change that cannot lock the folder
// within ten seconds is [workspace.ErrUnavailable]. On a file system or an
// operating system without flock (Windows) conditions hold against the users of
// the same [FS] only.
//
// # Names
//
// A file whose name is no valid name of the contract (bytes that are not
// UTF-8) cannot be named, and is not listed.
package localbash

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/scan"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/provider"
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
	// Everybody who can create a symlink in the folder, or finds one there, can read
	// and change every file that this process can. It is meant for folders
	// whose symlinks lead to other places on purpose. Names themselves are no
	// freer than before: one with a ".." element is [workspace.ErrEscape].
	// False, the default, confines every operation to the folder.
	Relaxed bool
}

// FS is a folder of this computer. It has everything of the contract:
// versions, conditional writes, native watches, moves and copies. Its root is
// known by the absolute path of the folder, with the symlinks that led to it. An
// FS must be closed; streams and watches that are open go on afterwards. It is
// safe for concurrent use.
type FS struct {
	*provider.FS
	folder *folder // its store
}

// folder is the store of an FS, or of its exact view.
type folder struct {
	*shared
	host    host // looks names up
	openat2 openat2Root
	exact   bool // no symlink is followed
}

// shared is what a folder and its exact view have in common.
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
}

var (
	_ provider.Store    = (*folder)(nil)
	_ scan.Searcher     = (*folder)(nil)
	_ provider.Watcher  = (*folder)(nil)
	_ provider.Opener   = (*folder)(nil)
	_ provider.Creator  = (*folder)(nil)
	_ provider.Mover    = (*folder)(nil)
	_ provider.Copier   = (*folder)(nil)
	_ provider.Resolver = (*folder)(nil)
	_ provider.Exacter  = (*folder)(nil)
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
		return nil, ops.Error(ops.Open, dir, fs.ErrInvalid,
			errors.New(`no folder is named; "." is the current one`))
	}
	f, err := openFolder(dir, o)
	if err != nil {
		return nil, openError(dir, provider.Classify(err))
	}
	return &FS{folder: f, FS: provider.New(f, provider.Facts{
		Capabilities: workspace.Capabilities{
			Write: true, Versions: true, ConditionalWrite: true,
			Watch: workspace.WatchNative, Move: true, Copy: true,
		},
		Root:      f.root,
		CheckName: checkName,
		Kind:      f.kindOf,
	})}, nil
}

// openFolder opens the folder and everything by which it is reached: the root
// of package os, and on Linux the descriptor for openat2.
func openFolder(dir string, o Options) (*folder, error) {
	root, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	opened, err := os.OpenRoot(inside(root))
	if err != nil {
		return nil, notFolder(root, err)
	}
	f := &folder{host: confined{opened}, shared: &shared{
		root: filepath.ToSlash(root), sync: o.Sync, relaxed: o.Relaxed, lockWait: maxLockWait,
	}}
	f.listings.limit = maxKept
	_, err = opened.Lstat("..")
	f.escape = errors.Unwrap(err)
	if f.relaxed {
		opened.Close()
		f.host = unconfined{dir: root}
	}
	f.openat2, err = newOpenat2Root(f.host, f.relaxed)
	if err != nil {
		f.host.Close()
	}
	return f, err
}

// notFolder returns err, or [workspace.ErrNotDir] if root is there and is no
// folder, for which the error of os.OpenRoot has no kind.
func notFolder(root string, err error) error {
	if info, statErr := os.Stat(root); statErr == nil && !info.IsDir() {
		return workspace.ErrNotDir
	}
	return err
}

// openError returns the error of Open, with the remedy if there is one.
func openError(dir string, err error) error {
	for _, known := range []struct {
		kind   error
		remedy ops.Remedy
	}{
		{fs.ErrNotExist, "create the folder first, or correct its path"},
		{workspace.ErrNotDir, "name the folder that holds the file"},
		{fs.ErrPermission, "give this user the right to read and enter the folder"},
	} {
		if errors.Is(err, known.kind) {
			return ops.Error(ops.Open, dir, known.kind, known.remedy)
		}
	}
	return ops.Error(ops.Open, dir, err, nil)
}

// checkName refuses a name that this operating system cannot hold. Unix holds
// every valid name.
func checkName(name string) error {
	if runtime.GOOS != "windows" {
		return nil
	}
	if _, err := filepath.Localize(name); err != nil {
		return provider.Errorf(fs.ErrInvalid, "this operating system does not allow the name")
	}
	return nil
}

// kindOf returns the kind of an error of os.Root, which has none itself where a
// name leads out.
func (f *folder) kindOf(err error) error {
	if f.escape != nil && errors.Is(err, f.escape) {
		return workspace.ErrEscape
	}
	return nil
}

// errOvertaken says that someone else moved or removed the directory that an
// operation worked in. Starting the operation again is the remedy.
var errOvertaken = provider.Errorf(workspace.ErrUnavailable, "another program changed the folder meanwhile")

// maxAttempts bounds how often an operation that others disturb is started again.
const maxAttempts = 10

// retry calls do until it is not overtaken. last says that it is not called
// again.
func retry[T any](do func(last bool) (T, error)) (T, error) {
	for attempt := 1; ; attempt++ {
		result, err := do(attempt == maxAttempts)
		if !errors.Is(err, errOvertaken) || attempt == maxAttempts {
			return result, err
		}
	}
}

// Relaxed reports whether symlinks may lead out of the folder.
func (f *FS) Relaxed() bool { return f.folder.relaxed }

// Close implements [io.Closer].
func (f *folder) Close() error {
	f.listings.clear()
	f.openat2.close()
	return f.host.Close()
}

// Exact implements [provider.Exacter].
func (f *folder) Exact() (provider.Store, error) {
	if f.exact {
		return f, nil
	}
	openat2 := f.openat2.exact()
	return &folder{shared: f.shared, host: nofollow{f.host, openat2}, openat2: openat2, exact: true}, nil
}
