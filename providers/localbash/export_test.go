package localbash

import "time"

// WithLockWait lets changes wait for no longer than limit for another process.
func (f *FS) WithLockWait(limit time.Duration) *FS {
	f.lockWait = limit
	return f
}
