package command

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/workspacekit/workspacekit/shell/internal/awk"
	"github.com/workspacekit/workspacekit/workspace"
)

// awkRun is what the options of awk say, and the functions through which a program in awk
// reaches files and the shell. Package awk itself knows neither.
type awkRun struct {
	p           *Process
	ctx         context.Context
	sources     []string // the texts of -f and of the first argument, which are one program
	assignments []string // of -v, as NAME=value
	inPlace     bool     // -i inplace: the output replaces each file
}

// awkProgram runs a program in awk. It returns the exit status of the program, or 2 after
// an error, as gawk does.
//
// The interpreter itself counts what variables and strings hold. The heap of the whole process
// bounds the rest: boundHeap ends the context of the program.
func awkProgram(ctx context.Context, p *Process) int {
	a := &awkRun{p: p, ctx: ctx}
	operands, status, ok := a.options()
	if !ok {
		return status
	}
	if len(a.sources) == 0 {
		a.sources, operands = operands[:1], operands[1:]
	}
	program, err := awk.Parse(strings.Join(a.sources, "\n"))
	if err != nil {
		p.errorf("%v", err)
		return exitUsage
	}
	ctx, stop := boundHeap(ctx, p.MaxMemory)
	defer stop()
	a.ctx = ctx
	status, err = program.Run(ctx, &awk.Config{
		Args: append([]string{"awk"}, operands...), Assignments: a.assignments, Stdin: contextReader{ctx, p.Stdin},
		Stdout: p.Stdout, Stderr: p.Stderr, Open: a.open, Create: a.create, Command: a.command,
		Environ: p.Environ(), Now: p.Now, Location: p.location(), FormatTime: formatTime,
		ErrorText: ErrorText, MaxMemory: p.MaxMemory, InPlace: a.inPlace,
	})
	_, failed := errors.AsType[*awk.Error](err)
	_, tooMuch := errors.AsType[heapError](err)
	switch {
	case err == nil:
		return status
	case failed, tooMuch:
		p.errorf("%v", err)
	case ctx.Err() != nil: // the shell prints why it has ended the script
	default:
		return max(exitUsage, p.failWrite(err))
	}
	return exitUsage
}

// options reads the options, up to the program or the first file. An option after the program
// belongs to the program:
//
//	awk -F: -v n=1 'NR > n' file
//	awk --field-separator=: -f lib.awk -f main.awk file -n
//
// If ok is false, a message has been printed, and the program returns status.
func (a *awkRun) options() (operands []string, status int, ok bool) {
	f := newFlags(a.p, "[OPTION]... PROGRAM [FILE]...")
	f.first, f.failure = true, exitUsage
	var given []func() int
	option := func(name, letter, usage string) {
		f.FuncP(name, letter, usage, func(value string) error {
			given = append(given, func() int { return a.set(letter[0], value) })
			return nil
		})
	}
	option("field-separator", "F", "split fields at this text or expression")
	option("assign", "v", "give a variable a value: NAME=value")
	option("file", "f", "read the program from this file")
	option("source", "e", "a part of the program")
	option("include", "i", "only inplace, which changes the files")
	for _, name := range []string{"re-interval", "posix", "traditional", "sandbox", "gnu"} {
		f.Bool(name, false, "(ignored)")
	}
	if operands, status, ok = f.parse(); !ok {
		return nil, status, false
	}
	for _, set := range given {
		if status := set(); status != 0 {
			return nil, status, false
		}
	}
	if len(a.sources) == 0 && len(operands) == 0 {
		return nil, f.wrong("missing program"), false
	}
	return operands, 0, true
}

// set sets one option, and returns a status that is not 0 after an error. -F is an assignment
// to FS, so that of -F and -v FS=x the last one counts, as in gawk.
//
// A file of -f is read now, at its place among the sources.
func (a *awkRun) set(letter byte, value string) (status int) {
	switch letter {
	case 'F':
		a.assignments = append(a.assignments, "FS="+value)
	case 'v':
		if !strings.Contains(value, "=") {
			a.p.errorf("%s: option -v needs NAME=value", quoteName(value))
			return exitUsage
		}
		a.assignments = append(a.assignments, value)
	case 'e':
		a.sources = append(a.sources, value)
	case 'f':
		data, err := a.p.readAll(a.ctx, value)
		if err != nil {
			a.p.errorf("cannot open source file %q for reading: %s", value, ErrorText(err))
			return exitUsage
		}
		a.sources = append(a.sources, string(data))
	case 'i':
		if value != "inplace" && value != "inplace.awk" {
			a.p.errorf("the library %q is not there; only -i inplace is", value)
			return exitUsage
		}
		a.inPlace = true
	}
	return 0
}

// open opens a file for reading. A directory is [awk.ErrDirectory], which the interpreter
// skips with a warning, as gawk does.
func (a *awkRun) open(name string) (io.ReadCloser, error) {
	file, err := a.p.Open(a.ctx, name)
	if errors.Is(err, workspace.ErrIsDir) {
		err = awk.ErrDirectory
	}
	if err != nil {
		return nil, err
	}
	return struct {
		io.Reader
		io.Closer
	}{contextReader{a.ctx, file}, file}, nil
}

// create opens a file for writing: it is stored when the program closes it or ends.
func (a *awkRun) create(name string, appends bool) (io.WriteCloser, error) {
	flag := 0
	if appends {
		flag = os.O_APPEND
	}
	return a.p.Create(a.ctx, name, flag)
}

// command runs a command of the shell, for system, pipes and getline, and returns its status.
// It is a script like that of sh -c, within the budgets of the same run.
func (a *awkRun) command(command string, stdin io.Reader, stdout io.Writer) int {
	child := *a.p
	child.Args, child.Stdin, child.Stdout = []string{"sh", "-c", command}, stdin, stdout
	return a.p.Run(a.ctx, &child)
}
