package scratch

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// Output is what a command or a script has printed, as a model sees it.
type Output struct {
	// Text is the whole output, or its beginning and its end with a note between them.
	Text string
	// Cut is how many bytes are missing in the middle.
	Cut int64
	// Spilled is the name of the file that has more of the output; empty if there is none.
	Spilled string
}

// Shorten returns at most limit bytes of an output of total bytes: of a longer one the end,
// up to two thirds of the limit, and the beginning, in whole lines where it can. begin is the
// first bytes of the output and end the last ones: as many as are known, and together all if
// there are no more than limit. What is known of the beginning, if it is more than is
// returned, goes to spill, which keeps it as a file.
func Shorten(begin, end []byte, total int64, limit int, spill func(output []byte) (name string, err error)) Output {
	tail := end[max(0, len(end)-(limit-limit/3)):]
	head := begin[:min(len(begin), limit-len(tail))]
	if both := int64(len(head)+len(tail)) - total; both >= 0 {
		return Output{Text: string(head) + string(tail[both:])}
	}
	var o Output
	where := "they were not kept"
	if len(head) == len(begin) && len(tail) == len(end) {
		head, tail = WholeRunes(head), FromRune(tail)
	} else {
		head, tail = wholeLines(head), fromLine(tail)
		where = "print less"
		if name, err := spill(begin); err == nil && int64(len(begin)) == total {
			o.Spilled, where = name, "all of it is in "+name
		} else if err == nil {
			o.Spilled, where = name, fmt.Sprintf("the first %d bytes are in %s", len(begin), name)
		}
	}
	o.Cut = total - int64(len(head)+len(tail))
	o.Text = fmt.Sprintf("%s\n[%d bytes are left out here; %s]\n%s", head, o.Cut, where, tail)
	return o
}

// wholeLines removes the part of a line at the end of b, unless that is all there is: then
// the part of a character.
func wholeLines(b []byte) []byte {
	if i := bytes.LastIndexByte(b, '\n'); i > 0 {
		return b[:i]
	}
	return WholeRunes(b)
}

// WholeRunes removes the part of a character at the end of b.
func WholeRunes(b []byte) []byte {
	for i := len(b) - 1; i >= max(0, len(b)-utf8.UTFMax); i-- {
		if utf8.RuneStart(b[i]) {
			if !utf8.FullRune(b[i:]) {
				return b[:i]
			}
			break
		}
	}
	return b
}

// fromLine removes the part of a line at the start of b, unless that is all there is: then
// the part of a character.
func fromLine(b []byte) []byte {
	if i := bytes.IndexByte(b, '\n'); i >= 0 && i < len(b)-1 {
		return b[i+1:]
	}
	return FromRune(b)
}

// FromRune removes the part of a character at the start of b.
func FromRune(b []byte) []byte {
	for i := 0; i < min(len(b), utf8.UTFMax); i++ {
		if utf8.RuneStart(b[i]) {
			return b[i:]
		}
	}
	return b
}
