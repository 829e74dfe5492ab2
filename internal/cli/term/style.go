// Package term is what the commands share at the terminal: colors, text that is
// safe to show, notes on standard error, the errors of the command line and the
// exit codes.
package term

import (
	"io"
	"os"
	"strings"

	xterm "golang.org/x/term"

	"github.com/workspacekit/workspacekit/internal/wording"
)

// Style is how output looks: plain, or for a person at a terminal.
type Style struct {
	Terminal bool // the output is a terminal
	Color    bool
}

// The colors, as terminals number them.
const (
	NoColor = ""
	Red     = "31"
	Green   = "32"
	Yellow  = "33"
	Magenta = "35"
	Cyan    = "36"
	Bold    = "1"
	BoldRed = "1;31"
	Blue    = "1;34"
)

// Colors are the values of the flag --color.
var Colors = []string{"auto", "always", "never"}

// NewStyle returns the style for out. color is one of [Colors]. With auto, the variables
// NO_COLOR and TERM=dumb turn colors off.
func NewStyle(out io.Writer, color string) Style {
	s := Style{Terminal: IsTerminal(out)}
	switch color {
	case "never":
	case "always":
		s.Color = true
	default:
		s.Color = s.Terminal && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	}
	return s
}

// IsTerminal reports whether a stream is a terminal.
func IsTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && xterm.IsTerminal(int(file.Fd()))
}

// Paint returns text in a color. The text must not end the color itself: make it visible
// first.
func (s Style) Paint(color, text string) string {
	if !s.Color || color == NoColor || text == "" {
		return text
	}
	return "\x1b[" + color + "m" + text + "\x1b[0m"
}

// Name returns a name from the workspace as it is shown. A program that reads
// the output gets the name unchanged.
func (s Style) Name(text string) string {
	if !s.Terminal {
		return text
	}
	return Visible(text, "")
}

// Line returns a line of a file, or a part of one, as it is shown. At a terminal, control
// characters are spelled out, except for tabs.
func (s Style) Line(text string) string {
	if !s.Terminal {
		return text
	}
	return Visible(strings.TrimSuffix(text, "\r"), "\t")
}

// Visible is [wording.Visible].
func Visible(text, keep string) string { return wording.Visible(text, keep) }
