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
		{long, append(bytes.Clone(long), 'y'), "lines longer than 500 characters are cut, with a mark"},
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
	diff, note := unified.Diff("a", nil, bytes.Repeat([]byte("\xffa\n"), unified.MaxBytes/5))
	if len(diff) > unified.MaxBytes || note != "the diff is cut at 8 KiB" || !strings.HasSuffix(diff, "\n+\uFFFDa\n") {
		t.Errorf("Diff of bytes that are not UTF-8 = %d bytes, %q, want at most %d", len(diff), note, unified.MaxBytes)
	}
}

// TestLongLines tests that of a long line the change is shown, and that what is left
// out is counted.
func TestLongLines(t *testing.T) {
	x := func(n int) string { return strings.Repeat("é", n) }
	for _, c := range []struct{ name, before, after, want string }{
		{"short", x(499) + "a\n", x(499) + "b\n", "-" + x(499) + "a\n+" + x(499) + "b\n"},
		{"middle", x(1000) + "old" + x(1000) + "\n", x(1000) + "newer" + x(1000) + "\n",
			"-[cut: 920 characters] …" + x(80) + "old" + x(80) + "… [cut: 920 more characters]\n" +
				"+[cut: 920 characters] …" + x(80) + "newer" + x(80) + "… [cut: 920 more characters]\n"},
		{"start", "a" + x(1000) + "\n", x(1000) + "\n", "-a" + x(80) + "… [cut: 920 more characters]\n+" + x(80) + "… [cut: 920 more characters]\n"},
		{"end", x(1000) + "\n", x(1000) + "b\n", "-[cut: 920 characters] …" + x(80) + "\n+[cut: 920 characters] …" + x(80) + "b\n"},
		{"line end", x(1000) + "\r\n", x(1000) + "\n", "-[cut: 920 characters] …" + x(80) + "\r\n+[cut: 920 characters] …" + x(80) + "\n"},
		{"carriage returns", "a\n", "a" + strings.Repeat("\r", 5001) + "\n", "-a\n+a" + strings.Repeat("\r", 499) + "… [cut: 4501 more characters]\r\n"},
		{"much", x(1000) + "\n", strings.Repeat("a", 1000) + "\n", "-" + x(500) + "… [cut: 500 more characters]\n+" + strings.Repeat("a", 500) + "… [cut: 500 more characters]\n"},
		{"huge", x(400_000) + "old" + x(400_000) + "\nc\n", x(400_000) + "newer" + x(400_000) + "\nc\n",
			"-[cut: 399920 characters] …" + x(80) + "old" + x(80) + "… [cut: 399920 more characters]\n" +
				"+[cut: 399920 characters] …" + x(80) + "newer" + x(80) + "… [cut: 399920 more characters]\n c\n"},
		{"no newline", x(1000) + "old" + x(1000), x(1000) + "newer" + x(1000),
			"-[cut: 920 characters] …" + x(80) + "old" + x(80) + "… [cut: 920 more characters]\n\\ No newline at end of file\n" +
				"+[cut: 920 characters] …" + x(80) + "newer" + x(80) + "… [cut: 920 more characters]\n\\ No newline at end of file\n"},
		{"around", x(1000) + "\na\n", x(1000) + "\nb\n", " " + x(80) + "… [cut: 920 more characters]\n-a\n+b\n"},
		{"added", "a\n", "a\n" + x(600) + "\n", " a\n+" + x(500) + "… [cut: 100 more characters]\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			diff, note := unified.Diff("f", []byte(c.before), []byte(c.after))
			if _, lines, _ := strings.Cut(diff, "@@\n"); lines != c.want {
				t.Errorf("Diff = %s, want %s", lines, c.want)
			}
			if cut := note != ""; cut != strings.Contains(c.want, "[cut") {
				t.Errorf("note = %q", note)
			}
		})
	}
}
