package shell

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"weak"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/session"
	"github.com/workspacekit/workspacekit/internal/wording"
	"github.com/workspacekit/workspacekit/shell/internal/command"
	"github.com/workspacekit/workspacekit/shell/internal/rewrite"
	"github.com/workspacekit/workspacekit/workspace"
)

// RunOptions are the surroundings of one run.
type RunOptions struct {
	// Stdin is the standard input. Nil means an empty one. An [os.File] is read by the script
	// itself. Of another reader, a goroutine may read more than the script does. It ends with
	// the Read that waits when Run returns, which is not interrupted.
	Stdin io.Reader
	// Stdout and Stderr get the output as it is printed. Nil means that
	// [Result].Output has it.
	Stdout, Stderr io.Writer
	// Dir is the working directory, from the one that the session is in. Empty means that
	// directory. It is kept for the next run.
	Dir string
	// Env are exported variables, besides those of the session, which keeps them.
	Env map[string]string
	// Args are the positional parameters $1, $2...
	Args []string
	// Timeout lowers [Options].Time, and ends the script before ctx ends, which would be an
	// error. Zero means Time; Run refuses a negative one.
	Timeout time.Duration
	// Observer learns of each file that is read or changed. Nil means nobody.
	Observer Observer
}

// Observer learns of what a script does with files, and can refuse changes. Files of the
// scratch workspace are left out. Its methods may be called concurrently.
type Observer interface {
	// Read is called for a file that has been read to its end. sum is the SHA-256 of its
	// content.
	Read(ctx context.Context, ws *workspace.Workspace, name string, version workspace.Version, sum [32]byte, lines int)
	// Wrote is called for a file that has been written whole; see Read.
	Wrote(ctx context.Context, ws *workspace.Workspace, name string, version workspace.Version, sum [32]byte, lines int)
	// Change is called before name is changed, by an operation as package workspace names
	// them ("write_file", "rm", "mkdir", "move"). info describes it, and is nil if it does not
	// exist, and for a mkdir.
	// An error of Change becomes the error of the operation.
	Change(ctx context.Context, op string, ws *workspace.Workspace, name string, info *workspace.FileInfo) error
	// Moved is called after name, with all below it, was moved to to, or was removed if to
	// is empty.
	Moved(ctx context.Context, ws *workspace.Workspace, name, to string)
	// Copied is called after the file name was copied to the file to. Neither Read nor Wrote is
	// called for it.
	Copied(ctx context.Context, ws *workspace.Workspace, name, to string)
}

// Result is what a run did.
type Result struct {
	// ExitCode is the exit status of the script: 124 if it ran out of time, 137 if it
	// reached another budget or ended by a panic.
	ExitCode int
	// Output is what the script printed, standard output and standard error in order.
	Output string
	// Cut is how many bytes are missing in the middle of Output.
	Cut int
	// Spilled is the file of the shell, below /dev/shm, that has the whole output. It is
	// empty if Output is whole, and if there is no room for it.
	Spilled string
	// Stopped is the message about the budget or the panic that ended the run, empty if none
	// did. The output ends with it.
	Stopped string
	// Changes are the files that were changed, in order. Those of the scratch workspace are
	// left out.
	Changes []Change
}

// Change is a change of one file or directory. Of several writes of one file only the last
// is kept, unless the file was removed or moved in between.
type Change struct {
	// Op is "write_file", "rm", "mkdir" or "move".
	Op string `json:"op"`
	// Workspace is the name of the workspace.
	Workspace string `json:"workspace"`
	// Path is the name in the workspace. For a move it is the source.
	Path string `json:"path"`
	// To is the destination of a move.
	To string `json:"to,omitempty"`
	// Version is the version of a file that was written.
	Version workspace.Version `json:"version,omitempty"`
}

// Run runs a script. A script that fails, or that reaches a budget, is a result with an
// exit status. When Run returns, nothing of the script runs any more, except for a Read of
// RunOptions.Stdin. Nil opts mean the zero RunOptions.
//
// A second Run waits for the first, also where its own ctx ends meanwhile. What a script has
// changed in the session before it failed or reached a budget stays changed, unless the
// interpreter itself broke down.
//
// # Errors
//
// An invalid argument of [New], [io/fs.ErrInvalid] for a negative budget or
// RunOptions.Timeout, [io/fs.ErrNotExist], [workspace.ErrNotDir] and [io/fs.ErrPermission] for
// RunOptions.Dir, and the error of ctx if it ended before the script.
func (s *Shell) Run(ctx context.Context, script string, opts *RunOptions) (*Result, error) {
	if s.invalid != nil {
		return nil, s.invalid
	}
	var o RunOptions
	if opts != nil {
		o = *opts
	}
	if o.Timeout < 0 {
		return nil, fmt.Errorf("shell: a timeout is negative: %w", fs.ErrInvalid)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r := newRun(s, &o)
	if o.Dir != "" {
		if err := r.enter(ctx, o.Dir); err != nil {
			return nil, err
		}
	}
	return r.do(session.WithCall(ctx), script)
}

// run is one run of a script: what it has used of its budgets.
//
// The counters are atomic, as the parts of a pipeline and background jobs run at the same
// time. Scripts that run in others (bash -c, source) share the run, and so its budgets.
// Shell.UnmarshalJSON makes a run without files and output, which can only parse.
type run struct {
	shell  *Shell                  // its mu is held until the run has ended
	opts   *Options                // of the shell, with defaults
	given  *RunOptions             // of this run
	files  *command.Files          // of this run, as its hooks are those of its observer
	cancel context.CancelCauseFunc // ends the run; nothing until do has set it
	timeUp func() bool             // reports whether the run has no more time; nil until do has set it

	commands    atomic.Int64 // simple commands, and programs that programs have run
	expansions  atomic.Int64 // names that globs have looked at
	subshells   atomic.Int64 // pieces that run now
	shells      atomic.Int64 // scripts that run in other scripts
	maxArgs     atomic.Int64 // the most bytes that the arguments of a call had
	captured    atomic.Int64 // bytes of command substitutions since the last check
	keepsOpen   atomic.Int64 // calls of exec with redirections
	unstored    atomic.Int64 // files that could not be stored, not reported by a status yet
	optsUsed    atomic.Bool  // set or shopt was called
	trapsErrors atomic.Bool  // there was a trap of ERR
	pieces      sync.RWMutex // read-locked by each piece that runs; locked for good when the run has ended

	out     *output           // of both streams
	scripts *rewrite.Rewriter // of this run

	stopped  atomic.Pointer[budgetError] // the budget that was reached first
	noNumber atomic.Pointer[error]       // of the last value that was no number, until it is reported

	badTest atomic.Bool // an operand in [[ ]] was no number, until the test has asked for it

	mu      sync.Mutex
	answers map[string]*bytes.Buffer              // guarded by mu; what the interpreter was asked, by file
	started map[int]time.Time                     // guarded by mu; when the keyword time was reached, by number
	stored  int64                                 // guarded by mu; bytes kept in variables since their sizes were added up
	held    int64                                 // guarded by mu; bytes of the variables at that time
	changes []Change                              // guarded by mu
	inputs  map[weak.Pointer[os.File]]*inputState // guarded by mu; of the files that are standard inputs
	last    map[string]int                        // guarded by mu; where in changes the last write of a file is
}

// budgetError says which budget ended a run. Its text is shown after "bash: stopped: ".
//
// It is the cause of the canceled context, and the error of the handler that noticed it, so
// that the interpreter ends at once. Only result shows it to the caller.
type budgetError struct{ text string }

func (e *budgetError) Error() string { return e.text }

// errFinished ends what still runs when the script has ended.
var errFinished = errors.New("the script has ended")

// newRun prepares a run of the script of o. The caller holds s.mu until the run has ended.
func newRun(s *Shell, o *RunOptions) *run {
	r := &run{shell: s, opts: s.opts, given: o, cancel: func(error) {},
		last: map[string]int{}, answers: map[string]*bytes.Buffer{}, started: map[int]time.Time{}, inputs: map[weak.Pointer[os.File]]*inputState{}}
	r.scripts = r.rewriter(s.state.functions, s.state.vars)
	r.files = command.NewFiles(s.workspaces, s.space.Workspace, r.hooks())
	r.out = newOutput(r)
	r.held = variablesSize(s.state.environ(o.Env))
	return r
}

// rewriter returns the rewriter of a run, which begins with functions and variables.
func (r *run) rewriter(functions map[string]*syntax.Stmt, variables map[string]expand.Variable) *rewrite.Rewriter {
	return rewrite.New(r.shell.state.Session, rewrite.Options{
		Expansions: r.opts.Expansions, Functions: functions, Variables: variables, KeepPiece: r.keepPiece,
		IsProgram: func(name string) bool { return command.Programs[name] != nil },
		Refuses:   func(flag string) bool { return refused["declare "+flag] != "" },
	})
}

// keepPiece keeps the text of a piece, and returns its number. A loop of eval could otherwise
// keep any number of them until the run ends.
func (r *run) keepPiece(text string) (int, error) {
	n, size := r.shell.state.KeepPiece(text)
	if size > r.opts.Variables {
		return 0, r.stopBudget("bytes of pipelines and background jobs", r.opts.Variables, "Variables")
	}
	return n, nil
}

// hooks connects the files with the observer and the list of changes.
//
// Files of the scratch space are neither observed nor listed: they are no part of a workspace.
func (r *run) hooks() command.Hooks {
	scratch, o := r.shell.space.Workspace, r.given.Observer
	hooks := command.Hooks{Changed: func(ctx context.Context, op string, at, to command.Location, version workspace.Version) {
		if at.Workspace == scratch {
			return
		}
		r.changed(Change{Op: op, Workspace: at.Workspace.Name(), Path: at.Name, To: to.Name, Version: version})
		if o != nil && (op == ops.Rm || op == ops.Move) {
			o.Moved(ctx, at.Workspace, at.Name, to.Name)
		}
	}}
	if o == nil {
		return hooks
	}
	hooks.Read = func(ctx context.Context, at command.Location, version workspace.Version, content command.Content) {
		if at.Workspace != scratch {
			o.Read(ctx, at.Workspace, at.Name, version, content.Sum, content.Lines)
		}
	}
	hooks.Wrote = func(ctx context.Context, at command.Location, version workspace.Version, content command.Content) {
		if at.Workspace != scratch {
			o.Wrote(ctx, at.Workspace, at.Name, version, content.Sum, content.Lines)
		}
	}
	hooks.Change = func(ctx context.Context, op string, at command.Location, info *workspace.FileInfo) error {
		if at.Workspace == scratch {
			return nil
		}
		return o.Change(ctx, op, at.Workspace, at.Name, info)
	}
	hooks.Copied = func(ctx context.Context, from, to command.Location) {
		if from.Workspace != scratch {
			o.Copied(ctx, from.Workspace, from.Name, to.Name)
		}
	}
	return hooks
}

// changed adds a change to the result. Of the writes of a file only the last is kept.
//
// A file that was written, removed and written again has three entries, as the last write is
// replaced only while it is the last entry of its file.
//
// For example, Changes has three entries after this script, as the second write replaces the
// first:
//
//	echo a > f; echo b > f; rm f; echo c > f
func (r *run) changed(c Change) {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := c.Workspace + "\x00" + c.Path
	if i, ok := r.last[key]; ok && c.Op == "write_file" && r.changes[i].Op == c.Op {
		r.changes[i].Version = c.Version
		return
	}
	r.last[key] = len(r.changes)
	r.changes = append(r.changes, c)
}

// stop ends the run with a message: "bash: stopped: ...".
//
// Only the first message is kept: what fails later fails because the run ends. The error that
// it returns ends the command; the canceled context ends all others.
func (r *run) stop(format string, args ...any) error {
	err := &budgetError{fmt.Sprintf(format, args...)}
	r.stopped.CompareAndSwap(nil, err)
	r.cancel(err)
	return err
}

// stopBudget is stop for a budget of the options.
func (r *run) stopBudget(what string, n int, option string) error {
	return r.stop("more than %s %s (budget %s)", wording.Thousands(n), what, option)
}

// stopQuarter is stop for what may have a quarter of the budget Variables.
func (r *run) stopQuarter(what string) error {
	return r.stop("more than %s %s (a quarter of budget Variables)", wording.Thousands(r.opts.Variables/4), what)
}

// result makes the result of a run that has ended. cause is why its context ended, nil if
// it had not.
//
// A budget is no error of Run: the status is 137, as after SIGKILL, or 124, as timeout has it,
// for the budget Time. The end of the caller's own context is an error.
//
// The list of changes is complete also for a run that was stopped. The output is spilled
// although the context has ended.
func (r *run) result(ctx context.Context, exit int, cause error) (*Result, error) {
	result := &Result{ExitCode: exit}
	budget, stopped := errors.AsType[*budgetError](cause)
	switch {
	case stopped:
		result.ExitCode, result.Stopped = 137, budget.text
		if strings.HasSuffix(budget.text, "(budget Time)") {
			result.ExitCode = 124
		}
		fmt.Fprintf(r.out.last(), "bash: stopped: %s\n", budget.text)
	case cause != nil && ctx.Err() != nil:
		r.shell.state.status = 130 // as after SIGINT
		return nil, ctx.Err()
	}
	r.shell.state.status = result.ExitCode
	result.Changes = r.changes
	r.out.result(context.WithoutCancel(ctx), result)
	return result, nil
}

// enter changes the directory of the session. It stays changed, whatever the script does.
//
// Where dir has a symlink, the session keeps the name with the symlink, as bash does.
func (r *run) enter(ctx context.Context, dir string) error {
	info, err := r.files.Stat(ctx, r.shell.state.Dir, dir)
	if err != nil && len(r.shell.workspaces) > 1 { // which one, its own name does not say
		return ops.Rename(err, "cd", r.files.Absolute(ctx, r.shell.state.Dir, dir))
	}
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return &os.PathError{Op: "cd", Path: dir, Err: workspace.ErrNotDir}
	}
	r.shell.state.Dir = r.files.Absolute(ctx, r.shell.state.Dir, dir)
	return nil
}

// do runs a script and collects what it did. Its time begins here: another script, or Dir, may
// have used some of that of ctx.
//
// Its contexts are nested: the caller's, one with the budget Time, and one with cancel, which
// the other budgets call. The cause of the innermost one says which of them ended the script.
func (r *run) do(ctx context.Context, text string) (*Result, error) {
	limit := r.opts.Time
	if r.given.Timeout > 0 {
		limit = ops.Limit(ctx, min(limit, r.given.Timeout))
	}
	timed, stopTimer := context.WithTimeoutCause(ctx, limit, &budgetError{fmt.Sprintf("more than %s (budget Time)", limit)})
	defer stopTimer()
	inner, cancel := context.WithCancelCause(timed)
	defer cancel(errFinished)
	r.cancel, r.timeUp = cancel, func() bool { return timed.Err() != nil }
	exit := r.interpret(inner, text)
	// Before cancel, after which each script that ended by itself would have errFinished.
	cause := context.Cause(inner)
	cancel(errFinished)
	r.pieces.Lock() // waits for the pieces that run, and lets no other begin
	r.files.DropDescriptors()
	r.closeInputs()
	return r.result(ctx, exit, cause)
}

// interpret runs the script and returns its exit status: 2 for one that cannot be parsed, as
// bash has it, and 1 for a failure of the interpreter's own setup.
//
// The state of the session is taken only if the interpreter returned: after a panic its
// variables may be half changed, and the session stays as it was before the run.
func (r *run) interpret(ctx context.Context, text string) (exit int) {
	file, err := r.scripts.Parse(text, "bash")
	if err != nil {
		fmt.Fprintf(r.out.stderr, "bash: %v\n", err)
		return 2
	}
	var stdin *os.File
	if r.given.Stdin != nil {
		in, stop, err := asPipe(ctx, r.given.Stdin)
		if err != nil {
			fmt.Fprintf(r.out.stderr, "bash: %v\n", err)
			return 1
		}
		defer stop()
		stdin = in
	}
	runner, err := r.runner(stdin, r.out.stdout, r.out.stderr, r.shell.state.environ(r.given.Env))
	if err != nil {
		fmt.Fprintf(r.out.stderr, "bash: %v\n", err)
		return 1
	}
	r.commands.Store(-1000)                         // restore costs the script nothing
	r.shell.state.restore(ctx, runner, r.given.Env) // before apply, as set -e would end it
	r.commands.Store(0)
	if err := r.shell.state.apply(runner, r.given.Args); err != nil {
		fmt.Fprintf(r.out.stderr, "bash: %v\n", err)
		return 1
	}
	ended := false
	ctx, store := r.keeping(ctx)
	exit = store(r.protect(func() error {
		err := runner.Run(ctx, file)
		ended = true
		return err
	}))
	if ended {
		r.shell.state.take(runner, r.optsUsed.Load())
	}
	return exit
}

// protect calls run, and returns its exit status. A panic of the interpreter, which some
// scripts with errors cause, of the file system or of an observer ends the script as a budget does.
//
// recover works in the goroutine of protect only. So each statement that the interpreter
// starts a goroutine for is a piece, which calls protect itself (run.runPiece). The errors
// of budgets and contexts are not printed here: result says once why the run ended.
func (r *run) protect(run func() error) (exit int) {
	defer func() {
		if p := recover(); p != nil {
			r.stop("a panic: a construct is used in a way that is not supported, or the file system has a defect")
			exit = 1
		}
	}()
	err := run()
	if status, ok := errors.AsType[interp.ExitStatus](err); ok {
		return int(status)
	}
	if _, stopped := errors.AsType[*budgetError](err); err != nil && !stopped && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		fmt.Fprintf(r.out.stderr, "bash: %v\n", err)
	}
	if err != nil {
		return 1
	}
	return 0
}

// environ is what the interpreter begins with: the variables of the session, instead of
// those of the process.
type environ struct {
	vars  map[string]expand.Variable
	dir   string
	ready bool             // the interpreter has been set up
	now   func() time.Time // from run.runner
	begin time.Time        // when SECONDS was 0
}

// Get implements [expand.Environ]. While the interpreter is set up, it asks for TMPDIR, a
// directory whose named pipes it would open on the host: it gets a name that no script
// can spell.
func (e *environ) Get(name string) expand.Variable {
	if name == "TMPDIR" && !e.ready {
		return expand.Variable{Set: true, Kind: expand.String, Str: "/\x00"}
	}
	if vr, ok := e.vars[name]; ok || e.now == nil {
		return vr
	}
	switch now := e.now(); name {
	case "SECONDS":
		return expand.Variable{Set: true, Kind: expand.String, Str: strconv.FormatInt(int64(now.Sub(e.begin)/time.Second), 10)}
	case "EPOCHSECONDS":
		return expand.Variable{Set: true, Kind: expand.String, Str: strconv.FormatInt(now.Unix(), 10)}
	case "EPOCHREALTIME":
		return expand.Variable{Set: true, Kind: expand.String, Str: fmt.Sprintf("%d.%06d", now.Unix(), now.Nanosecond()/1000)}
	case "BASH_VERSINFO":
		return expand.Variable{Set: true, Kind: expand.Indexed, List: []string{"5", "2", "15", "1", "release", "x86_64-pc-linux-gnu"}}
	}
	return expand.Variable{}
}

// computedVariables are those that Get computes. A background job and a part of a pipeline keep what
// they were when it began.
var computedVariables = []string{"BASH_VERSINFO", "EPOCHREALTIME", "EPOCHSECONDS", "SECONDS"}

// Each implements [expand.Environ]. It calls fn in the order of the names, but for those of
// computedVariables, which come first.
func (e *environ) Each(fn func(name string, vr expand.Variable) bool) {
	for _, name := range slices.Concat(computedVariables, slices.Sorted(maps.Keys(e.vars))) {
		if !fn(name, e.Get(name)) {
			return
		}
	}
}
