package command

import (
	"bytes"
	"testing"
)

// TestTrailer writes an output in two parts, wherever it is cut.
func TestTrailer(t *testing.T) {
	t.Parallel()
	const text = "before MARK MARKER 7 \nafter"
	for cut := range len(text) {
		var before, after bytes.Buffer
		ends := &trailer{to: &before, after: &after, marker: []byte("MARKER"), found: make(chan struct{})}
		for _, part := range []string{text[:cut], text[cut:]} {
			if n, err := ends.Write([]byte(part)); n != len(part) || err != nil {
				t.Errorf("Write(%q) = %d, %v", part, n, err)
			}
		}
		if line := ends.end(); line != " 7 \n" || before.String() != "before MARK " || after.String() != "after" {
			t.Errorf("cut at %d: %q is before, %q the line, and %q after", cut, &before, line, &after)
		}
	}
}
