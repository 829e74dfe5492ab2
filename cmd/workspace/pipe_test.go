//go:build unix

package main

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/workspacekit/workspacekit/internal/cli/term"
)

// unread returns a pipe that nobody reads anymore.
func unread(t *testing.T) *os.File {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	r.Close()
	return w
}

// runUnread runs the program in dir with an output that nobody reads, and checks that it ends
// as a signal would have ended it.
func runUnread(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "workspace", args...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = unread(t), &stderr
	if err := cmd.Run(); cmd.ProcessState.ExitCode() != term.ExitPipe || stderr.Len() > 0 {
		t.Errorf("workspace %q = %v, stderr %q, want exit code %d and nothing", args, err, &stderr, term.ExitPipe)
	}
}

// left returns the files in dir whose names match pattern.
func left(t *testing.T, dir, pattern string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func writeFile(t *testing.T, dir, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
}

func TestUnreadOutput(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, dir, "a", strings.Repeat("a line\n", 100_000))
	for _, args := range [][]string{
		{"--help"},
		{"completion", "bash"},
		{"tools"},
		{"call", "ls", "--json"},
		{"call", "stat", "nowhere", "--json"},
		{"call", "read_file", "a", "--all"},
		{"shell", "-c", "while :; do echo a; done"},
		{"shell", "-c", "yes"},
	} {
		t.Run(strings.Join(args, " "), func(t *testing.T) { runUnread(t, dir, args...) })
	}
}

// TestUnreadCallCounts tests that what calls have written counts for the quota of their
// session, although nobody has read their output.
func TestUnreadCallCounts(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, dir, "workspace.yaml", "tools: {bash: true}\nworkspaces: {main: {provider: {kind: localbash, root: files}, fs: {quota: {files: 2, mb: 5}}}}\n")
	if err := os.Mkdir(filepath.Join(dir, "files"), 0o777); err != nil {
		t.Fatal(err)
	}
	runUnread(t, dir, "call", "write_file", "a", "--content", "1", "--session", "s.json")
	runUnread(t, dir, "call", "bash", "seq 50000; echo b >b", "--session", "s.json")
	out, err := exec.CommandContext(t.Context(), "workspace", "--config", filepath.Join(dir, "workspace.yaml"),
		"call", "write_file", "c", "--content", "1", "--session", filepath.Join(dir, "s.json")).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "the session has written 2 files") {
		t.Errorf("the third file = %v, output %q, want an error of the quota", err, out)
	}
}

// TestUnreadDoctor has the report of one workspace fail while another is tried.
func TestUnreadDoctor(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, dir, "workspace.yaml", "workspaces: {a: {provider: {kind: memory}}, b: {provider: {kind: localbash, root: .}}}\n")
	runUnread(t, dir, "doctor")
	if left := left(t, dir, ".workspace-doctor-*"); len(left) > 0 {
		t.Errorf("the doctor left %q", left)
	}
}

func TestUnreadScript(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, dir, "a", strings.Repeat("x", 8<<20))
	runUnread(t, dir, "shell", "-c", "cp a b & sleep 0.01; echo hi; echo ho; wait")
	if left := left(t, dir, ".workspacekit-tmp-*"); len(left) > 0 {
		t.Errorf("the script left %q", left)
	}
}

// TestMCPWithoutALog has a parent close standard error once it has read the address, and a
// client provoke a warning.
func TestMCPWithoutALog(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "workspace", "-C", t.TempDir(), "mcp", "--http", "0")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	start(t, cmd)
	line, err := bufio.NewReader(stderr).ReadString('\n')
	url, ok := strings.CutPrefix(strings.TrimSpace(line), "workspace: serving at ")
	if err != nil || !ok {
		t.Fatalf("stderr = %q, %v, want the address", line, err)
	}
	stderr.Close()
	for range 2 {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatalf("tools/list = %v, want an answer", err)
		}
		_, _ = io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("Wait() = %v, want exit code 0", err)
	}
}
