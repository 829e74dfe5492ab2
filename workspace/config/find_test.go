package config_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/workspacekit/workspacekit/workspace/config"
)

func TestFind(t *testing.T) {
	root := t.TempDir()
	deep := filepath.Join(root, "a", "b")
	if err := os.MkdirAll(deep, 0o777); err != nil {
		t.Fatal(err)
	}
	if path, err := config.Find(deep); err == nil && filepath.Dir(path) == root {
		t.Fatalf("Find(%q) = %q before there is a file", deep, path)
	}
	top, nearer := filepath.Join(root, config.FileName), filepath.Join(root, "a", config.FileName)
	writeFile(t, top, "")
	expectFound(t, deep, top)
	expectFound(t, root, top)
	writeFile(t, nearer, "")
	expectFound(t, deep, nearer)
	if err := os.Remove(nearer); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(root, "a", "workspace.yml")
	writeFile(t, other, "")
	expectFound(t, deep, other)
}

// What has the name and is not one file is an error: passing it by would serve
// another folder than its author meant.
func TestFindRefuses(t *testing.T) {
	for _, tt := range []struct {
		name   string
		create func(t *testing.T, dir string) error
		want   string
	}{
		{"a folder", func(_ *testing.T, dir string) error {
			return os.Mkdir(filepath.Join(dir, config.FileName), 0o777)
		}, "it is a folder"},
		{"a dangling symlink", func(_ *testing.T, dir string) error {
			return os.Symlink("nowhere", filepath.Join(dir, "workspace.yml"))
		}, "a symlink to a file that does not exist"},
		{"both names", func(t *testing.T, dir string) error {
			writeFile(t, filepath.Join(dir, config.FileName), "")
			writeFile(t, filepath.Join(dir, "workspace.yml"), "")
			return nil
		}, "there is also workspace.yml"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root := t.TempDir()
			writeFile(t, filepath.Join(root, config.FileName), "")
			deep := filepath.Join(root, "a", "b")
			if err := os.MkdirAll(deep, 0o777); err != nil {
				t.Fatal(err)
			}
			if err := tt.create(t, filepath.Join(root, "a")); err != nil {
				t.Fatal(err)
			}
			if path, err := config.Find(deep); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Find(%q) = %q, %v, want an error that says %q", deep, path, err, tt.want)
			}
		})
	}
}

func expectFound(t *testing.T, dir, want string) {
	t.Helper()
	if got, err := config.Find(dir); got != want || err != nil {
		t.Errorf("Find(%q) = %q, %v, want %q", dir, got, err, want)
	}
}

func TestFindNothing(t *testing.T) {
	root := filepath.VolumeName(t.TempDir()) + string(filepath.Separator)
	if _, err := os.Stat(filepath.Join(root, config.FileName)); err == nil {
		t.Skip("this computer has a file at its root")
	}
	if _, err := config.Find(root); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Find(%q) = %v, want %v", root, err, fs.ErrNotExist)
	}
}

func TestLocate(t *testing.T) {
	dir := t.TempDir()
	found := filepath.Join(dir, config.FileName)
	writeFile(t, found, "")
	set := func(string) (string, bool) { return "from-env.yaml", true }
	unset := func(string) (string, bool) { return "", false }
	for _, tt := range []struct {
		name, explicit string
		env            func(string) (string, bool)
		want           config.Location
	}{
		{"explicit", "named.yaml", set, config.Location{Path: "named.yaml"}},
		{"environment", "", set, config.Location{Path: "from-env.yaml"}},
		{"found", "", unset, config.Location{Path: found, Found: true}},
	} {
		if got, err := config.Locate(tt.explicit, dir, tt.env); got != tt.want || err != nil {
			t.Errorf("%s: Locate(%q) = %v, %v, want %v", tt.name, tt.explicit, got, err, tt.want)
		}
	}
}
