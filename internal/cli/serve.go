package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"github.com/workspacekit/workspacekit/adapters/mcp"
	"github.com/workspacekit/workspacekit/internal/cli/target"
	"github.com/workspacekit/workspacekit/internal/cli/term"
	"github.com/workspacekit/workspacekit/tools"
)

const mcpLong = `MCP serves the tools to one client over the Model Context Protocol on the standard
streams. An editor or an agent starts it as a child process. Standard output
carries nothing but the protocol; errors are logged to standard error. The command
ends when its input ends, or by SIGINT or SIGTERM, and exits with 0.

It serves all workspaces of the file, or those that -w names. Without a file, it
serves the current folder, or what -C names.

A client is configured with this command, such as

  {"mcpServers": {"files": {"command": "workspace", "args": ["--config", "/home/me/workspace.yaml", "mcp"]}}}`

// newMCP returns the command that serves the tools to an MCP client.
func newMCP(flags *target.Flags) *cobra.Command {
	var tool target.ToolFlags
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Serve the tools over the Model Context Protocol",
		Long:  mcpLong,
		Example: `  workspace mcp
  workspace --config ~/workspace.yaml -w repo -w scratch mcp
  workspace -C ~/project --read-only --name docs mcp
  workspace -C ~/project mcp --dialect mcp-filesystem`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return serve(cmd, flags, tool) },
	}
	tool.Add(cmd)
	return cmd
}

// serve serves the tools on the standard streams until the client or the user
// ends it.
func serve(cmd *cobra.Command, flags *target.Flags, tool target.ToolFlags) error {
	if err := flags.RefuseStdin("what a client sends"); err != nil {
		return err
	}
	opened, err := flags.OpenTools(cmd.Context(), tool)
	if err != nil {
		return err
	}
	defer opened.Close()
	if term.IsTerminal(cmd.InOrStdin()) {
		term.Say(cmd.ErrOrStderr(), "workspace: waiting for the messages of a client; see 'workspace mcp --help'")
	}
	log := slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	about := &mcp.Options{Version: version(), Logger: log, Instructions: instructions(opened)}
	err = mcp.ServeTools(cmd.Context(), opened.Set, about, cmd.InOrStdin(), cmd.OutOrStdout(), &mcp.ServeOptions{
		MaxMessage: maxMessage(opened.MaxFileSize),
	})
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return term.Fail(err)
}

// instructions returns what a client tells its model about the workspaces.
func instructions(o *target.Opened) string {
	names := make([]string, len(o.All))
	for i, ws := range o.All {
		names[i] = fmt.Sprintf("%s (%s)", ws.Name(), ws.Kind())
		if !ws.Capabilities().Write {
			names[i] = fmt.Sprintf("%s (%s, read-only)", ws.Name(), ws.Kind())
		}
	}
	shared, advice := "", " Read a file before you change it."
	if o.Dialect == "" || o.Dialect == tools.DialectWorkspace {
		advice = " Search with grep and glob before you read, and read a file before you change it."
	}
	if o.Set.Shared() {
		shared = ". Each call names the workspace to work in"
	}
	return "These tools work on the files of " + term.Listed(names) + shared +
		". Paths begin at the root of a workspace and have forward slashes." + advice
}

// escaped is how many bytes of JSON one byte of a file takes at most.
const escaped = 6

// maxMessage returns how large a message with a file can be.
func maxMessage(file int64) int {
	const rest = 1 << 20
	if file > (math.MaxInt-rest)/escaped {
		return math.MaxInt
	}
	return max(mcp.DefaultMaxMessage, int(file)*escaped+rest)
}

// formats are the values of tools --format.
var formats = []string{
	string(tools.FormatJSON), string(tools.FormatOpenAI), string(tools.FormatOpenAIStrict), string(tools.FormatOpenAIResponses),
	string(tools.FormatAnthropic), string(tools.FormatGemini), string(tools.FormatMCP),
}

// newTools returns the command that prints the definitions of the tools.
func newTools(flags *target.Flags) *cobra.Command {
	format := string(tools.FormatJSON)
	var tool target.ToolFlags
	cmd := &cobra.Command{
		Use:   "tools",
		Short: "Print the definitions of the tools",
		Long: `Tools prints the definitions of the tools as one JSON array: the value of "tools"
in a request to a model's API, or in a reply of the Model Context Protocol. It
prints the tools of all workspaces of the file, or of those that -w names.

The formats are those of OpenAI's chat completions, with optional parameters
(openai) or in strict mode (openai-strict), of OpenAI's responses, of Anthropic's
messages, of Gemini's function declarations, and of MCP. json has everything.`,
		Example: `  workspace tools
  workspace -w repo tools --format openai
  workspace --name docs --read-only tools --format anthropic
  workspace tools --format gemini --descriptions compact`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return printTools(cmd, flags, tool, format) },
	}
	tool.Add(cmd)
	cmd.Flags().StringVar(&format, "format", format, "print them in this format: "+strings.Join(formats, ", "))
	term.CompleteWith(cmd, "format", formats...)
	cmd.AddCommand(newLint(flags, &tool))
	return cmd
}

// printTools opens the workspaces, as their tools depend on what they can do, and
// prints the definitions.
func printTools(cmd *cobra.Command, flags *target.Flags, tool target.ToolFlags, format string) error {
	opened, err := flags.OpenTools(cmd.Context(), tool)
	if err != nil {
		return err
	}
	defer opened.Close()
	definitions, err := opened.Set.Definitions(tools.Format(format))
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s\n", definitions)
	return term.Fail(err)
}
