package memory_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/workspacekit/workspacekit/providers/memory"
)

// BenchmarkGrepAgain compares, in turns, searches of files that have summaries with the first
// search of the same files. The metric is the ratio of the medians.
func BenchmarkGrepAgain(b *testing.B) {
	for _, tree := range []struct{ files, size int }{{10_000, 430}, {1_000, 4096}, {100, 4096}} {
		first, again := memory.New(nil), searched{memory.New(nil)}
		for i := range tree.files {
			var text strings.Builder
			for line := 0; text.Len() < tree.size; line++ {
				fmt.Fprintf(&text, "line %d of file %d: plain words that nobody looks for\n", line, i*7919)
			}
			if i%1000 == 0 {
				text.WriteString("needleInHaystack\n")
			}
			for _, m := range []*memory.FS{first, again.FS} {
				if _, err := m.WriteFile(b.Context(), fmt.Sprintf("d%d/f%d", i/100, i), []byte(text.String()), nil); err != nil {
					b.Fatal(err)
				}
			}
		}
		if _, err := again.Grep(b.Context(), "a word", nil); err != nil {
			b.Fatal(err)
		}
		for _, pattern := range []string{"needleInHaystack", "absentWord", "(?i)absentword", `needle\w+Haystack`, "nobody", `[A-Z]{3,}_[0-9]+`} {
			b.Run(fmt.Sprintf("%dx%d/%s", tree.files, tree.size, pattern), func(b *testing.B) {
				var without, with []time.Duration
				for b.Loop() {
					first.Forget()
					without = append(without, timeGrep(b, first, pattern))
					with = append(with, timeGrep(b, again.FS, pattern))
				}
				b.ReportMetric(float64(median(with))/float64(median(without)), "again/first")
			})
		}
	}
}

func timeGrep(b *testing.B, m *memory.FS, pattern string) time.Duration {
	b.Helper()
	began := time.Now()
	if _, err := m.Grep(b.Context(), pattern, nil); err != nil {
		b.Fatal(err)
	}
	return time.Since(began)
}

func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}
