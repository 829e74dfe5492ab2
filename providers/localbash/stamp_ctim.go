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
	s.device, s.inode = uint64(stat.Dev), uint64(stat.Ino)
	s.changed, s.orphan = stat.Ctim.Nano(), stat.Nlink == 0
}
