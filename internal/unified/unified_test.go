package unified_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/workspacekit/workspacekit/internal/unified"
)

func ExampleChange() {
	diff, note := unified.Change("a.txt", []byte("one\ntwo\n"), []byte("one\n2\n"))
	fmt.Printf("%s%q\n", diff, note)
	diff, note = unified.Change("a.bin", []byte("\x00"), []byte("\x00\x01"))
	fmt.Printf("%q %s\n", diff, note)
	// Output:
	// --- a/a.txt
	// +++ b/a.txt
	// @@ -1,2 +1,2 @@
	//  one
	// -two
	// +2
	// ""
	// "" no diff: the content is binary, 1 byte before and 2 bytes after
}

// TestBounds tests that no content makes a diff large.
func TestBounds(t *testing.T) {
	long := bytes.Repeat([]byte("x"), 3*unified.LineChars)
	lines := bytes.Repeat([]byte("line\n"), unified.MaxBytes)
	for _, c := range []struct {
		before, after []byte
		note          string
	}{
		{nil, nil, "the content is the same as before"},
		{long, append(bytes.Clone(long), 'y'), "lines longer than 2000 characters are cut, with a mark"},
		{nil, lines, "the diff is cut at 8 KiB"},
		{nil, bytes.Repeat([]byte("l\n"), unified.MaxSource+1), "no diff: the changed part is too large"},
		{[]byte("\xff"), []byte("a"), "no diff: the content is binary, 1 byte before and 1 byte after"},
	} {
		diff, note := unified.Change("a", c.before, c.after)
		if note != c.note || len(diff) > unified.MaxBytes {
			t.Errorf("Change of %d to %d bytes = %d bytes, %q, want at most %d and %q",
				len(c.before), len(c.after), len(diff), note, unified.MaxBytes, c.note)
		}
	}
	if diff, _ := unified.Diff("a\nb", nil, []byte("x")); !strings.Contains(diff, `+++ b/"a\nb"`) {
		t.Errorf("a name with a line end is not quoted:\n%s", diff)
	}
}
