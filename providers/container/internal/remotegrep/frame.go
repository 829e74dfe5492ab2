package remotegrep

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/workspacekit/workspacekit/providers/container/internal/program"
)

// batchReader reads what the program's fetch writes: the bytes of files, some files in
// each frame. Between the bytes and what stat says about the files afterwards is a
// marker that no file can have in it. If a file is then as it was when it was listed,
// it has been the same all the time, so its length is known.
//
// A frame of the files a (3 bytes) and b (2 bytes), where M is the marker:
//
//	2                                  how many files
//	a//                                their names, each with // and a line end,
//	b//                                which no name has: it may have line ends
//	abcde                              all bytes, without lengths between them
//	M                                  on a line of its own
//	17 3 2026-01-02 03:04:05 +0000 a// what stat says of each file
//	18 2 2026-01-02 03:04:06 +0000 b//
//	M
//
// Both lines of stat are as they were in the listing, and the bytes before M are 3+2:
// so the first 3 are those of a. If b has changed, or there are 6 bytes, neither file
// has its bytes, as nothing says where those of b begin; a is then fetched again, and b
// has changed.
type batchReader struct {
	length int64 // how many bytes of each file are sent; 0 for all
	among  index // the files that may be sent
	marker string
	from   *bufio.Reader

	sent    map[*file][]byte // those that have come; nil for one whose bytes are not known
	changed map[*file]bool   // those of them that are not what they were
}

func newBatchReader(about []*file, length int64) *batchReader {
	return &batchReader{length: length, among: newIndex(about), marker: rand.Text(), sent: map[*file][]byte{}, changed: map[*file]bool{}}
}

// errFrame says that a reply has not the form of a frame.
var errFrame = errors.New("a program in the container does not write files in a way that is understood")

// read reads the frames of a reply, up to the first that is malformed.
func (p *batchReader) read(reply io.Reader) {
	p.from = bufio.NewReaderSize(reply, program.StreamBuffer)
	for {
		line, err := p.line("\n")
		if err != nil || p.frame(line) != nil {
			return
		}
	}
}

// line returns what comes before end, which ends with a line break.
func (p *batchReader) line(end string) (string, error) {
	line := ""
	for {
		part, err := p.from.ReadString('\n')
		line += part
		if text, ok := strings.CutSuffix(line, end); ok {
			return text, nil
		}
		if err != nil {
			return "", err
		}
	}
}

// frame reads a frame of as many files as head says.
func (p *batchReader) frame(head string) error {
	count, err := strconv.Atoi(head)
	if err != nil || count < 0 || count > len(p.among) {
		return errFrame
	}
	about, total := make([]*file, count), int64(0)
	for i := range about {
		name, err := p.line("//\n")
		if err != nil {
			return err
		}
		if about[i] = p.among.file(name); about[i] == nil {
			return errFrame
		}
		if total += p.lengthOf(about[i]); total < 0 || total > batchSize+largeFile {
			return errFrame // of more than is asked for
		}
	}
	body, err := p.contents(total)
	if err != nil {
		return err
	}
	same, err := p.unchanged()
	if err != nil {
		return err
	}
	p.deliver(about, body, total, same)
	return nil
}

// lengthOf returns how many bytes of e are sent.
func (p *batchReader) lengthOf(e *file) int64 {
	if p.length > 0 {
		return min(e.Size, p.length)
	}
	return e.Size
}

// contents reads the bytes of files, total of them unless a file has changed.
func (p *batchReader) contents(total int64) ([]byte, error) {
	mark := []byte("\n" + p.marker + "\n")
	body := make([]byte, total)
	n, _ := io.ReadFull(p.from, body)
	if next, err := p.from.Peek(len(mark)); err == nil && bytes.Equal(next, mark) {
		_, err := p.from.Discard(len(mark))
		return body, err
	}
	body = body[:n]
	for searched := 0; ; {
		if at := bytes.Index(body[searched:], mark); at >= 0 {
			body, rest := body[:searched+at], body[searched+at+len(mark):]
			p.from = bufio.NewReaderSize(io.MultiReader(bytes.NewReader(rest), p.from), program.StreamBuffer)
			return body, nil
		}
		if int64(len(body)) > total+maxAhead {
			return nil, errFrame
		}
		searched = max(0, len(body)-len(mark))
		body = slices.Grow(body, program.StreamBuffer)
		n, err := p.from.Read(body[len(body):cap(body)])
		if body = body[:len(body)+n]; n == 0 && err != nil {
			return nil, errFrame
		}
	}
}

// unchanged reads what stat says about files and returns those that have not changed
// since they were listed.
func (p *batchReader) unchanged() (map[*file]bool, error) {
	same := map[*file]bool{}
	about := ""
	for {
		line, err := p.line("\n")
		if err != nil {
			return nil, err
		}
		if line == p.marker {
			return same, nil
		}
		about += line + "\n"
		text, ok := strings.CutSuffix(about, "//\n")
		if !ok {
			continue // a name on several lines
		}
		about = ""
		// The inode, the size, the date, the time, the zone and the name.
		words := strings.SplitN(text, " ", 6)
		if e := p.among.file(words[len(words)-1]); e != nil && strings.HasPrefix(text, e.StatKey()+" ") {
			same[e] = true
		}
	}
}

// deliver gives the files of a frame their bytes. If one of them has changed, or
// is not as long as the listing said, nothing tells where the bytes of the others
// begin.
func (p *batchReader) deliver(about []*file, body []byte, total int64, same map[*file]bool) {
	unchanged := len(same) == len(about)
	if unchanged && int64(len(body)) == total {
		for _, e := range about {
			length := p.lengthOf(e)
			p.sent[e] = body[:length:length]
			body = body[length:]
		}
		return
	}
	for _, e := range about {
		p.sent[e] = nil
		p.changed[e] = unchanged || !same[e]
	}
}

// isLost reports whether e has not come, and would not come in another frame.
func (p *batchReader) isLost(e *file) bool {
	_, came := p.sent[e]
	return !came || p.changed[e]
}
