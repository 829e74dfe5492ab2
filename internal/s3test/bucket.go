package s3test

import (
	"encoding/xml"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"sort"
	"strings"
	"time"
)

// bucket holds objects, guarded by the mutex of the server.
type bucket struct {
	name    string
	created time.Time
	objects objectList
	uploads []*upload // sorted by key, then as they were begun
}

// index is a list of objects, sorted bytewise by key. Lookups and listings need
// no more, so a bucket of millions of keys can be computed instead of held: see
// [Synthetic]. A bucket is used with s.mu held.
type index interface {
	length() int
	key(i int) string
	object(i int) *object
}

// objectList is the index that is held in memory.
type objectList []*object

// length returns how many objects there are.
func (l objectList) length() int { return len(l) }

// key returns the key at a place of the list.
func (l objectList) key(i int) string { return l[i].key }

// object returns the object at a place of the list.
func (l objectList) object(i int) *object { return l[i] }

// newBucket returns an empty bucket.
func newBucket(name string, created time.Time) *bucket { return &bucket{name: name, created: created} }

// find returns the first position at or after from whose key is not less than
// key. It is a binary search, as past is.
func find(l index, from int, key string) int {
	return from + sort.Search(l.length()-from, func(i int) bool { return l.key(from+i) >= key })
}

// past returns the first position at or after from whose key does not begin
// with prefix, if the one at from does.
func past(l index, from int, prefix string) int {
	return from + sort.Search(l.length()-from, func(i int) bool { return !strings.HasPrefix(l.key(from+i), prefix) })
}

// lookup returns the object of l with that key, or nil.
func lookup(l index, key string) *object {
	i := find(l, 0, key)
	if i == l.length() || l.key(i) != key {
		return nil
	}
	return l.object(i)
}

// put stores an object at its place in the order of keys.
func (b *bucket) put(o *object) {
	i := find(b.objects, 0, o.key)
	if i < len(b.objects) && b.objects[i].key == o.key {
		b.objects[i] = o
		return
	}
	b.objects = slices.Insert(b.objects, i, o)
}

// remove reports whether there was something to remove.
func (b *bucket) remove(key string) bool {
	i := find(b.objects, 0, key)
	if i == len(b.objects) || b.objects[i].key != key {
		return false
	}
	b.objects = slices.Delete(b.objects, i, i+1)
	return true
}

// index returns what the bucket lists and gets from. The server is locked.
func (s *Server) index(name string) (index, error) {
	if s.opts.Synthetic != nil && s.opts.Synthetic.Bucket == name {
		return s.opts.Synthetic, nil
	}
	b, err := s.writable(name)
	if err != nil {
		return nil, err
	}
	return b.objects, nil
}

// writable returns a bucket to write to. The server is locked. A synthetic
// bucket is read-only, and the error says so as S3 would.
func (s *Server) writable(name string) (*bucket, error) {
	if b, ok := s.buckets[name]; ok {
		return b, nil
	}
	if s.opts.Synthetic != nil && s.opts.Synthetic.Bucket == name {
		return nil, accessDenied("Access Denied")
	}
	return nil, noSuchBucket(name)
}

// noSuchBucket is the error of a missing bucket.
func noSuchBucket(name string) *apiError {
	e := &apiError{status: http.StatusNotFound, code: "NoSuchBucket", message: "The specified bucket does not exist"}
	return e.with("BucketName", name)
}

// load returns the object of the key. The caller must not change it.
func (s *Server) load(bucket, key string) (*object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l, err := s.index(bucket)
	if err != nil {
		return nil, err
	}
	if o := lookup(l, key); o != nil {
		return o, nil
	}
	return nil, noSuchKey(key)
}

// listBuckets answers ListBuckets.
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

// checkNewBucket returns the error of a bucket that cannot be created.
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

// headBucket answers HeadBucket.
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

// deleteBucket answers DeleteBucket: a bucket must be empty.
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

// Synthetic is a read-only bucket of any size that takes no memory. Its
// functions must return the same for the same number every time, and are called
// with the server locked: they must not call it.
type Synthetic struct {
	// Bucket is its name.
	Bucket string
	// Len is how many keys it has.
	Len int
	// Key returns the key at i, ascending bytewise.
	Key func(i int) string
	// Size returns the size of the object at i, whose bytes are all 'x'. Nil
	// means that all are empty.
	Size func(i int) int64
}

// length returns how many keys there are.
func (y *Synthetic) length() int { return y.Len }

// key returns the key at a place of the list.
func (y *Synthetic) key(i int) string { return y.Key(i) }

// object makes the object at i up. Its ETag depends on the key only, so it does not
// show that Size returns something else than before.
func (y *Synthetic) object(i int) *object {
	o := &object{
		key: y.Key(i), modified: time.Unix(0, 0).UTC(),
		header:   http.Header{"Content-Type": {defaultMimeType}},
		checksum: checksum{algorithm: defaultAlgorithm, kind: fullObject},
	}
	if y.Size != nil {
		o.size = y.Size(i)
	}
	o.etag = quoted(md5Hex([]byte(o.key)))
	return o
}
