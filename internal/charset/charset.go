// Package charset decodes text that is not stored as UTF-8, and encodes it again.
// In go the bytes of a file; out come its text in UTF-8 and its [Encoding], which
// makes the same bytes of the same text. A byte order mark is the first character
// of the text. [Decode] refuses what would not come back byte for byte, so a part of
// the text can be replaced and the bytes of the rest stay. [PlainRune] is for texts that
// differ in their typography only.
package charset

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	utf16 "golang.org/x/text/encoding/unicode"
)

// Encoding is how a file stores text.
type Encoding string

// The encodings.
const (
	UTF8        Encoding = "UTF-8"
	UTF16LE     Encoding = "UTF-16LE"
	UTF16BE     Encoding = "UTF-16BE"
	Latin1      Encoding = "Latin-1"
	Windows1252 Encoding = "Windows-1252"
)

// codecs convert the encodings other than UTF8. To them a byte order mark is a
// character.
var codecs = map[Encoding]encoding.Encoding{
	UTF16LE:     utf16.UTF16(utf16.LittleEndian, utf16.IgnoreBOM),
	UTF16BE:     utf16.UTF16(utf16.BigEndian, utf16.IgnoreBOM),
	Latin1:      charmap.ISO8859_1,
	Windows1252: charmap.Windows1252,
}

// Mark is a byte order mark in the text that [Decode] returns.
const Mark = "\uFEFF"

// sniffed is how much of a file is looked at for a NUL byte, as in a search.
const sniffed = 8 << 10

// HasNUL reports whether data is binary by the rule of the contract: a NUL byte in
// the first 8 KiB.
func HasNUL(data []byte) bool {
	return bytes.IndexByte(data[:min(len(data), sniffed)], 0) >= 0
}

// Decode returns the text that data holds, in UTF-8, and its encoding. ok is false
// if data is not text.
//
// Text is, in this order: UTF-8 without a NUL byte in the first 8 KiB, which is
// returned as it is; UTF-16 after a byte order mark; UTF-16 without one if half of
// the characters or more are ASCII; and Windows-1252, or Latin-1 if the bytes 0x80
// to 0x9f are missing, if few of the letters are outside ASCII. The last two have no
// control characters but tab, line feed, form feed and carriage return.
func Decode(data []byte) (text []byte, enc Encoding, ok bool) {
	if !HasNUL(data) && utf8.Valid(data) {
		return data, UTF8, true
	}
	enc, sure := guess(data)
	if enc == "" {
		return nil, "", false
	}
	text, err := codecs[enc].NewDecoder().Bytes(data)
	if err != nil || bytes.IndexByte(text, 0) >= 0 || !sure && bytes.IndexFunc(text, unprintable) >= 0 {
		return nil, "", false
	}
	// An odd byte, or half of a surrogate pair, would not come back.
	again, err := enc.Encode(text)
	if err != nil || !bytes.Equal(again, data) {
		return nil, "", false
	}
	return text, enc, true
}

func unprintable(r rune) bool { return unicode.IsControl(r) && !strings.ContainsRune("\t\n\f\r", r) }

// guess returns the encoding that data, which is not UTF-8, could have, and "" if it
// is binary. sure says that data names it itself.
func guess(data []byte) (enc Encoding, sure bool) {
	switch {
	case bytes.HasPrefix(data, []byte{0xff, 0xfe}):
		return UTF16LE, true
	case bytes.HasPrefix(data, []byte{0xfe, 0xff}):
		return UTF16BE, true
	case bytes.IndexByte(data, 0) >= 0:
		return unmarked(data), false
	case !western(data):
		return "", false
	case slices.ContainsFunc(data, func(b byte) bool { return b >= 0x80 && b < 0xa0 }):
		return Windows1252, false
	}
	return Latin1, false
}

// unmarkedMin is how many characters UTF-16 has at least that has no mark.
const unmarkedMin = 4

// unmarked returns the byte order of UTF-16 without a mark, "" if that is not plain.
// ASCII has a NUL byte as every second one: "a" is 61 00 in UTF-16LE, 00 61 in
// UTF-16BE.
func unmarked(data []byte) Encoding {
	var zeros [2]int // at even and at odd offsets
	for i, b := range data {
		if b == 0 {
			zeros[i%2]++
		}
	}
	switch enough := max(len(data)/4, unmarkedMin/2); {
	case len(data)%2 != 0 || len(data) < 2*unmarkedMin:
		return ""
	case zeros[0] == 0 && zeros[1] >= enough:
		return UTF16LE
	case zeros[1] == 0 && zeros[0] >= enough:
		return UTF16BE
	}
	return ""
}

// longRun is from where on letters outside ASCII in a row are rather words of
// another alphabet.
const longRun = 5

// western reports whether the bytes outside ASCII in data are like the letters with
// accents of Western languages: no more than the others, and mostly neither many in a
// row nor, as in a damaged file, UTF-8.
func western(data []byte) bool {
	high, foreign, run := 0, 0, 0
	for rest := data; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		rest = rest[size:]
		if r < utf8.RuneSelf {
			run = 0
			continue
		}
		high += size
		run += size
		switch {
		case size > 1:
			foreign += size
		case run == longRun:
			foreign += longRun
		case run > longRun:
			foreign++
		}
	}
	return 2*high <= len(data) && 2*foreign <= high
}

// Encode returns text, in UTF-8, as the encoding stores it. For UTF8 that is text
// itself, whatever it is.
//
// # Errors
//
// A [*CharacterError].
func (e Encoding) Encode(text []byte) ([]byte, error) {
	if e == UTF8 {
		return text, nil
	}
	data, err := codecs[e].NewEncoder().Bytes(text)
	if err != nil {
		return nil, e.missing(text)
	}
	return data, nil
}

// CharacterError is a character that an encoding does not have.
type CharacterError struct {
	Encoding  Encoding // empty if it is not known; then every character outside ASCII is missing
	Character rune
	Line      int // of the text, from 1; 0 if Encoding is empty
}

// Error implements error.
func (e *CharacterError) Error() string {
	if e.Encoding == "" {
		return fmt.Sprintf("only ASCII can be added to a file of unknown encoding, and %q is not", e.Character)
	}
	return fmt.Sprintf("%s has no character %q (line %d)", e.Encoding, e.Character, e.Line)
}

// missing returns the error of the first character in text that e does not have.
func (e Encoding) missing(text []byte) error {
	table, _ := codecs[e].(*charmap.Charmap) // UTF-16 has every character
	at := bytes.IndexFunc(text, func(r rune) bool {
		_, ok := table.EncodeRune(r)
		return !ok
	})
	r, _ := utf8.DecodeRune(text[at:])
	return &CharacterError{e, r, bytes.Count(text[:at], []byte("\n")) + 1}
}
