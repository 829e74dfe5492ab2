// Package edit replaces text in the bytes of a file: exactly the bytes that
// match, all edits or none, each matched against the original.
package edit

import (
	"bytes"
	"cmp"
	"errors"
	"slices"

	"github.com/workspacekit/workspacekit/workspace"
)

// MaxReplacements is the most replacements that one [New] plans.
const MaxReplacements = 100_000

// maxNew is how many bytes the replacements of one [New] have together, if each place
// can have another one.
const maxNew = 256 << 20

// nearestEffort bounds for how many edits that fail the nearest text is looked for: in
// bytes of the file, and a MiB for each edit. The first one always has it.
const nearestEffort = 32 << 20

// Edit replaces the text Old by the text New.
type Edit struct {
	Old, New string
	// All replaces every occurrence of Old. Without it Old must occur exactly
	// once.
	All bool
	// Count, if it is not zero, is how often Old must occur. Every occurrence is
	// replaced then.
	Count int
	// Regexp makes Old a regular expression (RE2, where ^ and $ are the ends of a
	// line), and New a template with $1 or ${name} for a group and $$ for a dollar
	// sign.
	Regexp bool
	// Tolerant looks for Old in more tolerant ways if it does not occur: see [New].
	Tolerant bool
	// Optional says that Old need not occur. Where it occurs, New must fit.
	Optional bool
	// Line, if it is not zero, inserts New before that line instead, counted from
	// 1: the number after the last line appends. Old is not used.
	Line int

	sharing int // how many regular expressions there are
}

// Change is what a list of edits makes of a file. It shares the bytes of the
// file, which must not change while it is used.
type Change struct {
	data      []byte // before the change
	spans     []Span // what is replaced, sorted, without overlaps
	tolerated []Tolerated
}

// Span is one replacement: New takes the place of the bytes from Start to End
// of the original.
type Span struct {
	Start, End int
	New        string
	edit       int // the index of the edit that it is of
}

// Tolerated says how an edit matched text that differs from its Old.
type Tolerated struct {
	Edit int    // the edit, from 0
	What string // what differs, such as "indentation"
}

// New plans edits on data.
//
// Where all line ends of data are of one kind, both texts get it, unless only the line ends
// of a text that occurs change. Elsewhere, a text to replace that does not occur is looked for
// with the other line ends, and one that begins with a line feed also matches a CRLF there; its
// replacement then gets those line ends, too. A regular expression sees line feeds only, unless
// it has \r itself: then its replacement stays as it is. Otherwise that, and lines that are
// inserted, get the line end of the line before. Nothing else is normalised.
//
// A tolerant edit whose text does not occur is looked for again with fewer
// differences in each round: line ends and trailing blanks; quotes, dashes and
// spaces that Unicode has several of; indentation. In the last case the text must
// begin at the start of a line or after its indentation, all its other lines must differ
// from those of data in the same way (by the same white space in front, or by a tab for
// each 2, 3, 4 or 8 spaces), and the lines of its replacement are indented in that way.
//
// # Errors
//
// [*InvalidError], [*PatternError], [*LineError], [*NotFoundError],
// [*NotUniqueError] and [*TooManyError], several of them as [Errors],
// [*OverlapError], and [workspace.ErrTooLarge].
func New(data []byte, edits []Edit) (*Change, error) {
	change := &Change{data: data}
	var failed Errors
	effort, patterns, size := nearestEffort, 0, 0
	for _, e := range edits {
		if e.Regexp {
			patterns++
		}
	}
	if patterns > 0 && len(data) > MaxRegexpSource {
		return nil, ErrRegexpSource
	}
	for i, e := range edits {
		e.sharing = patterns
		found, err := locate(data, e, MaxReplacements-len(change.spans))
		var missing *NotFoundError
		if errors.As(err, &missing) {
			if e.Optional && !missing.Indent {
				continue
			}
			if !e.Regexp && effort > 0 {
				missing.Nearest = nearest(data, e.Old)
				effort -= len(data) + 1<<20
			}
		}
		if err != nil {
			failed = append(failed, of(i, err))
			continue
		}
		for _, s := range found.spans {
			size += len(s.New)
			s.edit = i
			change.spans = append(change.spans, s)
		}
		if size > maxNew && (e.Regexp || e.Tolerant) {
			return nil, workspace.ErrTooLarge
		}
		if found.tolerated != "" {
			change.tolerated = append(change.tolerated, Tolerated{i, found.tolerated})
		}
	}
	switch len(failed) {
	case 0:
	case 1:
		return nil, failed[0]
	default:
		return nil, failed
	}
	slices.SortStableFunc(change.spans, func(a, b Span) int { return cmp.Or(a.Start-b.Start, a.End-b.End) })
	return change, change.overlap()
}

// of says that err is about edit number i.
func of(i int, err error) error {
	var one interface{ index() *int }
	if errors.As(err, &one) {
		*one.index() = i
	}
	return err
}

// overlap returns the error of two replacements that share bytes.
func (c *Change) overlap() error {
	for i := 1; i < len(c.spans); i++ {
		if a, b := c.spans[i-1], c.spans[i]; a.End > b.Start {
			return &OverlapError{First: min(a.edit, b.edit), Second: max(a.edit, b.edit), Line: lineAt(c.data, b.Start)}
		}
	}
	return nil
}

// Tolerated returns the edits that matched something else than their Old.
func (c *Change) Tolerated() []Tolerated { return c.tolerated }

// Spans returns the replacements, sorted and without overlap.
func (c *Change) Spans() []Span { return c.spans }

// Count returns how often edit number i, from 0, replaces its text.
func (c *Change) Count(i int) int {
	n := 0
	for _, s := range c.spans {
		if s.edit == i {
			n++
		}
	}
	return n
}

// Size returns how long the result is, without making it.
func (c *Change) Size() int64 {
	size := int64(len(c.data))
	for _, s := range c.spans {
		size += int64(len(s.New) - (s.End - s.Start))
	}
	return size
}

// Bytes makes the result.
func (c *Change) Bytes() []byte {
	out := make([]byte, 0, c.Size())
	at := 0
	for _, s := range c.spans {
		out = append(out, c.data[at:s.Start]...)
		out = append(out, s.New...)
		at = s.End
	}
	return append(out, c.data[at:]...)
}

// FirstLine returns the line, from 1, of the first byte that is not as it was,
// and zero if there is none.
func (c *Change) FirstLine() int {
	if len(c.spans) == 0 {
		return 0
	}
	// The text after a replacement can begin as the replaced one did: of
	// "a\nb\nc" without "\nb", the first changed line is the second.
	at := c.spans[0].Start
	for i, s := range c.spans {
		end := len(c.data)
		if i+1 < len(c.spans) {
			end = c.spans[i+1].Start
		}
		if n := sharedPrefix(c.data[at:], s.New); n < len(s.New) {
			return lineAt(c.data, at+n)
		}
		at += len(s.New)
		kept := c.data[s.End:end]
		if n := sharedPrefix(c.data[at:], kept); n < len(kept) {
			return lineAt(c.data, at+n)
		}
		at += len(kept)
	}
	if at == len(c.data) {
		return 0
	}
	return lineAt(c.data, at)
}

// sharedPrefix returns how many bytes a and b have in common at their starts.
func sharedPrefix[A, B []byte | string](a A, b B) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// lineAt returns the line, from 1, of the byte at offset.
func lineAt(data []byte, offset int) int {
	return bytes.Count(data[:offset], []byte("\n")) + 1
}

// Head returns how many bytes of the original, up to a line end, and of the result show
// the first replacements: at most limit bytes past the first of them, or else the lines
// of that one. whole says that they show all of them.
func (c *Change) Head(limit int) (before, after int, whole bool) {
	if len(c.spans) == 0 {
		return 0, 0, true
	}
	end := len(c.data)
	first := c.spans[0]
	if first.Start+limit < end {
		end = bytes.LastIndexByte(c.data[:first.Start+limit], '\n') + 1
	}
	if end < first.End || end <= first.Start {
		rest := bytes.IndexByte(c.data[first.End:], '\n') + 1
		if end = first.End + rest; rest == 0 {
			end = len(c.data)
		}
	}
	n := len(c.spans)
	for ; n > 0 && c.spans[n-1].End > end; n-- {
		if start := c.spans[n-1].Start; start < end { // its whole first line does not fit
			end = bytes.LastIndexByte(c.data[:start], '\n') + 1
		}
	}
	part := Change{data: c.data[:end], spans: c.spans[:n]}
	return end, int(part.Size()), n == len(c.spans)
}
