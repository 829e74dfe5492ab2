package s3test

import (
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

// index is a list of objects, sorted bytewise by key.
type index interface {
	length() int
	key(i int) string
	object(i int) *object
}

// objectList is the index that is held in memory.
type objectList []*object

func (l objectList) length() int          { return len(l) }
func (l objectList) key(i int) string     { return l[i].key }
func (l objectList) object(i int) *object { return l[i] }

func newBucket(name string, created time.Time) *bucket { return &bucket{name: name, created: created} }

// find returns the first position at or after from whose key is not less than
// key.
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

// writable returns a bucket to write to. The server is locked.
func (s *Server) writable(name string) (*bucket, error) {
	if b, ok := s.buckets[name]; ok {
		return b, nil
	}
	if s.opts.Synthetic != nil && s.opts.Synthetic.Bucket == name {
		return nil, accessDenied("Access Denied")
	}
	return nil, noSuchBucket(name)
}

// load returns the object of the key.
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
