package edit

import (
	"bytes"
	"strings"
)

// adaptLineEnds returns e with the line ends of data, if these are all of one kind. An edit
// that has them already, and changes nothing but line ends, is made to convert them: its New
// stays.
func adaptLineEnds(data []byte, e Edit) Edit {
	if !strings.Contains(e.Old+e.New, "\n") {
		return e
	}
	ends := lineEnds(data)
	if ends == nil {
		return adaptToPlace(data, e)
	}
	if old := ends(e.Old); old != e.Old || old != ends(e.New) {
		e.Old, e.New = old, ends(e.New)
	}
	return e
}

// lineEnds returns what gives a text the line ends of data, nil if there are none, or both
// kinds.
func lineEnds(data []byte) func(text string) string {
	first := bytes.IndexByte(data, '\n')
	switch {
	case first < 0:
		return nil
	case first == 0 || data[first-1] != '\r':
		if !bytes.Contains(data, []byte("\r\n")) {
			return toLF
		}
	case bytes.Count(data, []byte("\r\n")) == bytes.Count(data, []byte("\n")):
		return toCRLF
	}
	return nil
}

// adaptToPlace returns e with the other line ends in both texts, where Old occurs only so:
// it is written with line feeds by someone who was not shown the carriage returns, or with
// CRLF by someone who expects them everywhere.
func adaptToPlace(data []byte, e Edit) Edit {
	switch {
	case strings.Contains(e.Old, "\r\n"):
		// What is "\r\n" only after this was "\r\r\n", which does not occur.
		if lf := toLF(e.Old); !strings.Contains(lf, "\r\n") && !bytes.Contains(data, []byte(e.Old)) && bytes.Contains(data, []byte(lf)) {
			e.Old, e.New = lf, toLF(e.New)
		}
		return e
	case strings.Contains(e.Old, "\r") || !strings.Contains(e.Old, "\n"):
		return e
	}
	if crlf := toCRLF(e.Old); !bytes.Contains(data, []byte(e.Old)) && bytes.Contains(data, []byte(crlf)) {
		e.Old, e.New = crlf, toCRLF(e.New)
	}
	return e
}

// toCRLF returns text with CRLF for every line end, those that had it included.
func toCRLF(text string) string {
	return strings.ReplaceAll(toLF(text), "\n", "\r\n")
}

// toLF returns text with a line feed for each CRLF.
func toLF(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }
