package s3test

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// maxPutSize is the largest body of one request. More needs an upload in parts.
const maxPutSize = 5 << 30

// putObject answers PutObject.
func (s *Server) putObject(c *call) (*answer, error) {
	if err := c.checkLength(); err != nil {
		return nil, err
	}
	header, err := c.storedHeader()
	if err != nil {
		return nil, err
	}
	encryption, err := c.encryption()
	if err != nil {
		return nil, err
	}
	o := newObject(c.key(), c.body, s.now(), header, c.bodyChecksum())
	o.encrypt(encryption, c.id)
	if err := s.store(c, o, false); err != nil {
		return nil, err
	}
	a := plain(http.StatusOK)
	a.header.Set("ETag", o.etag)
	o.checksum.put(a.header)
	return a, nil
}

// bodyChecksum returns the checksum to store with the body, which has been
// verified: the one that was given, or else one of the default kind.
func (c *call) bodyChecksum() checksum {
	if given, err := c.givenChecksum(); err == nil && given.algorithm != "" {
		return given
	}
	return checksumOf(defaultAlgorithm, c.body)
}

// store makes o what its key holds, if the conditions of the request hold;
// ignore leaves them out. Condition and write are one step, under the lock.
func (s *Server) store(c *call, o *object, ignore bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, err := s.writable(c.bucket())
	if err != nil {
		return err
	}
	if err := s.checkWrite(c, lookup(b.objects, o.key), ignore); err != nil {
		return err
	}
	b.put(o)
	return nil
}

// checkLength refuses an upload that does not say in advance how long it is.
func (c *call) checkLength() error {
	switch {
	case c.r.ContentLength < 0 && c.header("X-Amz-Decoded-Content-Length") == "":
		return notImplemented("Transfer-Encoding")
	case c.r.ContentLength == 0 && c.header("Content-Length") == "":
		return &apiError{status: http.StatusLengthRequired, code: "MissingContentLength",
			message: "You must provide the Content-Length HTTP header."}
	case len(c.body) > maxPutSize:
		return &apiError{status: http.StatusBadRequest, code: "EntityTooLarge",
			message: "Your proposed upload exceeds the maximum allowed size"}
	}
	return nil
}

// copyObject answers CopyObject.
//
// The content comes from the source. The metadata and the tags do, too, unless
// the directive for the one or the other is REPLACE; the storage class and the
// redirect never do. A copy to itself must change something, so it needs the
// directive for the metadata.
func (s *Server) copyObject(c *call) (*answer, error) {
	source, err := s.copySource(c)
	if err != nil {
		return nil, err
	}
	algorithm := strings.ToUpper(c.header("X-Amz-Checksum-Algorithm"))
	if algorithm != "" && newHash(algorithm) == nil {
		return nil, unsupportedChecksum()
	}
	encryption, err := c.encryption()
	if err != nil {
		return nil, err
	}
	made := source.copyAs(c.key(), s.now(), algorithm)
	made.encrypt(encryption, c.id)
	switch directive := c.header("X-Amz-Metadata-Directive"); directive {
	case "REPLACE":
		if made.header, err = c.storedHeader(); err != nil {
			return nil, err
		}
	case "", "COPY":
		if c.copiesToItself() {
			return nil, invalidRequest("This copy request is illegal because it is trying to copy an object to itself without " +
				"changing the object's metadata, storage class, website redirect location or encryption attributes.")
		}
		made.header = maps.Clone(source.header)
		for _, name := range storedApart() {
			made.header.Del(name)
			if value := c.header(name); value != "" {
				made.header.Set(name, value)
			}
		}
	default:
		return nil, invalidArgument("Unknown metadata directive.", "x-amz-metadata-directive", directive)
	}
	switch directive := c.header("X-Amz-Tagging-Directive"); directive {
	case "REPLACE":
		made.header.Set(tagging, c.header(tagging))
	case "", "COPY":
		made.header.Set(tagging, source.header.Get(tagging))
	default:
		return nil, invalidArgument("Unknown tagging directive.", "x-amz-tagging-directive", directive)
	}
	if err := s.store(c, made, s.opts.IgnoreCopyConditions); err != nil {
		return nil, err
	}
	d := newDocument("CopyObjectResult")
	d.time("LastModified", made.modified)
	d.text("ETag", made.etag)
	d.text(made.checksum.element(), made.checksum.value)
	d.text("ChecksumType", made.checksum.kind)
	return xmlAnswer(d, "CopyObjectResult"), nil
}

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

// copySource returns the object that a CopyObject request copies.
func (s *Server) copySource(c *call) (*object, error) {
	source, err := s.openSource(c)
	if err != nil {
		return nil, err
	}
	if source.size > s.opts.MaxCopySize {
		return nil, invalidRequest(fmt.Sprintf("The specified copy source is larger than the maximum allowable size for a copy source: %d",
			s.opts.MaxCopySize))
	}
	return source, nil
}

// openSource returns the object that the request copies from, if the conditions
// on it hold. The customer's key of the source is in headers of its own, see
// sourceHeader. An unmet condition is a 412 in each case, never "not modified".
func (s *Server) openSource(c *call) (*object, error) {
	bucket, key, err := c.source()
	if err != nil {
		return nil, err
	}
	if s.denies(key) {
		return nil, accessDenied("Access Denied")
	}
	o, err := s.load(bucket, key)
	if err != nil {
		return nil, err
	}
	if err := c.checkKey(o.encryption, sourceHeader); err != nil {
		return nil, err
	}
	if failed := c.checkRead(o, "X-Amz-Copy-Source-", s.opts.Now()); failed != nil {
		return nil, preconditionFailed("x-amz-copy-source-" + failed.name)
	}
	return o, nil
}

// source returns where the request copies from. The header is encoded as a URL,
// and may begin with a slash:
//
//	/bucket/dir/a%20b
func (c *call) source() (bucket, key string, err error) {
	header := c.header("X-Amz-Copy-Source")
	path, query, _ := strings.Cut(header, "?")
	if query != "" {
		return "", "", notImplemented("x-amz-copy-source")
	}
	path, err = url.QueryUnescape(path)
	bucket, key, ok := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if err != nil || !ok || bucket == "" || key == "" {
		return "", "", invalidArgument("Copy Source must mention the source bucket and key: sourcebucket/sourcekey",
			"x-amz-copy-source", header)
	}
	return bucket, key, nil
}

// copiesToItself reports whether source and destination are the same object.
func (c *call) copiesToItself() bool {
	bucket, key, err := c.source()
	return err == nil && bucket == c.bucket() && key == c.key()
}
