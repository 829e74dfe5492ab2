package s3test

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// answer is a response, whole, before any of it is sent. It is whole so that a
// fault can cut it, edit it or lie about its length. In the answer to a HEAD,
// size is what Content-Length says.
type answer struct {
	status int
	header http.Header
	body   []byte
	size   int64  // what a HEAD says is the length; the body is empty then
	length *int64 // what a fault makes of the length, negative for none; nil if there is no such fault
}

// plain is an answer without a body.
func plain(status int) *answer { return &answer{status: status, header: http.Header{}} }

// xmlAnswer ends d with its root element and answers with it. The answer shares
// the buffer of d, which must not be written to any more.
func xmlAnswer(d *document, root string) *answer {
	d.close(root)
	a := plain(http.StatusOK)
	a.header.Set("Content-Type", "application/xml")
	a.body = d.Bytes()
	return a
}

// apiError is an answer that says no.
type apiError struct {
	status  int    // of HTTP
	code    string // of S3, such as NoSuchKey
	message string
	detail  []field     // more elements of the XML
	header  http.Header // more headers
}

// field is an element of XML, or a header.
type field struct{ name, value string }

// Error implements error.
func (e *apiError) Error() string { return fmt.Sprintf("%d %s: %s", e.status, e.code, e.message) }

// with returns e with one more element. It changes e, so e must be new.
func (e *apiError) with(name, value string) *apiError {
	e.detail = append(e.detail, field{name, value})
	return e
}

// accessDenied is the error of credentials without the right.
func accessDenied(message string) *apiError {
	return &apiError{status: http.StatusForbidden, code: "AccessDenied", message: message}
}

// badDigest is the error of content that does not have the sum that the
// request says.
func badDigest(message string) *apiError {
	return &apiError{status: http.StatusBadRequest, code: "BadDigest", message: message}
}

// invalidArgument is the error of a header or a parameter with a wrong value.
func invalidArgument(message, name, value string) *apiError {
	e := &apiError{status: http.StatusBadRequest, code: "InvalidArgument", message: message}
	return e.with("ArgumentName", name).with("ArgumentValue", value)
}

// invalidRequest is the error of a request that contradicts itself.
func invalidRequest(message string) *apiError {
	return &apiError{status: http.StatusBadRequest, code: "InvalidRequest", message: message}
}

// malformedXML is the error of a body that is not the document that the
// operation needs.
func malformedXML() *apiError {
	return &apiError{status: http.StatusBadRequest, code: "MalformedXML",
		message: "The XML you provided was not well-formed or did not validate against our published schema"}
}

// noSuchKey is the error of a missing object.
func noSuchKey(key string) *apiError {
	e := &apiError{status: http.StatusNotFound, code: "NoSuchKey", message: "The specified key does not exist."}
	return e.with("Key", key)
}

// notImplemented is the error of everything that the server lacks, so that a
// test does not pass by accident.
func notImplemented(header string) *apiError {
	e := &apiError{status: http.StatusNotImplemented, code: "NotImplemented",
		message: "A header you provided implies functionality that is not implemented"}
	return e.with("Header", header)
}

// preconditionFailed is the error of a condition that does not hold.
func preconditionFailed(condition string) *apiError {
	e := &apiError{status: http.StatusPreconditionFailed, code: "PreconditionFailed",
		message: "At least one of the pre-conditions you specified did not hold"}
	return e.with("Condition", condition)
}

// namespace is the one of all documents of S3.
const namespace = "http://s3.amazonaws.com/doc/2006-03-01/"

// timeFormat is how S3 writes times in XML.
const timeFormat = "2006-01-02T15:04:05.000Z"

// document is XML under construction. It is written by hand because a listing
// of a thousand keys should cost microseconds, and because encoding/xml
// replaces the control characters that S3 sends as references. The caller
// closes what it opens: nothing checks that the elements match.
type document struct{ bytes.Buffer }

// newDocument begins a document whose root element is root.
func newDocument(root string) *document {
	d := &document{}
	d.WriteString(`<?xml version="1.0" encoding="UTF-8"?>` + "\n<" + root + ` xmlns="` + namespace + `">`)
	return d
}

// open begins an element.
func (d *document) open(name string) { d.WriteString("<" + name + ">") }

// close ends an element.
func (d *document) close(name string) { d.WriteString("</" + name + ">") }

// text adds an element with a text.
func (d *document) text(name, value string) {
	d.open(name)
	d.escape(value)
	d.close(name)
}

// number adds an element with a number.
func (d *document) number(name string, value int64) {
	d.open(name)
	d.Write(strconv.AppendInt(d.AvailableBuffer(), value, 10))
	d.close(name)
}

// truth adds an element with true or false.
func (d *document) truth(name string, value bool) { d.text(name, strconv.FormatBool(value)) }

// time adds an element with a time, to the millisecond as S3 has it.
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
// lists such keys has to ask for encoding-type=url. Bytes above ASCII are
// copied: a key is valid UTF-8, see [call.address].
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

// reference returns a byte as XML spells it in a text, and "" for one that stands
// for itself.
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

// urlEncoded is how S3 writes a key if encoding-type is url: a form value whose
// slashes stay as they are. An example:
//
//	dir/a b~c+d  ->  dir/a+b%7Ec%2Bd
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

// unreserved reports whether a byte of a URL need not be escaped.
func unreserved(c byte) bool {
	return c < utf8.RuneSelf && (c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' ||
		strings.IndexByte("-._~", c) >= 0)
}
