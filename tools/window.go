package tools

import (
	"bytes"
	"strings"
)

// window is some lines of a text, as they are shown.
type window struct {
	text       string
	start, end int   // the first and last line, from 1; end is 0 if there is none
	total      int   // lines of the whole text
	cut        []int // lines of which only the beginning is shown
	short      bool  // the limit on bytes left out lines that were asked for
}

// countLines counts lines; what follows the last line feed is one if it is not
// empty.
func countLines(data []byte) int {
	n := bytes.Count(data, []byte("\n"))
	if len(data) > 0 && data[len(data)-1] != '\n' {
		n++
	}
	return n
}

// head shows at most limit lines of data from line first, from 1.
func head(data []byte, first, limit int) window {
	w := window{start: first, end: first - 1, total: countLines(data)}
	rest := skipLines(data, first-1)
	var text strings.Builder
	for line := range bytes.Lines(rest) {
		if w.end-first+1 == limit {
			break
		}
		shown, cut := clipLine(string(line), lineChars)
		if text.Len()+len(shown) > readBytes {
			w.short = true
			break
		}
		w.end++
		text.WriteString(shown)
		if cut {
			w.cut = append(w.cut, w.end)
		}
	}
	w.text = text.String()
	return w
}

func skipLines(data []byte, n int) []byte {
	for ; n > 0 && len(data) > 0; n-- {
		at := bytes.IndexByte(data, '\n')
		if at < 0 {
			return nil
		}
		data = data[at+1:]
	}
	return data
}

// tail shows the last limit lines of data, fewer if they are too many bytes:
// then it is the first of them that are left out.
func tail(data []byte, limit int) window {
	size, lines := 0, 0
	for rest := data; len(rest) > 0 && lines < limit; lines++ {
		at := bytes.LastIndexByte(rest[:len(rest)-1], '\n') + 1
		shown, _ := clipLine(string(rest[at:]), lineChars)
		if size += len(shown); size > readBytes {
			break
		}
		rest = rest[:at]
	}
	total := countLines(data)
	w := head(data, total-lines+1, lines)
	w.short = lines < min(limit, total)
	return w
}
