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

// awkUsage is what awk prints when it is called without a program, or with an option
// that it does not know.
const awkUsage = "usage: awk [-F fs] [-v var=value] [-f file | program] [file...]"

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
	operands, status, ok := a.options(p.Args[1:])
	if !ok {
		return status
	}
	if len(a.sources) == 0 {
		if len(operands) == 0 {
			io.WriteString(p.Stderr, awkUsage+"\n")
			return exitUsage
		}
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

// awkIgnored are long options of gawk that change nothing here.
var awkIgnored = map[string]bool{"--re-interval": true, "--posix": true, "--traditional": true, "--sandbox": true, "--gnu": true}

// options reads the options, up to the program or the first file. They are not those of
// flags, as an option after the program belongs to the program, and a value may follow its
// letter at once:
//
//	awk -F: -v n=1 'NR > n' file
//	awk --field-separator=: -f lib.awk -f main.awk file -n
//
// If ok is false, a message has been printed, and the program returns status.
func (a *awkRun) options(args []string) (operands []string, status int, ok bool) {
	for len(args) > 0 {
		arg := args[0]
		if arg == "--" {
			return args[1:], 0, true
		}
		if len(arg) < 2 || arg[0] != '-' {
			break
		}
		args = args[1:]
		if awkIgnored[arg] {
			continue
		}
		letter, value := arg[1], arg[2:]
		if letter == '-' {
			name, text, given := strings.Cut(arg, "=")
			letter = map[string]byte{"--field-separator": 'F', "--assign": 'v', "--file": 'f', "--source": 'e', "--include": 'i'}[name]
			if value = text; given && value == "" {
				return nil, a.p.errorf("option %s: the value is empty", name) + 1, false
			}
		}
		if strings.IndexByte("Fvfei", letter) < 0 {
			a.p.errorf("option %q is not possible here\n%s", arg, awkUsage)
			return nil, exitUsage, false
		}
		if value == "" {
			if len(args) == 0 {
				a.p.errorf("option %q needs an argument\n%s", arg, awkUsage)
				return nil, exitUsage, false
			}
			value, args = args[0], args[1:]
		}
		if status := a.set(letter, value); status != 0 {
			return nil, status, false
		}
	}
	return args, 0, true
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
