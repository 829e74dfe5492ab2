//go:build unix

package audit_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/providers/localbash"
	"github.com/workspacekit/workspacekit/workspace/audit"
	"github.com/workspacekit/workspacekit/workspace/observe"
)

// victimDir is the variable that makes the test a child that is killed: the folder
// in which it writes.
const victimDir = "WORKSPACEKIT_AUDIT_VICTIM"

// TestMain runs the child instead of the tests if it is one.
func TestMain(m *testing.M) {
	if dir := os.Getenv(victimDir); dir != "" {
		if err := victim(dir); err != nil {
			fmt.Println("error:", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// victim writes files and prints the name of each that it has written, until it is
// killed.
func victim(dir string) error {
	log, err := audit.Open(filepath.Join(dir, "log"), nil)
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
// reported before is in the log.
func TestKill(t *testing.T) {
	kills := 10
	if exhaustive.On() || !testing.Short() {
		kills = 100
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "files"), 0o777); err != nil {
		t.Fatal(err)
	}
	reported := map[string]bool{}
	for range kills {
		for _, name := range killOne(t, dir, random.IntN(60)) {
			reported[name] = true
		}
	}
	data := readAll(t, filepath.Join(dir, "log"))
	if report, err := audit.Verify(bytes.NewReader(data), ""); err != nil {
		t.Fatalf("Verify = %+v, %v", report, err)
	} else {
		t.Logf("%d writes were reported, the log has %d and %d torn lines", len(reported), report.Operations, report.Torn)
	}
	for e, err := range audit.Read(bytes.NewReader(data)) {
		if err != nil {
			t.Fatal(err)
		}
		delete(reported, e.Path)
	}
	if len(reported) > 0 {
		t.Errorf("%d writes that were reported are not in the log: %v", len(reported), reported)
	}
}

// killOne starts a child, kills it after it has reported so many names, and returns
// all that it reported, with what was on the way.
func killOne(t *testing.T, dir string, after int) (names []string) {
	t.Helper()
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), victimDir+"="+dir)
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
