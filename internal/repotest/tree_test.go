package repotest_test

import (
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// root is the directory of the repository, and tree its files.
const root = "../.."

var tree = os.DirFS(root)

// read returns the content of a file of the repository.
func read(t *testing.T, name string) string {
	t.Helper()
	data, err := fs.ReadFile(tree, name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

var update = flag.Bool("update", false, "rewrite the pages and pictures of docs that are made from the code")

// golden compares a file of the repository with the text that the code makes. With
// -update it writes the file.
func golden(t *testing.T, name, text string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(filepath.Join(root, filepath.FromSlash(name)), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(read(t, name), text); diff != "" {
		t.Errorf("%s is out of date; run go test ./internal/repotest -update (-is +should be):\n%s", name, diff)
	}
}

// files returns the files of the repository whose names end in suffix, sorted.
// Directories named testdata and those that begin with a dot are left out.
func files(t *testing.T, suffix string) (names []string) {
	t.Helper()
	err := fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && (entry.Name()[0] == '.' || entry.Name() == "testdata"):
			return fs.SkipDir
		case !entry.IsDir() && strings.HasSuffix(name, suffix):
			names = append(names, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
