package cli

import (
	"context"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/workspacekit/workspacekit/internal/cli/approve"
	"github.com/workspacekit/workspacekit/internal/cli/target"
	"github.com/workspacekit/workspacekit/internal/cli/term"
	"github.com/workspacekit/workspacekit/workspace"
)

// newWatch returns the command that prints changes as they happen.
func newWatch(flags *target.Flags) *cobra.Command {
	approved, asJSON := approve.Flag{}, false
	cmd := &cobra.Command{
		Use:   "watch [PATH]",
		Short: "Print changes as they happen",
		Long: `Watch prints the changes in a directory and below, one on a line: "create a.txt",
"write a.txt", "remove a.txt". It prints "overflow" and the directory if it missed changes:
list that again. Of a file system that is polled, such as a bucket, it prints only how each
look differs from the one before. Watch runs until it is interrupted, and exits with 130. Once
the folder of the workspace itself is removed, it prints nothing more.`,
		Example: `  workspace watch
  workspace -w repo watch src
  workspace -C ~/project watch src --json`,
		Args: term.Positional,
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := "."
			if len(args) == 1 {
				dir = args[0]
			}
			cmd.SetContext(approved.Context(cmd, flags.Style))
			return watch(cmd, flags, approved, dir, asJSON)
		},
	}
	approved.Add(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print each change as a line of JSON")
	return cmd
}

// watch prints events until the command is interrupted. The note that it watches comes when it
// does, so a program that waits for the note misses no change.
func watch(cmd *cobra.Command, flags *target.Flags, approved approve.Flag, dir string, asJSON bool) error {
	ws, _, err := flags.OpenOne(cmd.Context(), "watch")
	if err != nil {
		return err
	}
	defer ws.Close()
	if err := approved.Check(ws); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(cmd.Context())
	events, err := ws.Watch(ctx, dir, nil)
	if err != nil {
		cancel()
		return term.Failf("%s: %w", dir, term.Cause(err))
	}
	defer func() { // until the audit log has its end
		cancel()
		for range events {
		}
	}()
	term.Say(cmd.ErrOrStderr(), "workspace: watching "+dir)
	style := flags.Style(cmd.OutOrStdout())
	for event := range events {
		if err := printEvent(cmd.OutOrStdout(), event, asJSON, style); err != nil {
			return term.Fail(err)
		}
	}
	return cmd.Context().Err() // nothing else ends a watch
}

// eventColors are the colors of events; others are yellow.
var eventColors = map[workspace.EventOp]string{workspace.EventCreate: term.Green, workspace.EventRemove: term.Red}

// printEvent prints one event, at once. A name is made visible for programs, too: a line break
// in it would begin what looks like another event.
func printEvent(out io.Writer, event workspace.Event, asJSON bool, style term.Style) error {
	if asJSON {
		return term.PrintJSON(out, event)
	}
	color, ok := eventColors[event.Op]
	if !ok {
		color = term.Yellow
	}
	_, err := fmt.Fprintf(out, "%s %s\n", style.Paint(color, string(event.Op)), term.Visible(event.Path, ""))
	return err
}

// version returns the version of the module, as the go command stamped it.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
