//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

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

// TestInterruptedWhileOpening interrupts commands that wait for the answer of a store. Servers
// run until they are interrupted, so for them that is no failure.
func TestInterruptedWhileOpening(t *testing.T) {
	for command, want := range map[string]int{
		"mcp": term.ExitOK, "mcp --http 0": term.ExitOK, "webdav": term.ExitOK,
		"call ls": term.ExitInterrupted, "tools": term.ExitInterrupted, "watch": term.ExitInterrupted,
	} {
		for _, from := range []string{"url", "file"} {
			t.Run(command+" "+from, func(t *testing.T) {
				store, err := net.Listen("tcp", "127.0.0.1:0")
				if err != nil {
					t.Fatal(err)
				}
				defer store.Close()
				url := "http://" + store.Addr().String()
				args := []string{"-C", "s3://b?anonymous=true&probe=true&endpoint=" + url}
				if from == "file" {
					file := filepath.Join(t.TempDir(), "workspace.yaml")
					text := "workspaces: {main: {provider: {kind: objectstore, bucket: b, anonymous: true, probe: true, endpoint: '" + url + "'}}}"
					if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
						t.Fatal(err)
					}
					args = []string{"--config", file}
				}
				cmd := exec.CommandContext(t.Context(), "workspace", append(args, strings.Fields(command)...)...)
				var stderr bytes.Buffer
				cmd.Stderr = &stderr
				start(t, cmd)
				asked, err := store.Accept()
				if err != nil {
					t.Fatal(err)
				}
				defer asked.Close()
				if err := cmd.Process.Signal(os.Interrupt); err != nil {
					t.Fatal(err)
				}
				said := map[int]string{term.ExitOK: "", term.ExitInterrupted: "workspace: interrupted\n"}[want]
				if err := cmd.Wait(); cmd.ProcessState.ExitCode() != want || stderr.String() != said {
					t.Errorf("Wait() = %v, stderr %q, want exit code %d and %q", err, &stderr, want, said)
				}
			})
		}
	}
}

// TestMCPOverHTTP has a client with a token use the server, and one without be refused. The
// file of the token is as some editors write it, with a byte order mark.
func TestMCPOverHTTP(t *testing.T) {
	const token = "0123456789-abcdef"
	dir := t.TempDir()
	file := filepath.Join(dir, "token")
	if err := os.WriteFile(file, []byte("\ufeff"+token+"\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "workspace", "-C", dir, "mcp", "--http", "0.0.0.0:0", "--token-file", file, "--allow-host", "0.0.0.0", "--allow-host", "::1")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	start(t, cmd)
	said := bufio.NewReader(stderr)
	line, err := said.ReadString('\n')
	url, ok := strings.CutPrefix(strings.TrimSpace(line), "workspace: serving at ")
	if err != nil || !ok || !strings.HasPrefix(url, "http://0.0.0.0:") {
		t.Fatalf("stderr = %q, %v, want the address", line, err)
	}
	for sent, want := range map[string]bool{token: true, token + "x": false} {
		header := http.Header{"Authorization": {"Bearer " + sent}}
		transport := &sdk.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: withHeader(header)}}
		session, err := sdk.NewClient(&sdk.Implementation{Name: "t", Version: "1"}, nil).Connect(t.Context(), transport, nil)
		if (err == nil) != want {
			t.Fatalf("Connect() with token %q = %v, want a session: %t", sent, err, want)
		}
		if err != nil {
			continue
		}
		defer session.Close() // ends with the server
		if result, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "workspace__main__ls"}); err != nil || result.IsError {
			t.Errorf("ls = %v, %v, want a result", result, err)
		}
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	rest, _ := io.ReadAll(said) // until the process ends
	if err := cmd.Wait(); err != nil || len(rest) > 0 {
		t.Errorf("Wait() = %v, stderr %q, want exit code 0 and nothing", err, rest)
	}
}

// withHeader sends headers with each request.
type withHeader http.Header

func (h withHeader) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	maps.Copy(r.Header, h)
	return http.DefaultTransport.RoundTrip(r)
}

// TestInterruptedWhileReadingInput has a person press Ctrl-C instead of ending
// the input.
func TestInterruptedWhileReadingInput(t *testing.T) {
	tests := map[string][]string{
		"content": {"call", "write_file", "--path", "a", "--content-file", "-"},
		"json":    {"call", "write_file", "-"},
		"script":  {"shell"},
		"cat":     {"shell", "-c", "cat >a"},
		"file":    {"call", "write_file", "--path", "a", "--content-file", "/dev/stdin"},
		"verify":  {"audit", "verify", "-"},
		"log":     {"audit", "verify", "/dev/stdin"},
		"suggest": {"policy", "suggest", "/dev/stdin"},
		"tokens":  {"webdav", "--token-file", "/dev/stdin"},
	}
	for name, args := range tests {
		t.Run(name, func(t *testing.T) {
			want, said := term.ExitInterrupted, "workspace: interrupted\n"
			if name == "tokens" { // of a server
				want, said = term.ExitOK, ""
			}
			dir := t.TempDir()
			cmd := exec.CommandContext(t.Context(), "workspace", args...)
			cmd.Dir = dir
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			in := start(t, cmd)
			// More than a pipe holds, and less than a line of a log: when it is written, the
			// program reads.
			if _, err := in.Write(make([]byte, 100<<10)); err != nil {
				t.Fatal(err)
			}
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			timer := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
			defer timer.Stop()
			if err := cmd.Wait(); cmd.ProcessState.ExitCode() != want || !strings.HasSuffix(stderr.String(), said) {
				t.Errorf("Wait() = %v, stderr %q, want exit code %d and %q", err, &stderr, want, said)
			}
			if _, err := os.Stat(filepath.Join(dir, "a")); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("Stat(a) = %v, want that nothing was written", err)
			}
		})
	}
}

// TestCallSavesBeforeItPrints kills a call whose output nobody reads. What it has written counts.
func TestCallSavesBeforeItPrints(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "workspace", "call", "bash", "seq 50000; echo b >b", "--session", "s.json")
	cmd.Dir = dir
	if _, err := cmd.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	start(t, cmd)
	waitFor(t, filepath.Join(dir, "s.json"))
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}

// TestWebDAV has a client with a token use the server, and one without be refused.
func TestWebDAV(t *testing.T) {
	const token = "0123456789-abcdef"
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "workspace", "-C", dir, "webdav")
	cmd.Env = append(os.Environ(), "WORKSPACE_WEBDAV_TOKEN="+token)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	start(t, cmd)
	said := bufio.NewReader(stderr)
	line, err := said.ReadString('\n')
	url, ok := strings.CutPrefix(strings.TrimSpace(line), "workspace: serving at ")
	if err != nil || !ok {
		t.Fatalf("stderr = %q, %v, want the address", line, err)
	}
	for sent, want := range map[string]int{token: http.StatusCreated, token + "x": http.StatusUnauthorized} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, url+"a.txt", strings.NewReader("content"))
		if err != nil {
			t.Fatal(err)
		}
		r.SetBasicAuth("me", sent)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("PUT with the password %q = %s, want %d", sent, answer.Status, want)
		}
	}
	if data, err := os.ReadFile(filepath.Join(dir, "a.txt")); err != nil || string(data) != "content" {
		t.Errorf("the file has %q, %v, want the content", data, err)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	rest, _ := io.ReadAll(said) // until the process ends
	if err := cmd.Wait(); err != nil || len(rest) > 0 {
		t.Errorf("Wait() = %v, stderr %q, want exit code 0 and nothing", err, rest)
	}
}
