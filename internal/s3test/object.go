package s3test

import (
	"bytes"
	"crypto/md5"
	"encoding/base64"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

const (
	metaPrefix      = "X-Amz-Meta-"
	maxMetadata     = 2 << 10
	defaultMimeType = "binary/octet-stream"
)

// object is what a key holds. It is never changed, only replaced. So a pointer
// to it may be used without the lock of the server.
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

// newObject returns an object with the sum of its content as its ETag.
func newObject(key string, data []byte, modified time.Time, header http.Header, sum checksum) *object {
	return &object{key: key, data: data, size: int64(len(data)), etag: quoted(md5Hex(data)),
		modified: modified, header: header, checksum: sum}
}

// quoted returns an ETag as HTTP spells it.
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

// storedHeader returns the headers of the request that are stored with an
// object. The limit for x-amz-meta- headers counts values, and names without
// the prefix. Several headers of one name become one value.
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

// storedNames returns the headers that an object keeps.
func storedNames() []string {
	return []string{"Cache-Control", "Content-Disposition", "Content-Encoding", "Content-Language", "Content-Type", "Expires"}
}

// tagging is the header with the tags of a new object. An answer has their
// number alone.
const tagging = "X-Amz-Tagging"

// storedApart are the headers that a copy does not take from its source with the
// metadata.
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

// standard is the storage class of an object that was given none.
const standard = "STANDARD"

// tags returns the tags of an object.
func (o *object) tags() url.Values {
	tags, _ := url.ParseQuery(o.header.Get(tagging))
	return tags
}

// getObjectTagging answers GetObjectTagging.
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

// matches reports whether an ETag that a request names is that of o. Quotes are
// optional, and "*" is every object.
func (o *object) matches(etag string) bool {
	return etag == "*" || strings.Trim(etag, `"`) == strings.Trim(o.etag, `"`)
}

// unmet is a condition that does not hold.
type unmet struct {
	name        string
	notModified bool // a GET is answered that nothing has changed
}

// checkRead tests the conditions about o in the headers that begin with prefix.
// A condition on the ETag outdoes the one on the time beside it, and a time
// that is still to come is none. This is the order of RFC 9110, section 13.2.2.
// The result is the first condition that does not hold, or nil.
func (c *call) checkRead(o *object, prefix string, now time.Time) *unmet {
	value := func(name string) string { return c.header(prefix + name) }
	if match := value("If-Match"); match != "" {
		if !o.matches(match) {
			return &unmet{name: "If-Match"}
		}
	} else if t, err := http.ParseTime(value("If-Unmodified-Since")); err == nil && o.modified.After(t) {
		return &unmet{name: "If-Unmodified-Since"}
	}
	if noneMatch := value("If-None-Match"); noneMatch != "" {
		if o.matches(noneMatch) {
			return &unmet{name: "If-None-Match", notModified: true}
		}
	} else if t, err := http.ParseTime(value("If-Modified-Since")); err == nil && !o.modified.After(t) && !t.After(now) {
		return &unmet{name: "If-Modified-Since", notModified: true}
	}
	return nil
}

// checkWrite tests the conditions on what the key holds, nil for nothing,
// before it is written. The caller holds the lock until it has written, or two
// writers could both pass. S3 knows If-None-Match with "*" only, which means
// "create"; If-Match on a missing key is a 404, not a 412.
func (s *Server) checkWrite(c *call, held *object, ignore bool) error {
	match, noneMatch := c.header("If-Match"), c.header("If-None-Match")
	switch {
	case s.opts.IgnoreConditions || ignore:
		return nil
	case s.opts.RefuseConditions && match != "":
		return notImplemented("If-Match")
	case s.opts.RefuseConditions && noneMatch != "", noneMatch != "" && noneMatch != "*", match != "" && noneMatch != "":
		return notImplemented("If-None-Match")
	case noneMatch != "" && held != nil:
		return preconditionFailed("If-None-Match")
	case match != "" && held == nil:
		return noSuchKey(c.key())
	case match != "" && !held.matches(match):
		return preconditionFailed("If-Match")
	}
	return nil
}

const (
	encryptionHeader = "X-Amz-Server-Side-Encryption"
	customerHeader   = encryptionHeader + "-Customer-"
	sourceHeader     = "X-Amz-Copy-Source-Server-Side-Encryption-Customer-"
)

// encryption is what a client sees of how an object is encrypted. The server
// keeps the content as it is.
type encryption struct {
	header   http.Header // of the answers about the object
	customer string      // the MD5 sum of the customer's key; empty for none
}

// hidesSum reports whether the ETag is not the MD5 sum of the content.
func (e encryption) hidesSum() bool {
	return e.customer != "" || e.header.Get(encryptionHeader) == "aws:kms"
}

// encryption returns how the request asks for an object to be encrypted.
func (c *call) encryption() (encryption, error) {
	customer, err := c.customerKey(customerHeader)
	if err != nil {
		return encryption{}, err
	}
	e := encryption{header: http.Header{}, customer: customer}
	if customer != "" {
		e.header.Set(customerHeader+"Algorithm", "AES256")
		e.header.Set(customerHeader+"Key-Md5", customer)
	}
	for _, name := range []string{"", "-Aws-Kms-Key-Id", "-Bucket-Key-Enabled"} {
		if value := c.header(encryptionHeader + name); value != "" {
			e.header.Set(encryptionHeader+name, value)
		}
	}
	if algorithm := e.header.Get(encryptionHeader); algorithm != "" && algorithm != "AES256" && algorithm != "aws:kms" {
		return encryption{}, invalidArgument("The encryption method specified is not supported", "x-amz-server-side-encryption", algorithm)
	}
	return e, nil
}

// customerKey returns the MD5 sum of the key in the headers that begin with
// prefix, empty if there is none. The key itself is not kept: its sum is enough
// to recognize it. Such a request needs TLS, since the key is in its headers.
func (c *call) customerKey(prefix string) (string, error) {
	algorithm, key, sum := c.header(prefix+"Algorithm"), c.header(prefix+"Key"), c.header(prefix+"Key-Md5")
	if algorithm+key+sum == "" {
		return "", nil
	}
	bytes, err := base64.StdEncoding.DecodeString(key)
	actual := md5.Sum(bytes)
	switch {
	case c.r.TLS == nil:
		return "", invalidRequest("Requests specifying Server Side Encryption with Customer provided keys must be made over a secure connection.")
	case algorithm != "AES256" || err != nil || len(bytes) != 32 || base64.StdEncoding.EncodeToString(actual[:]) != sum:
		return "", invalidArgument("The key of the encryption is not valid.", strings.ToLower(prefix+"Key"), "")
	}
	return sum, nil
}

// checkKey refuses a request about an object whose content it does not show the
// key of, in the headers that begin with prefix.
func (c *call) checkKey(e encryption, prefix string) error {
	key, err := c.customerKey(prefix)
	switch {
	case err != nil:
		return err
	case key == "" && e.customer != "":
		return invalidRequest("The object was stored using a form of Server Side Encryption. The correct parameters must be provided to retrieve the object.")
	case key != "" && e.customer == "":
		return invalidRequest("The encryption parameters are not applicable to this object.")
	case key != e.customer:
		return accessDenied("Access Denied")
	}
	return nil
}

// encrypt sets how o is encrypted. id is the request's: the ETag of a content
// that is encrypted with another's key differs with each write. So a provider
// that compares an ETag with the MD5 of the content fails here as it would on
// Amazon. The ETag of an upload in parts stays.
func (o *object) encrypt(e encryption, id string) {
	o.encryption = e
	if e.hidesSum() && !strings.Contains(o.etag, "-") {
		o.etag = quoted(md5Hex(append([]byte(id), o.data...)))
	}
}
