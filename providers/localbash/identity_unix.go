//go:build unix

package localbash

import (
	"io/fs"
	"os"
	"syscall"
)

// identity returns the numbers that the operating system knows a file by.
func identity(info fs.FileInfo) (device, inode uint64, ok bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, false
	}
	return uint64(stat.Dev), uint64(stat.Ino), true
}

// giveTo makes file the property of the owner of old, if it is not and if
// this process may. That is best effort: a file that cannot be given away is
// that of its writer.
func giveTo(file *os.File, old fs.FileInfo) {
	stat, ok := old.Sys().(*syscall.Stat_t)
	if !ok || os.Geteuid() != 0 {
		return
	}
	if stat.Uid != 0 || int(stat.Gid) != os.Getegid() {
		_ = file.Chown(int(stat.Uid), int(stat.Gid))
	}
}
