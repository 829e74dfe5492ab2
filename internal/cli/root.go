// Package cli is the command line of the program workspace. Commands with much behind them
// have packages of their own below it.
//
// [Run] makes the tree of the commands, and cobra parses the arguments. A command asks the
// flags that all share (package target) for its workspaces, prints its result on standard
// output and everything else on standard error, and returns an error whose type says the exit
// code (package term). No command exits by itself.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/workspacekit/workspacekit/internal/cli/call"
	"github.com/workspacekit/workspacekit/internal/cli/doctor"
	"github.com/workspacekit/workspacekit/internal/cli/editor"
	"github.com/workspacekit/workspacekit/internal/cli/initfile"
	"github.com/workspacekit/workspacekit/internal/cli/target"
	"github.com/workspacekit/workspacekit/internal/cli/term"
)

// Streams are the standard streams of the program.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// Run executes the command line args and returns the exit code. locate finds the file that
// describes the workspaces. ctx ends the command, which then cleans up and returns. args lacks
// the name of the program. An error has been printed when Run returns.
func Run(ctx context.Context, args []string, s Streams, locate target.Locator) int {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	pipe := &pipe{Writer: s.Out, unread: cancel}
	if !term.IsTerminal(s.Out) { // which commands ask, too
		s.Out = pipe
	}
	root := newRoot(args, s.Out, locate)
	root.SetArgs(args)
	root.SetIn(s.In)
	root.SetErr(s.Err)
	command, err := root.ExecuteContextC(ctx)
	if pipe.broken.Load() {
		err = term.Reported(term.ExitPipe)
	}
	return term.Report(command, s.Err, err)
}

// pipe is a standard output that can lose its reader. That ends the command as an interrupt
// does: what it prints is for nobody, but what it has to clean up and save matters.
type pipe struct {
	io.Writer
	unread func()
	broken atomic.Bool
}

// Write implements [io.Writer].
func (p *pipe) Write(b []byte) (int, error) {
	n, err := p.Writer.Write(b)
	if errors.Is(err, syscall.EPIPE) {
		p.broken.Store(true)
		p.unread()
	}
	return n, err
}

const rootLong = `Workspace gives an AI agent tools for files (read, write, edit, list, search) over the
Model Context Protocol, and runs the same tools by hand.

The file workspace.yaml says where the files are. Workspace looks for it in the
current folder and its parents; --config or the variable WORKSPACE_CONFIG names
another. -w chooses among its workspaces. Without a file, the current folder is the
workspace.

-C uses a folder or a URL in place of a file, whatever WORKSPACE_CONFIG names. -w takes a
URL, too:

  mem://                                      files in memory, lost on exit
  file:///path                                a folder
  s3://bucket/prefix?endpoint=https://...     a bucket of an S3 store
  docker://container/dir?engine=podman        a running container
  kubectl://pod/dir?namespace=name            a pod of Kubernetes

Credentials come from the environment or the store's own files, such as ~/.aws. Names
are relative to the workspace and cannot lead out of it, unless it is relaxed.

Exit codes: 0 for success, also if a search finds nothing, or if what call bash or call
run runs fails; 1 if a tool or a workspace fails; 2 if the command line or the file is
wrong; 130 if interrupted, but 0 from mcp and webdav; 141, also from mcp, if nobody reads
the output. Shell exits with the code of its script.`

const rootExample = `  workspace call grep --pattern 'func Test' --path .
  workspace -w docs call read_file --path README.md
  workspace -C ~/project mcp
  workspace validate
  workspace tools --format anthropic`

// newRoot returns the command tree for the command line args. Where args run one command, the
// tree has that one alone, as most of the start would be spent on the others: what shows,
// completes or suggests commands needs them all. A word that is a command only by chance, as
// in "workspace -w mcp call ls", makes the tree larger, and does no harm. Results go to out.
func newRoot(args []string, out io.Writer, locate target.Locator) *cobra.Command {
	root := newTree(args, out, locate, false)
	if command, _, err := root.Find(args); err == nil && command != root && !command.HasSubCommands() {
		return root
	}
	return newTree(args, out, locate, true)
}

// newTree returns the tree of the commands whose names are among args, or of all. Every call
// makes new flags, so a tree can be thrown away.
func newTree(args []string, out io.Writer, locate target.Locator, all bool) *cobra.Command {
	root := &cobra.Command{
		Use:           "workspace",
		Short:         "Give files to an AI agent",
		Long:          rootLong,
		Example:       rootExample,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          unknownCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetOut(out) // before cobra makes the command completion, which keeps it
	// Flags can be spelled as the schemas spell parameters.
	root.SetGlobalNormalizationFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		return pflag.NormalizedName(term.Kebab(name))
	})
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if meant := meantOperation(args); cmd == root && meant != "" {
			return fmt.Errorf("%w%s", err, meant)
		}
		return term.FlagError(cmd, err)
	})
	flags := target.NewFlags(root, locate)
	if len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		// Completions show a usage as it is, with the quotes that mark its
		// placeholder in the help.
		root.PersistentFlags().VisitAll(func(f *pflag.Flag) { f.Usage = strings.ReplaceAll(f.Usage, "`", "") })
	}
	root.PersistentPreRunE = func(*cobra.Command, []string) error { return flags.Check() }
	for _, command := range []struct {
		name string
		new  func() *cobra.Command
	}{
		{"validate", func() *cobra.Command { return newValidate(flags) }},
		{"config", func() *cobra.Command { return newConfig(flags) }},
		{"call", func() *cobra.Command { return call.New(flags, args, all) }},
		{"mcp", func() *cobra.Command { return newMCP(flags) }},
		{"acp", func() *cobra.Command { return editor.New(flags, version()) }},
		{"webdav", func() *cobra.Command { return newWebDAV(flags) }},
		{"tools", func() *cobra.Command { return newTools(flags) }},
		{"watch", func() *cobra.Command { return newWatch(flags) }},
		{"shell", func() *cobra.Command { return newShell(flags) }},
		{"init", func() *cobra.Command { return initfile.New(flags) }},
		{"doctor", func() *cobra.Command { return doctor.New(flags) }},
		{"trust", func() *cobra.Command { return newTrust(flags) }},
		{"undo", func() *cobra.Command { return newUndo(flags) }},
		{"policy", func() *cobra.Command { return newPolicy(flags) }},
		{"audit", func() *cobra.Command { return newAudit(flags) }},
		{"gc", func() *cobra.Command { return newGC(flags) }},
		{"version", newVersion},
	} {
		if all || slices.Contains(args, command.name) {
			root.AddCommand(command.new())
		}
	}
	if !all {
		root.CompletionOptions.DisableDefaultCmd = true
		return root
	}
	root.Version = version()
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, command := range root.Commands() {
		switch command.Name() {
		case "help":
			refuseUnknownTopics(root, command)
		case "completion": // for cobra, a word that is no shell is no error
			command.Args = term.Subcommands("shell")
			command.RunE = needsCommand("completion needs a shell, such as \"workspace completion bash\"")
			describeCompletion(command)
		}
	}
	return root
}

// describeCompletion gives the commands of cobra that print scripts shorter descriptions.
func describeCompletion(completion *cobra.Command) {
	completion.Short = "Print a completion script for a shell"
	completion.Long = "Completion prints a script with which a shell completes the commands and flags of\nworkspace."
	for _, command := range completion.Commands() {
		command.Short = "Print a completion script for " + command.Name()
		command.Long = "Load the script in the current shell, or store it for every new one:\n\n" + map[string]string{
			"bash": `  source <(workspace completion bash)
  workspace completion bash > /etc/bash_completion.d/workspace                  # Linux
  workspace completion bash > $(brew --prefix)/etc/bash_completion.d/workspace  # macOS

It needs the package bash-completion.`,
			"fish": `  workspace completion fish | source
  workspace completion fish > ~/.config/fish/completions/workspace.fish`,
			"powershell": `  workspace completion powershell | Out-String | Invoke-Expression
  workspace completion powershell >> $PROFILE`,
			"zsh": `  source <(workspace completion zsh)
  workspace completion zsh > "${fpath[1]}/_workspace"                             # Linux
  workspace completion zsh > $(brew --prefix)/share/zsh/site-functions/_workspace # macOS

If zsh completes nothing yet, write "autoload -U compinit; compinit" into ~/.zshrc first.`,
		}[command.Name()]
	}
}

// newVersion returns the command that prints the version.
func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Long:    "Version prints the version of this program, the version of Go, and the system that the\nprogram was built for.",
		Example: "  workspace version",
		Args:    term.Positional,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "workspace %s %s %s/%s\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return term.Fail(err)
		},
	}
}

// unknownCommand explains what args, which are no command, may have meant.
func unknownCommand(root *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if meant := meantOperation(args[:1]); meant != "" {
		return fmt.Errorf("unknown command %q%s", args[0], meant)
	}
	return term.UnknownCommand("command", args[0], root)
}

// meantOperation asks whether an operation among args was meant to be called. It returns "" if
// there is none.
func meantOperation(args []string) string {
	for _, o := range call.Operations {
		if slices.ContainsFunc(args, o.Is) {
			return fmt.Sprintf(": did you mean \"workspace call %s\"?", o.Op)
		}
	}
	return ""
}

// refuseUnknownTopics makes an unknown topic an error of the command help. In cobra it is
// none. The error is the one that the topic has for such an argument.
func refuseUnknownTopics(root, help *cobra.Command) {
	show := help.Run
	help.Run = nil
	help.RunE = func(cmd *cobra.Command, args []string) error {
		topic, rest, err := root.Find(args)
		if err == nil && len(rest) > 0 {
			err = topic.ValidateArgs(rest)
		}
		if err != nil {
			return err
		}
		show(cmd, args)
		return nil
	}
}

// needsCommand is the RunE of a command that does nothing by itself.
func needsCommand(text string) func(*cobra.Command, []string) error {
	return func(*cobra.Command, []string) error { return errors.New(text) }
}
