package s3test

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Upload is a multipart upload that is under way.
type Upload struct {
	Bucket, Key, ID string
	Initiated       time.Time
	// Parts is how many parts have been uploaded.
	Parts int
}

// Uploads returns the multipart uploads that are neither completed nor
// aborted, in every bucket, sorted by bucket and key.
func (s *Server) Uploads() []Upload {
	s.mu.Lock()
	defer s.mu.Unlock()
	var open []Upload
	for _, b := range s.buckets {
		for _, u := range b.uploads {
			open = append(open, Upload{Bucket: b.name, Key: u.key, ID: u.id, Initiated: u.initiated, Parts: len(u.parts)})
		}
	}
	slices.SortStableFunc(open, func(a, b Upload) int {
		return slices.Compare([]string{a.Bucket, a.Key}, []string{b.Bucket, b.Key})
	})
	return open
}

// Objects returns the keys of a bucket, sorted bytewise.
func (s *Server) Objects(bucket string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	keys := []string{}
	for _, o := range s.mustBucket(bucket).objects {
		keys = append(keys, o.key)
	}
	return keys
}

// Put stores data under a key, without a request.
func (s *Server) Put(bucket, key string, data []byte) {
	data = bytes.Clone(data)
	header := http.Header{"Content-Type": {defaultMimeType}}
	o := newObject(key, data, s.now(), header, checksumOf(defaultAlgorithm, data))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mustBucket(bucket).put(o)
}

// Get returns what a key holds, without a request. It reports whether the key
// exists.
func (s *Server) Get(bucket, key string) ([]byte, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := lookup(s.mustBucket(bucket).objects, key)
	if o == nil {
		return nil, false
	}
	return bytes.Clone(o.data), true
}

// Delete removes a key, without a request. It reports whether there was
// something to remove.
func (s *Server) Delete(bucket, key string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mustBucket(bucket).remove(key)
}

// mustBucket returns a bucket of the locked server. That a test names one that
// does not exist is its mistake.
func (s *Server) mustBucket(name string) *bucket {
	b, ok := s.buckets[name]
	if !ok {
		panic(fmt.Sprintf("s3test: there is no bucket %q", name))
	}
	return b
}

// Deny makes the server answer AccessDenied to every request about a key that
// begins with prefix, as its object or as the source of a copy. Listings show
// such keys all the same.
func (s *Server) Deny(prefix string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.denied = append(s.denied, prefix)
}

func (s *Server) denies(key string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.deniesLocked(key)
}

func (s *Server) deniesLocked(key string) bool {
	return slices.ContainsFunc(s.denied, func(prefix string) bool { return strings.HasPrefix(key, prefix) })
}
