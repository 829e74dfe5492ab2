package transaction

import "time"

// Later makes f believe that it is so much later.
func Later(f *FS, by time.Duration) {
	f.now = func() time.Time { return time.Now().Add(by) }
}
