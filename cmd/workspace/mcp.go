package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"github.com/workspacekit/workspacekit/adapters/mcp"
)

// escaped is how many bytes of JSON one byte of a file takes at most.
const escaped = 6

const mcpLong = `MCP serves the tools to one client, by the Model Context Protocol on the standard
streams: an editor or an agent starts it as a child process. Standard output
carries the protocol and nothing else; what goes wrong is logged to standard
error. The command ends when its input does, or by SIGINT or SIGTERM, with the
exit code 0.

All workspaces of the file are served, or those that -w names. Without a file it
is the current folder, or what -C names.

A client is configured with this command, such as

  {"mcpServers": {"files": {"command": "workspace", "args": ["--config", "/home/me/workspace.yaml", "mcp"]}}}`

// newMCP returns the command that serves the tools to an MCP client.
func newMCP(s *settings) *cobra.Command {
	return &cobra.Command{
		Use:   "mcp",
		Short: "Serve the tools by the Model Context Protocol",
		Long:  mcpLong,
		Example: `  workspace mcp
  workspace --config ~/workspace.yaml -w repo -w scratch mcp
  workspace -C ~/project --read-only --name docs mcp`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return serve(cmd, s) },
	}
}

func serve(cmd *cobra.Command, s *settings) error {
	if err := s.refuseStdin("what a client sends"); err != nil {
		return err
	}
	opened, err := s.openTools(cmd.Context())
	if err != nil {
		return err
	}
	defer opened.release()
	if isTerminal(cmd.InOrStdin()) {
		say(cmd.ErrOrStderr(), "workspace: waiting for the messages of a client; see 'workspace mcp --help'")
	}
	log := slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	about := &mcp.Options{Version: version(), Logger: log, Instructions: opened.instructions()}
	err = mcp.ServeTools(cmd.Context(), opened.set, about, cmd.InOrStdin(), cmd.OutOrStdout(), &mcp.ServeOptions{
		MaxMessage: maxMessage(opened.maxFileSize),
	})
	if err != nil && !errors.Is(err, context.Canceled) {
		return &runError{err}
	}
	return nil
}

// instructions returns what a client tells its model about the workspaces.
func (o *opened) instructions() string {
	const most = 20
	var b strings.Builder
	b.WriteString("These tools work on the files of ")
	for i, ws := range o.all[:min(len(o.all), most)] {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s (%s", ws.Name(), ws.Kind())
		if !ws.Capabilities().Write {
			b.WriteString(", read-only")
		}
		b.WriteString(")")
	}
	if more := len(o.all) - most; more > 0 {
		fmt.Fprintf(&b, " and %d more", more)
	}
	if o.set.Shared() {
		b.WriteString(". Each call names the workspace to work in")
	}
	b.WriteString(". Paths begin at the root of a workspace and have forward slashes. Search with grep and glob before you read, and read a file before you change it.")
	return b.String()
}

// maxMessage returns how large a message with a file can be.
func maxMessage(file int64) int {
	const rest = 1 << 20
	if file > (math.MaxInt-rest)/escaped {
		return math.MaxInt
	}
	return max(mcp.DefaultMaxMessage, int(file)*escaped+rest)
}
