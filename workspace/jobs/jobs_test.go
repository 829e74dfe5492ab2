package jobs_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/jobs"
)

// machine runs the first word of a command as what it says.
type machine chan string // what "echo" writes next

func (m machine) Run(ctx context.Context, opts *workspace.RunOptions) (*workspace.RunResult, error) {
	if opts.Command[0] == "none" {
		return nil, ops.Error(ops.Run, "none", fs.ErrNotExist, nil)
	}
	if opts.Command[0] != "asks" {
		_, _ = io.Copy(io.Discard, opts.Stdin) // it has begun
	}
	for {
		select {
		case text, more := <-m:
			if !more {
				return &workspace.RunResult{ExitCode: 7}, nil
			}
			_, _ = io.WriteString(opts.Stdout, text) // a job takes all
		case <-ctx.Done():
			return nil, ops.Error(ops.Run, ".", ctx.Err(), nil)
		}
	}
}

func TestJobs(t *testing.T) {
	t.Parallel()
	m := make(machine)
	all := jobs.New(m, &jobs.Options{Output: 10, Running: 2})
	if _, err := all.Start(t.Context(), &workspace.RunOptions{Command: []string{"none"}}); !errors.Is(err, fs.ErrNotExist) || len(all.List()) != 0 {
		t.Errorf("Start(none) = %v, and there are %+v", err, all.List())
	}
	ctx, cancel := context.WithCancel(t.Context())
	id, err := all.Start(ctx, &workspace.RunOptions{Command: []string{"echo"}, Dir: "d"})
	if err != nil {
		t.Fatal(err)
	}
	cancel() // which ends no command
	m <- "12345"
	m <- "67890"
	m <- "abcde"
	close(m)
	if err := all.Wait(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	for offset, want := range map[int64]string{0: "67890abcde", 5: "67890abcde", 12: "cde", 15: "", 99: ""} {
		out, err := all.Output(id, offset)
		if err != nil || string(out.Data) != want || out.Next != 15 || out.Offset != 15-int64(len(want)) {
			t.Errorf("Output(%d) = %+v, %v, want %q", offset, out, err, want)
		}
	}
	if got := all.List(); len(got) != 1 || got[0].Running || got[0].Result.ExitCode != 7 || got[0].Written != 15 || got[0].Dir != "d" {
		t.Errorf("List() = %+v", got)
	}
	if _, err := all.Output("99", 0); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Output of no command = %v", err)
	}
	if _, err := all.Output(id, -1); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("Output(-1) = %v", err)
	}
}

// TestJobsKept checks that exactly the last commands that have ended are kept, whenever they
// were started.
func TestJobsKept(t *testing.T) {
	t.Parallel()
	all := jobs.New(make(machine), &jobs.Options{Running: 4, Ended: 2})
	defer all.Close()
	start := func() {
		if _, err := all.Start(t.Context(), &workspace.RunOptions{Command: []string{"echo"}}); err != nil {
			t.Fatal(err)
		}
	}
	check := func(want ...string) {
		t.Helper()
		var got []string
		for _, j := range all.List() {
			got = append(got, j.ID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("List has the commands %q, want %q", got, want)
		}
	}
	for range 4 {
		start()
	}
	for _, id := range []string{"4", "1", "3", "2"} {
		if err := all.Kill(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	check("2", "3")
	start()
	check("2", "3", "5")
	start()
	if err := all.Kill(t.Context(), "6"); err != nil {
		t.Fatal(err)
	}
	check("2", "5", "6")
}

func TestJobsEnd(t *testing.T) {
	t.Parallel()
	all := jobs.New(make(machine), &jobs.Options{Running: 2, Ended: 1})
	run := &workspace.RunOptions{Command: []string{"echo"}}
	var ids []string
	for range 2 {
		id, err := all.Start(t.Context(), run)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	if _, err := all.Start(t.Context(), run); !errors.Is(err, jobs.ErrTooMany) || !errors.Is(err, workspace.ErrUnavailable) || !strings.Contains(err.Error(), "kill one of 2") {
		t.Errorf("Start of one too many = %v", err)
	}
	if err := all.Kill(t.Context(), ids[0]); err != nil {
		t.Error(err)
	}
	if out, err := all.Output(ids[0], 0); err != nil || out.Running || !errors.Is(out.Err, context.Canceled) {
		t.Errorf("after Kill, Output = %+v, %v", out, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := all.Start(ctx, &workspace.RunOptions{Command: []string{"asks"}}); !errors.Is(err, context.Canceled) || len(all.List()) > 2 {
		t.Errorf("Start of what does not begin = %v, and there are %+v", err, all.List())
	}
	all.Close()
	if _, err := all.Start(t.Context(), run); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Start after Close = %v", err)
	}
	for _, j := range all.List() {
		if j.Running {
			t.Errorf("after Close, %+v runs", j)
		}
	}
}

// lost is a Runner whose commands begin and then are lost.
type lost struct{}

func (lost) Run(_ context.Context, opts *workspace.RunOptions) (*workspace.RunResult, error) {
	_, _ = opts.Stdin.Read(nil)
	return nil, workspace.ErrUnavailable
}

// TestJobsLost tests that a command that fails just after it has begun is one that has begun,
// whichever Start notices first.
func TestJobsLost(t *testing.T) {
	for range 100_000 { // it is seldom that both are there to notice
		s := jobs.New(lost{}, nil)
		if id, err := s.Start(t.Context(), nil); err != nil {
			t.Fatalf("Start() of a command that is lost = %q, %v, want its id", id, err)
		}
		s.Close()
	}
}
