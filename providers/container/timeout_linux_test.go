package container_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/providers/container"
	"github.com/workspacekit/workspacekit/workspace"
)

// shortTimeout is long enough for a shell of this computer to answer.
const shortTimeout = 500 * time.Millisecond

// inTime fails the test unless call returns ErrUnavailable long before a test
// gives up. No caller's context has a deadline here.
func inTime(t *testing.T, what string, call func(ctx context.Context) error) {
	t.Helper()
	result := make(chan error, 1)
	go func() { result <- call(context.Background()) }()
	select {
	case err := <-result:
		if !errors.Is(err, workspace.ErrUnavailable) || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s = %v, want %q", what, err, workspace.ErrUnavailable)
		}
	case <-time.After(30 * time.Second):
		t.Fatalf("%s has not returned, and the timeout is %v", what, shortTimeout)
	}
}

// TestEngineThatHangs has an engine whose client does not come back from one of
// its commands. It ends with what it has started.
func TestEngineThatHangs(t *testing.T) {
	t.Parallel()
	for _, hangs := range []string{"create", "start", "exec"} {
		t.Run(hangs, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			client := filepath.Join(dir, "docker")
			if err := os.WriteFile(client, []byte("case $1 in "+hangs+") sleep 600 & echo $! >>"+dir+"/started; wait ;; esac; echo number"), 0o644); err != nil {
				t.Fatal(err)
			}
			opts := &container.Options{Engine: []string{"sh", client}, Image: "image", Root: t.TempDir(), Timeout: shortTimeout}
			inTime(t, "Open", func(ctx context.Context) error { return second(container.Open(ctx, opts)) })
			noneRuns(t, filepath.Join(dir, "started"))
		})
	}
}

// mute is an Executor whose processes fall silent when they are told to, and
// end when they are killed.
type mute struct {
	container.Executor
	silent, deaf atomic.Bool
	kills        atomic.Int64
}

func (m *mute) Start(args ...string) (container.Process, error) {
	p, err := m.Executor.Start(args...)
	if err != nil {
		return nil, err
	}
	return &muted{Process: p, mute: m, killed: make(chan struct{})}, nil
}

type muted struct {
	container.Process
	mute   *mute
	once   sync.Once
	killed chan struct{}
}

func (p *muted) Read(b []byte) (int, error) {
	n, err := p.Process.Read(b)
	if p.mute.silent.Load() {
		<-p.killed
		return 0, io.EOF
	}
	return n, err
}

func (p *muted) Write(b []byte) (int, error) {
	if p.mute.deaf.Load() {
		<-p.killed
		return 0, io.ErrClosedPipe
	}
	return p.Process.Write(b)
}

func (p *muted) Kill() {
	p.mute.kills.Add(1)
	p.once.Do(func() { close(p.killed) })
	p.Process.Kill()
}

func (p *muted) Close() error {
	p.once.Do(func() { close(p.killed) })
	return p.Process.Close()
}

// TestProgramThatHangs has a container that answers no more, or reads no more,
// in the middle of things.
func TestProgramThatHangs(t *testing.T) {
	t.Parallel()
	large := bytes.Repeat([]byte("x"), 4<<20)
	for name, call := range map[string]func(ctx context.Context, f *container.FS) error{
		"ReadFile": func(ctx context.Context, f *container.FS) error { return second(f.ReadFile(ctx, "file")) },
		"WriteFile": func(ctx context.Context, f *container.FS) error {
			return second(f.WriteFile(ctx, "new", large, nil))
		},
		"Ls":   func(ctx context.Context, f *container.FS) error { return second(f.Ls(ctx, ".", nil)) },
		"Grep": func(ctx context.Context, f *container.FS) error { return second(f.Grep(ctx, "x", nil)) },
		"Open": func(ctx context.Context, f *container.FS) error {
			stream, _, err := f.Open(ctx, "file", nil)
			if err != nil {
				return err
			}
			defer stream.Close()
			return second(io.ReadAll(stream))
		},
		"ExportTar": func(ctx context.Context, f *container.FS) error { return f.ExportTar(ctx, ".", io.Discard, nil) },
	} {
		for _, deaf := range []bool{false, true} {
			t.Run(name+map[bool]string{true: "-deaf"}[deaf], func(t *testing.T) {
				exhaustive.Sample(t, 6)
				t.Parallel()
				m := &mute{Executor: container.Command{}}
				f := open(t, &container.Options{Executor: m, Root: t.TempDir(), Timeout: 4 * shortTimeout})
				if _, err := f.WriteFile(t.Context(), "file", large, nil); err != nil {
					t.Fatal(err)
				}
				m.silent.Store(true)
				m.deaf.Store(deaf)
				inTime(t, name, func(ctx context.Context) error { return call(ctx, f) })
			})
		}
	}
}

// TestSlowIsNoTimeout waits for the caller, and for nothing: neither is the
// container's fault. A machine that is too slow for a timeout gets a longer one.
func TestSlowIsNoTimeout(t *testing.T) {
	t.Parallel()
	exhaustive.NotShort(t, "waits for a slow command")
	executor := localExecutor(t)
	for timeout := shortTimeout / 2; ; timeout *= 4 {
		err := beSlow(t, executor, timeout)
		if err == nil {
			return
		}
		if timeout > 20*shortTimeout {
			t.Fatal(err)
		}
		t.Logf("with a timeout of %v: %v", timeout, err)
	}
}

// beSlow takes longer than the timeout, and returns what that breaks.
func beSlow(t *testing.T, executor container.Executor, timeout time.Duration) error {
	m := &mute{Executor: executor}
	f, err := container.Open(t.Context(), &container.Options{Executor: m, Root: t.TempDir(), Timeout: timeout})
	if err != nil {
		return err
	}
	defer f.Close()
	events, err := f.Watch(t.Context(), ".", nil)
	if err != nil {
		return err
	}
	kills := m.kills.Load()
	<-time.After(2 * timeout)
	if n := m.kills.Load() - kills; n != 0 {
		return fmt.Errorf("%d shells were given up while nothing happened, want none", n)
	}
	if err := f.ImportTar(t.Context(), "dir", &late{Reader: archive(t, [][2]string{{"file", "slow"}}), wait: 2 * timeout}, nil); err != nil {
		return fmt.Errorf("ImportTar of an archive that comes slowly = %w, want nil", err)
	}
	if err := reported(t.Context(), events, "dir/file"); err != nil {
		return err
	}
	stream, _, err := f.Open(t.Context(), "dir/file", nil)
	if err != nil {
		return err
	}
	defer stream.Close()
	<-time.After(2 * timeout)
	if data, err := io.ReadAll(stream); err != nil || string(data) != "slow" {
		return fmt.Errorf("a stream that is read late = %q, %w, want the file", data, err)
	}
	return nil
}

// late is a reader that waits before it begins.
type late struct {
	io.Reader
	wait time.Duration
	once sync.Once
}

func (l *late) Read(b []byte) (int, error) {
	l.once.Do(func() { <-time.After(l.wait) })
	return l.Reader.Read(b)
}
