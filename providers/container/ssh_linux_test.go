package container_test

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/workspacekit/workspacekit/conformance"
	"github.com/workspacekit/workspacekit/providers/container"
	"github.com/workspacekit/workspacekit/workspace"
)

// TestSSH runs the suite through ssh and a server for it on this computer.
func TestSSH(t *testing.T) {
	if testing.Short() {
		t.Skip("the suite runs in every place")
	}
	command := overSSH(t)
	conformance.Run(t, func(t *testing.T) workspace.FileSystem {
		return open(t, &container.Options{Executor: command, Root: t.TempDir()})
	}, &conformance.Options{Symlink: (&running{}).symlink})
}

// overSSH starts a server for the length of the test, and returns the Executor
// that goes through it.
func overSSH(t *testing.T) container.Command {
	t.Helper()
	server := "/usr/sbin/sshd"
	if _, err := os.Stat(server); err != nil {
		lacking(t, "there is no sshd: install openssh-server")
	}
	if _, err := exec.LookPath("ssh"); err != nil {
		lacking(t, "there is no ssh: install openssh-client")
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
		"StrictModes no\nUsePAM no\nPasswordAuthentication no\nPermitRootLogin prohibit-password\nMaxStartups 100\n", port, dir)
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
	return container.Command{
		"ssh", "-F", "none", "-p", port, "-i", filepath.Join(dir, "key"), "-o", "StrictHostKeyChecking=no",
		"-o", "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR", "127.0.0.1",
	}
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
