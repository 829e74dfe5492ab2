package container_test

import (
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/workspacekit/workspacekit/internal/enginetest"
	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/providers/container"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/fallback"
)

// place is somewhere that the tests run.
type place struct {
	name   string
	engine string // the variable that names how to reach it; empty for this computer
	image  string // the variable that names the image
}

// places are where the whole suite runs. The first is everywhere.
func places() []place {
	return []place{
		{name: "local"},
		{name: "docker-busybox", engine: "WORKSPACEKIT_DOCKER_HOST", image: "WORKSPACEKIT_BUSYBOX_IMAGE"},
		{name: "docker-debian", engine: "WORKSPACEKIT_DOCKER_HOST", image: "WORKSPACEKIT_DEBIAN_IMAGE"},
		{name: "podman-busybox", engine: "WORKSPACEKIT_PODMAN", image: "WORKSPACEKIT_BUSYBOX_IMAGE"},
	}
}

// inPlaces runs test in every place that there is, side by side: most of it is
// waiting for an engine. Where everything is meant to be there, a place that is
// not is a failure.
func inPlaces(t *testing.T, test func(t *testing.T, r *running)) {
	t.Helper()
	in(t, places(), test)
}

// inImages is inPlaces for what depends on the programs of an image. One engine is
// enough for that, unless tests try everything.
func inImages(t *testing.T, test func(t *testing.T, r *running)) {
	t.Helper()
	docker := places()[:3]
	in(t, exhaustive.Some(t, "the programs of images over Podman", places(), docker), test)
}

// in runs test in some places, side by side and beside other tests.
func in(t *testing.T, some []place, test func(t *testing.T, r *running)) {
	t.Helper()
	t.Parallel()
	for _, p := range some {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			test(t, p.start(t))
		})
	}
}

// inTurn runs test in one place after the other, for a test that looks at what
// belongs to the whole process.
func inTurn(t *testing.T, test func(t *testing.T, r *running)) {
	t.Helper()
	for _, p := range places() {
		t.Run(p.name, func(t *testing.T) { test(t, p.start(t)) })
	}
}

// running is a place with a container in it.
type running struct {
	place
	engineArgs []string
	container  string // empty for this computer
	number     string // digits that no other place has
	roots      atomic.Int64
	files      *container.FS // at the root of the container
}

// start makes a container in p for the length of the test.
func (p place) start(t testing.TB) *running {
	t.Helper()
	r := &running{place: p, number: fmt.Sprint(mathrand.Uint64())}
	if p.engine == "" {
		return r
	}
	if testing.Short() {
		t.Skip("-short: this computer is enough")
	}
	if p.image == "WORKSPACEKIT_DEBIAN_IMAGE" {
		exhaustive.Need(t, "the tests in "+p.name)
	}
	found := enginetest.Lookup(t, p.engine, p.image)
	r.engineArgs = found[:1]
	if p.engine == "WORKSPACEKIT_DOCKER_HOST" {
		r.engineArgs = []string{"docker", "--host", found[0]}
	}
	r.container = "workspacekit-test-" + strings.ToLower(rand.Text())
	t.Cleanup(func() { r.client(t, "rm", "--force", r.container) })
	r.files = open(t, &container.Options{ // tests stop it and start it again
		Engine: r.engineArgs, Image: found[1], Root: "/",
		Create: container.CreateOptions{Name: r.container, Workdir: "/workspace", Keep: true},
	})
	return r
}

// eventually calls try until it returns nil.
func eventually(t *testing.T, what string, try func() error) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		err := try()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: %v", what, err)
		}
		time.Sleep(20 * time.Millisecond) // between two looks
	}
}

// client runs the engine's client.
func (r *running) client(t testing.TB, args ...string) string {
	t.Helper()
	words := append(append([]string{}, r.engineArgs...), args...)
	out, err := exec.Command(words[0], words[1:]...).CombinedOutput()
	if err != nil {
		t.Errorf("%q: %v: %s", words, err, out)
	}
	return string(out)
}

// options returns the options for an empty directory of the place.
func (r *running) options(t testing.TB) *container.Options {
	t.Helper()
	if r.container == "" {
		return &container.Options{Executor: container.Command{}, Root: t.TempDir()}
	}
	root := fmt.Sprintf("workspace/%d", r.roots.Add(1))
	if err := r.files.Mkdir(t.Context(), root, &workspace.MkdirOptions{Recursive: true}); err != nil {
		t.Fatal(err)
	}
	return &container.Options{Engine: r.engineArgs, Container: r.container, Root: "/" + root}
}

// open opens an empty workspace.
func (r *running) open(t testing.TB) *container.FS {
	t.Helper()
	return open(t, r.options(t))
}

// run runs a program where the files are and returns what it writes.
func (r *running) run(t testing.TB, args ...string) string {
	t.Helper()
	if r.container != "" {
		args = append(append(append([]string{}, r.engineArgs...), "exec", r.container), args...)
	}
	out, err := exec.Command(args[0], args[1:]...).CombinedOutput()
	if err != nil {
		t.Fatalf("%q: %v: %s", args, err, out)
	}
	return string(out)
}

// symlink makes a symlink.
func (r *running) symlink(t *testing.T, fsys workspace.FileSystem, target, name string) {
	t.Helper()
	link := path.Join(fallback.Root(fsys), name)
	r.run(t, "sh", "-c", `mkdir -p "$1" && ln -s "$2" "$3"`, "sh", path.Dir(link), target, link)
}

// open opens a workspace for the length of the test.
func open(t testing.TB, opts *container.Options) *container.FS {
	t.Helper()
	fsys, err := container.Open(t.Context(), opts)
	if errors.Is(err, errors.ErrUnsupported) {
		enginetest.Lacking(t, "Open(%+v) = %v: the tests need a shell with the programs of Linux", opts, err)
	}
	if err != nil {
		t.Fatalf("Open(%+v) = %v, want nil", opts, err)
	}
	t.Cleanup(func() {
		if err := fsys.Close(); err != nil {
			t.Errorf("Close() = %v, want nil", err)
		}
	})
	return fsys
}

// imageName returns the name of the image.
func (r *running) imageName() string { return os.Getenv(r.image) }

// within starts the shell in the directory bin, unless that is empty, and lets it
// look for programs in path.
type within struct {
	container.Command
	bin, path string
}

func (w within) Start(args ...string) (container.Process, error) {
	args = slices.Clone(args)
	for i, arg := range args {
		switch {
		case strings.HasPrefix(arg, "PATH="):
			args[i] = "PATH=" + w.path
		case w.bin != "" && filepath.Base(arg) == "sh":
			args[i] = filepath.Join(w.bin, "sh")
		}
	}
	return w.Command.Start(args...)
}

// commit makes an image of the container with changes in the words of a
// Dockerfile, for the length of the test.
func (r *running) commit(t testing.TB, changes ...string) (image string) {
	t.Helper()
	image = "workspacekit-test-" + strings.ToLower(rand.Text())
	args := []string{"commit"}
	for _, change := range changes {
		args = append(args, "--change="+change)
	}
	r.tell(t, append(args, r.container, image)...)
	t.Cleanup(func() { r.tell(t, "image", "rm", image) })
	return image
}

// tell runs the engine's client and returns what it writes.
func (r *running) tell(t testing.TB, args ...string) string {
	t.Helper()
	args = append(slices.Clone(r.engineArgs), args...)
	out, err := exec.Command(args[0], args[1:]...).Output()
	if err != nil {
		t.Errorf("%q: %v", args, err)
	}
	return strings.TrimSpace(string(out))
}
