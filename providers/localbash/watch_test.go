package localbash_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/workspacekit/workspacekit/providers/localbash"
	"github.com/workspacekit/workspacekit/workspace"
)

// observer reads the events of a watch.
type observer struct {
	t      *testing.T
	events <-chan workspace.Event
}

// watch watches dir for the length of the test.
func watch(t *testing.T, fsys *localbash.FS, dir string) *observer {
	t.Helper()
	return watchEvery(t, fsys, dir, 0)
}

func watchEvery(t *testing.T, fsys *localbash.FS, dir string, interval time.Duration) *observer {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	events, err := fsys.Watch(ctx, dir, &workspace.WatchOptions{Interval: interval})
	if err != nil {
		t.Fatalf("Watch(%q) = %v, want nil", dir, err)
	}
	return &observer{t: t, events: events}
}

// until reads until each of wanted, "op path", has been seen, and returns what
// else was.
func (o *observer) until(wanted ...string) (others []string) {
	o.t.Helper()
	missing := map[string]bool{}
	for _, event := range wanted {
		missing[event] = true
	}
	deadline := time.After(10 * time.Second)
	for len(missing) > 0 {
		select {
		case event, ok := <-o.events:
			if !ok {
				o.t.Fatalf("the channel was closed before %v", missing)
			}
			text := fmt.Sprint(event.Op, " ", event.Path)
			if !missing[text] {
				others = append(others, text)
			}
			delete(missing, text)
		case <-deadline:
			o.t.Fatalf("waited in vain for %v, saw also %q", missing, others)
		}
	}
	return others
}

// settle returns all events up to now: up to that of a change made now.
func (o *observer) settle(dir string) []string {
	o.t.Helper()
	put(o.t, filepath.Join(dir, "settle"), "")
	return o.until("create settle")
}

func rename(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

// watchCase is something that is done to a folder, and its events.
type watchCase struct {
	name   string
	before []string // files that exist already
	do     func(t *testing.T, fsys *localbash.FS, dir string)
	want   []string
	later  []string // files that are created after those events, to be seen, too
}

func fileWatchCases() []watchCase {
	return []watchCase{
		{"atomic-replace-is-a-write", []string{"a"}, func(t *testing.T, fsys *localbash.FS, dir string) {
			write(t, fsys, "a", "new")
		}, []string{"write a"}, nil},
		{"atomic-create", nil, func(t *testing.T, fsys *localbash.FS, dir string) {
			write(t, fsys, "a", "new")
		}, []string{"create a"}, nil},
		{"deep-create", nil, func(t *testing.T, fsys *localbash.FS, dir string) {
			write(t, fsys, "a/b/c/d", "new")
		}, []string{"create a", "create a/b", "create a/b/c", "create a/b/c/d"}, nil},
		{"file-moved", []string{"a", "dir/x"}, func(t *testing.T, fsys *localbash.FS, dir string) {
			rename(t, filepath.Join(dir, "a"), filepath.Join(dir, "dir/a"))
		}, []string{"remove a", "create dir/a"}, nil},
		{"file-becomes-folder", []string{"a"}, func(t *testing.T, fsys *localbash.FS, dir string) {
			os.Remove(filepath.Join(dir, "a"))
			put(t, filepath.Join(dir, "a/b"), "")
		}, []string{"remove a", "create a", "create a/b"}, nil},
		{"tree-removed", []string{"a/b/c", "a/d"}, func(t *testing.T, fsys *localbash.FS, dir string) {
			os.RemoveAll(filepath.Join(dir, "a"))
		}, []string{"remove a", "remove a/b", "remove a/b/c", "remove a/d"}, nil},
		{"written-in-place", []string{"a/b"}, func(t *testing.T, fsys *localbash.FS, dir string) {
			put(t, filepath.Join(dir, "a/b"), "more")
		}, []string{"write a/b"}, nil},
		{"chmod-is-no-event", []string{"a"}, func(t *testing.T, fsys *localbash.FS, dir string) {
			if err := os.Chmod(filepath.Join(dir, "a"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, nil, nil},
	}
}

func newFolderWatchCases() []watchCase {
	return []watchCase{
		{"new-folder-with-files", nil, func(t *testing.T, fsys *localbash.FS, dir string) {
			put(t, filepath.Join(dir, "new/a"), "")
			put(t, filepath.Join(dir, "new/sub/b"), "")
		}, []string{"create new", "create new/a", "create new/sub", "create new/sub/b"}, []string{"new/sub/later"}},
		{"folder-moved-in", nil, func(t *testing.T, fsys *localbash.FS, dir string) {
			elsewhere := t.TempDir()
			put(t, filepath.Join(elsewhere, "new/sub/b"), "")
			rename(t, filepath.Join(elsewhere, "new"), filepath.Join(dir, "new"))
		}, []string{"create new", "create new/sub", "create new/sub/b"}, []string{"new/sub/later"}},
	}
}

func movedFolderWatchCases() []watchCase {
	return []watchCase{
		{"folder-moved-out", []string{"old/sub/b"}, func(t *testing.T, fsys *localbash.FS, dir string) {
			rename(t, filepath.Join(dir, "old"), filepath.Join(t.TempDir(), "old"))
		}, []string{"remove old", "remove old/sub", "remove old/sub/b"}, nil},
		{"folder-moved-within", []string{"old/sub/b"}, func(t *testing.T, fsys *localbash.FS, dir string) {
			rename(t, filepath.Join(dir, "old"), filepath.Join(dir, "new"))
			put(t, filepath.Join(dir, "new/sub/c"), "")
		}, []string{
			"remove old", "remove old/sub", "remove old/sub/b",
			"create new", "create new/sub", "create new/sub/b", "create new/sub/c",
		}, []string{"new/later", "new/sub/later"}},
		{"folder-moved-into-new-folder", []string{"old/sub/b"}, func(t *testing.T, fsys *localbash.FS, dir string) {
			if err := os.Mkdir(filepath.Join(dir, "new"), 0o777); err != nil {
				t.Fatal(err)
			}
			rename(t, filepath.Join(dir, "old"), filepath.Join(dir, "new/old"))
			put(t, filepath.Join(dir, "new/old/sub/c"), "")
		}, []string{
			"remove old", "remove old/sub", "remove old/sub/b",
			"create new", "create new/old", "create new/old/sub", "create new/old/sub/b", "create new/old/sub/c",
		}, []string{"new/later", "new/old/later", "new/old/sub/later"}},
		{"folder-replaced", []string{"old/b"}, func(t *testing.T, fsys *localbash.FS, dir string) {
			rename(t, filepath.Join(dir, "old"), filepath.Join(dir, "new"))
			put(t, filepath.Join(dir, "old/c"), "")
			put(t, filepath.Join(dir, "new/d"), "")
		}, []string{"remove old", "remove old/b", "create old", "create old/c", "create new", "create new/b", "create new/d"},
			[]string{"new/later", "old/later"}},
		{"folder-made-again", []string{"old/b"}, func(t *testing.T, fsys *localbash.FS, dir string) {
			os.RemoveAll(filepath.Join(dir, "old"))
			put(t, filepath.Join(dir, "old/c"), "")
		}, []string{"remove old", "remove old/b", "create old", "create old/c"}, []string{"old/later"}},
	}
}

// TestWatch does things to a folder and wants their events, and no others but
// those that name the same files.
func TestWatch(t *testing.T) {
	for _, test := range slices.Concat(fileWatchCases(), newFolderWatchCases(), movedFolderWatchCases()) {
		t.Run(test.name, func(t *testing.T) {
			fsys := test.open(t)
			others := test.run(t, fsys, watch(t, fsys, "."))
			checkOthers(t, others, test.want)
		})
	}
}

// TestWatchByPath watches as on the systems other than Linux. On Linux fsnotify
// does not get over directories that move.
func TestWatchByPath(t *testing.T) {
	for _, test := range slices.Concat(fileWatchCases(), newFolderWatchCases()) {
		t.Run(test.name, func(t *testing.T) {
			fsys := test.open(t)
			events, err := fsys.WatchFaulty(t.Context(), ".", nil, &localbash.WatchFaults{Paths: true})
			if err != nil {
				t.Fatal(err)
			}
			others := test.run(t, fsys, &observer{t: t, events: events})
			checkOthers(t, others, test.want)
		})
	}
}

// open opens a folder with the files that exist before.
func (test watchCase) open(t *testing.T) *localbash.FS {
	t.Helper()
	dir := t.TempDir()
	for _, name := range test.before {
		put(t, filepath.Join(dir, name), "old")
	}
	return open(t, dir, nil)
}

// run does what test says to the folder of fsys, and returns the events that
// came beside those that are wanted.
func (test watchCase) run(t *testing.T, fsys *localbash.FS, o *observer) (others []string) {
	t.Helper()
	dir := fsys.Root()
	test.do(t, fsys, dir)
	others = append(o.until(test.want...), o.settle(dir)...)
	for _, name := range test.later {
		put(t, filepath.Join(dir, name), "")
		o.until("create " + name)
	}
	return others
}

// checkOthers wants others to repeat only what was wanted, or to write what was
// created.
func checkOthers(t *testing.T, others, wanted []string) {
	t.Helper()
	for _, event := range others {
		op, name, _ := strings.Cut(event, " ")
		allowed := false
		for _, want := range wanted {
			allowed = allowed || event == want || op == "write" && want == "create "+name
		}
		if !allowed {
			t.Errorf("event %q, want none but %q", event, wanted)
		}
	}
}

// TestWatchSubfolder wants the names from the root, through a symlink too, and
// nothing from beside the folder.
func TestWatchSubfolder(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "a/b/c"), "")
	link(t, "a/b", filepath.Join(dir, "link"))
	fsys := open(t, dir, nil)
	direct, linked := watch(t, fsys, "a/b"), watch(t, fsys, "link")
	put(t, filepath.Join(dir, "beside"), "")
	put(t, filepath.Join(dir, "a/b/d"), "")
	if others := direct.until("create a/b/d"); len(others) > 0 {
		t.Errorf("Watch(%q) reported also %q", "a/b", others)
	}
	if others := linked.until("create link/d"); len(others) > 0 {
		t.Errorf("Watch(%q) reported also %q", "link", others)
	}
}

// TestWatchDoesNotFollow wants a symlink to be a name like any other.
func TestWatchDoesNotFollow(t *testing.T) {
	base := t.TempDir()
	dir := filepath.Join(base, "root")
	put(t, filepath.Join(base, "outside/file"), "")
	put(t, filepath.Join(dir, "real/file"), "")
	o := watch(t, open(t, dir, nil), ".")
	link(t, "../outside", filepath.Join(dir, "out"))
	link(t, "real", filepath.Join(dir, "in"))
	put(t, filepath.Join(base, "outside/new"), "")
	put(t, filepath.Join(dir, "real/new"), "")
	others := append(o.until("create out", "create in", "create real/new"), o.settle(dir)...)
	checkOthers(t, others, []string{"create real/new"})
}

// TestWatchSymlinkReplaced wants a symlink that takes the name of another to
// be another one.
func TestWatchSymlinkReplaced(t *testing.T) {
	dir := t.TempDir()
	link(t, "one", filepath.Join(dir, "link"))
	link(t, "two", filepath.Join(dir, "new"))
	o := watch(t, open(t, dir, nil), ".")
	rename(t, filepath.Join(dir, "new"), filepath.Join(dir, "link"))
	checkOthers(t, o.until("remove link", "create link", "remove new"), nil)
}

// TestWatchTopReplaced wants everything reported as removed when the watched
// directory is moved, or one above it, and as created what takes its name.
func TestWatchTopReplaced(t *testing.T) {
	for _, moved := range []string{"a/top", "a", "link"} {
		t.Run(strings.ReplaceAll(moved, "/", "-"), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			put(t, filepath.Join(dir, "a/top/sub/file"), "")
			link(t, "a", filepath.Join(dir, "link"))
			top := "a/top"
			if moved == "link" {
				top = "link/top"
			}
			o := watchEvery(t, open(t, dir, nil), top, 20*time.Millisecond)
			rename(t, filepath.Join(dir, moved), filepath.Join(dir, "gone"))
			o.until("remove "+top+"/sub/file", "remove "+top+"/sub")
			put(t, filepath.Join(dir, top, "new/file"), "")
			o.until("create "+top+"/new", "create "+top+"/new/file")
			put(t, filepath.Join(dir, top, "new/later"), "")
			o.until("create " + top + "/new/later")
		})
	}
}

// TestWatchRootMoved wants the root to stay what it is, whatever its path.
func TestWatchRootMoved(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "root")
	put(t, filepath.Join(dir, "file"), "")
	o := watch(t, open(t, dir, nil), ".")
	rename(t, dir, dir+"2")
	put(t, filepath.Join(dir+"2", "new/file"), "")
	checkOthers(t, o.until("create new", "create new/file"), []string{"create new/file"})
}

// TestWatchEnds wants neither the channel nor a goroutine nor a descriptor to
// be left when the context has ended.
func TestWatchEnds(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "a/b/c"), "")
	fsys := open(t, dir, nil)
	before := runtime.NumGoroutine()
	ctx, cancel := context.WithCancel(context.Background())
	var all []<-chan workspace.Event
	for range 5 {
		events, err := fsys.Watch(ctx, ".", nil)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, events)
	}
	put(t, filepath.Join(dir, "a/b/unread"), "")
	cancel()
	deadline := time.Now().Add(10 * time.Second)
	for runtime.NumGoroutine() > before {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines, want %d as before", runtime.NumGoroutine(), before)
		}
		runtime.Gosched()
	}
	for _, events := range all {
		if event, ok := <-events; ok {
			t.Errorf("the channel has %v, want it closed", event)
		}
	}
}

// TestWatchOutlivesClose wants a watch to continue when its FS is closed.
func TestWatchOutlivesClose(t *testing.T) {
	dir := t.TempDir()
	fsys := open(t, dir, nil)
	o := watch(t, fsys, ".")
	fsys.Close()
	put(t, filepath.Join(dir, "a/b"), "")
	o.until("create a", "create a/b")
}
