package tools

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/workspacekit/workspacekit/internal/charset"
	"github.com/workspacekit/workspacekit/internal/wording"
	"github.com/workspacekit/workspacekit/workspace"
)

// readCache keeps the files that were read last, so that those who read one by
// pages pay for it once. What it has is used only for a file that still has the
// version that it had. It is safe for concurrent use.
//
// A store is asked for the version before every use, so a file that somebody else has changed
// is read again. What the cache saves is the transfer and the decoding, not the request. Its
// files are larger than a page, so they are few enough for a list.
type readCache struct {
	limit int64 // on the bytes of all files together

	mu    sync.Mutex
	files []cachedFile // guarded by mu; the one used last comes last
}

// cachedFile is an entry of the cache. Toolsets may share one, so a path alone is no
// key.
type cachedFile struct {
	ws   *workspace.Workspace
	path string
	*content
}

// newReadCache returns a cache of limit bytes: zero means DefaultReadCache. A negative limit
// is less than any file, so nothing is kept.
func newReadCache(limit int64) *readCache {
	if limit == 0 {
		limit = DefaultReadCache
	}
	return &readCache{limit: limit}
}

// take returns what is kept of a file, nil if nothing is, and counts that as a
// use.
func (c *readCache) take(ws *workspace.Workspace, path string) *content {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := c.indexLocked(ws, path)
	if i < 0 {
		return nil
	}
	file := c.files[i]
	c.files = append(slices.Delete(c.files, i, i+1), file)
	return file.content
}

// indexLocked returns the place of a file in the cache, -1 if it is not there. The
// caller holds mu.
func (c *readCache) indexLocked(ws *workspace.Workspace, path string) int {
	return slices.IndexFunc(c.files, func(f cachedFile) bool { return f.ws == ws && f.path == path })
}

// put replaces what is kept of a file, and forgets the files that were not used
// for longest until all are within the limit. It keeps no file that a single
// page holds, as to ask for its version costs as much as to read it, and none
// without a version.
func (c *readCache) put(ws *workspace.Workspace, path string, now *content) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if i := c.indexLocked(ws, path); i >= 0 {
		c.files = slices.Delete(c.files, i, i+1)
	}
	if !now.text || now.version == "" || len(now.data) <= readBytes || now.size() > c.limit {
		return
	}
	c.files = append(c.files, cachedFile{ws, path, now})
	total := int64(0)
	for i, file := range slices.Backward(c.files) {
		if total += file.size(); total > c.limit {
			c.files = slices.Delete(c.files, 0, i+1)
			break
		}
	}
}

// size returns the bytes of memory that c takes. Text in UTF-8 is stored and shown as
// the same bytes, which count once.
func (c *content) size() int64 {
	if c.enc == charset.UTF8 {
		return int64(cap(c.stored))
	}
	return int64(cap(c.stored) + cap(c.data))
}

// read returns what the file holds. path is clean. The content may be shared with other
// calls, and nobody may change it.
//
// # Errors
//
// Those of [workspace.FileSystem.ReadFile], and [workspace.ErrTooLarge] for a file of more
// than wholeBytes. A cached file that may no longer be read gives them, too.
func (ts *toolset) read(ctx context.Context, path string) (*content, error) {
	if kept := ts.cache.take(ts.ws, path); kept != nil {
		if _, still := ts.still(ctx, path, kept.version); still {
			return kept, nil
		}
	}
	data, version, err := ts.whole.ReadVersioned(ctx, path, 0)
	if err != nil {
		return nil, err
	}
	now := newContent(data, version)
	ts.cache.put(ts.ws, path, now)
	return now, nil
}

// still reports whether the file has that version and may be read, and describes it. It opens
// the file, as a Stat follows no symlinks, and needs no right to read. It also reads a byte,
// so that an error that comes with the data counts.
func (ts *toolset) still(ctx context.Context, path string, version workspace.Version) (workspace.FileInfo, bool) {
	stream, info, err := ts.ws.Open(ctx, path, &workspace.OpenOptions{Length: 1})
	if err != nil {
		return info, false // the reader will say why
	}
	defer stream.Close()
	_, err = io.Copy(io.Discard, stream)
	return info, err == nil && info.Version == version
}

// markBytes is how far the marks of a content are apart.
const markBytes = 64 << 10

// content is what a file held as of one version. It is immutable.
type content struct {
	version workspace.Version
	stored  []byte // the bytes of the file
	data    []byte // its text in UTF-8, stored itself where it can be; nil if it is not text
	enc     charset.Encoding
	text    bool   // there is text; if not, there are no lines
	lines   int    // what follows the last line feed is one if it is not empty
	ends    string // how the lines end, as [lineEnds] says
	marks   []int  // the line feeds before each markBytes of data
}

// newContent decodes what a file has, and notes the number of lines before every
// markBytes bytes, so that a page of a long file is found without counting from its
// beginning. A last line without a line end counts as one. A PDF document is no text, even
// if all its bytes are.
func newContent(data []byte, version workspace.Version) *content {
	c := &content{version: version, stored: data}
	if isPDF(data) {
		return c
	}
	if c.data, c.enc, c.text = charset.Decode(data); !c.text {
		return c
	}
	data = c.data
	for at := 0; at < len(data); at += markBytes {
		c.marks = append(c.marks, c.lines)
		c.lines += bytes.Count(data[at:min(at+markBytes, len(data))], []byte("\n"))
	}
	c.ends = lineEnds(data, c.lines)
	if len(data) > 0 && data[len(data)-1] != '\n' {
		c.lines++
	}
	return c
}

// offset returns where line n begins, from 1, and the end of the data if there
// are fewer lines.
//
// It finds the last mark with fewer line feeds before it than the line needs, and counts from
// there, so it looks at markBytes bytes at most, whatever the size of the file.
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
	cut        []int // lines that are cut: only their beginning is shown
	short      bool  // the limit on bytes left out lines that were asked for

	// Of a part of a line:
	columns int // the characters of the line
	next    int // the one after the part, from 1; 0 at the end of the line
}

// head shows at most limit lines from line first, from 1, with their numbers if they
// are numbered.
func (c *content) head(first, limit int, numbered bool) window {
	return c.headWithin(first, limit, readBytes, numbered)
}

// headWithin is head with another limit on bytes.
//
// Lines that are shown as they are form one run, which is copied at once; a number or a cut
// ends a run. A first line that alone is too large gives no text, and an end before start.
func (c *content) headWithin(first, limit, most int, numbered bool) window {
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
		number := lineNumber(w.end+1, numbered)
		if size += len(number); size > most {
			w.short = true
			break
		}
		w.end++
		if numbered {
			text.Write(c.data[from:at])
			text.WriteString(number)
			from = at
		}
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

// lineNumber is what stands before line n, if lines are numbered.
func lineNumber(n int, numbered bool) string {
	if !numbered {
		return ""
	}
	return strconv.Itoa(n) + "\t"
}

// part shows at most limit characters of a line, both from 1, from column on. The
// line end comes with the last of them. All parts together are the line.
//
// Of the line "one two\n",
//
//	part(1, 1, 3)    "one", next 4
//	part(1, 4, 9)    " two\n", next 0
//
// A part has at most readBytes bytes and the line end, and ends between two characters. The
// caller refuses a line that does not exist, and a column after the end of the line.
func (c *content) part(line, column, limit int) window {
	w := window{start: line, end: line}
	start := c.offset(line)
	rest := c.data[start:]
	if end := bytes.IndexByte(rest, '\n'); end >= 0 {
		rest = rest[:end+1]
	}
	body := wording.LineBody(rest)
	w.columns = utf8.RuneCount(body)
	from := runeOffset(body, column-1)
	to := from + runeOffset(body[from:], limit)
	for to-from > readBytes || to < len(body) && !utf8.RuneStart(body[to]) {
		to = min(to-1, from+readBytes)
	}
	if to < len(body) {
		w.next = column + utf8.RuneCount(body[from:to])
		w.text = string(body[from:to])
	} else {
		w.text = string(rest[from:])
	}
	return w
}

// runeOffset returns the offset of rune number n, or the length of text if it has no more
// than n. A byte that is not UTF-8 counts as a character.
func runeOffset(text []byte, n int) int {
	at := 0
	for ; n > 0 && at < len(text); n-- {
		_, size := utf8.DecodeRune(text[at:])
		at += size
	}
	return at
}

const pdfMagic = "%PDF-"

// magic is how files of some types begin. They are compared in order. The last two are byte
// order marks: text that could not be decoded.
var magic = []struct{ prefix, kind string }{
	{"\x89PNG\r\n\x1a\n", "image/png"},
	{"\xff\xd8\xff", "image/jpeg"},
	{"GIF87a", "image/gif"},
	{"GIF89a", "image/gif"},
	{pdfMagic, "application/pdf"},
	{"PK\x03\x04", "application/zip"},
	{"\x1f\x8b", "application/gzip"},
	{"\x7fELF", "application/x-elf"},
	{"SQLite format 3\x00", "application/vnd.sqlite3"},
	{"\xff\xfe", "text/plain; charset=utf-16"},
	{"\xfe\xff", "text/plain; charset=utf-16"},
}

// mimeType returns the type of data that is not text, by its first bytes. A name proves
// nothing, so it is not asked. Of what it does not know, it tells bytes with a NUL from text
// in an encoding that is not known.
func mimeType(data []byte) string {
	for _, m := range magic {
		if bytes.HasPrefix(data, []byte(m.prefix)) {
			return m.kind
		}
	}
	if len(data) >= 12 && string(data[:4]) == "RIFF" && string(data[8:12]) == "WEBP" {
		return "image/webp"
	}
	if charset.HasNUL(data) {
		return "application/octet-stream"
	}
	return "text/plain; charset=unknown-8bit"
}

// isPart reports whether a model can look at files of a type themselves, unless they are [unfit]. Everything else is
// described, and can be read as base64 if it is small.
func isPart(mime string) bool { return strings.HasPrefix(mime, "image/") || mime == "application/pdf" }

// pictureSide is the largest side of an image in pixels. Anthropic refuses requests with a larger
// one (https://platform.claude.com/docs/en/build-with-claude/vision, "General limits"). A
// conversation that has one is refused for ever, so no such image becomes a part.
const pictureSide = 8000

// unfit says why no model can look at data of a type, "" if one can, or if the type is no
// image and no document. Only the header of an image and the ends of a document are tested.
func unfit(mime string, data []byte) string {
	var config image.Config
	var err error
	switch mime {
	case "application/pdf":
		if !isPDF(data) {
			return "The document is damaged: it has no end."
		}
		return ""
	case "image/png":
		config, err = png.DecodeConfig(bytes.NewReader(data))
	case "image/jpeg":
		config, err = jpeg.DecodeConfig(bytes.NewReader(data))
	case "image/gif":
		config, err = gif.DecodeConfig(bytes.NewReader(data))
	case "image/webp":
		config, err = webpConfig(data)
	default:
		return ""
	}
	switch {
	case err != nil || config.Width < 1 || config.Height < 1:
		return "The image cannot be decoded, and is not shown."
	case max(config.Width, config.Height) > pictureSide:
		return fmt.Sprintf("The image has %d x %d pixels, and cannot be shown: the limit is %d on each side.", config.Width, config.Height, pictureSide)
	}
	return ""
}

// isPDF reports whether data is a PDF document, and not text about one: it begins with its
// magic, and has its end in the last KiB, where Adobe's readers look for it, or before what fills a block.
func isPDF(data []byte) bool {
	data = bytes.TrimRight(data, "\x00\t\n\r ")
	end := data[max(len(data)-1024, 0):]
	return bytes.HasPrefix(data, []byte(pdfMagic)) && (bytes.Contains(end, []byte("%%EOF")) || bytes.Contains(end, []byte("startxref")))
}

// webpConfig returns the size of a WebP image. The first chunk has it, in one of three forms
// (https://developers.google.com/speed/webp/docs/riff_container):
//
//	RIFF size WEBP VP8X size flags            width-1 and height-1, 24 bits each
//	RIFF size WEBP VP8L size 2f               width-1 and height-1, 14 bits each
//	RIFF size WEBP VP8  size tag 9d 01 2a     width and height, in 14 of 16 bits each
func webpConfig(data []byte) (config image.Config, err error) {
	const head = 20 // bytes before the data of the chunk
	if len(data) < head+5 || int64(binary.LittleEndian.Uint32(data[4:])) > int64(len(data)-8) {
		return config, io.ErrUnexpectedEOF
	}
	chunk, get := data[head:], binary.LittleEndian.Uint32
	switch kind := string(data[12:16]); {
	case kind == "VP8L" && chunk[0] == 0x2f:
		bits := get(chunk[1:])
		config.Width, config.Height = int(bits&0x3fff)+1, int(bits>>14&0x3fff)+1
	case len(chunk) < 10:
		return config, io.ErrUnexpectedEOF
	case kind == "VP8X":
		config.Width, config.Height = int(get(chunk[4:])&0xffffff)+1, int(get(chunk[6:])>>8)+1
	case kind == "VP8 " && string(chunk[3:6]) == "\x9d\x01\x2a":
		size := get(chunk[6:])
		config.Width, config.Height = int(size&0x3fff), int(size>>16&0x3fff)
	}
	return config, nil
}
