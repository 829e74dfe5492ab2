package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// EnvFile is the variable of the environment that names the file.
const EnvFile = "WORKSPACE_CONFIG"

// fileNames are the names that [Find] looks for.
var fileNames = []string{FileName, "workspace.yml"}

// Location is a file and how it was chosen.
type Location struct {
	// Path is the path of the file.
	Path string
	// Found says that nobody named the file: [Find] found it. Such a file may
	// come with a cloned repository, or from an agent that writes files, so
	// load it with [Options].Trust.
	Found bool
}

// Find returns the path of the file [FileName], or workspace.yml, in the folder
// dir, or in the nearest folder above it that has one. The empty dir is the
// current folder.
//
// # Errors
//
// [fs.ErrNotExist] if there is none, [fs.ErrPermission] if the one in a folder
// above, or a symlink there, belongs to another user than this one or root, on systems that
// have owners. A folder that has both names, or something else than a file of such
// a name, is an error: the search does not continue above it.
func Find(dir string) (string, error) {
	start, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	for folder := start; ; folder = filepath.Dir(folder) {
		path, err := findIn(folder)
		switch {
		case err != nil:
			return "", err
		case path != "" && folder != start:
			return path, checkOwner(path)
		case path != "":
			return path, nil
		case folder == filepath.Dir(folder):
			return "", &fs.PathError{Op: "find", Path: filepath.Join(start, FileName), Err: fs.ErrNotExist}
		}
	}
}

// findIn returns the file in folder, and "" if it has none.
func findIn(folder string) (path string, err error) {
	for _, name := range fileNames {
		candidate := filepath.Join(folder, name)
		if _, err := os.Lstat(candidate); errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
			continue
		} else if err != nil {
			return "", err
		}
		if path != "" {
			return "", &fs.PathError{Op: "find", Path: path, Err: fmt.Errorf("there is also %s: delete one of them", name)}
		}
		path = candidate
	}
	if path == "" {
		return "", nil
	}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", &fs.PathError{Op: "find", Path: path, Err: errors.New("it is a symlink to a file that does not exist")}
	}
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "find", Path: path, Err: errNotFile(info)}
	}
	return path, err
}

// Locate returns the file to use: explicit, if it is not empty, or what the
// variable [EnvFile] says, or what [Find] finds from dir on. Nil env means
// [os.LookupEnv].
//
// # Errors
//
// Those of Find.
func Locate(explicit, dir string, env func(name string) (value string, set bool)) (Location, error) {
	if explicit != "" {
		return Location{Path: explicit}, nil
	}
	if env == nil {
		env = os.LookupEnv
	}
	if path, _ := env(EnvFile); path != "" {
		return Location{Path: path}, nil
	}
	path, err := Find(dir)
	return Location{Path: path, Found: err == nil}, err
}
