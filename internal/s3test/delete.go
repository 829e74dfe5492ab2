package s3test

import (
	"encoding/xml"
	"errors"
	"net/http"
)

// maxDeletes is the most keys of one DeleteObjects.
const maxDeletes = 1000

// deleteObject answers DeleteObject, which succeeds for a missing key.
func (s *Server) deleteObject(c *call) (*answer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, err := s.writable(c.bucket())
	if err != nil {
		return nil, err
	}
	if err := s.remove(b, c.key(), c.header("If-Match")); err != nil {
		return nil, err
	}
	return plain(http.StatusNoContent), nil
}

// remove removes the key of a locked server if it holds what etag says. That
// it holds nothing is no error.
func (s *Server) remove(b *bucket, key, etag string) error {
	if err := s.checkDelete(lookup(b.objects, key), etag); err != nil {
		return err
	}
	b.remove(key)
	return nil
}

// checkDelete tests the condition that etag states on what is deleted; empty
// states none. What does not exist matches nothing. So a delete with a
// condition fails for a missing key, though one without succeeds.
func (s *Server) checkDelete(held *object, etag string) error {
	switch {
	case etag == "" || s.opts.IgnoreConditions || s.opts.IgnoreDeleteConditions:
		return nil
	case s.opts.RefuseConditions:
		return notImplemented("If-Match")
	case held == nil || !held.matches(etag):
		return preconditionFailed("If-Match")
	}
	return nil
}

// deletion is the body of DeleteObjects.
type deletion struct {
	XMLName xml.Name `xml:"Delete"`
	Quiet   bool
	Objects []struct{ Key, ETag string } `xml:"Object"`
}

// deleteObjects answers DeleteObjects, with an entry for each key. The request
// as a whole succeeds even if no key could be deleted: a client must read the
// entries. The body must have a digest, because a damaged one could name other
// keys.
func (s *Server) deleteObjects(c *call) (*answer, error) {
	given, err := c.givenChecksum()
	if err != nil {
		return nil, err
	}
	if given.algorithm == "" && c.header("Content-Md5") == "" {
		return nil, invalidRequest("Missing required header for this request: Content-MD5 OR x-amz-checksum-*")
	}
	var request deletion
	if err := xml.Unmarshal(c.body, &request); err != nil || len(request.Objects) == 0 || len(request.Objects) > maxDeletes {
		return nil, malformedXML()
	}
	d := newDocument("DeleteResult")
	if err := s.deleteAll(c, request, d); err != nil {
		return nil, err
	}
	return xmlAnswer(d, "DeleteResult"), nil
}

// deleteAll removes each key and writes to d what became of it. With Quiet only
// errors have an entry.
func (s *Server) deleteAll(c *call, request deletion, d *document) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, err := s.writable(c.bucket())
	if err != nil {
		return err
	}
	for _, o := range request.Objects {
		err := error(accessDenied("Access Denied"))
		if !s.deniesLocked(o.Key) {
			err = s.remove(b, o.Key, o.ETag)
		}
		if err != nil {
			d.deleteError(o.Key, err)
		} else if !request.Quiet {
			d.open("Deleted")
			d.text("Key", o.Key)
			d.close("Deleted")
		}
	}
	return nil
}

// deleteError adds the entry of a key that was not deleted.
func (d *document) deleteError(key string, err error) {
	var e *apiError
	errors.As(err, &e)
	d.open("Error")
	d.text("Key", key)
	d.text("Code", e.code)
	d.text("Message", e.message)
	d.close("Error")
}
