// Command workspace gives files to an AI agent, or to a person: it serves the
// tools of the workspaces that a file describes by the Model Context Protocol,
// and runs them by hand.
//
// Run "workspace help" for its commands, flags and examples.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/workspacekit/workspacekit/workspace/config"
)

func main() { runProgram(config.Locate) }

// runProgram runs the command line, with a way of finding the file.
func runProgram(locate locator) {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as nohup has it
		signals = append(signals, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), signals...)
	// The second signal ends the program at once.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], streams{in: os.Stdin, out: os.Stdout, err: os.Stderr}, locate))
}
