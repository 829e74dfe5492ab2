package container_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/providers/container"
	"github.com/workspacekit/workspacekit/workspace"
)

// TestCloseLeavesNothing opens all that there is to open, closes the FS, and
// looks for what is left.
func TestCloseLeavesNothing(t *testing.T) {
	inTurn(t, func(t *testing.T, r *running) {
		opts := r.options(t)
		processes, goroutines := children(t), runtime.NumGoroutine()
		inside := r.processes(t)
		f, err := container.Open(t.Context(), opts)
		if err != nil {
			t.Fatal(err)
		}
		busy(t, f)
		if err := f.Close(); err != nil {
			t.Errorf("Close() = %v, want nil", err)
		}
		if _, err := f.Stat(t.Context(), "."); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("Stat after Close = %v, want %q", err, fs.ErrClosed)
		}
		if err := f.Close(); err != nil {
			t.Errorf("a second Close() = %v, want nil", err)
		}
		eventually(t, "something is left", func() error {
			for _, pid := range children(t) {
				if !slices.Contains(processes, pid) {
					return fmt.Errorf("the process %d is left", pid)
				}
			}
			if now := runtime.NumGoroutine(); now > goroutines {
				return fmt.Errorf("there were %d goroutines, and now there are %d", goroutines, now)
			}
			if now := r.processes(t); now > inside {
				return fmt.Errorf("there were %d processes inside, and now there are %d", inside, now)
			}
			return nil
		})
	})
}

// busy makes calls, some of them still under way when it returns.
func busy(t *testing.T, f *container.FS) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	for range 3 {
		if _, err := f.Watch(ctx, ".", nil); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := f.WriteFile(ctx, "large", make([]byte, 10<<20), nil); err != nil {
		t.Fatal(err)
	}
	stream, _, err := f.Open(ctx, "large", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Read(make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	writer, err := f.Create(ctx, "created", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := writer.Write(make([]byte, 2<<20)); err != nil {
		t.Fatal(err)
	}
	cancel()
}

// TestCloseMeetsWatch closes an FS that has a watch at many points of another that begins.
func TestCloseMeetsWatch(t *testing.T) {
	exhaustive.Long(t)
	t.Parallel()
	executor := localExecutor(t)
	begin := func() (f *container.FS, begun <-chan error) {
		f = open(t, &container.Options{Executor: executor, Root: t.TempDir()})
		if _, err := f.Watch(t.Context(), ".", nil); err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- second(f.Watch(t.Context(), ".", nil)) }()
		return f, done
	}
	_, begun := begin()
	start := time.Now()
	if err := <-begun; err != nil {
		t.Fatal(err)
	}
	took := time.Since(start)
	const points = 10
	for i := range time.Duration(points) {
		f, begun := begin()
		select {
		case <-time.After(took * i / points):
		case err := <-begun:
			begun = nil
			if err != nil {
				t.Errorf("Watch = %v, want nil", err)
			}
		}
		if err := f.Close(); err != nil {
			t.Errorf("Close() beside Watch = %v, want nil", err)
		}
		if begun == nil {
			continue
		}
		if err := <-begun; err != nil && !errors.Is(err, fs.ErrClosed) {
			t.Errorf("Watch beside Close = %v, want nil or %q", err, fs.ErrClosed)
		}
	}
}

// processes returns how many processes the container has, beside those of its
// own and the one that counts.
func (r *running) processes(t *testing.T) int {
	t.Helper()
	if r.container == "" {
		return 0
	}
	return len(strings.Fields(r.run(t, "sh", "-c", `cd /proc; echo [0-9]*`)))
}

func TestCreatedContainer(t *testing.T) {
	t.Parallel()
	r := places()[1].enter(t)
	f := open(t, &container.Options{
		Engine: r.engineArgs, Image: r.imageName(),
		Create: container.CreateOptions{Workdir: "/made/here", Memory: "64m", CPUs: 0.5, PIDs: 50},
	})
	if root := f.Root(); root != "/made/here" {
		t.Errorf("Root() = %q, want the Workdir", root)
	}
	list := func() string {
		return r.client(t, "ps", "--all", "--quiet", "--no-trunc", "--filter=label=io.github.workspacekit=workspace")
	}
	if got := list(); !strings.Contains(got, f.Container()) {
		t.Errorf("the containers with our label are %q, want %q among them", got, f.Container())
	}
	inspected := r.client(t, "inspect", "--format={{.HostConfig.NetworkMode}} {{.HostConfig.Memory}} {{.HostConfig.PidsLimit}} {{.HostConfig.NanoCpus}}", f.Container())
	if strings.TrimSpace(inspected) != "none 67108864 50 500000000" {
		t.Errorf("the container has %q, want the limits that were asked for", inspected)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if got := list(); strings.Contains(got, f.Container()) {
		t.Errorf("after Close, the containers with our label are %q, want all but %q", got, f.Container())
	}
}

func TestOpenErrors(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	local := container.Command{}
	for name, test := range map[string]struct {
		opts *container.Options
		want error
	}{
		"nothing":         {nil, fs.ErrInvalid},
		"two-ways":        {&container.Options{Container: "a", Image: "b"}, fs.ErrInvalid},
		"option-as-name":  {&container.Options{Container: "--privileged"}, fs.ErrInvalid},
		"pod-flag":        {&container.Options{Executor: container.Kubectl("--kubeconfig=x", "")}, fs.ErrInvalid},
		"relative-root":   {&container.Options{Executor: local, Root: "tmp"}, fs.ErrInvalid},
		"missing-root":    {&container.Options{Executor: local, Root: "/does/not/exist"}, fs.ErrNotExist},
		"file-as-root":    {&container.Options{Executor: local, Root: "/bin/sh"}, workspace.ErrNotDir},
		"no-client":       {&container.Options{Container: "a", Engine: []string{"no-such-engine"}}, errors.ErrUnsupported},
		"no-shell":        {&container.Options{Executor: container.Command{"sh", "-c", "echo no shell here >&2; exit 127"}}, errors.ErrUnsupported},
		"stopped":         {&container.Options{Executor: container.Command{"sh", "-c", "echo 'container 8e52 is not running' >&2; exit 126"}}, workspace.ErrUnavailable},
		"stopping":        {&container.Options{Executor: container.Command{"sh", "-c", "echo 'cannot exec in a stopped state: unknown' >&2; exit 126"}}, workspace.ErrUnavailable},
		"words-of-engine": {&container.Options{Executor: container.Command{"sh", "-c", "echo it is on fire >&2; exit 1"}}, workspace.ErrUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := container.Open(ctx, test.opts)
			if err == nil {
				f.Close()
			}
			if !errors.Is(err, test.want) {
				t.Errorf("Open(%+v) = %v, want %q", test.opts, err, test.want)
			}
			if name == "words-of-engine" && !strings.Contains(err.Error(), "it is on fire") {
				t.Errorf("Open = %v, want the words of the engine", err)
			}
		})
	}
}
