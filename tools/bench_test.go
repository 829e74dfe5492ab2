package tools_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/workspacekit/workspacekit/providers/localbash"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
)

// BenchmarkNew measures what each program pays before its first call.
func BenchmarkNew(b *testing.B) {
	ws := workspace.New("main", memory.New(nil), nil)
	for b.Loop() {
		if _, err := tools.New(ws, nil); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkEditFile edits a line in the middle of a file of 1 MiB, and reports how much
// longer that takes than reading and writing the file.
func BenchmarkEditFile(b *testing.B) {
	content := bytes.Repeat([]byte("a line of text that is as long as others\n"), 1<<20/41)
	copy(content[len(content)/2:], "needle 0")
	for name, fsys := range map[string]workspace.FileSystem{"memory": memory.New(nil), "localbash": openFolder(b)} {
		b.Run(name, func(b *testing.B) {
			ws := workspace.New("main", fsys, nil)
			if _, err := ws.WriteFile(b.Context(), "a", content, nil); err != nil {
				b.Fatal(err)
			}
			set, err := tools.New(ws, nil)
			if err != nil {
				b.Fatal(err)
			}
			tool, _ := set.Lookup("edit_file")
			var plain, edits []time.Duration
			n := 0
			for b.Loop() {
				edits = append(edits, elapsed(func() {
					args := fmt.Sprintf(`{"path": "a", "oldText": "needle %d", "newText": "needle %d"}`, n, n+1)
					if result, err := tool.Call(b.Context(), json.RawMessage(args)); err != nil || result.IsError {
						b.Fatal(result, err)
					}
				}))
				plain = append(plain, elapsed(func() {
					data, version, err := ws.ReadVersioned(b.Context(), "a", 0)
					if err == nil {
						_, err = ws.WriteFile(b.Context(), "a", data, &workspace.WriteOptions{IfVersion: version})
					}
					if err != nil {
						b.Fatal(err)
					}
				}))
				n++
			}
			b.ReportMetric(float64(median(edits))/float64(median(plain)), "x-read+write")
		})
	}
}

func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}

func elapsed(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}

func openFolder(b *testing.B) workspace.FileSystem {
	b.Helper()
	fsys, err := localbash.Open(b.TempDir(), nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { fsys.Close() })
	return fsys
}
