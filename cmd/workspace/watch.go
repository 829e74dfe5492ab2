package main

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/workspacekit/workspacekit/workspace"
)

// newWatch returns the command that prints changes as they happen.
func newWatch(s *settings) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "watch [PATH]",
		Short: "Print changes as they happen",
		Long: `Watch prints the changes in a directory and all below it, one line each, until it
is interrupted: "create a.txt", "write a.txt", "remove a.txt", and "overflow" if
events were lost and the directory should be looked at again. The exit code is then
130.`,
		Example: `  workspace watch
  workspace -w repo watch src
  workspace -C ~/project watch src --json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := "."
			if len(args) == 1 {
				dir = args[0]
			}
			return watch(cmd, s, dir, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print each event as one JSON object on a line")
	return cmd
}

func watch(cmd *cobra.Command, s *settings, dir string, asJSON bool) error {
	target, _, err := s.oneTarget("watch")
	if err != nil {
		return err
	}
	ws, _, release, err := target.open(cmd.Context())
	if err != nil {
		return err
	}
	defer release()
	events, err := ws.Watch(cmd.Context(), dir, nil)
	if err != nil {
		return &runError{fmt.Errorf("%s: %s", dir, plain(err))}
	}
	say(cmd.ErrOrStderr(), "workspace: watching "+dir)
	look := s.look(cmd.OutOrStdout())
	for event := range events {
		if err := printEvent(cmd.OutOrStdout(), event, asJSON, look); err != nil {
			return &runError{err}
		}
	}
	return cmd.Context().Err() // the only end of a watch
}

// printEvent prints one event, at once.
func printEvent(out io.Writer, event workspace.Event, asJSON bool, look look) error {
	if !asJSON {
		_, err := fmt.Fprintf(out, "%s %s\n", look.verb(event.Op), look.name(event.Path))
		return err
	}
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(event)
}
