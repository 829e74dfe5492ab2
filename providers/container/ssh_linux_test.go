package container_test

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/workspacekit/workspacekit/internal/enginetest"
	"github.com/workspacekit/workspacekit/providers/container"
)

// TestSSH goes through ssh and a server for it on this computer, with what a
// client on the way could spoil: names, contents, streams and watches.
func TestSSH(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: this computer is enough")
	}
	t.Parallel()
	ctx, f := t.Context(), open(t, &container.Options{Executor: overSSH(t), Root: t.TempDir()})
	events, err := f.Watch(ctx, ".", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range hostileNames() {
		roundTrip(t, f, name, "needle in "+name)
	}
	awaitEvent(t, events, hostileNames()[0])
	for _, content := range hostileContents() {
		roundTrip(t, f, "contents", content)
	}
	result, err := f.Grep(ctx, "needle", nil)
	if err != nil || len(matched(result)) != len(hostileNames()) {
		t.Errorf("Grep finds %d files, %v, want %d", len(matched(result)), err, len(hostileNames()))
	}
}

// overSSH starts a server for the length of the test, and returns the Executor
// that goes through it.
func overSSH(t *testing.T) container.Command {
	t.Helper()
	server := "/usr/sbin/sshd"
	if _, err := os.Stat(server); err != nil {
		enginetest.Lacking(t, "there is no sshd: install openssh-server")
	}
	if _, err := exec.LookPath("ssh"); err != nil {
		enginetest.Lacking(t, "there is no ssh: install openssh-client")
	}
	if os.Geteuid() == 0 { // it separates its privileges there
		if err := os.MkdirAll("/run/sshd", 0o755); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	shell(t, dir, "ssh-keygen -q -t ed25519 -N '' -f host && ssh-keygen -q -t ed25519 -N '' -f key && cp key.pub authorized && chmod 600 authorized")
	port := freePort(t)
	config := fmt.Sprintf("ListenAddress 127.0.0.1:%s\nHostKey %[2]s/host\nAuthorizedKeysFile %[2]s/authorized\nPidFile none\n"+
		"StrictModes no\nUsePAM no\nPasswordAuthentication no\nPermitRootLogin prohibit-password\nMaxSessions 1000\n", port, dir)
	if err := os.WriteFile(filepath.Join(dir, "config"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	sshd := exec.Command(server, "-D", "-e", "-f", filepath.Join(dir, "config"))
	sshd.Stderr = &log
	if err := sshd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = sshd.Process.Kill()
		_ = sshd.Wait()
		if t.Failed() {
			t.Logf("the server said: %s", log.Bytes())
		}
	})
	eventually(t, "the server does not listen", func() error {
		conn, err := net.Dial("tcp", "127.0.0.1:"+port)
		if err != nil {
			return err
		}
		return conn.Close()
	})
	command := container.Command{
		"ssh", "-F", "none", "-p", port, "-i", filepath.Join(dir, "key"), "-o", "StrictHostKeyChecking=no",
		"-o", "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR", "-S", filepath.Join(dir, "share"),
	}
	return append(share(t, command, filepath.Join(dir, "share")), "127.0.0.1")
}

// share keeps a connection open for all that command starts, as each of its own
// takes half a second.
func share(t *testing.T, command container.Command, path string) container.Command {
	t.Helper()
	master := exec.Command(command[0], append(command[1:len(command):len(command)], "-M", "-N", "127.0.0.1")...)
	if err := master.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = master.Process.Kill()
		_ = master.Wait()
	})
	eventually(t, "the connection cannot be opened", func() error { return second(os.Stat(path)) })
	return command
}

// freePort returns a port that nothing listened at.
func freePort(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}
