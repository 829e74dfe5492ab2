package main

import (
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/workspacekit/workspacekit/workspace"
)

// look is how output looks: plain, or made for a person at a terminal.
type look struct {
	terminal bool // the output is a terminal
	color    bool
}

// The colors, as terminals number them.
const (
	noColor = ""
	red     = "31"
	green   = "32"
	yellow  = "33"
	magenta = "35"
	cyan    = "36"
	bold    = "1"
	boldRed = "1;31"
	blue    = "1;34"
)

// look returns how to print to out.
func (s *settings) look(out io.Writer) look {
	l := look{terminal: isTerminal(out)}
	switch {
	case s.noColor, s.color == "never":
	case s.color == "always":
		l.color = true
	default:
		l.color = l.terminal && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	}
	return l
}

func isTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

func (l look) paint(color, text string) string {
	if !l.color || color == noColor || text == "" {
		return text
	}
	return "\x1b[" + color + "m" + text + "\x1b[0m"
}

// name returns a name from the workspace as it is shown. What is piped into a
// program stays as it is.
func (l look) name(text string) string {
	if !l.terminal {
		return text
	}
	return visible(text, "")
}

// line returns a line of a file, or a part of one, as it is shown.
func (l look) line(text string) string {
	if !l.terminal {
		return text
	}
	return visible(strings.TrimSuffix(text, "\r"), "\t")
}

// verb returns what happened in a watch.
func (l look) verb(op workspace.EventOp) string {
	switch op {
	case workspace.EventCreate:
		return l.paint(green, string(op))
	case workspace.EventRemove:
		return l.paint(red, string(op))
	}
	return l.paint(yellow, string(op))
}
