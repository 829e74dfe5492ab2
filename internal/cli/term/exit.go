package term

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/wording"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace/config"
)

// The exit codes, by the type of the error. Report looks for these types in this order,
// however an error is wrapped:
//
//	nil                0
//	Reported           what it says; nothing is printed
//	context.Canceled   130
//	*ToolError         2 for arguments that the tool refuses, 1 for all else
//	*config.Error      2, and 1 inside of a Failure
//	*Failure           1
//	any other          2: a mistake on the command line
const (
	ExitOK          = 0
	ExitFailed      = 1
	ExitUsage       = 2
	ExitInterrupted = 130 // as shells count SIGINT
	ExitPipe        = 141 // as shells count SIGPIPE
)

// ToolError is an error that a tool returned.
type ToolError struct {
	Tool     *tools.Error
	Reported bool // it has been printed
}

func (e *ToolError) Error() string { return e.Tool.Error() }

// Failure is what went wrong although the command line was right.
type Failure struct{ err error }

func (e *Failure) Error() string { return e.err.Error() }
func (e *Failure) Unwrap() error { return e.err }

// Fail returns err as a [*Failure], and nil for nil. It is for what opening, reading or
// writing returns, as opposed to what was typed.
func Fail(err error) error {
	if err == nil {
		return nil
	}
	return &Failure{err}
}

// Failf returns a [*Failure] with a formatted text.
func Failf(format string, args ...any) error { return &Failure{fmt.Errorf(format, args...)} }

// Reported is an error that has been printed, with its exit code.
type Reported int

func (Reported) Error() string { return "reported" }

// Report prints err, which command returned, and returns its exit code.
func Report(command *cobra.Command, out io.Writer, err error) int {
	var failed *Failure
	var refused *ToolError
	var broken *config.Error
	var reported Reported
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &reported):
		return int(reported)
	case errors.Is(err, context.Canceled):
		Say(out, "workspace: interrupted")
		return ExitInterrupted
	case errors.As(err, &refused):
		return reportTool(command, out, refused)
	case errors.As(err, &broken):
		// Each problem begins with its place, which editors look for.
		Say(out, broken.Error())
		if errors.As(err, &failed) {
			return ExitFailed
		}
		return ExitUsage
	case errors.As(err, &failed):
		Say(out, "workspace: "+failed.Error())
		if remedy := ops.RemedyOf(failed); remedy != "" && !strings.Contains(failed.Error(), remedy) {
			Say(out, "hint: "+wording.Sentence(remedy))
		}
		return ExitFailed
	}
	Say(out, "workspace: "+err.Error())
	usageHint(command, out)
	return ExitUsage
}

// reportTool prints what a tool has to say, unless that has been printed as JSON.
func reportTool(command *cobra.Command, out io.Writer, err *ToolError) int {
	usage := err.Tool.Code == tools.CodeInvalidArguments
	if !err.Reported {
		Say(out, "workspace: "+err.Tool.Message)
		if err.Tool.Hint != "" {
			Say(out, "hint: "+err.Tool.Hint)
		}
		if usage {
			usageHint(command, out)
		}
	}
	if usage {
		return ExitUsage
	}
	return ExitFailed
}

// usageHint says where the usage of a command is described.
func usageHint(command *cobra.Command, out io.Writer) {
	Say(out, fmt.Sprintf("Run '%s --help' for usage.", command.CommandPath()))
}

// Say prints text on standard error, without the control characters that a file
// name or a pattern in it may have. An error of printing it has nowhere to go.
func Say(out io.Writer, text string) {
	_, _ = fmt.Fprintln(out, Visible(text, "\n\t"))
}

// Plain returns the text of err without the operation and the path of an
// [*fs.PathError].
func Plain(err error) string { return Cause(err).Error() }

// Cause returns err without the operation and the path of an [*fs.PathError].
func Cause(err error) error {
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		return pathError.Err
	}
	return err
}

// Console is where results are printed. Flush reports what cannot be written. An error of
// printing stays in the Writer, so callers print without looking at errors, and flush at last.
type Console struct {
	*bufio.Writer
	Style
	Notes io.Writer // standard error
}

// Note says on standard error what the result does not.
func (c Console) Note(format string, args ...any) {
	Say(c.Notes, "note: "+fmt.Sprintf(format, args...))
}

// PrintJSON prints value on one line, without the escapes for HTML.
func PrintJSON(out io.Writer, value any) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	return Fail(encoder.Encode(value))
}
