package edit

import (
	"bytes"
	"strings"
)

// adaptLineEnds returns e with the line ends of data, where e is written with
// line feeds by someone who was not shown the carriage returns, or with CRLF by
// someone who expects them everywhere.
func adaptLineEnds(data []byte, e Edit) Edit {
	switch {
	case strings.Contains(e.Old, "\r\n"):
		// What is "\r\n" only after this was "\r\r\n", which does not occur.
		if lf := toLF(e.Old); !strings.Contains(lf, "\r\n") && !bytes.Contains(data, []byte(e.Old)) && bytes.Contains(data, []byte(lf)) {
			e.Old, e.New = lf, toLF(e.New)
		}
		return e
	case strings.Contains(e.Old, "\r") || bytes.IndexByte(data, '\r') < 0:
		return e
	case !strings.Contains(e.Old, "\n"):
		return adaptNew(data, e)
	}
	crlf := toCRLF(e.Old)
	translated := bytes.Count(data, []byte(crlf))
	verbatim := bytes.Count(data, []byte(e.Old))
	// A text that begins with a line feed occurs as it is in a CRLF file too,
	// but there it splits a line end in two.
	splits := e.Old[0] == '\n' && verbatim == translated
	if translated > 0 && (verbatim == 0 || splits) {
		e.Old, e.New = crlf, toCRLF(e.New)
	}
	return e
}

// adaptNew gives a replacement of several lines for a part of one line the
// line ends of data, if they are all CRLF.
func adaptNew(data []byte, e Edit) Edit {
	if strings.Contains(e.New, "\n") && !strings.Contains(e.New, "\r") && allCRLF(data) {
		e.New = toCRLF(e.New)
	}
	return e
}

// allCRLF reports whether data has line ends, and every one is CRLF.
func allCRLF(data []byte) bool {
	crlf := bytes.Count(data, []byte("\r\n"))
	return crlf > 0 && crlf == bytes.Count(data, []byte("\n"))
}

// toCRLF returns text with CRLF for every line end, those that had it included.
func toCRLF(text string) string {
	return strings.ReplaceAll(toLF(text), "\n", "\r\n")
}

// toLF returns text with a line feed for each CRLF.
func toLF(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }
