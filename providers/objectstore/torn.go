package objectstore

import (
	"context"
	"crypto/md5"
	"encoding/hex"
)

// provenAfter is how often in a row a store has to say that a content has an
// ETag which is not its MD5 sum to be believed.
const provenAfter = 3

// torn looks for the content of one write beside the ETag of another, which a
// store gives that does not read both in one step. Who changed such a content
// on the condition of such an ETag would undo a write unseen.
type torn struct {
	fs     *FS
	now    head // what a HEAD said after the last read that did not fit
	sum    [md5.Size]byte
	proofs int
}

// is reports whether data, which was read of d, may not be what the ETag says.
// The ETag of an upload in parts, or of an encrypted object, is not the MD5 sum
// of the content, nor is any ETag of some stores. A read proves that the two
// belong together if a HEAD before it names the same version: the content of an
// earlier write can no longer be read by then. Nothing proves an empty content:
// some proxies drop bodies.
func (t *torn) is(ctx context.Context, d *download, data []byte) bool {
	f := t.fs
	if !f.compat.VerifyETags || f.opaque.Load() || d.opaque || int64(len(data)) != d.size {
		return false
	}
	want, err := hex.DecodeString(string(versionOf(d.etag)))
	if err != nil || len(want) != md5.Size {
		return false
	}
	sum := md5.Sum(data)
	if sum == [md5.Size]byte(want) {
		f.sums.Store(true)
		return false
	}
	if len(data) > 0 && t.sum == sum && t.now.etag == d.etag && t.now.modified.Equal(d.modified) && t.now.size == d.size {
		t.proofs++
	} else {
		t.proofs = 0
	}
	if t.proofs == provenAfter {
		f.opaque.Store(!f.sums.Load())
		return false
	}
	t.sum = sum
	t.now, _ = f.headKey(ctx, d.key) // without it there is no proof
	return true
}
