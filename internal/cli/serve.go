package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/workspacekit/workspacekit/adapters/mcp"
	"github.com/workspacekit/workspacekit/internal/cli/target"
	"github.com/workspacekit/workspacekit/internal/cli/term"
	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace/config"
)

const mcpLong = `MCP serves the tools to one client over the Model Context Protocol, on standard input
and output. An editor or an agent starts it as a child process. Warnings go to
standard error. MCP exits with 0 when its input ends, after at most 30 seconds for calls
that run, or on SIGINT or SIGTERM. It serves all workspaces of the file, or those that -w
names.

With --http it serves many clients over streamable HTTP, at the path /mcp, until a
signal ends it. A number alone means a port of 127.0.0.1. An address that other computers
can reach needs a token. Use one on 127.0.0.1, too, because other users of the computer
can connect to it. A token has at least 16 characters. Set it in the variable
WORKSPACE_MCP_TOKEN, or write one on each line of a file for --token-file. Requests from
web pages of other sites are refused.

Configure a client with this command:

  {"mcpServers": {"files": {"command": "workspace", "args": ["--config", "/home/me/workspace.yaml", "mcp", "--text-only"]}}}`

// newMCP returns the command that serves the tools to an MCP client.
func newMCP(flags *target.Flags) *cobra.Command {
	var tool target.ToolFlags
	var textOnly bool
	over := httpFlags{variable: "WORKSPACE_MCP_TOKEN"}
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Serve the tools over the Model Context Protocol",
		Long:  mcpLong,
		Example: `  workspace mcp
  workspace --config ~/workspace.yaml -w repo -w scratch mcp
  workspace -C ~/project --read-only --name docs mcp
  workspace -C ~/project mcp --dialect mcp-filesystem
  workspace -C ~/project mcp --http 8080
  workspace mcp --http 0.0.0.0:8080 --token-file ~/.config/mcp-token`,
		Args: term.Positional,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return unlessInterrupted(serve(cmd, flags, tool, over, textOnly))
		},
	}
	tool.Add(cmd)
	over.add(cmd, "")
	cmd.Flags().BoolVar(&textOnly, "text-only", false, "send results as text only: some clients show the model structured results instead of the text")
	return cmd
}

// serve serves the tools of set over HTTP until the user ends it, which is no error.
func (h *httpFlags) serve(cmd *cobra.Command, set *tools.Set, about *mcp.Options, opts *mcp.HTTPOptions) error {
	listener, err := h.listen(cmd.Context())
	if err != nil {
		return err
	}
	opts.Tokens, opts.Hosts = h.tokens, h.hosts
	term.Say(cmd.ErrOrStderr(), fmt.Sprintf("workspace: serving at http://%s%s", h.authority, mcp.HTTPPath))
	return term.Fail(mcp.ServeHTTP(cmd.Context(), mcp.NewServer(set, about), listener, opts))
}

// serve serves the tools on the standard streams, or over HTTP, until the client or
// the user ends it.
func serve(cmd *cobra.Command, flags *target.Flags, tool target.ToolFlags, over httpFlags, textOnly bool) error {
	if err := over.check(cmd); err != nil {
		return err
	}
	if over.address == "" {
		if err := flags.RefuseStdin("what a client sends"); err != nil {
			return err
		}
	}
	opened, err := flags.OpenTools(cmd.Context(), tool)
	if err != nil {
		return err
	}
	defer opened.Close()
	log := slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	about := &mcp.Options{Version: version(), Logger: log, Instructions: instructions(opened), TextOnly: textOnly}
	if over.address != "" {
		return over.serve(cmd, opened.Set, about, &mcp.HTTPOptions{MaxMessage: maxMessage(opened.MaxFileSize), Logger: log})
	}
	if term.IsTerminal(cmd.InOrStdin()) {
		term.Say(cmd.ErrOrStderr(), "workspace: waiting for the messages of a client; see 'workspace mcp --help'")
	}
	return term.Fail(mcp.ServeTools(cmd.Context(), opened.Set, about, cmd.InOrStdin(), cmd.OutOrStdout(), &mcp.ServeOptions{
		MaxMessage: maxMessage(opened.MaxFileSize),
	}))
}

// unlessInterrupted returns err, and nil for the end of a server by the user, who may end it
// while a workspace opens.
func unlessInterrupted(err error) error {
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// check refuses flags that do nothing: someone who gives tokens expects that they are asked
// for. It warns about a file of tokens that others can use, but goes on, as the secrets that
// containers get are often such files. Windows has no such modes.
func (h *httpFlags) check(cmd *cobra.Command) error {
	if err := term.NotEmpty(cmd, "http", "give an address with a port, such as 127.0.0.1:8080"); err != nil {
		return err
	}
	if err := term.NotEmpty(cmd, "token-file", "name a file"); err != nil {
		return err
	}
	if h.address == "" && (h.tokenFile != "" || h.hosts != nil) {
		return errors.New("--token-file and --allow-host need --http")
	}
	info, err := os.Stat(h.tokenFile)
	if err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" {
		term.Say(cmd.ErrOrStderr(), fmt.Sprintf("workspace: --token-file %q is open to other users: run \"chmod 600\" on it", h.tokenFile))
	}
	return nil
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
	shared, advice := "", ""
	search := strings.Join(searches(o), " and ")
	switch changes := slices.ContainsFunc(o.All, func(ws *config.Workspace) bool { return ws.Capabilities().Write }); {
	case search != "" && changes:
		advice = " Search with " + search + " before you read, and read a file before you change it."
	case search != "":
		advice = " Search with " + search + " before you read."
	case changes:
		advice = " Read a file before you change it."
	}
	if o.Set.Shared() {
		shared = ". Each call names the workspace to work in"
	}
	return "These tools work on the files of " + term.Listed(names) + shared +
		". Paths begin at the root of a workspace and have forward slashes." + advice
}

// searches returns which of grep and glob the set has, as the default dialect knows them.
func searches(o *target.Opened) (names []string) {
	if o.Dialect != "" && o.Dialect != tools.DialectWorkspace {
		return nil
	}
	for _, op := range []string{ops.Grep, ops.Glob} {
		if slices.ContainsFunc(o.Set.Tools(), func(t *tools.Tool) bool { return t.Op == op }) {
			names = append(names, op)
		}
	}
	return names
}

// escaped is how many bytes of JSON one byte of a file takes at most. A control character is
// \u0000 and the like.
const escaped = 6

// maxMessage returns how large a message with a file of that many bytes can be.
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
		Long: `Tools prints the definitions of the tools as one JSON array: the value of "tools" in a
request to a model's API, or in a reply of the Model Context Protocol. The formats are

  json               everything that a tool has
  openai             OpenAI, chat completions, with optional parameters
  openai-strict      OpenAI, chat completions, in strict mode
  openai-responses   OpenAI, responses
  anthropic          Anthropic, messages
  gemini             Gemini, function declarations
  mcp                Model Context Protocol`,
		Example: `  workspace tools
  workspace -w repo tools --format openai
  workspace --name docs --read-only tools --format anthropic
  workspace tools --format gemini --descriptions compact`,
		Args: term.Positional,
		RunE: func(cmd *cobra.Command, _ []string) error { return printTools(cmd, flags, tool, format) },
	}
	tool.Add(cmd)
	cmd.Flags().StringVar(&format, "format", format, "the format: "+strings.Join(formats, ", "))
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
