package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/scratch"
	"github.com/workspacekit/workspacekit/internal/session"
	"github.com/workspacekit/workspacekit/shell/internal/command"
	"github.com/workspacekit/workspacekit/workspace"
	"mvdan.cc/sh/v3/syntax"
)

// Options are the budgets of a [Shell]. A zero field means the default that is named, a
// negative one is an error of [Shell.Run].
type Options struct {
	// Time is how long one run may take. Default: 1 minute.
	Time time.Duration
	// Commands is how many simple commands one run may execute. Default: 1,000,000.
	Commands int
	// Subshells is how many parts of pipelines and background jobs may run at a time.
	// Default: 64.
	Subshells int
	// Recursion is about how deeply functions may call each other. Default: 500.
	Recursion int
	// Output is how many bytes of its output a run returns. Of more, the middle is cut,
	// and all of it is in a file; see [Result].Spilled. Default: 32 KiB.
	Output int
	// TotalOutput is how many bytes a run may print at all. Default: 16 MiB.
	TotalOutput int
	// Variables is how many bytes all variables may have. It also bounds what a program
	// holds, and a quarter of it what one command substitution returns. Default: 32 MiB.
	Variables int
	// Expansions is how many words braces and globs may make in one run.
	// Default: 200,000.
	Expansions int
	// Scratch is how many bytes the files below /tmp may have together.
	// Default: 64 MiB.
	Scratch int64

	// Now returns the time for date and the like. Nil means [time.Now].
	Now func() time.Time
}

// maxScript is the largest script in bytes, also for eval, source and bash. A longer one is
// not parsed, and fails with the status 2.
const maxScript = 1 << 20

// withDefaults returns a copy with defaults for zero fields. A negative budget is an error. o
// may be nil, and is not changed.
func (o *Options) withDefaults() (*Options, error) {
	var d Options
	if o != nil {
		d = *o
	}
	for _, f := range []struct {
		field *int
		value int
	}{
		{&d.Commands, 1_000_000}, {&d.Subshells, 64}, {&d.Recursion, 500}, {&d.Output, 32 << 10},
		{&d.TotalOutput, 16 << 20}, {&d.Variables, 32 << 20}, {&d.Expansions, 200_000},
	} {
		if *f.field < 0 {
			return nil, fmt.Errorf("shell: a budget is negative: %w", fs.ErrInvalid)
		}
		if *f.field == 0 {
			*f.field = f.value
		}
	}
	if d.Time < 0 || d.Scratch < 0 {
		return nil, fmt.Errorf("shell: a budget is negative: %w", fs.ErrInvalid)
	}
	if d.Time == 0 {
		d.Time = time.Minute
	}
	if d.Scratch == 0 {
		d.Scratch = scratch.DefaultLimit
	}
	if d.Now == nil {
		d.Now = time.Now
	}
	return &d, nil
}

// Shell is a session of a bash over workspaces. It is safe for concurrent use; one script
// runs at a time.
type Shell struct {
	workspaces []*workspace.Workspace // of New, not empty unless invalid is set
	space      *scratch.Space         // /tmp and /dev/shm; nil if invalid is set
	opts       *Options               // with defaults; nil if invalid is set by them
	invalid    error                  // of the arguments of New; most methods return it

	mu    sync.Mutex // held while a script runs; guards what follows
	state *state     // replaced by UnmarshalJSON as a whole
}

// New returns a session over workspaces, which have different names. Nil opts mean the
// zero Options. The session keeps its files below /tmp in memory.
//
// New does not fail: what is wrong with its arguments is the error of Run and of the other
// methods that use the workspaces. The session does not close them, and needs no closing
// itself.
func New(workspaces []*workspace.Workspace, opts *Options) *Shell {
	s := &Shell{workspaces: workspaces, state: newState()}
	s.opts, s.invalid = opts.withDefaults()
	names := map[string]bool{}
	for _, ws := range workspaces {
		// One workspace is the root, so that its name is free. Several are directories.
		if names[ws.Name()] || len(workspaces) > 1 && !ops.ValidName(ws.Name()) {
			s.invalid = fmt.Errorf("shell: the name %q cannot be a directory of its own", ws.Name())
		}
		names[ws.Name()] = true
	}
	if len(workspaces) == 0 {
		s.invalid = errors.New("shell: there is no workspace")
	}
	if s.invalid == nil {
		s.space = scratch.New(s.opts.Scratch)
	}
	return s
}

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
	// Timeout lowers [Options].Time. Zero means that one; Run refuses a negative one.
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
	// them ("write_file", "rm", "move"). info describes it, and is nil if it does not exist.
	// An error of Change becomes the error of the operation.
	Change(ctx context.Context, op string, ws *workspace.Workspace, name string, info *workspace.FileInfo) error
	// Moved is called after name, with all below it, was moved to to, or was removed if to
	// is empty.
	Moved(ctx context.Context, ws *workspace.Workspace, name, to string)
	// Copied is called after the workspace has copied the file name to the new file to.
	// Wrote is not called for it.
	Copied(ctx context.Context, ws *workspace.Workspace, name, to string)
}

// Result is what a run did.
type Result struct {
	// ExitCode is the exit status of the script: 124 if it ran out of time, 137 if it
	// reached another budget.
	ExitCode int
	// Output is what the script printed, standard output and standard error in order.
	Output string
	// Cut is how many bytes are missing in the middle of Output.
	Cut int
	// Spilled is the file of the shell, below /dev/shm, that has the whole output. It is
	// empty if Output is whole.
	Spilled string
	// Stopped is the message about the budget that ended the run, empty if none did. The
	// output ends with it.
	Stopped string
	// Changes are the files that were changed, in order. Those of the scratch workspace are
	// left out.
	Changes []Change
}

// Change is a change of one file or directory. Of several writes of one file only the last
// is kept.
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
// RunOptions.Timeout, [io/fs.ErrNotExist] and [workspace.ErrNotDir] for RunOptions.Dir, and
// the error of ctx if it ended before the script.
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

// do runs a script and collects what it did.
//
// Its contexts are nested: the caller's, one with the budget Time, and one with cancel, which
// the other budgets call. The cause of the innermost one says which of them ended the script.
func (r *run) do(ctx context.Context, text string) (*Result, error) {
	limit := r.opts.Time
	if r.given.Timeout > 0 {
		limit = min(limit, r.given.Timeout)
	}
	timed, stopTimer := context.WithTimeoutCause(ctx, limit, &budgetError{fmt.Sprintf("more than %s (budget Time)", limit)})
	defer stopTimer()
	inner, cancel := context.WithCancelCause(timed)
	defer cancel(errFinished)
	r.cancel = cancel
	exit := r.interpret(inner, text)
	// Before cancel, after which each script that ended by itself would have errFinished.
	cause := context.Cause(inner)
	cancel(errFinished)
	r.pieces.Lock() // waits for the pieces that run, and lets no other begin
	r.files.DropDescriptors()
	return r.result(ctx, exit, cause)
}

// enter changes the directory of the session. It stays changed, whatever the script does.
//
// Where dir has a symlink, the session keeps the name with the symlink, as bash does.
func (r *run) enter(ctx context.Context, dir string) error {
	info, err := r.files.Stat(ctx, r.shell.state.Dir, dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return &os.PathError{Op: "cd", Path: dir, Err: workspace.ErrNotDir}
	}
	r.shell.state.Dir = absolute(r.shell.state.Dir, dir)
	return nil
}

// absolute returns name, seen from dir. A ".." removes the element before it, as cd does in
// bash, even where that element is a symlink.
func absolute(dir, name string) string {
	if !path.IsAbs(name) {
		name = path.Join(dir, name)
	}
	return path.Clean(name)
}

// ReadScratch returns the content of a file below /tmp or /dev/shm, such as
// [Result].Spilled, as long as it is in the scratch workspace of the session. It does not
// wait for a script that runs.
//
// # Errors
//
// Those of [workspace.Workspace.ReadFile].
func (s *Shell) ReadScratch(ctx context.Context, name string) ([]byte, error) {
	if s.invalid != nil {
		return nil, s.invalid
	}
	at, err := command.NewFiles(s.workspaces, s.space.Workspace, command.Hooks{}).Locate(ctx, "/", name)
	if err != nil {
		return nil, err
	}
	if at.Workspace != s.space.Workspace {
		return nil, ops.Error(ops.ReadFile, name, fs.ErrNotExist, nil)
	}
	return s.space.Read(ctx, at.Name)
}

// Spill keeps an output as a file of the scratch workspace, and returns its name. If there
// is no room, outputs from before are removed. It does not wait for a script that runs.
//
// # Errors
//
// [workspace.ErrNoSpace], and the error of ctx.
func (s *Shell) Spill(ctx context.Context, output []byte) (name string, err error) {
	if s.invalid != nil {
		return "", s.invalid
	}
	return s.space.Spill(ctx, output)
}

// Dir returns the working directory, which is absolute. It waits for a script that runs.
func (s *Shell) Dir() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state.Dir
}

// List returns the entries of a directory, from the one that the session is in, sorted
// bytewise by name. Empty means that directory.
//
// # Errors
//
// Those of [workspace.Workspace.Ls].
func (s *Shell) List(ctx context.Context, dir string) ([]workspace.FileInfo, error) {
	if s.invalid != nil {
		return nil, s.invalid
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if dir == "" {
		dir = "."
	}
	return command.NewFiles(s.workspaces, s.space.Workspace, command.Hooks{}).ReadDir(ctx, s.state.Dir, dir)
}

// Complete reports whether a script can be run: it is not when a quote, a block or the like
// is open, or a backslash ends it, so that more lines must follow. A script with another
// error is complete.
//
// It is for prompts that read line by line. It runs nothing and needs no session.
func Complete(text string) bool {
	lines := strings.TrimSuffix(text, "\n")
	if incomplete(lines + "\n") {
		return false
	}
	// A quote in place of the backslash is open, unless that is escaped or in a comment.
	rest, continued := strings.CutSuffix(lines, `\`)
	return !continued || !incomplete(rest+"'")
}

// incomplete reports whether the parser needs more of a script.
func incomplete(text string) bool {
	_, err := syntax.NewParser().Parse(newScript(text), "")
	return syntax.IsIncomplete(err)
}
