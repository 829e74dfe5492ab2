package audit

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// BrokenError is the error of a log whose lines are not as they were written.
type BrokenError struct {
	// File is the name of the file with the line, if it is one that the log was rotated
	// to.
	File string
	// Line is where the chain breaks, from 1. Zero means that a file or the expected line is
	// missing.
	Line int
	// Why says what is wrong there.
	Why string
}

// Error implements error.
func (e *BrokenError) Error() string {
	switch {
	case e.Line == 0:
		return e.Why
	case e.File != "":
		return fmt.Sprintf("%s: line %d: %s", e.File, e.Line, e.Why)
	}
	return fmt.Sprintf("line %d: %s", e.Line, e.Why)
}

// Report is what [Verify] found.
type Report struct {
	// Files is how many files were read.
	Files int `json:"files"`
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
	// Last is the hash of the last finished line. Note it where nobody can change it who can
	// change the log.
	Last string `json:"last"`

	first, current *Header // of the first file, and of the last one
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
	report := Report{Files: 1}
	c := chain{expect: expect}
	for line, err := range lines(r, &c) {
		if err != nil {
			return report, err
		}
		report.add(line)
	}
	return report, c.missed()
}

// VerifyFile is Verify for the log path and the files that it was rotated to, together.
// It also tests that all files that are kept are there. For one of the older
// files, it is Verify.
//
// # Errors
//
// A [*BrokenError], and a file that cannot be read.
func VerifyFile(path, expect string) (Report, error) {
	var report Report
	c := chain{expect: expect}
	for line, err := range fileLines(path, &c) {
		if err != nil {
			return report, err
		}
		if report.add(line); c.line == 1 {
			report.Files++
		}
	}
	first, kept := report.first.Number, report.current.Oldest
	if strings.HasSuffix(path, "."+strconv.Itoa(first)) || first <= kept {
		return report, c.missed()
	}
	return report, &BrokenError{Why: fmt.Sprintf("the first file is number %d, and the log keeps those from number %d on: files were removed", first, kept)}
}

// fileLines returns the lines of all files of the log path.
func fileLines(path string, c *chain) iter.Seq2[chainLine, error] {
	return func(yield func(chainLine, error) bool) {
		files, err := Files(path)
		if err != nil {
			yield(chainLine{}, err)
			return
		}
		for _, file := range files {
			c.older, c.line, c.headed = file != path, 0, false
			for line, err := range oneFile(file, c) {
				var broken *BrokenError
				if errors.As(err, &broken) && file != path {
					broken.File = filepath.Base(file)
				}
				if !yield(line, err) || err != nil {
					return
				}
			}
		}
	}
}

// oneFile returns the lines of a file.
func oneFile(path string, c *chain) iter.Seq2[chainLine, error] {
	return func(yield func(chainLine, error) bool) {
		f, err := os.Open(path)
		if err != nil {
			yield(chainLine{}, err)
			return
		}
		defer f.Close()
		lines(f, c)(yield)
	}
}

// add counts line.
func (r *Report) add(line chainLine) {
	r.Lines++
	if line.unfinished { // it has another hash when it is finished
		r.Unfinished = true
		return
	}
	r.Last = line.hash
	switch {
	case line.torn:
		r.Torn++
	case line.entry.Op != "":
		r.Operations++
	}
	if line.entry.Log == nil {
		return
	}
	if r.Lines == 1 {
		r.Continues = line.entry.Prev
	}
	if r.current = line.entry.Log; r.first == nil {
		r.first = r.current
	}
}

// Read returns the operations in a log, and tests the chain meanwhile.
//
// # Errors
//
// Those of [Verify], after which there are no more operations.
func Read(r io.Reader) iter.Seq2[Entry, error] { return operations(lines(r, new(chain))) }

// ReadFile is Read for the log path and the files that it was rotated to, together.
//
// # Errors
//
// Those of [VerifyFile], after which there are no more operations. That a file is
// missing at the beginning is none.
func ReadFile(path string) iter.Seq2[Entry, error] { return operations(fileLines(path, new(chain))) }

// operations returns the operations in lines.
func operations(lines iter.Seq2[chainLine, error]) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for line, err := range lines {
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
	torn       bool // it was cut short, which the next line or file records
	unfinished bool // it was cut short, and is the last
}

// lines returns the lines of a log up to the first error. A line is held back until
// the next one has been read, which says whether it was cut short. c is what was read of
// the log before.
func lines(r io.Reader, c *chain) iter.Seq2[chainLine, error] {
	return func(yield func(chainLine, error) bool) {
		in := bufio.NewReaderSize(r, maxLine+1)
		var held rawLine
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
			yield(chainLine{}, &BrokenError{Line: max(c.line, 1), Why: "the log has no header"})
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
	expect string // the hash that a line must have, "" for none
	found  bool   // a line had it
	last   string // the hash of the last line

	older  bool // this file is not the newest
	line   int  // how many lines of this file
	headed bool // it had a header
}

// missed returns the error of a log without the expected line.
func (c *chain) missed() error {
	if c.expect == "" || c.found {
		return nil
	}
	return &BrokenError{Why: fmt.Sprintf("no line has the hash %q: lines were cut off, or written again", c.expect)}
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
	return &BrokenError{Line: line, Why: "the line is too long for a log"}
}

// check tests the line now, which next follows.
func (c *chain) check(now, next rawLine) (chainLine, error) {
	c.line++
	line := chainLine{entry: now.entry, hash: hashOf(now.text)}
	before := c.last
	c.last = line.hash
	line.unfinished = !now.ended && !c.older
	c.found = c.found || line.hash == c.expect && !line.unfinished
	switch {
	case next.valid && next.entry.Torn > 0 && next.entry.Torn == len(now.text) && next.entry.Prev == line.hash:
		line.entry, line.torn = Entry{}, true
		return line, nil
	case !now.ended && c.older && now.valid:
		return line, &BrokenError{Line: c.line, Why: "the end of the line was removed"}
	case !now.ended: // of an older file that somebody renamed, the next one has the hash
		line.entry, line.torn = Entry{}, c.older
		return line, nil
	case !now.valid:
		return line, &BrokenError{Line: c.line, Why: "the line is not JSON of a log"}
	}
	return line, c.checkEntry(now.entry, before)
}

// checkEntry tests an entry that follows a line with the hash before.
func (c *chain) checkEntry(e Entry, before string) error {
	switch {
	case e.Log != nil && e.Log.Version != formatVersion:
		return &BrokenError{Line: c.line, Why: fmt.Sprintf("the log has the version %d, which is not known", e.Log.Version)}
	case e.Log == nil && !c.headed:
		return &BrokenError{Line: c.line, Why: "the log does not begin with a header"}
	case before == "" || e.Prev == before: // what is before the first line is not known
	case c.line == 1:
		return &BrokenError{Line: 1, Why: "the file does not continue the one before, which was changed, or files between them were removed"}
	default:
		return &BrokenError{Line: c.line, Why: fmt.Sprintf("the line does not continue line %d, which was changed, or lines between them were removed", c.line-1)}
	}
	c.headed = c.headed || e.Log != nil
	return nil
}
