package provider_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/provider"
)

// machine is a store whose commands are a function.
type machine struct {
	failing
	run func(ctx context.Context, opts workspace.RunOptions) (*workspace.RunResult, error)
}

func (m machine) Run(ctx context.Context, opts workspace.RunOptions) (*workspace.RunResult, error) {
	return m.run(ctx, opts)
}

func newMachine(run func(ctx context.Context, opts workspace.RunOptions) (*workspace.RunResult, error)) *provider.FS {
	return provider.New(machine{run: run}, provider.Facts{Capabilities: everything})
}

// TestRunChecks checks which commands no store is asked to run.
func TestRunChecks(t *testing.T) {
	fsys := newMachine(func(_ context.Context, opts workspace.RunOptions) (*workspace.RunResult, error) {
		t.Errorf("the store was asked to run %+v", opts)
		return nil, nil
	})
	for name, opts := range map[string]*workspace.RunOptions{
		"no options":              nil,
		"no command":              {Dir: "a"},
		"an empty program":        {Command: []string{"", "a"}},
		"a NUL in an argument":    {Command: []string{"a", "b\x00"}},
		"a variable without name": {Command: []string{"a"}, Env: map[string]string{"": "x"}},
		"an equals sign":          {Command: []string{"a"}, Env: map[string]string{"A=B": "x"}},
		"a NUL in a variable":     {Command: []string{"a"}, Env: map[string]string{"A": "x\x00"}},
		"an invalid directory":    {Command: []string{"a"}, Dir: "/a"},
	} {
		if _, err := fsys.Run(t.Context(), opts); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("Run with %s = %v, want ErrInvalid", name, err)
		}
	}
	opts := &workspace.RunOptions{Command: []string{"a"}}
	for name, fsys := range map[string]*provider.FS{
		"a store that runs nothing":     provider.New(struct{ provider.Store }{failing{}}, provider.Facts{Capabilities: everything}),
		"a store that does not declare": provider.New(machine{}, provider.Facts{}),
	} {
		if _, err := fsys.Run(t.Context(), opts); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("Run of %s = %v, want ErrUnsupported", name, err)
		}
	}
	if _, err := newMachine(func(context.Context, workspace.RunOptions) (*workspace.RunResult, error) {
		return nil, nil
	}).Run(t.Context(), opts); err == nil {
		t.Error("Run without a result and an error succeeded")
	}
}

// TestRunStreams checks that a stream that fails ends the command, and that nothing is
// written after Run has returned.
func TestRunStreams(t *testing.T) {
	broken := errors.New("the reader has left")
	copying := newMachine(func(ctx context.Context, opts workspace.RunOptions) (*workspace.RunResult, error) {
		if opts.Dir != "." {
			t.Errorf("the store got the directory %q, want the root", opts.Dir)
		}
		_, err := io.Copy(opts.Stdout, opts.Stdin)
		if err != nil {
			<-ctx.Done() // as a command that is killed
		}
		return &workspace.RunResult{ExitCode: 3}, nil
	})
	var out bytes.Buffer
	result, err := copying.Run(t.Context(), &workspace.RunOptions{Command: []string{"cat"}, Stdin: strings.NewReader("text"), Stdout: &out})
	if err != nil || result.ExitCode != 3 || out.String() != "text" {
		t.Errorf("Run = %+v, %v with the output %q", result, err, &out)
	}
	for name, opts := range map[string]*workspace.RunOptions{
		"a writer that fails": {Stdin: strings.NewReader("text"), Stdout: writerFunc(func([]byte) (int, error) { return 0, broken })},
		"a reader that fails": {Stdin: iotest.ErrReader(broken), Stdout: io.Discard},
	} {
		opts.Command = []string{"cat"}
		if _, err := copying.Run(t.Context(), opts); !errors.Is(err, broken) {
			t.Errorf("Run with %s = %v, want its error", name, err)
		}
	}
	short := &workspace.RunOptions{Command: []string{"cat"}, Stdin: strings.NewReader("text"), Stdout: writerFunc(func([]byte) (int, error) { return 1, nil })}
	if _, err := copying.Run(t.Context(), short); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("Run with a short write = %v, want ErrShortWrite", err)
	}

	var late io.Writer
	keeping := newMachine(func(_ context.Context, opts workspace.RunOptions) (*workspace.RunResult, error) {
		if opts.Stdout != opts.Stderr {
			t.Error("one writer for both streams became two")
		}
		late = opts.Stdout
		return &workspace.RunResult{}, nil
	})
	out.Reset()
	if _, err := keeping.Run(t.Context(), &workspace.RunOptions{Command: []string{"a"}, Stdout: &out, Stderr: &out}); err != nil {
		t.Fatal(err)
	}
	if _, err := late.Write([]byte("late")); err == nil || out.Len() > 0 {
		t.Errorf("a write after the end = %v, and the caller got %q", err, &out)
	}
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// TestRunEnded checks that a command that was killed because its context ended has no
// result.
func TestRunEnded(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	fsys := newMachine(func(ctx context.Context, _ workspace.RunOptions) (*workspace.RunResult, error) {
		cancel()
		<-ctx.Done()
		return &workspace.RunResult{ExitCode: -1, Signal: "KILL"}, nil
	})
	if result, err := fsys.Run(ctx, &workspace.RunOptions{Command: []string{"a"}}); result != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("Run = %+v, %v, want Canceled", result, err)
	}
}

// TestRunEndedWithWords checks that what a store says of a command whose context ended is shown.
func TestRunEndedWithWords(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	fsys := newMachine(func(ctx context.Context, _ workspace.RunOptions) (*workspace.RunResult, error) {
		cancel()
		<-ctx.Done()
		return nil, provider.Errorf(ctx.Err(), "something may run on")
	})
	_, err := fsys.Run(ctx, &workspace.RunOptions{Command: []string{"a"}})
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "something may run on") {
		t.Errorf("Run = %v, want Canceled with the words of the store", err)
	}
}
