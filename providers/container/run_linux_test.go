package container_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/workspacekit/workspacekit/conformance"
	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/providers/container"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
)

// TestRunConformance runs the cases for commands, each in an FS of its own: a directory of
// another one would run none.
func TestRunConformance(t *testing.T) {
	in(t, places(), func(t *testing.T, r *running) {
		only := []string{"Run/signals", "Run/environment", "Run/canceled", "Run/background"}
		switch {
		case r.name == "docker-busybox" && exhaustive.IsLong() || exhaustive.On():
			only = []string{"Run"}
		default:
			only = append(only, "Run/arguments", "Run/not-started", "Run/too-long")
		}
		conformance.Run(t, func(t *testing.T) workspace.FileSystem { return r.open(t) },
			&conformance.Options{Symlink: r.symlink, Short: true, Only: only})
	})
}

// TestSignalWithoutName ends a command by a signal that kill of dash has no name for.
func TestSignalWithoutName(t *testing.T) {
	inImages(t, func(t *testing.T, r *running) {
		got, err := r.open(t).Run(t.Context(), &workspace.RunOptions{Command: []string{"sh", "-c", "kill -16 $$"}})
		if err != nil || got.ExitCode != -1 || got.Signal != "STKFLT" {
			t.Errorf("Run(kill -16 $$) = %+v, %v, want the code -1 and the signal STKFLT", got, err)
		}
	})
}

// slowWriter is a writer whose first Write takes long.
type slowWriter struct {
	bytes.Buffer
	pause time.Duration
}

func (b *slowWriter) Write(p []byte) (int, error) {
	time.Sleep(b.pause)
	b.pause = 0
	return b.Buffer.Write(p)
}

// TestRunBusyWriter checks that all output reaches a writer that is busy for longer than a
// pipe that is left open is waited for, and that one which is left open is not.
func TestRunBusyWriter(t *testing.T) {
	exhaustive.Long(t)
	in(t, places()[:2], func(t *testing.T, r *running) {
		f := r.open(t)
		for _, test := range []struct {
			script string
			want   int
		}{
			{"head -c 60000 /dev/zero", 60000},
			{"head -c 60000 /dev/zero; printf x; env -i setsid sleep 17 &", 60001},
		} {
			out := slowWriter{pause: 7 * time.Second}
			began := time.Now()
			_, err := f.Run(t.Context(), &workspace.RunOptions{Command: []string{"sh", "-c", test.script}, Stdout: &out})
			if err != nil || out.Len() != test.want || time.Since(began) > 15*time.Second {
				t.Errorf("Run(%s) = %v after %v, and %d bytes arrive, want %d", test.script, err, time.Since(began), out.Len(), test.want)
			}
		}
	})
}

// TestRunFullOutput has a command that makes its outputs fail while they are full, and ends when
// they are. The shell, which has them, too, waits for room, wherever the command looks for programs.
func TestRunFullOutput(t *testing.T) {
	t.Parallel()
	f := open(t, &container.Options{Executor: container.Command{}, Root: t.TempDir()})
	perl := exhaustive.Program(t, "perl")
	for _, output := range []string{"STDOUT", "STDERR"} {
		t.Run(output, func(t *testing.T) {
			t.Parallel()
			input, begin := io.Pipe()
			var out bytes.Buffer
			busy := writerFunc(func(p []byte) (int, error) {
				if out.Len() == 0 {
					begin.Close()
					time.Sleep(700 * time.Millisecond)
				}
				return out.Write(p)
			})
			opts := workspace.RunOptions{
				Command: []string{perl, "-MFcntl", "-e", strings.ReplaceAll(`syswrite(OUT, "x"); <STDIN>; fcntl(OUT, F_SETFL, O_NONBLOCK|O_WRONLY);
for $n (4096, 1) { for (1..1000) { last unless syswrite(OUT, "x" x $n) } } exit 7`, "OUT", output)},
				Env:   map[string]string{"PATH": "/missing"},
				Stdin: input, Stdout: busy,
			}
			if output == "STDERR" {
				opts.Stdout, opts.Stderr = nil, busy
			}
			got, err := f.Run(t.Context(), &opts)
			if err != nil || got.ExitCode != 7 || strings.Trim(out.String(), "x") != "" {
				t.Errorf("Run = %+v, %v, and writes %.200q", got, err, strings.Trim(out.String(), "x"))
			}
		})
	}
}

// TestRunStalledOutput has an engine's client that is slow to pass on the last of the output.
func TestRunStalledOutput(t *testing.T) {
	exhaustive.Long(t)
	t.Parallel()
	const client = `case "$*" in
*WORKSPACEKIT_RUN=*) "$@" | { dd bs=1 count=1000 2>/dev/null; sleep 8; cat; } ;;
*) exec "$@" ;;
esac`
	f := open(t, &container.Options{Executor: container.Command{"sh", "-c", client, "sh"}, Root: t.TempDir()})
	var out bytes.Buffer
	got, err := f.Run(t.Context(), &workspace.RunOptions{Command: []string{"head", "-c", "48894", "/dev/zero"}, Stdout: &out})
	if !errors.Is(err, workspace.ErrUnavailable) || out.Len() > 1000 {
		t.Errorf("Run = %+v, %v, and %d bytes arrive, want %v", got, err, out.Len(), workspace.ErrUnavailable)
	}
}

// TestRunDialogue talks to a command that answers without a line break.
func TestRunDialogue(t *testing.T) {
	t.Parallel()
	f := open(t, &container.Options{Executor: container.Command{}, Root: t.TempDir()})
	for _, script := range []string{"exec cat", "exec cat >&2"} {
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			asks, ask := io.Pipe()
			reply, replies := io.Pipe()
			ended := make(chan error, 1)
			go func() {
				_, err := f.Run(t.Context(), &workspace.RunOptions{Command: []string{"sh", "-c", script}, Stdin: asks, Stdout: replies, Stderr: replies})
				replies.CloseWithError(io.ErrUnexpectedEOF)
				ended <- err
			}()
			late := time.AfterFunc(20*time.Second, func() { replies.CloseWithError(context.DeadlineExceeded) })
			defer late.Stop()
			for one := range byte(128) {
				if _, err := ask.Write([]byte{one}); err != nil {
					t.Fatal(err)
				}
				got := []byte{0}
				if _, err := io.ReadFull(reply, got); err != nil || got[0] != one {
					t.Fatalf("the reply to %q is %q, %v", one, got, err)
				}
			}
			ask.Close()
			if err := <-ended; err != nil {
				t.Errorf("Run(%s) = %v, want nil", script, err)
			}
		})
	}
}

// TestRunLostWithoutEnd has an engine's client that does not end when what it has started was killed.
func TestRunLostWithoutEnd(t *testing.T) {
	exhaustive.Long(t)
	t.Parallel()
	const client = `case "$*" in
*WORKSPACEKIT_RUN=*) "$@"; exec sleep 1000 </dev/null >/dev/null 2>&1 ;;
*) exec "$@" ;;
esac`
	f := open(t, &container.Options{Executor: container.Command{"sh", "-c", client, "sh"}, Root: t.TempDir()})
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	const script = `read -r _ _ _ shell _ <"/proc/$PPID/stat"; kill -9 "$shell"`
	if got, err := f.Run(ctx, &workspace.RunOptions{Command: []string{"sh", "-c", script}}); !errors.Is(err, workspace.ErrUnavailable) {
		t.Errorf("Run = %+v, %v, want %v", got, err, workspace.ErrUnavailable)
	}
}

// lasting returns a script of processes that last, as children and in other sessions. Each
// has the number of r in its arguments.
func (r *running) lasting() string {
	sleep := "sleep 1000." + r.number
	return sleep + " & ( " + sleep + " & ); setsid " + sleep + " & ( setsid " + sleep + " </dev/null >/dev/null 2>&1 & ); echo begun; " + sleep
}

// lasts returns the processes that lasting has started.
func (r *running) lasts(t *testing.T) string {
	t.Helper()
	return r.run(t, "sh", "-c", `grep -l -s -e "10[0]0.$1" /proc/[0-9]*/cmdline || :`, "sh", r.number[:len(r.number)-1]+"["+r.number[len(r.number)-1:]+"]")
}

// TestRunCancels cancels commands at random moments. When Run returns, none of their
// processes runs.
func TestRunCancels(t *testing.T) {
	exhaustive.Long(t)
	inPlaces(t, func(t *testing.T, r *running) {
		cancels := 20
		if exhaustive.On() {
			cancels = 200
		}
		f := r.open(t)
		const workers = 5
		var wg sync.WaitGroup
		for range workers {
			wg.Go(func() {
				for range cancels / workers {
					ctx, cancel := context.WithTimeout(t.Context(), rand.N(400*time.Millisecond))
					_, err := f.Run(ctx, &workspace.RunOptions{Command: []string{"sh", "-c", r.lasting()}})
					cancel()
					if !errors.Is(err, context.DeadlineExceeded) {
						t.Errorf("Run = %v, want %v", err, context.DeadlineExceeded)
					}
				}
			})
		}
		wg.Wait()
		if left := r.lasts(t); left != "" {
			t.Errorf("after %d cancels, these are left: %s", cancels, left)
		}
	})
}

// TestRunBesideCanceled runs a command beside others that are canceled at random moments. It
// lasts until they have ended.
func TestRunBesideCanceled(t *testing.T) {
	exhaustive.Long(t)
	inPlaces(t, func(t *testing.T, r *running) {
		f := r.open(t)
		const canceled, callers = 40, 5
		var wg sync.WaitGroup
		defer wg.Wait()
		input, end := io.Pipe()
		defer end.Close()
		wg.Go(func() {
			got, err := f.Run(t.Context(), &workspace.RunOptions{Command: []string{"cat"}, Stdin: input})
			if err != nil || got.ExitCode != 0 {
				t.Errorf("Run(cat) beside commands that are canceled = %+v, %v, want the code 0", got, err)
			}
			input.CloseWithError(errors.New("the command has ended"))
		})
		if _, err := io.WriteString(end, "begun"); err != nil {
			t.Fatal(err)
		}
		var others sync.WaitGroup
		for range callers {
			others.Go(func() {
				for range canceled / callers {
					ctx, cancel := context.WithTimeout(t.Context(), rand.N(400*time.Millisecond))
					_, _ = f.Run(ctx, &workspace.RunOptions{Command: []string{"sleep", "1000"}})
					cancel()
				}
			})
		}
		others.Wait()
		if _, err := io.WriteString(end, "ends"); err != nil {
			t.Error(err)
		}
	})
}

// TestRunWithoutRoom cancels commands that have started as many processes as there may be: to
// find them, too, takes a process.
func TestRunWithoutRoom(t *testing.T) {
	in(t, places()[1:3], func(t *testing.T, r *running) {
		f := r.create(t, container.CreateOptions{PIDs: 60}).files
		commands := [][]string{{"sh", "-c", "(while :; do sleep 300 & done); while :; do :; done"}}
		if r.name == "docker-debian" { // bash goes on when it cannot start a process
			commands = append(commands, []string{"bash", "-c", "while :; do sleep 300 & done"}, []string{"bash", "-m", "-c", "while :; do sleep 300 & done"})
		}
		for _, command := range commands {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			_, err := f.Run(ctx, &workspace.RunOptions{Command: command})
			cancel()
			if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, workspace.ErrUnavailable) {
				t.Errorf("Run(%q) = %v, want %v alone", command, err, context.DeadlineExceeded)
			}
			if left := r.client(t, "top", f.Container()); strings.Contains(left, "sleep 300") {
				t.Errorf("after Run(%q), these are left: %s", command, left)
			}
			if got, err := f.Run(t.Context(), &workspace.RunOptions{Command: []string{"true"}}); err != nil || got.ExitCode != 0 {
				t.Errorf("Run(true) after Run(%q) = %+v, %v, want the code 0", command, got, err)
			}
		}
	})
}

// TestRunClose closes an FS while commands run.
func TestRunClose(t *testing.T) {
	inPlaces(t, func(t *testing.T, r *running) {
		f := r.open(t)
		began := make(chan struct{}, 1)
		ended := make(chan error, 1)
		go func() {
			_, err := f.Run(t.Context(), &workspace.RunOptions{
				Command: []string{"sh", "-c", r.lasting()},
				Stdout:  writerFunc(func(p []byte) (int, error) { began <- struct{}{}; return len(p), nil }),
			})
			ended <- err
		}()
		<-began
		if r.lasts(t) == "" {
			t.Error("no process of the command is found")
		}
		if err := f.Close(); err != nil {
			t.Errorf("Close() = %v, want nil", err)
		}
		if left := r.lasts(t); left != "" {
			t.Errorf("after Close, these are left: %s", left)
		}
		if err := <-ended; !errors.Is(err, os.ErrClosed) {
			t.Errorf("Run of a closed FS = %v, want %v", err, os.ErrClosed)
		}
	})
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// TestRunKilledOwner kills a process whose commands run, or begin to run.
func TestRunKilledOwner(t *testing.T) {
	inPlaces(t, func(t *testing.T, r *running) {
		opts := r.options(t)
		kills := 3
		if exhaustive.On() {
			kills = 20
		}
		for i := range kills {
			cmd := exec.Command(os.Args[0], "-test.run=^TestRunOwner$")
			cmd.Env = append(os.Environ(), "WORKSPACEKIT_TEST_RUNS="+strings.Join(append([]string{opts.Root, opts.Container, r.lasting()}, opts.Engine...), "\n"))
			said, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			words := make([]byte, 100)
			n, err := said.Read(words)
			for i == 0 && err == nil && !strings.Contains(string(words[:n]), "begun") { // else it is killed at any moment
				n, err = said.Read(words)
			}
			if err != nil {
				t.Errorf("the owner says %q, %v", words[:n], err)
			}
			if i > 0 {
				time.Sleep(rand.N(400 * time.Millisecond)) // a moment at random
			}
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait() // it was killed
		}
		eventually(t, "something is left", func() error {
			if left := r.lasts(t); left != "" {
				return fmt.Errorf("these are left: %s", left)
			}
			return nil
		})
	})
}

// TestRunOwner is the process that TestRunKilledOwner kills.
func TestRunOwner(t *testing.T) {
	env := os.Getenv("WORKSPACEKIT_TEST_RUNS")
	if env == "" {
		return
	}
	words := strings.Split(env, "\n")
	opts := &container.Options{Root: words[0], Container: words[1], Engine: words[3:]}
	if opts.Container == "" {
		opts.Executor, opts.Engine = container.Command{}, nil
	}
	f := open(t, opts)
	fmt.Println("open")
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			_, err := f.Run(t.Context(), &workspace.RunOptions{Command: []string{"sh", "-c", words[2]}, Stdout: os.Stdout})
			t.Errorf("Run = %v, want to be killed", err)
		})
	}
	wg.Wait()
}

// TestRunEnvironment checks that a hostile environment of the image changes nothing, and
// that the variables of the options reach commands.
func TestRunEnvironment(t *testing.T) {
	in(t, exhaustive.Some(t, "Debian and Podman", places()[1:], places()[1:2]), func(t *testing.T, r *running) {
		f := open(t, &container.Options{
			Engine: r.engineArgs, Image: r.imageName(),
			Create: container.CreateOptions{Workdir: "/w", Env: map[string]string{
				"GIVEN": "by the options", "ENV": "/w/evil", "PWD": "/evil", "IFS": "x", "HOME": "/the/home",
			}},
		})
		var out bytes.Buffer
		result, err := f.Run(t.Context(), &workspace.RunOptions{Command: []string{"sh", "-c", `echo "$GIVEN|$HOME|$PWD|$MORE"`}, Env: map[string]string{"MORE": "m"}, Stdout: &out})
		if err != nil || out.String() != "by the options|/the/home|/w|m\n" {
			t.Errorf("Run = %+v, %v and writes %q", result, err, &out)
		}
		out.Reset()
		if _, err := f.Run(t.Context(), &workspace.RunOptions{Command: []string{"cat", "/proc/self/environ"}, Env: map[string]string{"GIVEN": "by the call"}, Stdout: &out}); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"GIVEN=by the call", "ENV=/w/evil", "PWD=/evil", "IFS=x", "HOME=/the/home"} {
			if !slices.Contains(strings.Split(out.String(), "\x00"), want) {
				t.Errorf("the variable %s is not in the environment %q", want, &out)
			}
		}
		out.Reset()
		odd := map[string]string{"--split-string": "touch evil", "-i": "", "not-a-name": "it's\n$HOME", "1": "digit", "IFS": "s", "OPTIND": "o", "PWD": "/nowhere", "SHLVL": "7", "A": "a"}
		if _, err := f.Run(t.Context(), &workspace.RunOptions{Command: []string{"cat", "/proc/self/environ"}, Env: odd, Stdout: &out}); err != nil {
			t.Fatal(err)
		}
		for name, value := range odd {
			if !slices.Contains(strings.Split(out.String(), "\x00"), name+"="+value) {
				t.Errorf("the variable %s=%q is not in the environment %q", name, value, &out)
			}
		}
	})
}

// TestRunByBash runs commands where /bin/sh is bash, which warns of a missing locale and
// changes variables of its own.
func TestRunByBash(t *testing.T) {
	inOwn(t, places()[2:3], func(t *testing.T, r *running) {
		r.client(t, "exec", r.container, "ln", "-s", "-f", "bash", "/bin/sh")
		f := open(t, &container.Options{Engine: r.engineArgs, Image: r.commit(t, "ENV LC_ALL=xx_XX.UTF-8")})
		for _, code := range []int{0, 137, 139, 255} {
			var errs bytes.Buffer
			got, err := f.Run(t.Context(), &workspace.RunOptions{Command: []string{"perl", "-e", fmt.Sprintf("exit %d", code)}, Env: map[string]string{"PERL_BADLANG": "0"}, Stderr: &errs})
			if err != nil || got.ExitCode != code || errs.Len() > 0 {
				t.Errorf("Run(exit %d) = %+v, %v, and writes %q", code, got, err, &errs)
			}
		}
		var out bytes.Buffer
		env := map[string]string{"POSIXLY_CORRECT": "x", "RANDOM": "r", "PS4": "p", "LINENO": "l", "BASH_VERSION": "b", "LC_ALL": "yy"}
		if _, err := f.Run(t.Context(), &workspace.RunOptions{Command: []string{"cat", "/proc/self/environ"}, Env: env, Stdout: &out}); err != nil {
			t.Fatal(err)
		}
		for name, value := range env {
			if !slices.Contains(strings.Split(out.String(), "\x00"), name+"="+value) {
				t.Errorf("the variable %s=%q is not in the environment %q", name, value, &out)
			}
		}
	})
}

// TestRunNames runs programs whose names mean something else to a shell or to env.
func TestRunNames(t *testing.T) {
	in(t, exhaustive.Some(t, "Debian and Podman", places(), places()[:2]), func(t *testing.T, r *running) {
		f := r.open(t)
		run := func(env map[string]string, command ...string) (string, error) {
			var out, errs bytes.Buffer
			_, err := f.Run(t.Context(), &workspace.RunOptions{Command: command, Env: env, Stdout: &out, Stderr: &errs})
			return out.String() + errs.String(), err
		}
		root, err := run(nil, "sh", "-c", `for p in -dash A=B "two words"; do printf '#!/bin/sh\necho "$1"\n' >"./$p"; chmod 755 "./$p"; done; printf %s "$PWD"`)
		if err != nil {
			t.Fatal(err)
		}
		for _, program := range []string{"-dash", "A=B", "two words"} {
			for _, env := range []map[string]string{{"PATH": root}, {"PATH": root, "not-a-name": "x"}} {
				if out, err := run(env, program, "-x"); err != nil || out != "-x\n" {
					t.Errorf("Run(%q) with %v = %v and writes %q", program, env, err, out)
				}
			}
		}
	})
}

// TestRunTool runs commands in containers through the tools of a model.
func TestRunTool(t *testing.T) {
	inPlaces(t, func(t *testing.T, r *running) {
		set, err := tools.New(workspace.New("main", r.open(t), nil), &tools.Options{Naming: "{op}", Run: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, call := range []struct{ op, args, want string }{
			{"write_file", `{"path": "d/a.txt", "content": "one\n"}`, ""},
			{"run", `{"command": "cat a.txt; echo err >&2; cat a.txt; exit 3", "dir": "d"}`, "one\nerr\none\n[exit code 3]"},
			{"run", `{"command": "echo begun; sleep 1000", "background": true}`, "[runs in the background, id 2]"},
			{"processes", `{"action": "kill", "id": "2"}`, "2 killed"},
		} {
			result, err := set.Call(t.Context(), call.op, json.RawMessage(call.args))
			if err != nil || result.IsError || !strings.Contains(result.Text, call.want) {
				t.Errorf("%s(%s) = %+v, %v, want %q", call.op, call.args, result, err, call.want)
			}
		}
	})
}

// TestRunNamesWithEquals runs programs that env would regard as variables or options, also by
// where they are.
func TestRunNamesWithEquals(t *testing.T) {
	root := t.TempDir()
	shell(t, root, `mkdir a=b ./-i && printf '#!/bin/sh\necho "$0 $1"\n' >a=b/-x && cp a=b/-x a=b/x=y && chmod 755 a=b/* && cp a=b/* ./-i`)
	f := open(t, &container.Options{Executor: container.Command{}, Root: root})
	for _, words := range [][]string{{"-x", "1"}, {"x=y", "1"}, {"./a=b/x=y", "1"}, {"-i/-x", "1"}, {"-i/x=y", "1"}} {
		var out bytes.Buffer
		env := map[string]string{"PATH": root + "/a=b:" + os.Getenv("PATH")}
		result, err := f.Run(t.Context(), &workspace.RunOptions{Command: words, Env: env, Stdout: &out})
		if err != nil || result.ExitCode != 0 || !strings.HasSuffix(out.String(), path.Base(words[0])+" 1\n") {
			t.Errorf("Run(%q) = %+v, %v, and writes %q", words, result, err, &out)
		}
	}
}
