package listing

import (
	"bytes"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/workspacekit/workspacekit/providers/objectstore/internal/object"
)

// MaxDocument is more bytes than 1,000 of the longest keys take.
const MaxDocument = 64 << 20

// errDocument says that a document is not one of the simple form that every
// store sends: elements, attributes, text and references to characters.
var errDocument = errors.New("the listing is not a simple XML document")

// ErrOrder says that a page begins before the end of the one before.
var ErrOrder = errors.New("the keys are not in order")

// Decode reads the document that answers q. It is ours because it does what
// encoding/xml would, in a tenth of the time, which is most of the time of a
// listing from a near store; and it accepts references to control characters,
// which XML forbids and stores send for keys that have them.
//
// # Errors
//
// ErrOrder, or that the document is not the answer to q: it is damaged, it does
// not say whether it is all, or it has keys that q does not ask for.
func Decode(document []byte, q Query) (Page, error) {
	result, err := decodeList(document)
	if err != nil {
		return Page{}, err
	}
	p, err := result.page()
	p.prefix = q.Prefix
	if err == nil && !p.answers(q) {
		err = errDocument
		if q.Token != "" && slices.ContainsFunc(append(p.Keys(), p.Prefixes...), q.precedes) {
			err = ErrOrder
		}
	}
	if err != nil {
		return Page{}, err
	}
	return p, nil
}

// answers reports whether p can be the answer to q: every key begins with the
// prefix, none comes before q.After, every file has an ETag, and the next page is
// another one.
func (p Page) answers(q Query) bool {
	for _, o := range p.Objects {
		isMarker := strings.HasSuffix(o.Key, "/")
		if !q.includes(o.Key) || o.Size < 0 || o.Size > object.MaxSize || !isMarker && o.Version() == "" {
			return false
		}
	}
	for _, prefix := range p.Prefixes {
		if !q.includes(prefix) && !q.isIn(prefix) || len(prefix) <= len(q.Prefix) {
			return false
		}
	}
	return p.Token == "" || p.Token != q.Token && p.advances(q)
}

// includes reports whether key can be in the answer to q. One that repeats q.After itself
// does no harm, if the pages advance.
func (q Query) includes(key string) bool {
	return strings.HasPrefix(key, q.Prefix) && !q.precedes(key)
}

// precedes reports whether key comes before q.After.
func (q Query) precedes(key string) bool { return key < q.After && !Misspelt(key) }

// isIn reports whether a listing begins after a key in the directory prefix, which is then its
// first answer.
func (q Query) isIn(prefix string) bool {
	return q.Token == "" && strings.HasSuffix(prefix, "/") && strings.HasPrefix(q.After, prefix)
}

// maxStill is how many pages in a row may have nothing that tells whether they advance.
const maxStill = 2000

// advances reports whether p ends after q.After, so that the pages come to an end. One
// in which there is nothing to tell by may be followed by more.
func (p Page) advances(q Query) bool {
	last := p.Last()
	return last == "" && q.still < maxStill || last > q.After || q.isIn(last)
}

// listResult is the part of the XML document that matters
// (https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html).
type listResult struct {
	ends      bool // it says whether it is truncated
	truncated bool
	token     string
	encoding  string
	objects   []object.Object
	prefixes  []string
}

// encodedAsURL is the encoding of keys that this package asks for.
const encodedAsURL = "url"

// page returns the keys and prefixes as they are in the store. Some stores do
// not encode them, whatever they are asked for, and do not say that they did.
func (r listResult) page() (p Page, err error) {
	p = Page{Objects: r.objects, Prefixes: r.prefixes, Token: r.token}
	switch {
	case !r.ends: // it would be the last page by silence
		return Page{}, errDocument
	case !r.truncated:
		p.Token = ""
	case p.Token == "":
		return Page{}, errDocument
	}
	if r.encoding != encodedAsURL {
		return p, nil
	}
	for i := range p.Objects {
		if p.Objects[i].Key, err = url.QueryUnescape(p.Objects[i].Key); err != nil {
			return Page{}, err
		}
	}
	for i := range p.Prefixes {
		if p.Prefixes[i], err = url.QueryUnescape(p.Prefixes[i]); err != nil {
			return Page{}, err
		}
	}
	return p, nil
}

// decodeList reads a listing as the store spells it.
func decodeList(document []byte) (listResult, error) {
	d := listDecoder{rest: document}
	for {
		done, err := d.next()
		if done || err != nil {
			return d.result, err
		}
	}
}

// maxDepth is how deep the elements of a listing lie in each other, at most.
const maxDepth = 8

// listDecoder is at the beginning of rest, inside the elements of open.
type listDecoder struct {
	rest   []byte
	open   []string
	begun  bool // the outermost element
	object object.Object
	result listResult
}

// next reads the text up to the next tag, and the tag. It returns true at the
// end.
func (d *listDecoder) next() (done bool, err error) {
	start := bytes.IndexByte(d.rest, '<')
	if start < 0 {
		if len(d.open) > 0 || !d.begun || len(bytes.TrimSpace(d.rest)) > 0 {
			return false, errDocument
		}
		return true, nil
	}
	text := d.rest[:start]
	end := bytes.IndexByte(d.rest[start:], '>')
	if end < 0 {
		return false, errDocument
	}
	tag := d.rest[start+1 : start+end]
	d.rest = d.rest[start+end+1:]
	switch {
	case len(tag) == 0:
		return false, errDocument
	case tag[0] == '?':
		return false, nil
	case tag[0] == '!':
		return false, errDocument
	case tag[0] == '/':
		return false, d.end(string(tag[1:]), text)
	}
	return false, d.begin(tag)
}

func (d *listDecoder) begin(tag []byte) error {
	tag, empty := bytes.CutSuffix(tag, []byte("/"))
	name := tag
	if space := bytes.IndexAny(tag, " \t\r\n"); space >= 0 {
		name = tag[:space]
	}
	outermost := len(d.open) == 0
	switch {
	case outermost && (d.begun || string(name) != "ListBucketResult"),
		bytes.Count(tag, []byte(`"`))%2 == 1, len(d.open) == maxDepth:
		return errDocument
	}
	d.begun = true
	d.open = append(d.open, string(name))
	if empty {
		return d.end(string(name), nil)
	}
	return nil
}

func (d *listDecoder) end(name string, text []byte) error {
	last := len(d.open) - 1
	if last < 0 || d.open[last] != strings.TrimRight(name, " \t\r\n") {
		return errDocument
	}
	var err error
	switch parent := d.parent(); {
	case len(d.open) == 2:
		err = d.listEntry(name, text)
	case parent == "Contents":
		err = d.objectEntry(name, text)
	case parent == "CommonPrefixes" && name == "Prefix":
		var prefix string
		prefix, err = decodeText(text)
		d.result.prefixes = append(d.result.prefixes, prefix)
	}
	d.open = d.open[:last]
	return err
}

// parent returns the element that the last one of the list itself lies in.
func (d *listDecoder) parent() string {
	if len(d.open) != 3 {
		return ""
	}
	return d.open[1]
}

func (d *listDecoder) listEntry(name string, text []byte) (err error) {
	switch name {
	case "Contents":
		d.result.objects = append(d.result.objects, d.object)
		d.object = object.Object{}
	case "IsTruncated":
		d.result.ends = true
		d.result.truncated, err = strconv.ParseBool(string(bytes.TrimSpace(text)))
	case "NextContinuationToken":
		d.result.token, err = decodeText(text)
	case "EncodingType":
		d.result.encoding, err = decodeText(text)
	}
	return err
}

func (d *listDecoder) objectEntry(name string, text []byte) (err error) {
	switch name {
	case "Key":
		d.object.Key, err = decodeText(text)
	case "ETag":
		d.object.ETag, err = decodeText(text)
	case "Size":
		d.object.Size, err = strconv.ParseInt(string(text), 10, 64)
	case "StorageClass":
		d.object.Class, err = decodeText(text)
	case "LastModified":
		d.object.Modified, err = time.Parse(time.RFC3339Nano, string(text))
	}
	return err
}

// decodeText replaces the references to characters in text.
func decodeText(text []byte) (string, error) {
	if bytes.IndexByte(text, '&') < 0 {
		return string(text), nil
	}
	var b strings.Builder
	for {
		before, reference, found := bytes.Cut(text, []byte("&"))
		b.Write(before)
		if !found {
			return b.String(), nil
		}
		name, after, found := bytes.Cut(reference, []byte(";"))
		r, ok := character(string(name))
		if !found || !ok {
			return "", errDocument
		}
		b.WriteRune(r)
		text = after
	}
}

// character returns the character that "&name;" refers to.
func character(name string) (rune, bool) {
	switch name {
	case "amp":
		return '&', true
	case "lt":
		return '<', true
	case "gt":
		return '>', true
	case "quot":
		return '"', true
	case "apos":
		return '\'', true
	}
	digits, base := strings.TrimPrefix(name, "#"), 10
	if hex, ok := strings.CutPrefix(digits, "x"); ok {
		digits, base = hex, 16
	}
	code, err := strconv.ParseUint(digits, base, 32)
	if err != nil || digits == name || !utf8.ValidRune(rune(code)) {
		return 0, false
	}
	return rune(code), true
}
