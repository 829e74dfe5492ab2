// Package localbash opens a folder of this computer as a workspace.
//
//	fsys, err := localbash.Open("/home/me/project", nil)
//	ws := workspace.New("repo", fsys, nil)
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
// that has listed the folder (in any way) removes it when it next locks the folder, if its
// user may open and remove it; listing alone deletes nothing, so a workspace that is only read
// stays as it is.
//
// # Versions and conditions
//
// A version consists of a file's inode, size and times. Every write sets a
// modification time of its own, so that no two contents share one even if the
// clock of the file system is coarse. A program that rewrites a file in place
// with as many bytes is noticed by the file's times, which the kernel sets before
// the bytes: a look in between gets the old bytes with the new version. On Linux
// before 6.13, and later on file systems other than btrfs, ext4, tmpfs and xfs, a
// tick of the kernel's clock (up to 10 ms) must lie between that and the look before.
//
// Changes of files, and moves, lock the folder that they happen in, for a moment
// and with a hidden file of their own, so that the conditions of
// [workspace.WriteOptions] hold against every writer of this package, in this
// process or another. Locks of other programs make no difference. A change that
// cannot lock the folder within ten seconds is [workspace.ErrUnavailable]. On a
// file system or an operating system without flock (Windows) conditions hold
// against the users of the same [FS] only.
//
// # Names
//
// A file whose name is no valid name of the contract (bytes that are not
// UTF-8) cannot be named, and is not listed.
package localbash

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/scan"
	"github.com/workspacekit/workspacekit/providers/localbash/internal/command"
	"github.com/workspacekit/workspacekit/providers/localbash/internal/index"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/provider"
)

// Options are the settings of an [FS].
type Options struct {
	// Sync makes every change durable before its method returns: a written
	// file and the folder that lists it are flushed to the disk. False leaves
	// that to the operating system, as most programs do: a write is atomic for
	// readers, but after a crash of the system the file can be empty or damaged.
	Sync bool
	// Relaxed TURNS THE CONFINEMENT OFF. Symlinks may then lead anywhere, up
	// by ".." and to absolute paths, as they may for any plain program.
	// Everybody who can create a symlink in the folder, or finds one there, can read
	// and change every file that this process can. It is meant for folders
	// whose symlinks lead to other places on purpose. Names themselves are no
	// freer than before: one with a ".." element is [workspace.ErrEscape].
	// False, the default, confines every operation to the folder.
	Relaxed bool
	// Run lets callers run commands on this computer, below the folder. Nil, the
	// default, lets nobody.
	Run *Run
	// Index makes searches much faster after the first one: Glob and Grep take from
	// memory what the operating system says has not changed. Nil, the default, means
	// that each search reads the folder. See [IndexOptions].
	Index *IndexOptions
}

// IndexOptions are the settings of the index of a folder: the names, a summary of the
// contents, and the contents of as many files as fit into the memory.
//
// The first search starts to read the folder in the background and does not wait for it.
// What has been read is used at once. A search sees every write that returned before it
// began, whoever made it. Three things are seen only after up to a minute, because the
// kernel does not report them: what programs store into a file that they have mapped into
// memory (on tmpfs sometimes later), writes by a hard link outside the folder, and writes by
// a file handle, as a server for NFS makes them. If nobody searches for ten minutes, the
// memory is freed.
//
// Directories that are not on a local file system (ext4, XFS, Btrfs, F2FS, tmpfs or
// overlayfs), those beyond the user's limit of inotify watches, and files that are large or
// have several names are read by each search, as without an index. On other systems than
// Linux, and with kernels before 5.6, that is all of them.
type IndexOptions struct {
	// MaxMemory bounds the memory in bytes. Three quarters of it are for contents.
	// Zero means 256 MiB.
	MaxMemory int64
}

// Run are the settings of the commands that an [FS] runs. The zero value is useful.
//
// A command has nothing of this process's environment but LANG, TERM and those
// directories of PATH that are not in the folder. Its HOME is a directory that lasts until
// Close. When it ends, everything that it has left running is killed; so is everything
// when Close is called, and when this process ends in any way.
//
// In the sandbox, which bubblewrap makes, it sees the folder, the directories of the
// system (of /etc what every user may read), and nothing else of this computer. It
// can change the folder, its HOME and directories that vanish when it ends. Without a
// sandbox it can do whatever the user of this process can, and a program that leaves its
// session and clears its environment, or hides it from this user as ssh-agent does, is not
// killed, nor is one that only does the latter when this process is killed.
type Run struct {
	// Sandbox says what becomes of commands where there is no sandbox: empty
	// means [SandboxTry]. [FS.Sandbox] says which one there is.
	Sandbox Sandbox
	// Network lets commands in the sandbox use the network. Those without a sandbox
	// always can.
	Network bool
	// Env is added to the environment of every command.
	Env map[string]string
	// Readable are absolute paths of directories and files that commands in the sandbox
	// can read, too, such as a toolchain in the home directory. Neither "/" nor what is in
	// "/proc" is among them: it would show the processes of this computer.
	Readable []string
	// ReadOnly are names of files and directories below the folder that commands in the
	// sandbox cannot change, nor anything below them, if they exist when the command
	// begins, nor a file that such a name leads through. While a name is a symlink, or is
	// below one, no command begins: [errors.ErrUnsupported].
	ReadOnly []string
	// protected returns more such names, when a command begins. Nil means that there are none.
	protected func() []string

	// Processes is how many processes and threads the user may have at a time. Since Linux
	// 5.14, a sandbox counts only its own. It does not limit the super-user. Zero means
	// 4096. In this limit and the others, a negative number sets none, and one above the
	// hard limit of this process has no effect.
	Processes int
	// OpenFiles is how many files each process may have open: 16 at least, as a shell
	// needs some. Zero means 4096.
	OpenFiles int
	// Memory is how many bytes each process may allocate, but for shared memory. Zero
	// means 4 GiB.
	Memory int64
	// FileSize is the size of the largest file that may be written. Zero means 4 GiB.
	FileSize int64
	// CPU is how long each process may compute. Zero means an hour.
	CPU time.Duration
}

// Sandbox says whether commands run in a sandbox.
type Sandbox string

// The values of [Run].Sandbox.
const (
	// SandboxTry runs commands in a sandbox where there is one, and without one elsewhere.
	SandboxTry Sandbox = command.Try
	// SandboxRequire runs no command without a sandbox.
	SandboxRequire Sandbox = command.Require
	// SandboxOff runs commands without a sandbox.
	SandboxOff Sandbox = command.Off
)

// FS is a folder of this computer. Its root is known by the absolute path of the
// folder, with the symlinks that led to it. An FS must be closed; streams and
// watches that are open go on afterwards. It is safe for concurrent use.
type FS struct {
	*provider.FS
	folder *folder // its store
}

// folder is the store of an FS, or of its exact view. Its files, by what they do:
//
//	dir.go         Stat, Ls, Mkdir, and the cache of listings
//	read.go        ReadFile, Open, and versions
//	write.go       WriteFile and Create, by temporary files
//	move.go        Move and Copy
//	rm.go          Rm, and the removal of what dead processes have left
//	search.go      the folder as a tree that package scan searches
//	watch.go       Watch; what it knows of the directories is in snapshot.go
//	dirhandle.go   open directories, and the locks on them
//	host.go        names and symlinks, within the folder or not confined
//	nofollow.go    the same for the exact view, which follows no symlink
//	sys_linux.go   how files are opened, listed and described on Linux
//	sys_other.go   the same on other systems
type folder struct {
	*shared
	host    host        // looks names up
	openat2 openat2Root // does the same in one call, where the kernel can
	exact   bool        // no symlink is followed
}

// shared is what a folder and its exact view have in common.
type shared struct {
	root     string          // absolute, as the caller knows it
	escape   error           // what os.Root says of a name that leads out
	sync     bool            // as in [Options]
	relaxed  bool            // as in [Options]
	locks    locks           // on directories, by their keys
	lockWait time.Duration   // maxLockWait but in tests
	making   sync.Mutex      // held while directories are made, or removed after a failure
	made     int             // how often directories were made; guarded by making
	temps    noted           // temporary files that listings met
	listings keptListings    // of large directories
	clock    clock           // dates what is written
	buffers  buffers         // for the entries of directories
	runner   *command.Runner // nil if nobody may run commands
	readOnly func() []string // returns the names that commands cannot change
	index    *index.Index    // nil if there is none
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
	_ provider.Runner   = (*folder)(nil)
)

// Open returns the folder dir as a file system. A relative dir is taken from
// the current directory, once. Nil opts mean the zero Options.
//
// # Errors
//
// [fs.ErrInvalid] if dir is empty or the options make no sense, [fs.ErrNotExist] if it
// does not exist, [workspace.ErrNotDir] if it is not a folder, [fs.ErrPermission], and
// [errors.ErrUnsupported] for a Run on another operating system than Linux.
func Open(dir string, opts *Options) (*FS, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	if dir == "" {
		return nil, ops.Error(ops.Open, dir, fs.ErrInvalid,
			errors.New(`no folder is named; "." is the current one`))
	}
	if o.Index != nil && o.Index.MaxMemory < 0 {
		return nil, ops.Error(ops.Open, dir, fs.ErrInvalid, errors.New("negative Index.MaxMemory"))
	}
	f, err := openFolder(dir, o)
	if err != nil {
		return nil, openError(dir, provider.Classify(err))
	}
	return &FS{folder: f, FS: provider.New(f, provider.Facts{
		Capabilities: workspace.Capabilities{
			Write: true, Versions: true, ConditionalWrite: true,
			Watch: workspace.WatchNative, Move: true, Copy: true, Run: o.Run != nil,
		},
		Root:      f.root,
		CheckName: checkName,
		Kind:      f.kindOf,
	})}, nil
}

// openFolder opens the folder and everything by which it is reached: the root of package os,
// and on Linux the descriptor for openat2. After an error nothing stays open.
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
	// The error of a name that leads out has no name in package os, so one is provoked here
	// for kindOf to compare with.
	_, err = opened.Lstat("..")
	f.escape = errors.Unwrap(err)
	if f.relaxed {
		opened.Close()
		f.host = unconfined{dir: root}
	}
	if o.Run != nil {
		if f.runner, err = o.Run.runner(root); err != nil {
			f.host.Close()
			return nil, err
		}
		f.readOnly = func() []string {
			if o.Run.protected == nil {
				return o.Run.ReadOnly
			}
			return append(slices.Clip(o.Run.ReadOnly), o.Run.protected()...)
		}
	}
	f.openat2, err = newOpenat2Root(f.host, f.relaxed)
	if err != nil {
		f.host.Close()
		return nil, err
	}
	f.index = f.newIndex(o.Index)
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

// retry calls do until it is not overtaken. last says that it is not called again. After the
// last attempt the caller gets errOvertaken, which is [workspace.ErrUnavailable]. do begins
// from the start each time, so it must leave no temporary file when it is overtaken.
func retry[T any](do func(last bool) (T, error)) (T, error) {
	for attempt := 1; ; attempt++ {
		result, err := do(attempt == maxAttempts)
		if !errors.Is(err, errOvertaken) || attempt == maxAttempts {
			return result, err
		}
	}
}

// IndexState describes what an index holds.
type IndexState struct {
	Directories, Files int   // whose names, or summaries, are known
	Summaries          int64 // bytes of memory for names, stamps and summaries, about
	Contents           int64 // bytes of memory for contents
	Reading            bool  // more is being read
}

// IndexState returns what the index holds, nothing if there is none.
func (f *FS) IndexState() IndexState { return IndexState(f.folder.index.State()) }

// Relaxed reports whether symlinks may lead out of the folder.
func (f *FS) Relaxed() bool { return f.folder.relaxed }

// Close implements [io.Closer]. Commands that run are killed. The exact view has the same
// descriptors, and ends with it; streams and watches have their own, and go on.
func (f *folder) Close() error {
	if f.runner != nil {
		f.runner.Close()
	}
	f.listings.clear()
	f.index.Close()
	f.openat2.close()
	return f.host.Close()
}

// Exact implements [provider.Exacter]. It shares the locks and caches of f, so that conditions
// hold between writers of both.
func (f *folder) Exact() (provider.Store, error) {
	if f.exact {
		return f, nil
	}
	openat2 := f.openat2.exact()
	return &folder{shared: f.shared, host: nofollow{f.host, openat2}, openat2: openat2, exact: true}, nil
}

// runner returns what runs commands below the folder with the absolute path root. It starts
// nothing and does not look for a sandbox.
func (r Run) runner(root string) (*command.Runner, error) {
	switch r.Sandbox {
	case "", SandboxTry, SandboxRequire, SandboxOff:
	default:
		return nil, provider.Errorf(fs.ErrInvalid, "the sandbox %q is none of try, require and off", string(r.Sandbox))
	}
	if r.Sandbox != SandboxOff && leadsToProcesses(root) {
		return nil, provider.Errorf(fs.ErrInvalid, "the folder has all processes: name another one, or set the sandbox to off")
	}
	for name, value := range r.Env {
		if !validVariable(name, value) {
			return nil, provider.Errorf(fs.ErrInvalid, "%q is not a variable that commands can be given", name)
		}
	}
	for _, path := range r.Readable {
		if !filepath.IsAbs(path) {
			return nil, provider.Errorf(fs.ErrInvalid, "the readable path %q is not absolute", path)
		}
		if leadsToProcesses(path) {
			return nil, provider.Errorf(fs.ErrInvalid, "the readable path %q has all processes: name what commands need", path)
		}
	}
	for _, name := range r.ReadOnly {
		if err := ops.CheckName(name); err != nil || name == "." {
			return nil, provider.Errorf(fs.ErrInvalid, "the read-only name %q is not one below the folder", name)
		}
	}
	if tooFewFiles(r.OpenFiles) {
		return nil, provider.Errorf(fs.ErrInvalid, "%d open files are too few: a shell needs %d at least", r.OpenFiles, minOpenFiles)
	}
	runner, err := command.New(root, command.Settings{
		Sandbox: string(r.Sandbox), Network: r.Network, Env: r.Env, Readable: r.Readable,
		Processes: r.Processes, OpenFiles: r.OpenFiles, Memory: r.Memory, FileSize: r.FileSize, CPU: r.CPU,
	})
	if err != nil {
		return nil, provider.Errorf(errors.ErrUnsupported, "%w", err)
	}
	return runner, nil
}

// leadsToProcesses reports whether a path, which may have symlinks, showsProcesses.
func leadsToProcesses(path string) bool {
	real, err := filepath.EvalSymlinks(path)
	return showsProcesses(path) || err == nil && showsProcesses(real)
}

// showsProcesses reports whether a path has what the kernel says of all processes.
func showsProcesses(path string) bool {
	path = filepath.Clean(path)
	return path == "/" || path == "/proc" || strings.HasPrefix(path, "/proc/")
}

// minOpenFiles is how many files a shell needs open to start a program and to redirect: it
// numbers those of its own from 10.
const minOpenFiles = 16

// tooFewFiles reports whether a command with the limit n cannot begin.
func tooFewFiles(n int) bool { return n > 0 && n < minOpenFiles }

// validVariable reports whether an environment can hold a variable, and the variable is none of
// this package's own.
func validVariable(name, value string) bool {
	return name != "" && name != command.MarkName && !strings.ContainsAny(name, "=\x00") && !strings.Contains(value, "\x00")
}

// Sandbox says what commands run in, such as "bubblewrap 0.8.0, no network", or why they
// run without a sandbox. It tries the sandbox out once.
//
// # Errors
//
// [errors.ErrUnsupported] if nobody may run commands, if a sandbox is required and there
// is none, or if it cannot have the paths in Readable; those of ctx.
func (f *FS) Sandbox(ctx context.Context) (string, error) {
	if f.folder.runner == nil {
		return "", ops.Error(ops.Run, ".", errors.ErrUnsupported, errNoCommands)
	}
	said, err := f.folder.runner.Sandbox(ctx)
	if err != nil {
		return "", ops.Error(ops.Run, ".", runError(err, ""), nil)
	}
	return said, nil
}

// errNoCommands says how commands are allowed.
var errNoCommands = errors.New("commands are not allowed in the folder: see Options.Run")

// Run implements [provider.Runner]. The directory is opened before anything starts, so what Ls
// would refuse is refused here, with the same error. One that can be opened and not be entered
// is denied, too.
func (f *folder) Run(ctx context.Context, o workspace.RunOptions) (*workspace.RunResult, error) {
	dir, err := f.openDir(o.Dir)
	if err != nil {
		return nil, err
	}
	defer dir.close()
	if _, err := dir.child("."); err != nil {
		return nil, err
	}
	root, err := f.openDir(".")
	if err != nil {
		return nil, err
	}
	defer root.close()
	frozen, err := f.frozen()
	if err != nil {
		return nil, err
	}
	result, err := f.runner.Run(ctx, command.Command{
		Args: o.Command, Env: o.Env, Root: root.file, Dir: dir.file, Name: o.Dir, Frozen: frozen,
		Stdin: o.Stdin, Stdout: o.Stdout, Stderr: o.Stderr,
	})
	if errors.Is(err, command.ErrBarred) { // no sandbox has a directory that a relaxed folder leads out to
		if _, escape := f.Resolve(ctx, o.Dir); errors.Is(escape, workspace.ErrEscape) {
			return nil, provider.At(o.Dir, escape)
		}
	}
	if err != nil {
		return nil, runError(err, o.Command[0])
	}
	return &workspace.RunResult{ExitCode: result.ExitCode, Signal: result.Signal}, nil
}

// runError returns the error of a program that was not started, or whose end was not waited
// for, with its kind. Some texts of package command name paths of this computer, so of
// command.ErrFailed only the kind is kept.
func runError(err error, program string) error {
	switch {
	case errors.Is(err, command.ErrMissing):
		return provider.At(program, provider.Errorf(fs.ErrNotExist, "%w", ops.Remedy("install the program where commands run, or correct PATH")))
	case errors.Is(err, command.ErrDenied):
		return provider.At(program, fs.ErrPermission)
	case errors.Is(err, command.ErrTooLong), errors.Is(err, command.ErrTooDeep):
		return provider.Errorf(fs.ErrInvalid, "%w", err)
	case errors.Is(err, command.ErrBarred):
		return provider.Errorf(fs.ErrPermission, "%w", err)
	case errors.Is(err, command.ErrNoBwrap):
		return provider.Errorf(errors.ErrUnsupported, "%w: %w", err, ops.Remedy("install bubblewrap, or set the sandbox to try or off"))
	case errors.Is(err, command.ErrNoSandbox):
		return provider.Errorf(errors.ErrUnsupported, "%w: %w", err, ops.Remedy("let this user create user namespaces and mount /proc in them, or set the sandbox to try or off"))
	case errors.Is(err, command.ErrReadable):
		return provider.Errorf(errors.ErrUnsupported, "%w: %w", err, ops.Remedy("of a symlink in run.readable, name what it leads to instead"))
	case errors.Is(err, command.ErrScratch), errors.Is(err, command.ErrTemp):
		return provider.Errorf(errors.ErrUnsupported, "%w", err)
	case errors.Is(err, command.ErrSwapped), errors.Is(err, command.ErrRemain):
		return provider.Errorf(workspace.ErrUnavailable, "%w", err)
	case errors.Is(err, command.ErrFailed):
		return provider.Errorf(workspace.ErrUnavailable, "%w", command.ErrFailed) // and no host path
	}
	return err
}

// frozen returns the names that commands cannot change, with the directories above them, which
// commands cannot rename. It is made for each command, as names may have come into being. For
// the read-only name .git/hooks/pre-push it returns
//
//	.git                   Parent
//	.git/hooks             Parent
//	.git/hooks/pre-push
//
// or the first of them, if there are no hooks. A file on the way is frozen itself: the .git of
// a linked worktree names the directory with the hooks that git runs. A symlink on the way is
// [errors.ErrUnsupported], until somebody removes it: a command could put another one in its
// place, and what it leads to is not protected.
func (f *folder) frozen() ([]command.Frozen, error) {
	names := f.readOnly()
	exact := nofollow{f.host, f.openat2.exact()}
	seen := map[string]bool{}
	var frozen []command.Frozen
	for _, name := range names {
		if slices.ContainsFunc(names, func(above string) bool { return strings.HasPrefix(name, above+"/") }) {
			continue // it is kept with that
		}
		for end := 0; end < len(name); {
			if next := strings.IndexByte(name[end+1:], '/'); next >= 0 {
				end += 1 + next
			} else {
				end = len(name)
			}
			part, last := name[:end], end == len(name)
			if seen[part] {
				continue
			}
			seen[part] = true
			info, err := exact.Lstat(part)
			if err = provider.Classify(err); errors.Is(err, fs.ErrNotExist) || errors.Is(err, workspace.ErrNotDir) {
				break
			}
			if err == nil && info.Mode()&fs.ModeSymlink != 0 {
				// Not ErrSymlink, which a policy would follow.
				return nil, provider.Errorf(errors.ErrUnsupported, "%q cannot be kept from being changed: it is a symlink: %w", part,
					ops.Remedy("put what the symlink leads to in its place; if run.readOnly names it, name what it leads to instead"))
			}
			if err != nil {
				return nil, provider.Errorf(workspace.ErrUnavailable, "%q cannot be kept from being changed: %w", part, err)
			}
			frozen = append(frozen, command.Frozen{Name: part, Info: info, Parent: !last && info.IsDir()})
		}
	}
	return frozen, nil
}
