package tools_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/shell/bashtool"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
)

// runner is a machine with commands, which last until they are killed. "flood" writes 4 MiB
// first, "true" ends at once, what "lost" did is not known, and "slow" ends a second after it
// is killed.
type runner struct {
	machine
	running *atomic.Int32
}

func (m runner) Run(ctx context.Context, opts *workspace.RunOptions) (*workspace.RunResult, error) {
	m.running.Add(1)
	defer m.running.Add(-1)
	line := opts.Command[len(opts.Command)-1]
	if strings.HasSuffix(line, "unreachable") {
		return nil, workspace.ErrUnavailable
	}
	if _, err := io.Copy(io.Discard, opts.Stdin); err != nil { // the command has begun
		return nil, err
	}
	for n := 0; strings.Contains(line, "flood") && n < 1000 && ctx.Err() == nil; n++ {
		if _, err := opts.Stdout.Write(make([]byte, 1<<12)); err != nil {
			return nil, err
		}
	}
	if strings.HasSuffix(line, "lost") {
		return nil, workspace.ErrUnavailable
	}
	if !strings.HasSuffix(line, "true") {
		<-ctx.Done()
	}
	if strings.HasSuffix(line, "slow") {
		time.Sleep(time.Second) // of the bubble's clock
	}
	return &workspace.RunResult{}, ctx.Err()
}

// TestLostCommand tests that a command whose end is not known is not just repeated: it may have
// done its work.
func TestLostCommand(t *testing.T) {
	t.Parallel()
	set := newRunSet(t, runner{machine{memory.New(nil)}, new(atomic.Int32)}, &tools.Options{})
	got := call(t, set, "run", object{"command": "lost"})
	if !got.IsError || got.Error.Code != tools.CodeUnavailable || got.Error.Hint != "The command may have done some of its work. Look for that before you run it again." {
		t.Errorf("run of a command that is lost = %+v", got.Error)
	}
}

// TestUnstartedCommand tests that a command that did not begin is not said to have done some of
// its work.
func TestUnstartedCommand(t *testing.T) {
	t.Parallel()
	set := newRunSet(t, runner{machine{memory.New(nil)}, new(atomic.Int32)}, &tools.Options{})
	got := call(t, set, "run", object{"command": "unreachable"})
	if want := "The store does not answer just now. Try the same call again."; !got.IsError || got.Error.Code != tools.CodeUnavailable || got.Error.Hint != want {
		t.Errorf("run of a command that does not begin = %+v, want the hint %q", got.Error, want)
	}
}

// TestLostInBackground tests that a command in the background that ends without a result is
// an error if it does at once, and is not said to have been killed.
func TestLostInBackground(t *testing.T) {
	t.Parallel()
	for range 100 {
		set := newRunSet(t, runner{machine{memory.New(nil)}, new(atomic.Int32)}, &tools.Options{})
		got := call(t, set, "run", object{"command": "lost", "background": true})
		if !got.IsError && got.Text != "[runs in the background, id 1]" {
			t.Fatalf("run of a command that is lost = %q, want an error, or that it runs", got.Text)
		}
		for got.Text = "running"; strings.Contains(got.Text, "running"); {
			got = call(t, set, "processes", object{})
		}
		if got.Text != "(no commands)" && got.Text != "1 failed (temporarily unavailable), 0 bytes written: lost" {
			t.Fatalf("processes = %q", got.Text)
		}
	}
}

// TestSessionClose closes sessions while they start commands, at random moments. Nothing
// runs then, and nothing can be started.
func TestSessionClose(t *testing.T) {
	t.Parallel()
	m := runner{machine{memory.New(nil)}, new(atomic.Int32)}
	set := newRunSet(t, m, &tools.Options{})
	other := tools.WithSession(t.Context(), tools.NewSession())
	run := func(ctx context.Context, line string, background bool) *tools.Result {
		got, err := set.Call(ctx, "run", json.RawMessage(fmt.Sprintf(`{"command": %q, "background": %t}`, line, background)))
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := run(other, "sleep", true); got.IsError {
		t.Fatalf("run = %+v", got)
	}
	for range exhaustive.Some(t, "180 of 200 sessions", 200, 20) {
		session := tools.NewSession()
		ctx := tools.WithSession(t.Context(), session)
		var wg sync.WaitGroup
		for n := range 10 {
			wg.Go(func() { run(ctx, []string{"sleep", "flood"}[n%2], n%3 > 0) })
		}
		time.Sleep(rand.N(500 * time.Microsecond)) // a moment at random
		session.Close()
		wg.Wait()
		if n := m.running.Load(); n != 1 {
			t.Fatalf("after Close, %d commands run besides the one of another session", n-1)
		}
		if got := run(ctx, "true", false); !got.IsError || got.Error.Retryable || !strings.Contains(got.Text, "the session has ended") || strings.Contains(got.Text, "again") {
			t.Fatalf("run in a session that is closed = %+v", got)
		}
	}
}

// TestRunPreflight tests that the directory is clean, and a mistake in it the error of the
// call.
func TestRunPreflight(t *testing.T) {
	set := newRunSet(t, runner{machine{memory.New(nil)}, new(atomic.Int32)}, &tools.Options{})
	for dir, want := range map[string]string{"": ".", "/": ".", "/d/e/": "d/e"} {
		got, err := preflight(t, set, "run", object{"command": "true", "dir": dir})
		if err != nil || len(got) != 1 || got[0].Path != want {
			t.Errorf("Preflight of run in %q = %+v, %v, want the path %q", dir, got, err, want)
		}
	}
	for _, args := range []object{{"command": "true", "dir": "../d"}, {"command": "true", "background": true, "timeout": 1}} {
		call := call(t, set, "run", args)
		if got, err := preflight(t, set, "run", args); !call.IsError || err == nil || err.Error() != call.Error.Error() {
			t.Errorf("Preflight of run(%v) = %+v, %v, and the call is %s", args, got, err, call.Text)
		}
	}
	for _, action := range []string{"", "list", "output", "kill"} {
		call := call(t, set, "processes", object{"action": action})
		if got, err := preflight(t, set, "processes", object{"action": action}); call.IsError != (err != nil) || err != nil && err.Error() != call.Error.Error() {
			t.Errorf("Preflight of processes %q = %+v, %v, and the call is %s", action, got, err, call.Text)
		}
	}
}

// TestRunTime tests what is said of a command that the time of the call ends, whatever the
// timeout: with "background" it may take longer, if there is such a parameter.
func TestRunTime(t *testing.T) {
	t.Parallel()
	const used = "\n[note: timeout: 600 is above the maximum; used 114]"
	for _, c := range []struct {
		disable []string
		args    object
		want    string
	}{
		{nil, object{"command": "sleep", "timeout": 600}, "[it was killed after 1m54s, the time of one call; with background it may take longer]" + used},
		{nil, object{"command": "sleep"}, "[it was killed after 1m54s, the time of one call; with background it may take longer]"},
		{[]string{"processes"}, object{"command": "sleep", "timeout": 600}, "[it was killed after 1m54s, the time of one call]" + used},
		{nil, object{"command": "sleep", "timeout": 60}, "[it was killed after 1m0s]"},
	} {
		synctest.Test(t, func(t *testing.T) {
			set := newRunSet(t, runner{machine{memory.New(nil)}, new(atomic.Int32)}, &tools.Options{Disable: c.disable})
			if got := call(t, set, "run", c.args).Text; got != c.want {
				t.Errorf("run(%v) without %v = %q, want %q", c.args, c.disable, got, c.want)
			}
		})
	}
}

// TestRunTimeOfSlow tests that a command keeps its output if the time of the call is up before
// it has ended. One that the caller cancels has none.
func TestRunTimeOfSlow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		set := newRunSet(t, runner{machine{memory.New(nil)}, new(atomic.Int32)}, &tools.Options{Timeout: 4 * time.Second})
		got := call(t, set, "run", object{"command": "flood slow"}).Structured
		var out struct{ Stopped, Output, Spilled string }
		if err := json.Unmarshal(got, &out); err != nil || !strings.HasPrefix(out.Stopped, "it was killed after 3.8s, the time of one call") || out.Output == "" || out.Spilled == "" {
			t.Errorf("run of a slow command = %.300s, %v", got, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		unlimited := newRunSet(t, runner{machine{memory.New(nil)}, new(atomic.Int32)}, &tools.Options{Timeout: -1})
		if got, err := unlimited.Call(ctx, "run", json.RawMessage(`{"command": "flood"}`)); err != nil || !strings.Contains(got.Text, "[it was killed after 1.9s, the time of one call") {
			t.Errorf("run without a timeout in a context of 2s = %.100v, %v", got, err)
		}
		ctx, cancel = context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		if _, err := set.Call(ctx, "run", json.RawMessage(`{"command": "slow"}`)); !errors.Is(err, context.Canceled) {
			t.Errorf("run of a slow command that is canceled: %v", err)
		}
	})
}

// late is a machine that takes three seconds until it can do something, as a container that is
// created.
type late struct{ runner }

func (l late) Stat(ctx context.Context, name string) (workspace.FileInfo, error) {
	time.Sleep(3 * time.Second)
	return l.runner.Stat(ctx, name)
}

func (l late) Run(ctx context.Context, opts *workspace.RunOptions) (*workspace.RunResult, error) {
	time.Sleep(3 * time.Second)
	return l.runner.Run(ctx, opts)
}

// TestTimeOfLate tests that a command and a script keep their output if some of the time of the
// call is over when they begin.
func TestTimeOfLate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		op         string
		args       object
		want, text string
	}{
		{"run", object{"command": "flood"}, "\x00", "[it was killed after 44.7s, the time of one call"},
		{"run", object{"command": "flood", "timeout": 119}, "\x00", "[it was killed after 44.7s, the time of one call"},
		{"bash", object{"script": "echo begun; sleep 600", "dir": "/"}, "begun\n", "bash: stopped: more than 44.65s (budget Time)"},
		{"bash", object{"script": "echo begun; sleep 600", "dir": "/", "timeout": 20}, "begun\n", "bash: stopped: more than 20s (budget Time)"},
	} {
		synctest.Test(t, func(t *testing.T) {
			set := newRunSet(t, late{runner{machine{memory.New(nil)}, new(atomic.Int32)}}, &tools.Options{Timeout: 50 * time.Second, Bash: bashtool.New(nil)})
			if got := call(t, set, c.op, c.args).Text; !strings.HasPrefix(got, c.want) || !strings.Contains(got, c.text) {
				t.Errorf("%s(%v) = %.100q, want %q and %q", c.op, c.args, got, c.want, c.text)
			}
		})
	}
}

// TestRunMany starts thousands of commands in the background. Those that have ended take no
// room.
func TestRunMany(t *testing.T) {
	t.Parallel()
	m := runner{machine{memory.New(nil)}, new(atomic.Int32)}
	set := newRunSet(t, m, &tools.Options{})
	var started, most atomic.Int32
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			for range exhaustive.Some(t, "4,000 of 5,000 commands", 250, 50) {
				if got := call(t, set, "run", object{"command": "true", "background": true}); !got.IsError {
					started.Add(1)
				}
				most.Store(max(most.Load(), m.running.Load()))
			}
		})
	}
	wg.Wait()
	for range 20 {
		call(t, set, "run", object{"command": "sleep", "background": true})
	}
	if started.Load() < 20 || most.Load() > 8 || m.running.Load() != 8 {
		t.Errorf("%d commands were started, %d at a time, and %d run", started.Load(), most.Load(), m.running.Load())
	}
	if got := strings.Count(call(t, set, "processes", object{}).Text, "\n") + 1; got > 24 {
		t.Errorf("%d commands are kept", got)
	}
}

// newRunSet returns the tools of files, with those for commands.
func newRunSet(t *testing.T, files workspace.FileSystem, opts *tools.Options) *tools.Set {
	t.Helper()
	opts.Run = true
	return newSetOf(t, workspace.New("main", files, nil), opts)
}

// TestTimeoutMaximum tests that the parameter timeout allows no more than a call does.
func TestTimeoutMaximum(t *testing.T) {
	t.Parallel()
	for timeout, want := range map[time.Duration]string{0: "114", 50 * time.Second: "47", time.Second: "1", 3 * time.Hour: "3600", -1: "3600"} {
		set := newRunSet(t, runner{machine{memory.New(nil)}, new(atomic.Int32)}, &tools.Options{Timeout: timeout, Bash: bashtool.New(nil)})
		for _, op := range []string{"run", "bash"} {
			tool, _ := set.Lookup(op)
			contains(t, op+" within "+timeout.String(), string(tool.InputSchema()), `"maximum":`+want+"}")
		}
	}
}
