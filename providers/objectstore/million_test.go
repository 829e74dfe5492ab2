package objectstore_test

import (
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/internal/s3test"
	"github.com/workspacekit/workspacekit/providers/objectstore"
	"github.com/workspacekit/workspacekit/workspace"
)

// maxGrowth is how many bytes the heap may grow in a walk, the server's part
// included: what a few pages and what is held back take, and no more.
const maxGrowth = 8 << 20

// TestMillion walks a million keys in a bounded amount of memory.
func TestMillion(t *testing.T) {
	exhaustive.Need(t, "a walk of a million keys")
	for _, c := range []struct {
		name        string
		key         func(i int) string
		first, last string
		entries     int
		limited     int // the most requests of a Glob for ten files
		requests    int // the most of a walk
	}{
		{"flat", func(i int) string { return fmt.Sprintf("f%07d", i) }, "f0000000", fmt.Sprintf("f%07d", million-1), million, 1, million / 1000},
		// The directory "a" is before all others, and its only key behind them.
		{"directory-behind-a-run", func(i int) string {
			if i == million-1 {
				return "a/x"
			}
			return fmt.Sprintf("a-%07d", i)
		}, "a", "a/x", million + 1, 8, million/1000 + 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := s3test.New(t, &s3test.Options{Synthetic: &s3test.Synthetic{Bucket: "million", Len: million, Key: c.key}})
			s := inProcess(server, awsCompat())
			s.bucket = "million"
			f := s.open(t, "", objectstore.Options{})
			testLimited(t, server, f, c.limited)

			w := &measuredWalk{server: server}
			if err := f.Walk(t.Context(), ".", nil, w.visit); err != nil {
				t.Fatal(err)
			}
			t.Logf("the heap grew by %d KiB at most, in %d requests", (w.peak-w.start)>>10, w.requests())
			if w.count != c.entries || w.first != c.first || w.last != c.last || !w.sorted {
				t.Errorf("Walk has %d entries from %q to %q (sorted: %v), want %d from %q to %q", w.count, w.first, w.last, w.sorted, c.entries, c.first, c.last)
			}
			if w.peak-w.start > maxGrowth {
				t.Errorf("the heap grew by %d bytes, want at most %d", w.peak-w.start, maxGrowth)
			}
			if w.requests() > c.requests {
				t.Errorf("Walk sent %d requests, want at most %d", w.requests(), c.requests)
			}
		})
	}
}

func testLimited(t *testing.T, server *s3test.Server, f *objectstore.FS, most int) {
	files, err := f.Glob(t.Context(), "**", &workspace.GlobOptions{Limit: 10})
	if err != nil || len(files) != 10 || !slices.IsSorted(files) {
		t.Errorf("Glob(**) = %q, %v, want ten files", files, err)
	}
	if requests := server.Requests(); len(requests) > most {
		t.Errorf("Glob for ten files sends %d requests, want at most %d", len(requests), most)
	}
	server.ResetRequests()
}

// measuredWalk looks at the memory while it is visited.
type measuredWalk struct {
	server      *s3test.Server
	count       int
	first, last string
	sorted      bool
	start, peak int64 // bytes of the heap in use
	sent        int   // requests that the server has forgotten
}

func (w *measuredWalk) visit(info workspace.FileInfo, _ error) error {
	if w.count == 0 {
		w.first, w.sorted = info.Path, true
		w.start = liveHeap()
	}
	w.sorted = w.sorted && w.last < info.Path
	w.last = info.Path
	if w.count++; w.count%(million/10) == 0 {
		w.sent = w.requests()
		w.server.ResetRequests() // they grow, too
		w.peak = max(w.peak, liveHeap())
	}
	return nil
}

func (w *measuredWalk) requests() int { return w.sent + len(w.server.Requests()) }

func liveHeap() int64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}
