package command_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/providers/localbash/internal/command"
)

// childEnv names the folder and the sandbox of a child that runs a command.
const childEnv = "COMMAND_TEST_CHILD"

func TestMain(m *testing.M) {
	dir, sandbox, ok := strings.Cut(os.Getenv(childEnv), "|")
	if !ok {
		exhaustive.Quicken()
		os.Exit(m.Run())
	}
	if err := beKilled(dir, sandbox); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// beKilled runs commands until it is killed.
func beKilled(dir, sandbox string) error {
	r, err := command.New(dir, command.Settings{Sandbox: sandbox})
	if err != nil {
		return err
	}
	for first := true; ; first = false {
		if _, err := run(context.Background(), r, dir, first || rand.IntN(2) == 0); err != nil {
			return err
		}
		if first {
			fmt.Println(r.Mark(), r.Scratch())
		}
	}
}

// leaving is a script that leaves processes in every way that a program has which keeps
// its environment.
const leaving = `trap '' HUP TERM INT
sleep 1000 &
setsid sleep 1001 &
(setsid sh -c 'trap "" HUP TERM; (sleep 1002 &) & while :; do sleep 1003; done' &)
nohup sh -c 'while :; do sleep 0.01; done' >/dev/null 2>&1 &
`

// run runs the script in dir, and waits for a process if it does not end.
func run(ctx context.Context, r *command.Runner, dir string, ends bool) (command.Result, error) {
	f, err := os.Open(dir)
	if err != nil {
		return command.Result{}, err
	}
	defer f.Close()
	script := leaving
	if !ends {
		script += "wait"
	}
	var out bytes.Buffer
	return r.Run(ctx, command.Command{Args: []string{"sh", "-c", script}, Root: f, Dir: f, Name: ".", Stdout: &out, Stderr: &out})
}

// sandboxes are the settings that differ in how processes are ended. Without bubblewrap,
// the test of the sandbox is skipped.
func sandboxes(t *testing.T, test func(t *testing.T, sandbox string)) {
	for _, sandbox := range []string{command.Require, command.Off} {
		t.Run(sandbox, func(t *testing.T) {
			t.Parallel()
			if sandbox == command.Require {
				exhaustive.Program(t, "bwrap")
			}
			test(t, sandbox)
		})
	}
}

// left returns the processes that belong to commands in dir, which has another path in a
// sandbox. Those of other tests that run at the same time have other marks.
func left(t *testing.T, mark, dir string) []string {
	t.Helper()
	if mark == "" {
		t.Fatal("no command has begun")
	}
	all, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, process := range all {
		env, _ := os.ReadFile(process + "/environ")
		cwd, _ := os.Readlink(process + "/cwd")
		if bytes.Contains(env, []byte(command.MarkName+"="+mark)) || strings.Contains(cwd, filepath.Base(dir)) {
			line, err := os.ReadFile(process + "/cmdline")
			if len(line) == 0 && ending(process) || err != nil {
				continue
			}
			found = append(found, fmt.Sprintf("%s %q", filepath.Base(process), line))
		}
	}
	return found
}

// ending reports whether a process has given back its memory, as one does that ends: it has
// no size.
func ending(process string) bool {
	size, err := os.ReadFile(process + "/statm")
	return err != nil || strings.HasPrefix(string(size), "0 ")
}

// folder returns a new folder that is not in the directory of temporary files of the
// commands.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/var/tmp", "command-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// TestCancel cancels commands at random moments.
func TestCancel(t *testing.T) {
	exhaustive.NotShort(t, "cancels commands at random moments")
	sandboxes(t, func(t *testing.T, sandbox string) {
		dir := folder(t)
		r, err := command.New(dir, command.Settings{Sandbox: sandbox})
		if err != nil {
			t.Fatal(err)
		}
		if result, err := run(t.Context(), r, dir, true); err != nil || result.ExitCode != 0 {
			t.Fatalf("Run = %+v, %v", result, err)
		}
		if found := left(t, r.Mark(), dir); len(found) > 0 {
			t.Errorf("a command that has ended left %q", found)
		}
		seed := rand.Uint64()
		t.Logf("seed %d", seed)
		random := rand.New(rand.NewPCG(seed, 0))
		rounds := exhaustive.Some(t, "140 of 200 cancels", 200, 60)
		if testing.Short() {
			rounds = 40
		}
		for range rounds {
			after := time.Duration(random.IntN(30_000)) * time.Microsecond
			ctx, cancel := context.WithTimeout(t.Context(), after)
			_, err := run(ctx, r, dir, false)
			cancel()
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Fatalf("Run that ends after %v = %v, want DeadlineExceeded", after, err)
			}
			if found := left(t, r.Mark(), dir); len(found) > 0 {
				t.Fatalf("a command that was killed after %v left %q", after, found)
			}
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(r.Scratch()); err == nil {
			t.Error("Close left the home directory")
		}
	})
}

// TestNothingLeft runs commands that end while what they have started is busy, which must not
// write after that.
func TestNothingLeft(t *testing.T) {
	sandboxes(t, func(t *testing.T, sandbox string) {
		dir := folder(t)
		r, f := openRunner(t, dir, sandbox)
		run := func(script string) {
			result, err := r.Run(t.Context(), command.Command{Args: []string{"sh", "-c", script}, Root: f, Dir: f, Name: "."})
			if err != nil || result.ExitCode != 0 {
				t.Fatalf("Run = %+v, %v", result, err)
			}
		}
		size := func() int64 {
			info, err := os.Stat(filepath.Join(dir, "log"))
			if err != nil {
				t.Fatal(err)
			}
			return info.Size()
		}
		for round := range 20 {
			run("sh -c 'while :; do echo x >>log; done' >/dev/null 2>&1 & until [ -s log ]; do :; done")
			before := size()
			run(":") // which takes longer than a write
			if after := size(); after != before {
				t.Fatalf("after command %d had ended, the log grew from %d to %d bytes", round, before, after)
			}
		}
	})
}

// openRunner opens a Runner for the folder dir, and dir itself, until the test ends.
func openRunner(t *testing.T, dir, sandbox string) (*command.Runner, *os.File) {
	t.Helper()
	r, err := command.New(dir, command.Settings{Sandbox: sandbox})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	f, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return r, f
}

// TestSession checks that a program which has cleared its environment, and so has no mark, is
// killed in a process group of its own, as it has not left the session of the command.
func TestSession(t *testing.T) {
	bash := exhaustive.Program(t, "bash") // its jobs have process groups of their own
	sandboxes(t, func(t *testing.T, sandbox string) {
		dir := folder(t)
		r, f := openRunner(t, dir, sandbox)
		const script = `set -m; env -i sleep 1004 & until [ "$(cat /proc/$!/comm)" = sleep ]; do :; done`
		result, err := r.Run(t.Context(), command.Command{Args: []string{bash, "-c", script}, Root: f, Dir: f, Name: "."})
		if err != nil || result.ExitCode != 0 {
			t.Errorf("Run = %+v, %v", result, err)
		}
		if found := left(t, r.Mark(), dir); len(found) > 0 {
			t.Errorf("a command that has ended left %q", found)
			for _, process := range found {
				var pid int
				fmt.Sscan(process, &pid)
				syscall.Kill(pid, syscall.SIGKILL)
			}
		}
	})
}

// TestEscapedWriter checks that Run ends although a process that got away, as it has left the
// session and cleared its environment, writes on: what the command has written before is there.
func TestEscapedWriter(t *testing.T) {
	exhaustive.Program(t, "setsid")
	dir := folder(t)
	r, f := openRunner(t, dir, command.Off)
	t.Cleanup(func() {
		data, err := os.ReadFile(filepath.Join(dir, "pid"))
		if err != nil {
			t.Fatal(err)
		}
		if pid, err := strconv.Atoi(strings.TrimSpace(string(data))); err == nil {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	const script = `setsid env -i sh -c 'echo $$ >pid; while :; do echo x; sleep 0.1; done' &
until [ -s pid ]; do :; done
echo end`
	var out bytes.Buffer
	result, err := r.Run(ctx, command.Command{Args: []string{"sh", "-c", script}, Root: f, Dir: f, Name: ".", Stdout: &out})
	if err != nil || result.ExitCode != 0 || !strings.Contains(out.String(), "end\n") {
		t.Errorf("Run = %+v, %v with the output %q, want the exit code 0 and an end", result, err, &out)
	}
}

// slow is a writer that takes its time.
type slow struct{ bytes.Buffer }

func (s *slow) Write(p []byte) (int, error) {
	<-time.After(100 * time.Millisecond)
	return s.Buffer.Write(p)
}

// TestSlowWriter checks that all that a command has written arrives after its end, too.
func TestSlowWriter(t *testing.T) {
	t.Parallel()
	sandboxes(t, func(t *testing.T, sandbox string) {
		r, f := openRunner(t, folder(t), sandbox)
		var out slow
		_, err := r.Run(t.Context(), command.Command{
			Args: []string{"sh", "-c", "echo begin; head -c 200000 /dev/zero; echo end"}, Root: f, Dir: f, Name: ".", Stdout: &out,
		})
		if want := "begin\n" + strings.Repeat("\x00", 200_000) + "end\n"; err != nil || out.String() != want {
			t.Errorf("Run = %v, and %d bytes arrive, want %d", err, out.Len(), len(want))
		}
	})
}

// TestClose closes a Runner with commands that run.
func TestClose(t *testing.T) {
	sandboxes(t, func(t *testing.T, sandbox string) {
		dir := folder(t)
		r, err := command.New(dir, command.Settings{Sandbox: sandbox})
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan error)
		for range 3 {
			go func() {
				_, err := run(context.Background(), r, dir, false)
				ended <- err
			}()
		}
		for r.Mark() == "" || len(left(t, r.Mark(), dir)) < 3 {
			<-time.After(time.Millisecond)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if found := left(t, r.Mark(), dir); len(found) > 0 {
			t.Errorf("Close left %q", found)
		}
		for range 3 {
			if err := <-ended; !errors.Is(err, os.ErrClosed) {
				t.Errorf("Run that was closed = %v", err)
			}
		}
		if _, err := run(t.Context(), r, dir, true); !errors.Is(err, os.ErrClosed) {
			t.Errorf("Run after Close = %v", err)
		}
	})
}

// TestKill kills the process that runs commands, at random moments.
func TestKill(t *testing.T) {
	exhaustive.NotShort(t, "kills programs at random moments")
	rounds := exhaustive.Some(t, "20 of 25 kills", 25, 5)
	sandboxes(t, func(t *testing.T, sandbox string) {
		seed := rand.Uint64()
		t.Logf("seed %d", seed)
		random := rand.New(rand.NewPCG(seed, 0))
		dir := folder(t)
		for range rounds {
			after := time.Duration(random.IntN(60_000)) * time.Microsecond
			mark, scratch := killChild(t, dir, sandbox, after)
			deadline := time.Now().Add(20 * time.Second)
			for {
				found := left(t, mark, dir)
				if _, err := os.Stat(scratch); err != nil && len(found) == 0 {
					break
				}
				if time.Now().After(deadline) {
					t.Fatalf("killed after %v, the process left %q and %s", after, found, scratch)
				}
				<-time.After(time.Millisecond)
			}
		}
	})
}

// killChild kills a child some time after its first command has ended.
func killChild(t *testing.T, dir, sandbox string, after time.Duration) (mark, scratch string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+dir+"|"+sandbox)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	<-time.After(after)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	mark, scratch, _ = strings.Cut(strings.TrimSpace(line), " ")
	return mark, scratch
}

// TestEndWhileSlow tests that what a command has left is killed even where a look at all
// processes takes longer than the time for it: the time is over before the first one.
func TestEndWhileSlow(t *testing.T) {
	t.Parallel()
	const mark = "slow.1."
	cmd := exec.Command("sh", "-c", "sleep 1004 & echo begun; wait")
	cmd.Env = append(os.Environ(), command.MarkName+"="+mark)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	lines := bufio.NewReader(out)
	if _, err := lines.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	// They may take long to end on a busy machine.
	if err := command.KillMarked(mark, time.Now()); err != nil && !errors.Is(err, command.ErrRemain) {
		t.Errorf("KillMarked = %v, want nil or ErrRemain", err)
	}
	if err := out.(*os.File).SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := lines.ReadByte(); err != io.EOF { // both have the pipe until they end
		t.Errorf("after KillMarked, the output has not ended: %v", err)
	}
	_ = cmd.Wait()
	if found := left(t, mark, folder(t)); len(found) > 0 {
		t.Errorf("KillMarked left %q", found)
	}
}

// TestInherited checks that a command gets no descriptor of this process's parent.
func TestInherited(t *testing.T) {
	dir := folder(t)
	fd, err := syscall.Open(dir, syscall.O_RDONLY|syscall.O_DIRECTORY, 0) // without O_CLOEXEC
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd)
	sandboxes(t, func(t *testing.T, sandbox string) {
		r, f := openRunner(t, dir, sandbox)
		var out bytes.Buffer
		_, err = r.Run(t.Context(), command.Command{
			Args: []string{"ls", "/proc/self/fd"}, Root: f, Dir: f, Name: ".", Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out,
		})
		if got := strings.Fields(out.String()); err != nil || strings.Join(got, " ") != "0 1 2 3" { // 3 is the listing
			t.Errorf("a command has the descriptors %v, %v (one of this process is %s)", got, err, strconv.Itoa(fd))
		}
	})
}

// TestPathWithoutPrograms checks that the keeper removes the home directory, for which it
// needs programs, if PATH leads to none.
func TestPathWithoutPrograms(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	dir := folder(t)
	r, err := command.New(dir, command.Settings{Sandbox: command.Off})
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := r.Run(t.Context(), command.Command{Args: []string{"/bin/true"}, Root: f, Dir: f, Name: "."}); err != nil {
		t.Fatal(err)
	}
	scratch := r.Scratch()
	if err := r.Close(); err != nil {
		t.Errorf("Close = %v", err)
	}
	if _, err := os.Stat(scratch); !os.IsNotExist(err) {
		os.RemoveAll(scratch)
		t.Errorf("Stat of the directory of commands after Close = %v, want that it does not exist", err)
	}
}
