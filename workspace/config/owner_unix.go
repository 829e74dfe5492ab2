//go:build unix

package config

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// checkOwner refuses a file that belongs to somebody else than this user or
// root, and a symlink that does, as relative paths start from its folder.
func checkOwner(path string) error {
	for _, describe := range []func(string) (fs.FileInfo, error){os.Lstat, os.Stat} {
		info, err := describe(path)
		if err != nil {
			return err
		}
		stat, ok := info.Sys().(*syscall.Stat_t)
		if ok && stat.Uid != 0 && int(stat.Uid) != os.Geteuid() {
			return &fs.PathError{Op: "find", Path: path, Err: fmt.Errorf(
				"%w: it belongs to another user; to use it, name it by %s", fs.ErrPermission, EnvFile)}
		}
	}
	return nil
}
