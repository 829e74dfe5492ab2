package command

import (
	"context"
	"fmt"
	"io"
	"strings"
)

// echo prints its arguments. In scripts the shell's own echo comes first; this
// one is for xargs and the like. Flags are words of the letters n, e and E before all others.
// The escapes of -e are those of printf's %b.
func echo(_ context.Context, p *Process) int {
	args, end, escapes := p.Args[1:], "\n", false
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' && strings.Trim(args[0][1:], "neE") == "" {
		for _, c := range args[0][1:] {
			if c == 'n' {
				end = ""
			} else {
				escapes = c == 'e'
			}
		}
		args = args[1:]
	}
	text := strings.Join(args, " ")
	if escapes {
		plain, stop := unescapeAll(text)
		if text = string(plain); stop {
			end = ""
		}
	}
	if _, err := io.WriteString(p.Stdout, text+end); err != nil {
		return p.fail("write error", err)
	}
	return 0
}

// pwd prints the working directory, with the symlinks that led to it. Arguments are ignored.
func pwd(_ context.Context, p *Process) int {
	fmt.Fprintln(p.Stdout, p.Dir)
	return 0
}
