package s3test

import (
	"encoding/xml"
	"maps"
	"net/http"
	"regexp"
	"slices"
)

func (s *Server) listBuckets(*call) (*answer, error) {
	d := newDocument("ListAllMyBucketsResult")
	d.owner("Owner")
	d.open("Buckets")
	s.mu.Lock()
	for _, name := range slices.Sorted(maps.Keys(s.buckets)) {
		d.open("Bucket")
		d.text("Name", name)
		d.time("CreationDate", s.buckets[name].created)
		d.close("Bucket")
	}
	s.mu.Unlock()
	d.close("Buckets")
	return xmlAnswer(d, "ListAllMyBucketsResult"), nil
}

// createBucket makes a bucket. In Amazon's first region it is no error if it
// exists already.
func (s *Server) createBucket(c *call) (*answer, error) {
	if err := s.checkNewBucket(c); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.index(c.bucket()); err != nil {
		s.buckets[c.bucket()] = newBucket(c.bucket(), s.now())
	} else if s.Region != defaultRegion {
		return nil, &apiError{status: http.StatusConflict, code: "BucketAlreadyOwnedByYou",
			message: "Your previous request to create the named bucket succeeded and you already own it."}
	}
	a := plain(http.StatusOK)
	a.header.Set("Location", "/"+c.bucket())
	return a, nil
}

func (s *Server) checkNewBucket(c *call) error {
	if !regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`).MatchString(c.bucket()) {
		e := &apiError{status: http.StatusBadRequest, code: "InvalidBucketName", message: "The specified bucket is not valid."}
		return e.with("BucketName", c.bucket())
	}
	var configuration struct{ LocationConstraint string }
	if len(c.body) > 0 && xml.Unmarshal(c.body, &configuration) != nil {
		return malformedXML()
	}
	if region := configuration.LocationConstraint; region != "" && region != s.Region {
		return &apiError{status: http.StatusBadRequest, code: "IllegalLocationConstraintException",
			message: "The " + region + " location constraint is incompatible for the region specific endpoint this request was sent to."}
	}
	return nil
}

func (s *Server) headBucket(c *call) (*answer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.index(c.bucket()); err != nil {
		return nil, err
	}
	a := plain(http.StatusOK)
	a.header.Set("X-Amz-Bucket-Region", s.Region)
	return a, nil
}

func (s *Server) deleteBucket(c *call) (*answer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, err := s.writable(c.bucket())
	if err != nil {
		return nil, err
	}
	if len(b.objects) > 0 {
		e := &apiError{status: http.StatusConflict, code: "BucketNotEmpty", message: "The bucket you tried to delete is not empty"}
		return nil, e.with("BucketName", b.name)
	}
	delete(s.buckets, b.name)
	return plain(http.StatusNoContent), nil
}

// getBucketLocation answers with an empty name for Amazon's first region.
func (s *Server) getBucketLocation(c *call) (*answer, error) {
	if _, err := s.headBucket(c); err != nil {
		return nil, err
	}
	d := newDocument("LocationConstraint")
	if s.Region != defaultRegion {
		d.escape(s.Region)
	}
	return xmlAnswer(d, "LocationConstraint"), nil
}
