package webdav_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/workspacekit/workspacekit/adapters/webdav"
	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/providers/localbash"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/workspace"
)

// deadline bounds how long a test waits.
const deadline = time.Minute

// serve returns the address of a server for fsys that ends with the test.
func serve(t *testing.T, fsys workspace.FileSystem, opts *webdav.ServeOptions) (addr string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	ws := workspace.New("test", fsys, &workspace.Options{MaxFileSize: 1 << 20})
	go func() { ended <- webdav.Serve(ctx, ws, listener, opts) }()
	t.Cleanup(func() {
		cancel()
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("Serve() = %v, want nil", err)
			}
		case <-time.After(deadline):
			t.Error("Serve did not end")
		}
	})
	return listener.Addr().String()
}

// program returns a command that ends with the test.
func program(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	exhaustive.Program(t, name)
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = t.TempDir()
	return cmd
}

func newFolder(t *testing.T) *localbash.FS {
	t.Helper()
	fsys, err := localbash.Open(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { fsys.Close() })
	return fsys
}

// fileSystems are those that the clients use.
func fileSystems(t *testing.T) map[string]workspace.FileSystem {
	return map[string]workspace.FileSystem{"memory": memory.New(nil), "localbash": newFolder(t)}
}

// TestLitmus runs the tests for servers of the neon library. Of its suites locks and
// props, golang.org/x/net/webdav fails some by itself: shared locks, ETags among the
// conditions of If, and XML with an invalid namespace.
func TestLitmus(t *testing.T) {
	t.Parallel()
	for name, fsys := range fileSystems(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			addr := serve(t, fsys, nil)
			for suites, fails := range map[string]string{
				"basic copymove http": "",
				"locks":               "fail_complex_cond_put lock_shared",
				"props":               "propfind_invalid2",
			} {
				cmd := program(t, "litmus", "http://"+addr+"/")
				cmd.Env = append(os.Environ(), "TESTS="+suites)
				out, err := cmd.Output()
				failed := ""
				for _, match := range failure.FindAllStringSubmatch(string(out), -1) {
					failed = strings.TrimSpace(failed + " " + match[1])
				}
				if (err != nil) != (fails != "") || failed != fails || strings.Count(string(out), "summary for") != len(strings.Fields(suites)) {
					t.Errorf("litmus %s: %v, failed are %q, want %q:\n%s", suites, err, failed, fails, out)
				}
			}
		})
	}
}

// failure finds the names of tests that litmus says have failed.
var failure = regexp.MustCompile(`(\w+)\.* FAIL`)

// TestRclone has rclone upload a tree, list, compare, move, and delete it.
func TestRclone(t *testing.T) {
	exhaustive.Long(t)
	t.Parallel()
	for name, fsys := range fileSystems(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const token = "0123456789-abcdef"
			addr := serve(t, fsys, &webdav.ServeOptions{Tokens: []string{token}})
			dir := t.TempDir()
			plant(t, dir)
			obscured, err := program(t, "rclone", "obscure", token).Output()
			if err != nil {
				t.Fatal(err)
			}
			rclone := func(args ...string) string {
				t.Helper()
				cmd := program(t, "rclone", append(args, "--config", "/dev/null", "--retries", "1", "--low-level-retries", "1", "-v")...)
				cmd.Env = append(os.Environ(), "RCLONE_CONFIG_W_TYPE=webdav", "RCLONE_CONFIG_W_URL=http://"+addr+"/", "RCLONE_CONFIG_W_VENDOR=other",
					"RCLONE_CONFIG_W_USER=me", "RCLONE_CONFIG_W_PASS="+strings.TrimSpace(string(obscured)))
				var stderr bytes.Buffer
				cmd.Stderr = &stderr
				out, err := cmd.Output()
				if err != nil {
					t.Fatalf("rclone %q: %v\n%s", args, err, &stderr)
				}
				return string(out)
			}
			rclone("copy", dir, "w:up")
			rclone("check", "--download", dir, "w:up")
			if got := strings.Count(rclone("lsf", "-R", "--files-only", "w:up"), "\n"); got != planted {
				t.Errorf("rclone lists %d files, want %d", got, planted)
			}
			rclone("moveto", "w:up/d1", "w:moved/d1")
			rclone("copyto", "w:up/d2", "w:moved/d2")
			if err := os.RemoveAll(filepath.Join(dir, "d1", "f3")); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "d1", "f4 ü%?#"), []byte("other"), 0o666); err != nil {
				t.Fatal(err)
			}
			rclone("sync", filepath.Join(dir, "d1"), "w:moved/d1")
			rclone("check", "--download", filepath.Join(dir, "d1"), "w:moved/d1")
			rclone("check", "--download", filepath.Join(dir, "d2"), "w:moved/d2")
			rclone("purge", "w:moved")
			rclone("purge", "w:up")
			if children, err := fsys.Ls(t.Context(), ".", nil); err != nil || len(children) != 0 {
				t.Errorf("after rclone purge: %v, %v, want nothing", children, err)
			}
		})
	}
}

// planted is how many files plant writes.
const planted = 60

// plant writes a tree of files with unusual names and random content.
func plant(t *testing.T, dir string) {
	t.Helper()
	source := rand.NewChaCha8([32]byte{})
	for i := range planted {
		name := filepath.Join(dir, fmt.Sprintf("d%d", i%3), fmt.Sprintf("f%d", i))
		if i%7 == 4 {
			name += " ü%?#"
		}
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		content := make([]byte, i*i*100)
		_, _ = source.Read(content) // never fails
		if err := os.WriteFile(name, content, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}
