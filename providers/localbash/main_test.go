package localbash_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/providers/localbash"
	"github.com/workspacekit/workspacekit/workspace"
)

// childEnv names the role that this test binary plays as a child process.
const childEnv = "LOCALBASH_TEST_CHILD"

func TestMain(m *testing.M) {
	beSwapper()
	role := os.Getenv(childEnv)
	if role == "" {
		exhaustive.Quicken()
		os.Exit(m.Run())
	}
	play, ok := roles()[role]
	if !ok {
		fmt.Fprintf(os.Stderr, "no role %q\n", role)
		os.Exit(2)
	}
	if err := play(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// child returns a process that plays role on dir.
func child(t *testing.T, role, dir string) *exec.Cmd {
	t.Helper()
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary, dir)
	cmd.Env = append(os.Environ(), childEnv+"="+role)
	cmd.Stderr = os.Stderr
	return cmd
}

// withFS runs play on the folder dir.
func withFS(dir string, play func(*localbash.FS) error) error {
	fsys, err := localbash.Open(dir, nil)
	if err != nil {
		return err
	}
	defer fsys.Close()
	return play(fsys)
}

// put makes a file of the host, with its parents.
func put(t testing.TB, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
}

// link makes a symlink of the host, with its parents.
func link(t testing.TB, target, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, path); err != nil {
		t.Fatal(err)
	}
}

// write writes by fsys.
func write(t testing.TB, fsys workspace.FileSystem, name, content string) workspace.Version {
	t.Helper()
	version, err := fsys.WriteFile(context.Background(), name, []byte(content), nil)
	if err != nil {
		t.Fatalf("WriteFile(%q) = %v, want nil", name, err)
	}
	return version
}

// content reads a file of the host.
func content(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// temps returns the temporary files in the folder dir of the host.
func temps(t testing.TB, dir string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, ".workspacekit-tmp-*"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}
