package shell

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/wording"
	"github.com/workspacekit/workspacekit/shell/internal/command"
	"github.com/workspacekit/workspacekit/workspace"
)

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

	commands   atomic.Int64 // simple commands, and programs that programs have run
	expansions atomic.Int64 // names that globs have looked at
	subshells  atomic.Int64 // pieces that run now
	shells     atomic.Int64 // scripts that run in other scripts
	maxArgs    atomic.Int64 // the most bytes that the arguments of a call had
	captured   atomic.Int64 // bytes of command substitutions since the last check
	keepsOpen  atomic.Int64 // calls of exec with redirections
	unstored   atomic.Int64 // files that could not be stored, not reported by a status yet
	listed     atomic.Bool  // the programs have been listed after an unknown command
	optsUsed   atomic.Bool  // set or shopt was called
	pieces     sync.RWMutex // read-locked by each piece that runs; locked for good when the run has ended

	out *output // of both streams

	stopped  atomic.Pointer[budgetError] // the budget that was reached first
	noNumber atomic.Pointer[error]       // of the last value that was no number, until it is reported

	badTest atomic.Bool // an operand in [[ ]] was no number, until the test has asked for it

	parsing   sync.Mutex           // held by rewrite
	functions map[string]bool      // guarded by parsing; names that scripts of the session have declared as functions
	maps      map[string]bool      // guarded by parsing; names that were declared as associative arrays
	wrapped   map[syntax.Node]bool // guarded by parsing; what rewrite has put into something else in this script

	mu      sync.Mutex
	answers map[string]*bytes.Buffer // guarded by mu; what the interpreter was asked, by file
	started map[int]time.Time        // guarded by mu; when the keyword time was reached, by number
	stored  int64                    // guarded by mu; bytes kept in variables since their sizes were added up
	held    int64                    // guarded by mu; bytes of the variables at that time
	changes []Change                 // guarded by mu
	last    map[string]int           // guarded by mu; where in changes the last write of a file is
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
//
// It copies the names of functions and associative arrays of the session, because rewrite
// needs to know them before the script declares its own.
func newRun(s *Shell, o *RunOptions) *run {
	r := &run{shell: s, opts: s.opts, given: o, cancel: func(error) {},
		functions: map[string]bool{}, maps: map[string]bool{}, last: map[string]int{},
		answers: map[string]*bytes.Buffer{}, started: map[int]time.Time{}}
	for name := range s.state.functions {
		r.functions[name] = true
	}
	for name, vr := range s.state.vars {
		r.maps[name] = vr.Kind == expand.Associative
	}
	r.files = command.NewFiles(s.workspaces, s.space.Workspace, r.hooks())
	r.out = newOutput(r)
	return r
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
	return r.stop("more than %s of %s (budget %s)", wording.Thousands(n), what, option)
}

// stopQuarter is stop for what may have a quarter of the budget Variables.
func (r *run) stopQuarter(what string) error {
	return r.stop("more than %s of %s (a quarter of budget Variables)", wording.Thousands(r.opts.Variables/4), what)
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

// interpret runs the script and returns its exit status: 2 for one that cannot be parsed, as
// bash has it, and 1 for a failure of the interpreter's own setup.
//
// The state of the session is taken only if the interpreter returned: after a panic its
// variables may be half changed, and the session stays as it was before the run.
func (r *run) interpret(ctx context.Context, text string) (exit int) {
	file, err := r.parse(text, "bash")
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
	if status := r.shell.state.status; status != 0 { // before apply, as set -e would end it
		_ = runner.Run(ctx, r.internalCall(statusCommand, strconv.Itoa(status)))
		r.commands.Store(0)
	}
	if err := r.shell.state.apply(runner, r.given.Args); err != nil {
		fmt.Fprintf(r.out.stderr, "bash: %v\n", err)
		return 1
	}
	ended := false
	ctx, store := keeping(ctx)
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
// scripts with errors cause, is an exit status of its own.
//
// recover works in the goroutine of protect only. So each statement that the interpreter
// starts a goroutine for is a piece, which calls protect itself (run.runPiece). The errors
// of budgets and contexts are not printed here: result says once why the run ended.
func (r *run) protect(run func() error) (exit int) {
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintln(r.out.stderr, "bash: the script cannot be run: a construct is used in a way that is not supported")
			exit = 2
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

// runner returns an interpreter that asks the handlers of r. Nothing that it could take from
// the host is left to it. stdin may be nil for an empty standard input.
//
// An interpreter is for one script. A script in another one, as of bash -c, gets its own.
func (r *run) runner(stdin *os.File, stdout, stderr io.Writer, env *environ) (*interp.Runner, error) {
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

// environ is what the interpreter begins with: the variables of the session, instead of
// those of the process.
type environ struct {
	vars  map[string]expand.Variable
	dir   string
	ready bool // the interpreter has been set up
}

// Get implements [expand.Environ]. While the interpreter is set up, it asks for TMPDIR, a
// directory whose named pipes it would open on the host: it gets a name that no script
// can spell.
func (e *environ) Get(name string) expand.Variable {
	if name == "TMPDIR" && !e.ready {
		return expand.Variable{Set: true, Kind: expand.String, Str: "/\x00"}
	}
	return e.vars[name]
}

// Each implements [expand.Environ]. It calls fn in the order of the names.
func (e *environ) Each(fn func(name string, vr expand.Variable) bool) {
	for _, name := range slices.Sorted(maps.Keys(e.vars)) {
		if !fn(name, e.vars[name]) {
			return
		}
	}
}
