package s3test

import "net/http"

const maxPutSize = 5 << 30

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

// store makes o what its key holds, if the conditions of the request hold;
// ignore leaves them out.
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
