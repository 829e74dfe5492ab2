package policy

import (
	"context"
	"errors"
	"fmt"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy/internal/shown"
)

// Run implements [workspace.Runner]: see [OpRun]. A RestrictedFS of [Protect] lets every
// command run.
func (r *RestrictedFS) Run(ctx context.Context, opts *workspace.RunOptions) (result *workspace.RunResult, err error) {
	o := runOptions(opts)
	err = r.approved(ctx, ops.Run, o.Dir, func(r *RestrictedFS) error {
		return r.at(ctx, ops.Run, onRun, o.Dir, true, func(p resolved) error {
			if err := r.checkRun(p); err != nil {
				return err
			}
			if err := r.confirmRun(p, o); err != nil {
				return err
			}
			there := o
			there.Dir = p.target
			result, err = run(ctx, p.files, &there)
			return ops.Rename(err, ops.Run, runPath(err, p, o))
		})
	})
	return result, err
}

// runOptions returns the options that opts point to, in which the root has its name.
func runOptions(opts *workspace.RunOptions) workspace.RunOptions {
	var o workspace.RunOptions
	if opts != nil {
		o = *opts
	}
	if o.Dir == "" {
		o.Dir = "."
	}
	return o
}

// runPath returns the name that an error of a command has: the program keeps its name.
func runPath(err error, p resolved, o workspace.RunOptions) string {
	if name := ops.Path(err); name != p.target && len(o.Command) > 0 && name == o.Command[0] {
		return name
	}
	return p.name
}

// run runs a command in fsys.
func run(ctx context.Context, fsys workspace.FileSystem, o *workspace.RunOptions) (*workspace.RunResult, error) {
	runner, ok := workspace.As[workspace.Runner](fsys)
	if !ok {
		return nil, ops.Error(ops.Run, o.Dir, errors.ErrUnsupported, nil)
	}
	return runner.Run(ctx, o)
}

// checkRun returns the denial of a command in the directory p.
func (r *RestrictedFS) checkRun(p resolved) error {
	if r.runsFreely() {
		return nil
	}
	for _, name := range []string{p.name, p.target} {
		if d := r.rules.runs(name); d.Effect != Allow {
			return ops.Error(ops.Run, p.name, workspace.ErrPolicy, &DeniedError{decision: d})
		}
	}
	return nil
}

// runsFreely reports whether commands need no rule.
func (r *RestrictedFS) runsFreely() bool {
	return r.allowRun || r.rules.protect != nil || r.rules == everything
}

// runs returns what the rules for single operations say of a command in a directory.
func (s *ruleset) runs(dir string) Decision {
	folded := foldCase(dir)
	for _, c := range s.programs {
		if matches, _ := c.match(folded); matches {
			return Decision{Op: OpRun, Effect: c.effect, Rule: c.place, Reason: fmt.Sprintf("it matches %s, %q", c.place, c.text)}
		}
	}
	return Decision{Op: OpRun, Effect: Deny, Reason: "a command is not bound by the rules for names: it needs a rule for run that allows it, or asks, and a provider that runs commands"}
}

// maxShownCommand is how much of a command a question shows, in bytes.
const maxShownCommand = 8 << 10

// confirmRun is [question.confirm] for a command.
func (r *RestrictedFS) confirmRun(p resolved, o workspace.RunOptions) error {
	if r.question == nil {
		return nil
	}
	command := fmt.Sprintf("%q", o.Command)
	if len(o.Env) > 0 {
		command += fmt.Sprintf(" with the variables %q", o.Env) // fmt sorts the keys
	}
	if in, ok := o.Stdin.(interface{ Len() int }); o.Stdin != nil && !(ok && in.Len() == 0) {
		command += " with an input that is not shown"
	}
	_, err := r.question.confirm(Request{Op: OpRun}, p, command, func() (shown.State, error) {
		text := command
		if len(text) > maxShownCommand {
			text = fmt.Sprintf("%s... (%d bytes more are not shown)", text[:maxShownCommand], len(text)-maxShownCommand)
		}
		return shown.State{Note: "runs " + text}, nil
	})
	return err
}

// Run implements [workspace.Runner]. A command is not bound to a directory: it runs only
// in a SubFS of the root.
func (s *SubFS) Run(ctx context.Context, opts *workspace.RunOptions) (*workspace.RunResult, error) {
	o := runOptions(opts)
	if err := ops.Check(ctx, ops.Run, o.Dir); err != nil {
		return nil, err
	}
	if s.dir != "." {
		return nil, ops.Error(ops.Run, o.Dir, workspace.ErrPolicy, errors.New("a command could leave the directory of the workspace"))
	}
	return run(ctx, s.fsys, &o)
}

// Run implements [workspace.Runner]: it is refused.
func (r *ReadOnlyFS) Run(ctx context.Context, opts *workspace.RunOptions) (*workspace.RunResult, error) {
	return nil, refuse(ctx, ops.Run, runOptions(opts).Dir)
}
