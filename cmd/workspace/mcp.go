package main

import (
	"context"
	"errors"
	"log/slog"
	"math"

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
	server := mcp.NewServer(opened.set, &mcp.Options{Version: version(), Logger: log})
	err = mcp.Serve(cmd.Context(), server, cmd.InOrStdin(), cmd.OutOrStdout(), &mcp.ServeOptions{
		MaxMessage: maxMessage(opened.maxFileSize),
	})
	if err != nil && !errors.Is(err, context.Canceled) {
		return &runError{err}
	}
	return nil
}

// maxMessage returns how large a message with a file can be.
func maxMessage(file int64) int {
	const rest = 1 << 20
	if file > (math.MaxInt-rest)/escaped {
		return math.MaxInt
	}
	return max(mcp.DefaultMaxMessage, int(file)*escaped+rest)
}
