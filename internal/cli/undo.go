package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/workspacekit/workspacekit/internal/cli/target"
	"github.com/workspacekit/workspacekit/internal/cli/term"
	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/wording"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/backup"
	"github.com/workspacekit/workspacekit/workspace/config"
)

const undoLong = `Undo reverts the last call that changed something in a workspace with the setting
backup. Repeat it to go further back.

Undo reverts the changes of one session, which is one run of an agent, or one "workspace
call" without --session: the session of the last change, or the one that --session names,
by its id or by the file of "workspace call --session".

If a file has changed since, undo names it, reverts nothing, and exits with 1; with --all,
it still reverts the changes of other files.`

// undoFlags are the flags of the command undo.
type undoFlags struct {
	backup.UndoOptions
	list, json bool
}

// newUndo returns the command that reverts changes.
func newUndo(flags *target.Flags) *cobra.Command {
	var u undoFlags
	cmd := &cobra.Command{
		Use:   "undo",
		Short: "Revert changes",
		Long:  undoLong,
		Example: `  workspace undo
  workspace undo --dry-run --all
  workspace -w repo undo --session run.json --all
  workspace undo --list`,
		Args: term.Positional,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if u.list && (u.All || u.Redo || u.DryRun || cmd.Flags().Changed("last")) {
				return errors.New("--list changes nothing: leave the other flags but --session out")
			}
			if u.All && cmd.Flags().Changed("last") {
				return errors.New("--all and --last both say how many calls are reverted: leave one of them out")
			}
			if u.Last < 1 {
				return errors.New("--last must be at least 1")
			}
			return u.run(cmd, flags)
		},
	}
	set := cmd.Flags()
	set.SortFlags = false
	set.BoolVar(&u.All, "all", false, "revert all changes of the session")
	set.IntVar(&u.Last, "last", 1, "the number of calls to revert")
	set.StringVar(&u.Session, "session", "", "the `session` to revert: its id or its file")
	set.BoolVar(&u.Redo, "redo", false, "take back undos, the last one first")
	set.BoolVar(&u.DryRun, "dry-run", false, "print what undo would revert, and change nothing")
	set.BoolVar(&u.list, "list", false, "print the changes, the last one first, and revert nothing")
	set.BoolVar(&u.json, "json", false, "print each change as a line of JSON")
	return cmd
}

// run does what the flags say. What has been reverted before an error is printed before it.
func (u undoFlags) run(cmd *cobra.Command, flags *target.Flags) error {
	err := term.NotEmpty(cmd, "session", "name a session")
	if err != nil {
		return err
	}
	if u.Session, err = sessionID(cmd.Context(), u.Session); err != nil {
		return err
	}
	ws, _, err := flags.OpenOne(cmd.Context(), "undo")
	if err != nil {
		return err
	}
	defer ws.Close()
	backups := ws.Backups()
	if backups == nil {
		return noBackups(flags, ws)
	}
	var changes []backup.Change
	if u.list {
		changes, err = backups.Changes(cmd.Context(), u.Session)
	} else {
		changes, err = backups.Undo(cmd.Context(), &u.UndoOptions)
	}
	if err := u.print(cmd.OutOrStdout(), changes); err != nil {
		return term.Fail(err)
	}
	if calls := countCalls(changes); !u.list && !u.All && err == nil && calls < u.Last {
		term.Say(cmd.ErrOrStderr(), fmt.Sprintf("note: the session had %s to %s, not %d", wording.Count(calls, "call", "calls"), u.verb(), u.Last))
	}
	if slices.ContainsFunc(changes, func(c backup.Change) bool { return c.SessionCut }) && !u.list {
		term.Say(cmd.ErrOrStderr(), "note: older changes of the session are no longer kept")
	}
	return u.explain(err)
}

// verb returns what the command does.
func (u undoFlags) verb() string {
	if u.Redo {
		return "redo"
	}
	return "undo"
}

// countCalls returns how many calls made changes that were reverted together.
func countCalls(changes []backup.Change) int {
	calls := 0
	for i, c := range changes {
		if i == 0 || (c.Call == "" || c.Call != changes[i-1].Call) && (c.Undoes == 0 || c.Undoes != changes[i-1].Undoes) {
			calls++
		}
	}
	return calls
}

// noBackups is the error of a workspace without backups. A workspace that is read-only has
// none, whatever the file says.
func noBackups(flags *target.Flags, ws *config.Workspace) error {
	remedy := "its description in a file needs the key backup, as in {provider: mem://, backup: {}}"
	switch {
	case flags.ReadOnly:
		remedy = "it is read-only; leave --read-only out"
	case ws.Settings().ReadOnly:
		remedy = "it has the setting readOnly"
	}
	return term.Failf("the workspace %q keeps no backups: %s", ws.Name(), remedy)
}

// sessionID returns the id of the session that a flag gives by its id or by its file. What is
// the name of no file is an id.
func sessionID(ctx context.Context, given string) (string, error) {
	data, err := target.ReadFile(ctx, given, target.MaxInput)
	if given == "" || errors.Is(err, fs.ErrNotExist) {
		return given, nil
	}
	s := tools.NewSession()
	if err == nil {
		err = json.Unmarshal(data, s)
	}
	if err != nil {
		return "", fmt.Errorf("--session %q: no session can be read from it: %s", given, term.Plain(err))
	}
	return s.ID(), nil
}

// explain returns err with what a person can do about it.
func (u undoFlags) explain(err error) error {
	switch {
	case err == nil:
		return nil
	case ops.Path(err) == ".": // it is about no change
		return term.Fail(term.Cause(err))
	case errors.Is(err, workspace.ErrConflict):
		return term.Failf("%w\n%s does not touch what somebody else has written; \"workspace undo --list\" shows the changes, and --session chooses those of another session", err, u.verb())
	case errors.Is(err, errors.ErrUnsupported) && u.Redo && !u.All:
		return term.Failf("%w\n\"workspace undo --redo --all\" passes over it", err)
	case errors.Is(err, errors.ErrUnsupported) && !u.All && !u.DryRun:
		return term.Failf("%w\nthe next undo passes over it", err)
	}
	return term.Fail(err)
}

// print prints changes: what was reverted, or with --list all of them.
func (u undoFlags) print(out io.Writer, changes []backup.Change) error {
	for _, c := range changes {
		if u.json {
			if err := json.NewEncoder(out).Encode(listed{c.Number, c}); err != nil {
				return err
			}
			continue
		}
		if _, err := fmt.Fprintln(out, term.Visible(u.line(c), "")); err != nil {
			return err
		}
	}
	return nil
}

// listed is a change with its number.
type listed struct {
	Number int64 `json:"number"`
	backup.Change
}

// line returns a change as a line for people.
func (u undoFlags) line(c backup.Change) string {
	if u.Redo && c.Op == ops.Move { // c is the undo, which moved back what is moved again
		c.Path, c.To = c.To, c.Path
	}
	what := c.Op + " " + c.Path
	if c.To != "" {
		what += " to " + c.To
	}
	switch {
	case u.list && c.Redo:
		what += fmt.Sprintf(", redone (change %d)", c.Undoes)
	case u.list && c.Undoes != 0 && len(c.Steps) == 0:
		what += fmt.Sprintf(", passed over (change %d)", c.Undoes)
	case u.list && c.Undoes != 0:
		what += fmt.Sprintf(", which undid change %d", c.Undoes)
	case c.Cut:
		what += " (what the same call changed before is no longer kept)"
	case c.Unkept:
		what += " (it is too large to be redone)"
	case !u.list && c.Op == ops.Rm && slices.ContainsFunc(c.Steps, isSymlink):
		what += " (without symlinks)"
	case c.Stays:
		what += " (a directory that is not empty stays)"
	}
	would, done := "would undo ", "undone: "
	if u.Redo {
		would, done = "would redo ", "redone: "
	}
	switch {
	case u.list && !c.Done:
		what += ", cut off"
	case u.DryRun:
		return would + what
	case !u.list:
		return done + what
	}
	return fmt.Sprintf("%d  %s  %s  %s", c.Number, c.Time.UTC().Format(time.DateTime), c.Session, what)
}

// isSymlink reports whether a step removed a symlink, which does not come back.
func isSymlink(s backup.Step) bool { return s.Before.Type == workspace.TypeSymlink }
