package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/workspacekit/workspacekit/conformance/internal/compare"
	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

// runCases are the cases for Run. They use what every POSIX system has: sh,
// cat, env, head, kill, printf and sleep. The mistakes they look for are those
// of a provider that builds a command line for a shell, that waits for pipes
// instead of processes, or that kills one process where there are many. An
// agent runs builds and tests unattended: what they leave behind, nobody else
// ends.
var runCases = []testCase{
	{"undeclared", "CA8 E1 E2", 0, runUndeclared},
	{"arguments", "RU1", needRun, runArguments},
	{"exit-codes", "RU2", needRun, runExitCodes},
	{"signals", "RU3", needRun, runSignals},
	{"streams-apart", "RU4", needRun, runStreamsApart},
	{"streams-at-once", "RU4 RU6", needRun, runConversation},
	{"one-writer", "RU4", needRun, runOneWriter},
	{"uncomparable-writer", "RU4", needRun, runUncomparableWriter},
	{"much-output", "RU5", needRun, runMuchOutput},
	{"input", "RU6", needRun, runInput},
	{"no-input", "RU6", needRun, runNoInput},
	{"endless-input", "RU6", needRun, runEndlessInput},
	{"unread-input", "RU6", needRun, runUnreadInput},
	{"directory", "RU7", needRun | needWrite, runDirectory},
	{"directory-refused", "RU7 C1 N1 N4 E1 E2 E3 E4", needRun | needWrite, runDirectoryRefused},
	{"directory-symlink", "RU7 Y2 EX2", needRun | needWrite | needSymlink | needExact, runDirectorySymlink},
	{"files", "RU8", needRun | needWrite, runFiles},
	{"environment", "RU9", needRun, runEnvironment},
	{"not-started", "RU10 E1 E2", needRun | needWrite, runNotStarted},
	{"too-long", "RU10 E1 E2", needRun | needWrite, runTooLong},
	{"canceled-before", "C1 E1", needRun | needWrite, runCanceledBefore},
	{"canceled", "C2 RU11", needRun, runCanceled},
	{"background", "RU12", needRun, runBackground},
	{"failing-writer", "RU13", needRun, runFailingWriter},
	{"failing-reader", "RU13", needRun, runFailingReader},
	{"concurrent", "RU4 P1", needRun, runConcurrent},
}

// ran is what became of a command.
type ran struct {
	*workspace.RunResult
	stdout, stderr string
}

// command runs a command, and ends the case if it is not started.
func (e *env) command(opts workspace.RunOptions) ran {
	e.Helper()
	var stdout, stderr bytes.Buffer
	opts.Stdout, opts.Stderr = &stdout, &stderr
	result, err := e.runs(e.ctx, &opts)
	if err != nil || result == nil {
		e.Fatalf("Run(%q) = %+v, %v, want a result", opts.Command, result, err)
	}
	return ran{result, stdout.String(), stderr.String()}
}

// script is command for a script of sh.
func (e *env) script(script string) ran {
	e.Helper()
	return e.command(workspace.RunOptions{Command: sh(script)})
}

// sh returns the command that runs a script.
func sh(script string) []string { return []string{"sh", "-c", script} }

// runs calls Run. The case fails if that does not return. The bound is far
// above what any case takes. Without it a Run that hangs would end the whole
// test binary at its timeout, and no case would have a name to blame.
func (e *env) runs(ctx context.Context, opts *workspace.RunOptions) (*workspace.RunResult, error) {
	e.Helper()
	runner, ok := workspace.As[workspace.Runner](e.fsys)
	if !ok {
		e.Fatalf("the file system declares Run and is no Runner")
	}
	bound := 12 * e.opts.watchWait()
	type answer struct {
		result *workspace.RunResult
		err    error
	}
	answers := make(chan answer, 1)
	go func() {
		result, err := runner.Run(ctx, opts)
		answers <- answer{result, err}
	}()
	late := time.NewTimer(bound)
	defer late.Stop()
	select {
	case a := <-answers:
		return a.result, a.err
	case <-late.C:
		e.Fatalf("Run(%q) does not return", opts.Command)
		return nil, nil
	}
}

// runUndeclared tests that a command runs exactly if that is declared. A
// wrapper that hides the capability must also hide or refuse the method: a
// policy that only stops declaring it would leave every command open to a
// caller who looks for the Runner.
func runUndeclared(e *env) {
	runner, ok := workspace.As[workspace.Runner](e.fsys)
	switch {
	case e.caps.Run && !ok:
		e.Errorf("Capabilities.Run is declared, and there is no Runner")
	case e.caps.Run:
		if got := e.script("exit 3"); got.ExitCode != 3 {
			e.Errorf("Run(exit 3) = %+v, want the code 3", got.RunResult)
		}
	case ok:
		_, err := runner.Run(e.ctx, &workspace.RunOptions{Command: sh("exit 3")})
		kinds := []error{errors.ErrUnsupported, fs.ErrPermission}
		e.refusedAny(err, kinds, at(ops.Run, "."), "Run without Capabilities.Run")
	}
}

// unusualArguments are arguments in which a shell would see more than text.
// Each breaks another way of quoting: an empty one is lost when words are
// joined with spaces, "-n" and "--" are read as options, "a\nb" is changed by
// an echo that interprets escapes, and bytes that are no UTF-8 do not pass
// through JSON. The last one is longer than a pipe's atomic write.
func unusualArguments() []string {
	return []string{"", " ", "a b", "a  b ", "\t", "\n", "a\nb\n", "'", `"`, `a'b"c`, `\`, `a\nb`, "$HOME", "$(echo x)", "`echo x`", "*", "?", "[a]", "~",
		"-n", "--", "-", "=", "A=B", ";", "&", "|", "a > b", "#a", "!", "{a,b}", "é", "\xff\xfe", "\x01\x7f", strings.Repeat("long ", 5000)}
}

// runArguments tests that arguments arrive byte for byte. The second command
// has no shell of its own, so a shell that the provider puts around it shows in
// its output. A model writes file names with spaces and quotes into commands,
// and must not have to guess how often they are read.
func runArguments(e *env) {
	args := unusualArguments()
	got := e.command(workspace.RunOptions{Command: append([]string{"sh", "-c", `for a; do printf '%s|' "$a"; done`, "sh"}, args...)})
	if want := strings.Join(args, "|") + "|"; got.stdout != want {
		e.Errorf("Run writes its arguments as %s, want %s", compare.Brief(got.stdout), compare.Brief(want))
	}
	if got := e.command(workspace.RunOptions{Command: []string{"printf", "%s", "a  'b'\n"}}); got.stdout != "a  'b'\n" {
		e.Errorf("Run(printf) writes %q, want its argument", got.stdout)
	}
}

// runExitCodes tests that a command that fails is a result. 126, 127 and 137
// are what a shell returns for a program that it could not start, or that was
// killed. A provider that runs commands through a shell must not confuse these
// with a command that returns them itself. A test that fails is what an agent
// runs commands for: as an error, its output would be lost.
func runExitCodes(e *env) {
	for _, code := range []int{0, 1, 2, 42, 126, 127, 128, 137, 255} {
		got := e.script(fmt.Sprintf("exit %d", code))
		if got.ExitCode != code || got.Signal != "" || got.Duration <= 0 {
			e.Errorf("Run(exit %d) = %+v, want this code, no signal and a duration", code, got.RunResult)
		}
	}
}

// runSignals tests that a signal that ends a command is named. A provider that
// reports 128 and the number of the signal, as a shell does, hides from an
// agent that its build ran out of memory.
func runSignals(e *env) {
	// Not HUP, which nohup ignores for all that it starts.
	for _, signal := range []string{"KILL", "TERM", "USR1", "SEGV"} {
		got := e.script("kill -" + signal + " $$")
		if got.ExitCode != -1 || got.Signal != signal {
			e.Errorf("Run(kill -%s $$) = %+v, want the code -1 and the signal", signal, got.RunResult)
		}
	}
}

// runStreamsApart tests that the outputs are not mixed, and need not be wanted.
// NUL and 0xff are in what is written, because an engine that puts both streams
// into one connection frames them, and a wrong frame shows as lost or mixed
// bytes. Without writers the output must still be read, or a command with much
// of it would wait for ever.
func runStreamsApart(e *env) {
	got := e.script("echo out; echo err >&2; printf 'o\\0\\377'; printf 'e\\n\\n' >&2")
	if got.stdout != "out\no\x00\xff" || got.stderr != "err\ne\n\n" {
		e.Errorf("Run writes %q and %q, want %q and %q", got.stdout, got.stderr, "out\no\x00\xff", "err\ne\n\n")
	}
	result, err := e.runs(e.ctx, &workspace.RunOptions{Command: sh("echo out; echo err >&2; exit 4")})
	if err != nil || result.ExitCode != 4 {
		e.Errorf("Run without writers = %+v, %v, want the code 4", result, err)
	}
}

// runConversation tests that output arrives while the command runs, and so does
// input. The provider that collects output until the end makes both sides wait
// for each other: the command for its answer, and the other side for the
// question.
func runConversation(e *env) {
	stdin, send := io.Pipe()
	receive, stdout := io.Pipe()
	talked := make(chan string, 1)
	go func() {
		var said strings.Builder
		line := make([]byte, 100)
		for _, answer := range []string{"one\n", "two\n"} {
			n, err := receive.Read(line)
			said.Write(line[:n])
			if err != nil {
				break
			}
			_, _ = io.WriteString(send, answer) // a failure shows in what is said
		}
		send.Close()
		rest, _ := io.ReadAll(receive) // as above
		talked <- said.String() + string(rest)
	}()
	result, err := e.runs(e.ctx, &workspace.RunOptions{
		Command: sh(`echo 'name?'; read -r a; echo "more?"; read -r b; echo "$a and $b"; cat`), Stdin: stdin, Stdout: stdout,
	})
	stdout.Close()
	stdin.Close()
	if said, want := <-talked, "name?\nmore?\none and two\n"; err != nil || said != want {
		e.Errorf("a conversation with a command = %+v, %v with %q, want %q", result, err, said, want)
	}
}

// exclusive is a writer that notices two calls at a time.
type exclusive struct {
	busy  sync.Mutex
	twice atomic.Bool
	bytes.Buffer
}

// Write implements [io.Writer].
func (x *exclusive) Write(p []byte) (int, error) {
	if !x.busy.TryLock() {
		x.twice.Store(true)
		return len(p), nil
	}
	defer x.busy.Unlock()
	runtime.Gosched() // for another call to come
	return x.Buffer.Write(p)
}

// runOneWriter tests that one writer can get both outputs. A caller who gives
// one buffer for both, to keep the order of what a model reads, has no lock of
// its own around it.
func runOneWriter(e *env) {
	var both exclusive
	opts := &workspace.RunOptions{Command: sh("for i in 1 2 3 4 5 6 7 8 9; do echo out; echo err >&2; done"), Stdout: &both, Stderr: &both}
	if _, err := e.runs(e.ctx, opts); err != nil || both.twice.Load() || strings.Count(both.String(), "out\n") != 9 || strings.Count(both.String(), "err\n") != 9 {
		e.Errorf("Run with one writer = %v, and it got %q (two calls at a time: %v)", err, &both, both.twice.Load())
	}
}

// uncomparable is a writer whose type can be compared, and whose value panics then.
type uncomparable struct{ io.Writer }

// totals count what is written, in a type that cannot be compared.
type totals []*atomic.Int64

// Write implements [io.Writer]. It may be called by two goroutines.
func (t totals) Write(p []byte) (int, error) {
	for _, total := range t {
		total.Add(int64(len(p)))
	}
	return len(p), nil
}

// runUncomparableWriter tests that both outputs can be one writer that cannot be compared.
func runUncomparableWriter(e *env) {
	var total atomic.Int64
	both := uncomparable{totals{&total}}
	opts := &workspace.RunOptions{Command: sh("echo out; echo err >&2"), Stdout: both, Stderr: both}
	if _, err := e.runs(e.ctx, opts); err != nil || total.Load() != 8 {
		e.Errorf("Run with one writer that cannot be compared = %v, and it got %d bytes, want 8", err, total.Load())
	}
}

// counting counts what is written, and remembers the last byte.
type counting struct {
	n    int64
	last byte
}

// Write implements [io.Writer].
func (c *counting) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	if len(p) > 0 {
		c.last = p[len(p)-1]
	}
	return len(p), nil
}

// runMuchOutput tests that all output arrives, and is not kept. Both streams
// are filled at the same time: a provider that reads one to its end before the
// other stops as soon as a pipe is full. The last byte of each is written after
// all others, so that a tail that is dropped when the process ends shows.
func runMuchOutput(e *env) {
	size := int64(64 << 20)
	if e.short {
		size = 8 << 20
	}
	var stdout, stderr counting
	script := fmt.Sprintf("head -c %d /dev/zero >&2 & head -c %d /dev/zero; wait; printf x; printf y >&2", size, size)
	result, err := e.runs(e.ctx, &workspace.RunOptions{Command: sh(script), Stdout: &stdout, Stderr: &stderr})
	if err != nil || result.ExitCode != 0 || stdout != (counting{size + 1, 'x'}) || stderr != (counting{size + 1, 'y'}) {
		e.Errorf("Run of what writes %d bytes twice = %+v, %v, and %d and %d bytes arrive", size+1, result, err, stdout.n, stderr.n)
	}
}

// runInput tests that input arrives whole and byte for byte, with its end. The
// last input is 1 MiB, more than a pipe holds by default: it must be written
// while the output is read. An input that ends without a line break must not
// get one.
func runInput(e *env) {
	for _, input := range []string{"", "x", "no line break", "\n\n", "a\x00b\r\n\xff", strings.Repeat("0123456789abcde\n", 1<<16)} {
		got := e.command(workspace.RunOptions{Command: []string{"cat"}, Stdin: strings.NewReader(input)})
		if got.stdout != input {
			e.Errorf("Run(cat) with the input %s writes %s", compare.Brief(input), compare.Brief(got.stdout))
		}
	}
}

// runNoInput tests that a command without Stdin finds the end of its input. One
// that inherits the input of the process waits at a terminal for a person, or
// eats the requests of a server that speaks over its standard input.
func runNoInput(e *env) {
	if got := e.script("cat; echo end"); got.stdout != "end\n" {
		e.Errorf("Run(cat) without Stdin writes %q, want nothing", got.stdout)
	}
}

// runEndlessInput tests that a Read of Stdin that does not return keeps nobody
// waiting. A provider that waits for the goroutine that copies the input would
// return when a user at a terminal types the next line.
func runEndlessInput(e *env) {
	stdin, open := io.Pipe()
	defer open.Close()
	if got := e.command(workspace.RunOptions{Command: sh("echo done"), Stdin: stdin}); got.stdout != "done\n" {
		e.Errorf("Run with an input that does not end writes %q, want %q", got.stdout, "done\n")
	}
}

// zeros is an input that does not end.
type zeros struct{}

// Read implements [io.Reader].
func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// runUnreadInput tests that a command need not read its input. What cannot be
// written any more is an EPIPE to the provider, and no failure of the command.
func runUnreadInput(e *env) {
	got := e.command(workspace.RunOptions{Command: sh("head -c 5; exit 6"), Stdin: zeros{}})
	if got.ExitCode != 6 || got.stdout != "\x00\x00\x00\x00\x00" {
		e.Errorf("Run(head -c 5) with an endless input = %+v and writes %q, want the code 6 and five bytes", got.RunResult, got.stdout)
	}
}

// runDirectory tests where a command begins. The names are those that a "cd" in
// a script mistakes for options, or for the end of its quotes. An agent that
// runs its tests in another directory than it was told reports on the wrong
// code.
func runDirectory(e *env) {
	e.given(files{"here": "root", "dir/here": "dir", "dir/sub dir/here": "sub", "dir/'\"$x/here": "quotes", "-n/here": "flag", "--/here": "dashes"})
	for dir, want := range map[string]string{"": "root", ".": "root", "dir": "dir", "dir/sub dir": "sub", "dir/'\"$x": "quotes", "-n": "flag", "--": "dashes"} {
		got := e.command(workspace.RunOptions{Command: []string{"cat", "here"}, Dir: dir})
		if got.stdout != want {
			e.Errorf("Run(cat here) in %q writes %q, %q, want %q", dir, got.stdout, got.stderr, want)
		}
	}
}

// runDirectoryRefused tests that Run refuses what Ls refuses. The mistake is a
// "cd" whose failure is ignored: the command then runs in the root. The file
// that it would create shows that, even if the error comes afterwards.
func runDirectoryRefused(e *env) {
	e.given(files{"file": "x", "dir/": ""})
	refuses := func(dir string, kind error) {
		e.Helper()
		_, err := e.runs(e.ctx, &workspace.RunOptions{Command: sh(": > ran"), Dir: dir})
		e.refused(err, kind, at(ops.Run, dir), "Run in %q", dir)
	}
	refuses("none", fs.ErrNotExist)
	refuses("dir/none/none", fs.ErrNotExist)
	refuses("file", workspace.ErrNotDir)
	refuses("file/x", workspace.ErrNotDir)
	refuses("a\x00b", fs.ErrInvalid)
	if !e.opts.CleanNames {
		refuses("..", workspace.ErrEscape)
		refuses("/dir", fs.ErrInvalid)
		refuses("dir/", fs.ErrInvalid)
	}
	e.leaves(files{"file": "x", "dir/": ""}, "Run in directories that it refuses")
}

// runDirectorySymlink tests that a symlink is followed, and in the exact view
// is not. A policy that has checked the name of a directory runs the command
// there in the exact view, so that a symlink made meanwhile does not lead it
// somewhere else.
func runDirectorySymlink(e *env) {
	e.given(files{"dir/here": "dir"})
	e.link("dir", "link")
	if got := e.command(workspace.RunOptions{Command: []string{"cat", "here"}, Dir: "link"}); got.stdout != "dir" {
		e.Errorf("Run(cat here) in a symlink writes %q, want %q", got.stdout, "dir")
	}
	view := e.exact()
	_, err := view.runs(e.ctx, &workspace.RunOptions{Command: []string{"cat", "here"}, Dir: "link"})
	e.refused(err, workspace.ErrSymlink, at(ops.Run, "link"), "Run in a symlink, in the exact view")
	if got := view.command(workspace.RunOptions{Command: []string{"cat", "here"}, Dir: "dir"}); got.stdout != "dir" {
		e.Errorf("Run(cat here) in the exact view writes %q, want %q", got.stdout, "dir")
	}
}

// runFiles tests that a command and the file system see the same files. It
// finds a provider that runs commands on a copy of the files, or that holds
// writes back: an agent edits a file and runs its compiler at once.
func runFiles(e *env) {
	e.given(files{"dir/in": "content"})
	e.command(workspace.RunOptions{Command: sh("cat in > out; cat in in > ../top"), Dir: "dir"})
	e.leaves(files{"dir/": "", "dir/in": "content", "dir/out": "content", "top": "contentcontent"}, "Run of what writes files")
	e.write("dir/in", "new")
	if got := e.script("cat dir/in"); got.stdout != "new" {
		e.Errorf("Run(cat) after a write writes %q, want %q", got.stdout, "new")
	}
}

// runEnvironment tests that a command gets the variables that are meant for it,
// and none of this process. An agent's process holds the keys of its model and
// its stores, and a command that a model writes could send them anywhere. The
// variable is set for the whole process and stays set, because T.Setenv refuses
// tests that run in parallel. A is set and empty, which is not the same as
// unset.
func runEnvironment(e *env) {
	const secret = "conformance-secret-of-the-process"
	os.Setenv("CONFORMANCE_SECRET", secret)
	env := map[string]string{"A": "", "B": "two words", "C": "a\nb='\"$x", "PATH_X": "é", "a_1": "=x="}
	got := e.command(workspace.RunOptions{
		Command: sh(`printf '%s|' "${A-unset}" "$B" "$C" "$PATH_X" "$a_1"; env`), Env: env,
	})
	values, rest, _ := strings.Cut(got.stdout, "=x=|")
	if want := "|two words|a\nb='\"$x|é|"; values != want {
		e.Errorf("Run with variables writes %q, want %q", values, want)
	}
	if strings.Contains(rest, secret) {
		e.Errorf("Run shows a variable of this process: %s", compare.Brief(rest))
	}
	path := e.command(workspace.RunOptions{Command: sh(`echo "$PATH"`), Env: map[string]string{"PATH": "/bin:/usr/bin:/x"}})
	if path.stdout != "/bin:/usr/bin:/x\n" {
		e.Errorf("Run with a PATH shows the PATH %q, want it", path.stdout)
	}
	elsewhere := e.command(workspace.RunOptions{Command: []string{"/bin/sh", "-c", "echo ran"}, Env: map[string]string{"PATH": "/none", "a.b": "x"}})
	if elsewhere.stdout != "ran\n" {
		e.Errorf("Run with a PATH without programs and a variable that is no name for a shell = %+v, and writes %q", elsewhere.RunResult, elsewhere.stderr)
	}
}

// runNotStarted tests the errors of a command that cannot be started. A
// provider that gives these to a shell gets other answers: "cd" is a builtin
// there, "A=B" an assignment, and "-x" an option. A missing program is the
// error that a model can do something about, by its name; as the code 127 it
// could not be told from a script that returns that.
func runNotStarted(e *env) {
	e.given(files{"file": "no program", "dir/": ""})
	for _, test := range []struct {
		command []string
		kind    error
		path    string
	}{
		{nil, fs.ErrInvalid, "."},
		{[]string{""}, fs.ErrInvalid, "."},
		{[]string{"sh", "a\x00b"}, fs.ErrInvalid, "."},
		{[]string{"no-such-program", "x"}, fs.ErrNotExist, "no-such-program"},
		{[]string{"cd", "x"}, fs.ErrNotExist, "cd"},
		{[]string{"./none"}, fs.ErrNotExist, "./none"},
		{[]string{"A=B"}, fs.ErrNotExist, "A=B"},
		{[]string{"-x"}, fs.ErrNotExist, "-x"},
		{[]string{"./file"}, fs.ErrPermission, "./file"},
		{[]string{"./dir"}, fs.ErrPermission, "./dir"},
	} {
		_, err := e.runs(e.ctx, &workspace.RunOptions{Command: test.command})
		e.refused(err, test.kind, at(ops.Run, test.path), "Run(%q)", test.command)
	}
	for _, name := range []string{"A=B", "WORKSPACEKIT_RUN"} {
		_, err := e.runs(e.ctx, &workspace.RunOptions{Command: sh("exit"), Env: map[string]string{name: "x"}})
		e.refused(err, fs.ErrInvalid, at(ops.Run, "."), "Run with the variable %q", name)
	}
	root := strings.TrimSuffix(e.script("pwd").stdout, "\n")
	_, err := e.runs(e.ctx, &workspace.RunOptions{Command: []string{"file"}, Env: map[string]string{"PATH": "/none:" + root}})
	e.refused(err, fs.ErrPermission, at(ops.Run, "file"), "Run(file) with a PATH where it is no program")
	_, err = e.runs(e.ctx, &workspace.RunOptions{Command: sh("exit"), Env: map[string]string{"PATH": ""}})
	e.refused(err, fs.ErrNotExist, at(ops.Run, "sh"), "Run(sh) with an empty PATH")
}

// runTooLong tests that arguments and variables that no system takes are refused,
// with nothing of the provider's shell in the output: what a shell says of them
// there is what the command would have written, and an error that may be gone at
// the next try makes an agent repeat the call.
func runTooLong(e *env) {
	long := strings.Repeat("x", 7<<20)
	for _, opts := range []workspace.RunOptions{
		{Command: append(sh(": > ran"), long)},
		{Command: sh(": > ran"), Env: map[string]string{"LONG": long}},
	} {
		var output bytes.Buffer
		opts.Stdout, opts.Stderr = &output, &output
		_, err := e.runs(e.ctx, &opts)
		e.refused(err, fs.ErrInvalid, at(ops.Run, "."), "Run with %d arguments and %d variables, one of them too long,", len(opts.Command), len(opts.Env))
		if output.Len() > 0 {
			e.Errorf("Run with something too long writes %s, want nothing", compare.Brief(output.String()))
		}
	}
	e.leaves(files{}, "Run with something too long")
}

// runCanceledBefore tests that nothing is started with an ended context.
func runCanceledBefore(e *env) {
	ctx, cancel := context.WithCancel(e.ctx)
	cancel()
	_, err := e.runs(ctx, &workspace.RunOptions{Command: sh(": > ran")})
	e.refused(err, context.Canceled, at(ops.Run, "."), "Run with an ended context")
	e.leaves(files{}, "Run with an ended context")
}

// survivors returns a script that starts processes which outlive it, unless they are
// killed. Each creates a file, "alive-" and its name, once there is a file "go".
//
// Each escapes another way of finding it:
//
//	child              only a kill of the command alone leaves it
//	grandchild         is no child of the command
//	orphan             its parent has ended, so no chain of parents leads to it
//	silent             has none of the pipes that the provider waits for
//	deaf               ignores the signals that ask it to end
//	without-variables  has no mark in its environment
//	session            is in no process group or session of the command
//	daemon             is an orphan and silent, in a session of its own
func survivors() string {
	loop := func(name string) string { return "'while [ ! -e go ]; do sleep 0.05; done; : > alive-" + name + "'" }
	return strings.Join([]string{
		"sh -c " + loop("child") + " &",
		`sh -c "sh -c ` + loop("grandchild") + ` & echo; sleep 60" >/dev/null &`,
		"( sh -c " + loop("orphan") + " & ) >/dev/null",
		"sh -c " + loop("silent") + " </dev/null >/dev/null 2>&1 &",
		"( trap '' HUP INT TERM; exec sh -c " + loop("deaf") + " ) &",
		`env -i PATH="$PATH" sh -c ` + loop("without-variables") + " &",
		"if command -v setsid >/dev/null; then",
		"setsid sh -c " + loop("session") + " &",
		"( setsid sh -c " + loop("daemon") + " </dev/null >/dev/null 2>&1 & )",
		"fi\n",
	}, "\n")
}

// noSurvivor fails the case if something that survivors has started still runs.
// It gives them eight turns of their loops. The file "go" is made by a command
// as well, in the root, where they have begun.
func (e *env) noSurvivor(what string) {
	e.Helper()
	got := e.script(": > go; sleep 0.4; rm go; for f in alive-*; do [ ! -e $f ] || echo $f; rm -f $f; done")
	if got.stdout != "" {
		e.Errorf("%s was not killed: %q", what, got.stdout)
	}
}

// runCanceled tests that a command is killed when its context ends, with all
// that it has started. The context ends when "begun" has come, so everything
// has been started. The second command ignores the polite signals: a provider
// that waits until they work never returns. A build that goes on after its
// agent was stopped changes files under the user's hands.
func runCanceled(e *env) {
	ctx, cancel := context.WithCancel(e.ctx)
	defer cancel()
	began := writerFunc(func(p []byte) (int, error) {
		if strings.Contains(string(p), "begun") {
			cancel()
		}
		return len(p), nil
	})
	result, err := e.runs(ctx, &workspace.RunOptions{Command: sh(survivors() + "echo begun; sleep 60"), Stdout: began})
	e.refused(err, context.Canceled, at(ops.Run, "."), "Run, canceled on the way,")
	if result != nil {
		e.Errorf("Run, canceled on the way, has the result %+v", result)
	}
	e.noSurvivor("what a canceled command has started")
	expiring, cancel := context.WithTimeout(e.ctx, 300*time.Millisecond)
	defer cancel()
	_, err = e.runs(expiring, &workspace.RunOptions{Command: sh("trap '' HUP INT TERM; while :; do sleep 1; done")})
	e.refused(err, context.DeadlineExceeded, at(ops.Run, "."), "Run with a deadline")
}

// runBackground tests that what a command leaves running is killed when it
// ends, and that nobody waits for it. A provider that waits until the pipes are
// closed waits for a server that was started with "&" as long as that lives;
// one that does not wait leaves it, and the next run finds its port taken.
func runBackground(e *env) {
	if got := e.script(survivors() + "echo begun; exit 5"); got.ExitCode != 5 || !strings.HasSuffix(got.stdout, "begun\n") {
		e.Errorf("Run of what leaves something running = %+v and writes %q, want the code 5", got.RunResult, got.stdout)
	}
	e.noSurvivor("what a command has left running")
}

// errStream is what the streams of cases fail with.
var errStream = errors.New("the stream of the case fails")

// runFailingWriter tests that a command is killed when nobody takes its output.
// A caller who keeps a limited amount of output returns an error once it is
// reached, and a command that prints without end must not run on for nobody. It
// ignores SIGPIPE, which would otherwise end it by chance.
func runFailingWriter(e *env) {
	script := survivors() + "trap '' PIPE; while :; do echo text; echo text >&2; sleep 0.01; done"
	for _, opts := range []workspace.RunOptions{
		{Stdout: writerFunc(func([]byte) (int, error) { return 0, errStream })},
		{Stderr: writerFunc(func([]byte) (int, error) { return 0, errStream })},
	} {
		opts.Command = sh(script)
		_, err := e.runs(e.ctx, &opts)
		e.refused(err, errStream, at(ops.Run, "."), "Run with a writer that fails")
		e.noSurvivor("what a command without readers has started")
	}
}

// runFailingReader tests that a command is killed when its input cannot be
// read. The bytes that came before the failure are no whole input: a command
// that took them as one, such as a patch, would do half of its work and report
// success.
func runFailingReader(e *env) {
	input := io.MultiReader(strings.NewReader("text"), readerFunc(func([]byte) (int, error) { return 0, errStream }))
	_, err := e.runs(e.ctx, &workspace.RunOptions{Command: sh(survivors() + "cat; sleep 60"), Stdin: input})
	e.refused(err, errStream, at(ops.Run, "."), "Run with a reader that fails")
	e.noSurvivor("what a command without input has started")
}

// writerFunc is a function as an [io.Writer].
type writerFunc func(p []byte) (int, error)

// Write implements [io.Writer].
func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// readerFunc is a function as an [io.Reader].
type readerFunc func(p []byte) (int, error)

// Read implements [io.Reader].
func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// runConcurrent tests that commands run side by side, each with its own
// streams, and that one that ends kills no other. A provider that finds what to
// kill by the user or by a mark that all commands share ends the tests of one
// agent with the tests of another.
func runConcurrent(e *env) {
	const commands = 4
	var wg sync.WaitGroup
	for i := range commands {
		wg.Go(func() {
			input := strings.Repeat(fmt.Sprintf("command %d\n", i), 1000)
			var out bytes.Buffer
			result, err := e.runs(e.ctx, &workspace.RunOptions{Command: sh(fmt.Sprintf("sleep 0.%d; cat; exit %d", i, i)), Stdin: strings.NewReader(input), Stdout: &out})
			if err != nil || result.ExitCode != i || out.String() != input {
				e.Errorf("Run beside others = %+v, %v with %d bytes, want the code %d and %d bytes", result, err, out.Len(), i, len(input))
			}
		})
	}
	wg.Wait()
}
