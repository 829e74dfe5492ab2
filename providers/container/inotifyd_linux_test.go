package container_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/workspacekit/workspacekit/internal/enginetest"
	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/providers/container"
	"github.com/workspacekit/workspacekit/workspace"
)

// withInotifyd returns an Executor for this computer with inotifyd in place of
// inotifywait: that of busybox, or a stand-in where busybox was made without.
func withInotifyd(t *testing.T) container.Executor {
	t.Helper()
	bin := t.TempDir()
	busybox, _ := exec.LookPath("busybox")
	command := fmt.Sprintf("exec '%s' inotifyd \"$@\"\n", busybox)
	if applets, _ := exec.Command("busybox", "--list").Output(); !slices.Contains(strings.Fields(string(applets)), "inotifyd") {
		command = fmt.Sprintf("INOTIFYD=1 exec '%s' -test.run='^TestInotifydProgram$' -- \"$@\"\n", executable(t))
	}
	if err := os.WriteFile(filepath.Join(bin, "inotifyd"), []byte("#!/bin/sh\n"+command), 0o755); err != nil {
		t.Fatal(err)
	}
	others := withoutInotifywait()
	return within{bin: others, path: bin + ":" + others}
}

// linkedPrograms is the directory of withoutInotifywait, "" until there is one.
// TestMain removes it.
var linkedPrograms string

// withoutInotifywait returns a directory with symlinks to all programs of this
// computer but inotifywait. There are thousands, so it is made once.
var withoutInotifywait = sync.OnceValue(func() string {
	bin, err := os.MkdirTemp("", "workspacekit-test-bin-")
	if err != nil {
		panic(err)
	}
	linkedPrograms = bin
	for _, dir := range []string{"/bin", "/usr/bin"} {
		programs, err := filepath.Glob(dir + "/*")
		if err != nil {
			panic(err)
		}
		for _, program := range programs {
			if filepath.Base(program) != "inotifywait" {
				_ = os.Symlink(program, filepath.Join(bin, filepath.Base(program))) // the first counts
			}
		}
	}
	return bin
})

func executable(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestInotifydProgram is no test but the stand-in: it does what busybox 1.35
// does.
func TestInotifydProgram(t *testing.T) {
	if os.Getenv("INOTIFYD") == "" {
		t.Skip("it is run by others")
	}
	at := slices.Index(os.Args, "--")
	fmt.Fprintln(os.Stderr, standIn(os.Args[at+2:]))
	os.Exit(1)
}

// eventNames are what inotifyd calls the bits of an event.
const eventNames = "acew0rmyndDM.uox"

func standIn(args []string) error {
	fd, err := unix.InotifyInit()
	if err != nil {
		return err
	}
	watched := []string{"inotifyd"}
	for _, arg := range args {
		path, names, _ := strings.Cut(arg, ":")
		mask := uint32(0)
		for i, name := range eventNames {
			if strings.ContainsRune(names, name) {
				mask |= 1 << i
			}
		}
		if _, err := unix.InotifyAddWatch(fd, path, mask); err != nil {
			return fmt.Errorf("add watch (%s) failed: %w", path, err)
		}
		watched = append(watched, path)
	}
	for buf := make([]byte, 64<<10); ; {
		n, err := unix.Read(fd, buf)
		if err != nil {
			return err
		}
		for b := buf[:n]; len(b) > 0; {
			number, mask := int32(binary.NativeEndian.Uint32(b)), binary.NativeEndian.Uint32(b[4:])
			length := binary.NativeEndian.Uint32(b[12:])
			fmt.Println(eventLine(mask, watched[max(number, 0)], string(bytes.TrimRight(b[16:16+length], "\x00"))))
			b = b[16+length:]
		}
	}
}

func eventLine(mask uint32, words ...string) string {
	var line string
	for i, name := range eventNames {
		if mask&(1<<i) != 0 {
			line += string(name)
		}
	}
	return strings.TrimSuffix(line+"\t"+strings.Join(words, "\t"), "\t")
}

// localExecutor returns the Executor for this computer with which the suite runs:
// with inotifyd, as inotifywait is in an image.
func localExecutor(t *testing.T) container.Executor { return withInotifyd(t) }

func TestInotifydIsNative(t *testing.T) {
	f := open(t, &container.Options{Executor: withInotifyd(t), Root: t.TempDir(), Lazy: true})
	if mode := f.Capabilities().Watch; mode != workspace.WatchPolled {
		t.Errorf("Capabilities().Watch before the start = %q, want %q", mode, workspace.WatchPolled)
	}
	if _, err := f.Stat(t.Context(), "."); err != nil {
		t.Fatal(err)
	}
	if mode := f.Capabilities().Watch; mode != workspace.WatchNative {
		t.Errorf("Capabilities().Watch = %q, want %q", mode, workspace.WatchNative)
	}
}

// TestInotifyd makes changes that it could miss: those in directories that it
// was not given, or that it cannot be given at all. When a file in such a directory has
// been reported, the directory is watched, and a later one is reported, too.
func TestInotifyd(t *testing.T) {
	t.Parallel()
	executor := withInotifyd(t)
	for _, test := range []struct{ name, before, change, dir string }{
		{"file", "", "", "."},
		{"new-directory", "", "mkdir -p a/b", "a/b"},
		{"replaced-directory", "mkdir dir", "rmdir dir; mkdir dir", "dir"},
		{"moved-directory", "mkdir dir", "mv dir moved", "moved"},
		{"replaced-top", "", "rmdir ../top; mkdir ../top", "."},
		{"colon", "mkdir a a:b", "", "a:b"},
		{"new-colon", "", "mkdir a:b", "a:b"},
		{"line-break", "mkdir 'a\nb'", "", "a\nb"},
		{"new-line-break", "", "mkdir 'a\nb'", "a\nb"},
		{"tab", "", "mkdir 'n\t.\tx'", "n\t.\tx"},
		{"many-directories", "for i in $(seq 500); do mkdir -p d$i/e; done", "", "d499/e"},
	} {
		t.Run(test.name, func(t *testing.T) {
			exhaustive.Sample(t, 4)
			t.Parallel()
			top := filepath.Join(t.TempDir(), "top")
			shell(t, filepath.Dir(top), "mkdir top")
			shell(t, top, test.before)
			f := open(t, &container.Options{Executor: executor, Root: top})
			events, err := f.Watch(t.Context(), ".", nil)
			if err != nil {
				t.Fatal(err)
			}
			shell(t, top, test.change)
			reportsFiles(t, events, top, test.dir)
		})
	}
}

// TestReplacedTop has the watched directory removed, and another in its place,
// where inotifywait reports that.
func TestReplacedTop(t *testing.T) {
	t.Parallel()
	exhaustive.NotShort(t, "waits for events")
	if _, err := exec.LookPath("inotifywait"); err != nil {
		enginetest.Lacking(t, "there is no inotifywait: install inotify-tools")
	}
	root := t.TempDir()
	shell(t, root, "mkdir -p top/sub")
	f := open(t, &container.Options{Executor: container.Command{}, Root: root})
	events, err := f.Watch(t.Context(), "top", nil)
	if err != nil {
		t.Fatal(err)
	}
	shell(t, root, "rm -r top; mkdir top")
	reportsFiles(t, events, root, "top")
	shell(t, root, "mkdir top/sub")
	reportsFiles(t, events, root, "top/sub")
}

// TestInotifydBelow has the directory above what is watched moved away, and
// another in its place.
func TestInotifydBelow(t *testing.T) {
	t.Parallel()
	exhaustive.NotShort(t, "waits for events")
	root := t.TempDir()
	shell(t, root, "mkdir -p a/b")
	f := open(t, &container.Options{Executor: withInotifyd(t), Root: root})
	events, err := f.Watch(t.Context(), "a/b", nil)
	if err != nil {
		t.Fatal(err)
	}
	shell(t, root, "mv a c; mkdir -p a/b")
	reportsFiles(t, events, root, "a/b")
}

// reportsFiles makes two files in a directory below root, the second one when the first has been
// reported.
func reportsFiles(t *testing.T, events <-chan workspace.Event, root, dir string) {
	t.Helper()
	for _, file := range []string{"first", "second"} {
		name := path.Join(dir, file)
		put(t, filepath.Join(root, name), "")
		awaitEvent(t, events, name)
	}
}

func shell(t *testing.T, dir, script string) {
	t.Helper()
	cmd := exec.Command("sh", "-c", script)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", script, err, out)
	}
}

// awaitEvent returns when the name has been reported.
func awaitEvent(t *testing.T, events <-chan workspace.Event, name string) {
	t.Helper()
	if err := reported(t.Context(), events, name); err != nil {
		t.Fatal(err)
	}
}

// reported waits until an event of name comes.
func reported(ctx context.Context, events <-chan workspace.Event, name string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	for {
		select {
		case event := <-events:
			if event.Path == name {
				return nil
			}
		case <-ctx.Done():
			return fmt.Errorf("nothing reported %q", name)
		}
	}
}

// TestInotifydChurn makes and removes directories all the time: whatever is
// missed meanwhile, what exists at last has been reported.
func TestInotifydChurn(t *testing.T) {
	exhaustive.Long(t)
	t.Parallel()
	dir := t.TempDir()
	f := open(t, &container.Options{Executor: withInotifyd(t), Root: dir})
	events, err := f.Watch(t.Context(), ".", &workspace.WatchOptions{Buffer: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	rounds := 300
	if testing.Short() {
		rounds = 60
	}
	shell(t, dir, fmt.Sprintf(`rounds=%d; `, rounds)+`for i in $(seq $rounds); do mkdir -p d$i/e && touch d$i/e/f; rm -r d$((i-1)) 2>/dev/null; done; mkdir -p last/dir; touch last/dir/file`)
	awaitEvent(t, events, "last/dir/file")
	shell(t, dir, fmt.Sprintf("touch last/dir/more d%d/e/g", rounds))
	awaitEvent(t, events, "last/dir/more")
}
