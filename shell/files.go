package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"weak"

	"github.com/workspacekit/workspacekit/shell/internal/command"
	"github.com/workspacekit/workspacekit/shell/internal/rewrite"
	"github.com/workspacekit/workspacekit/workspace"
	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/interp"
)

// open opens files for redirections. It also answers the guards, and names that the shell has
// put into a script; they come before all others, so that no file of a workspace hides them.
//
// The interpreter prints a *fs.PathError and goes on with the script. Any other error ends
// the run, which budgets rely on; see openError.
func (r *run) open(ctx context.Context, name string, flag int, _ os.FileMode) (io.ReadWriteCloser, error) {
	hc := interp.HandlerCtx(ctx)
	if terms, ok := strings.CutPrefix(name, rewrite.GuardPath); ok {
		if err := r.check(hc.Env, terms); errors.Is(err, rewrite.ErrBackReference) {
			fmt.Fprintln(hc.Stderr, err)
			return numberFile{nothing{}, "("}, nil // which makes the expression wrong: the status is 2
		} else if errors.Is(err, rewrite.ErrIndirect) {
			err = expansionError{err}
			if !strings.Contains(terms, "/") {
				return unreadable{err: err}, nil // the error of a subshell would end the script, too
			}
			return nil, err
		} else if err != nil {
			return nil, err
		}
		return nothing{}, nil
	}
	if text, ok := strings.CutPrefix(name, rewrite.NumberPath); ok {
		return r.openNumber(hc.Env, text), nil
	}
	if number, ok := strings.CutPrefix(name, sourcePath); ok {
		n, _ := strconv.Atoi(number)
		return readOnly{io.NopCloser(strings.NewReader(r.scripts.TakePiece(n)))}, nil
	}
	if name == pipePath {
		if w, ok := hc.Stdout.(*pipeWriter); ok {
			return w, nil
		}
		return &pipeWriter{Writer: hc.Stdout}, nil
	}
	if name == rewrite.CapturePath {
		return r.newCapture(hc.Env, hc.Stdout), nil
	}
	if name == untracedPath {
		return &untraced{pipeWriter{Writer: hc.Stderr}}, nil
	}
	r.mu.Lock()
	answer := r.answers[name]
	r.mu.Unlock()
	if answer != nil {
		return &pipeWriter{Writer: answer}, nil
	}
	p := r.process(hc, []string{"bash"})
	if flag&(os.O_WRONLY|os.O_RDWR) == 0 {
		file, err := p.Open(ctx, name)
		if err != nil {
			return nil, openError(name, err)
		}
		info, err := p.Stat(ctx, name)
		switch {
		case err == nil && info.IsDir():
			file.Close()
			return nil, openError(name, workspace.ErrIsDir)
		case err == nil && info.Type == workspace.TypeFile:
			return r.fileInput(file, info.Size)
		}
		return readOnly{file}, nil
	}
	if err := notDirectory(ctx, p, name); err != nil {
		return nil, openError(name, err)
	}
	switch path.Clean(name) {
	case "/dev/stdout", "/dev/fd/1":
		return &pipeWriter{Writer: hc.Stdout}, nil
	case "/dev/stderr", "/dev/fd/2":
		return &pipeWriter{Writer: hc.Stderr}, nil
	}
	file, err := p.Create(ctx, name, flag&os.O_APPEND)
	if err != nil {
		return nil, openError(name, err)
	}
	return &storedFile{file, r, name, hc.Stderr}, nil
}

// check ends the run if what a guard with these terms stands for would be too much.
//
// A value that is kept is counted by keep; another one may have four times the budget Variables, as
// it goes when the command ends.
func (r *run) check(env expand.Environ, terms string) error {
	size, kept, err := rewrite.GuardSize(env, terms, r.maxArgs.Load())
	switch {
	case errors.Is(err, rewrite.ErrBackReference), errors.Is(err, rewrite.ErrIndirect):
		return err
	case err != nil:
		return r.stop("%v", err)
	case kept:
		return r.keep(env, size)
	case size > 4*int64(r.opts.Variables):
		return r.stopBudget("bytes of expansions", r.opts.Variables, "Variables")
	}
	return nil
}

// keep counts size bytes that are about to be stored in a variable, and ends the run if the
// variables would pass the budget. The sizes of all variables are added up only when so much
// has been stored since the last time that the budget may have been reached.
//
// Adding up each time would make a loop over n variables take n*n steps. So stored only grows
// between two sums: bytes that replace others count as if they were added. A quarter of the budget
// always causes a sum, as a script in another one (run.nested) has variables of its own.
func (r *run) keep(env expand.Environ, size int64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	limit := int64(r.opts.Variables)
	r.stored += size + r.captured.Swap(0)
	if r.stored <= limit/4 && size <= limit/4 && r.held+r.stored <= limit {
		return nil
	}
	if r.held = variablesSize(env); r.held+size > limit {
		return r.stopBudget("bytes of variables", r.opts.Variables, "Variables")
	}
	r.stored = size
	return nil
}

// variablesSize returns the sizes of all variables.
func variablesSize(env expand.Environ) int64 {
	size := int64(0)
	env.Each(func(name string, vr expand.Variable) bool {
		size += rewrite.VariableSize(vr) + int64(len(name)) + 64
		return true
	})
	return size
}

// openNumber opens the file with the number of a variable, or the empty one after a number. A
// file that cannot be read says why: the interpreter prints a failure to open it twice.
func (r *run) openNumber(env expand.Environ, name string) io.ReadWriteCloser {
	if name == "" {
		return nothing{}
	}
	use, name := rewrite.NumberUse(name[:1]), name[1:]
	switch name {
	case "":
		if err := r.noNumber.Swap(nil); err != nil {
			return r.badNumber(use, *err)
		}
		return nothing{}
	case "!":
		if r.badTest.Swap(false) {
			return numberFile{nothing{}, "!"}
		}
		return nothing{}
	}
	n, err := rewrite.NamedNumber(env, name)
	if err != nil {
		return r.badNumber(use, err)
	}
	return numberFile{nothing{}, n}
}

// badNumber returns the file that fails with err. What the interpreter does for an unset
// parameter is what bash does after an error in an expansion.
func (r *run) badNumber(use rewrite.NumberUse, err error) io.ReadWriteCloser {
	switch use {
	case rewrite.InTest:
		r.badTest.Store(true)
	case rewrite.InExpansion:
		err = expansionError{err}
		r.noNumber.Store(&err) // for a value with such an expansion, so that a test with it ends the script, too
	case rewrite.InCommand:
		err = commandError{err}
	}
	return unreadable{nothing{}, err}
}

// expansionError ends the script: to the interpreter it is an unset parameter.
type expansionError struct{ error }

// Unwrap implements what [errors.Is] asks for.
func (e expansionError) Unwrap() error { return e.error }

// As implements what [errors.As] asks for.
func (e expansionError) As(target any) bool {
	unset, ok := target.(*expand.UnsetParameterError)
	if ok {
		*unset = expand.UnsetParameterError{Message: e.Error()}
	}
	return ok
}

// commandError fails the command, and ends a loop of the form for ((;;)): to the interpreter it is
// an assignment to a read-only variable.
type commandError struct{ error }

// Is implements what [errors.Is] asks for.
func (e commandError) Is(target error) bool { return target.Error() == "readonly variable" }

// unreadable is a file whose reading fails.
type unreadable struct {
	nothing
	err error
}

func (f unreadable) Read([]byte) (int, error)         { return 0, f.err }
func (f unreadable) WriteTo(io.Writer) (int64, error) { return 0, f.err }

// numberFile is a file with a number. WriteTo keeps [io.Copy] from making a buffer for each.
type numberFile struct {
	nothing
	number string
}

func (f numberFile) WriteTo(w io.Writer) (int64, error) {
	n, err := io.WriteString(w, f.number)
	return int64(n), err
}

// notDirectory returns [workspace.ErrIsDir] if name is a directory. What cannot be described
// is left to the operation.
func notDirectory(ctx context.Context, p *command.Process, name string) error {
	if info, err := p.Stat(ctx, name); err == nil && info.IsDir() {
		return workspace.ErrIsDir
	}
	return nil
}

// openError is the error of a redirection, which the interpreter prints.
func openError(name string, err error) error {
	if budget, ok := errors.AsType[*budgetError](err); ok {
		return budget
	}
	return &fs.PathError{Op: "bash:", Path: name, Err: errors.New(command.ErrorText(err))}
}

// pipePath is the file through which a part of a pipeline writes to the pipe.
const pipePath = "/dev/guarded-pipe"

// nothing is an empty file: what a guard expands to. WriteTo keeps [io.Copy] from making a
// buffer for each guard.
type nothing struct{}

func (nothing) Read([]byte) (int, error)         { return 0, io.EOF }
func (nothing) Write(b []byte) (int, error)      { return len(b), nil }
func (nothing) Close() error                     { return nil }
func (nothing) WriteTo(io.Writer) (int64, error) { return 0, nil }

// fileInput returns a file as the interpreter would connect it, as a pipe, and keeps what a pipe
// does not know of it as long as that exists: a script may open any number. Closing the pipe, as
// the interpreter does after a command and closeInputs after the run, closes the file.
func (r *run) fileInput(file io.ReadCloser, size int64) (io.ReadWriteCloser, error) {
	in, w, err := os.Pipe()
	if err != nil {
		file.Close()
		return nil, errors.New("the standard input cannot be connected")
	}
	state := &inputState{size: size}
	command.AtEnd(file, state.ends)
	go func() {
		_, err := io.Copy(w, file)
		state.mu.Lock()
		state.err = err
		state.mu.Unlock()
		w.Close()
		file.Close()
	}()
	r.mu.Lock()
	defer r.mu.Unlock()
	key := weak.Make(in)
	r.inputs[key] = state
	runtime.AddCleanup(in, func(key weak.Pointer[os.File]) {
		r.mu.Lock()
		delete(r.inputs, key)
		r.mu.Unlock()
	}, key)
	return in, nil
}

// closeInputs closes the standard inputs that exec has opened.
func (r *run) closeInputs() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for key := range r.inputs {
		if in := key.Value(); in != nil {
			in.Close()
		}
	}
}

// inputState is what is known of a file that is a standard input.
type inputState struct {
	size  int64
	mu    sync.Mutex
	ahead []byte // guarded by mu; what a program has read and not used
	used  int64  // guarded by mu; bytes that programs have read and not given back
	total int64  // guarded by mu; bytes of the file, once tell is set
	tell  func() // guarded by mu; tells the observer that the file has been read
	err   error  // guarded by mu; of the file, which comes in place of the end of the pipe
}

// ends is called before the last byte goes into the pipe.
func (s *inputState) ends(size int64, tell func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.total, s.tell = size, tell
}

// input is a standard input that is a file. What a program has not used is for the next one.
type input struct {
	*inputState
	file *os.File
}

// Read implements [io.Reader]. As of other files, the last byte comes alone.
func (in *input) Read(b []byte) (int, error) {
	in.mu.Lock()
	n, err := copy(b, in.ahead), error(nil)
	in.ahead = in.ahead[n:]
	in.mu.Unlock()
	if n == 0 {
		n, err = in.file.Read(b)
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	in.used += int64(n)
	if err == io.EOF && in.err != nil {
		err = in.err
	}
	if in.tell == nil || in.used < in.total {
		return n, err
	}
	if n > 1 {
		n, in.used = n-1, in.used-1
		in.ahead = []byte{b[n]}
		return n, err
	}
	in.tell()
	in.tell = nil
	return n, err
}

// Unread gives back what has been read last.
func (in *input) Unread(b []byte) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.ahead = slices.Concat(b, in.ahead)
	in.used -= int64(len(b))
}

// FileSize returns the size that the file had when it was opened.
func (in *input) FileSize() int64 { return in.size }

// input returns the standard input of a command. It is never nil.
func (r *run) input(hc interp.HandlerContext) io.Reader {
	file, ok := hc.Stdin.(*os.File)
	if !ok && hc.Stdin == nil {
		return strings.NewReader("")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if state := r.inputs[weak.Make(file)]; state != nil {
		return &input{state, file}
	}
	return hc.Stdin
}

// readOnly is a file that is read.
type readOnly struct{ io.ReadCloser }

// Write implements [io.Writer].
func (readOnly) Write([]byte) (int, error) { return 0, fs.ErrPermission }

// storedFile is a file that is written. Its content is stored when it is closed, and the
// interpreter does not look at the error of that. So Close prints it, and counts it for
// run.status, which the script calls after the statement.
type storedFile struct {
	io.WriteCloser
	run    *run
	name   string
	stderr io.Writer // for a failure to store it
}

// Read implements [io.Reader].
func (f *storedFile) Read([]byte) (int, error) { return 0, fs.ErrPermission }

// Close implements [io.Closer].
func (f *storedFile) Close() error {
	err := f.WriteCloser.Close()
	if err != nil {
		f.run.unstored.Add(1)
		fmt.Fprintf(f.stderr, "bash: %s: %s\n", f.name, command.ErrorText(err))
	}
	return err
}
