package objectstore

import (
	"context"
	"time"

	"github.com/workspacekit/workspacekit/providers/objectstore/internal/object"
)

// What external tests reach of the internals.

// GoneText is the content of what takes the place of a file that is moved away.
const GoneText = object.TombstoneText

// SetPartSizes makes the parts of long files and long copies smaller than the
// options allow.
func (f *FS) SetPartSizes(size int64) {
	f.tree.opts.PartSize = size
	f.tree.bucket.SetCopyPart(size)
}

// SetMaxHeld changes how many entries a walk holds back before it asks what is
// to come before them.
func (f *FS) SetMaxHeld(n int) { f.tree.maxHeld = n }

// Watching returns how many watches there are.
func (f *FS) Watching() int {
	n := 0
	f.tree.watches.each(func(*watch) { n++ })
	return n
}

// SetTimeouts changes how long requests may wait. None may be under way.
func (f *FS) SetTimeouts(response, idle time.Duration) {
	f.tree.limits.Response, f.tree.limits.Idle = response, idle
}

// Probe is probe.
func (f *FS) Probe(ctx context.Context) error { return f.probe(ctx) }

// IndexSize returns how many files the index has, and the bytes that it takes.
func (f *FS) IndexSize() (files int, bytes int64) { return f.tree.summaries.Size() }
