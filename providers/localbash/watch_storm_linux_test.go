package localbash_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/providers/localbash"
	"github.com/workspacekit/workspacekit/workspace"
)

var stormTime = flag.Duration("storm", time.Second/4, "how long each of the storms of TestWatchStorm lasts")

// storm changes a folder as fast as it can. A step is done again and again.
type storm struct {
	name    string
	workers int
	step    func(s *stormFolder, r *rand.Rand)
	faults  func(*localbash.WatchFaults)
	loses   bool // events may be lost, and that must be said
	slow    bool // the kernel is one without openat2
}

func storms() []storm {
	return []storm{
		{name: "deploy", workers: 1, step: deploy},
		{name: "rotate", workers: 1, step: rotate},
		{name: "nest", workers: 1, step: nest},
		{name: "swap", workers: 2, step: exchange},
		{name: "remove", workers: 1, step: removeTrees},
		{name: "create", workers: 1, step: createMany},
		{name: "mixture", workers: 3, step: mixture},
		{name: "mixture-alone", workers: 1, step: mixture, slow: true},
		{name: "lost", workers: 1, step: loseEvents, loses: true},
		{name: "few-watches", workers: 2, step: mixture, faults: func(f *localbash.WatchFaults) { f.Limit.Store(6) }},
	}
}

// TestWatchStorm wants a reader that applies the events, and reads each file
// that has one, to know the folder as it is when the storm is over.
func TestWatchStorm(t *testing.T) {
	exhaustive.Long(t)
	t.Run("all", func(t *testing.T) {
		for _, storm := range storms() {
			t.Run(storm.name, func(t *testing.T) {
				t.Parallel()
				storm.run(t)
			})
		}
	})
	checkNoWatchLeft(t)
}

// stormFolder is the folder of a storm.
type stormFolder struct {
	t      *testing.T
	dir    string
	faults *localbash.WatchFaults
	count  *atomic.Int64 // makes each content another one
}

func (s storm) run(t *testing.T) {
	length := *stormTime
	if testing.Short() {
		length = min(length, 200*time.Millisecond)
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	folder := &stormFolder{t: t, dir: t.TempDir(), faults: new(localbash.WatchFaults), count: new(atomic.Int64)}
	if s.faults != nil {
		s.faults(folder.faults)
	}
	for _, name := range []string{"still/deep/er/file", "still/file", "busy/keep"} {
		put(t, filepath.Join(folder.dir, name), name)
	}
	ctx, cancel := context.WithCancel(context.Background())
	opts := &workspace.WatchOptions{Buffer: 1 << 22, Interval: 20 * time.Millisecond}
	fsys := open(t, folder.dir, nil)
	if s.slow {
		fsys.WithoutOpenat2()
	}
	events, err := fsys.WatchFaulty(ctx, ".", opts, folder.faults)
	if err != nil {
		t.Fatal(err)
	}
	m := newMirror(t, folder.dir, s.loses || folder.faults.Limit.Load() > 0)
	done := make(chan struct{})
	go m.follow(events, done)
	folder.rage(s, seed, time.Now().Add(length))
	m.settle(folder)
	cancel()
	<-done
	t.Logf("%d steps, %d events, %d overflows", folder.count.Load(), m.events, m.overflows)
	if m.overflows > 0 && !s.loses {
		t.Logf("events were lost without a reason of the test")
	}
	if s.loses && m.overflows == 0 {
		t.Errorf("no overflow was reported, want some")
	}
}

// rage does the steps of s until deadline.
func (f *stormFolder) rage(s storm, seed uint64, deadline time.Time) {
	var group sync.WaitGroup
	for i := range s.workers {
		group.Go(func() {
			r := rand.New(rand.NewPCG(seed, uint64(i)))
			for time.Now().Before(deadline) && !f.t.Failed() {
				s.step(f, r)
			}
		})
	}
	group.Wait()
}

// mirror is a reader that knows the folder by the events only, but for what it
// looks at when events were lost.
type mirror struct {
	t       *testing.T
	dir     string
	lenient bool        // a change may be reported more than once
	marked  chan string // the markers that were reported, and overflows

	mu        sync.Mutex
	known     map[string]string // what each name is; guarded by mu, as is the rest
	events    int
	overflows int
}

func newMirror(t *testing.T, dir string, lenient bool) *mirror {
	m := &mirror{t: t, dir: dir, lenient: lenient, marked: make(chan string, 1000)}
	m.known = m.walk()
	return m
}

// walk returns what there is.
func (m *mirror) walk() map[string]string {
	known := map[string]string{}
	_ = filepath.WalkDir(m.dir, func(path string, _ fs.DirEntry, err error) error {
		name, _ := filepath.Rel(m.dir, path)
		if err == nil && name != "." {
			known[name] = m.what(name)
		}
		return nil
	})
	return known
}

// what describes name: its content, or its type.
func (m *mirror) what(name string) string {
	path := filepath.Join(m.dir, name)
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return "nothing"
	case info.IsDir():
		return "directory"
	case info.Mode()&fs.ModeSymlink != 0:
		target, _ := os.Readlink(path)
		return "symlink to " + target
	}
	data, _ := os.ReadFile(path)
	return "file of " + string(data)
}

func (m *mirror) follow(events <-chan workspace.Event, done chan<- struct{}) {
	defer close(done)
	for event := range events {
		m.apply(event)
		if strings.HasPrefix(event.Path, "marker") || event.Op == workspace.EventOverflow {
			m.marked <- event.Path
		}
	}
}

func (m *mirror) apply(event workspace.Event) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.events++
	if strings.HasPrefix(event.Path, "still/") || strings.HasSuffix(event.Path, "/keep") {
		m.t.Errorf("event %v, want none of what does not change", event)
	}
	_, known := m.known[event.Path]
	switch event.Op {
	case workspace.EventOverflow:
		m.overflows++
		m.lenient = true
		m.known = m.walk()
		return
	case workspace.EventRemove:
		delete(m.known, event.Path)
		if prefix := event.Path + "/"; m.hasBelow(prefix) && !m.lenient {
			m.t.Errorf("event %v, want first those of what is below it", event)
		}
	default:
		m.known[event.Path] = m.what(event.Path)
		_, hasParent := m.known[filepath.Dir(event.Path)]
		if !hasParent && filepath.Dir(event.Path) != "." && !m.lenient {
			m.t.Errorf("event %v, want first that of its directory", event)
		}
	}
	if known != (event.Op != workspace.EventCreate) && !m.lenient {
		m.t.Errorf("event %v of a name that exists: %t", event, known)
	}
}

// hasBelow is quick enough for a storm only where it is seldom true.
func (m *mirror) hasBelow(prefix string) bool {
	if len(m.known) > 1000 {
		return false
	}
	for name := range m.known {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// stormSettle is how long a mirror may take to know everything.
const stormSettle = 60 * time.Second

// settle waits for the events of what has happened, and compares. What is
// polled may come after the marker.
func (m *mirror) settle(f *stormFolder) {
	deadline := time.Now().Add(stormSettle)
	told := 0 // markers in a row: what moved while it was looked at is looked at once more
	for i := 0; told < 3; i++ {
		marker := fmt.Sprintf("marker%d", i)
		if err := os.Mkdir(f.path(marker), 0o777); err != nil {
			m.t.Error(err)
			return
		}
		if name, ok := m.await(marker, deadline); !ok {
			m.t.Errorf("no event in %v after the storm, want one of %q", stormSettle, marker)
			return
		} else if told++; name != marker {
			told = 0
		}
	}
	for {
		m.mu.Lock()
		diff := cmp.Diff(m.walk(), m.known)
		m.mu.Unlock()
		if diff == "" {
			return
		}
		if f.faults.Limit.Load() == 0 || time.Now().After(deadline) {
			m.t.Errorf("what the events say (-want +got):\n%.3000s", diff)
			return
		}
		runtime.Gosched()
	}
}

// await waits for marker or an overflow, and says which of the two came.
func (m *mirror) await(marker string, deadline time.Time) (name string, ok bool) {
	expired := time.After(time.Until(deadline))
	for {
		select {
		case name := <-m.marked:
			if name == marker || name == "." {
				return name, true
			}
		case <-expired:
			return "", false
		}
	}
}

// put writes what no file had before.
func (f *stormFolder) put(name string) {
	path := filepath.Join(f.dir, name)
	_ = os.MkdirAll(filepath.Dir(path), 0o777)
	_ = os.WriteFile(path, fmt.Append(nil, f.count.Add(1)), 0o666)
}

func (f *stormFolder) path(name string) string { return filepath.Join(f.dir, name) }

func (f *stormFolder) move(from, to string) { _ = os.Rename(f.path(from), f.path(to)) }

func (f *stormFolder) remove(name string) { _ = os.RemoveAll(f.path(name)) }

// deploy replaces a directory, and a symlink to one.
func deploy(f *stormFolder, r *rand.Rand) {
	f.put("new/s/t/file")
	f.put("new/file")
	f.move("cur", "old")
	f.move("new", "cur")
	f.remove("old")
	f.put("cur/s/t/file")
	release := fmt.Sprintf("releases/%d", r.IntN(5))
	f.remove(release)
	f.put(release + "/bin/program")
	f.put(release + "/etc/settings")
	_ = os.Symlink(release, f.path("link.tmp"))
	f.move("link.tmp", "link")
}

// rotate keeps the last logs, and the last directories of logs.
func rotate(f *stormFolder, r *rand.Rand) {
	for i := range 1 + r.IntN(5) {
		f.put("log")
		f.put(fmt.Sprintf("logs/%d", i))
	}
	for i := 4; i > 0; i-- {
		f.move(fmt.Sprintf("log.%d", i), fmt.Sprintf("log.%d", i+1))
		f.move(fmt.Sprintf("logs.%d", i), fmt.Sprintf("logs.%d", i+1))
	}
	f.move("log", "log.1")
	f.move("logs", "logs.1")
	f.remove("logs.5")
}

// nest moves directories into each other and out again.
func nest(f *stormFolder, r *rand.Rand) {
	f.put("a/x/file")
	f.put("b/y/file")
	f.move("a", "b/a")
	f.put("b/a/x/more")
	f.move("b/y", "b/a/x/y")
	f.move("b/a/x", "x")
	f.put("x/y/file")
	f.move("b", "x/y/b")
	f.move("x/y", "a")
	if r.IntN(2) == 0 {
		f.move("a", "a2")
	}
	for _, name := range []string{"a", "b", "x", "a2"} {
		if r.IntN(3) == 0 {
			f.remove(name)
		}
	}
}

// exchange exchanges names of directories, and of a directory and a file.
func exchange(f *stormFolder, r *rand.Rand) {
	f.put("one/deep/file")
	f.put("two/deep/er/file")
	f.put("three")
	names := []string{"one", "two", "three", "one/deep", "two/deep", "busy/one"}
	r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	_ = unix.Renameat2(unix.AT_FDCWD, f.path(names[0]), unix.AT_FDCWD, f.path(names[1]), unix.RENAME_EXCHANGE)
	if r.IntN(10) == 0 {
		f.move(names[2], names[3])
	}
	if r.IntN(50) == 0 {
		f.remove(names[4])
	}
}

// removeTrees makes a tree and removes it.
func removeTrees(f *stormFolder, r *rand.Rand) {
	for i := range 20 {
		f.put(fmt.Sprintf("tree/%d/%d/%d/file", i%3, i%5, i))
	}
	f.remove("tree")
	f.put("tree/file")
	if r.IntN(2) == 0 {
		f.remove("tree")
	}
}

// createMany fills a directory and empties it.
func createMany(f *stormFolder, r *rand.Rand) {
	files := 20000
	if testing.Short() {
		files = 2000
	}
	for i := range files {
		f.put(fmt.Sprintf("busy/many/%d", i))
	}
	f.remove("busy/many")
}

// loseEvents makes more changes than the kernel keeps while nobody takes them,
// and then waits until they have been taken.
func loseEvents(f *stormFolder, r *rand.Rand) {
	f.faults.Gate.Lock()
	defer func() {
		f.faults.Gate.Unlock()
		for idle, end := f.faults.Idle.Load(), time.Now().Add(stormSettle); f.faults.Idle.Load() == idle && time.Now().Before(end); {
			runtime.Gosched()
		}
	}()
	for i := range 6000 {
		_ = os.Symlink(fmt.Sprint(f.count.Add(1)), f.path(fmt.Sprintf("busy/%d", i)))
		f.move(fmt.Sprintf("busy/%d", i), fmt.Sprintf("busy/%d", r.IntN(100)))
		if i%10 == 0 {
			mixture(f, r)
		}
	}
}

// mixture does anything, with a few names that are taken again and again.
func mixture(f *stormFolder, r *rand.Rand) {
	name := func() string {
		elements := make([]string, 1+r.IntN(4))
		for i := range elements {
			elements[i] = string(rune('a' + r.IntN(3)))
		}
		return strings.Join(elements, "/")
	}
	switch n := r.IntN(20); {
	case n < 6:
		f.put(name())
	case n < 12:
		f.move(name(), name())
	case n < 14:
		_ = unix.Renameat2(unix.AT_FDCWD, f.path(name()), unix.AT_FDCWD, f.path(name()), unix.RENAME_EXCHANGE)
	case n < 16:
		f.remove(name())
	case n < 17:
		_ = os.Symlink(name(), f.path(name()))
	case n < 19:
		_ = os.MkdirAll(f.path(name()), 0o777)
	default:
		_ = os.Remove(f.path(name()))
	}
}

// checkNoWatchLeft wants no goroutine of a watch left, and no descriptor of
// the kernel's.
func checkNoWatchLeft(t *testing.T) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for {
		left := watchesLeft(t)
		if len(left) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("left when all watches have ended: %.3000q", left)
		}
		runtime.Gosched()
	}
}

func watchesLeft(t *testing.T) []string {
	t.Helper()
	left := map[string]bool{}
	stacks := make([]byte, 1<<20)
	for stack := range strings.SplitSeq(string(stacks[:runtime.Stack(stacks, true)]), "\n\n") {
		if strings.Contains(stack, "localbash.(*watch)") || strings.Contains(stack, "notify.(*Queue)") {
			left[stack] = true
		}
	}
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		target, err := os.Readlink("/proc/self/fd/" + entry.Name())
		if err == nil && (strings.HasSuffix(target, "inotify") || strings.Contains(target, "TestWatch")) {
			left[target] = true
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
	return slices.Collect(maps.Keys(left))
}
