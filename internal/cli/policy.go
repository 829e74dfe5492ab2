package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/workspacekit/workspacekit/internal/cli/target"
	"github.com/workspacekit/workspacekit/internal/cli/term"
	"github.com/workspacekit/workspacekit/internal/wording"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/config"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// newPolicy returns the commands about the rules of workspaces.
func newPolicy(flags *target.Flags) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "policy",
		Short: "Explain, test and suggest rules",
		Long: `Policy explains and tests whether the settings of a workspace allow an operation, and
suggests rules from an audit log. It opens no workspace and changes nothing.`,
		Example: `  workspace policy explain write src/main.go
  workspace policy test
  workspace policy suggest audit.jsonl`,
		Args: term.Subcommands("command"),
		RunE: needsCommand("policy needs a command, such as \"workspace policy explain write src/main.go\""),
	}
	cmd.AddCommand(newExplain(flags), newPolicyTest(flags), newSuggest(flags))
	return cmd
}

// newExplain returns the command that prints one decision.
func newExplain(flags *target.Flags) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "explain OP PATH",
		Short: "Print whether an operation on a name is allowed, and why",
		Long: `Explain prints whether an operation on a name is allowed, which rule decides, and where
that rule is in the file. It looks at the name only: it follows no symlink, and ignores
that workspace.yaml, audit logs, backups and transactions are protected, and whether the
provider runs commands.
For move and copy, the name is the source, and for run the directory. For a destination,
ask about "write".

The operations are read, write, edit, delete, move, copy, list, mkdir and run. The exit
code is 0 whether the operation is allowed or not.`,
		Example: `  workspace policy explain read .env
  workspace -w docs policy explain delete guide.md --json`,
		Args:      term.Positional,
		ValidArgs: []string{"read", "write", "edit", "delete", "move", "copy", "list", "mkdir", "run"},
		RunE: func(cmd *cobra.Command, args []string) error {
			name, err := workspace.CleanName("", args[1])
			if err != nil {
				return fmt.Errorf("the name %q cannot be used: %w", args[1], err)
			}
			if ops := cmd.ValidArgs; !slices.Contains(ops, args[0]) {
				return fmt.Errorf("there is no operation %q: %s", args[0], wording.Suggest(args[0], ops))
			}
			explained, err := explain(flags, policy.Op(args[0]), name)
			if err != nil {
				return err
			}
			if asJSON {
				return term.PrintJSON(cmd.OutOrStdout(), explained)
			}
			return term.Fail(printExplained(cmd.OutOrStdout(), explained))
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the result as one JSON object")
	return cmd
}

// explain returns the decision for the workspace that the flags choose. Without a file, these
// are the settings that the flags make. Nothing is opened.
func explain(flags *target.Flags, op policy.Op, name string) (config.Explained, error) {
	s, err := flags.Select()
	if err != nil {
		return config.Explained{}, err
	}
	chosen, err := s.One("explain")
	if err != nil {
		return config.Explained{}, err
	}
	if s.File != nil {
		return s.File.Explain(chosen.Name, op, name)
	}
	decision, err := s.Settings().Explain(op, name)
	return config.Explained{Workspace: chosen.Name, Path: name, Decision: decision}, err
}

// printExplained prints a decision for people. If a rule decided, it says where in the file
// that is.
func printExplained(out io.Writer, e config.Explained) error {
	_, err := fmt.Fprintf(out, "%s  %s %s: %s\n", e.Effect, e.Op, e.Path, e.Reason)
	if err == nil && e.Place != "" {
		_, err = fmt.Fprintf(out, "      %s\n", e.Place)
	}
	return err
}

// newPolicyTest returns the command that tries the cases of the file.
func newPolicyTest(flags *target.Flags) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "test",
		Short: "Run the policyTests of the file",
		Long: `Test compares the settings of each workspace with its policyTests:

  policyTests:
    - { op: read, path: src/main.go, want: allow }
    - { op: write, path: .env, want: deny }

It prints each case that fails, with its line in the file, and then exits with 1. A file
without cases is an error.`,
		Example: `  workspace policy test
  workspace -w docs policy test --json`,
		Args: term.Positional,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := flags.Select()
			if err != nil {
				return err
			}
			if s.File == nil {
				return errors.New("policy test needs a file, whose policyTests it tries")
			}
			tried, err := s.File.TestPolicy()
			if err != nil {
				return err
			}
			if len(tried) == 0 {
				missing := "policyTests"
				if len(flags.Workspaces) > 0 {
					missing += " for " + strings.Join(flags.Workspaces, " or ")
				}
				return fmt.Errorf("%s has no %s: add some to a workspace, such as [{op: read, path: .env, want: deny}]", target.Name(s.Path), missing)
			}
			return reportTests(cmd.OutOrStdout(), tried, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print all cases as one JSON object")
	return cmd
}

// reportTests prints the cases that are not as expected, or as JSON all. A case that fails
// makes the exit code 1; it is not an error text of its own.
func reportTests(out io.Writer, tried []config.Explained, asJSON bool) error {
	failed := 0
	for _, e := range tried {
		if e.Effect == e.Want {
			continue
		}
		failed++
		if asJSON {
			continue
		}
		if _, err := fmt.Fprintf(out, "%s: %s %s: want %s, got %s: %s\n", e.Place, e.Op, e.Path, e.Want, e.Effect, e.Reason); err != nil {
			return term.Fail(err)
		}
	}
	var err error
	if asJSON {
		err = term.PrintJSON(out, struct {
			OK    bool               `json:"ok"`
			Cases []config.Explained `json:"cases"`
		}{failed == 0, tried})
	} else {
		_, err = fmt.Fprintf(out, "%s, %d failed\n", wording.Count(len(tried), "case", "cases"), failed)
	}
	if err != nil {
		return term.Fail(err)
	}
	if failed > 0 {
		return term.Reported(term.ExitFailed)
	}
	return nil
}
