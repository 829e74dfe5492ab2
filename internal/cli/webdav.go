package cli

import (
	"fmt"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/workspacekit/workspacekit/adapters/webdav"
	"github.com/workspacekit/workspacekit/internal/cli/target"
	"github.com/workspacekit/workspacekit/internal/cli/term"
)

const webdavLong = `Webdav serves the files of one workspace over WebDAV, for file managers and editors. It
prints its address and runs until it is interrupted. The rules of workspace.yaml apply,
and its size limit to what is written and copied. Where a rule asks, webdav refuses.

Tokens are as 'workspace mcp --help' says, but in the variable WORKSPACE_WEBDAV_TOKEN, and
are the password for any user name. An address that other computers can reach also needs
a proxy with TLS in front of it.

Open the address in GNOME Files (dav://127.0.0.1:8080), in the Finder (Go, Connect to
Server), with davfs2, rclone or cadaver.`

// newWebDAV returns the command that serves a workspace over WebDAV.
func newWebDAV(flags *target.Flags) *cobra.Command {
	at := httpFlags{variable: "WORKSPACE_WEBDAV_TOKEN"}
	cmd := &cobra.Command{
		Use:   "webdav",
		Short: "Serve the files over WebDAV, for file managers and editors",
		Long:  webdavLong,
		Example: `  workspace -w repo webdav
  workspace -C ~/project webdav --http 8080
  workspace -w lake --read-only webdav
  workspace -w repo webdav --http 0.0.0.0:8080 --token-file ~/.config/webdav-token`,
		Args: term.Positional,
		RunE: func(cmd *cobra.Command, _ []string) error { return unlessInterrupted(serveWebDAV(cmd, flags, at)) },
	}
	at.add(cmd, "127.0.0.1:0")
	return cmd
}

// serveWebDAV serves the files until the user ends it.
func serveWebDAV(cmd *cobra.Command, flags *target.Flags, at httpFlags) error {
	if err := at.check(cmd); err != nil {
		return err
	}
	ws, _, err := flags.OpenOne(cmd.Context(), "webdav")
	if err != nil {
		return err
	}
	defer ws.Close()
	listener, err := at.listen(cmd.Context())
	if err != nil {
		return err
	}
	term.Say(cmd.ErrOrStderr(), fmt.Sprintf("workspace: serving at http://%s/", at.authority))
	log := slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	return term.Fail(webdav.Serve(cmd.Context(), ws.Workspace, listener, &webdav.ServeOptions{
		Tokens: at.tokens, Hosts: at.hosts, Logger: log,
	}))
}
