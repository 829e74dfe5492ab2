package container

import (
	"context"
	"errors"
	"maps"
	"path"
	"slices"

	"github.com/workspacekit/workspacekit/providers/container/internal/command"
	"github.com/workspacekit/workspacekit/providers/container/internal/shell"
	"github.com/workspacekit/workspacekit/workspace"
)

// Run implements [provider.Runner]. The command is no child of a shell that serves other
// calls, and no call waits for it.
func (s *store) Run(ctx context.Context, opts workspace.RunOptions) (*workspace.RunResult, error) {
	if _, err := s.begin(ctx, opts.Dir); err != nil {
		return nil, err
	}
	env := map[string]string{}
	maps.Copy(env, s.opts.Create.Env) // some of them, such as IFS, would not survive a shell
	maps.Copy(env, opts.Env)
	opts.Env = env
	for {
		if _, err := s.Ls(ctx, opts.Dir, workspace.LsOptions{Limit: 1}); err != nil {
			return nil, err
		}
		dir, err := s.Resolve(ctx, opts.Dir)
		if err != nil {
			return nil, err
		}
		found := s.start.found.Load()
		result, err := s.machine.Run(ctx, command.Command{RunOptions: opts, Path: path.Join(found.Root, dir), Shell: found.shell})
		if !errors.Is(err, command.ErrMoved) {
			return result, s.callError(err)
		}
		if s.exact {
			return nil, workspace.ErrSymlink
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
}

// newMachine returns what runs commands.
func (s *shared) newMachine() *command.Machine {
	return &command.Machine{
		OpenKeeper: func(ctx context.Context) (*shell.Session, error) { return s.openShell(ctx) },
		Words:      func(args ...string) []string { return s.start.found.Load().words(args...) },
		Check:      func(ctx context.Context, err error) error { return s.start.found.Load().checked(ctx, err) },
	}
}

// words returns the command line that starts a program, nil where there is none.
func (s *session) words(args ...string) []string {
	switch executor := s.executor.(type) {
	case Command:
		return append(slices.Clone([]string(executor)), args...)
	case *kubectl:
		return executor.pod.Words(args...)
	}
	return nil
}
