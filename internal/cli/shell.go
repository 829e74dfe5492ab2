package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	xterm "golang.org/x/term"

	"github.com/workspacekit/workspacekit/internal/cli/approve"
	"github.com/workspacekit/workspacekit/internal/cli/complete"
	"github.com/workspacekit/workspacekit/internal/cli/target"
	"github.com/workspacekit/workspacekit/internal/cli/term"
	"github.com/workspacekit/workspacekit/shell"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// newShell returns the command that runs scripts of bash.
func newShell(flags *target.Flags) *cobra.Command {
	script, approved := "", approve.Flag{}
	cmd := &cobra.Command{
		Use:   "shell [-c SCRIPT] [ARG...]",
		Short: "Run bash scripts on the files",
		Long: `Shell runs a bash script on the files of the workspaces: the script that -c gives, or
standard input. It starts no process, and sees nothing but those files, and in memory
/dev/shm, and /tmp if they have none. One workspace is the root directory; of several, each
is a directory with its name. The ARGs are $1, $2 and so on.

On a terminal, shell shows a prompt, with history (up and down) and completion (Tab).
Ctrl-C ends the script that runs, or drops the line. Type exit or Ctrl-D to leave.`,
		Example: `  workspace shell -c 'grep -rc TODO src | sort -t: -k2 -n'
  workspace -w repo shell <script.sh
  workspace -w repo -w lake shell -c 'cp /repo/a.txt /lake/'
  workspace shell`,
		RunE: func(cmd *cobra.Command, args []string) error {
			given := cmd.Flags().Changed("command")
			if !given && cmd.ArgsLenAtDash() < 0 && slices.Contains(args, "-c") {
				return errors.New("-c SCRIPT comes before the arguments of the script; -C names a folder")
			}
			if err := flags.RefuseStdin("the script"); err != nil && !given {
				return err
			}
			opened, err := flags.OpenTools(cmd.Context(), target.ToolFlags{})
			if err != nil {
				return err
			}
			defer opened.Close()
			if err := approved.Check(opened.All...); err != nil {
				return err
			}
			var workspaces []*workspace.Workspace
			for _, ws := range opened.All {
				workspaces = append(workspaces, ws.Workspace)
			}
			s := shell.New(workspaces, nil)
			file, ok := cmd.InOrStdin().(*os.File)
			switch atTerminal := ok && term.IsTerminal(file); {
			case atTerminal && !given && len(args) > 0:
				return noScript(args, "a terminal")
			case atTerminal && !given:
				return prompt(cmd, s, file, approved, flags.Style)
			case atTerminal:
				keyboard := term.NewKeyboard(cmd.Context(), file)
				cmd.SetContext(approvals(cmd, keyboard, approved, flags.Style))
				cmd.SetIn(keyboard.Input())
			default:
				cmd.SetContext(approved.Context(cmd, flags.Style))
			}
			return runShell(cmd, s, script, given, args)
		},
	}
	approved.Add(cmd)
	cmd.Flags().StringVarP(&script, "command", "c", "", "run this `script`")
	cmd.Flags().SetInterspersed(false)
	return cmd
}

// runShell runs one script. given says that script is that of -c, even if it is empty: standard
// input is then the script's input. Otherwise it is the script; what is read of it is more than
// a shell accepts.
func runShell(cmd *cobra.Command, s *shell.Shell, script string, given bool, args []string) error {
	in := cmd.InOrStdin()
	opts := &shell.RunOptions{Stdout: cmd.OutOrStdout(), Stderr: cmd.ErrOrStderr(), Args: args}
	if given {
		opts.Stdin = struct{ io.Reader }{in} // which an interrupt ends, unlike a read of a file
	} else {
		data, err := target.ReadInput(cmd.Context(), in, 2<<20)
		if err != nil {
			return term.Failf("standard input: %w", err)
		}
		script = string(data)
		if script == "" && len(args) > 0 {
			return noScript(args, "empty")
		}
	}
	result, err := s.Run(cmd.Context(), script, opts)
	if err != nil {
		return runFailed(err)
	}
	return exitWith(result.ExitCode)
}

// noScript is the error of arguments without a script. With bash, the first is the file that has it.
func noScript(args []string, stdin string) error {
	return fmt.Errorf("%q is an argument of a script, and standard input is %s: give the script with -c SCRIPT, or with <FILE", args[0], stdin)
}

// runFailed returns why a script did not run to its end, which may be an interrupt.
func runFailed(err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	return term.Failf("%s", term.Plain(err))
}

// exitWith is the error that ends the command with a status, nil for 0.
func exitWith(status int) error {
	if status == 0 {
		return nil
	}
	return term.Reported(status)
}

// prompt reads lines from a terminal and runs them, until exit or the end of the input. The
// state of the shell, such as its directory and its variables, lasts from one script to the
// next. A line that does not end a script is kept until one does:
//
//	/repo $ for f in *.go
//	> do wc -l "$f"; done
//
// The terminal is raw while a line is edited, and as it was while a script runs. The last
// script has the exit code of the command.
//
// Ctrl-C ends a script that runs, and drops the lines of one that does not run yet. A completion
// ends with the line.
func prompt(cmd *cobra.Command, s *shell.Shell, file *os.File, approved approve.Flag, style func(io.Writer) term.Style) error {
	signal.Reset(os.Interrupt) // which would end the command
	idle := make(chan os.Signal, 1)
	signal.Notify(idle, os.Interrupt) // while no script runs
	defer signal.Stop(idle)
	keyboard := term.NewKeyboard(cmd.Context(), file)
	scripts := approvals(cmd, keyboard, approved, style)
	fd := int(file.Fd())
	before, err := xterm.MakeRaw(fd)
	if err != nil {
		return term.Fail(err)
	}
	defer xterm.Restore(fd, before)
	t := xterm.NewTerminal(struct {
		io.Reader
		io.Writer
	}{keyboard, cmd.OutOrStdout()}, "")
	if width, height, err := xterm.GetSize(fd); err == nil && width > 0 { // not every terminal knows
		t.SetSize(width, height)
	}
	script, completer := "", complete.New(s)
	t.AutoCompleteCallback = func(line string, pos int, key rune) (string, int, bool) {
		if key != '\t' {
			return "", 0, false
		}
		ctx, stop := keyboard.Interruptible(cmd.Context()) // listing a directory can take long
		defer stop()
		return completer.Complete(ctx, script, line, pos)
	}
	status := 0
	for {
		t.SetPrompt(promptText(s, script))
		line, err := t.ReadLine()
		if errors.Is(err, io.EOF) {
			return exitWith(status)
		}
		if err != nil && !errors.Is(err, xterm.ErrPasteIndicator) {
			return runFailed(err)
		}
		if keyboard.Interrupted() {
			script = ""
			continue
		}
		script += line + "\n"
		if !shell.Complete(script) {
			continue
		}
		text := script
		script = ""
		if ended, code := exits(text, status); ended {
			return exitWith(code)
		}
		xterm.Restore(fd, before) // so that Ctrl-C interrupts the script
		ctx, stop := signal.NotifyContext(scripts, os.Interrupt)
		result, err := s.Run(ctx, text, &shell.RunOptions{Stdout: cmd.OutOrStdout(), Stderr: cmd.ErrOrStderr()})
		stop()
		switch {
		case err == nil:
			status = result.ExitCode
		case errors.Is(err, context.Canceled) && cmd.Context().Err() == nil:
			status = term.ExitInterrupted
			fmt.Fprintln(cmd.OutOrStdout())
		default:
			return runFailed(err)
		}
		if _, err := xterm.MakeRaw(fd); err != nil {
			return term.Fail(err)
		}
	}
}

// approvals returns the context of scripts at a terminal: where a rule asks, the next line is the
// answer.
func approvals(cmd *cobra.Command, keyboard *term.Keyboard, approved approve.Flag, style func(io.Writer) term.Style) context.Context {
	var line func(context.Context) (string, error)
	if term.IsTerminal(cmd.ErrOrStderr()) {
		line = keyboard.Line
	}
	ask := approved.Ask(cmd.ErrOrStderr(), style, line)
	return policy.WithApprover(cmd.Context(), policy.NewApprover(func(ctx context.Context, r policy.Request) (policy.Answer, error) {
		defer keyboard.Question()()
		return ask(ctx, r)
	}, nil))
}

// promptText returns what stands before the next line. begun is what has been read of a
// script that needs more lines.
func promptText(s *shell.Shell, begun string) string {
	if begun != "" {
		return "> "
	}
	return term.Visible(s.Dir(), "") + " $ "
}

// exits reports whether a line ends the prompt, and with which status: 3 for "exit 3", and
// status, which the last script had, for "exit". Anything else, such as exit in a script of
// several commands, is for the shell.
func exits(line string, status int) (bool, int) {
	words := strings.Fields(line)
	if len(words) == 0 || words[0] != "exit" && words[0] != "logout" || len(words) > 2 {
		return false, 0
	}
	if len(words) == 2 {
		if _, err := fmt.Sscanf(words[1], "%d", &status); err != nil {
			return false, 0
		}
	}
	return true, status & 0xff
}
