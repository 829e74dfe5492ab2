package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/workspacekit/workspacekit/internal/cli/target"
	"github.com/workspacekit/workspacekit/internal/cli/term"
	"github.com/workspacekit/workspacekit/workspace/config"
)

const trustLong = `A workspace.yaml that is found in the current folder or a parent may use only memory and its
own folder until you trust it. Otherwise a file of a cloned repository or of an agent could
start programs and use your credentials. Trust lets the file use other folders, buckets,
containers, pods, audit logs, git and variables of the environment, run commands, and turn
protections off. It prints what of these the file uses. A file that is changed or moved is
no longer trusted, and a copy is not.

A file that you name with --config or WORKSPACE_CONFIG needs no trust.`

// newTrust returns the command that trusts a file.
func newTrust(flags *target.Flags) *cobra.Command {
	var list bool
	var revoke string
	cmd := &cobra.Command{
		Use:   "trust [FILE]",
		Short: "Let a file use buckets, containers and other folders",
		Long:  trustLong,
		Example: `  workspace trust
  workspace trust team/workspace.yaml
  workspace trust --list
  workspace trust --revoke workspace.yaml`,
		Args: term.Positional,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := flags.Refuse("for trust, which is about a file", "config"); err != nil {
				return err
			}
			if (list || cmd.Flags().Changed("revoke")) && (len(args) > 0 || flags.ConfigChanged() || list && cmd.Flags().Changed("revoke")) {
				return errors.New("--list and --revoke FILE are commands of their own: leave the rest out")
			}
			store, err := config.UserTrustStore()
			if err != nil {
				return err
			}
			switch {
			case list:
				return listTrusted(cmd.Context(), cmd.OutOrStdout(), store)
			case cmd.Flags().Changed("revoke"):
				return revokeTrust(cmd.OutOrStdout(), store, revoke)
			}
			file, err := flags.Argument(args)
			if err != nil {
				return err
			}
			return trust(cmd, flags, store, file.Path)
		},
	}
	cmd.Flags().BoolVar(&list, "list", false, "print the trusted files")
	cmd.Flags().StringVar(&revoke, "revoke", "", "stop trusting this `file`")
	return cmd
}

// trust prints what the file path uses, and remembers that the user trusts it. The content
// that is printed and the content that is trusted are one, as the file is read once.
func trust(cmd *cobra.Command, flags *target.Flags, store *config.TrustStore, path string) error {
	if path == target.Stdin {
		return errors.New("standard input needs no trust: name a file")
	}
	c, err := flags.Load(config.Location{Path: path})
	if err != nil {
		return err
	}
	grants, err := c.Grants(cmd.Context(), flags.Registry())
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	if len(grants) == 0 {
		_, err := fmt.Fprintf(out, "%s uses memory and its own folder only, and needs no trust\n", term.Visible(path, ""))
		return term.Fail(err)
	}
	if err := store.Trust(c); err != nil {
		return term.Fail(err)
	}
	return term.Fail(printGrants(out, grants, fmt.Sprintf("%s is trusted, as long as it does not change, to use:", path)))
}

// printGrants prints grants after a line that says what they are, and nothing if
// there are none.
func printGrants(out io.Writer, grants []config.Grant, head string) error {
	if len(grants) == 0 {
		return nil
	}
	if _, err := fmt.Fprintln(out, term.Visible(head, "")); err != nil {
		return err
	}
	for _, grant := range grants {
		if _, err := fmt.Fprintf(out, "  %s: %s\n", grant.Workspace, term.Visible(grant.Text, "")); err != nil {
			return err
		}
	}
	return nil
}

// listTrusted prints the trusted files with the days on which they were trusted.
func listTrusted(ctx context.Context, out io.Writer, store *config.TrustStore) error {
	list, err := store.List()
	if err != nil {
		return term.Fail(err)
	}
	for _, trusted := range list {
		note := ""
		if content, err := target.ReadFile(ctx, trusted.Path, target.MaxInput); err != nil {
			note = "  (cannot be read)"
		} else if !store.Trusts(trusted.Path, content) {
			note = "  (changed, no longer trusted)"
		}
		if _, err := fmt.Fprintf(out, "%s  %s%s\n", trusted.Since.Format("2006-01-02"), term.Visible(trusted.Path, ""), note); err != nil {
			return term.Fail(err)
		}
	}
	return nil
}

// revokeTrust removes a file from the trusted ones. A file that is not trusted is a mistake on
// the command line.
func revokeTrust(out io.Writer, store *config.TrustStore, path string) error {
	err := store.Revoke(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%q is not among the trusted files, which \"workspace trust --list\" prints", path)
	case err != nil:
		return term.Fail(err)
	}
	_, err = fmt.Fprintf(out, "%s is no longer trusted\n", term.Visible(path, ""))
	return term.Fail(err)
}
