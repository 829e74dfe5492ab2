package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/workspacekit/workspacekit"
)

// newConfig returns the command with what there is to know about the file.
func newConfig(s *settings) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "config",
		Short:   "Print what describes the file",
		Long:    `Config has a command that prints the JSON Schema of the file workspace.yaml.`,
		Example: `  workspace config schema`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return unknown("command", args[0], cmd)
		},
		RunE: func(*cobra.Command, []string) error {
			return errors.New("config needs a command, such as \"workspace config schema\"")
		},
	}
	cmd.AddCommand(newSchema(s))
	return cmd
}

func newSchema(s *settings) *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of the file",
		Long: `Schema prints the JSON Schema of workspace.yaml. Editors that know the YAML
language server complete and check a file by it, whose first line is

  # yaml-language-server: $schema=workspace.schema.json`,
		Example: `  workspace config schema > workspace.schema.json`,
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return printSchema(cmd, s) },
	}
}

func printSchema(cmd *cobra.Command, s *settings) error {
	if err := s.refuse("for the schema, which is the same for every file", "config", "workspace", "dir", "name", "max-file-size-mb", "read-only", "relaxed"); err != nil {
		return err
	}
	schema, err := workspacekit.NewRegistry().Schema()
	if err != nil {
		return &runError{err}
	}
	_, err = cmd.OutOrStdout().Write(schema)
	return fault(err)
}
