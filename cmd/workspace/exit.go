package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace/config"
)

// The exit codes. An error of another type than those below is a mistake on
// the command line.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130 // as shells count SIGINT
)

// toolError is an error that a tool returned.
type toolError struct {
	tool     *tools.Error
	reported bool // it has been printed
}

func (e *toolError) Error() string { return e.tool.Error() }

// runError is what went wrong although the command line was right.
type runError struct{ err error }

func (e *runError) Error() string { return e.err.Error() }
func (e *runError) Unwrap() error { return e.err }

// reportedError is an error that has been printed, with the exit code for it.
type reportedError struct{ code int }

func (e *reportedError) Error() string { return "reported" }

// report prints err, which command returned, and returns its exit code.
func report(command *cobra.Command, out io.Writer, err error) int {
	var failed *runError
	var refused *toolError
	var broken *config.Error
	var reported *reportedError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &reported):
		return reported.code
	case errors.Is(err, context.Canceled):
		say(out, "workspace: interrupted")
		return exitInterrupted
	case errors.As(err, &refused):
		return reportTool(command, out, refused)
	case errors.As(err, &broken):
		// Each problem begins with its place, for programs that look for that.
		say(out, broken.Error())
		if errors.As(err, &failed) {
			return exitFailed
		}
		return exitUsage
	case errors.As(err, &failed):
		say(out, "workspace: "+failed.Error())
		return exitFailed
	}
	say(out, "workspace: "+err.Error())
	usageHint(command, out)
	return exitUsage
}

func reportTool(command *cobra.Command, out io.Writer, err *toolError) int {
	usage := err.tool.Code == tools.CodeInvalidArguments
	if !err.reported {
		say(out, "workspace: "+err.tool.Message)
		if err.tool.Hint != "" {
			say(out, "hint: "+err.tool.Hint)
		}
		if usage {
			usageHint(command, out)
		}
	}
	if usage {
		return exitUsage
	}
	return exitFailed
}

func usageHint(command *cobra.Command, out io.Writer) {
	say(out, fmt.Sprintf("Run '%s --help' for usage.", command.CommandPath()))
}

// say prints text without the control characters that a file name or a pattern
// in it may have, line by line.
func say(out io.Writer, text string) {
	// That nobody can be told leaves nobody to tell.
	_, _ = fmt.Fprintln(out, visible(text, "\n\t"))
}

// plain returns the text of err without the operation of a [*fs.PathError].
func plain(err error) string {
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		return pathError.Err.Error()
	}
	return err.Error()
}
