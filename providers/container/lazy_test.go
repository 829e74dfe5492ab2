package container_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/workspacekit/workspacekit/providers/container"
	"github.com/workspacekit/workspacekit/workspace"
)

// door is an Executor that counts, and that a test can keep shut.
type door struct {
	starts  atomic.Int64
	ended   atomic.Int64
	refuse  atomic.Bool
	asked   chan struct{} // has one element for each start that waits
	opening chan struct{} // nil if starts do not wait; closed when they need not any more
}

func (d *door) Start(args ...string) (container.Process, error) {
	d.starts.Add(1)
	if d.refuse.Load() {
		return nil, errors.New("it is on fire")
	}
	p, err := container.Command{}.Start(args...)
	if err != nil {
		return nil, err
	}
	return &visitor{Process: p, door: d, killed: make(chan struct{})}, nil
}

// visitor is a process whose first answer waits for the door.
type visitor struct {
	container.Process
	door   *door
	asked  sync.Once
	ended  sync.Once
	killed chan struct{}
}

func (v *visitor) Read(b []byte) (int, error) {
	if v.door.opening != nil {
		v.asked.Do(func() { v.door.asked <- struct{}{} })
		select {
		case <-v.door.opening:
		case <-v.killed:
		}
	}
	return v.Process.Read(b)
}

func (v *visitor) Kill() {
	v.end()
	v.Process.Kill()
}

func (v *visitor) Close() error {
	v.end()
	return v.Process.Close()
}

func (v *visitor) end() {
	v.ended.Do(func() {
		close(v.killed)
		v.door.ended.Add(1)
	})
}

func shutDoor() *door { return &door{asked: make(chan struct{}, 100), opening: make(chan struct{})} }

// lazily opens an FS by d.
func lazily(t *testing.T, d *door) *container.FS {
	t.Helper()
	return open(t, &container.Options{Executor: d, Root: t.TempDir(), Lazy: true})
}

func TestLazyStartsNothing(t *testing.T) {
	d := &door{}
	f := lazily(t, d)
	w := workspace.New("w", f, nil)
	if root := f.Root(); root == "" || w.Root() != root {
		t.Errorf("Root() before the start = %q, and of a Workspace %q, want the root in the options", root, w.Root())
	}
	if c := f.Capabilities(); !c.Write || c.Watch != workspace.WatchPolled {
		t.Errorf("Capabilities() before the start = %+v, want all, and watches that are polled", c)
	}
	for name, err := range map[string]error{
		"a bad name":    second(f.ReadFile(t.Context(), "../x")),
		"a bad pattern": second(f.Grep(t.Context(), "(", nil)),
		"a bad glob":    second(f.Glob(t.Context(), "[", nil)),
	} {
		if err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
	if n := d.starts.Load(); n != 0 {
		t.Fatalf("%d shells were started before the first call, want 0", n)
	}
	if _, err := w.WriteFile(t.Context(), f.Root()+"/file", nil, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Stat(t.Context(), "file"); err != nil {
		t.Errorf("Stat of what was written by its absolute path = %v, want nil", err)
	}
	if n := d.starts.Load(); n != 1 {
		t.Errorf("%d shells were started by two calls, want 1", n)
	}
}

// TestLazyWithoutRoot has a root that nobody knows before the start.
func TestLazyWithoutRoot(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir+"/file", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	f := open(t, &container.Options{Executor: container.Command{}, Lazy: true})
	w := workspace.New("w", f, nil)
	if root := f.Root(); root != "" {
		t.Errorf("Root() before the start = %q, want none", root)
	}
	if _, err := w.Stat(t.Context(), "/file"); err != nil {
		t.Errorf("Stat(%q) = %v, want nil", "/file", err)
	}
	if root := f.Root(); root != dir {
		t.Errorf("Root() after the start = %q, want %q", root, dir)
	}
	if _, err := w.Stat(t.Context(), dir+"/file"); err != nil || w.Root() != dir {
		t.Errorf("Stat below the root after the start = %v, and Root() of the Workspace %q, want nil and %q", err, w.Root(), dir)
	}
}

// TestLazyFirstCalls makes each call the first.
func TestLazyFirstCalls(t *testing.T) {
	for name, call := range map[string]func(ctx context.Context, f *container.FS) error{
		"write": func(ctx context.Context, f *container.FS) error { return second(f.WriteFile(ctx, "x", nil, nil)) },
		"ls":    func(ctx context.Context, f *container.FS) error { return second(f.Ls(ctx, ".", nil)) },
		"glob":  func(ctx context.Context, f *container.FS) error { return second(f.Glob(ctx, "**", nil)) },
		"grep":  func(ctx context.Context, f *container.FS) error { return second(f.Grep(ctx, "x", nil)) },
		"watch": func(ctx context.Context, f *container.FS) error { return second(f.Watch(ctx, ".", nil)) },
		"create": func(ctx context.Context, f *container.FS) error {
			w, err := f.Create(ctx, "x", nil)
			if err != nil {
				return err
			}
			defer w.Close()
			return second(w.Commit())
		},
		"import": func(ctx context.Context, f *container.FS) error {
			return f.ImportTar(ctx, ".", archive(t, nil), nil)
		},
		"export": func(ctx context.Context, f *container.FS) error {
			return f.ExportTar(ctx, ".", new(strings.Builder), nil)
		},
		"resolve": func(ctx context.Context, f *container.FS) error { return second(f.Resolve(ctx, ".")) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := call(t.Context(), lazily(t, &door{})); err != nil {
				t.Errorf("the first call = %v, want nil", err)
			}
		})
	}
}

func TestLazyStartsOnce(t *testing.T) {
	d := shutDoor()
	f := lazily(t, d)
	var calling sync.WaitGroup
	for range 20 {
		calling.Go(func() {
			if _, err := f.Stat(t.Context(), "."); err != nil {
				t.Errorf("Stat beside others = %v, want nil", err)
			}
		})
	}
	<-d.asked
	impatient, cancel := context.WithCancel(t.Context())
	cancelled := make(chan error)
	go func() { cancelled <- second(f.ReadFile(impatient, "file")) }()
	cancel()
	if err := <-cancelled; !errors.Is(err, context.Canceled) {
		t.Errorf("ReadFile that was cancelled while it waited = %v, want %v", err, context.Canceled)
	}
	if n := d.starts.Load(); n != 1 {
		t.Errorf("%d shells were started for 21 calls, want 1", n)
	}
	close(d.opening)
	calling.Wait()
}

// TestLazyStartIsTriedAgain has a start that fails, by what is not there yet.
func TestLazyStartIsTriedAgain(t *testing.T) {
	d := &door{}
	d.refuse.Store(true)
	root := filepath.Join(t.TempDir(), "later")
	f := open(t, &container.Options{Executor: d, Root: root, Lazy: true})
	_, err := f.ReadFile(t.Context(), "dir/file")
	isPathError(t, err, "read_file", "dir/file", workspace.ErrUnavailable)
	d.refuse.Store(false)
	err = f.Mkdir(t.Context(), "dir", nil)
	isPathError(t, err, "mkdir", "dir", fs.ErrNotExist)
	if !strings.Contains(err.Error(), "root") {
		t.Errorf("Mkdir without a root = %v, want to be told that it is the root", err)
	}
	if err := os.Mkdir(root, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := f.Mkdir(t.Context(), "dir", nil); err != nil {
		t.Errorf("Mkdir once there is a root = %v, want nil", err)
	}
}

// isPathError fails the test unless err is about the caller's op and name.
func isPathError(t *testing.T, err error, op, name string, kind error) {
	t.Helper()
	pathError := new(fs.PathError)
	if !errors.As(err, &pathError) || pathError.Op != op || pathError.Path != name || !errors.Is(err, kind) {
		t.Errorf("the error is %v, want %q of %s %s", err, kind, op, name)
	}
}

// TestLazyCancelledStart has the first caller give up while another waits.
func TestLazyCancelledStart(t *testing.T) {
	d := shutDoor()
	f := lazily(t, d)
	first, cancel := context.WithCancel(t.Context())
	gaveUp, waited := make(chan error), make(chan error)
	go func() { gaveUp <- second(f.ReadFile(first, "file")) }()
	<-d.asked
	go func() { waited <- f.Mkdir(t.Context(), "dir", nil) }()
	cancel()
	err := <-gaveUp
	isPathError(t, err, "read_file", "file", context.Canceled)
	<-d.asked // by the one who has waited
	close(d.opening)
	if err := <-waited; err != nil {
		t.Errorf("Mkdir beside a call that gave up = %v, want nil", err)
	}
	if n := d.ended.Load(); n != 1 {
		t.Errorf("%d shells were ended, want the one that was given up", n)
	}
}

func TestLazyClose(t *testing.T) {
	t.Run("before", func(t *testing.T) {
		d := &door{}
		f := lazily(t, d)
		closeIt(t, f)
		if n := d.starts.Load(); n != 0 {
			t.Errorf("%d shells were started by Close and a call behind it, want 0", n)
		}
	})
	t.Run("during", func(t *testing.T) {
		d := shutDoor()
		f := lazily(t, d)
		called := make(chan error, 2)
		for range cap(called) {
			go func() { called <- second(f.Stat(t.Context(), ".")) }()
		}
		<-d.asked
		closeIt(t, f)
		for range cap(called) {
			if err := <-called; !errors.Is(err, fs.ErrClosed) {
				t.Errorf("Stat while the FS was closed = %v, want %q", err, fs.ErrClosed)
			}
		}
		if started, ended := d.starts.Load(), d.ended.Load(); started != 1 || ended != 1 {
			t.Errorf("%d shells were started and %d ended, want 1 and 1", started, ended)
		}
	})
	t.Run("after", func(t *testing.T) {
		d := &door{}
		f := lazily(t, d)
		if _, err := f.Stat(t.Context(), "."); err != nil {
			t.Fatal(err)
		}
		closeIt(t, f)
		if n := d.ended.Load(); n != 1 {
			t.Errorf("%d shells were ended, want 1", n)
		}
	})
}

// closeIt closes f and makes one more call.
func closeIt(t *testing.T, f *container.FS) {
	t.Helper()
	if err := f.Close(); err != nil {
		t.Errorf("Close() = %v, want nil", err)
	}
	if _, err := f.Stat(t.Context(), "."); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Stat after Close = %v, want %q", err, fs.ErrClosed)
	}
}
