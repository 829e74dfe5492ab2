//go:build unix

package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/workspacekit/workspacekit/internal/cli/term"
)

// TestDoctorEndsBySignal interrupts a run that waits for an engine.
func TestDoctorEndsBySignal(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{
		"engine":         "#!/bin/sh\ntouch " + filepath.Join(dir, "asked") + "\nsleep 600\n",
		"workspace.yaml": "workspaces: {a: {provider: {kind: localbash, root: .}}, b: {provider: {kind: container, container: c}}}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "workspace", "--config", "workspace.yaml", "doctor", "--timeout", "10m")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "WORKSPACE_ENGINE="+filepath.Join(dir, "engine"))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	start(t, cmd)
	waitFor(t, filepath.Join(dir, "asked"))
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != term.ExitInterrupted || !strings.HasSuffix(out.String(), "workspace: interrupted\n") {
		t.Errorf("Wait() = %v, output %q, want exit code %d and that it was interrupted", err, &out, term.ExitInterrupted)
	}
	if left, err := filepath.Glob(filepath.Join(dir, ".workspace-doctor-*")); err != nil || len(left) > 0 {
		t.Errorf("the doctor left %q, %v", left, err)
	}
}

// waitFor waits until a file is there.
func waitFor(t *testing.T, path string) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); time.Now().Before(end); <-tick.C {
		if _, err := os.Stat(path); err == nil {
			return
		}
	}
	t.Fatalf("%s was never there", path)
}
