package shell

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"syscall"

	"github.com/workspacekit/workspacekit/shell/internal/command"
	"github.com/workspacekit/workspacekit/shell/internal/rewrite"
)

// programWriter is the standard output of a program.
type programWriter struct {
	io.Writer
	broken bool // the reader wants no more
}

// Write implements [io.Writer].
func (w *programWriter) Write(b []byte) (int, error) {
	if w.Writer == io.Discard {
		return 0, command.WriteError{Err: errClosed}
	}
	n, err := w.Writer.Write(b)
	if err != nil {
		_, isFile := w.Writer.(*storedFile)
		w.broken = !isFile
		err = command.WriteError{Err: err}
	}
	return n, err
}

// errClosed is the error of a write after >&-, for which the interpreter has [io.Discard].
var errClosed = syscall.EBADF

// runAgain runs a program that another program asks for, as xargs and find -exec do. It counts
// like a command of the script, so that no program is a way around the budgets. 137 is the
// status of a program that SIGKILL has ended.
func (r *run) runAgain(ctx context.Context, p *command.Process) int {
	if n := r.commands.Add(1); n > int64(r.opts.Commands) {
		r.stopBudget("commands", r.opts.Commands, "Commands")
		return 137
	}
	if rewrite.Deeper(r.opts.Recursion * framesPerCall) {
		r.stop("more than about %d nested calls of programs (budget Recursion)", r.opts.Recursion)
		return 137
	}
	if ctx.Err() != nil {
		return 137
	}
	return r.runProgram(ctx, p)
}

// runProgram runs a program by its name, or a script by its path:
//
//	cat             the program
//	/usr/bin/cat    the program, as in /bin and /usr/local/bin
//	./build.sh      a file of the workspace
//	bash, sh        this interpreter; see runShell
//
// A name without a slash is never looked for in the workspace, whatever PATH says.
func (r *run) runProgram(ctx context.Context, p *command.Process) int {
	name := p.Args[0]
	if isProgramPath(name) {
		name = path.Base(name)
	} else if strings.Contains(name, "/") {
		return r.runScript(ctx, p)
	}
	switch program := command.Programs[name]; {
	case isShell(name):
		return r.runShell(ctx, p)
	case program != nil:
		defer p.DropOutputs()
		return program(ctx, p)
	}
	return unknown(p)
}

// runShell is the program bash, also called sh. It reads -c, a file, or the standard input,
// in this order, and takes the options of set that a script is likely to give:
//
//	bash -eu -o pipefail -c 'echo $0 $1' name arg
//	bash script.sh arg
//	echo 'echo hi $1' | bash -s there
//
// Long options change nothing. Exported variables are all that the script inherits.
func (r *run) runShell(ctx context.Context, p *command.Process) int {
	var options []string
	args := p.Args[1:]
	isScript, isInput := false, false
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		arg := args[0]
		args = args[1:]
		if arg == "--" || arg == "-" {
			break
		}
		if strings.HasPrefix(arg, "--") {
			continue // --noprofile, --norc, --posix
		}
		for _, c := range arg[1:] {
			switch c {
			case 'c':
				isScript = true
			case 'e', 'u', 'x', 'f', 'n', 'a':
				options = append(options, "-"+string(c))
			case 'o':
				if len(args) > 0 {
					options = append(options, "-o", args[0])
					args = args[1:]
				}
			case 's':
				isInput = true
			case 'l', 'i', 'E': // for E, see setFlags
			default:
				fmt.Fprintf(p.Stderr, "bash: -%c: invalid option\n", c)
				return 2
			}
		}
	}
	if isScript {
		if len(args) == 0 {
			fmt.Fprintln(p.Stderr, "bash: -c: option requires an argument")
			return 2
		}
		name := p.Args[0]
		if len(args) > 1 {
			name = args[1]
		}
		return r.nested(ctx, p, args[0], name, false, options, args[min(2, len(args)):])
	}
	if len(args) > 0 && !isInput {
		data, _, err := p.ReadFile(ctx, args[0])
		if err != nil {
			return noScript(p, args[0], err)
		}
		return r.nested(ctx, p, string(data), args[0], true, options, args[1:])
	}
	data, err := io.ReadAll(io.LimitReader(p.Stdin, rewrite.MaxScript+1))
	if err != nil {
		return 1
	}
	// The script was the input, so that its commands have none.
	p.Stdin = strings.NewReader("")
	return r.nested(ctx, p, string(data), p.Args[0], false, options, args)
}

// runScript runs a file of the workspace as a script. There is no permission to execute, so
// each text is a script, unless its first line names something that is no shell. A NUL byte near
// the beginning of a file says that it is a program for the machine.
func (r *run) runScript(ctx context.Context, p *command.Process) int {
	data, _, err := r.files.ReadFile(ctx, p.Dir, p.Args[0])
	if err != nil {
		return noScript(p, p.Args[0], err)
	}
	first, _, _ := strings.Cut(string(data[:min(len(data), 200)]), "\n")
	options, isScript := scriptOptions(first)
	switch {
	case bytes.IndexByte(data[:min(len(data), 200)], 0) >= 0:
		fmt.Fprintf(p.Stderr, "bash: %s: cannot execute binary file: only scripts of bash can be run\n", p.Args[0])
		return 126
	case !isScript:
		fmt.Fprintf(p.Stderr, "bash: %s: no program of the machine can be run, only scripts of bash\n", p.Args[0])
		return 126
	}
	if len(options) > 0 {
		p.Args = slices.Concat([]string{"bash"}, options, p.Args)
		return r.runShell(ctx, p)
	}
	return r.nested(ctx, p, string(data), p.Args[0], true, nil, p.Args[1:])
}

// scriptOptions returns the words after the name of a shell in the first line of a script, and
// whether the line lets it run: it names a shell, or nothing.
//
//	#!/bin/sh -e                       -e
//	#!/usr/bin/env -S A=b bash -eu     -eu
//	#!/usr/bin/env python3             no script
func scriptOptions(first string) (options []string, ok bool) {
	line, ok := strings.CutPrefix(first, "#!")
	if !ok {
		return nil, true
	}
	words := strings.Fields(line)
	if len(words) > 0 && path.Base(words[0]) == "env" {
		words = words[1:]
		for len(words) > 0 && (strings.HasPrefix(words[0], "-") || strings.Contains(words[0], "=")) {
			words = words[1:]
		}
	}
	if len(words) == 0 || !slices.Contains([]string{"sh", "bash", "dash", "ash", "ksh", "zsh"}, path.Base(words[0])) {
		return nil, false
	}
	return words[1:], true
}

// noScript reports a script that cannot be read.
func noScript(p *command.Process, name string, err error) int {
	fmt.Fprintf(p.Stderr, "bash: %s: %s\n", name, command.ErrorText(err))
	if errors.Is(err, fs.ErrNotExist) {
		return 127
	}
	return 126
}

// isShell reports whether name is a program that runs scripts: it is this interpreter
// once more, not a program of the host.
func isShell(name string) bool { return name == "bash" || name == "sh" }

// isProgram reports whether there is a program of that name.
func isProgram(name string) bool { return command.Programs[name] != nil || isShell(name) }

// isProgramPath reports whether name is the path of a program.
func isProgramPath(name string) bool { return isProgram(command.ProgramName(name)) }

// replacements are what to use instead of programs that many would expect.
var replacements = map[string]string{
	"bc":    "bc is not available; use $((…)) or awk",
	"chgrp": "a workspace has no owners",
	"chmod": "a workspace has no permissions; each file of text runs as a script, as ./run.sh",
	"chown": "a workspace has no owners",
	"curl":  "the network is not available in this shell",
	"git":   "git is not available in this shell",
	"less":  "less is not available; use cat, head or sed -n",
	"more":  "more is not available; use cat, head or sed -n",
	"perl":  "perl is not available; use awk or sed",
	"wget":  "the network is not available in this shell",
}

// unknown reports a command that does not exist, and what to use instead.
func unknown(p *command.Process) int {
	text := cmp.Or(replacements[path.Base(p.Args[0])], "no program of the machine can be run; help lists those of the shell")
	fmt.Fprintf(p.Stderr, "bash: %s: command not found\nbash: %s\n", p.Args[0], text)
	return 127
}

// ProgramNames returns the names of the programs that scripts can call, sorted, besides the
// builtins of bash, and ln, which only says that there are no links.
func ProgramNames() []string {
	names := append(command.Names(), "bash", "sh")
	slices.Sort(names)
	return slices.DeleteFunc(names, func(name string) bool { return name == "ln" })
}
