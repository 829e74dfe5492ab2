package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const rootLong = `Workspace gives files to an AI agent as a set of tools (read, write, edit, list,
search), over the Model Context Protocol, and runs the same tools by hand.

The file workspace.yaml says where the files are. It is looked for in the current
folder and in those above, unless --config or the variable WORKSPACE_CONFIG names
another; -w chooses among its workspaces. Without a file, the current folder is
the workspace.

-C works without a file, in a folder or in what a URL stands for; so does -w with
a URL:

  mem://                                      files in memory, gone at the end
  file:///path                                a folder
  s3://bucket/prefix?endpoint=https://...     a bucket of an S3 store
  docker://container/dir?engine=podman        a container that is running
  kubectl://pod/dir?namespace=name            a pod of Kubernetes

Credentials come from the environment, or from where the tools of the provider
have theirs. Names are relative to the workspace, and cannot lead out of it.

Exit codes: 0 if all went well, also for a search that found nothing; 1 if a
tool or a workspace failed; 2 if the command line or the file is wrong; 130 if
the command was interrupted.`

const rootExample = `  workspace call grep --pattern 'func Test' --path .
  workspace -w docs call read_file --path README.md
  workspace -C ~/project mcp
  workspace validate
  workspace tools --format anthropic`

// newRoot returns the command tree for the command line args, which finds its
// file by locate.
func newRoot(args []string, locate locator) *cobra.Command {
	root := &cobra.Command{
		Use:           "workspace",
		Short:         "Give files to an AI agent",
		Long:          rootLong,
		Example:       rootExample,
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          unknownCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetGlobalNormalizationFunc(normalize)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if meant := meantOperation(args); cmd == root && meant != "" {
			return fmt.Errorf("%w%s", err, meant)
		}
		return flagError(cmd, err)
	})
	s := newSettings(root, locate)
	if len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		// Completions show a usage as it is, with the quotes that mark its
		// placeholder in the help.
		s.flags.VisitAll(func(f *pflag.Flag) { f.Usage = strings.ReplaceAll(f.Usage, "`", "") })
	}
	root.AddCommand(newValidate(s), newConfig(s))
	root.PersistentPreRunE = func(*cobra.Command, []string) error { return s.check() }
	root.AddCommand(newCall(s, args), newMCP(s), newTools(s), newWatch(s))
	root.AddCommand(newInit(s), newDoctor(s), newTrust(s), newGC(s), newVersion())
	explainUnknownHelp(root)
	return root
}

// unknownCommand explains what args, which are no command, may have meant.
func unknownCommand(root *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if meant := meantOperation(args[:1]); meant != "" {
		return fmt.Errorf("unknown command %q%s", args[0], meant)
	}
	return unknown("command", args[0], root)
}

// meantOperation asks whether an operation among args was meant to be called.
func meantOperation(args []string) string {
	for _, arg := range args {
		for _, o := range operations() {
			if o.is(arg) {
				return fmt.Sprintf(": did you mean \"workspace call %s\"?", o.op)
			}
		}
	}
	return ""
}

// explainUnknownHelp makes of an unknown help topic an error, which it is not
// in cobra.
func explainUnknownHelp(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	for _, command := range root.Commands() {
		if command.Name() == "help" {
			show := command.Run
			command.Run = nil
			command.RunE = func(cmd *cobra.Command, args []string) error {
				target, rest, err := root.Find(args)
				if err == nil {
					err = target.ValidateArgs(rest)
				}
				if err != nil {
					return err
				}
				show(cmd, args)
				return nil
			}
		}
	}
}
