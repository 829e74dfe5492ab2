package tools

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/workspacekit/workspacekit/internal/charset"
	"github.com/workspacekit/workspacekit/internal/wording"
)

// clip cuts text to at most limit characters, the last of them an ellipsis that says so.
// Bytes decide first, so that a short text is not counted.
func clip(text string, limit int) string {
	if len(text) <= limit || utf8.RuneCountInString(text) <= limit {
		return text
	}
	return text[:wording.RuneOffset(text, limit-1)] + "…"
}

// clipLine cuts a line to at most limit characters and a mark that says how
// many were left out. The line end stays.
//
//	clipLine("one two\r\n", 3)    "one… [cut: 4 more characters]\r\n"
//
// A line of limit characters and its line end is not cut.
func clipLine(line string, limit int) (_ string, cut bool) {
	if len(line) <= limit {
		return line, false
	}
	body := wording.LineBody(line)
	offset := wording.RuneOffset(body, limit)
	if offset == len(body) {
		return line, false
	}
	left := utf8.RuneCountInString(body[offset:])
	return fmt.Sprintf("%s… [cut: %d more characters]%s", body[:offset], left, line[len(body):]), true
}

// isText reports whether data can be shown to a model as text. It can be in any encoding that
// [charset.Decode] knows.
func isText(data []byte) bool {
	_, _, ok := charset.Decode(data)
	return ok
}

// textOf returns the text of data, and data itself if it is not text. It may share the bytes
// of data.
func textOf(data []byte) []byte {
	if text, _, ok := charset.Decode(data); ok {
		return text
	}
	return data
}

// storage is how a file stores its text. Results embed it. A plain file, in UTF-8 with line
// feeds, has the zero storage.
type storage struct {
	Encoding charset.Encoding `json:"encoding,omitempty" jsonschema:"if not UTF-8: UTF-16LE, UTF-16BE, Latin-1 or Windows-1252"`
	BOM      bool             `json:"bom,omitempty" jsonschema:"whether the file begins with a byte order mark"`
	LineEnds string           `json:"lineEnds,omitempty" jsonschema:"if not all LF: CRLF, or CRLF and LF"`
}

// storageOf returns how a file stores text that [charset.Decode] returned.
func storageOf(text []byte, enc charset.Encoding) storage {
	return newStorage(text, enc, lineEnds(text, bytes.Count(text, feed)))
}

// newStorage is [storageOf] for a text whose line ends are known.
func newStorage(text []byte, enc charset.Encoding, ends string) storage {
	s := storage{BOM: bytes.HasPrefix(text, mark)}
	if enc != charset.UTF8 {
		s.Encoding = enc
	}
	if ends != endsLF {
		s.LineEnds = ends
	}
	return s
}

// words returns what is not plain UTF-8 with line feeds. It is for the first line of a text,
// and nil for a plain file.
func (s storage) words() (words []string) {
	if s.Encoding != "" {
		words = append(words, string(s.Encoding))
	}
	if s.BOM {
		words = append(words, "BOM")
	}
	if s.LineEnds != "" {
		words = append(words, s.LineEnds)
	}
	return words
}

var (
	feed = []byte("\n")
	crlf = []byte("\r\n")
	mark = []byte(charset.Mark)
)

// The line ends of a text that has any.
const (
	endsLF    = "LF"
	endsCRLF  = "CRLF"
	endsMixed = "CRLF and LF"
)

// lineEnds returns how the lines of a text with so many line feeds end, and "" if it has
// none. Most texts have no carriage return, which is seen at once. A carriage return without
// a line feed is an ordinary character. text is in UTF-8.
func lineEnds(text []byte, feeds int) string {
	pairs := 0
	if bytes.IndexByte(text, '\r') >= 0 {
		pairs = bytes.Count(text, crlf)
	}
	switch {
	case feeds == 0:
		return ""
	case pairs == 0:
		return endsLF
	case pairs == feeds:
		return endsCRLF
	}
	return endsMixed
}

// withLineEnds returns text with all its line ends as ends says. ends is endsLF or endsCRLF.
// Pairs are made line feeds first, so that none gets a second carriage return.
func withLineEnds(text []byte, ends string) []byte {
	text = bytes.ReplaceAll(text, crlf, feed)
	if ends == endsCRLF {
		text = bytes.ReplaceAll(text, feed, crlf)
	}
	return text
}

// explainCharacter returns what a model is told about a character that the encoding of a file
// does not have, and nil if err is no such error. The file was not written: it would have
// another text than the model meant, or another encoding than it had. other is what the model
// can do besides, as in ", or ...".
func explainCharacter(err error, other string) error {
	var missing *charset.CharacterError
	if !errors.As(err, &missing) {
		return nil
	}
	message := "the file keeps its encoding, and " + missing.Error()
	if path, _ := describe(err); path != "" {
		message = clip(onOneLine(path), pathChars) + ": " + message
	}
	return &argumentError{message: message,
		hint: "Use other characters" + other + ". Nothing was written."}
}
