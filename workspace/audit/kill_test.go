//go:build unix

package audit_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/providers/localbash"
	"github.com/workspacekit/workspacekit/workspace/audit"
	"github.com/workspacekit/workspacekit/workspace/observe"
)

// These variables make the test a child: the folder in which it writes, the size at
// which it rotates the log, and whether it is short of space instead of being killed.
const (
	victimDir  = "WORKSPACEKIT_AUDIT_VICTIM"
	victimSize = "WORKSPACEKIT_AUDIT_SIZE"
	victimFull = "WORKSPACEKIT_AUDIT_FULL"
)

// TestMain runs the child instead of the tests if it is one.
func TestMain(m *testing.M) {
	if dir := os.Getenv(victimDir); dir != "" {
		run := victim
		if os.Getenv(victimFull) != "" {
			run = fullDisk
		}
		if err := run(dir); err != nil {
			fmt.Println("error:", err)
			os.Exit(1)
		}
		return
	}
	exhaustive.Quicken()
	os.Exit(m.Run())
}

// victim writes files and prints the name of each that it has written, until it is
// killed.
func victim(dir string) error {
	size, err := strconv.ParseInt(os.Getenv(victimSize), 10, 64)
	if err != nil {
		return err
	}
	log, err := audit.Open(filepath.Join(dir, "log"), &audit.Options{MaxSize: size})
	if err != nil {
		return err
	}
	local, err := localbash.Open(filepath.Join(dir, "files"), nil)
	if err != nil {
		return err
	}
	fsys := observe.New(local, "test", log)
	for i := 0; ; i++ {
		name := fmt.Sprint(os.Getpid(), "-", i)
		if _, err := fsys.WriteFile(context.Background(), name, []byte("x"), nil); err != nil {
			return err
		}
		if _, err := fmt.Println(name); err != nil {
			return err
		}
	}
}

// TestKill kills a process that writes files, at random moments. Every write that it
// reported before is in the log, once.
func TestKill(t *testing.T) {
	kills := exhaustive.Some(t, "most of 100 kills", 100, 30)
	if testing.Short() {
		kills = 10
	}
	for name, size := range map[string]int64{"one file": 0, "a file for each write": 1, "rotated": 5000} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seed := rand.Uint64()
			t.Logf("seed %d", seed)
			random := rand.New(rand.NewPCG(seed, 0))
			dir := t.TempDir()
			if err := os.Mkdir(filepath.Join(dir, "files"), 0o777); err != nil {
				t.Fatal(err)
			}
			reported := map[string]bool{}
			for range kills {
				for _, name := range killOne(t, dir, size, random.IntN(60)) {
					reported[name] = true
				}
			}
			path := filepath.Join(dir, "log")
			report, err := audit.VerifyFile(path, "")
			if err != nil {
				t.Fatalf("VerifyFile = %+v, %v", report, err)
			}
			t.Logf("%d writes were reported, the log has %d in %d files, and %d torn lines", len(reported), report.Operations, report.Files, report.Torn)
			if size > 0 && report.Files < 2 {
				t.Error("the log was not rotated")
			}
			logged := map[string]bool{}
			for _, name := range allPaths(t, path) {
				if logged[name] {
					t.Errorf("the write of %s is twice in the log", name)
				}
				logged[name] = true
				delete(reported, name)
			}
			if len(reported) > 0 {
				t.Errorf("%d writes that were reported are not in the log: %v", len(reported), reported)
			}
		})
	}
}

// killOne starts a child, kills it after it has reported so many names, and returns
// all that it reported, with what was on the way.
func killOne(t *testing.T, dir string, size int64, after int) (names []string) {
	t.Helper()
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), victimDir+"="+dir, fmt.Sprint(victimSize, "=", size))
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			break // also for a line that was cut short
		}
		if strings.HasPrefix(line, "error:") {
			t.Errorf("the child: %s", line)
		}
		names = append(names, strings.TrimSuffix(line, "\n"))
		if len(names) == after+1 {
			if err := child.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = child.Wait() // it was killed
	return names
}
