package container_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/workspacekit/workspacekit/internal/enginetest"
	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/providers/container"
	"github.com/workspacekit/workspacekit/providers/container/internal/program"
	"github.com/workspacekit/workspacekit/workspace"
)

// TestLockOfRemovedDirectory has a directory removed by the time that a shell in
// it makes a lock, which it must not try for ever.
func TestLockOfRemovedDirectory(t *testing.T) {
	exhaustive.NotShort(t, "waits for a lock")
	text, err := program.Text()
	if err != nil {
		t.Fatal(err)
	}
	for _, sh := range []string{"sh", "busybox sh"} {
		t.Run(sh, func(t *testing.T) {
			words := strings.Fields(sh)
			if _, err := exec.LookPath(words[0]); err != nil {
				enginetest.Lacking(t, "there is no %s here: get it with your package manager", words[0])
			}
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			script := text + "\nme='a 1 1'; mkdir dir && cd dir && rmdir ../dir; lock; [ $? -eq $overtaken ] && echo given up\n"
			cmd := exec.CommandContext(ctx, words[0], append(words[1:], "-c", script)...)
			cmd.Dir = t.TempDir()
			out, err := cmd.CombinedOutput()
			if err != nil || string(out) != "given up\n" {
				t.Errorf("lock in a directory that was removed: %v, %q", err, out)
			}
		})
	}
}

// TestLockReleasedWhileLookedAt looks at a lock that comes and goes, which is
// never in the way.
func TestLockReleasedWhileLookedAt(t *testing.T) {
	exhaustive.Long(t)
	text, err := program.Text()
	if err != nil {
		t.Fatal(err)
	}
	for _, sh := range []string{"sh", "busybox sh"} {
		t.Run(sh, func(t *testing.T) {
			t.Parallel()
			words := strings.Fields(sh)
			dir := t.TempDir()
			cmd := exec.CommandContext(t.Context(), words[0], append(words[1:], "-c", text+`
				i=0
				while [ $i -lt 10000 ]; do
					! odd ./lock || { echo odd && exit; }
					i=$((i + 1))
				done`)...)
			cmd.Dir = dir
			ctx, cancel := context.WithCancel(t.Context())
			var releasing sync.WaitGroup
			releasing.Go(func() {
				for name := filepath.Join(dir, "lock"); ctx.Err() == nil; {
					_ = os.WriteFile(name, nil, 0o600)
					_ = os.Remove(name)
				}
			})
			out, err := cmd.CombinedOutput()
			cancel()
			releasing.Wait()
			if err != nil || len(out) > 0 {
				t.Errorf("odd of a file that comes and goes: %v, %q, want false", err, out)
			}
		})
	}
}

// TestLockThatStays has locks that nobody releases: the wait for them ends, and
// the error says what to remove. Each is in a directory of its own, for what a
// write that failed has left is removed in the background, a dead one's lock too.
func TestLockThatStays(t *testing.T) {
	t.Parallel()
	f := open(t, &container.Options{Executor: container.Command{}, Root: t.TempDir()})
	for dir, script := range map[string]string{
		"directory":        "mkdir .workspacekit-tmp-lock",
		"fifo":             "mkfifo .workspacekit-tmp-lock",
		"symlink":          "ln -s file .workspacekit-tmp-lock",
		"unlock-directory": `echo "$(readlink /proc/self/ns/pid) 999999 1" >.workspacekit-tmp-lock; mkdir .workspacekit-tmp-unlock`,
		"unlock-fifo":      `echo "$(readlink /proc/self/ns/pid) 999999 1" >.workspacekit-tmp-lock; mkfifo .workspacekit-tmp-unlock`,
	} {
		file := dir + "/file"
		version, err := f.WriteFile(t.Context(), file, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		shell(t, f.Root()+"/"+dir, script)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		_, err = f.WriteFile(ctx, file, nil, &workspace.WriteOptions{IfVersion: version})
		cancel()
		isPathError(t, err, "write_file", file, workspace.ErrUnavailable)
		wayward := dir + "/.workspacekit-tmp-" + map[bool]string{true: "unlock", false: "lock"}[strings.HasPrefix(dir, "unlock")]
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%q is in the way", wayward)) {
			t.Errorf("WriteFile in %s = %v, want that %q is in the way", dir, err, wayward)
		}
		if want := "delete it in the container"; ops.RemedyOf(err) != want {
			t.Errorf("WriteFile in %s = %v with the remedy %q, want %q", dir, err, ops.RemedyOf(err), want)
		}
	}
	start := time.Now()
	if err := f.Close(); err != nil || time.Since(start) > 4*time.Second {
		t.Errorf("Close = %v after %v, want that what it removes in the background waits for no fifo", err, time.Since(start))
	}
}

// TestLockThatIsHeld waits for the lock of a process that lives, also where each
// look at it takes long: the wait is measured by the clock.
func TestLockThatIsHeld(t *testing.T) {
	text, err := program.Text()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, sh, setup string }{
		{"sh", "sh", "patience=20"},
		{"busybox", "busybox sh", "patience=20"},
		{"slow-sh", "sh", "patience=200; sleep() { command sleep 1; }"},
		{"slow-busybox", "busybox sh", "patience=200; sleep() { command sleep 1; }"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if strings.HasPrefix(c.name, "slow") {
				exhaustive.NotShort(t, "waits for a lock")
			}
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			words := strings.Fields(c.sh)
			exhaustive.Program(t, words[0])
			script := text + c.setup + `
				root=$(pwd -P)
				read -r line </proc/$$/stat
				set -- ${line##*) }
				me="$(readlink /proc/self/ns/pid) $$ ${20}"
				own ./.workspacekit-tmp-lock
				mkdir sub; cd sub; mv ../.workspacekit-tmp-lock .
				lock
				[ $? -eq $locked ] && echo && echo $$`
			cmd := exec.CommandContext(ctx, words[0], append(words[1:], "-c", script)...)
			cmd.Dir = t.TempDir()
			out, err := cmd.CombinedOutput()
			lines := strings.Split(string(out), "\n")
			if err != nil || len(lines) < 3 || lines[1] != "sub/.workspacekit-tmp-lock" || lines[0] != lines[2] {
				t.Errorf("lock beside that of a process that lives: %v, %q, want its number and the lock", err, out)
			}
		})
	}
}
