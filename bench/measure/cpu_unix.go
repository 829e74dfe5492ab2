//go:build unix

package measure

import (
	"syscall"
	"time"
)

// processorTime returns what this process, and those that it waited for, have used.
func processorTime() (used time.Duration) {
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var usage syscall.Rusage
		if err := syscall.Getrusage(who, &usage); err != nil {
			return 0
		}
		used += time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	}
	return used
}
