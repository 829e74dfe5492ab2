package repotest_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
)

// The most files and functions of this module that a search from the command
// line may run. What is not needed to search a folder should not run: lower the
// numbers when the trace gets shorter.
const (
	maxTracedFiles     = 100
	maxTracedFunctions = 469
)

// TestTraceOfGrep builds the command with coverage, searches a folder with one
// file, and counts what has run.
func TestTraceOfGrep(t *testing.T) {
	exhaustive.Long(t) // builds the command with coverage
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("one x\ntwo\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	program, counters := filepath.Join(t.TempDir(), "workspace"), t.TempDir()
	command(t, "go", "build", "-cover", "-coverpkg=./...", "-o", program, "./cmd/workspace")
	t.Setenv("GOCOVERDIR", counters)
	if out := command(t, program, "-C", dir, "call", "grep", "--pattern", "x"); out != "a.txt:1:one x\n" {
		t.Fatalf("workspace call grep printed %q", out)
	}
	functions, files := 0, map[string]bool{}
	for line := range strings.Lines(command(t, "go", "tool", "covdata", "func", "-i="+counters)) {
		// A line is "FILE:LINE: FUNCTION PERCENT%".
		fields := strings.Fields(line)
		file, _, ok := strings.Cut(fields[0], ":")
		if !ok || fields[len(fields)-1] == "0.0%" {
			continue
		}
		functions++
		files[file] = true
	}
	t.Logf("%d functions in %d files have run", functions, len(files))
	if functions == 0 || functions > maxTracedFunctions || len(files) > maxTracedFiles {
		t.Errorf("a search runs %d functions in %d files, want at most %d in %d", functions, len(files), maxTracedFunctions, maxTracedFiles)
	}
}

// command runs a program at the root of the repository and returns its output.
func command(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %q: %v", name, args, err)
	}
	return string(out)
}
