package s3test

import (
	"bytes"
	"cmp"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	metaPrefix      = "X-Amz-Meta-"
	maxMetadata     = 2 << 10
	defaultMimeType = "binary/octet-stream"
)

// object is what a key holds. It is never changed, only replaced.
type object struct {
	key      string
	data     []byte // nil for a synthetic object, whose bytes are made when read
	size     int64
	etag     string // with its quotes
	modified time.Time
	header   http.Header // that was stored: Content-Type, X-Amz-Meta-...
	checksum checksum

	encryption encryption
}

func newObject(key string, data []byte, modified time.Time, header http.Header, sum checksum) *object {
	return &object{key: key, data: data, size: int64(len(data)), etag: quoted(md5Hex(data)),
		modified: modified, header: header, checksum: sum}
}

func quoted(etag string) string { return `"` + etag + `"` }

// part returns the bytes from first to last, not to be changed.
func (o *object) part(first, last int64) []byte {
	if o.data == nil {
		return bytes.Repeat([]byte{'x'}, int(last+1-first))
	}
	return o.data[first : last+1]
}

// content returns all bytes, not to be changed.
func (o *object) content() []byte { return o.part(0, o.size-1) }

// copyAs returns the object that a copy to key is, with a checksum of that
// algorithm; empty means that of o. Its ETag is that of a plain upload, also
// if o was uploaded in parts.
func (o *object) copyAs(key string, modified time.Time, algorithm string) *object {
	if algorithm == "" {
		algorithm = o.checksum.algorithm
	}
	data := o.content()
	return newObject(key, data, modified, o.header, checksumOf(algorithm, data))
}

// storedHeader returns the headers of the request that are stored with an
// object.
func (c *call) storedHeader() (http.Header, error) {
	header := http.Header{}
	for _, name := range append(storedNames(), storedApart()...) {
		if value := c.header(name); value != "" {
			header.Set(name, value)
		}
	}
	if header.Get("Content-Type") == "" {
		header.Set("Content-Type", defaultMimeType)
	}
	setEncoding(header)
	size := 0
	for name, values := range c.r.Header {
		if strings.HasPrefix(name, metaPrefix) {
			header[name] = []string{strings.Join(values, ",")}
			size += len(name) - len(metaPrefix) + len(header.Get(name))
		}
	}
	if size > maxMetadata {
		return nil, &apiError{status: http.StatusBadRequest, code: "MetadataTooLarge",
			message: "Your metadata headers exceed the maximum allowed metadata size"}
	}
	return header, nil
}

func storedNames() []string {
	return []string{"Cache-Control", "Content-Disposition", "Content-Encoding", "Content-Language", "Content-Type", "Expires"}
}

// tagging is the header with the tags of a new object. An answer has their
// number alone.
const tagging = "X-Amz-Tagging"

// storedApart are the headers that a copy does not take from its source, but for
// the tags.
func storedApart() []string {
	return []string{"X-Amz-Storage-Class", "X-Amz-Website-Redirect-Location", tagging}
}

// setEncoding removes aws-chunked, which is an encoding of the request only.
func setEncoding(header http.Header) {
	kept := slices.DeleteFunc(strings.Split(header.Get("Content-Encoding"), ","), func(coding string) bool {
		return strings.TrimSpace(coding) == "aws-chunked"
	})
	if encoding := strings.TrimSpace(strings.Join(kept, ",")); encoding != "" {
		header.Set("Content-Encoding", encoding)
	} else {
		header.Del("Content-Encoding")
	}
}

// describe returns the headers that describe o.
func (o *object) describe() http.Header {
	header := maps.Clone(o.header)
	if tags := o.tags(); len(tags) > 0 {
		header.Set("X-Amz-Tagging-Count", strconv.Itoa(len(tags)))
	}
	header.Del(tagging)
	if header.Get("X-Amz-Storage-Class") == standard {
		header.Del("X-Amz-Storage-Class")
	}
	maps.Copy(header, o.encryption.header)
	header.Set("ETag", o.etag)
	header.Set("Last-Modified", o.modified.Format(http.TimeFormat))
	header.Set("Accept-Ranges", "bytes")
	return header
}

// standard is the storage class of an object that was given none.
const standard = "STANDARD"

func (o *object) class() string { return cmp.Or(o.header.Get("X-Amz-Storage-Class"), standard) }

func (o *object) tags() url.Values {
	tags, _ := url.ParseQuery(o.header.Get(tagging))
	return tags
}

func (s *Server) getObjectTagging(c *call) (*answer, error) {
	o, err := s.load(c.bucket(), c.key())
	if err != nil {
		return nil, err
	}
	d := newDocument("Tagging")
	d.open("TagSet")
	tags := o.tags()
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		d.open("Tag")
		d.text("Key", key)
		d.text("Value", tags.Get(key))
		d.close("Tag")
	}
	d.close("TagSet")
	return xmlAnswer(d, "Tagging"), nil
}
