package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// EnvFile is the variable of the environment that names the file.
const EnvFile = "WORKSPACE_CONFIG"

// Find returns the path of the file [FileName] in the folder dir, or in the
// nearest folder above it that has one. The empty dir is the current folder.
//
// # Errors
// [fs.ErrNotExist] if there is none, [fs.ErrPermission] if the one in a folder
// above belongs to another user than this one or root, on systems that have
// owners: a file says what to start and to open, so nobody may leave one where
// others come by.
func Find(dir string) (string, error) {
	start, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	for folder := start; ; folder = filepath.Dir(folder) {
		path := filepath.Join(folder, FileName)
		info, err := os.Stat(path)
		switch {
		case err == nil && info.Mode().IsRegular():
			if folder != start {
				err = checkOwner(path, info)
			}
			return path, err
		case err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission):
			return "", err
		case folder == filepath.Dir(folder):
			return "", &fs.PathError{Op: "find", Path: filepath.Join(start, FileName), Err: fs.ErrNotExist}
		}
	}
}

// Locate returns the path of the file to use: explicit, if it is not empty, or
// what the variable [EnvFile] says, or what [Find] finds from dir on. Nil env
// means [os.LookupEnv].
//
// # Errors
// [fs.ErrNotExist] if there is none.
func Locate(explicit, dir string, env func(name string) (value string, set bool)) (string, error) {
	if explicit != "" {
		return explicit, nil
	}
	if env == nil {
		env = os.LookupEnv
	}
	if path, _ := env(EnvFile); path != "" {
		return path, nil
	}
	return Find(dir)
}
