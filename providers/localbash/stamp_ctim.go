//go:build linux || openbsd || dragonfly || solaris

package localbash

import (
	"io/fs"
	"syscall"
)

// addSystem adds what info knows beyond the interface.
func (s *stamp) addSystem(info fs.FileInfo) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return
	}
	s.inode, s.changed, s.orphan = stat.Ino, stat.Ctim.Nano(), stat.Nlink == 0
}
