package container_test

import (
	"context"
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
	"sync"
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
	inEach(t, places(), sampled(place.enter), test)
}

// sampled enters a place for about one in three of the tests, and skips the others.
func sampled(start func(p place, t testing.TB) *running) func(p place, t testing.TB) *running {
	return func(p place, t testing.TB) *running {
		t.Helper()
		exhaustive.Sample(t, 3)
		return start(p, t)
	}
}

// inImages is inPlaces for what depends on the programs of an image. One engine is
// enough for that, unless tests try everything.
func inImages(t *testing.T, test func(t *testing.T, r *running)) {
	t.Helper()
	docker := places()[:3]
	inEach(t, exhaustive.Some(t, "the programs of images over Podman", places(), docker), sampled(place.enter), test)
}

// in runs test in some places, side by side and beside other tests, in the container
// that all tests of a place use.
func in(t *testing.T, some []place, test func(t *testing.T, r *running)) {
	t.Helper()
	inEach(t, some, place.enter, test)
}

// inOwn is in for a test that needs a container of its own: it counts the processes
// there, ends them, or changes what is not below its root.
func inOwn(t *testing.T, some []place, test func(t *testing.T, r *running)) {
	t.Helper()
	inEach(t, some, sampled(place.start), test)
}

func inEach(t *testing.T, some []place, start func(p place, t testing.TB) *running, test func(t *testing.T, r *running)) {
	t.Helper()
	t.Parallel()
	for _, p := range some {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			test(t, start(p, t))
		})
	}
}

// inTurn runs test in one place after the other, each with a container of its own, for
// a test that looks at what belongs to the whole process.
func inTurn(t *testing.T, test func(t *testing.T, r *running)) {
	t.Helper()
	for _, p := range places() {
		t.Run(p.name, func(t *testing.T) { test(t, p.start(t)) })
	}
}

// running is a place with a container in it, as one test has it.
type running struct {
	place
	*box
	number string // digits that no other test has
	prefix string // of the names of containers that the test creates
}

// box is a container that runs, or this computer.
type box struct {
	engineArgs []string
	container  string // empty for this computer
	roots      atomic.Int64
	files      *container.FS // at the root of the container
}

// with returns what a test has that uses b.
func (p place) with(b *box) *running {
	number := fmt.Sprint(mathrand.Uint64())
	return &running{place: p, box: b, number: number, prefix: "workspacekit-test-" + number}
}

// start creates a container in p for the length of the test.
func (p place) start(t testing.TB) *running {
	t.Helper()
	if !p.has(t) {
		return p.with(&box{})
	}
	b, err := p.create()
	if err != nil {
		t.Fatal(err)
	}
	r := p.with(b)
	t.Cleanup(func() {
		if err := b.files.Close(); err != nil {
			t.Errorf("Close() = %v, want nil", err)
		}
		r.client(t, "rm", "--force", r.container)
	})
	return r
}

// boxes are the containers that tests use together. TestMain ends them.
var boxes = struct {
	sync.Mutex
	of map[string]func() (*box, error) // by the name of the place
}{of: map[string]func() (*box, error){}}

// enter returns what a test has that uses a container together with other tests.
func (p place) enter(t testing.TB) *running {
	t.Helper()
	if !p.has(t) {
		return p.with(&box{})
	}
	boxes.Lock()
	once := boxes.of[p.name]
	if once == nil {
		once = sync.OnceValues(p.create)
		boxes.of[p.name] = once
	}
	boxes.Unlock()
	b, err := once()
	if err != nil {
		t.Fatal(err)
	}
	return p.with(b)
}

// closeBoxes ends the containers that tests have used together.
func closeBoxes() error {
	var errs []error
	for _, once := range boxes.of {
		if b, err := once(); err == nil {
			errs = append(errs, b.files.Close(), exec.Command(b.engineArgs[0], append(b.engineArgs[1:], "rm", "--force", b.container)...).Run())
		}
	}
	return errors.Join(errs...)
}

// has reports whether p has a container, and not this computer. It skips the test if p
// is left out.
func (p place) has(t testing.TB) bool {
	t.Helper()
	if p.engine == "" {
		return false
	}
	if testing.Short() {
		t.Skip("-short: this computer is enough")
	}
	if p.image == "WORKSPACEKIT_DEBIAN_IMAGE" {
		exhaustive.Need(t, "the tests in "+p.name)
	}
	if p.engine == "WORKSPACEKIT_PODMAN" {
		exhaustive.Long(t) // what differs from Docker is the client
	}
	enginetest.Lookup(t, p.engine, p.image)
	return true
}

// create creates a container in p, which is kept whoever is killed.
func (p place) create() (*box, error) {
	b := &box{engineArgs: []string{os.Getenv(p.engine)}, container: "workspacekit-test-" + strings.ToLower(rand.Text())}
	if p.engine == "WORKSPACEKIT_DOCKER_HOST" {
		b.engineArgs = []string{"docker", "--host", os.Getenv(p.engine)}
	}
	var err error
	b.files, err = container.Open(context.Background(), &container.Options{
		Engine: b.engineArgs, Image: os.Getenv(p.image), Root: "/",
		Create: container.CreateOptions{Name: b.container, Workdir: "/workspace", Keep: true},
	})
	return b, err
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
