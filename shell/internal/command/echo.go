package command

import (
	"context"
	"fmt"
	"io"
	"strings"
)

// echo prints its arguments. In scripts the shell's own echo comes first; this one is
// for xargs and the like. It knows -n as the first argument, and no escapes: POSIX (echo)
// leaves both open, and the program of GNU has none without -e.
func echo(_ context.Context, p *Process) int {
	args, end := p.Args[1:], "\n"
	if len(args) > 0 && args[0] == "-n" {
		args, end = args[1:], ""
	}
	if _, err := io.WriteString(p.Stdout, strings.Join(args, " ")+end); err != nil {
		return p.fail("write error", err)
	}
	return 0
}

// pwd prints the working directory, with the symlinks that led to it. Arguments are ignored.
func pwd(_ context.Context, p *Process) int {
	fmt.Fprintln(p.Stdout, p.Dir)
	return 0
}
