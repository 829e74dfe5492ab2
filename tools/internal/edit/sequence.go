package edit

import (
	"bytes"
	"slices"
)

// Sequence plans edits one after another, each on the text that those before it make.
// The Change that comes of them is on the original.
//
//	original   one two
//	after "one" by "one 1"   one 1 two
//	after "1 two" by "2"     one 2          the change replaces "one two" by "one 2"
type Sequence struct {
	change Change
	text   []byte
}

// NewSequence returns a sequence that has no edits of data yet. It shares the bytes,
// which must not change while it is used.
func NewSequence(data []byte) *Sequence { return &Sequence{Change{data: data}, data} }

// Text returns what the edits so far make of the original. The caller must not change
// it.
func (s *Sequence) Text() []byte { return s.text }

// Change returns what the edits so far change. It is no longer valid after the next.
func (s *Sequence) Change() *Change { return &s.change }

// First replaces the first occurrence of old in the text. Line ends are adapted as
// [New] does.
//
// # Errors
//
// [*InvalidError] if old is empty, and [*NotFoundError].
func (s *Sequence) First(old, new string) error {
	if old == "" {
		return &InvalidError{Reason: "the text to replace is empty"}
	}
	e := adaptLineEnds(s.text, Edit{Old: old, New: new})
	at := bytes.Index(s.text, []byte(e.Old))
	if at < 0 {
		return &NotFoundError{Nearest: nearest(s.text, e.Old)}
	}
	s.Replace(at, at+len(e.Old), e.New)
	return nil
}

// Apply makes one edit as [New] does, with its errors.
func (s *Sequence) Apply(e Edit) error {
	next, err := New(s.text, []Edit{e})
	if err != nil {
		return err
	}
	for _, span := range slices.Backward(next.spans) {
		s.change.replace(span.Start, span.End, span.New)
	}
	s.text = next.Bytes()
	return nil
}

// Replace replaces the bytes from start to end of the text.
func (s *Sequence) Replace(start, end int, text string) {
	next := Change{data: s.text, spans: []Span{{Start: start, End: end, New: text}}}
	s.text = next.Bytes()
	s.change.replace(start, end, text)
}

// replace makes the replacement of the bytes from start to end of the result a part of
// c. The replacements that it touches become one with it.
func (c *Change) replace(start, end int, text string) {
	i, grown := 0, 0 // grown is how much longer than the original the result is so far
	for ; i < len(c.spans) && c.spans[i].Start+grown+len(c.spans[i].New) < start; i++ {
		grown += c.spans[i].growth()
	}
	joined := Span{Start: start - grown, New: text}
	last := i
	for ; last < len(c.spans) && c.spans[last].Start+grown <= end; last++ {
		s := c.spans[last]
		from := s.Start + grown
		grown += s.growth()
		if from < start {
			joined.Start, joined.New = s.Start, s.New[:start-from]+joined.New
		}
		if from+len(s.New) > end {
			joined.End = s.End
			joined.New += s.New[end-from:]
		}
	}
	joined.End = max(joined.End, end-grown)
	c.spans = slices.Replace(c.spans, i, last, joined)
}

// growth returns how much longer s makes the text.
func (s Span) growth() int { return len(s.New) - (s.End - s.Start) }
