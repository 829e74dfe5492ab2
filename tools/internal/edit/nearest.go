package edit

import (
	"bytes"
	"math/bits"
	"strings"
)

// Bounds of the search for the nearest text.
const (
	soughtLines   = 200       // lines of the text that are looked for
	votingLength  = 4         // folded bytes that a line needs to say where the text is
	maxVotes      = 100_000   // places that are considered
	maxRepeats    = 8         // places in the text that one line of the file can stand for
	maxRegion     = 256 << 10 // bytes of the lines of the file that are compared in detail
	alikeEnough   = 0.55      // similarity below which a line is not worth showing
	maxSimilarity = 2         // similarity of a line that is the same but for folding
)

// Nearest is the text of a file that is most like one that does not occur.
type Nearest struct {
	Line    int    // where it begins, from 1
	Text    string // whole lines, possibly cut
	Differs string // what the difference is, as the rest of a sentence; may be empty
}

// nearest looks for the text of data that is most like old in one pass over
// its lines, and returns nil if nothing is.
func nearest(data []byte, old string) *Nearest {
	if found := mistaken(data, old); found != nil {
		return found
	}
	s := newSearch(old)
	if s == nil {
		return nil
	}
	s.scan(data)
	line, ok := s.best()
	if !ok {
		return nil
	}
	region := linesOf(data, line, len(s.lines))
	region = region[:min(len(region), maxRegion)]
	return &Nearest{Line: line + 1, Text: excerpt(region), Differs: difference(old, region)}
}

// mistaken returns where old would occur but for a mistake that is typical of
// models, and nil if it is none of those.
func mistaken(data []byte, old string) *Nearest {
	for _, m := range []struct{ text, differs string }{
		{unescaper.Replace(old), "escapes: oldText has a backslash and a letter where the file has a line end, a tab or a quote"},
		{lineNumber().ReplaceAllString(old, ""), "line numbers: oldText has them in front of its lines, and the file does not"},
	} {
		at := -1
		if m.text != old && m.text != "" {
			at = bytes.Index(data, []byte(adaptLineEnds(data, Edit{Old: m.text}).Old))
		}
		if at >= 0 {
			line := lineAt(data, at)
			region := linesOf(data, line-1, strings.Count(m.text, "\n")+1)
			return &Nearest{Line: line, Text: excerpt(region), Differs: m.differs}
		}
	}
	return nil
}

// search looks for the lines of a text in a file. Both are folded.
type search struct {
	lines   []string         // the lines to look for, folded
	where   map[string][]int // the indices of a line in lines
	key     int              // the index of the longest line
	keyLine []byte           // that line
	keyBits signature
	votes   map[int]int // how many folded bytes agree if the text began at a line

	alike     float64 // the similarity of the best line to lines[key]
	alikeEnds int     // how many bytes at both ends of the two are the same
	alikeLine int     // its number, from 0
}

// newSearch returns nil if text has nothing to look for.
func newSearch(text string) *search {
	s := &search{where: map[string][]int{}, votes: map[int]int{}}
	for line := range strings.Lines(text) {
		if len(s.lines) == soughtLines {
			break
		}
		s.add(string(appendFolded(nil, []byte(line), foldAll)))
	}
	if len(s.lines) == 0 || s.lines[s.key] == "" {
		return nil
	}
	s.keyLine = []byte(s.lines[s.key])
	s.keyBits = signatureOf(s.keyLine)
	return s
}

// add adds a line of the text that is looked for. Lines that are long enough to say
// something, and do not repeat too often, vote for the places where they occur; the
// longest line is the key.
func (s *search) add(folded string) {
	i := len(s.lines)
	s.lines = append(s.lines, folded)
	if len(folded) >= votingLength && len(s.where[folded]) < maxRepeats {
		s.where[folded] = append(s.where[folded], i)
	}
	if len(folded) > len(s.lines[s.key]) {
		s.key = i
	}
}

// scan looks at each line of the file once.
func (s *search) scan(data []byte) {
	var folded []byte
	number := 0
	for line := range bytes.Lines(data) {
		folded = appendFolded(folded[:0], line, foldAll)
		s.vote(number, folded)
		s.compare(number, folded)
		number++
	}
}

// vote lets a line that is sought say where the text would begin.
func (s *search) vote(number int, folded []byte) {
	for _, i := range s.where[string(folded)] {
		start := max(number-i, 0)
		if _, known := s.votes[start]; known || len(s.votes) < maxVotes {
			s.votes[start] += len(folded)
		}
	}
}

// compare remembers the line that is most like the longest one sought.
func (s *search) compare(number int, folded []byte) {
	if s.alike >= maxSimilarity {
		return
	}
	score := s.keyBits.similarity(signatureOf(folded))
	if bytes.Contains(folded, s.keyLine) {
		score = maxSimilarity
	}
	if score < s.alike || score < alikeEnough {
		return
	}
	if ends := equalEnds(s.keyLine, folded); score > s.alike || ends > s.alikeEnds {
		s.alike, s.alikeEnds, s.alikeLine = score, ends, number
	}
}

// equalEnds returns how many bytes a and b share at their beginnings and their ends.
// It tells apart lines that are as alike: "line 15" and "line 17", for "lime 17".
func equalEnds(a, b []byte) int {
	shorter, head, tail := min(len(a), len(b)), 0, 0
	for head < shorter && a[head] == b[head] {
		head++
	}
	for tail < shorter-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	return head + tail
}

// best returns the line, from 0, at which the nearest text begins.
func (s *search) best() (line int, ok bool) {
	most := 0
	for start, votes := range s.votes {
		if votes > most || votes == most && start < line {
			line, most = start, votes
		}
	}
	if most > 0 {
		return line, true
	}
	return max(s.alikeLine-s.key, 0), s.alike >= alikeEnough
}

// linesOf returns count lines of data from line first, counted from 0.
func linesOf(data []byte, first, count int) []byte {
	start, end, number := len(data), len(data), 0
	at := 0
	for line := range bytes.Lines(data) {
		if number == first {
			start = at
		}
		at += len(line)
		number++
		if number == first+count {
			end = at
			break
		}
	}
	return data[start:end]
}

// signature is the set of the pairs of adjacent bytes in a line, hashed: a
// cheap way to tell how alike two lines are.
type signature [4]uint64

// signatureOf returns a set of bits with one for the hash of each pair of neighbors. Two
// lines that are alike have many bits in common, which is faster to count than an edit
// distance.
func signatureOf(line []byte) signature {
	var s signature
	for i := 1; i < len(line); i++ {
		h := line[i-1]*31 + line[i]
		s[h>>6] |= 1 << (h & 63)
	}
	return s
}

// similarity is 1 for equal sets and 0 for sets that share nothing (Dice's
// coefficient).
func (s signature) similarity(other signature) float64 {
	shared, total := 0, 0
	for i := range s {
		shared += bits.OnesCount64(s[i] & other[i])
		total += bits.OnesCount64(s[i]) + bits.OnesCount64(other[i])
	}
	if total == 0 {
		return 0
	}
	return 2 * float64(shared) / float64(total)
}
