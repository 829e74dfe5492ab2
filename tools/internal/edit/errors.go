package edit

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/workspacekit/workspacekit/workspace"
)

// The kinds of an edit that does not fit its file.
var (
	ErrTextNotFound  = errors.New("text not found")
	ErrTextNotUnique = errors.New("text not unique")
	ErrPattern       = errors.New("malformed or too costly pattern")

	// ErrRegexpSource is [workspace.ErrTooLarge] for a regular expression.
	ErrRegexpSource = fmt.Errorf("%w: a regular expression is applied to files of at most %d MiB", workspace.ErrTooLarge, MaxRegexpSource>>20)
)

// Errors are the errors of several edits of a list, in its order.
type Errors []error

func (e Errors) Error() string {
	texts := make([]string, len(e))
	for i, err := range e {
		texts[i] = fmt.Sprintf("edits[%d]: %v", Index(err), err)
	}
	return strings.Join(texts, "; ")
}

// Unwrap returns the errors.
func (e Errors) Unwrap() []error { return e }

// Index returns the number, from 0, of the edit that an error of [New] is about. Of
// [Errors] and of an [*OverlapError] it is the first one.
func Index(err error) int {
	var one interface{ index() *int }
	if errors.As(err, &one) {
		return *one.index()
	}
	return 0
}

func (e *InvalidError) index() *int   { return &e.Edit }
func (e *PatternError) index() *int   { return &e.Edit }
func (e *LineError) index() *int      { return &e.Edit }
func (e *TooManyError) index() *int   { return &e.Edit }
func (e *NotFoundError) index() *int  { return &e.Edit }
func (e *NotUniqueError) index() *int { return &e.Edit }
func (e *OverlapError) index() *int   { return &e.First }

// InvalidError says that an edit makes no sense, whatever the file.
type InvalidError struct {
	Edit   int // the edit, from 0
	Reason string
	Hint   string // what to do instead
}

func (e *InvalidError) Error() string { return e.Reason }

// PatternError says that the regular expression of an edit is malformed or too costly.
// It is [ErrPattern].
type PatternError struct {
	Edit   int // the edit, from 0
	Reason string
	Costly bool // it is too long or too costly, and not malformed
}

func (e *PatternError) Error() string { return e.Reason }

// Unwrap returns the kind of the error.
func (e *PatternError) Unwrap() error { return ErrPattern }

// LineError says that the line does not exist before which an edit inserts.
type LineError struct {
	Edit  int // the edit, from 0
	Line  int // the line, from 1
	Lines int // how many lines there are
}

func (e *LineError) Error() string {
	if e.Lines == 0 {
		return fmt.Sprintf("line %d does not exist: the file is empty", e.Line)
	}
	return fmt.Sprintf("line %d does not exist: the last line is %d, and %d appends", e.Line, e.Lines, e.Lines+1)
}

// OverlapError says that two edits of one call would replace the same bytes.
type OverlapError struct {
	First, Second int // the edits, from 0
	Line          int // where they meet, from 1
}

func (e *OverlapError) Error() string {
	if e.First == e.Second {
		return fmt.Sprintf("edits[%d] overlaps itself on line %d", e.First, e.Line)
	}
	return fmt.Sprintf("edits[%d] and edits[%d] overlap on line %d", e.First, e.Second, e.Line)
}

// TooManyError says that edits would replace more than [MaxReplacements]
// texts.
type TooManyError struct {
	Edit int // the edit, from 0
}

func (e *TooManyError) Error() string {
	return fmt.Sprintf("one call replaces at most %d texts of a file", MaxReplacements)
}

// NotFoundError says that the text of an edit does not occur. It is
// [ErrTextNotFound].
type NotFoundError struct {
	Edit    int      // the edit, from 0
	Regexp  bool     // it is a regular expression
	Indent  bool     // it occurs but for its indentation, and New cannot be indented in the same way
	Nearest *Nearest // the text of the file that is most like it; nil if none is
}

func (e *NotFoundError) Error() string { return ErrTextNotFound.Error() }

// Unwrap returns the kind of the error.
func (e *NotFoundError) Unwrap() error { return ErrTextNotFound }

// NotUniqueError says that the text of an edit does not occur exactly once, or as
// often as the edit says. It is [ErrTextNotUnique].
type NotUniqueError struct {
	Edit  int   // the edit, from 0
	Want  int   // the Count of the edit
	Count int   // how often its text occurs without overlaps, and 2 if it does so with overlaps only
	Lines []int // where the first occurrences begin, from 1
}

func (e *NotUniqueError) Error() string {
	noun, where := "line", e.Where()
	if strings.Contains(where, " ") {
		noun = "lines"
	}
	times, kind := "1 time", ErrTextNotUnique.Error()
	if e.Count != 1 {
		times = strconv.Itoa(e.Count) + " times"
	}
	if e.Count > MaxReplacements {
		times = fmt.Sprintf("more than %d times", MaxReplacements)
	}
	if e.Want != 0 {
		kind, times = "another count than expected", times+fmt.Sprintf(", not %d", e.Want)
	}
	return fmt.Sprintf("%s: it occurs %s, on %s %s", kind, times, noun, where)
}

// Where returns the lines for a message: "7", "7, 9", "7, 9 and others".
func (e *NotUniqueError) Where() string {
	var lines []string
	for _, line := range slices.Compact(slices.Clone(e.Lines)) {
		lines = append(lines, strconv.Itoa(line))
	}
	text := strings.Join(lines, ", ")
	if e.Count > len(e.Lines) {
		text += " and others"
	}
	return text
}

// Unwrap returns the kind of the error.
func (e *NotUniqueError) Unwrap() error { return ErrTextNotUnique }
