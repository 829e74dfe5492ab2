package shell

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/shell/internal/command"
	"github.com/workspacekit/workspacekit/shell/internal/rewrite"
	"github.com/workspacekit/workspacekit/workspace"
)

// runner returns an interpreter that asks the handlers of r. Nothing that it could take from
// the host is left to it. stdin may be nil for an empty standard input.
//
// An interpreter is for one script. A script in another one, as of bash -c, gets its own.
func (r *run) runner(stdin *os.File, stdout, stderr io.Writer, env *environ) (*interp.Runner, error) {
	env.now, env.begin = r.opts.Now, r.opts.Now()
	var in io.Reader
	// A nil *os.File in the interface would not be nil.
	if stdin != nil {
		in = stdin
	}
	runner, err := interp.New(
		interp.Env(env), noDir,
		interp.StdIO(in, stdout, stderr),
		interp.CallHandler(r.call),
		interp.ExecHandlers(func(interp.ExecHandlerFunc) interp.ExecHandlerFunc { return r.exec }),
		interp.OpenHandler(r.open),
		interp.ReadDirHandler2(r.readDir),
		interp.StatHandler(r.stat),
		interp.AccessHandler(r.access),
	)
	if err != nil {
		return nil, err
	}
	runner.Dir = env.dir
	runner.Reset()
	env.ready = true
	return runner, runner.Run(context.Background(), &syntax.Stmt{}) // options can be set only after a run
}

// noDir keeps the interpreter from asking for the directory of the process; interp.Dir
// would look at the host.
func noDir(runner *interp.Runner) error {
	runner.Dir = "/"
	return nil
}

// framesPerCall is about how many frames one call of a function takes on the stack.
const framesPerCall = 12

// Limits that are not options.
const (
	maxArguments = 4 << 20 // bytes of the arguments of one command
	maxExecs     = 200     // calls of exec with redirections in one run, whose files stay open
)

// sourcePath is the directory whose files are pieces of scripts, for source. The
// interpreter looks for the files of source on the host first, and a name with a NUL is
// refused before it reaches the host.
const sourcePath = "/\x00/"

// call is asked about each simple command before it runs. It counts, and replaces those
// builtins of the interpreter that would use the host, or too much memory.
//
// It returns an error only to end the run. A command that is refused is replaced by one that
// fails, so that the script goes on, as with bash. The words of args are expanded already, so
// that a builtin is found also where a script computes its name: x=eval; $x 'echo a'.
func (r *run) call(ctx context.Context, args []string) ([]string, error) {
	hc := interp.HandlerCtx(ctx)
	n := r.commands.Add(1)
	if n > int64(r.opts.Commands) {
		return nil, r.stopBudget("commands", r.opts.Commands, "Commands")
	}
	if n%8 == 0 && rewrite.Deeper(r.opts.Recursion*framesPerCall) { // each time would take a quarter of all time
		return nil, r.stop("more than about %d nested functions and compound commands (budget Recursion)", r.opts.Recursion)
	}
	// 141 is the status of a command that SIGPIPE has ended.
	if w, ok := hc.Stdout.(*pipeWriter); ok && w.isBroken() {
		return []string{"exit", "141"}, nil
	}
	if err := r.checkArguments(hc, args); err != nil {
		return nil, err
	}
	return r.replace(ctx, hc, args), nil
}

// isBroken reports whether the reader of the pipe has closed its end, after which every
// write fails.
func (w *pipeWriter) isBroken() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.broken
}

// checkArguments bounds the arguments of a command: those of functions stay in memory as
// long as the functions run.
//
// Each argument counts 16 bytes more for its string. Where arguments are long, it assumes that
// all functions that call each other have some of this size: f(){ f "$1"a; } would otherwise
// hold Recursion times as much.
func (r *run) checkArguments(hc interp.HandlerContext, args []string) error {
	size := int64(0)
	for _, arg := range args {
		size += int64(len(arg)) + 16
	}
	if size > maxArguments {
		return r.stop("the arguments of %s take more than %d bytes", args[0][:min(len(args[0]), 20)], maxArguments)
	}
	// The longest so far bounds the positional parameters; see run.sizeOf.
	for {
		most := r.maxArgs.Load()
		if size <= most || r.maxArgs.CompareAndSwap(most, size) {
			break
		}
	}
	if size > 64<<10 && rewrite.Deeper(int(int64(r.opts.Variables)/size)*framesPerCall) {
		return r.stopBudget("bytes of arguments of functions that call each other", r.opts.Variables, "Variables")
	}
	return nil
}

// exec runs a command that is neither a function nor a builtin of the interpreter.
//
// When ctx ends, reads and writes of the command's pipes are interrupted, so that a program
// that waits for input ends, too.
func (r *run) exec(ctx context.Context, args []string) (err error) {
	hc := interp.HandlerCtx(ctx)
	if internal := r.internal(strings.CutPrefix(args[0], r.scripts.Prefix)); internal != nil {
		if err := internal(ctx, hc, args); err != nil {
			return err
		}
		return eval(ctx, hc, ":") // what has been evaluated may have left a status
	}
	p := r.process(hc, args)
	end := context.AfterFunc(ctx, func() { unblock(hc.Stdin); unblock(hc.Stdout) })
	defer end()
	status := r.protect(func() error { return statusError(r.runProgram(ctx, p)) })
	if out := p.Stdout.(*programWriter); out.broken && status != 0 {
		status = 141
	}
	return statusError(status)
}

// statusError is the error of an exit status, nil for 0.
func statusError(status int) error {
	if status == 0 {
		return nil
	}
	return interp.ExitStatus(status)
}

// unblock ends reads and writes of a pipe that wait, and all that come after. A stream
// without deadlines is left alone.
func unblock(stream any) {
	if pipe, ok := stream.(interface{ SetDeadline(time.Time) error }); ok && stream != nil {
		pipe.SetDeadline(time.Unix(1, 0))
	}
}

// process returns what a program gets. It sees exported variables only, and through
// r.files no file but those of the workspaces. Its input is never nil.
func (r *run) process(hc interp.HandlerContext, args []string) *command.Process {
	return &command.Process{
		Args: args, Stdin: r.input(hc), Stderr: hc.Stderr, Dir: hc.Dir, Files: r.files, Now: r.opts.Now,
		Stdout: &programWriter{Writer: hc.Stdout}, MaxMemory: int64(r.opts.Variables),
		Env: func(name string) string {
			if vr := hc.Env.Get(name); vr.Exported {
				return vr.String()
			}
			return ""
		},
		Environ: func() []string { return exportedVariables(hc.Env) },
		Run:     r.runAgain,
		Known:   isProgram,
	}
}

// exportedVariables returns the exported variables as NAME=value, sorted. Arrays are not
// exported, as in bash.
func exportedVariables(env expand.Environ) []string {
	values := map[string]string{}
	env.Each(func(name string, vr expand.Variable) bool {
		// An inner scope comes after the outer one, and may hide an exported variable.
		delete(values, name)
		if vr.Exported && vr.Set && vr.Kind == expand.String {
			values[name] = vr.Str
		}
		return true
	})
	var list []string
	for name, value := range values {
		list = append(list, name+"="+value)
	}
	slices.Sort(list)
	return list
}

// commonDepth is how deep a directory may be without counting more.
const commonDepth = 20

// readDir lists directories for globs. What it returns counts as expansions, one more for
// each call: a/*/*/* in a large tree ends the run before it fills the memory. A deep directory
// counts 10 more for each level, as ** goes round in circles of symlinks, which makes names that
// take long to follow.
func (r *run) readDir(ctx context.Context, name string) ([]fs.DirEntry, error) {
	infos, err := r.files.ReadDir(ctx, "/", name)
	deeper := max(strings.Count(name, "/")-commonDepth, 0)
	if n := r.expansions.Add(int64(len(infos) + 1 + 10*deeper)); n > int64(r.opts.Expansions) {
		return nil, r.stopBudget("names that globs look at", r.opts.Expansions, "Expansions")
	}
	if err != nil {
		return nil, r.listError(ctx, name, err)
	}
	entries := make([]fs.DirEntry, len(infos))
	for i, info := range infos {
		entries[i] = fs.FileInfoToDirEntry(fileInfo{info})
	}
	return entries, nil
}

// listError returns what a glob learns of a directory that cannot be listed: nil for one that has
// no matches, else an error that ends the script.
//
// A glob also asks for its elements without a pattern, to see whether they exist, for which
// [fs.ErrNotExist] must stay what it is.
func (r *run) listError(ctx context.Context, name string, err error) error {
	name = path.Clean(name)
	if errors.Is(err, fs.ErrPermission) {
		info, statErr := r.stat(ctx, name, true)
		if statErr != nil {
			err = fs.ErrNotExist // as it is in a directory that may not be entered
		} else if info.IsDir() {
			return nil
		}
	}
	kind := ops.Refinement{Text: command.ErrorText(err)}
	if errors.Is(err, fs.ErrNotExist) {
		if name == "/dev" || name == interp.HandlerCtx(ctx).Dir || r.files.AboveRoot(name) {
			return nil // so that a glob goes on to /dev/shm, from a directory that was removed to its parent, or to the root
		}
		kind.Of = fs.ErrNotExist
	}
	return expansionError{&fs.PathError{Op: "bash:", Path: name, Err: kind}}
}

// stat describes files for test and cd. name is absolute; "" does not exist. follow says
// whether a symlink is described as what it leads to.
func (r *run) stat(ctx context.Context, name string, follow bool) (fs.FileInfo, error) {
	var info workspace.FileInfo
	var err error
	if name == "" {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	if isProgramPath(name) {
		return fileInfo{workspace.FileInfo{Name: path.Base(name), Type: workspace.TypeFile, Size: 1}}, nil
	}
	if follow {
		info, err = r.files.Stat(ctx, "/", name)
	} else {
		info, err = r.files.Lstat(ctx, "/", name)
	}
	if err != nil {
		return nil, err
	}
	return fileInfo{info}, nil
}

// access says whether a file can be read, written or executed: files that exist can be
// read, those of a workspace without writes cannot be written, and devices cannot be executed.
func (r *run) access(ctx context.Context, name string, mode interp.AccessMode) error {
	info, err := r.stat(ctx, name, true)
	if err != nil {
		return err
	}
	if isProgramPath(name) {
		if mode&interp.AccessWrite != 0 {
			return fs.ErrPermission
		}
		return nil
	}
	at, err := r.files.Locate(ctx, "/", name)
	if err != nil {
		return nil // a device
	}
	if mode&interp.AccessWrite != 0 && (at.Workspace == nil || !at.Workspace.Capabilities().Write) {
		return fs.ErrPermission
	}
	if mode&interp.AccessExec != 0 && !info.IsDir() && !info.Mode().IsRegular() {
		return fs.ErrPermission
	}
	return nil
}

// fileInfo is a description of a workspace as package fs has it.
type fileInfo struct{ info workspace.FileInfo }

func (f fileInfo) Name() string       { return f.info.Name }
func (f fileInfo) Size() int64        { return f.info.Size }
func (f fileInfo) ModTime() time.Time { return f.info.ModTime }
func (f fileInfo) IsDir() bool        { return f.info.IsDir() }
func (f fileInfo) Sys() any           { return nil }

// Mode implements [fs.FileInfo]. The permissions are made up, as a workspace has none; what
// [ -w file ] says comes from run.access.
func (f fileInfo) Mode() fs.FileMode {
	switch f.info.Type {
	case workspace.TypeDirectory:
		return fs.ModeDir | 0o755
	case workspace.TypeSymlink:
		return fs.ModeSymlink | 0o777
	case workspace.TypeOther:
		return fs.ModeDevice | fs.ModeCharDevice | 0o666
	}
	return 0o644
}
