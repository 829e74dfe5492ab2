package repotest_test

import (
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
)

// root is the directory of the repository, and tree its files.
const root = "../.."

var tree = os.DirFS(root)

// moving are directories whose code is moved at the moment. What documents say
// of the places of code is not tested there.
var moving = []string{"adapters/mcp", "providers/objectstore", "tools", "workspace/config"}

func isMoving(name string) bool { return isIn(moving, name) }

// isIn reports whether name is one of the directories, or in one.
func isIn(dirs []string, name string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool { return strings.HasPrefix(name+"/", dir+"/") })
}

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
