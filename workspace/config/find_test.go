package config_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
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
	if err := os.Mkdir(nearer, 0o777); err != nil { // a folder of that name is no file
		t.Fatal(err)
	}
	expectFound(t, deep, top)
	if err := os.Remove(nearer); err != nil {
		t.Fatal(err)
	}
	writeFile(t, nearer, "")
	expectFound(t, deep, nearer)
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
		want           string
	}{
		{"explicit", "named.yaml", set, "named.yaml"},
		{"environment", "", set, "from-env.yaml"},
		{"found", "", unset, found},
	} {
		if got, err := config.Locate(tt.explicit, dir, tt.env); got != tt.want || err != nil {
			t.Errorf("%s: Locate(%q) = %q, %v, want %q", tt.name, tt.explicit, got, err, tt.want)
		}
	}
}
