package mcp_test

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// newProcess returns the command of a server that is a process of its own.
func newProcess(t *testing.T) *exec.Cmd {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), program)
	command.Env = append(os.Environ(), serveVariable+"=stdio")
	return command
}

func TestProcess(t *testing.T) {
	command := newProcess(t)
	session := newSession(t, &sdk.CommandTransport{Command: command})
	list, err := session.ListTools(t.Context(), nil)
	if err != nil || len(list.Tools) != 14 {
		t.Fatalf("ListTools() = %v, %v, want 14 tools", list, err)
	}
	if text := textOf(t, call(t, session, "read_file", `{"path": "a.txt", "line": 2}`)); !strings.Contains(text, "two") {
		t.Errorf("read_file = %q, want the second line", text)
	}
	if !call(t, session, "read_file", `{"path": "b.txt"}`).IsError {
		t.Error("read_file of a missing file is no error")
	}
	if err := session.Close(); err != nil {
		t.Errorf("Close() = %v", err)
	}
	if code := command.ProcessState.ExitCode(); code != 0 {
		t.Errorf("exit code = %d, want 0", code)
	}
}

func TestProcessEndsWithItsInput(t *testing.T) {
	command := newProcess(t)
	var stdout, stderr bytes.Buffer
	command.Stdin, command.Stdout, command.Stderr = strings.NewReader(hello+callStat+ping), &stdout, &stderr
	if err := command.Run(); err != nil {
		t.Fatalf("Run() = %v, stderr %s, want exit code 0", err, &stderr)
	}
	if lines := strings.Count(stdout.String(), "\n"); lines != 3 {
		t.Errorf("stdout has %d lines, want 3 answers:\n%s", lines, &stdout)
	}
	if stderr.Len() > 0 {
		t.Errorf("stderr = %q, want nothing", &stderr)
	}
}
