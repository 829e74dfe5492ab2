//go:build linux || openbsd || dragonfly || solaris

package sys

import "syscall"

// changeTime returns the time of the last change of a file's attributes.
func changeTime(stat *syscall.Stat_t) int64 { return stat.Ctim.Nano() }
