package edit

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// The kinds of an edit that does not fit its file.
var (
	ErrTextNotFound  = errors.New("text not found")
	ErrTextNotUnique = errors.New("text not unique")
)

// InvalidError says that an edit makes no sense, whatever the file.
type InvalidError struct {
	Edit   int // the edit, from 0
	Reason string
}

func (e *InvalidError) Error() string { return e.Reason }

// OverlapError says that two edits of one call would replace the same bytes.
type OverlapError struct {
	First, Second int // the edits, from 0
	Line          int // where they meet, from 1
}

func (e *OverlapError) Error() string {
	if e.First == e.Second {
		return fmt.Sprintf("edit %d overlaps itself on line %d", e.First+1, e.Line)
	}
	return fmt.Sprintf("edits %d and %d overlap on line %d", e.First+1, e.Second+1, e.Line)
}

// TooManyError says that edits would replace more than [MaxReplacements]
// texts.
type TooManyError struct {
	Edit  int // the edit, from 0
	Count int // how often its text occurs
}

func (e *TooManyError) Error() string {
	return fmt.Sprintf("oldText occurs %d times, and one call replaces at most %d texts", e.Count, MaxReplacements)
}

// NotFoundError says that the text of an edit does not occur. It is
// [ErrTextNotFound].
type NotFoundError struct {
	Edit    int      // the edit, from 0
	Nearest *Nearest // the text of the file that is most like it; nil if none is
}

func (e *NotFoundError) Error() string { return ErrTextNotFound.Error() }

// Unwrap returns the kind of the error.
func (e *NotFoundError) Unwrap() error { return ErrTextNotFound }

// NotUniqueError says that the text of an edit occurs more than once. It is
// [ErrTextNotUnique].
type NotUniqueError struct {
	Edit  int   // the edit, from 0
	Count int   // how often its text occurs without overlaps, and 2 if it does so with overlaps only
	Lines []int // where the first occurrences begin, from 1
}

func (e *NotUniqueError) Error() string {
	lines := make([]string, len(e.Lines))
	for i, line := range e.Lines {
		lines[i] = strconv.Itoa(line)
	}
	more := ""
	if e.Count > len(lines) {
		more = " and others"
	}
	return fmt.Sprintf("%v: it occurs %d times, on lines %s%s",
		ErrTextNotUnique, e.Count, strings.Join(lines, ", "), more)
}

// Unwrap returns the kind of the error.
func (e *NotUniqueError) Unwrap() error { return ErrTextNotUnique }
