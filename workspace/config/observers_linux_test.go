package config_test

import (
	"errors"
	"io"
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

// TestCommandBesideTrust tests that a command that runs while the user trusts a file, which
// replaces the record, cannot change the new one.
func TestCommandBesideTrust(t *testing.T) {
	exhaustive.Program(t, "bwrap")
	dir := t.TempDir()
	t.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state"))
	file := `
workspaces:
  main:
    provider: { kind: localbash, root: ., run: { enabled: true, sandbox: require } }
    fs: { rules: [{ allow: [run], paths: ["**"] }] }
`
	ws := lookup(t, open(t, parse(t, dir, file)), "main")
	store, err := config.UserTrustStore()
	if err != nil {
		t.Fatal(err)
	}
	ready, begun := io.Pipe()
	wait, goOn := io.Pipe()
	go func() {
		defer goOn.Close() // the command goes on
		if _, err := ready.Read(make([]byte, 1)); err != nil {
			t.Errorf("the command said nothing: %v", err)
			return
		}
		elsewhere := filepath.Join(t.TempDir(), config.FileName)
		writeFile(t, elsewhere, file)
		trust(t, store, elsewhere)
	}()
	result, err := ws.Run(t.Context(), &workspace.RunOptions{
		Command: []string{"/bin/sh", "-c", "echo; cat; echo x >state/workspace/trusted.json"}, Stdin: wait, Stdout: begun,
	})
	begun.Close()
	if err != nil || result.ExitCode == 0 {
		t.Errorf("Run beside Trust = %+v, %v, want a failure of the command", result, err)
	}
	if trusted, err := store.List(); err != nil || len(trusted) != 1 {
		t.Errorf("List() = %v, %v, want one file", trusted, err)
	}
}

// TestRunNeedsRule runs no command that nothing allows, also where no name is restricted.
func TestRunNeedsRule(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"a", "b"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	writeFile(t, filepath.Join(dir, "b", "in"), "")
	if err := os.Symlink(filepath.Join(dir, "b"), filepath.Join(dir, "a", "out")); err != nil {
		t.Fatal(err)
	}
	for settings, runs := range map[string]bool{
		"fs: {}": false, "fs: { mode: audit }, audit: { file: log }": true, `fs: { rules: [{ allow: [run], paths: ["**"] }] }`: true,
	} {
		opened := open(t, parse(t, dir, `workspaces: { main: { provider: { kind: localbash, root: a, relaxed: true, run: { enabled: true, sandbox: off } }, `+settings+` } }`))
		ws := lookup(t, opened, "main")
		if got := ws.Capabilities().Run; got != runs {
			t.Errorf("with the settings %q, Capabilities().Run = %t, want %t", settings, got, runs)
		}
		if _, err := ws.Run(t.Context(), &workspace.RunOptions{Command: []string{"true"}}); !runs && !errors.Is(err, workspace.ErrPolicy) || runs && err != nil {
			t.Errorf("with the settings %q, Run = %v, want that it runs: %t", settings, err, runs)
		}
		if _, err := ws.ReadFile(t.Context(), "out/in"); err != nil {
			t.Errorf("with the settings %q, ReadFile through a symlink that leads out = %v", settings, err)
		}
	}
}
