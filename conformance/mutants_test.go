package conformance_test

import (
	"context"
	"flag"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/workspacekit/workspacekit/conformance"
	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/workspace"
)

// mutant is the reference with one defect, and the cases that must find it.
type mutant struct {
	name   string
	breaks func(h *hooked)
	cases  []string
}

// mutants returns all of them.
func mutants() []mutant {
	return slices.Concat(generalMutants(), readMutants(), writeMutants(), conditionalMutants(), listMutants(),
		globMutants(), grepMutants(), removeMutants(), watchMutants(), optionalMutants(), symlinkMutants(), exactMutants(), hideMutants(), capabilityMutants(), runMutants())
}

// hooked is a reference whose methods can each be replaced.
type hooked struct {
	*reference
	root         string
	looks        counter // calls that read, so that a race can wait for one
	capabilities func() workspace.Capabilities
	readFile     func(ctx context.Context, name string) ([]byte, error)
	writeFile    func(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error)
	ls           func(ctx context.Context, dir string, opts *workspace.LsOptions) ([]workspace.FileInfo, error)
	glob         func(ctx context.Context, pattern string, opts *workspace.GlobOptions) ([]string, error)
	grep         func(ctx context.Context, pattern string, opts *workspace.GrepOptions) (*workspace.GrepResult, error)
	stat         func(ctx context.Context, name string) (workspace.FileInfo, error)
	rm           func(ctx context.Context, name string, opts *workspace.RmOptions) error
	mkdir        func(ctx context.Context, name string, opts *workspace.MkdirOptions) error
	watch        func(ctx context.Context, dir string, opts *workspace.WatchOptions) (<-chan workspace.Event, error)
	readVersion  func(ctx context.Context, name string, limit int64) ([]byte, workspace.Version, error)
	open         func(ctx context.Context, name string, opts *workspace.OpenOptions) (io.ReadCloser, workspace.FileInfo, error)
	create       func(ctx context.Context, name string, opts *workspace.WriteOptions) (workspace.Writer, error)
	move         func(ctx context.Context, source, destination string) error
	copyFile     func(ctx context.Context, source, destination string) (workspace.Version, error)
	walk         func(ctx context.Context, dir string, opts *workspace.WalkOptions, fn workspace.WalkFunc) error
	resolve      func(ctx context.Context, name string) (string, error)
	exact        func() (workspace.FileSystem, error)
	hide         func(hidden func(dir string) func(name string, isDir bool) bool) (workspace.FileSystem, error)
	runs         func(ctx context.Context, opts *workspace.RunOptions) (*workspace.RunResult, error) // nil for the reference's own
	defects      defects
}

// defects are what is wrong with the commands of a reference.
type defects struct {
	waitsForInput  bool     // even if the command has ended
	leaves         bool     // what a command has started is not killed
	leavesCanceled bool     // the same if its context has ended
	loses          bool     // what a command writes
	oneMark        bool     // commands cannot be told from each other
	leaks          []string // variables
}

func newHooked() *hooked { return hook(newReference()) }

func hook(r *reference) *hooked {
	h := &hooked{
		reference: r, capabilities: r.Capabilities, readFile: r.ReadFile, writeFile: r.WriteFile, ls: r.Ls, glob: r.Glob,
		grep: r.Grep, stat: r.Stat, rm: r.Rm, mkdir: r.Mkdir, watch: r.Watch, readVersion: r.ReadVersioned,
		open: r.Open, create: r.Create, move: r.Move, resolve: r.Resolve, exact: r.Exact,
	}
	h.copyFile = func(ctx context.Context, source, destination string) (workspace.Version, error) {
		return workspace.Copy(ctx, r, source, destination)
	}
	h.hide = func(hidden func(dir string) func(name string, isDir bool) bool) (workspace.FileSystem, error) {
		return hide(h, hidden), nil
	}
	h.walk = func(ctx context.Context, dir string, opts *workspace.WalkOptions, fn workspace.WalkFunc) error {
		return workspace.Walk(ctx, r, dir, opts, fn)
	}
	return h
}

func (h *hooked) Capabilities() workspace.Capabilities { return h.capabilities() }

func (h *hooked) Root() string { return h.root }

func (h *hooked) ReadFile(ctx context.Context, name string) ([]byte, error) {
	h.looks.next()
	return h.readFile(ctx, name)
}

func (h *hooked) WriteFile(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
	return h.writeFile(ctx, name, data, opts)
}

func (h *hooked) Ls(ctx context.Context, dir string, opts *workspace.LsOptions) ([]workspace.FileInfo, error) {
	h.looks.next()
	return h.ls(ctx, dir, opts)
}

func (h *hooked) Glob(ctx context.Context, pattern string, opts *workspace.GlobOptions) ([]string, error) {
	return h.glob(ctx, pattern, opts)
}

func (h *hooked) Grep(ctx context.Context, pattern string, opts *workspace.GrepOptions) (*workspace.GrepResult, error) {
	return h.grep(ctx, pattern, opts)
}

func (h *hooked) Stat(ctx context.Context, name string) (workspace.FileInfo, error) {
	h.looks.next()
	return h.stat(ctx, name)
}

func (h *hooked) Rm(ctx context.Context, name string, opts *workspace.RmOptions) error {
	return h.rm(ctx, name, opts)
}

func (h *hooked) Mkdir(ctx context.Context, name string, opts *workspace.MkdirOptions) error {
	return h.mkdir(ctx, name, opts)
}

func (h *hooked) Watch(ctx context.Context, dir string, opts *workspace.WatchOptions) (<-chan workspace.Event, error) {
	return h.watch(ctx, dir, opts)
}

func (h *hooked) ReadVersioned(ctx context.Context, name string, limit int64) ([]byte, workspace.Version, error) {
	h.looks.next()
	return h.readVersion(ctx, name, limit)
}

func (h *hooked) Open(ctx context.Context, name string, opts *workspace.OpenOptions) (io.ReadCloser, workspace.FileInfo, error) {
	return h.open(ctx, name, opts)
}

func (h *hooked) Create(ctx context.Context, name string, opts *workspace.WriteOptions) (workspace.Writer, error) {
	return h.create(ctx, name, opts)
}

func (h *hooked) Move(ctx context.Context, source, destination string) error {
	return h.move(ctx, source, destination)
}

func (h *hooked) Copy(ctx context.Context, source, destination string) (workspace.Version, error) {
	return h.copyFile(ctx, source, destination)
}

func (h *hooked) Walk(ctx context.Context, dir string, opts *workspace.WalkOptions, fn workspace.WalkFunc) error {
	return h.walk(ctx, dir, opts, fn)
}

func (h *hooked) Resolve(ctx context.Context, name string) (string, error) {
	return h.resolve(ctx, name)
}

func (h *hooked) Hide(hidden func(dir string) func(name string, isDir bool) bool) (workspace.FileSystem, error) {
	return h.hide(hidden)
}

func (h *hooked) Exact() (workspace.FileSystem, error) { return h.exact() }

// TestMain keeps rapid from writing files for failures that are wanted, and from looking
// long for the smallest. Cases mostly wait, so more run side by side; -parallel still wins.
func TestMain(m *testing.M) {
	for name, value := range map[string]string{"rapid.nofailfile": "true", "rapid.shrinktime": "1ms", "test.parallel": "8"} {
		if err := flag.Set(name, value); err != nil {
			panic(err)
		}
	}
	exhaustive.Quicken()
	dir, err := os.MkdirTemp("", "conformance-")
	if err != nil {
		panic(err)
	}
	os.Setenv("TMPDIR", dir) // where commands leave files
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// TestBase proves that what the mutants are made from passes every case.
func TestBase(t *testing.T) {
	t.Parallel()
	conformance.Run(t, func(*testing.T) workspace.FileSystem { return newHooked() }, &conformance.Options{Symlink: symlink, Short: true})
}

// TestMutants proves that each mutant fails the cases that are named for it.
// Events that do not come are not waited for as long as those of a real store.
func TestMutants(t *testing.T) {
	t.Parallel()
	opts := conformance.Options{Symlink: symlink, WatchWait: 300 * time.Millisecond}
	t.Run("all", func(t *testing.T) {
		for _, m := range mutants() {
			t.Run(m.name, func(t *testing.T) {
				exhaustive.Sample(t, 5)
				t.Parallel()
				for _, name := range m.cases {
					got := runMutant(t, m, name, opts)
					if got.Skipped && testing.Short() {
						t.Skipf("case %s: %s", name, got.Log)
					}
					if !got.Failed {
						t.Errorf("case %s does not fail for this mutant; its log: %s", name, got.Log)
					}
				}
			})
		}
	})
}

// maxRaces is how often a mutant may get away: what only goes wrong if two
// goroutines meet does not go wrong every time.
const maxRaces = 20

// runMutant runs the case name on fresh mutants until it fails.
func runMutant(t *testing.T, m mutant, name string, opts conformance.Options) (got conformance.Outcome) {
	t.Helper()
	for range maxRaces {
		h := newHooked()
		m.breaks(h)
		if got = conformance.RunCase(t, name, h, opts); got.Failed || got.Skipped {
			break
		}
	}
	return got
}

// TestEveryCaseHasMutant proves that there is no case that cannot fail.
func TestEveryCaseHasMutant(t *testing.T) {
	caught := map[string]bool{"Names/cleaned": true, "Capabilities/methods-of-store": true} // by TestCleanNames, TestMethodsOfStore
	for _, m := range mutants() {
		for _, name := range m.cases {
			caught[name] = true
		}
	}
	for _, name := range conformance.CaseNames() {
		if runtime.GOOS != "linux" && strings.HasPrefix(name, "Run/") {
			continue // see runMutants
		}
		if !caught[name] {
			t.Errorf("case %s has no mutant that it must catch", name)
		}
	}
}
