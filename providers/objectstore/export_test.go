package objectstore

import (
	"context"
	"time"
)

// What external tests reach of the internals.

// GoneText is the content of what takes the place of a file that is moved away.
const GoneText = goneText

// SetPartSizes makes the parts of long files and long copies smaller than the
// options allow.
func (f *FS) SetPartSizes(size int64) { f.opts.PartSize, f.copyPart = size, size }

// SetMaxHeld changes how many entries a walk holds back before it asks what is
// to come before them.
func (f *FS) SetMaxHeld(n int) { f.maxHeld = n }

// Escape turns a name into what stands for it in a key.
func Escape(name string) string { return escape(name) }

// Unescape is the inverse of Escape.
func Unescape(text string) (name string, ok bool) { return unescape(text) }

// Watching returns how many watches there are.
func (f *FS) Watching() int {
	n := 0
	f.watches.each(func(*watch) { n++ })
	return n
}

// SetTimeouts changes how long requests may wait. None may be under way.
func (f *FS) SetTimeouts(response, idle time.Duration) {
	f.limits.response, f.limits.idle = response, idle
}

// Probe is probe.
func (f *FS) Probe(ctx context.Context) error { return f.probe(ctx) }
