package command

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"
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

// TestTrailerOfDialogue stops the output in the middle of what may be the marker, for so long
// that it is passed on. The rest of the marker, or something else, comes after that.
func TestTrailerOfDialogue(t *testing.T) {
	t.Parallel()
	const marker = "MARKER"
	for held := 1; held < len(marker); held++ {
		for _, rest := range []string{marker[held:] + " 7 \n", "MARKER 7 \n", "x" + marker + " 7 \n", marker[:held] + "x" + marker + " 7 \n"} {
			synctest.Test(t, func(t *testing.T) {
				var before, after bytes.Buffer
				ends := &trailer{to: &before, after: &after, marker: []byte(marker), found: make(chan struct{})}
				for range 2 { // the second time nothing is held
					if _, err := ends.Write([]byte("x")); err != nil {
						t.Fatal(err)
					}
				}
				if _, err := ends.Write([]byte(marker[:held])); err != nil {
					t.Fatal(err)
				}
				time.Sleep(2 * holdTime)
				synctest.Wait()
				if want := "xx" + marker[:held]; before.String() != want {
					t.Errorf("after a pause, %q arrives, want %q", &before, want)
				}
				if _, err := ends.Write([]byte(rest)); err != nil {
					t.Fatal(err)
				}
				want, _, _ := strings.Cut("xx"+marker[:held]+rest, marker)
				if want == "xx" {
					want += marker[:held] // what was passed on cannot be taken back
				}
				if line := ends.end(); line != " 7 \n" || before.String() != want || after.Len() > 0 {
					t.Errorf("%q, then %q: %q is before, want %q, %q the line, and %q after", marker[:held], rest, &before, want, line, &after)
				}
			})
		}
	}
}

// TestTrailerWithoutEnd has a program that has read the marker, and writes a line without an end.
func TestTrailerWithoutEnd(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	ends := &trailer{to: &out, marker: []byte("MARKER"), found: make(chan struct{})}
	for _, part := range []string{"MARKER", strings.Repeat("x", 3*maxLine)} {
		if _, err := ends.Write([]byte(part)); err != nil {
			t.Fatal(err)
		}
	}
	if line := ends.end(); len(line) == 0 || len(line) > 2*maxLine {
		t.Errorf("a line of %d bytes is returned, want one that is cut", len(line))
	}
}
