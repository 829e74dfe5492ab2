package config

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/workspacekit/workspacekit/internal/ops"
)

// Problem is one thing that is wrong with a file.
type Problem struct {
	// Line and Column, in characters, say where, from 1 on. Zero means the file
	// as a whole.
	Line   int `json:"line,omitempty"`
	Column int `json:"column,omitempty"`
	// Text says what is wrong, and what to do about it. It has no value that
	// came from the environment.
	Text string `json:"text"`
	// Source is the line as it is in the file, without control characters and
	// what looks like a secret, and cut if it is long; only the first hundred
	// problems have it. Mark is the character of it, from 1 on, that the
	// problem is about.
	Source string `json:"source,omitempty"`
	Mark   int    `json:"mark,omitempty"`
}

// String returns the problem with the line that it is about.
func (p Problem) String() string {
	if p.Source == "" {
		return p.Text
	}
	number := fmt.Sprintf("%5d", p.Line)
	return fmt.Sprintf("%s\n%s | %s\n%s | %s^", p.Text, number, p.Source,
		strings.Repeat(" ", len(number)), strings.Repeat(" ", max(p.Mark-1, 0)))
}

// Error is all that is wrong with a file.
type Error struct {
	// File is the name of the file.
	File string `json:"file"`
	// Problems are in the order of their places. There is at least one.
	Problems []Problem `json:"problems"`
	// cause is what the only problem comes from, nil if it is the file itself.
	cause error
}

// maxShown is how many problems the text of an [Error] shows, and have their
// lines.
const maxShown = 100

// Error implements the error interface. Each problem begins with "FILE:LINE:COLUMN:".
func (e *Error) Error() string {
	shown := e.Problems[:min(len(e.Problems), maxShown)]
	texts := make([]string, len(shown))
	for i, p := range shown {
		place := e.File
		if p.Line > 0 {
			place = fmt.Sprintf("%s:%d:%d", e.File, p.Line, p.Column)
		}
		texts[i] = place + ": " + p.String()
	}
	if more := len(e.Problems) - len(shown); more > 0 {
		texts = append(texts, fmt.Sprintf("%s: and %d more problems", e.File, more))
	}
	return strings.Join(texts, "\n")
}

// Is reports whether the problem comes from target: of an error that opening a
// workspace returned, its kinds can be asked for, but not its text, which may
// show what came from the environment.
func (e *Error) Is(target error) bool { return e.cause != nil && is(e.cause, target) }

// Remedy returns what a person can do about the error of a provider that the
// problem comes from, and "" if that is not known.
func (e *Error) Remedy() string { return ops.RemedyOf(e.cause) }

// problems collects what is wrong with one file.
type problems struct {
	file  string
	lines []string
	found []placed
}

// placed is a problem and its place.
type placed struct {
	at   position
	text string
}

// add adds a problem.
func (p *problems) add(at position, format string, args ...any) {
	p.found = append(p.found, placed{at, fmt.Sprintf(format, args...)})
}

// err returns what has been added, nil if that is nothing.
func (p *problems) err() error {
	if len(p.found) == 0 {
		return nil
	}
	slices.SortStableFunc(p.found, func(a, b placed) int {
		switch {
		case a.at.before(b.at):
			return -1
		case b.at.before(a.at):
			return 1
		}
		return 0
	})
	e := &Error{File: p.file}
	for i, found := range p.found {
		problem := Problem{Line: found.at.line, Column: found.at.column, Text: printable(found.text)}
		if line := found.at.line; i < maxShown && line > 0 && line <= len(p.lines) {
			problem.Source, problem.Mark = excerpt(maskSecrets(p.lines[line-1]), found.at.column)
		}
		e.Problems = append(e.Problems, problem)
	}
	return e
}

// The most characters of a line that are shown, and of those the ones before
// the place.
const (
	maxExcerpt = 120
	maxBefore  = 60
)

// excerpt returns what is shown of a line, and where in that the column is.
func excerpt(line string, column int) (text string, mark int) {
	runes := []rune(strings.TrimRight(line, "\r"))
	column = min(max(column, 1), len(runes)+1)
	if start := column - 1 - maxBefore; len(runes) > maxExcerpt && start > 0 {
		runes, column = runes[start:], column-start
	}
	runes = runes[:min(len(runes), maxExcerpt)]
	return printable(string(runes)), column
}

// printable returns text with a space for each character that would not be
// shown, or would do something to a terminal.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, text)
}
