package s3test

import (
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// getObject serves HeadObject, too. An object is never changed, so it is read
// without the lock: a write at the same time replaces it in the bucket, and
// this answer has the old content whole.
func (s *Server) getObject(c *call) (*answer, error) {
	o, err := s.load(c.bucket(), c.key())
	if err != nil {
		return nil, err
	}
	if err := c.checkKey(o.encryption, customerHeader); err != nil {
		return nil, err
	}
	return c.read(o, s.opts.Now())
}

// read answers with o, or the part of it that the request asks for. now is for
// its conditions.
//
// Conditions come before the range: a range of another content is of no use.
// The checksum is for the whole object, so a part has none.
func (c *call) read(o *object, now time.Time) (*answer, error) {
	if failed := c.checkRead(o, "", now); failed != nil && failed.notModified {
		a := plain(http.StatusNotModified)
		a.header.Set("ETag", o.etag)
		a.header.Set("Last-Modified", o.modified.Format(http.TimeFormat))
		return a, nil
	} else if failed != nil {
		return nil, preconditionFailed(failed.name)
	}
	first, last, partial, err := parseRange(c.header("Range"), o.size)
	if err != nil {
		return nil, err
	}
	a := plain(http.StatusOK)
	a.header = o.describe()
	c.override(a.header)
	a.size = last + 1 - first
	if c.r.Method != http.MethodHead {
		a.body = o.part(first, last)
	}
	if partial {
		a.status = http.StatusPartialContent
		a.header.Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", first, last, o.size))
	} else if strings.EqualFold(c.header("X-Amz-Checksum-Mode"), "ENABLED") && o.checksum.value != "" {
		o.checksum.put(a.header)
	}
	return a, nil
}

// describe returns the headers that describe o. The map is new, so the caller
// may change it. The tags themselves are left out, and so is the storage class
// that all objects have.
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

// override sets the headers of the answer that the query asks for.
func (c *call) override(header http.Header) {
	for _, name := range storedNames() {
		if value := c.query("response-" + strings.ToLower(name)); value != "" {
			header.Set(name, value)
		}
	}
}

// parseRange returns the first and the last byte that a Range header asks for.
// One that is not understood, or asks for several ranges, asks for everything.
// That is what RFC 9110 allows, and a client must look at the status. Of 100
// bytes:
//
//	bytes=0-9      0 to 9
//	bytes=90-200   90 to 99
//	bytes=-10      90 to 99
//	bytes=100-     InvalidRange, with the actual size
//	bytes=9-0      everything, with the status 200
func parseRange(header string, size int64) (first, last int64, partial bool, err error) {
	from, to, ok := strings.Cut(strings.TrimPrefix(header, "bytes="), "-")
	if !ok || !strings.HasPrefix(header, "bytes=") {
		return 0, size - 1, false, nil
	}
	switch first, last, ok = bounds(from, to, size); {
	case !ok:
		return 0, size - 1, false, nil
	case first >= size:
		e := &apiError{status: http.StatusRequestedRangeNotSatisfiable, code: "InvalidRange",
			message: "The requested range is not satisfiable"}
		return 0, 0, false, e.with("RangeRequested", header).with("ActualObjectSize", strconv.FormatInt(size, 10))
	}
	return first, last, true, nil
}

// bounds reads "first-last", "first-" and "-length". The first byte that it
// returns is size if there is none.
func bounds(from, to string, size int64) (first, last int64, ok bool) {
	if from == "" {
		length, err := strconv.ParseInt(to, 10, 64)
		if err != nil || length < 0 {
			return 0, 0, false
		}
		if length == 0 {
			return size, size, true
		}
		return max(size-length, 0), size - 1, true
	}
	first, err := strconv.ParseInt(from, 10, 64)
	if err != nil || first < 0 {
		return 0, 0, false
	}
	if to == "" {
		return first, size - 1, true
	}
	last, err = strconv.ParseInt(to, 10, 64)
	return first, min(last, size-1), err == nil && last >= first
}
