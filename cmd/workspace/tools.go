package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/workspacekit/workspacekit/tools"
)

// newTools returns the command that prints the definitions of the tools.
func newTools(s *settings) *cobra.Command {
	format := string(tools.FormatJSON)
	cmd := &cobra.Command{
		Use:   "tools",
		Short: "Print the definitions of the tools",
		Long: `Tools prints the definitions of the tools as one JSON array: the value of "tools"
in a request to a model's API, or in an answer of the Model Context Protocol. It
has the tools of all workspaces of the file, or of those that -w names.`,
		Example: `  workspace tools
  workspace -w repo tools --format openai
  workspace --name docs --read-only tools --format anthropic`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return printTools(cmd, s, format) },
	}
	cmd.Flags().StringVar(&format, "format", format, "the shape: json, openai, openai-responses, anthropic or mcp")
	suggestValues(cmd, "format", formats())
	return cmd
}

func formats() []string {
	return []string{
		string(tools.FormatJSON), string(tools.FormatOpenAI), string(tools.FormatOpenAIResponses),
		string(tools.FormatAnthropic), string(tools.FormatMCP),
	}
}

func printTools(cmd *cobra.Command, s *settings, format string) error {
	opened, err := s.openTools(cmd.Context())
	if err != nil {
		return err
	}
	defer opened.release()
	definitions, err := opened.set.Definitions(tools.Format(format))
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(cmd.OutOrStdout(), "%s\n", definitions); err != nil {
		return &runError{err}
	}
	return nil
}
