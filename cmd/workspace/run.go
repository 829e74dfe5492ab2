package main

import (
	"context"
	"io"
)

// streams are the standard streams of the program.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// run executes the command line args and returns the exit code.
func run(ctx context.Context, args []string, s streams, locate locator) int {
	root := newRoot(args, locate)
	root.SetArgs(args)
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	command, err := root.ExecuteContextC(ctx)
	return report(command, s.err, err)
}
