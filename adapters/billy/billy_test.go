package billy_test

import (
	"context"
	"io"
	"os"
	"strings"
	"testing"

	gobilly "github.com/go-git/go-billy/v5"
	"github.com/go-git/go-billy/v5/test"
	"gopkg.in/check.v1"

	"github.com/workspacekit/workspacekit/adapters/billy"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/workspace"
)

// TestSuite runs the tests that billy has for file systems.
func TestSuite(t *testing.T) {
	t.Parallel()
	result := check.Run(&suite{}, &check.RunConf{Output: os.Stderr})
	t.Logf("billy's tests: %s", result)
	if !result.Passed() || result.Succeeded < 60 {
		t.Errorf("%d tests of billy have succeeded, want at least 60, and none that fails", result.Succeeded)
	}
}

type suite struct{ test.FilesystemSuite }

// SetUpTest gives each test an empty workspace. It skips the tests that begin by creating
// a symlink, which a workspace cannot.
func (s *suite) SetUpTest(c *check.C) {
	for _, symlink := range []string{"Symlink", "Readlink", "WithLink", "StatLink", "LstatLink"} {
		if strings.Contains(c.TestName(), symlink) {
			c.Skip("a workspace cannot create symlinks")
		}
	}
	s.FilesystemSuite = test.NewFilesystemSuite(billy.New(context.Background(), workspace.New("test", memory.New(nil), nil)))
}

// TestSymlinksAreNotSupported tests what the suite skips.
func TestSymlinksAreNotSupported(t *testing.T) {
	t.Parallel()
	files := billy.New(t.Context(), workspace.New("test", memory.New(nil), nil))
	if err := files.Symlink("a", "b"); err != gobilly.ErrNotSupported {
		t.Errorf("Symlink() = %v, want ErrNotSupported", err)
	}
	if _, err := files.Readlink("missing"); !os.IsNotExist(err) {
		t.Errorf("Readlink(missing) = %v, want ErrNotExist", err)
	}
	if _, err := files.Readlink("."); err != gobilly.ErrNotSupported {
		t.Errorf("Readlink(.) = %v, want ErrNotSupported", err)
	}
}

func TestReadOnly(t *testing.T) {
	t.Parallel()
	m := memory.New(nil)
	if _, err := m.WriteFile(t.Context(), "a", []byte("A"), nil); err != nil {
		t.Fatal(err)
	}
	files := billy.New(t.Context(), workspace.New("test", readOnly{m}, nil))
	if gobilly.CapabilityCheck(files, gobilly.WriteCapability) {
		t.Error("a workspace that cannot be written to has the capability to write")
	}
	if _, err := files.Create("a"); !os.IsPermission(err) {
		t.Errorf("Create() = %v, want ErrPermission", err)
	}
	f, err := files.Open("a")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if data, err := io.ReadAll(f); err != nil || string(data) != "A" {
		t.Errorf("ReadAll() = %q, %v, want A", data, err)
	}
}

type readOnly struct{ workspace.FileSystem }

func (readOnly) Capabilities() workspace.Capabilities { return workspace.Capabilities{} }

// TestLock has many users of one view add to a number.
func TestLock(t *testing.T) {
	t.Parallel()
	ws := workspace.New("test", memory.New(nil), nil)
	files := billy.New(t.Context(), ws)
	const users = 20
	done := make(chan error, users)
	for range users {
		go func() { done <- add(files) }()
	}
	for range users {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if data, err := ws.ReadFile(t.Context(), "number"); err != nil || len(data) != users {
		t.Errorf("the file has %d bytes, %v, want %d", len(data), err, users)
	}
}

// add reads a file, and writes it with one byte more.
func add(files gobilly.Filesystem) error {
	f, err := files.OpenFile("number", os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return err
	}
	defer f.Close() // a second time if all is well
	if err := f.Lock(); err != nil {
		return err
	}
	data, err := io.ReadAll(f)
	if err != nil {
		return err
	}
	if err := f.Truncate(0); err != nil {
		return err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if _, err := f.Write(append(data, 'x')); err != nil {
		return err
	}
	return f.Close()
}
