package localbash_test

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/providers/localbash"
	"github.com/workspacekit/workspacekit/workspace"
)

// TestWatchRecovers loses events, and wants that to be said, and later changes
// to be seen in all that has been made meanwhile.
func TestWatchRecovers(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "old/file"), "")
	put(t, filepath.Join(dir, "removed/file"), "")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	faults := new(localbash.WatchFaults)
	events, err := open(t, dir, nil).WatchFaulty(ctx, ".", nil, faults)
	if err != nil {
		t.Fatal(err)
	}
	o := &observer{t: t, events: events}
	put(t, filepath.Join(dir, "seen"), "")
	o.until("create seen")
	faults.Blind.Store(true)
	put(t, filepath.Join(dir, "new/sub/file"), "")
	rename(t, filepath.Join(dir, "removed"), filepath.Join(dir, "moved"))
	faults.Lose.Store(true)
	faults.Blind.Store(false)
	o.until("overflow .")
	put(t, filepath.Join(dir, "new/sub/file"), "more")
	put(t, filepath.Join(dir, "old/file"), "more")
	put(t, filepath.Join(dir, "moved/file"), "more")
	put(t, filepath.Join(dir, "removed/file"), "")
	wanted := []string{"write new/sub/file", "write old/file", "write moved/file", "create removed", "create removed/file"}
	checkOthers(t, o.until(wanted...), wanted)
}

// TestOutOfWatches uses up what the operating system has, in a child that has
// its own of that, or no /proc, or mounts. What cannot be watched has to be polled, and an index does
// not know it.
func TestOutOfWatches(t *testing.T) {
	for _, lack := range []string{"max_inotify_instances", "max_inotify_watches", "proc", "index of no instance", "index of three watches", "index without proc", "index beside mounts"} {
		t.Run(lack, func(t *testing.T) {
			t.Parallel()
			cmd := child(t, lack, t.TempDir())
			cmd.SysProcAttr = ownMounts()
			if err := cmd.Start(); err != nil {
				t.Skipf("user namespaces are not allowed here: %v", err)
			}
			if err := cmd.Wait(); err != nil {
				t.Errorf("child: %v", err)
			}
		})
	}
}

// ownMounts lets a child mount what only it sees.
func ownMounts() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}},
	}
}

// linuxRoles are what a child can do on Linux only.
func linuxRoles() map[string]func(dir string) error {
	all := map[string]func(string) error{
		"forkbomb":               forkBomb,
		"enter":                  runWhereDenied,
		"secret":                 runBesideSecrets,
		"change":                 changeOnDemand,
		"leak":                   openAndCloseIndexed,
		"max_inotify_instances":  func(dir string) error { return watchLacking(dir, limitUser("max_inotify_instances", "1")) },
		"max_inotify_watches":    func(dir string) error { return watchLacking(dir, limitUser("max_inotify_watches", "2")) },
		"proc":                   func(dir string) error { return watchLacking(dir, hideProc) },
		"index of no instance":   func(dir string) error { return searchLacking(dir, limitUser("max_inotify_instances", "0"), 0) },
		"index of three watches": func(dir string) error { return searchLacking(dir, limitUser("max_inotify_watches", "3"), 3) },
		"index beside mounts":    searchMounted,
		"index without proc":     func(dir string) error { return searchLacking(dir, hideProc, 0) },
	}
	for name, operation := range tracedOperations {
		all["trace-"+name] = callTraced(operation.call)
	}
	return all
}

func hideProc() error { return syscall.Mount("none", "/proc", "tmpfs", 0, "") }

func limitUser(limit, value string) func() error {
	return func() error { return os.WriteFile("/proc/sys/user/"+limit, []byte(value), 0) }
}

// watchLacking watches twice, and wants both to report everything.
func watchLacking(dir string, lack func() error) error {
	if err := lack(); err != nil {
		return err
	}
	return withFS(dir, func(fsys *localbash.FS) error {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		var watches []<-chan workspace.Event
		if _, err := fsys.WriteFile(ctx, "a/b/c/old", nil, nil); err != nil {
			return err
		}
		for range 2 {
			events, err := fsys.Watch(ctx, ".", &workspace.WatchOptions{Interval: 10 * time.Millisecond})
			if err != nil {
				return err
			}
			watches = append(watches, events)
		}
		for _, name := range []string{"a/b/c/new", "a/b/c/old", "x/y/z", "a/b/file"} {
			if _, err := fsys.WriteFile(ctx, name, []byte("more"), nil); err != nil {
				return err
			}
			for _, events := range watches {
				for event := range events {
					if event.Path == name {
						break
					}
				}
			}
		}
		return ctx.Err()
	})
}

// TestWatchFew has the watches run out and come back. What has none is polled.
func TestWatchFew(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "a/b/file"), "")
	put(t, filepath.Join(dir, "a/b/mode"), "")
	link(t, "file", filepath.Join(dir, "a/b/link"))
	faults := new(localbash.WatchFaults)
	faults.Limit.Store(2)
	opts := &workspace.WatchOptions{Interval: 10 * time.Millisecond}
	events, err := open(t, dir, nil).WatchFaulty(t.Context(), ".", opts, faults)
	if err != nil {
		t.Fatal(err)
	}
	o := &observer{t: t, events: events}
	put(t, filepath.Join(dir, "a/b/file"), "more")
	put(t, filepath.Join(dir, "a/b/new/deep/file"), "")
	os.Remove(filepath.Join(dir, "a/b/link"))
	wanted := []string{
		"write a/b/file", "create a/b/new", "create a/b/new/deep", "create a/b/new/deep/file", "remove a/b/link",
	}
	checkOthers(t, o.until(wanted...), wanted)
	rename(t, filepath.Join(dir, "a/b/new"), filepath.Join(dir, "a/b/moved"))
	wanted = []string{
		"remove a/b/new", "remove a/b/new/deep", "remove a/b/new/deep/file",
		"create a/b/moved", "create a/b/moved/deep", "create a/b/moved/deep/file",
	}
	checkOthers(t, o.until(wanted...), wanted)
	faults.Limit.Store(0)
	deadline := time.Now().Add(10 * time.Second)
	for faults.Count.Load() < 5 { // with the watched directory itself
		if time.Now().After(deadline) {
			t.Fatalf("%d watches, want 5", faults.Count.Load())
		}
		runtime.Gosched()
	}
	put(t, filepath.Join(dir, "a/b/moved/deep/file"), "more")
	checkOthers(t, o.until("write a/b/moved/deep/file"), nil)
}

// TestWatchInodeReused has a directory removed, and another made that gets its
// inode number, before anybody looks.
func TestWatchInodeReused(t *testing.T) {
	dir := t.TempDir()
	old := filepath.Join(dir, "old")
	put(t, filepath.Join(old, "a"), "")
	faults := new(localbash.WatchFaults)
	events, err := open(t, dir, nil).WatchFaulty(t.Context(), ".", nil, faults)
	if err != nil {
		t.Fatal(err)
	}
	o := &observer{t: t, events: events}
	faults.Gate.Lock()
	before := inode(t, old)
	os.RemoveAll(old)
	for range 100 {
		if err := os.Mkdir(old, 0o777); err != nil {
			t.Fatal(err)
		}
		if inode(t, old) == before {
			break
		}
		os.Remove(old)
	}
	put(t, filepath.Join(old, "b"), "")
	if inode(t, old) != before {
		t.Log("this file system does not use inode numbers again")
	}
	faults.Gate.Unlock()
	o.until("remove old/a", "remove old", "create old", "create old/b")
	put(t, filepath.Join(old, "later"), "")
	o.until("create old/later")
}

// TestWatchMovedAndBack moves a directory away and back before the watch looks. Whoever
// looked in between found it missing, and has to learn that it is back.
func TestWatchMovedAndBack(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "dir/sub/file"), "")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	faults := new(localbash.WatchFaults)
	events, err := open(t, dir, nil).WatchFaulty(ctx, ".", nil, faults)
	if err != nil {
		t.Fatal(err)
	}
	faults.Gate.Lock()
	rename(t, filepath.Join(dir, "dir"), filepath.Join(dir, "away"))
	rename(t, filepath.Join(dir, "away"), filepath.Join(dir, "dir"))
	faults.Gate.Unlock()
	put(t, filepath.Join(dir, "last"), "")
	o := &observer{t: t, events: events}
	wanted := []string{"remove dir/sub/file", "remove dir/sub", "remove dir", "create dir", "create dir/sub", "create dir/sub/file", "create last"}
	checkOthers(t, o.until(wanted...), wanted)
}

func inode(t *testing.T, path string) uint64 {
	t.Helper()
	var stat syscall.Stat_t
	if err := syscall.Stat(path, &stat); err != nil {
		t.Fatal(err)
	}
	return stat.Ino
}

// TestWatchMounts has one directory in two places, and takes the second away.
func TestWatchMounts(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "real/sub/file"), "")
	put(t, filepath.Join(dir, "mount/hidden"), "")
	mount := filepath.Join(dir, "mount")
	if err := syscall.Mount(filepath.Join(dir, "real"), mount, "", syscall.MS_BIND, ""); err != nil {
		t.Skipf("no mounts are allowed here: %v", err)
	}
	unmount := sync.OnceFunc(func() { syscall.Unmount(mount, syscall.MNT_DETACH) })
	defer unmount()
	o := watch(t, open(t, dir, nil), ".")
	put(t, filepath.Join(dir, "real/sub/new"), "")
	o.until("create real/sub/new", "create mount/sub/new")
	unmount()
	put(t, filepath.Join(dir, "real/sub/last"), "")
	o.until("create real/sub/last", "remove mount/sub/new", "remove mount/sub", "remove mount", "create mount", "create mount/hidden")
	put(t, filepath.Join(dir, "mount/new"), "")
	checkOthers(t, o.until("create mount/new"), nil)
}

// TestWatchUnmounted takes a file system away.
func TestWatchUnmounted(t *testing.T) {
	exhaustive.NotShort(t, "waits for a mount")
	dir := t.TempDir()
	mount := filepath.Join(dir, "mount")
	put(t, filepath.Join(mount, "hidden"), "")
	if err := syscall.Mount("none", mount, "tmpfs", 0, ""); err != nil {
		t.Skipf("no mounts are allowed here: %v", err)
	}
	unmount := sync.OnceFunc(func() { syscall.Unmount(mount, syscall.MNT_DETACH) })
	defer unmount()
	put(t, filepath.Join(mount, "sub/file"), "")
	all, top := watch(t, open(t, dir, nil), "."), watch(t, open(t, dir, nil), "mount")
	unmount()
	gone := []string{"remove mount/sub/file", "remove mount/sub", "create mount/hidden"}
	all.until(append(gone, "remove mount", "create mount")...)
	top.until(gone...)
	put(t, filepath.Join(mount, "new"), "")
	all.until("create mount/new")
	top.until("create mount/new")
}
