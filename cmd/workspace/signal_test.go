//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/workspacekit/workspacekit/internal/cli/term"
)

const hello = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}` + "\n"

// start starts the program with an open standard input.
func start(t *testing.T, cmd *exec.Cmd) io.WriteCloser {
	t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		// It has ended unless the test failed.
		_ = cmd.Process.Kill()
	})
	return in
}

func TestMCPEndsBySignal(t *testing.T) {
	// A child starts with the signals ignored that are ignored here, as by nohup.
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGHUP)
	defer signal.Stop(caught)
	for name, sent := range map[string]os.Signal{"sigint": syscall.SIGINT, "sigterm": syscall.SIGTERM, "sighup": syscall.SIGHUP} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, "workspace", "-C", t.TempDir(), "mcp")
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			in := start(t, cmd)
			if _, err := io.WriteString(in, hello); err != nil {
				t.Fatal(err)
			}
			if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || !strings.Contains(line, "serverInfo") {
				t.Fatalf("answer = %q, %v, want the server's name", line, err)
			}
			if err := cmd.Process.Signal(sent); err != nil {
				t.Fatal(err)
			}
			if err := cmd.Wait(); err != nil || stderr.Len() > 0 {
				t.Errorf("Wait() = %v, stderr %q, want exit code 0 and nothing", err, &stderr)
			}
		})
	}
}

// TestInterruptedWhileReadingInput has a person press Ctrl-C instead of ending
// the input.
func TestInterruptedWhileReadingInput(t *testing.T) {
	tests := map[string][]string{
		"content": {"call", "write_file", "--path", "a", "--content-file", "-"},
		"json":    {"call", "write_file", "-"},
	}
	for name, args := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			cmd := exec.CommandContext(t.Context(), "workspace", append([]string{"-C", dir}, args...)...)
			in := start(t, cmd)
			// More than a pipe holds: when it is written, the program reads.
			if _, err := in.Write(make([]byte, 1<<20)); err != nil {
				t.Fatal(err)
			}
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			var exit *exec.ExitError
			if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != term.ExitInterrupted {
				t.Errorf("Wait() = %v, want exit code %d", err, term.ExitInterrupted)
			}
			if _, err := os.Stat(filepath.Join(dir, "a")); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("Stat(a) = %v, want that nothing was written", err)
			}
		})
	}
}
