package main

import (
	"errors"
	"slices"

	"github.com/spf13/cobra"
)

const callLong = `Call runs one tool. What it works on is an argument (a path, a pattern and a path,
a source and a destination); parameters are flags, or all of them are one JSON
object. Flags can be spelled as the tool's schema spells its parameters, too:
--includeGlob is --include-glob. A lone "-" reads the JSON object from standard
input.

A result is printed for a person: colored if standard output is a terminal, plain
if it is not. What was left out is said on standard error. With --json it is
printed as the JSON object that a program gets, an error too.

It works on one workspace: -w says which, if the file has several.

A search that finds nothing is no error: it prints nothing, with the exit code 0.`

const callExample = `  workspace call ls
  workspace call ls src
  workspace call grep TODO --include-glob '*.go'
  workspace call grep '{"pattern": "TODO", "includeGlob": "*.go"}' --json
  workspace call write_file - < arguments.json
  workspace -w lake call read_file notes.txt
  workspace -w s3://bucket/prefix call ls`

// newCall returns the command that runs a tool, with a command for each.
func newCall(s *settings, args []string) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "call OP",
		Short:   "Run a tool",
		Long:    callLong,
		Example: callExample,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return unknown("operation", args[0], cmd)
		},
		RunE: func(*cobra.Command, []string) error {
			return errors.New("call needs an operation, such as \"workspace call ls\"")
		},
	}
	for _, o := range operations() {
		// A schema takes a while to make, so only that of a tool that is named
		// on the command line is.
		named := slices.ContainsFunc(args, o.is)
		cmd.AddCommand(newOperation(s, o, named))
	}
	return cmd
}
