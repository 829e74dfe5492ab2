//go:build !unix

package measure

import "time"

// processorTime returns 0, as it is not measured here.
func processorTime() time.Duration { return 0 }
