package objectstore

import (
	"crypto/md5"
	"encoding/hex"
)

// maxTorn is how often a file is read again because its content and its ETag
// do not belong together.
const maxTorn = 100

// torn looks for the content of one write beside the ETag of another, which a
// store gives that does not read both in one step. Who changed such a content
// on the condition of such an ETag would undo a write unseen.
type torn struct {
	etag string
	sum  [md5.Size]byte
}

// is reports whether data is not what the ETag of o says, as far as that can be
// told: the ETag of an upload in parts, or of an encrypted object, is not the
// MD5 of the content. A store that says the same twice means it.
func (t *torn) is(f *FS, o object, data []byte) bool {
	if !f.compat.VerifyETags || f.opaque.Load() || int64(len(data)) != o.size {
		return false
	}
	want, err := hex.DecodeString(string(versionOf(o.etag)))
	if err != nil || len(want) != md5.Size {
		return false
	}
	sum := md5.Sum(data)
	switch {
	case sum == [md5.Size]byte(want):
		return false
	case t.etag == o.etag && t.sum == sum:
		f.opaque.Store(true)
		return false
	}
	t.etag, t.sum = o.etag, sum
	return true
}
