// Package term is what the commands share at the terminal: colors, text that is
// safe to show, notes on standard error, the errors of the command line and the
// exit codes.
package term

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	xterm "golang.org/x/term"
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

// NewStyle returns the style for out. color is one of [Colors].
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

// Paint returns text in a color.
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

// Line returns a line of a file, or a part of one, as it is shown.
func (s Style) Line(text string) string {
	if !s.Terminal {
		return text
	}
	return Visible(strings.TrimSuffix(text, "\r"), "\t")
}

// Visible spells out the control characters of text, except those in keep. A
// terminal obeys them, so a file's name could move the cursor.
func Visible(text, keep string) string {
	hostile := func(r rune) bool {
		return r == utf8.RuneError || (unicode.IsControl(r) && !strings.ContainsRune(keep, r)) || isBidi(r)
	}
	if strings.IndexFunc(text, hostile) < 0 {
		return text
	}
	var out strings.Builder
	for i, r := range text {
		switch {
		case !hostile(r):
			out.WriteRune(r)
		case r == utf8.RuneError || r < utf8.RuneSelf:
			fmt.Fprintf(&out, `\x%02x`, text[i])
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return out.String()
}

// isBidi reports whether r changes the direction of the text around it, which
// can make one name look like another.
func isBidi(r rune) bool {
	return r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069
}
