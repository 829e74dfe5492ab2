package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
)

const doctorLong = `Doctor opens each workspace and tries it: it lists the root and reads a file, writes
a file and reads it back, finds out whether conditional writes are honoured and
whether a watch reports a change, counts the files, and says what the workspace
runs on. What does not work is shown with a remedy.

The one file that it writes is called ".workspace-doctor-" and something random.
It is removed in the end, also if the command is interrupted. Nothing else is
changed, and a workspace that is read-only is not written to at all.

The exit code is 0 if all works, also with warnings, and 1 if something fails. A
workspace that cannot be opened does not keep the others from being tried.`

const doctorExample = `  workspace doctor
  workspace doctor --json
  workspace doctor --timeout 2m`

// defaultTimeout is how long a probe may take if no flag says otherwise.
const defaultTimeout = 30 * time.Second

// checkups is how many workspaces are tried at a time.
const checkups = 4

// newDoctor returns the command that tries workspaces.
func newDoctor(s *settings) *cobra.Command {
	d := &doctor{settings: s}
	cmd := &cobra.Command{
		Use:     "doctor",
		Short:   "Try the workspaces, and say what to do about what fails",
		Long:    doctorLong,
		Example: doctorExample,
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return d.run(cmd) },
	}
	cmd.Flags().BoolVar(&d.asJSON, "json", false, "print what was found as one JSON object")
	cmd.Flags().DurationVar(&d.timeout, "timeout", defaultTimeout, "how long each probe may take")
	return cmd
}

// doctor is one run of the command.
type doctor struct {
	settings *settings
	asJSON   bool
	timeout  time.Duration
}

func (d *doctor) run(cmd *cobra.Command) error {
	if d.timeout <= 0 {
		return errors.New("--timeout must be longer than nothing")
	}
	targets, err := d.settings.targets()
	if err != nil {
		return err
	}
	out := bufio.NewWriter(cmd.OutOrStdout())
	view := newDoctorView(console{Writer: out, look: d.settings.look(cmd.OutOrStdout()), notes: cmd.ErrOrStderr()}, d.asJSON)
	for _, result := range d.examineAll(cmd.Context(), targets) {
		found := <-result
		view.left(found)
		if cmd.Context().Err() != nil {
			continue // to know what is left behind
		}
		if err := view.show(found); err != nil {
			return err
		}
	}
	if err := cmd.Context().Err(); err != nil {
		return err
	}
	if err := view.end(); err != nil {
		return err
	}
	return view.verdict()
}

// examineAll tries all targets, some at a time, and returns where what is found
// of each will come.
func (d *doctor) examineAll(ctx context.Context, targets []target) []chan checkup {
	free := make(chan struct{}, checkups)
	results := make([]chan checkup, len(targets))
	for i, target := range targets {
		results[i] = make(chan checkup, 1)
		go func() {
			free <- struct{}{}
			defer func() { <-free }()
			e := &examination{target: target, timeout: d.timeout}
			results[i] <- e.run(ctx)
		}()
	}
	return results
}

// unwell is the error of workspaces of which some do not work.
func unwell(failed, all int) error {
	if all == 1 {
		return &runError{errors.New("the workspace does not work as it should")}
	}
	return &runError{fmt.Errorf("%d of %d workspaces do not work as they should", failed, all)}
}
