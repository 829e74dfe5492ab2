package dircache_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/workspacekit/workspacekit/providers/objectstore/internal/dircache"
)

// TestLearnRenews looks at a directory that is known: what the look shows counts from then on.
// It does not show a marker.
func TestLearnRenews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dircache.New(5 * time.Second)
		c.Mark(c.Now(), "d")
		time.Sleep(4 * time.Second)
		c.Learn(c.Now(), "d", nil, "")
		time.Sleep(4 * time.Second)
		if !c.HoldsFile("d", "f") {
			t.Error("4 seconds after a look, HoldsFile = false, want true")
		}
		if c.Marked("d") {
			t.Error("8 seconds after the marker was seen, Marked = true, want false")
		}
		time.Sleep(time.Second)
		if c.HoldsFile("d", "f") || c.Has("d") {
			t.Error("5 seconds after a look, the directory is known, want forgotten")
		}
	})
}
