package edit

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/workspacekit/workspacekit/workspace"
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
		return errEmpty()
	}
	e := adaptLineEnds(s.text, Edit{Old: old, New: new})
	at := bytes.Index(s.text, []byte(e.Old))
	if at < 0 {
		return &NotFoundError{Nearest: nearest(s.text, e.Old)}
	}
	s.then(&Change{data: s.text, spans: []Span{e.span(s.text, at, toCRLF(e.New))}})
	return nil
}

// Apply makes one edit as [New] does, unless the text would then have more than most bytes: a
// few edits can make a small file larger than memory.
//
// # Errors
//
// Those of New, and [workspace.ErrTooLarge].
func (s *Sequence) Apply(e Edit, most int64) error {
	next, err := New(s.text, []Edit{e})
	if err != nil {
		return err
	}
	if size := next.Size(); size > most {
		return fmt.Errorf("%w: it would have %d bytes", workspace.ErrTooLarge, size)
	}
	s.then(next)
	return nil
}

// Replace replaces the bytes from start to end of the text.
func (s *Sequence) Replace(start, end int, text string) {
	s.then(&Change{data: s.text, spans: []Span{{Start: start, End: end, New: text}}})
}

// then makes a change of the text.
func (s *Sequence) then(next *Change) {
	s.change.spans = join(s.change.spans, s.text, next.spans)
	s.text = next.Bytes()
}

// join returns the replacements of the original that make what second makes of text,
// which first makes of the original. Those that touch become one. It takes one pass:
// there can be 100,000 of each.
func join(first []Span, text []byte, second []Span) []Span {
	var all []Span
	grown := 0 // how much longer than the original the text is so far
	for len(first) > 0 || len(second) > 0 {
		if len(second) == 0 || len(first) > 0 && first[0].Start+grown+len(first[0].New) < second[0].Start {
			all = append(all, first[0])
			grown += first[0].growth()
			first = first[1:]
			continue
		}
		start, end := second[0].Start, second[0].End // of the text
		if len(first) > 0 {
			start = min(start, first[0].Start+grown)
		}
		joined := Span{Start: start - grown}
		var made strings.Builder
		for at := start; ; {
			if len(first) > 0 && first[0].Start+grown <= end {
				end = max(end, first[0].Start+grown+len(first[0].New))
				grown += first[0].growth()
				first = first[1:]
				continue
			}
			if len(second) == 0 || second[0].Start > end {
				made.Write(text[at:end])
				break
			}
			made.Write(text[at:second[0].Start])
			made.WriteString(second[0].New)
			at = second[0].End
			end = max(end, at)
			second = second[1:]
		}
		joined.End, joined.New = end-grown, made.String()
		all = append(all, joined)
	}
	return all
}

// growth returns how much longer s makes the text.
func (s Span) growth() int { return len(s.New) - (s.End - s.Start) }
