package shell

import "time"

// SetStale sets how long a session is trusted without a trial.
func (p *Pool) SetStale(stale time.Duration) { p.stale = stale }
