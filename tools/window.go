package tools

import (
	"bytes"
	"sort"
	"strings"

	"github.com/workspacekit/workspacekit/workspace"
)

// markBytes is how far the marks of a content are apart.
const markBytes = 64 << 10

// content is what a file held as of one version. It is immutable.
type content struct {
	version workspace.Version
	data    []byte
	text    bool  // data can be shown as text; if not, there are no lines
	lines   int   // what follows the last line feed is one if it is not empty
	marks   []int // the line feeds before each markBytes of data
}

func newContent(data []byte, version workspace.Version) *content {
	c := &content{version: version, data: data, text: isText(data)}
	if !c.text {
		return c
	}
	for at := 0; at < len(data); at += markBytes {
		c.marks = append(c.marks, c.lines)
		c.lines += bytes.Count(data[at:min(at+markBytes, len(data))], []byte("\n"))
	}
	if len(data) > 0 && data[len(data)-1] != '\n' {
		c.lines++
	}
	return c
}

// offset returns where line n begins, from 1, and the end of the data if there
// are fewer lines.
func (c *content) offset(n int) int {
	if n <= 1 {
		return 0
	}
	feeds := n - 1 // that are before the line
	mark := sort.SearchInts(c.marks, feeds) - 1
	if mark < 0 {
		return len(c.data) // there is no data
	}
	at := mark * markBytes
	for feeds -= c.marks[mark]; feeds > 0; feeds-- {
		next := bytes.IndexByte(c.data[at:], '\n')
		if next < 0 {
			return len(c.data)
		}
		at += next + 1
	}
	return at
}

// window is some lines of a text, as they are shown.
type window struct {
	text       string
	start, end int   // the first and last line, from 1; end is 0 if there is none
	cut        []int // lines of which only the beginning is shown
	short      bool  // the limit on bytes left out lines that were asked for
}

// head shows at most limit lines from line first, from 1.
func (c *content) head(first, limit int) window {
	w := window{start: first, end: first - 1}
	var text strings.Builder
	at := c.offset(first)
	from, size := at, 0 // data[from:at] is shown as it is
	for at < len(c.data) && w.end-first+1 < limit {
		end := len(c.data)
		if next := bytes.IndexByte(c.data[at:], '\n'); next >= 0 {
			end = at + next + 1
		}
		shown, cut := "", false
		if end-at > lineChars {
			shown, cut = clipLine(string(c.data[at:end]), lineChars)
		}
		if size += end - at; cut {
			size += len(shown) - (end - at)
		}
		if size > readBytes {
			w.short = true
			break
		}
		w.end++
		if cut {
			text.Write(c.data[from:at])
			text.WriteString(shown)
			w.cut = append(w.cut, w.end)
			from = end
		}
		at = end
	}
	text.Write(c.data[from:at])
	w.text = text.String()
	return w
}

// tail shows the last limit lines, fewer if they are too many bytes: then it is
// the first of them that are left out.
func (c *content) tail(limit int) window {
	size, lines := 0, 0
	for rest := c.data; len(rest) > 0 && lines < limit; lines++ {
		at := bytes.LastIndexByte(rest[:len(rest)-1], '\n') + 1
		shown := len(rest) - at
		if shown > lineChars {
			clipped, _ := clipLine(string(rest[at:]), lineChars)
			shown = len(clipped)
		}
		if size += shown; size > readBytes {
			break
		}
		rest = rest[:at]
	}
	w := c.head(c.lines-lines+1, lines)
	w.short = lines < min(limit, c.lines)
	return w
}
