//go:build darwin || freebsd || netbsd

package sys

import "syscall"

func changeTime(stat *syscall.Stat_t) int64 { return stat.Ctimespec.Nano() }
