package bucket

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"golang.org/x/sync/errgroup"

	"github.com/workspacekit/workspacekit/providers/objectstore/internal/answer"
	"github.com/workspacekit/workspacekit/providers/objectstore/internal/listing"
	"github.com/workspacekit/workspacekit/providers/objectstore/internal/object"
	"github.com/workspacekit/workspacekit/workspace"
)

// The metadata keys of a marker whose directory is moved to: which one is moved,
// or "done", and which Move was the last to work on it.
const (
	movingKey = "workspacekit-moving"
	moverKey  = "workspacekit-mover"
)

// DirMove is the move of a directory. It works key by key, also on keys that are
// no names.
//
// The marker of the destination is written first, and says what is moved to it
// until all is. A DirMove that finds such a marker of its own source continues with
// what is left. It cannot know whether the other one has died, so it writes
// itself into the marker before it looks at the source: from then on the other
// one takes back no copy, which this one may regard as its own.
//
// A moves "old/" to "new/" and is killed after the copy of its second file; B is
// the same move again:
//
//	A  PUT new/, moving old/, mover A
//	A  copies old/1 to new/1, takes old/1 away, copies old/2 to new/2, dies
//	B  finds new/, which says "moving old/": it resumes
//	B  PUT new/, moving old/, mover B
//	B  copies old/2: new/2 exists, and has the same content, so B adopts it
//	B  takes old/2 away, copies and takes the others, PUT new/, moving "done"
//
// Were A alive and slow, it could fail to take old/2 away because B has. It must
// not delete its copy new/2 then: it reads the marker, finds mover B, and leaves
// it.
type DirMove struct {
	// Copied is called, side by side, with the key and the ETag of each copy that m has made
	// of a file and whose source it has deleted. It is not nil when m runs.
	Copied func(key, etag string)

	bucket   *Bucket
	from, to string // the keys of the markers
	id       string
	resumed  bool
	moved    atomic.Int64 // files
	late     atomic.Bool  // an object may still be created whose request has failed
}

// NewDirMove returns the move from one directory to another, both named by the
// keys of their markers.
func (b *Bucket) NewDirMove(from, to string) *DirMove {
	return &DirMove{bucket: b, from: from, to: to, id: rand.Text()}
}

// Moved returns how many files have moved.
func (m *DirMove) Moved() int64 { return m.moved.Load() }

// Resumed reports whether m continues with a move that had begun.
func (m *DirMove) Resumed() bool { return m.resumed }

// markerOf describes the marker of a directory to which the mover moves moving.
func markerOf(moving, mover string) Description {
	return Description{"Content-Type": MarkerDescription["Content-Type"], MetaHeader(movingKey): {moving}, MetaHeader(moverKey): {mover}}
}

// sourceSum stands for the source, whose key may be longer than a header or have
// characters that a header cannot.
func (m *DirMove) sourceSum() string {
	sum := sha256.Sum256([]byte(m.from))
	return hex.EncodeToString(sum[:])
}

// Resume reports whether the marker of the destination says that a move from the
// same source is not done, with which m then continues.
func (m *DirMove) Resume(ctx context.Context) (bool, error) {
	marker, err := m.bucket.head(ctx, m.to)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	m.resumed = err == nil && marker.metadata[movingKey] == m.sourceSum()
	return m.resumed, err
}

// Claim writes the marker of the destination, which must not exist unless m
// resumes.
func (m *DirMove) Claim(ctx context.Context) error {
	_, err := m.bucket.Put(ctx, m.to, nil, markerOf(m.sourceSum(), m.id), workspace.WriteOptions{IfNotExist: !m.resumed})
	return err
}

// Run moves everything in the source, the markers last.
//
// # Errors
//
// ErrSourceChanged, ErrUnlistable, [fs.ErrExist] if somebody else has created a
// file in the destination, [fs.ErrInvalid] for a key that would be too long, and the
// store's.
func (m *DirMove) Run(ctx context.Context) error {
	b := m.bucket
	left, err := m.files(ctx)
	if err != nil {
		return err
	}
	// A marker with the content of another program takes the place of ours
	// before it is deleted, and any other afterwards.
	if left.content {
		if err := b.copyMarker(ctx, m.from, m.to); err != nil {
			return err
		}
	}
	if err := b.deleteBatches(ctx, left.markers); err != nil {
		return err
	}
	if err := b.checkEmptied(ctx, m.from, left.doubt); err != nil || left.content {
		return err
	}
	return m.Finish(ctx)
}

// deleteBatches deletes any number of objects, the last ones first.
func (b *Bucket) deleteBatches(ctx context.Context, keys []string) error {
	for len(keys) > 0 {
		n := max(len(keys)-listing.MaxKeys, 0)
		if err := b.deleteAll(ctx, keys[n:]); err != nil {
			return err
		}
		keys = keys[:n]
	}
	return nil
}

// Finish says in the marker of the destination that the move is done. To leave
// the metadata out would not do: some stores keep what a marker had.
func (m *DirMove) Finish(ctx context.Context) error {
	_, err := m.bucket.Put(ctx, m.to, nil, markerOf("done", m.id), workspace.WriteOptions{})
	return err
}

// leftover is what is in the source once the files have moved.
type leftover struct {
	markers []string
	content bool // the marker of the source itself has content
	doubt   bool // there may be keys that the store lists as others
}

// files moves the objects of the source, and copies the markers in it.
func (m *DirMove) files(ctx context.Context) (left leftover, err error) {
	q := listing.Query{Prefix: m.from, Flat: true}
	for {
		p, err := m.bucket.List(ctx, q)
		if err != nil {
			return left, err
		}
		for _, o := range p.Objects {
			if size := len(m.to) + len(o.Key) - len(m.from); size > object.MaxKey {
				return left, answer.New(fs.ErrInvalid, fmt.Sprintf("a name in it would have %d bytes in a key, which has at most %d", size, object.MaxKey))
			}
			if strings.HasSuffix(o.Key, "/") {
				left.markers = append(left.markers, o.Key)
			}
			left.content = left.content || o.Key == m.from && o.Size > 0
		}
		left.doubt = left.doubt || slices.ContainsFunc(p.Keys(), listing.Misspelt)
		if err := m.page(ctx, p.Objects); err != nil {
			return left, err
		}
		if q = q.Next(p); q.Token == "" {
			return left, nil
		}
	}
}

// page moves objects side by side. If one fails, no more are begun; those under
// way come to their end, so as not to leave a file at both names.
func (m *DirMove) page(ctx context.Context, objects []object.Object) error {
	var failed atomic.Bool
	var group errgroup.Group
	group.SetLimit(m.bucket.opts.Workers)
	for _, o := range objects {
		group.Go(func() error {
			if failed.Load() {
				return nil
			}
			err := m.object(ctx, o)
			if err != nil {
				failed.Store(true)
			}
			return err
		})
	}
	return group.Wait()
}

// object moves one object. One that somebody else has removed is not missed.
func (m *DirMove) object(ctx context.Context, o object.Object) error {
	b, to := m.bucket, m.to+o.Key[len(m.from):]
	switch {
	case o.Key == m.from:
		return nil
	case strings.HasSuffix(o.Key, "/") && o.Size == 0:
		return m.created(ctx, b.PutMarker(ctx, to))
	case strings.HasSuffix(o.Key, "/"):
		return m.created(ctx, b.copyMarker(ctx, o.Key, to))
	}
	from, err := b.head(ctx, o.Key)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case object.HasTombstone(from.metadata): // a move ended before it could delete it
		return b.deleteTombstone(ctx, from.written())
	}
	copied, err := b.Copy(ctx, from, to)
	adopted := m.resumed && errors.Is(err, fs.ErrExist)
	if adopted {
		copied, err = m.checkCopy(ctx, from.Object, to)
	}
	if err != nil {
		return m.created(ctx, err)
	}
	err = b.Take(ctx, from, copied)
	switch {
	case err == nil:
		m.moved.Add(1)
		if !adopted {
			m.Copied(to, copied.ETag)
		}
		return nil
	case !errors.Is(err, ErrTaken):
		return err
	case !adopted:
		if err := m.takeBack(ctx, copied); err != nil {
			return err
		}
	}
	return ErrSourceChanged
}

// created returns err, which is of a request that creates an object. Without an answer of the
// store, that may happen later.
func (m *DirMove) created(ctx context.Context, err error) error {
	if errors.Is(err, workspace.ErrUnavailable) || err != nil && ctx.Err() != nil {
		m.late.Store(true)
	}
	return err
}

// checkCopy returns the copy of from that a move has made which ended before it
// could delete from, and [fs.ErrExist] if the object to is another.
// Nor is it this Move's to use if another has written itself into the marker:
// that may have made the copy, and take it back.
func (m *DirMove) checkCopy(ctx context.Context, from object.Object, to string) (Written, error) {
	if !m.isLast(ctx) {
		return Written{}, ErrSourceChanged
	}
	made, err := m.bucket.head(ctx, to)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && object.HasTombstone(made.metadata): // it was taken back
		return Written{}, ErrSourceChanged
	case err != nil:
		return Written{}, err
	case made.Size != from.Size:
		return Written{}, fs.ErrExist
	case made.ETag == from.ETag:
		return made.written(), nil
	}
	same, err := m.bucket.sameContent(ctx, from, made.Object)
	if err == nil && !same {
		err = fs.ErrExist
	}
	return made.written(), err
}

// sameContent compares two objects of one size.
func (b *Bucket) sameContent(ctx context.Context, one, other object.Object) (bool, error) {
	var bodies [2]io.ReadCloser
	for i, o := range []object.Object{one, other} {
		out, err := b.client.GetObject(ctx, &s3.GetObjectInput{Bucket: b.name, Key: aws.String(o.Key), IfMatch: aws.String(o.ETag)})
		switch {
		case answer.IsMissing(err), answer.IsConflict(err):
			return false, ErrSourceChanged
		case err != nil:
			return false, err
		}
		defer out.Body.Close()
		bodies[i] = out.Body
	}
	var chunks [2][]byte
	for i := range chunks {
		chunks[i] = make([]byte, 64<<10)
	}
	for rest := one.Size; rest > 0; {
		n := min(rest, int64(len(chunks[0])))
		for i, body := range bodies {
			if _, err := io.ReadFull(body, chunks[i][:n]); err != nil {
				return false, answer.Explain(ctx, err)
			}
		}
		if !bytes.Equal(chunks[0][:n], chunks[1][:n]) {
			return false, nil
		}
		rest -= n
	}
	return true, nil
}

// isLast reports whether the marker says that no other Move has begun to work on
// this one since.
func (m *DirMove) isLast(ctx context.Context) bool {
	marker, err := m.bucket.head(ctx, m.to)
	return err == nil && marker.metadata[moverKey] == m.id
}

// takeBack deletes a copy whose source somebody else has written, removed
// or moved, unless another Move has continued this one: that may have taken
// the copy for its own, and then it is the only one there is.
func (m *DirMove) takeBack(ctx context.Context, copied Written) error {
	ctx, cancel := Afterwards(ctx) // or the copy would stay
	defer cancel()
	if !m.isLast(ctx) {
		return nil
	}
	return m.bucket.TakeBack(ctx, copied)
}

// Disclaim removes the destination if it is empty, and reports whether it was. One in which an
// object may still be created stays: the same move can continue only where it finds the marker.
func (m *DirMove) Disclaim(ctx context.Context) bool {
	if m.late.Load() {
		return false
	}
	found, err := m.bucket.Find(ctx, strings.TrimSuffix(m.to, "/"), FindKeys)
	if err != nil || !found.Empty {
		return false
	}
	_ = m.bucket.Delete(ctx, m.to) // else an empty directory stays
	return true
}

// copyMarker copies a marker with the content that another program gave it.
func (b *Bucket) copyMarker(ctx context.Context, from, to string) error {
	_, err := b.client.CopyObject(ctx, &s3.CopyObjectInput{
		Bucket: b.name, Key: aws.String(to), CopySource: b.copySource(from),
	})
	return err
}
