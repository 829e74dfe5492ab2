package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/workspacekit/workspacekit"
	"github.com/workspacekit/workspacekit/workspace/config"
)

const trustLong = `Trust lets a file that is found, and not named, describe more than memory and
folders inside of its own folder: other folders, buckets, containers, pods. It
prints what the file uses beyond those, and remembers the file with its content:
when the content changes, or the file is copied elsewhere, it is no longer
trusted.

A file that --config or WORKSPACE_CONFIG names needs no trust. Without this, a
workspace.yaml that comes with a cloned repository, or that an agent wrote, could
start programs and use your credentials.`

// newTrust returns the command that trusts a file.
func newTrust(s *settings) *cobra.Command {
	var list bool
	var revoke string
	cmd := &cobra.Command{
		Use:   "trust [FILE]",
		Short: "Let a file use buckets, containers and folders elsewhere",
		Long:  trustLong,
		Example: `  workspace trust
  workspace trust team/workspace.yaml
  workspace trust --list
  workspace trust --revoke workspace.yaml`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := s.refuse("for trust, which is about a file", "workspace", "dir", "name", "max-file-size-mb", "read-only", "relaxed"); err != nil {
				return err
			}
			if (list || cmd.Flags().Changed("revoke")) && (len(args) > 0 || s.flags.Changed("config") || list && cmd.Flags().Changed("revoke")) {
				return errors.New("--list and --revoke FILE are commands of their own: leave the rest out")
			}
			store, err := config.UserTrustStore()
			if err != nil {
				return err
			}
			switch {
			case list:
				return listTrusted(cmd.OutOrStdout(), store)
			case cmd.Flags().Changed("revoke"):
				return revokeTrust(cmd.OutOrStdout(), store, revoke)
			}
			file, err := s.fileArgument(args)
			if err != nil {
				return err
			}
			return s.trust(cmd, store, file.Path)
		},
	}
	cmd.Flags().BoolVar(&list, "list", false, "print the trusted files")
	cmd.Flags().StringVar(&revoke, "revoke", "", "trust the `file` no longer")
	return cmd
}

// trust prints what the file path uses, and remembers that the user trusts it.
func (s *settings) trust(cmd *cobra.Command, store *config.TrustStore, path string) error {
	if path == stdinPath {
		return errors.New("standard input needs no trust: name a file")
	}
	c, err := s.load(config.Location{Path: path})
	if err != nil {
		return err
	}
	grants, err := c.Grants(cmd.Context(), workspacekit.NewRegistry())
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	if len(grants) == 0 {
		_, err := fmt.Fprintf(out, "%s uses memory and its own folder only, and needs no trust\n", visible(path, ""))
		return fault(err)
	}
	if err := store.Trust(c); err != nil {
		return &runError{err}
	}
	return fault(printGrants(out, grants, fmt.Sprintf("%s is trusted, as long as it does not change, to use:", path)))
}

// printGrants prints grants after a line that says what they are, and nothing if
// there are none.
func printGrants(out io.Writer, grants []config.Grant, head string) error {
	if len(grants) == 0 {
		return nil
	}
	if _, err := fmt.Fprintln(out, visible(head, "")); err != nil {
		return err
	}
	for _, grant := range grants {
		if _, err := fmt.Fprintf(out, "  %s: %s\n", grant.Workspace, visible(grant.Text, "")); err != nil {
			return err
		}
	}
	return nil
}

func listTrusted(out io.Writer, store *config.TrustStore) error {
	list, err := store.List()
	if err != nil {
		return &runError{err}
	}
	for _, trusted := range list {
		note := ""
		if content, err := os.ReadFile(trusted.Path); err != nil {
			note = "  (cannot be read)"
		} else if !store.Trusts(trusted.Path, content) {
			note = "  (changed, no longer trusted)"
		}
		if _, err := fmt.Fprintf(out, "%s  %s%s\n", trusted.Since.Format("2006-01-02"), visible(trusted.Path, ""), note); err != nil {
			return fault(err)
		}
	}
	return nil
}

func revokeTrust(out io.Writer, store *config.TrustStore, path string) error {
	err := store.Revoke(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errors.New(plain(err))
	case err != nil:
		return &runError{err}
	}
	_, err = fmt.Fprintf(out, "%s is no longer trusted\n", visible(path, ""))
	return fault(err)
}
