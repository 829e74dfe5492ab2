package repotest_test

import (
	"io/fs"
	"os"
	"strings"
	"testing"
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
