package config_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/audit"
	"github.com/workspacekit/workspacekit/workspace/config"
)

// TestCommandsAndRotatedLogs tests that commands in the sandbox cannot change a file that the
// audit log was rotated to after the workspace was opened.
func TestCommandsAndRotatedLogs(t *testing.T) {
	t.Parallel()
	exhaustive.Program(t, "bwrap")
	dir := filepath.Join(t.TempDir(), "folder")
	file := `
workspaces:
  main:
    provider: { kind: localbash, root: ., run: { enabled: true, sandbox: require } }
    fs: { rules: [{ allow: [run], paths: ["**"] }] }
    audit: { file: log }
`
	writeFile(t, filepath.Join(dir, "other"), "")
	opened := open(t, parse(t, dir, file))
	ws := lookup(t, opened, "main")
	log := filepath.Join(dir, "log")
	if err := os.Rename(log, log+".1"); err != nil {
		t.Fatal(err)
	}
	if _, err := audit.Open(log, nil); err != nil { // as another process does
		t.Fatal(err)
	}
	for script, fails := range map[string]bool{"echo x >>log": true, "echo x >>log.1": true, "mv log.1 moved": true, "echo x >>other": false} {
		result, err := ws.Run(t.Context(), &workspace.RunOptions{Command: []string{"/bin/sh", "-c", script}})
		if err != nil || (result.ExitCode != 0) != fails {
			t.Errorf("Run(%q) = %+v, %v, want a failure: %t", script, result, err, fails)
		}
	}
}

// TestCommandsAndRecord tests that commands in the sandbox cannot create the record of trusted
// files in their folder.
func TestCommandsAndRecord(t *testing.T) {
	exhaustive.Program(t, "bwrap")
	dir := t.TempDir()
	t.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state"))
	file := `
workspaces:
  main:
    provider: { kind: localbash, root: ., run: { enabled: true, sandbox: require } }
    fs: { rules: [{ allow: [run], paths: ["**"] }] }
`
	opened := open(t, parse(t, dir, file))
	for script, fails := range map[string]bool{
		"mkdir -p state/workspace && echo x >state/workspace/trusted.json": true, "mv state moved": true, "echo x >other": false,
	} {
		result, err := lookup(t, opened, "main").Run(t.Context(), &workspace.RunOptions{Command: []string{"/bin/sh", "-c", script}})
		if err != nil || (result.ExitCode != 0) != fails {
			t.Errorf("Run(%q) = %+v, %v, want a failure: %t", script, result, err, fails)
		}
	}
	store, err := config.UserTrustStore()
	if err != nil {
		t.Fatal(err)
	}
	if trusted, err := store.List(); err != nil || len(trusted) > 0 {
		t.Errorf("List() = %v, %v, want no file", trusted, err)
	}
}
