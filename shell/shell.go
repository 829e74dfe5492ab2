package shell

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"time"

	"mvdan.cc/sh/v3/syntax"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/scratch"
	"github.com/workspacekit/workspacekit/shell/internal/command"
	"github.com/workspacekit/workspacekit/shell/internal/rewrite"
	"github.com/workspacekit/workspacekit/workspace"
)

// Options are the budgets of a [Shell]. A zero field means the default that is named, a
// negative one is an error of [Shell.Run].
type Options struct {
	// Time is how long one run may take. Default: 1 minute.
	Time time.Duration
	// Commands is how many simple commands one run may execute. A redirection, pipe,
	// substitution or round of for ((;;)) counts as up to five more. Default: 1,000,000.
	Commands int
	// Subshells is how many parts of pipelines and background jobs may run at a time.
	// Default: 64.
	Subshells int
	// Recursion is about how deeply functions and compound commands may nest. Default: 500.
	Recursion int
	// Output is how many bytes of its output a run returns. Of more, the middle is cut,
	// and all of it is in a file if Scratch has room; see [Result].Spilled. Default: 32 KiB.
	Output int
	// TotalOutput is how many bytes a run may print at all. Default: 16 MiB.
	TotalOutput int
	// Variables is how many bytes all variables may have. It also bounds what a program
	// holds, and a quarter of it what one command substitution returns. Default: 32 MiB.
	Variables int
	// Expansions is how many words the braces of one command may make, and how many names
	// the globs of one run may look at, twice in a directory that a glob names, as in t/*.
	// Default: 200,000.
	Expansions int
	// Scratch is how many bytes the files below /tmp may have together.
	// Default: 64 MiB.
	Scratch int64

	// Now returns the time for date and the like. Nil means [time.Now].
	Now func() time.Time
}

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
	_, err := syntax.NewParser().Parse(rewrite.NewReader(text), "")
	return syntax.IsIncomplete(err)
}
