// Command workspace gives files to an AI agent, or to a person: it serves the
// tools of the workspaces that a file describes over the Model Context Protocol,
// and runs them by hand.
//
// Run "workspace help" for its commands, flags and examples.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/workspacekit/workspacekit/internal/cli"
	"github.com/workspacekit/workspacekit/internal/cli/target"
	"github.com/workspacekit/workspacekit/workspace/config"
)

func main() { runProgram(config.Locate) }

// runProgram runs the command line. locate finds the file.
func runProgram(locate target.Locator) {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // nohup ignores it
		signals = append(signals, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), signals...)
	// The second signal ends the program at once.
	context.AfterFunc(ctx, stop)
	// A write that nobody reads is an error, and not the end of the program before it has
	// cleaned up. Unlike an ignored signal, this is not inherited by the programs it starts.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	os.Exit(cli.Run(ctx, os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, locate))
}
