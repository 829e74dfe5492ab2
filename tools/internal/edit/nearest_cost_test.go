package edit_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/tools/internal/edit"
)

// TestNearestCost compares the time that the search for the nearest text
// takes with that of splitting the file into lines, in lower case. Other programs can
// make either take longer, so it is repeated until both have been left alone.
func TestNearestCost(t *testing.T) {
	exhaustive.Long(t)
	const size = 1 << 20
	long := strings.Repeat("abcdefghi ", 6000)
	for name, test := range map[string]struct{ data, old string }{
		"one long line":    {strings.Repeat("abcdefghij", size/10), long + "x"},
		"repeated lines":   {strings.Repeat("aaaaaaaaa\n", size/10), strings.Repeat("aaaaaaaaa\n", 6000) + "b"},
		"a long text":      {strings.Repeat("abcdefghij\n", size/11), long},
		"many long lines":  {strings.Repeat(strings.Repeat("a", 60_000)+"\n", size/60_000), strings.Repeat("a", 59_999) + "b"},
		"white space only": {strings.Repeat(" ", size), long},
	} {
		t.Run(name, func(t *testing.T) {
			data := []byte(test.data)
			yardstick, took := time.Duration(1<<62), time.Duration(1<<62)
			for try := 0; try < 3 || try < 50 && took > 300*yardstick; try++ {
				yardstick = min(yardstick, elapsed(func() {
					for line := range bytes.Lines(data) {
						_ = bytes.ToLower(line)
					}
				}))
				took = min(took, elapsed(func() {
					if _, err := edit.New(data, []edit.Edit{{Old: test.old, New: "x"}}); err == nil {
						t.Error("New finds a text that is not there")
					}
				}))
			}
			if took > 300*yardstick {
				t.Errorf("New took %s, more than 300 times the %s of a pass over the file", took, yardstick)
			}
			t.Logf("New took %s, a pass over the file %s", took, yardstick)
		})
	}
}

func elapsed(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}
