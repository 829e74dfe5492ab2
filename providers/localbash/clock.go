package localbash

import (
	"sync/atomic"
	"time"
)

// clock gives out times that never repeat. The kernel stamps files with a
// clock so coarse that two writes can get equal times, and inode numbers are
// used again: only a time of our own tells such files apart.
type clock struct{ last atomic.Int64 }

// next returns a time of this moment, greater than every one before.
func (c *clock) next() time.Time {
	for {
		last := c.last.Load()
		now := max(time.Now().UnixNano(), last+1)
		if c.last.CompareAndSwap(last, now) {
			return time.Unix(0, now)
		}
	}
}
