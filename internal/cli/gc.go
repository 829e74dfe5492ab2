package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/workspacekit/workspacekit/internal/cli/target"
	"github.com/workspacekit/workspacekit/internal/cli/term"
	"github.com/workspacekit/workspacekit/providers/container"
)

const gcLong = `Gc deletes containers that a workspace created from an image and that nobody uses any
more, and prints them. One is left over if the program was killed while it created the
container, or if the engine stopped.

Gc deletes only containers that your user created on this computer, and only if the
process that created them has ended, or cannot be seen from here and the container is
stopped. It leaves containers with keep: true.`

// newGC returns the command that removes left containers.
func newGC(flags *target.Flags) *cobra.Command {
	var engine string
	var args []string
	var dryRun bool
	cmd := &cobra.Command{
		Use:   "gc",
		Short: "Delete containers left by programs that were killed",
		Long:  gcLong,
		Example: `  workspace gc
  workspace gc --dry-run
  workspace gc --engine podman
  workspace gc --engine-arg --context=remote`,
		Args: term.Positional,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := flags.Refuse("for gc, which is about an engine"); err != nil {
				return err
			}
			name := cmp.Or(engine, os.Getenv(container.EnvEngine), "docker")
			left, err := container.Leftovers(cmd.Context(), &container.Options{Engine: append([]string{name}, args...)})
			if err != nil {
				return term.Failf("%s: %w", name, term.Cause(err))
			}
			return removeLeft(cmd, left, dryRun)
		},
	}
	cmd.Flags().StringVar(&engine, "engine", "", "use this `client` of the engine: docker, podman or nerdctl (default: the variable WORKSPACE_ENGINE, or docker)")
	cmd.Flags().StringArrayVar(&args, "engine-arg", nil, "pass this `flag` to the client, such as --context=remote; may be repeated")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "print the containers, and delete none")
	return cmd
}

// removeLeft removes containers, and prints each. After one that cannot be removed it goes on,
// and returns all errors together.
func removeLeft(cmd *cobra.Command, left []container.Leftover, dryRun bool) error {
	out := cmd.OutOrStdout()
	if len(left) == 0 {
		_, err := fmt.Fprintln(out, "nothing to remove")
		return term.Fail(err)
	}
	var errs []error
	for _, l := range left {
		done := "would remove"
		if !dryRun {
			if err := l.Remove(cmd.Context()); err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", l.Name, term.Cause(err)))
				continue
			}
			done = "removed"
		}
		if err := printLeft(out, done, l); err != nil {
			return term.Fail(err)
		}
	}
	return term.Fail(errors.Join(errs...))
}

// printLeft prints a line about a container. Names come from the engine, so they are
// made printable.
func printLeft(out io.Writer, done string, l container.Leftover) error {
	text := fmt.Sprintf("%s %s, of the image %s, created %s", done, l.Name, l.Image, l.Created.UTC().Format(time.DateTime))
	_, err := fmt.Fprintln(out, term.Visible(text, ""))
	return err
}
