package s3test

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

const namespace = "http://s3.amazonaws.com/doc/2006-03-01/"

// timeFormat is how S3 writes times in XML.
const timeFormat = "2006-01-02T15:04:05.000Z"

// document is XML under construction. It is written by hand because a listing
// of a thousand keys should cost microseconds, and because encoding/xml
// replaces the control characters that S3 sends as references.
type document struct{ bytes.Buffer }

// newDocument begins a document whose root element is root.
func newDocument(root string) *document {
	d := &document{}
	d.WriteString(`<?xml version="1.0" encoding="UTF-8"?>` + "\n<" + root + ` xmlns="` + namespace + `">`)
	return d
}

func (d *document) open(name string)  { d.WriteString("<" + name + ">") }
func (d *document) close(name string) { d.WriteString("</" + name + ">") }

func (d *document) text(name, value string) {
	d.open(name)
	d.escape(value)
	d.close(name)
}

// optional writes the element unless it would be empty.
func (d *document) optional(name, value string) {
	if value != "" {
		d.text(name, value)
	}
}

func (d *document) number(name string, value int64) {
	d.open(name)
	d.Write(strconv.AppendInt(d.AvailableBuffer(), value, 10))
	d.close(name)
}

func (d *document) truth(name string, value bool) { d.text(name, strconv.FormatBool(value)) }

func (d *document) time(name string, value time.Time) {
	d.open(name)
	d.Write(value.UTC().AppendFormat(d.AvailableBuffer(), timeFormat))
	d.close(name)
}

// owner writes the only owner there is.
func (d *document) owner(name string) {
	d.open(name)
	d.text("ID", strings.Repeat("75aa57f09aa0c8ca", 4))
	d.close(name)
}

// escape writes value as text. Control characters become references, as S3
// writes them, though XML 1.0 has no place for most of them: a client that
// lists such keys has to ask for encoding-type=url.
func (d *document) escape(value string) {
	plain := 0
	for i := 0; i < len(value); i++ {
		replacement := reference(value[i])
		if replacement == "" {
			continue
		}
		d.WriteString(value[plain:i])
		d.WriteString(replacement)
		plain = i + 1
	}
	d.WriteString(value[plain:])
}

func reference(c byte) string {
	switch {
	case c == '&':
		return "&amp;"
	case c == '<':
		return "&lt;"
	case c == '>':
		return "&gt;"
	case c == '"':
		return "&quot;"
	case c < ' ':
		return fmt.Sprintf("&#x%x;", c)
	}
	return ""
}

// urlEncoded is how S3 writes a key if encoding-type is url: a form value
// whose slashes stay as they are.
func urlEncoded(value string) string {
	var b strings.Builder
	for i := 0; i < len(value); i++ {
		switch c := value[i]; {
		case c == ' ':
			b.WriteByte('+')
		case c == '/' || c == '*' || unreserved(c) && c != '~':
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

func unreserved(c byte) bool {
	return c < utf8.RuneSelf && (c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' ||
		strings.IndexByte("-._~", c) >= 0)
}
