package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/workspacekit/workspacekit/internal/cli/term"
	"github.com/workspacekit/workspacekit/internal/enginetest"
)

// console is a program at a pseudo-terminal.
type console struct {
	t      *testing.T
	file   *os.File // the end of the person
	cmd    *exec.Cmd
	output string // that no expect has found yet
}

// newConsole starts a program at a terminal of its own, so that Ctrl-C is a signal for it.
func newConsole(t *testing.T, args ...string) *console {
	t.Helper()
	file, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		enginetest.Lacking(t, "there are no terminals here: %v", err)
	}
	t.Cleanup(func() { file.Close() })
	control, err := file.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var number int
	err = control.Control(func(fd uintptr) {
		if err = unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0); err == nil {
			number, err = unix.IoctlGetInt(int(fd), unix.TIOCGPTN)
		}
	})
	if err != nil {
		enginetest.Lacking(t, "there are no terminals here: %v", err)
	}
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		enginetest.Lacking(t, "there are no terminals here: %v", err)
	}
	defer tty.Close()
	c := &console{t: t, file: file, cmd: exec.CommandContext(t.Context(), args[0], args[1:]...)}
	c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = tty, tty, tty
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return c
}

// expect waits until the program has printed text.
func (c *console) expect(text string) {
	c.t.Helper()
	if err := c.file.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		c.t.Fatal(err)
	}
	for !strings.Contains(c.output, text) {
		data := make([]byte, 4096)
		n, err := c.file.Read(data)
		if c.output += string(data[:n]); err != nil {
			c.t.Fatalf("the terminal has %q and then %v, want %q", c.output, err, text)
		}
	}
	_, c.output, _ = strings.Cut(c.output, text)
}

// enter types text.
func (c *console) enter(text string) {
	c.t.Helper()
	if _, err := c.file.WriteString(text); err != nil {
		c.t.Fatal(err)
	}
}

// wantExit waits until the program has ended with the code.
func (c *console) wantExit(code int) {
	c.t.Helper()
	var exit *exec.ExitError
	if err := c.cmd.Wait(); code != 0 && !errors.As(err, &exit) || c.cmd.ProcessState.ExitCode() != code {
		c.t.Errorf("Wait() = %v, want exit code %d", err, code)
	}
}

// askingFolder returns a folder, and the file of a workspace in it that asks before each write.
func askingFolder(t *testing.T) (dir, file string) {
	t.Helper()
	dir = t.TempDir()
	file = filepath.Join(dir, "workspace.yaml")
	text := "workspaces:\n  w:\n    provider: {kind: localbash, root: .}\n    fs: {rules: [{ask: [write], paths: [\"**\"]}]}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir, file
}

// TestInterruptedAtPrompt has a person press Ctrl-C while a script runs, at the prompt and at
// a question. The session goes on each time.
func TestInterruptedAtPrompt(t *testing.T) {
	dir, file := askingFolder(t)
	c := newConsole(t, "workspace", "--config", file, "shell")
	c.expect("/ $ ")
	c.enter("x=kept; echo run''ning; sleep 50\r")
	c.expect("running\r\n")
	c.enter("\x03")
	c.expect("/ $ ")
	c.enter("echo \"$x $?\"\r")
	c.expect("\nkept 130\r\n")

	c.expect("/ $ ")
	c.enter("echo dropped\x03echo after\r")
	c.expect("\nafter\r\n")
	c.enter("if true\r")
	c.expect("> ")
	c.enter("\x03echo again\r")
	c.expect("\nagain\r\n")

	c.expect("/ $ ")
	c.enter("echo a > a.txt\r")
	c.expect("Allow this?")
	c.enter("\x03")
	c.expect("/ $ ")
	c.enter("echo b > b.txt; cat b.txt\r")
	c.expect("Allow this?")
	c.enter("y\r")
	c.expect("\nb\r\n")
	if _, err := os.Stat(filepath.Join(dir, "a.txt")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Stat(a.txt) = %v, want that nothing was written", err)
	}

	c.expect("/ $ ")
	c.enter("false\r")
	c.expect("/ $ ")
	c.enter("exit\r")
	c.wantExit(1)
}

// TestQuestionsOfScript asks while a script of -c waits for its standard input, the same terminal.
func TestQuestionsOfScript(t *testing.T) {
	_, file := askingFolder(t)
	c := newConsole(t, "workspace", "--config", file, "shell", "-c",
		"echo sta''rted; read x; echo $x > a; read x; echo $x > b; echo \"st $?\"; read x; echo \"<$x>\"; cat a")
	c.expect("started\r\n")
	c.enter("one\r")
	for _, answer := range []string{"y\rtwo\r", "n\rthree\r"} {
		c.expect("Allow this?")
		c.enter(answer)
	}
	c.expect("st 1\r\n")
	c.expect("<three>\r\none\r\n")
	c.wantExit(0)
}

// TestHostileNamesAtPrompt completes names that a shell would read as something else, and goes
// to a directory whose name moves the cursor.
func TestHostileNamesAtPrompt(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"report", "old report", "zz;rm -r src", "qq\necho INJECTED", "ee\x1b[2J"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("content of "+name[:2]+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"src", "dir\x1b[2J"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	c := newConsole(t, "workspace", "-C", dir, "shell")
	c.expect("/ $ ")
	c.enter("rm o\t\r")
	c.expect("/ $ ")
	c.enter("cat zz\t\r")
	c.expect("\ncontent of zz\r\n/ $ ")
	c.enter("echo qq\t ee\t\r")
	c.expect("\nqq ee\r\n/ $ ")
	c.enter("cd dir*\r")
	c.expect(`/dir\x1b[2J $ `)
	c.enter("exit\r")
	c.wantExit(0)
	for name, want := range map[string]bool{"report": true, "old report": false, "src": true} {
		if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != want {
			t.Errorf("Stat(%s) = %v, want that it exists: %v", name, err, want)
		}
	}
}

// TestInterruptedCompletion has a person press Ctrl-C while a store does not answer what names
// there are. The line is dropped, and the session goes on.
func TestInterruptedCompletion(t *testing.T) {
	store, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	for name, value := range map[string]string{"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_REGION": "us-east-1", "AWS_EC2_METADATA_DISABLED": "true"} {
		t.Setenv(name, value)
	}
	c := newConsole(t, "workspace", "-C", "s3://bucket?endpoint=http://"+store.Addr().String(), "shell")
	c.expect(" $ ")
	c.enter("cat fi\t")
	if err := store.(*net.TCPListener).SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	conn, err := store.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	began := time.Now()
	c.enter("\x03echo af''ter\r")
	c.expect("\nafter\r\n")
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("the completion ended after %v, want that Ctrl-C ends it", took)
	}
	c.expect(" $ ")
	c.enter("exit\r")
	c.wantExit(0)
}

// TestInterruptedScriptAtTerminal has a person press Ctrl-C during a script that is no line of
// a prompt.
func TestInterruptedScriptAtTerminal(t *testing.T) {
	c := newConsole(t, "workspace", "-C", t.TempDir(), "shell", "-c", "echo running; sleep 50")
	c.expect("running\r\n")
	c.enter("\x03")
	c.expect("workspace: interrupted")
	c.wantExit(term.ExitInterrupted)
}
