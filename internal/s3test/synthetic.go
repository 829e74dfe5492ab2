package s3test

import (
	"net/http"
	"time"
)

// Synthetic is a read-only bucket of any size that takes no memory.
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

func (y *Synthetic) length() int      { return y.Len }
func (y *Synthetic) key(i int) string { return y.Key(i) }

// object makes the object at i up. Its ETag depends on key and size only.
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
