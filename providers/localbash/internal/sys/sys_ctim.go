//go:build linux || openbsd || dragonfly || solaris

package sys

import "syscall"

func changeTime(stat *syscall.Stat_t) int64 { return stat.Ctim.Nano() }
