package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/workspacekit/workspacekit/internal/cli/target"
	"github.com/workspacekit/workspacekit/internal/cli/term"
	"github.com/workspacekit/workspacekit/internal/wording"
	"github.com/workspacekit/workspacekit/workspace/audit"
)

const auditLong = `Audit verifies the log of a workspace that has the setting audit.`

// newAudit returns the command about audit logs.
func newAudit(flags *target.Flags) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "audit",
		Short:   "Verify an audit log",
		Long:    auditLong,
		Example: `  workspace audit verify audit.jsonl`,
		Args:    term.Subcommands("command"),
		RunE:    needsCommand("audit needs a command, such as \"workspace audit verify FILE\""),
	}
	cmd.AddCommand(newVerify(flags))
	return cmd
}

const verifyLong = `Verify checks that no line of an audit log was changed, deleted or inserted. It prints
the number of operations and the hash of the last finished line.

The log alone does not show that its last lines were deleted or written again. So keep
the whole hash in another place, and give it to --expect the next time.

The files of a log that was rotated (maxSizeMb) are verified with it; a missing one is an
error. Give files with other names to standard input, the oldest first:

  cat audit-may.jsonl audit-june.jsonl | workspace audit verify -

If the log is not as it was written, verify says why and exits with 1, without a JSON
object. An unfinished last line of the newest file is only reported.`

// newVerify returns the command that verifies a log.
func newVerify(flags *target.Flags) *cobra.Command {
	var expect string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "verify FILE",
		Short: "Check that nobody changed an audit log",
		Long:  verifyLong,
		Example: `  workspace audit verify audit.jsonl
  workspace audit verify audit.jsonl --expect 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08`,
		Args: term.Positional,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := flags.Refuse("for verify, which is about a log"); err != nil {
				return err
			}
			if err := term.NotEmpty(cmd, "expect", "give a hash"); err != nil {
				return err
			}
			// In upper case it is the same hash; a part of one is on no line.
			hash, err := hex.DecodeString(expect)
			if expect != "" && (err != nil || len(hash) != sha256.Size) {
				return errors.New("--expect is no hash: give all its 64 digits, as verify prints them")
			}
			return verify(cmd, args[0], hex.EncodeToString(hash), asJSON)
		},
	}
	cmd.Flags().StringVar(&expect, "expect", "", "fail unless a line of the log has this `hash`")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the result as one JSON object")
	return cmd
}

// verify verifies the log in the file path, with the rotated files beside it, or the one on
// standard input, and prints what it found. A log that is not as it was written is an error.
func verify(cmd *cobra.Command, path, expect string, asJSON bool) error {
	report, err := target.UntilDone(cmd.Context(), func() (audit.Report, error) {
		if path == target.Stdin {
			return audit.Verify(cmd.InOrStdin(), expect)
		}
		return audit.VerifyFile(path, expect)
	})
	if err != nil {
		return failedLog(path, err)
	}
	if asJSON {
		return term.Fail(json.NewEncoder(cmd.OutOrStdout()).Encode(report))
	}
	return term.Fail(printReport(cmd.OutOrStdout(), path, report))
}

// failedLog returns the failure of reading the log in the file path. An error of another file,
// such as a rotated one, names that.
func failedLog(path string, err error) error {
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		path = pathError.Path
	}
	return term.Failf("%s: %w", path, term.Cause(err))
}

// printReport prints what an intact log has.
func printReport(out io.Writer, path string, report audit.Report) error {
	text := fmt.Sprintf("%s: each line continues the one before: %s", term.Visible(path, ""), wording.Count(report.Operations, "operation", "operations"))
	if report.Files > 1 {
		text += fmt.Sprintf(" in %d files", report.Files)
	}
	text += "\n"
	if report.Torn > 0 {
		text += fmt.Sprintf("%s cut short by a crash, which is recorded\n", wording.Count(report.Torn, "line", "lines"))
	}
	if report.Unfinished {
		text += "the last line is not finished: it is being written, or was cut short\n"
	}
	if report.Continues != "" {
		text += fmt.Sprintf("continues the line %s of another file\n", report.Continues)
	}
	_, err := fmt.Fprintf(out, "%slast line: %s\n", text, report.Last)
	return err
}
