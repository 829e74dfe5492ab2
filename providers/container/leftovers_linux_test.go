package container_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/workspacekit/workspacekit/providers/container"
	"github.com/workspacekit/workspacekit/providers/container/internal/engine"
)

// engines are a place in each engine.
func engines() []place { return []place{places()[1], places()[3]} }

// TestContainerEndsWithItsOwner kills a process that has created a container, and
// one that creates it: none is left.
func TestContainerEndsWithItsOwner(t *testing.T) {
	in(t, engines(), func(t *testing.T, r *running) {
		name := r.prefix + "-owned"
		t.Cleanup(func() { r.client(t, "rm", "--force", name) })
		cmd := exec.Command(os.Args[0], "-test.run=^TestCreatingOwner$")
		cmd.Env = append(os.Environ(), "WORKSPACEKIT_TEST_CREATE="+strings.Join(append([]string{name, r.imageName()}, r.engineArgs...), "\n"))
		cmd.Stderr = os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		list := func() string {
			return strings.TrimSpace(r.client(t, "ps", "--quiet", "--filter=name="+name, "--filter=status=running"))
		}
		eventually(t, "no container runs", func() error {
			if list() == "" {
				return errors.New("there is none")
			}
			return nil
		})
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // it was killed
		eventually(t, "the container is left", func() error {
			if left := r.client(t, "ps", "--all", "--filter=name="+name, "--format={{.Names}} {{.Status}}"); strings.TrimSpace(left) != "" {
				return errors.New(left)
			}
			return nil
		})
	})
}

// TestCreatingOwner is the process that TestContainerEndsWithItsOwner kills.
func TestCreatingOwner(t *testing.T) {
	env := os.Getenv("WORKSPACEKIT_TEST_CREATE")
	if env == "" {
		return
	}
	words := strings.Split(env, "\n")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	f, err := container.Open(ctx, &container.Options{Engine: words[2:], Image: words[1], Root: "/", Create: container.CreateOptions{Name: words[0]}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Watch(ctx, ".", nil); err != nil {
		t.Error(err)
	}
	<-ctx.Done()
}

// TestCanceledCreation cancels the creation of a container at moments of the time that one takes.
func TestCanceledCreation(t *testing.T) {
	in(t, engines(), func(t *testing.T, r *running) {
		create := func(ctx context.Context, moment int) error {
			f, err := container.Open(ctx, &container.Options{
				Engine: r.engineArgs, Image: r.imageName(), Root: "/",
				Create: container.CreateOptions{Name: fmt.Sprintf("%s-%d", r.prefix, moment)},
			})
			if err == nil {
				f.Close()
			}
			return err
		}
		const moments = 10
		began := time.Now()
		if err := create(t.Context(), moments); err != nil {
			t.Fatal(err)
		}
		took := time.Since(began)
		for moment := range moments {
			ctx, cancel := context.WithTimeout(t.Context(), took*time.Duration(moment)/moments)
			if err := create(ctx, moment); err != nil && !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("Open canceled after %d tenths of %v = %v, want %q", moment, took, err, context.DeadlineExceeded)
			}
			cancel()
		}
		eventually(t, "the engine to remove what was begun", func() error {
			if left := strings.TrimSpace(r.client(t, "ps", "--all", "--filter=name="+r.prefix+"-", "--format={{.Names}} {{.Status}}")); left != "" {
				return fmt.Errorf("%q is left", left)
			}
			return nil
		})
		eventually(t, "the programs of the engine to end", func() error {
			if left := programsOf(t, r.prefix+"-"); len(left) > 0 {
				return fmt.Errorf("%q are left", left)
			}
			return nil
		})
	})
}

// programsOf returns the programs of this computer that have text in their arguments.
func programsOf(t *testing.T, text string) []string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, file := range files {
		if line, err := os.ReadFile(file); err == nil && bytes.Contains(line, []byte(text)) { // or it has ended
			found = append(found, string(line))
		}
	}
	return found
}

// TestKeptContainer opens a kept container again and again.
func TestKeptContainer(t *testing.T) {
	in(t, engines(), func(t *testing.T, r *running) {
		opts := &container.Options{
			Engine: r.engineArgs, Image: r.imageName(), Root: "/tmp",
			Create: container.CreateOptions{Name: r.prefix + "-kept", Keep: true, Tmpfs: []string{"/a", "/b"}, Workdir: "/a"},
		}
		t.Cleanup(func() { r.client(t, "rm", "--force", opts.Create.Name) })
		for i, before := range []func(){func() {}, func() {}, func() { r.client(t, "kill", opts.Create.Name) }} {
			before()
			f := open(t, opts)
			if data, err := f.ReadFile(t.Context(), "kept"); i > 0 && string(data) != "x" {
				t.Errorf("ReadFile in the container that was kept = %q, %v, want the file", data, err)
			}
			if _, err := f.WriteFile(t.Context(), "kept", []byte("x"), nil); err != nil {
				t.Error(err)
			}
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		}
		for _, written := range []container.CreateOptions{
			{Pull: "missing"}, {Memory: "2g"}, {Memory: "2048M"}, {Memory: "2.0GiB"}, {Memory: "2147483648"},
			{Network: "none", PIDs: container.DefaultPIDs, DropCapabilities: []string{"ALL"}},
		} {
			same := *opts
			written.Name, written.Keep, written.Tmpfs, written.Workdir = same.Create.Name, true, same.Create.Tmpfs, same.Create.Workdir
			same.Create = written
			f, err := container.Open(t.Context(), &same)
			if err != nil {
				t.Errorf("Open of the container with its defaults written as %+v = %v, want nil", written, err)
				continue
			}
			f.Close()
		}
		for name, change := range map[string]func(c *container.CreateOptions){
			"CPUs":    func(c *container.CreateOptions) { c.CPUs = 0.5 },
			"Workdir": func(c *container.CreateOptions) { c.Workdir = "/b" }, // in memory, so the engine does not get it
		} {
			other := *opts
			change(&other.Create)
			if f, err := container.Open(t.Context(), &other); !errors.Is(err, fs.ErrExist) || !strings.Contains(err.Error(), strconv.Quote(other.Create.Name)) {
				t.Errorf("Open of a container with other %s = %v, %v, want %q and the name %q", name, f, err, fs.ErrExist, other.Create.Name)
			}
		}
		for root, want := range map[string]string{"": "/a", "/a": "/a", "/b": "/b"} {
			elsewhere := *opts
			elsewhere.Root = root
			f, err := container.Open(t.Context(), &elsewhere)
			if err != nil {
				t.Errorf("Open of the container with the Root %q = %v, want nil", root, err)
				continue
			}
			if got := f.Root(); got != want {
				t.Errorf("Root() of the container with the Root %q = %q, want %q", root, got, want)
			}
			f.Close()
		}
		missing := *opts
		missing.Root = "/missing"
		if f, err := container.Open(t.Context(), &missing); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Open of the container with the Root %q = %v, %v, want %v", missing.Root, f, err, fs.ErrNotExist)
		}
		if _, err := open(t, opts).Stat(t.Context(), "kept"); err != nil {
			t.Errorf("Stat after an Open that failed = %v, want nil", err)
		}
		stranger := *opts
		stranger.Create.Name += "-not"
		t.Cleanup(func() { r.client(t, "rm", "--force", stranger.Create.Name) })
		r.client(t, "create", "--name="+stranger.Create.Name, "--entrypoint=sh", r.imageName())
		if _, err := container.Open(t.Context(), &stranger); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("another container has the name %q", stranger.Create.Name)) {
			t.Errorf("Open with the name of a container that was created elsewhere = %v, want that the name %q is in use", err, stranger.Create.Name)
		}
		image := *opts
		image.Create.Name = ownImage(t, r, opts.Create.Name)
		if _, err := container.Open(t.Context(), &image); !errors.Is(err, fs.ErrExist) || !strings.Contains(err.Error(), "was created with another name") {
			t.Errorf("Open with the name of a container of an image of a kept one = %v, want %v, and why", err, fs.ErrExist)
		}
	})
}

// TestKeptContainerByNumber opens a container whose name is the beginning of the number of
// another one with the same options.
func TestKeptContainerByNumber(t *testing.T) {
	in(t, engines(), func(t *testing.T, r *running) {
		opts := &container.Options{
			Engine: r.engineArgs, Image: r.imageName(), Root: "/tmp",
			Create: container.CreateOptions{Name: r.prefix + "-kept", Keep: true},
		}
		t.Cleanup(func() { r.client(t, "rm", "--force", r.prefix+"-kept") })
		if _, err := open(t, opts).WriteFile(t.Context(), "file", nil, nil); err != nil {
			t.Fatal(err)
		}
		other := *opts
		other.Create.Name = r.tell(t, "container", "inspect", "--format={{.ID}}", opts.Create.Name)[:12]
		f := open(t, &other)
		t.Cleanup(func() { r.client(t, "rm", "--force", f.Container()) })
		if _, err := f.Stat(t.Context(), "file"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Stat of a file in another container = %v, want %v", err, fs.ErrNotExist)
		}
	})
}

// TestTemporaryContainerOfKeptImage has a container that is not kept, of an image that was made
// of one with the same options which is.
func TestTemporaryContainerOfKeptImage(t *testing.T) {
	in(t, engines(), func(t *testing.T, r *running) {
		opts := container.Options{
			Engine: r.engineArgs, Image: r.prefix + "-own", Root: "/tmp",
			Create: container.CreateOptions{Name: r.prefix + "-kept", Keep: true},
		}
		r.tell(t, "tag", r.imageName(), opts.Image)
		t.Cleanup(func() { r.tell(t, "image", "rm", opts.Image) })
		t.Cleanup(func() { r.client(t, "rm", "--force", r.prefix+"-kept") })
		open(t, &opts).Close()
		r.tell(t, "commit", opts.Create.Name, opts.Image)
		opts.Create.Name, opts.Create.Keep = r.prefix+"-temporary", false
		temporary := open(t, &opts)
		opts.Create.Keep = true
		if _, err := container.Open(t.Context(), &opts); err == nil || !strings.Contains(err.Error(), "another container has the name") {
			t.Errorf("Open of a container to be kept that has the name of a temporary one = %v, want that the name is in use", err)
		}
		if err := temporary.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestLeftovers removes the containers whose owner has ended and that are not kept, and no other.
func TestLeftovers(t *testing.T) {
	in(t, engines(), func(t *testing.T, r *running) {
		said, err := exec.Command("env", "WORKSPACEKIT_TEST_LABEL=1", os.Args[0], "-test.run=^TestOwnersLabel$").Output()
		if err != nil {
			t.Fatal(err)
		}
		ended, _, _ := strings.Cut(string(said), "\n")
		const ours = "--label=io.github.workspacekit=workspace"
		for name, labels := range map[string][]string{
			"ended":  {ours, "--label=" + ended},
			"lives":  {ours, "--label=" + engine.OwnerLabel()},
			"kept":   {ours, "--label=" + ended, "--label=io.github.workspacekit.keep=x"},
			"old":    {ours},
			"other":  {"--label=" + ended},
			"unkept": {ours, "--label=" + ended, "--label=io.github.workspacekit.keep="},
		} {
			name = r.prefix + "-" + name
			t.Cleanup(func() { r.client(t, "rm", "--force", name) })
			labels = append(labels, "--label=io.github.workspacekit.name="+name)
			r.client(t, append(append([]string{"create", "--name=" + name, "--entrypoint=sh"}, labels...), r.imageName())...)
		}
		ownImage(t, r, r.prefix+"-ended")
		find := func() []string {
			left, err := container.Leftovers(t.Context(), &container.Options{Engine: r.engineArgs})
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, l := range left {
				if !strings.HasPrefix(l.Name, r.prefix) {
					continue // of a test that was killed
				}
				names = append(names, strings.TrimPrefix(l.Name, r.prefix))
				if age := time.Since(l.Created); age < 0 || age > 10*time.Minute || !strings.Contains(l.Image, r.imageName()) {
					t.Errorf("%+v is left, want it of %s, and new", l, r.imageName())
				}
				for range 2 {
					if err := l.Remove(t.Context()); err != nil {
						t.Errorf("Remove = %v, want nil", err)
					}
				}
			}
			return names
		}
		left := find()
		slices.Sort(left)
		if !slices.Equal(left, []string{"-ended", "-unkept"}) {
			t.Errorf("%q are left, want those whose owner has ended", left)
		}
		if left := find(); len(left) > 0 {
			t.Errorf("%q are left after they were removed", left)
		}
	})
}

// ownImage creates a container of an image that was made of another container, whose labels
// it has.
func ownImage(t *testing.T, r *running, from string) (name string) {
	t.Helper()
	name = r.prefix + "-image"
	r.tell(t, "commit", from, name)
	t.Cleanup(func() {
		r.client(t, "rm", "--force", name)
		r.tell(t, "image", "rm", name)
	})
	r.client(t, "create", "--name="+name, "--entrypoint=sh", name)
	return name
}

// TestOwnersLabel is a process that ends.
func TestOwnersLabel(t *testing.T) {
	if os.Getenv("WORKSPACEKIT_TEST_LABEL") != "" {
		fmt.Println(engine.OwnerLabel())
	}
}
