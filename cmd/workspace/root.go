package main

import (
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"
)

const rootLong = `Workspace gives a folder to an AI agent as a set of tools (read, write, edit,
list, search), over the Model Context Protocol, and runs the same tools by hand.

All names are relative to the folder that -C chooses, and cannot lead out of it.
It can also choose a bucket of an S3 store: s3://bucket/prefix, with parameters
such as ?region=eu-west-1 or ?endpoint=http://localhost:9000. Credentials come
from the environment or from the profile of the AWS configuration.

Exit codes: 0 if all went well, also for a search that found nothing; 1 if a
tool failed; 2 if the command line is wrong; 130 if the command was interrupted.`

const rootExample = `  workspace call grep --pattern 'func Test' --path .
  workspace -C ~/project call read_file --path README.md
  workspace -C ~/project mcp
  workspace tools --format anthropic`

// newRoot returns the command tree for the command line args.
func newRoot(args []string) *cobra.Command {
	root := &cobra.Command{
		Use:           "workspace",
		Short:         "Give a folder to an AI agent",
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
	s := newSettings(root)
	root.PersistentPreRunE = func(*cobra.Command, []string) error { return s.check() }
	root.AddCommand(newCall(s, args), newMCP(s), newTools(s), newWatch(s))
	root.AddCommand(newInit(s), newDoctor(s))
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

// version is that of the module, as the Go tool stamped it.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
