package config

import (
	"errors"
	"fmt"
	"strings"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace/config/internal/document"
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

// Error implements the error interface. Each problem begins with "FILE:LINE:COLUMN:", one
// about the file as a whole with "FILE:".
func (e *Error) Error() string {
	shown := e.Problems[:min(len(e.Problems), document.MaxShown)]
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

// is is [errors.Is], for a method that is called Is.
func is(err, target error) bool { return errors.Is(err, target) }

// diagnostics collects what is wrong with one file.
type diagnostics struct {
	file string
	document.Diagnostics
}

// decoder returns what decodes nodes of the file.
func (d *diagnostics) decoder() document.Decoder {
	return document.Decoder{Diagnostics: &d.Diagnostics, Words: words}
}

// err returns what has been added, nil if that is nothing.
func (d *diagnostics) err() error {
	if d.Len() == 0 {
		return nil
	}
	e := &Error{File: d.file}
	for _, found := range d.Sorted() {
		e.Problems = append(e.Problems, Problem(found))
	}
	return e
}
