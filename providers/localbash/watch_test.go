package localbash_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
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
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	events, err := fsys.Watch(ctx, dir, nil)
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

func folderWatchCases() []watchCase {
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
	}
}

// TestWatch does things to a folder and wants their events, and no others but
// those that name the same files.
func TestWatch(t *testing.T) {
	for _, test := range append(fileWatchCases(), folderWatchCases()...) {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			for _, name := range test.before {
				put(t, filepath.Join(dir, name), "old")
			}
			fsys := open(t, dir, nil)
			o := watch(t, fsys, ".")
			test.do(t, fsys, dir)
			others := append(o.until(test.want...), o.settle(dir)...)
			checkOthers(t, others, test.want)
			for _, name := range test.later {
				put(t, filepath.Join(dir, name), "")
				o.until("create " + name)
			}
		})
	}
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

// TestWatchTopRemoved wants everything reported as removed, and a word that
// nothing follows.
func TestWatchTopRemoved(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "top/sub/file"), "")
	o := watch(t, open(t, dir, nil), "top")
	rename(t, filepath.Join(dir, "top"), filepath.Join(dir, "gone"))
	o.until("remove top/sub/file", "remove top/sub", "overflow top")
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
	cancel()
	for _, events := range all {
		for range events { // until it is closed
		}
	}
	deadline := time.Now().Add(10 * time.Second)
	for runtime.NumGoroutine() > before {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines, want %d as before", runtime.NumGoroutine(), before)
		}
		runtime.Gosched()
	}
}

// TestWatchOutlivesClose wants a watch to go on when its FS is closed.
func TestWatchOutlivesClose(t *testing.T) {
	dir := t.TempDir()
	fsys := open(t, dir, nil)
	o := watch(t, fsys, ".")
	fsys.Close()
	put(t, filepath.Join(dir, "a/b"), "")
	o.until("create a", "create a/b")
}
