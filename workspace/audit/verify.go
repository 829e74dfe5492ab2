package audit

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
)

// BrokenError is the error of a log whose lines are not as they were written.
type BrokenError struct {
	// Line is where the chain breaks, from 1.
	Line int
	// Why says what is wrong there.
	Why string
}

// Error implements error.
func (e *BrokenError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Why) }

// Report is what [Verify] found.
type Report struct {
	// Lines is how many lines there are, and Operations how many of them record an
	// operation.
	Lines      int `json:"lines"`
	Operations int `json:"operations"`
	// Torn is how many lines were cut short by a crash, and are recorded as such.
	Torn int `json:"torn"`
	// Unfinished says that the last line has no line end: it was cut short and not
	// recorded yet, or is being written.
	Unfinished bool `json:"unfinished"`
	// Continues is the hash of the last line of the log that this one continues,
	// empty if it continues none.
	Continues string `json:"continues,omitempty"`
	// Last is the hash of the last line. Note it where nobody can change it who can
	// change the log.
	Last string `json:"last"`
}

// Verify reads a log and tests its chain. If expect is not empty, it also tests that
// a line has this hash, which an earlier Verify returned as [Report].Last: without
// it, lines that were cut off at the end do not show. Several files of a log that was
// rotated are verified as one, the oldest first, with [io.MultiReader].
//
// # Errors
//
// A [*BrokenError], and what r returns. The Report is then of the lines before.
func Verify(r io.Reader, expect string) (Report, error) {
	var report Report
	found := expect == ""
	for line, err := range lines(r) {
		if err != nil {
			return report, err
		}
		report.add(line)
		found = found || line.hash == expect
	}
	if !found {
		return report, &BrokenError{report.Lines, fmt.Sprintf(
			"no line up to this one, the last, has the hash %q: lines were cut off, or written again", expect)}
	}
	return report, nil
}

// add counts line.
func (r *Report) add(line chainLine) {
	r.Lines++
	r.Last = line.hash
	switch {
	case line.unfinished:
		r.Unfinished = true
	case line.torn:
		r.Torn++
	case line.entry.Op != "":
		r.Operations++
	}
	if r.Lines == 1 && line.entry.Log != nil {
		r.Continues = line.entry.Prev
	}
}

// Read returns the operations in a log, and tests the chain meanwhile.
//
// # Errors
//
// Those of [Verify], after which there are no more operations.
func Read(r io.Reader) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for line, err := range lines(r) {
			if err == nil && (line.torn || line.unfinished || line.entry.Op == "") {
				continue
			}
			if !yield(line.entry, err) {
				return
			}
		}
	}
}

// chainLine is a line that continues the one before it.
type chainLine struct {
	entry      Entry
	hash       string
	torn       bool // it was cut short, which the next line records
	unfinished bool // it was cut short, and is the last
}

// lines returns the lines of a log up to the first error. A line is held back until
// the next one has been read, which says whether it was cut short.
func lines(r io.Reader) iter.Seq2[chainLine, error] {
	return func(yield func(chainLine, error) bool) {
		in := bufio.NewReaderSize(r, maxLine+1)
		var held rawLine
		c := chain{}
		for {
			next, err := readLine(in)
			if err != nil && err != io.EOF {
				yield(chainLine{}, c.readError(held, err))
				return
			}
			if held.there {
				line, err := c.check(held, next)
				if !yield(line, err) || err != nil {
					return
				}
			}
			if err == io.EOF {
				break
			}
			held = next
		}
		if !c.headed {
			yield(chainLine{}, &BrokenError{max(c.line, 1), "the log has no header"})
		}
	}
}

// rawLine is a line that has not been tested.
type rawLine struct {
	there bool // there is a line
	ended bool // it has a line end
	text  []byte
	entry Entry
	valid bool // entry is what text has
}

// readLine returns the next line.
//
// # Errors
//
// [io.EOF] without one, [bufio.ErrBufferFull] if it is too long.
func readLine(in *bufio.Reader) (rawLine, error) {
	text, err := in.ReadSlice('\n')
	if err != nil && (err != io.EOF || len(text) == 0) {
		return rawLine{}, err
	}
	line := rawLine{there: true, ended: err == nil, text: append([]byte(nil), trimEnd(text)...)}
	line.valid = json.Unmarshal(line.text, &line.entry) == nil
	return line, nil
}

// chain is what has been read of a log.
type chain struct {
	line   int    // how many lines
	last   string // the hash of the last one
	headed bool   // there was a header
}

// readError returns the error of a line after held that could not be read.
func (c *chain) readError(held rawLine, err error) error {
	if !errors.Is(err, bufio.ErrBufferFull) {
		return err
	}
	line := c.line + 1
	if held.there {
		line++
	}
	return &BrokenError{line, "the line is too long for a log"}
}

// check tests the line now, which next follows.
func (c *chain) check(now, next rawLine) (chainLine, error) {
	c.line++
	line := chainLine{entry: now.entry, hash: hashOf(now.text)}
	before := c.last
	c.last = line.hash
	switch {
	case next.valid && next.entry.Torn > 0 && next.entry.Torn == len(now.text) && next.entry.Prev == line.hash:
		line.entry, line.torn = Entry{}, true
		return line, nil
	case !now.ended:
		line.entry, line.unfinished = Entry{}, true
		return line, nil
	case !now.valid:
		return line, &BrokenError{c.line, "the line is not JSON of a log"}
	}
	return line, c.checkEntry(now.entry, before)
}

// checkEntry tests an entry that follows a line with the hash before.
func (c *chain) checkEntry(e Entry, before string) error {
	first := c.line == 1
	switch {
	case e.Log != nil && e.Log.Version != formatVersion:
		return &BrokenError{c.line, fmt.Sprintf("the log has the version %d, which is not known", e.Log.Version)}
	case e.Log == nil && !c.headed:
		return &BrokenError{c.line, "the log does not begin with a header"}
	case !first && e.Prev != before:
		return &BrokenError{c.line, fmt.Sprintf("the line does not continue line %d, which was changed, or lines between them were removed", c.line-1)}
	}
	c.headed = c.headed || e.Log != nil
	return nil
}
