//go:build unix

package audit_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/audit"
	"github.com/workspacekit/workspacekit/workspace/observe"
)

// each lets every line but the header begin a new file.
var each = &audit.Options{MaxSize: 1}

// record adds a line for each of names to log.
func record(log *audit.Log, names ...string) {
	for _, name := range names {
		log.After(context.Background(), observe.Event{Time: time.Now(), Op: "stat", Path: name})
	}
}

// allPaths returns the paths of the operations in all files of the log path.
func allPaths(t *testing.T, path string) (names []string) {
	t.Helper()
	for e, err := range audit.ReadFile(path) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, e.Path)
	}
	return names
}

// holds tests that the log path is intact and has names in files of these names.
func holds(t *testing.T, path string, files []string, names ...string) {
	t.Helper()
	if report, err := audit.VerifyFile(path, ""); err != nil || report.Operations != len(names) || report.Files != len(files) {
		t.Errorf("VerifyFile = %+v, %v", report, err)
	}
	if diff := cmp.Diff(names, allPaths(t, path)); diff != "" {
		t.Errorf("operations (-want +got):\n%s", diff)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if diff := cmp.Diff(files, got); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

// TestRotate writes more than fits into a file.
func TestRotate(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	log := open(t, path, each)
	record(log, "a", "b", "c")
	holds(t, path, []string{"log", "log.1", "log.2", "log.3"}, "a", "b", "c")
	record(open(t, path, each), "d") // as another process does
	record(log, "e")
	record(open(t, path, nil), "f") // which does not rotate
	holds(t, path, []string{"log", "log.1", "log.2", "log.3", "log.4", "log.5"}, "a", "b", "c", "d", "e", "f")
	record(open(t, path, &audit.Options{MaxSize: 1, Keep: 2}), "g")
	holds(t, path, []string{"log", "log.5", "log.6"}, "d", "e", "f", "g")
	record(open(t, path, &audit.Options{MaxSize: 1, Keep: 5}), "h")
	holds(t, path, []string{"log", "log.5", "log.6", "log.7"}, "d", "e", "f", "g", "h")
	if report, err := audit.VerifyFile(path+".6", ""); err != nil || report.Files != 1 || report.Operations != 2 {
		t.Errorf("VerifyFile of one of the older files = %+v, %v", report, err)
	}
	large := open(t, filepath.Join(t.TempDir(), "large"), &audit.Options{MaxSize: 1 << 20})
	record(large, "a", "b")
	for _, opts := range []*audit.Options{{MaxSize: -1}, {Keep: -1}, {LockTimeout: -1}} {
		if _, err := audit.Open(path, opts); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("Open with %+v = %v, want ErrInvalid", opts, err)
		}
	}
}

// TestRotationCutOff continues after each step of a rotation at which the program can
// be killed.
func TestRotationCutOff(t *testing.T) {
	t.Parallel()
	for name, state := range map[string]struct {
		make  func(t *testing.T, path string)
		files []string // of the log then
	}{
		"linked": {func(t *testing.T, path string) {
			if err := os.Link(path, path+".4"); err != nil {
				t.Fatal(err)
			}
		}, []string{"log", "log.1", "log.2", "log.3", "log.4"}},
		"half of the new file": {func(t *testing.T, path string) {
			if err := errors.Join(os.Link(path, path+".4"), os.WriteFile(path+".new", []byte(`{"log":{"ver`), 0o600)); err != nil {
				t.Fatal(err)
			}
		}, []string{"log", "log.1", "log.2", "log.3", "log.4"}},
		"renamed": {func(t *testing.T, path string) {
			record(open(t, path, each), "z") // with Keep, log.1 was still to be removed
		}, []string{"log", "log.1", "log.2", "log.3", "log.4", "log.5"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, next := range []struct {
				opts  *audit.Options
				files []string
			}{{nil, nil}, {each, state.files}} {
				path := filepath.Join(t.TempDir(), "log")
				record(open(t, path, each), "a", "b", "c")
				want := []string{"a", "b", "c"}
				state.make(t, path)
				if name == "renamed" {
					want = append(want, "z")
				}
				if report, err := audit.VerifyFile(path, ""); err != nil || report.Operations != len(want) {
					t.Errorf("VerifyFile after the cut = %+v, %v", report, err)
				}
				record(open(t, path, next.opts), "d")
				want = append(want, "d")
				if diff := cmp.Diff(want, allPaths(t, path)); diff != "" {
					t.Errorf("operations (-want +got):\n%s", diff)
				}
				if next.files != nil {
					holds(t, path, next.files, want...)
					record(open(t, path, each), "e")
					if _, err := os.Stat(fmt.Sprintf("%s.%d", path, len(next.files))); err != nil {
						t.Errorf("the next rotation leaves a number out: %v", err)
					}
				}
			}
		})
	}
}

// TestRotateAfterOthers rotates logs that something else has changed.
func TestRotateAfterOthers(t *testing.T) {
	t.Parallel()
	const unnumbered = `{"log":{"version":1,"seed":"x"},"time":"2026-01-01T00:00:00Z","prev":""}` + "\n"
	for name, tt := range map[string]struct {
		change func(log string) error
		last   string // the newest of the older files then
		want   audit.Report
		broken string
	}{
		"older files removed": {func(log string) error {
			return errors.Join(os.Remove(log+".1"), os.Remove(log+".2"), os.Remove(log+".3"))
		}, "log.4", audit.Report{Files: 2, Operations: 2}, "the first file is number 4, and the log keeps those from number 1 on: files were removed"},
		"other files": {func(log string) error {
			return errors.Join(os.WriteFile(log+".07", nil, 0o600), os.WriteFile(log+".+8", nil, 0o600))
		}, "log.4", audit.Report{Files: 5, Operations: 4}, ""},
		"of before numbers": {func(log string) error {
			return errors.Join(os.Remove(log+".1"), os.Remove(log+".2"), os.Remove(log+".3"), os.WriteFile(log, []byte(unnumbered), 0o600))
		}, "log.1", audit.Report{Files: 2, Operations: 1}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "log")
			record(open(t, path, each), "a", "b", "c")
			if err := tt.change(path); err != nil {
				t.Fatal(err)
			}
			record(open(t, path, each), "d")
			files, err := audit.Files(path)
			if err != nil || len(files) < 2 || filepath.Base(files[len(files)-2]) != tt.last {
				t.Errorf("Files = %q, %v, want %s before the last", files, err, tt.last)
			}
			got, err := audit.VerifyFile(path, "")
			if err == nil && tt.broken != "" || err != nil && err.Error() != tt.broken {
				t.Errorf("VerifyFile = %v, want %q", err, tt.broken)
			}
			if got.Files != tt.want.Files || got.Operations != tt.want.Operations || got.Torn != 0 || got.Unfinished {
				t.Errorf("VerifyFile = %+v, want %+v", got, tt.want)
			}
		})
	}
}

// TestRotateAfterTornLine has a line that another process has cut short: it is recorded in
// the same file.
func TestRotateAfterTornLine(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	log := open(t, path, each)
	record(log, "a")
	if err := os.WriteFile(path, append(readAll(t, path), `{"time":`...), 0o600); err != nil {
		t.Fatal(err)
	}
	record(log, "b")
	holds(t, path, []string{"log", "log.1"}, "a", "b")
	if report, err := audit.VerifyFile(path, ""); err != nil || report.Torn != 1 {
		t.Errorf("VerifyFile = %+v, %v, want a line cut short", report, err)
	}
}

// TestUnfinishedBeforeNewest has a line without its end in a file that is not the newest: somebody
// has changed it, as a rotation begins after a whole line.
func TestUnfinishedBeforeNewest(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	record(open(t, path, each), "a", "b")
	older := path + ".2"
	if err := os.WriteFile(older, bytes.TrimSuffix(readAll(t, older), []byte("\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	var broken *audit.BrokenError
	if _, err := audit.VerifyFile(path, ""); !errors.As(err, &broken) || broken.File != "log.2" {
		t.Errorf("VerifyFile = %v, want an error of log.2", err)
	}
	if report, err := audit.VerifyFile(older, ""); err != nil || !report.Unfinished {
		t.Errorf("VerifyFile of the file alone = %+v, %v, want an unfinished line", report, err)
	}
}

// TestFileRemoved removes each file of a log, and changes a line in each.
func TestFileRemoved(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	record(open(t, path, each), "a", "b", "c")
	last, err := audit.VerifyFile(path, "")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"log.1": "the first file is number 2, and the log keeps those from number 1 on",
		"log.2": "log.3: line 1: the file does not continue the one before",
		"log.3": "line 1: the file does not continue the one before",
		"log":   "open " + path + ": no such file",
	} {
		file := filepath.Join(filepath.Dir(path), name)
		whole := readAll(t, file)
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		if _, err := audit.VerifyFile(path, ""); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("VerifyFile without %s = %v, want %q", name, err, want)
		}
		if err := os.WriteFile(file, bytes.ReplaceAll(whole, []byte(`"time":"2`), []byte(`"time":"3`)), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := audit.VerifyFile(path, last.Last); err == nil {
			t.Errorf("VerifyFile with a change in %s finds nothing", name)
		}
		if err := os.WriteFile(file, whole, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if report, err := audit.VerifyFile(path, last.Last); err != nil || report.Operations != 3 {
		t.Errorf("VerifyFile of what was there = %+v, %v", report, err)
	}
	if err := os.Remove(path); err != nil { // with c, as if lines were cut off at the end
		t.Fatal(err)
	}
	record(open(t, path, each), "d")
	var broken *audit.BrokenError
	if _, err := audit.VerifyFile(path, last.Last); !errors.As(err, &broken) {
		t.Errorf("VerifyFile without the expected line = %v", err)
	}
	if got := allPaths(t, path); !slices.Equal(got, []string{"a", "b", "d"}) {
		t.Errorf("operations %q", got)
	}
	if err := os.Remove(path + ".1"); err != nil {
		t.Fatal(err)
	}
	if _, err := audit.VerifyFile(path, ""); !errors.As(err, &broken) || broken.Line != 0 {
		t.Errorf("VerifyFile without the first file, after a file that was created = %v", err)
	}
}

// TestRotateTogether writes from several logs at a time, as several processes do.
func TestRotateTogether(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	const logs, lines = 4, 50
	var wg sync.WaitGroup
	for i := range logs {
		log := open(t, path, &audit.Options{MaxSize: 1000})
		wg.Go(func() {
			for j := range lines {
				record(log, fmt.Sprint(i, "-", j))
			}
		})
	}
	wg.Wait()
	report, err := audit.VerifyFile(path, "")
	if err != nil || report.Operations != logs*lines || report.Files < 10 {
		t.Errorf("VerifyFile = %+v, %v, want %d operations in many files", report, err, logs*lines)
	}
}

// TestRotationFails has a folder in the place of the next file: operations are refused
// until it is away, and none of them is lost.
func TestRotationFails(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	log := open(t, path, each)
	record(log, "a")
	if err := os.Mkdir(path+".2", 0o700); err != nil {
		t.Fatal(err)
	}
	record(log, "b")
	if _, err := log.Before(t.Context(), observe.Event{}); !errors.Is(err, workspace.ErrUnavailable) || strings.Contains(err.Error(), path) {
		t.Errorf("Before = %v, want unavailable, without the path", err)
	}
	if err := os.Remove(path + ".2"); err != nil {
		t.Fatal(err)
	}
	if _, err := log.Before(t.Context(), observe.Event{}); err != nil {
		t.Errorf("Before = %v, want nil", err)
	}
	holds(t, path, []string{"log", "log.1", "log.2"}, "a", "b")
}

// TestNumberTaken has another file in the place of the next one when the log is full. Every
// operation is refused, the first of each program included, so none is missing from the log.
func TestNumberTaken(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	log, other := open(t, path, each), open(t, path, each)
	record(log, "a")
	if err := os.WriteFile(path+".2", []byte("forged\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, log := range map[string]*audit.Log{"the log": log, "another process": other} {
		if _, err := log.Before(t.Context(), observe.Event{}); !errors.Is(err, workspace.ErrUnavailable) || strings.Contains(err.Error(), path) {
			t.Errorf("Before of %s = %v, want unavailable, without the path", name, err)
		}
	}
	if _, err := audit.Open(path, each); err == nil {
		t.Error("Open = nil, want an error")
	}
	if err := os.Remove(path + ".2"); err != nil {
		t.Fatal(err)
	}
	for name, log := range map[string]*audit.Log{"the log": log, "another process": other, "a new one": open(t, path, each)} {
		if _, err := log.Before(t.Context(), observe.Event{}); err != nil {
			t.Errorf("Before of %s without that file = %v, want nil", name, err)
		}
	}
	record(log, "b")
	holds(t, path, []string{"log", "log.1", "log.2"}, "a", "b")
}

// TestForeignNumbers has files with numbers that the log did not write. None lets the log skip
// numbers, or delete others than its own oldest, or breaks the chain.
func TestForeignNumbers(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	keep := &audit.Options{MaxSize: 1, Keep: 2}
	record(open(t, path, keep), "a", "b", "c", "d")
	holds(t, path, []string{"log", "log.3", "log.4"}, "b", "c", "d")
	header := strings.SplitAfter(string(readAll(t, path)), "\n")[0]
	for name, text := range map[string]string{
		".1": "forged\n", ".50": "forged\n", ".51": strings.Replace(header, `"number":5,"oldest":3`, `"number":51,"oldest":51`, 1),
	} {
		if err := os.WriteFile(path+name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if report, err := audit.VerifyFile(path, ""); err != nil || report.Files != 3 {
		t.Errorf("VerifyFile = %+v, %v, want three files", report, err)
	}
	record(open(t, path, keep), "e")
	if diff := cmp.Diff([]string{"c", "d", "e"}, allPaths(t, path)); diff != "" {
		t.Errorf("operations (-want +got):\n%s", diff)
	}
	for _, name := range []string{".4", ".5", ".50", ".51"} {
		if _, err := os.Stat(path + name); err != nil {
			t.Error(err)
		}
	}
}

// TestNextNumberTaken has another file, and a symlink to the log, with the number that is next.
func TestNextNumberTaken(t *testing.T) {
	t.Parallel()
	for name, take := range map[string]func(log, next string) error{
		"file":    func(_, next string) error { return os.WriteFile(next, []byte("forged\n"), 0o600) },
		"symlink": os.Symlink,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "log")
			log := open(t, path, each)
			record(log, "a")
			if err := take(path, path+".2"); err != nil {
				t.Fatal(err)
			}
			record(log, "b")
			_, err := log.Before(t.Context(), observe.Event{})
			if !errors.Is(err, workspace.ErrUnavailable) || !strings.Contains(err.Error(), "number 2") {
				t.Errorf("Before = %v, want unavailable, with the number", err)
			}
			if diff := cmp.Diff([]string{"a"}, allPaths(t, path)); diff != "" {
				t.Errorf("operations (-want +got):\n%s", diff)
			}
			if err := os.Remove(path + ".2"); err != nil {
				t.Fatal(err)
			}
			if _, err := log.Before(t.Context(), observe.Event{}); err != nil {
				t.Errorf("Before = %v, want nil", err)
			}
			holds(t, path, []string{"log", "log.1", "log.2"}, "a", "b")
		})
	}
}

// TestForeignNumberAfterRename has another program rename the log beside a file that is none.
func TestForeignNumberAfterRename(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	record(open(t, path, nil), "a")
	if err := errors.Join(os.WriteFile(path+".50", []byte("forged\n"), 0o600), os.Rename(path, path+".1")); err != nil {
		t.Fatal(err)
	}
	record(open(t, path, &audit.Options{MaxSize: 1, Keep: 5}), "b", "c")
	if diff := cmp.Diff([]string{"a", "b", "c"}, allPaths(t, path)); diff != "" {
		t.Errorf("operations (-want +got):\n%s", diff)
	}
	if _, err := os.Stat(path + ".3"); err != nil {
		t.Error(err)
	}
}

// TestLocked has another process lock the log all the time. A refusal waits no longer than the
// context, says so, and is not recorded.
func TestLocked(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	const lockTimeout = 2 * time.Second
	log := open(t, path, &audit.Options{LockTimeout: lockTimeout})
	fsys := observe.New(memory.New(nil), "test", log)
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	record(log, "a")
	if _, err := fsys.Stat(t.Context(), "."); !errors.Is(err, workspace.ErrUnavailable) {
		t.Errorf("Stat = %v, want unavailable", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	begin := time.Now()
	if _, err := fsys.Stat(ctx, "."); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, workspace.ErrUnavailable) || time.Since(begin) >= lockTimeout {
		t.Errorf("Stat after %v = %v, want the error of the context as soon as that ends", time.Since(begin), err)
	}
	f.Close()
	if _, err := log.Before(t.Context(), observe.Event{}); err != nil {
		t.Errorf("Before = %v, want nil", err)
	}
	holds(t, path, []string{"log"}, "a")
}

// TestRotateSynced notes what reaches the disk when a log is rotated: the full file, whose
// last line did not before, the new file, and its name.
func TestRotateSynced(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	log := open(t, path, &audit.Options{MaxSize: 1, Sync: true})
	broken := true
	var synced []string
	audit.SetSync(log, func(f *os.File) error {
		if broken {
			return errors.New("the disk is broken")
		}
		info, err := f.Stat()
		if err != nil {
			return err
		}
		for _, name := range []string{"log", "log.new", "."} {
			if named, err := os.Stat(filepath.Join(filepath.Dir(path), name)); err == nil && os.SameFile(named, info) {
				synced = append(synced, name)
				break
			}
		}
		return nil
	})
	record(log, "a")
	broken = false
	record(log, "b") // by a call that had begun before
	want := []string{"log", "log.new", "log", "."}
	if diff := cmp.Diff(want, synced); diff != "" {
		t.Errorf("on the disk (-want +got):\n%s", diff)
	}
}

// TestDiskFull writes to a log on a disk that becomes full in the middle of a line, which a
// limit on the size of files does as well: each line is written once. A part of a key is
// removed.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), victimDir+"="+t.TempDir(), victimFull+"=1")
	if out, err := child.CombinedOutput(); err != nil {
		t.Errorf("the child: %v\n%s", err, out)
	}
}

// fullDisk is the child of [TestDiskFull].
func fullDisk(dir string) error {
	signal.Ignore(unix.SIGXFSZ)
	limit := func(bytes int64) error {
		return unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: uint64(bytes), Max: unix.RLIM_INFINITY})
	}
	for _, sync := range []bool{false, true} {
		path := filepath.Join(dir, fmt.Sprint("log-", sync))
		log, err := audit.Open(path, &audit.Options{Sync: sync})
		if err != nil {
			return err
		}
		record(log, "a")
		for more := int64(0); more < 700; more += 100 { // none, a part, and some of the lines
			info, err := os.Stat(path)
			if err != nil {
				return err
			}
			if err := limit(info.Size()); err != nil {
				return err
			}
			record(log, "b", "c", "d")
			if err := limit(info.Size() + more); err != nil {
				return err
			}
			if _, err := log.Before(context.Background(), observe.Event{}); err == nil && more < 400 {
				return fmt.Errorf("Before succeeds with %d bytes of space", more)
			}
			if err := limit(unix.RLIM_INFINITY >> 1); err != nil {
				return err
			}
			if _, err := log.Before(context.Background(), observe.Event{}); err != nil {
				return err
			}
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		report, err := audit.Verify(bytes.NewReader(data), "")
		if err != nil || report.Torn == 0 {
			return fmt.Errorf("Verify = %+v, %w", report, err)
		}
		var got strings.Builder
		for e, err := range audit.Read(bytes.NewReader(data)) {
			if err != nil {
				return err
			}
			got.WriteString(e.Path)
		}
		if want := "a" + strings.Repeat("bcd", 7); got.String() != want {
			return fmt.Errorf("the log has %s, want %s", &got, want)
		}
	}
	if err := limit(10); err != nil {
		return err
	}
	if _, err := audit.LoadKey(filepath.Join(dir, "key")); err == nil {
		return errors.New("LoadKey succeeds without space for a key")
	}
	left, err := filepath.Glob(filepath.Join(dir, "key*"))
	if len(left) > 0 {
		return fmt.Errorf("LoadKey leaves %q", left)
	}
	return err
}
