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
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/workspacekit/workspacekit/internal/enginetest"
	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/providers/container"
	"github.com/workspacekit/workspacekit/workspace"
)

// callTime is how long a call may take while something fails.
const callTime = 15 * time.Second

// faultyWrites is how many writes something fails in the middle of.
const faultyWrites = 200

// faultFiles is how many files are written in turn.
const faultFiles = 10

// contentOf returns the content of a write: its first byte tells all others.
// Small ones and large ones go different ways.
func contentOf(i int) []byte {
	size := 4 << 10
	if i%2 == 1 {
		size = 100 << 10
	}
	return []byte(strings.Repeat(string(rune('a'+i%26)), size))
}

// writeBeside makes writes from several goroutines, and calls fail after some
// of them. It returns how many have succeeded.
func writeBeside(t *testing.T, f *container.FS, fail func()) int {
	t.Helper()
	var writing sync.WaitGroup
	var mu sync.Mutex
	done := 0
	at := make(chan struct{}, faultyWrites)
	for worker := range 4 {
		writing.Go(func() {
			for i := worker; i < faultyWrites; i += 4 {
				ctx, cancel := context.WithTimeout(context.Background(), callTime)
				started := time.Now()
				_, err := f.WriteFile(ctx, fmt.Sprintf("dir%d/file%d", i%3, i%faultFiles), contentOf(i), nil)
				cancel()
				if took := time.Since(started); took > callTime+time.Second {
					t.Errorf("a write took %v, and its deadline was after %v", took, callTime)
				}
				if err != nil && !errors.Is(err, workspace.ErrUnavailable) {
					t.Errorf("a write beside a fault = %v, want nil or %q", err, workspace.ErrUnavailable)
				}
				mu.Lock()
				if err == nil {
					done++
				}
				mu.Unlock()
				at <- struct{}{}
			}
		})
	}
	for range faultyWrites / 4 {
		<-at
	}
	fail()
	writing.Wait()
	return done
}

// isWhole fails the test if a file has anything but the whole of one write.
func isWhole(t *testing.T, f *container.FS) {
	t.Helper()
	files, err := f.Glob(t.Context(), "**", nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Error("nothing has been written at all")
	}
	for _, name := range files {
		data, err := f.ReadFile(t.Context(), name)
		if err != nil || len(data) == 0 || strings.Trim(string(data), string(data[0])) != "" || len(data) != 4<<10 && len(data) != 100<<10 {
			t.Errorf("ReadFile(%q) = %d bytes, %v, want the whole of one write", name, len(data), err)
		}
	}
}

// works fails the test unless a write succeeds soon.
func works(t *testing.T, f *container.FS) {
	t.Helper()
	eventually(t, "no write succeeds any more", func() error {
		ctx, cancel := context.WithTimeout(t.Context(), callTime)
		defer cancel()
		_, err := f.WriteFile(ctx, "dir0/after", contentOf(0), nil)
		return err
	})
}

// TestKilledShells kills what this process has started, so no test runs beside it.
func TestKilledShells(t *testing.T) {
	exhaustive.Long(t)
	writesBesideKills(t, places()[0].start(t))
}

func TestKilledShellsInside(t *testing.T) { inOwn(t, places()[1:], writesBesideKills) }

func writesBesideKills(t *testing.T, r *running) {
	f := r.open(t)
	done := writeBeside(t, f, func() { r.killShells(t) })
	t.Logf("%d of %d writes succeeded", done, faultyWrites)
	if done < faultyWrites/2 {
		t.Errorf("%d of %d writes succeeded, want most of them", done, faultyWrites)
	}
	works(t, f)
	isWhole(t, f)
}

// killShells kills all shells where the files are, by their numbers.
func (r *running) killShells(t *testing.T) {
	t.Helper()
	if r.container != "" {
		r.run(t, "sh", "-c", `for p in /proc/[0-9]*; do p=${p#/proc/}; [ $p = 1 ] || [ $p = $$ ] || kill -9 $p; done; true`)
		return
	}
	for _, pid := range children(t) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// children returns the processes that this one has started and that have not
// ended.
func children(t testing.TB) []int {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	var pids []int
	for _, path := range stats {
		data, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		text := string(data)
		fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
		if len(fields) > 1 && fields[1] == strconv.Itoa(os.Getpid()) && fields[0] != "Z" {
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			if err != nil {
				t.Fatal(err)
			}
			pids = append(pids, pid)
		}
	}
	return pids
}

func TestKilledContainer(t *testing.T) {
	inOwn(t, places()[1:], func(t *testing.T, r *running) {
		f := r.open(t)
		done := writeBeside(t, f, func() {
			r.client(t, "kill", r.container)
			r.client(t, "start", r.container)
		})
		t.Logf("%d of %d writes succeeded", done, faultyWrites)
		works(t, f)
		isWhole(t, f)
	})
}

func TestStoppedContainer(t *testing.T) {
	t.Parallel()
	r := places()[1].start(t)
	f := r.open(t)
	r.client(t, "kill", r.container)
	_, err := f.Stat(t.Context(), ".")
	checkEngineError(t, "Stat in a stopped container", unnamed(err), workspace.ErrUnavailable, "the container is not running")
	r.client(t, "start", r.container)
	works(t, f)
	r.client(t, "rm", "--force", r.container)
	_, err = f.Stat(t.Context(), ".")
	checkEngineError(t, "Stat in a removed container", unnamed(err), lasting, "there is no such container")
}

// TestKilledEngine kills dockerd.
func TestKilledEngine(t *testing.T) {
	state := enginetest.Dockerd(t)
	r := places()[2].start(t)
	f := r.open(t)
	done := writeBeside(t, f, func() {
		data, err := os.ReadFile(filepath.Join(state, "dockerd.pid"))
		if err != nil {
			t.Error(err)
			return
		}
		pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
		if err != nil {
			t.Error(err)
			return
		}
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Error(err)
		}
		cmd := exec.Command("../../.ci/engines", "start")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("starting dockerd again: %v: %s", err, out)
		}
		r.client(t, "start", r.container)
	})
	t.Logf("%d of %d writes succeeded", done, faultyWrites)
	works(t, f)
	isWhole(t, f)
}

// TestFullDisk has a container whose only writable folder is small.
func TestFullDisk(t *testing.T) {
	in(t, places()[1:3], func(t *testing.T, r *running) {
		name := r.prefix
		r.client(t, "run", "--detach", "--network=none", "--name="+name, "--tmpfs=/small:size=256k",
			r.imageName(), "sleep", "1000")
		t.Cleanup(func() { r.client(t, "rm", "--force", name) })
		f := open(t, &container.Options{Engine: r.engineArgs, Container: name, Root: "/small"})
		outside := open(t, &container.Options{Engine: r.engineArgs, Container: name, Root: "/"})
		for _, size := range []int{10 << 10, 100 << 10} {
			if _, err := outside.WriteFile(t.Context(), "source", bytes.Repeat([]byte("x"), size), nil); err != nil {
				t.Fatal(err)
			}
			fill(t, f, size, map[string]func() error{
				"Move": func() error { return outside.Move(t.Context(), "source", "small/for/move/file") },
				"Copy": func() error {
					_, err := outside.Copy(t.Context(), "source", "small/for/copy/file")
					return err
				},
				"exact Copy": func() error {
					exact, err := workspace.Exact(outside)
					if err != nil {
						return err
					}
					_, err = workspace.Copy(t.Context(), exact, "source", "small/for/exact/file")
					return err
				},
			})
		}
	})
}

// TestNoInodes has a container in which there is room for bytes, but for no file.
func TestNoInodes(t *testing.T) {
	in(t, places()[1:3], func(t *testing.T, r *running) {
		name := r.prefix
		r.client(t, "run", "--detach", "--network=none", "--name="+name, "--tmpfs=/small:nr_inodes=8",
			r.imageName(), "sleep", "1000")
		t.Cleanup(func() { r.client(t, "rm", "--force", name) })
		f := open(t, &container.Options{Engine: r.engineArgs, Container: name, Root: "/"})
		if _, err := f.WriteFile(t.Context(), "source", []byte("x"), nil); err != nil {
			t.Fatal(err)
		}
		deep := "small/a/b/c/d/e/f/g/h"    // more than fit
		for used := 1; used <= 8; used++ { // the folder itself has one
			calls := map[string]func() error{
				"ImportTar":       func() error { return f.ImportTar(t.Context(), "small", archive(t, [][2]string{{deep, "x"}}), nil) },
				"Mkdir":           func() error { return f.Mkdir(t.Context(), deep, &workspace.MkdirOptions{Recursive: true}) },
				"WriteFile":       func() error { _, err := f.WriteFile(t.Context(), deep, []byte("x"), nil); return err },
				"large WriteFile": func() error { _, err := f.WriteFile(t.Context(), deep, make([]byte, 100<<10), nil); return err },
				"Copy":            func() error { _, err := f.Copy(t.Context(), "source", deep); return err },
				"Move":            func() error { return f.Move(t.Context(), "source", deep) },
			}
			if used >= 7 { // a hard link of a temporary file needs another one
				calls["new file"] = func() error {
					_, err := f.WriteFile(t.Context(), "small/new", []byte("x"), &workspace.WriteOptions{IfNotExist: true})
					return err
				}
			}
			if used == 8 { // not even a lock fits
				calls["Move below"] = func() error { return f.Move(t.Context(), "small/1", "small/moved") }
				calls["replaced file"] = func() error { _, err := f.WriteFile(t.Context(), "small/1", []byte("y"), nil); return err }
			}
			for what, call := range calls {
				if err := call(); !errors.Is(err, workspace.ErrNoSpace) {
					t.Errorf("%s with %d of 8 inodes used = %v, want %v", what, used, err, workspace.ErrNoSpace)
				}
			}
			if infos, err := f.Ls(t.Context(), "small", nil); err != nil || len(infos) != used-1 {
				t.Errorf("Ls after that = %v, %v, want %d files", infos, err, used-1)
			}
			if used < 8 {
				r.client(t, "exec", name, "touch", fmt.Sprintf("/small/%d", used))
			}
		}
	})
}

// TestNothingCanBeCreated writes to file systems of the kernel, which have no blocks and refuse
// new names.
func TestNothingCanBeCreated(t *testing.T) {
	in(t, places()[1:], func(t *testing.T, r *running) {
		f := open(t, &container.Options{Engine: r.engineArgs, Container: r.container, Root: "/"})
		source := "tmp/" + r.prefix
		if _, err := f.WriteFile(t.Context(), source, []byte("x"), nil); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"proc/new", "sys/new"} {
			for what, call := range map[string]func() error{
				"ImportTar": func() error {
					return f.ImportTar(t.Context(), filepath.Dir(name), archive(t, [][2]string{{"new", "x"}}), nil)
				},
				"Mkdir":           func() error { return f.Mkdir(t.Context(), name, nil) },
				"recursive Mkdir": func() error { return f.Mkdir(t.Context(), name, &workspace.MkdirOptions{Recursive: true}) },
				"WriteFile":       func() error { _, err := f.WriteFile(t.Context(), name, []byte("x"), nil); return err },
				"large WriteFile": func() error { _, err := f.WriteFile(t.Context(), name, make([]byte, 100<<10), nil); return err },
				"Copy":            func() error { _, err := f.Copy(t.Context(), source, name); return err },
				"Move":            func() error { return f.Move(t.Context(), source, name) },
			} {
				if err := call(); !errors.Is(err, fs.ErrPermission) {
					t.Errorf("%s of %s = %v, want %v", what, name, err, fs.ErrPermission)
				}
			}
		}
	})
}

// fill writes files of size bytes until there is no room, makes the calls, which need
// some, and sees what is left.
func fill(t *testing.T, f *container.FS, size int, calls map[string]func() error) {
	t.Helper()
	content := []byte(strings.Repeat("x", size))
	count := 0
	var err error
	for err == nil {
		count++
		_, err = f.WriteFile(t.Context(), fmt.Sprintf("file%d", count), content, nil)
	}
	if !errors.Is(err, workspace.ErrNoSpace) {
		t.Errorf("WriteFile to a full disk = %v, want %v", err, workspace.ErrNoSpace)
	}
	calls["WriteFile"] = func() error {
		_, err := f.WriteFile(t.Context(), "for/write/file", content, nil)
		return err
	}
	for what, call := range calls {
		if err := call(); !errors.Is(err, workspace.ErrNoSpace) {
			t.Errorf("%s of %d bytes to a full disk = %v, want %v", what, size, err, workspace.ErrNoSpace)
		}
		if _, err := f.Stat(t.Context(), "for"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("after %s of %d bytes to a full disk, Stat of its first parent = %v, want %v", what, size, err, fs.ErrNotExist)
		}
	}
	infos, err := f.Ls(t.Context(), ".", nil)
	if err != nil || len(infos) != count-1 {
		t.Errorf("Ls of a full disk = %d names, %v, want the %d that were written", len(infos), err, count-1)
	}
	for _, info := range infos {
		if info.Size != int64(size) {
			t.Errorf("%q has %d bytes, want %d", info.Name, info.Size, size)
		}
		if err := f.Rm(t.Context(), info.Name, nil); err != nil {
			t.Error(err)
		}
	}
	if _, err := f.WriteFile(t.Context(), "after", content, nil); err != nil {
		t.Errorf("WriteFile when there is room again = %v, want nil", err)
	}
	if err := f.Rm(t.Context(), "after", nil); err != nil {
		t.Error(err)
	}
}

func TestCancelledWrite(t *testing.T) {
	inImages(t, func(t *testing.T, r *running) {
		f := r.open(t)
		if _, err := f.WriteFile(t.Context(), "file", []byte("old"), nil); err != nil {
			t.Fatal(err)
		}
		large := make([]byte, 200<<20)
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		started := time.Now()
		_, err := f.WriteFile(ctx, "file", large, nil)
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("WriteFile beyond its deadline = %v, want %q", err, context.DeadlineExceeded)
		}
		if took := time.Since(started); took > 5*time.Second {
			t.Errorf("WriteFile returned %v after its deadline", took)
		}
		if data, err := f.ReadFile(t.Context(), "file"); err != nil || string(data) != "old" {
			t.Errorf("ReadFile after that = %.20q, %v, want the old bytes", data, err)
		}
		eventually(t, "the temporary file stays", func() error {
			if left := r.run(t, "ls", "-A", f.Root()); strings.TrimSpace(left) != "file" {
				return fmt.Errorf("%q is there", left)
			}
			return nil
		})
	})
}
