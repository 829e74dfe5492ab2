//go:build !linux

package localbash

import (
	"math"
	"os"
)

// nextData does not know here where a file has holes.
func nextData(_ *os.File, at int64) (start, end int64, err error) { return at, math.MaxInt64, nil }
