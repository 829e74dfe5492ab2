package command

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/workspacekit/workspacekit/workspace"
)

// Process is one run of a program.
//
// A program may change its own one, as tail does. A program that runs another one gives it
// a copy, with other arguments and streams (see findRun.runCommand).
type Process struct {
	Args           []string // the name that it was called by, and its arguments
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Dir            string                   // the working directory, absolute
	Env            func(name string) string // the value of an exported variable, "" if there is none
	Environ        func() []string          // all exported variables, as NAME=value, sorted
	Files          *Files
	Run            func(ctx context.Context, p *Process) int // runs another program: for xargs, find -exec, env, timeout
	Known          func(name string) bool                    // whether there is a program of that name: for which
	Now            func() time.Time
	MaxMemory      int64 // the most bytes of input that a program holds at once

	writeFailed bool // failWrite has printed why
}

// Exit statuses with a meaning of their own.
const (
	exitUsage   = 2   // of most programs that say so; coreutils use 1
	exitUnknown = 127 // there is no program of that name
	exitPipe    = 141 // the reader of the output wants no more, as of a program that SIGPIPE ends
)

// ProgramName returns the last element of a path in a directory of programs, whatever the workspace
// has there, and "" for any other.
func ProgramName(name string) string {
	dir, base := path.Split(name)
	if slices.Contains([]string{"/bin/", "/usr/bin/", "/usr/local/bin/"}, dir) {
		return base
	}
	return ""
}

// isProgram reports whether name is the path of a program.
func (p *Process) isProgram(name string) bool {
	return p.Known != nil && p.Known(ProgramName(name))
}

// name is what the program was called by, for its messages.
func (p *Process) name() string { return path.Base(p.Args[0]) }

// errorf prints a message to the standard error, after the name of the program, and
// returns 1.
//
// The caller flushes a buffered standard output before, where the order of both matters.
func (p *Process) errorf(format string, args ...any) int {
	fmt.Fprintf(p.Stderr, p.name()+": "+format+"\n", args...)
	return 1
}

// ask prints a question, and reports whether the answer is yes: a line of the standard input that
// begins with y or Y. It reads no more than that line.
func (p *Process) ask(format string, args ...any) bool {
	fmt.Fprintf(p.Stderr, p.name()+": "+format+" ", args...)
	var first byte
	for b := make([]byte, 1); ; {
		switch n, err := p.Stdin.Read(b); {
		case n > 0 && b[0] != '\n':
			first = cmp.Or(first, b[0])
		case n > 0 || err != nil:
			return first == 'y' || first == 'Y'
		}
	}
}

// unread gives back what a program has read last of its standard input, and not used: GNU's programs
// seek back in a file, so that the next one reads on after that. In a pipe it is lost.
func (p *Process) unread(b []byte) {
	switch in := p.Stdin.(type) {
	case interface{ Unread(b []byte) }:
		in.Unread(b)
	case io.Seeker:
		in.Seek(-int64(len(b)), io.SeekCurrent)
	}
}

// unreadBuffer is unread for what a reader of the standard input holds.
func (p *Process) unreadBuffer(r *bufio.Reader) {
	rest, _ := r.Peek(r.Buffered())
	p.unread(rest)
	r.Discard(len(rest))
}

// fail prints what went wrong with a file in the words of GNU ("cat: x: No such file or
// directory"), and returns 1. A reader that wants no more is no failure worth a
// message, and has a status of its own.
func (p *Process) fail(name string, err error) int {
	if isPipe(err) {
		return exitPipe
	}
	return p.errorf("%s: %s", name, ErrorText(err))
}

// isPipe reports whether err says that the reader of an output wants no more.
// Which error it is depends on the output: a pipe of Go, a pipe of the host, or a file that
// was closed.
func isPipe(err error) bool {
	return errors.Is(err, io.ErrClosedPipe) || errors.Is(err, syscall.EPIPE) || errors.Is(err, fs.ErrClosed)
}

// errorTexts are the kinds of errors in the words of the C library.
//
// The first entry that errors.Is accepts counts, so the order decides about an error of two
// kinds.
var errorTexts = []struct {
	kind error
	text string
}{
	{workspace.ErrEscape, "Permission denied"},
	{fs.ErrNotExist, "No such file or directory"},
	{workspace.ErrIsDir, "Is a directory"},
	{workspace.ErrNotDir, "Not a directory"},
	{workspace.ErrNotEmpty, "Directory not empty"},
	{fs.ErrExist, "File exists"},
	{workspace.ErrTooLarge, "File too large"},
	{workspace.ErrNoSpace, "No space left on device"},
	{fs.ErrPermission, "Permission denied"},
	{errors.ErrUnsupported, "Operation not supported"},
	{fs.ErrInvalid, "Invalid argument"},
	{syscall.EBADF, "Bad file descriptor"},
}

// ErrorText returns what err says, in the words of the C library where it is of a kind
// that it knows. What a policy or a limit says is added in parentheses.
func ErrorText(err error) string {
	var detail error = err
	if pathError, ok := errors.AsType[*fs.PathError](err); ok {
		detail = pathError.Err
	}
	for _, e := range errorTexts {
		if !errors.Is(err, e.kind) {
			continue
		}
		if detail.Error() == e.kind.Error() || errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrExist) {
			return e.text
		}
		return e.text + " (" + detail.Error() + ")"
	}
	return detail.Error()
}

// Open opens a file, or a device such as /dev/stdin. "-" is a name like any other.
func (p *Process) Open(ctx context.Context, name string) (io.ReadCloser, error) {
	if device, ok := p.device(name); ok {
		return p.openDevice(name, device)
	}
	return p.Files.Open(ctx, p.Dir, name)
}

// device returns which device name is, by its name below /dev, and false for any other file. All
// of /dev/fd are devices, whether they exist or not.
func (p *Process) device(name string) (string, bool) {
	if !path.IsAbs(name) {
		name = path.Join(p.Dir, name)
	}
	device, ok := strings.CutPrefix(path.Clean(name), "/dev/")
	return device, ok && (slices.Contains(devices, device) || strings.HasPrefix(device, "fd/"))
}

// openDevice opens /dev/device for reading.
// Any other name than those it knows is [fs.ErrNotExist].
func (p *Process) openDevice(name, device string) (io.ReadCloser, error) {
	switch device {
	case "stdin", "fd/0":
		return io.NopCloser(p.Stdin), nil
	case "null":
		return io.NopCloser(strings.NewReader("")), nil
	}
	if data, ok := p.Files.descriptor(device); ok {
		return io.NopCloser(bytes.NewReader(data)), nil
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// An Input is one of the files that a program reads in turn.
// It is closed by Inputs, and valid only while read runs.
type Input struct {
	Name string // as the arguments have it; "-" for the standard input
	io.ReadCloser
}

// Inputs calls read with each file of names, or with the standard input for "-" and
// where there are no names. It prints the error of a file that cannot be opened or read,
// as an error of read, and continues; the status is then 1. It ends with ctx, and where
// read returns [ErrStop] or a [WriteError].
func (p *Process) Inputs(ctx context.Context, names []string, read func(in *Input) error) int {
	status := 0
	if len(names) == 0 {
		names = []string{"-"}
	}
	for _, name := range names {
		if ctx.Err() != nil {
			return 1
		}
		err := p.input(ctx, name, read)
		switch {
		case err == nil:
		case errors.Is(err, ErrStop):
			return status
		case isPipe(err):
			return exitPipe
		case ctx.Err() != nil:
			return 1
		case isWrite(err):
			return max(status, p.failWrite(err))
		default:
			status = p.fail(name, err)
		}
	}
	return status
}

// A WriteError is an error of an output, where it could also be one of the file that is read.
type WriteError struct{ Err error }

func (e WriteError) Error() string { return e.Err.Error() }

// Unwrap implements what [errors.Is] asks for.
func (e WriteError) Unwrap() error { return e.Err }

// isWrite reports whether err is a WriteError.
func isWrite(err error) bool {
	_, ok := errors.AsType[WriteError](err)
	return ok
}

// ErrStop ends [Process.Inputs] early, without a message.
var ErrStop = errors.New("no more is needed")

// input calls read with one file.
//
// A directory is opened without an error; the first Read returns it.
func (p *Process) input(ctx context.Context, name string, read func(in *Input) error) error {
	if name == "-" {
		return read(&Input{name, io.NopCloser(contextReader{ctx, p.Stdin})})
	}
	file, err := p.Open(ctx, name)
	if errors.Is(err, workspace.ErrIsDir) {
		file, err = directoryReader{err}, nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	return read(&Input{name, struct {
		io.Reader
		io.Closer
	}{contextReader{ctx, file}, file}})
}

// contextReader ends when its context ends.
// It looks before each read, and does not interrupt one that waits.
type contextReader struct {
	ctx context.Context
	io.Reader
}

// Read implements [io.Reader].
func (r contextReader) Read(b []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(b)
}

// directoryReader is a directory that is open: only reading fails, as on Unix, so that
// cat says "Is a directory" for it as for a file that cannot be read.
type directoryReader struct{ err error }

func (d directoryReader) Read([]byte) (int, error) { return 0, d.err }

func (directoryReader) Close() error { return nil }

// ReadFile returns the whole content of a file, and its version, which is empty for a
// device.
func (p *Process) ReadFile(ctx context.Context, name string) ([]byte, workspace.Version, error) {
	if device, ok := p.device(name); ok {
		file, err := p.openDevice(name, device)
		if err != nil {
			return nil, "", err
		}
		data, err := io.ReadAll(io.LimitReader(file, p.MaxMemory+1))
		if err == nil && int64(len(data)) > p.MaxMemory {
			err = &fs.PathError{Op: "read", Path: name, Err: workspace.ErrTooLarge}
		}
		return data, "", err
	}
	return p.Files.ReadFile(ctx, p.Dir, name)
}

// WriteFile gives a file its content at once. What is written to a device goes there.
func (p *Process) WriteFile(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) error {
	if _, ok := p.device(name); !ok {
		return p.Files.WriteFile(ctx, p.Dir, name, data, opts)
	}
	out, err := p.Create(ctx, name, 0)
	if err != nil {
		return err
	}
	_, err = out.Write(data)
	return err
}

// Create opens a file for writing. flag is [os.O_APPEND] or 0, and with [os.O_EXCL] the
// file must not exist. What is written is stored on Close, at once, on the condition
// that nobody else has changed the file since it was opened.
//
// Devices are written at once. A device that cannot be written is [fs.ErrPermission].
func (p *Process) Create(ctx context.Context, name string, flag int) (io.WriteCloser, error) {
	if device, ok := p.device(name); ok {
		switch device {
		case "stdout", "fd/1":
			return nopCloser{p.Stdout}, nil
		case "stderr", "fd/2":
			return nopCloser{p.Stderr}, nil
		case "null":
			return nopCloser{io.Discard}, nil
		}
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	file, err := p.Files.Create(ctx, p.Dir, name, flag&(os.O_APPEND|os.O_EXCL))
	if err != nil {
		return nil, err
	}
	p.Files.mu.Lock()
	file.owner = p
	p.Files.mu.Unlock()
	return file, nil
}

// nopCloser is a writer that others close, such as the standard output.
type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// Stat describes what a file is, after symlinks.
func (p *Process) Stat(ctx context.Context, name string) (workspace.FileInfo, error) {
	return p.Files.Stat(ctx, p.Dir, name)
}

// Lstat describes a file, and a symlink as itself.
func (p *Process) Lstat(ctx context.Context, name string) (workspace.FileInfo, error) {
	return p.Files.Lstat(ctx, p.Dir, name)
}

// resolve locates name after symlinks, so that two names of one file are equal. With entry, a
// symlink that name itself is stays. What does not exist, or leads nowhere, stays as it is.
func (p *Process) resolve(ctx context.Context, name string, entry bool) Location {
	at, err := p.Files.Locate(ctx, p.Dir, name)
	if err != nil || at.Workspace == nil {
		return at
	}
	dir, base := at.Name, ""
	if entry {
		dir, base = path.Split(at.Name)
	}
	if dir, err := at.Workspace.Resolve(at.In(ctx), path.Clean(dir)); err == nil {
		at.Name = path.Join(dir, base)
	}
	return at
}

// trail is the way of a walk that follows symlinks: for each of them, the directory where the
// walk came to it, and before the first one where the walk began. Of the last entry, to is "" if
// the walk is not in a symlink of that directory.
type trail []struct {
	from Location // without symlinks
	to   string   // the directory of the symlink
}

// has reports whether dir is above the place where the walk is, so that it would never end.
func (t trail) has(dir Location) bool {
	name := path.Join("/", dir.Name)
	for _, step := range t {
		if dir.Workspace == step.from.Workspace && step.to != "" && isBelow(name, path.Join("/", step.from.Name)) && isBelow(step.to, name) {
			return true
		}
	}
	return false
}

// ReadDir returns the entries of a directory, sorted bytewise by name.
func (p *Process) ReadDir(ctx context.Context, name string) ([]workspace.FileInfo, error) {
	return p.Files.ReadDir(ctx, p.Dir, name)
}

// Rm removes a file or an empty directory, or all below it.
func (p *Process) Rm(ctx context.Context, name string, opts *workspace.RmOptions) error {
	return p.Files.Rm(ctx, p.Dir, name, opts)
}

// Mkdir creates a directory.
func (p *Process) Mkdir(ctx context.Context, name string, opts *workspace.MkdirOptions) error {
	return p.Files.Mkdir(ctx, p.Dir, name, opts)
}

// Move gives a file or a directory another name in the same workspace. Between two
// workspaces it is [ErrCrossWorkspace].
func (p *Process) Move(ctx context.Context, from, to string) error {
	return p.Files.Move(ctx, p.Dir, from, to)
}

// Copy copies one file. Between two workspaces the bytes pass through here.
func (p *Process) Copy(ctx context.Context, from, to string) error {
	return p.Files.Copy(ctx, p.Dir, from, to)
}
