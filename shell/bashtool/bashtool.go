// Package bashtool connects package shell with the tool "bash" of package tools: give
// [New] to the options of a set.
//
//	set, err := tools.New(ws, &tools.Options{Bash: bashtool.New(nil)})
package bashtool

import (
	"context"
	"slices"
	"time"

	"github.com/workspacekit/workspacekit/shell"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
)

// New returns what makes the shells of a set, with budgets of package shell. A zero Time means
// that a script has the time of its call, at most an hour. Nil opts mean the other defaults of
// package shell, but a model gets 24 KiB of an output; other opts have an Output of their own.
func New(opts *shell.Options) tools.Bash {
	o := shell.Options{Output: 24 << 10}
	if opts != nil {
		o = *opts
	}
	if o.Time == 0 {
		o.Time = time.Hour
	}
	return maker{o}
}

// maker implements [tools.Bash].
type maker struct{ opts shell.Options }

// NewShell implements [tools.Bash].
func (m maker) NewShell(workspaces []*workspace.Workspace) tools.Shell {
	return session{shell.New(workspaces, &m.opts)}
}

// unlisted are the programs that are like others, or that bash has, too: a description has
// at most 1,024 characters.
var unlisted = []string{"[", "base32", "cksum", "egrep", "false", "fgrep", "gawk", "hexdump", "mawk", "printenv", "pwd", "sh", "sha1sum", "sha224sum", "sha384sum", "sha512sum", "true", "unexpand", "yes"}

// Programs implements [tools.Bash].
func (maker) Programs() []string {
	return slices.DeleteFunc(shell.ProgramNames(), func(name string) bool { return slices.Contains(unlisted, name) })
}

// session implements [tools.Shell].
type session struct{ *shell.Shell }

// Run implements [tools.Shell].
func (s session) Run(ctx context.Context, call *tools.ShellCall) (*tools.ShellResult, error) {
	opts := &shell.RunOptions{Dir: call.Dir, Timeout: call.Timeout}
	if call.Observer != nil {
		opts.Observer = call.Observer
	}
	result, err := s.Shell.Run(ctx, call.Script, opts)
	if err != nil {
		return nil, err
	}
	out := &tools.ShellResult{ExitCode: result.ExitCode, Output: result.Output, Cut: result.Cut,
		Spilled: result.Spilled, Stopped: result.Stopped}
	for _, c := range result.Changes {
		out.Changes = append(out.Changes, tools.ShellChange(c))
	}
	return out, nil
}
