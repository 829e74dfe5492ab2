package workspace

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/workspacekit/workspacekit/internal/ops"
)

// RunOptions say which command is run, and with what.
type RunOptions struct {
	// Command is the program and its arguments. No shell reads them. A program
	// without a slash is looked up in the PATH of the machine.
	Command []string
	// Dir is the name of the directory in which the command begins. Empty means
	// the root.
	Dir string
	// Env is added to the environment that the provider gives every command, which has
	// nothing of that of this process but what the provider lists.
	Env map[string]string
	// Stdin is what the command reads, until [io.EOF]. Nil means nothing.
	Stdin io.Reader
	// Stdout and Stderr get what the command writes, as it comes. No two calls of
	// Write run at a time if both are the same, of a comparable type. Nil means that it is
	// discarded.
	Stdout, Stderr io.Writer
}

// RunResult says how a command ended.
type RunResult struct {
	// ExitCode is the exit code, -1 if a signal ended the command.
	ExitCode int `json:"exitCode"`
	// Signal is the name of the signal that ended the command, such as "KILL"; that of
	// a real-time signal depends on the provider. It is empty if none did.
	Signal string `json:"signal,omitempty"`
	// Duration is how long the command ran. In JSON it is in nanoseconds.
	Duration time.Duration `json:"duration"`
}

// Runner is implemented by a [FileSystem] whose files are on a machine that can run
// commands.
type Runner interface {
	// Run runs a command and waits for its end. A command that fails is a result:
	// its exit code says so. When ctx ends, the command is killed with everything that
	// it has started, and Run returns when these processes have ended. What a command
	// leaves running when it ends is killed, too. Except in a sandbox, a program that
	// leaves its session and clears or hides its environment can escape both.
	//
	// A Read of Stdin that has begun when the command ends is not waited for.
	//
	// A command is not bound by the names of the workspace: it reaches what the
	// machine lets it reach. Wrappers that forbid something forbid Run, unless they
	// say otherwise.
	//
	// # Errors
	//
	// [fs.ErrInvalid] for an empty Command, for a NUL byte in an argument or in Env, for a
	// variable whose name is empty, has a "=" or is WORKSPACEKIT_RUN, and for longer
	// arguments and variables than the system takes; [fs.ErrNotExist], with the program as the path, if there is no such
	// program, and [fs.ErrPermission] if it is no file or may not be executed; those of Ls
	// for Dir; the error of a Write to Stdout or Stderr, or of a Read of Stdin, that failed,
	// for which the command is killed; and without [Capabilities].Run
	// [errors.ErrUnsupported], or [ErrPolicy] from a policy.
	Run(ctx context.Context, opts *RunOptions) (*RunResult, error)
}

// Run implements [Runner]. Dir is cleaned as any name.
func (w *Workspace) Run(ctx context.Context, opts *RunOptions) (*RunResult, error) {
	var o RunOptions
	if opts != nil {
		o = *opts
	}
	dir, err := w.Clean(ctx, ops.Run, o.Dir)
	if err != nil {
		return nil, err
	}
	runner, ok := As[Runner](w.fsys)
	if !ok {
		if err := ops.Check(ctx, ops.Run, dir); err != nil {
			return nil, err
		}
		return nil, ops.Error(ops.Run, dir, errors.ErrUnsupported, nil)
	}
	o.Dir = dir
	return runner.Run(ctx, &o)
}
