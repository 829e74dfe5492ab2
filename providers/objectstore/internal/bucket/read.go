package bucket

import (
	"bytes"
	"context"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"io"

	"github.com/workspacekit/workspacekit/internal/lines"
	"github.com/workspacekit/workspacekit/providers/objectstore/internal/answer"
	"github.com/workspacekit/workspacekit/providers/objectstore/internal/object"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/provider"
)

// maxRereads is how often a file is read again because another write overtook
// the read, or what was read is not what the ETag says.
const maxRereads = 100

// Read downloads the object key, unless it is larger than limit where that is
// positive, and makes sure that the content is what the ETag says: one request.
//
// # Errors
//
// [fs.ErrNotExist], [workspace.ErrTooLarge], and the store's.
func (b *Bucket) Read(ctx context.Context, key string, limit int64) (object.Object, []byte, error) {
	return b.read(ctx, key, limit, (*Download).readAll)
}

// ReadText is Read for a search in text. Of a large object it returns the beginning
// alone, which is shorter than the size, if that is binary, or if enough is not nil
// and returns true for it.
func (b *Bucket) ReadText(ctx context.Context, key string, limit int64, enough func(head []byte) bool) (object.Object, []byte, error) {
	return b.read(ctx, key, limit, func(d *Download, limit int64) ([]byte, error) { return d.readText(limit, enough) })
}

func (b *Bucket) read(ctx context.Context, key string, limit int64, body func(d *Download, limit int64) ([]byte, error)) (object.Object, []byte, error) {
	torn := torn{bucket: b}
	damaged := 0
	for range maxRereads {
		got, err := b.get(ctx, key, nil)
		if err != nil {
			return object.Object{}, nil, err
		}
		if limit > 0 && got.Size > limit {
			got.body.Close()
			return object.Object{}, nil, provider.Errorf(workspace.ErrTooLarge, "%d bytes, and the limit is %d", got.Size, limit)
		}
		data, err := body(got, limit)
		got.body.Close()
		switch {
		case errors.Is(err, errDamaged) && damaged < maxBodyCuts:
			damaged++
			continue
		case errors.Is(err, errOvertaken):
			continue
		case err != nil:
			return object.Object{}, nil, err
		case limit > 0 && int64(len(data)) > limit:
			return object.Object{}, nil, provider.Errorf(workspace.ErrTooLarge, "more than the limit of %d bytes", limit)
		}
		if !torn.is(ctx, got, data) {
			return got.Object, data, nil
		}
	}
	return object.Object{}, nil, answer.New(workspace.ErrUnavailable,
		"the file is written all the time, or the store's ETags are not those of its contents: try again")
}

func (d *Download) readAll(limit int64) ([]byte, error) { return d.readOn(nil, limit) }

// minLeft is how many bytes of a file are left where it pays to give up the
// connection for not having to download them.
const minLeft = 256 << 10

// readText reads the body, but only the beginning of a large file if that is binary
// or is enough.
func (d *Download) readText(limit int64, enough func(head []byte) bool) ([]byte, error) {
	left := d.end - d.at - lines.BinaryWindow
	if left < minLeft {
		return d.readOn(nil, limit)
	}
	start := make([]byte, lines.BinaryWindow, min(lines.BinaryWindow+left, maxAhead)+1)
	if _, err := io.ReadFull(d, start); err != nil {
		return nil, err
	}
	if lines.IsBinary(start) {
		return bytes.Clone(start), nil
	}
	for part := int64(minLeft); enough != nil && d.end-d.at >= minLeft && (limit <= 0 || part < limit); part *= 4 {
		if enough(start) {
			return bytes.Clone(start), nil
		}
		var err error
		if start, err = d.readOn(start, part); err != nil {
			return nil, err
		}
	}
	return d.readOn(start, limit)
}

// provenAfter is how often in a row a store has to say that a content has an
// ETag which is not its MD5 sum to be believed.
const provenAfter = 3

// torn looks for the content of one write beside the ETag of another, which a
// store gives that does not read both in one step. Who changed such a content
// on the condition of such an ETag would undo a write unseen.
type torn struct {
	bucket *Bucket
	now    Head // what a HEAD said after the last read that did not fit
	sum    [md5.Size]byte
	proofs int
}

// is reports whether data, which was read of d, may not be what the ETag says.
// The ETag of an upload in parts, or of an encrypted object, is not the MD5 sum
// of the content, nor is any ETag of some stores. A read proves that the two
// belong together if a HEAD before it names the same version: the content of an
// earlier write can no longer be read by then. Nothing proves an empty content:
// some proxies drop bodies.
//
// A read beside a write, on a store that opens a file and then asks for its
// attributes (sums stand for contents):
//
//	GET   content A, ETag "b"   does not fit: the sum of A is "a"
//	HEAD  ETag "b"              from now on, A can no longer be read
//	GET   content B, ETag "b"   fits, and is returned
//
// And on a store whose ETags are no sums:
//
//	GET   content A, ETag "x"   does not fit
//	HEAD  ETag "x"
//	GET   content A, ETag "x"   the first proof: A belongs to "x"
//	...                         after provenAfter proofs in a row it is believed
func (t *torn) is(ctx context.Context, d *Download, data []byte) bool {
	b := t.bucket
	if !b.opts.VerifyETags || b.opaque.Load() || d.opaque || int64(len(data)) != d.Size {
		return false
	}
	want, err := hex.DecodeString(string(d.Version()))
	if err != nil || len(want) != md5.Size {
		return false
	}
	sum := md5.Sum(data)
	if sum == [md5.Size]byte(want) {
		b.sums.Store(true)
		return false
	}
	if len(data) > 0 && t.sum == sum && t.now.ETag == d.ETag && t.now.Modified.Equal(d.Modified) && t.now.Size == d.Size {
		t.proofs++
	} else {
		t.proofs = 0
	}
	if t.proofs == provenAfter {
		b.opaque.Store(!b.sums.Load())
		return false
	}
	t.sum = sum
	t.now, _ = b.head(ctx, d.Key) // without it there is no proof
	return true
}
