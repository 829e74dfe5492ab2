// Package doctor has the command that tries workspaces and says what to do about
// what fails.
package doctor

import (
	"bufio"
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/workspacekit/workspacekit/internal/cli/target"
	"github.com/workspacekit/workspacekit/internal/cli/term"
)

const long = `Doctor opens each workspace and tests it. It lists the root, reads a file, writes a
file and reads it back, checks that the store honours conditional writes and that a
watch reports a change, counts the files, and says what the workspace runs on. For
each problem it prints a remedy.

Doctor writes one file, named ".workspace-doctor-" and random characters, and deletes
it before it ends, even if it is interrupted. It changes nothing else, and writes
nothing to a read-only workspace.

Doctor exits with 0 if everything works or there are only warnings, and with 1 if
something fails. If one workspace cannot be opened, it still tests the others.`

const example = `  workspace doctor
  workspace doctor --json
  workspace doctor --timeout 2m`

// defaultTimeout is how long a probe may take if no flag says otherwise.
const defaultTimeout = 30 * time.Second

// atOnce is how many workspaces are tried at a time.
const atOnce = 4

// New returns the command.
func New(flags *target.Flags) *cobra.Command {
	d := &doctor{flags: flags}
	cmd := &cobra.Command{
		Use:     "doctor",
		Short:   "Test that the workspaces work, and print remedies",
		Long:    long,
		Example: example,
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return d.run(cmd) },
	}
	cmd.Flags().BoolVar(&d.asJSON, "json", false, "print the findings as one JSON object")
	cmd.Flags().DurationVar(&d.timeout, "timeout", defaultTimeout, "end each probe after this time")
	return cmd
}

// doctor is one run of the command.
type doctor struct {
	flags   *target.Flags
	asJSON  bool
	timeout time.Duration
}

// run tries the workspaces that the flags choose, and prints each report in their
// order as soon as it is there.
func (d *doctor) run(cmd *cobra.Command) error {
	if d.timeout <= 0 {
		return errors.New("--timeout must be longer than nothing")
	}
	chosen, err := d.flags.Select()
	if err != nil {
		return err
	}
	out := bufio.NewWriter(cmd.OutOrStdout())
	p := newPrinter(term.Console{Writer: out, Style: d.flags.Style(cmd.OutOrStdout()), Notes: cmd.ErrOrStderr()}, d.asJSON)
	for _, result := range d.diagnoseAll(cmd.Context(), chosen.Targets()) {
		found := <-result
		p.noteLeft(found)
		if cmd.Context().Err() != nil {
			continue // the other runs may have left files, too
		}
		if err := p.show(found); err != nil {
			return err
		}
	}
	if err := cmd.Context().Err(); err != nil {
		return err
	}
	if err := p.end(); err != nil {
		return err
	}
	return p.verdict()
}

// diagnoseAll tries all targets, some at a time, and returns where what is found
// of each will come.
func (d *doctor) diagnoseAll(ctx context.Context, targets []target.Target) []chan report {
	free := make(chan struct{}, atOnce)
	results := make([]chan report, len(targets))
	for i, t := range targets {
		results[i] = make(chan report, 1)
		go func() {
			free <- struct{}{}
			defer func() { <-free }()
			one := &diagnosis{target: t, timeout: d.timeout}
			results[i] <- one.run(ctx)
		}()
	}
	return results
}
