//go:build unix

package config

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// checkOwner refuses a file that belongs to somebody else than this user or
// root.
func checkOwner(path string, info fs.FileInfo) error {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || stat.Uid == 0 || int(stat.Uid) == os.Geteuid() {
		return nil
	}
	return &fs.PathError{Op: "find", Path: path, Err: fmt.Errorf(
		"%w: it belongs to another user; to use it, name it by %s", fs.ErrPermission, EnvFile)}
}
