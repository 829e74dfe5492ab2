package objectstore

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

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

// The metadata keys of a marker whose directory is moved to: which one is moved,
// or "done", and which Move was the last to work on it.
const (
	movingKey = "workspacekit-moving"
	moverKey  = "workspacekit-mover"
)

// dirMove is the Move of a directory. It works key by key, also on keys that are
// no names.
//
// The marker of the destination is made first, and says what is moved to it
// until all is. A Move that finds such a marker of its own source goes on with
// what is left. It cannot know whether the other one has died, so it writes
// itself into the marker before it looks at the source: from then on the other
// one takes back no copy, which this one may have taken for its own.
type dirMove struct {
	fs       *FS
	from, to string // the keys of the markers
	id       string
	resumed  bool
	moved    atomic.Int64 // files
}

// moveDir moves the directory source.
func (f *FS) moveDir(ctx context.Context, source, destination string) error {
	m := f.newDirMove(source, destination)
	if err := m.claim(ctx, destination); err != nil {
		return err
	}
	err := m.run(ctx, source)
	if err == nil {
		f.watches.renamed(source, destination)
		return nil
	}
	return m.failed(ctx, source, destination, err)
}

func (f *FS) newDirMove(source, destination string) *dirMove {
	return &dirMove{fs: f, from: f.dirKey(source), to: f.dirKey(destination), id: rand.Text()}
}

// moveMissing moves the directory source, which does not exist. That is an error
// unless a Move of it ended before it could say in the marker that it was done.
func (f *FS) moveMissing(ctx context.Context, source, destination string) error {
	m := f.newDirMove(source, destination)
	begun, err := m.begun(ctx)
	switch {
	case err != nil:
		return fault(ctx, ops.Move, destination, err)
	case !begun:
		return f.missing(ctx, ops.Move, source)
	}
	if err := m.finish(ctx); err != nil {
		return fault(ctx, ops.Move, destination, err)
	}
	return nil
}

// markerOf describes the marker of a directory to which the mover moves moving.
func markerOf(moving, mover string) description {
	return description{"Content-Type": markerDescription["Content-Type"], metaHeader(movingKey): {moving}, metaHeader(moverKey): {mover}}
}

// sourceSum stands for the source, whose key may be longer than a header or have
// characters that a header cannot.
func (m *dirMove) sourceSum() string {
	sum := sha256.Sum256([]byte(m.from))
	return hex.EncodeToString(sum[:])
}

// begun reports whether the marker of the destination says that a move from the
// same source is not done.
func (m *dirMove) begun(ctx context.Context) (bool, error) {
	marker, err := m.fs.headKey(ctx, m.to)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && marker.metadata[movingKey] == m.sourceSum(), err
}

// claim makes the directory destination, which must not exist unless it is the
// one of a move that is not done.
func (m *dirMove) claim(ctx context.Context, destination string) error {
	f := m.fs
	found, err := f.find(ctx, destination, findKeys)
	if err == nil && found.exists && found.info.IsDir() {
		m.resumed, err = m.begun(ctx)
	}
	switch {
	case err != nil:
		return fault(ctx, ops.Move, destination, err)
	case found.exists && !m.resumed:
		return ops.Error(ops.Move, destination, fs.ErrExist, nil)
	}
	if !m.resumed {
		if err := f.checkParent(ctx, destination, true); err != nil {
			return ops.Rename(err, ops.Move, destination)
		}
	}
	if _, err := f.put(ctx, m.to, nil, markerOf(m.sourceSum(), m.id), workspace.WriteOptions{IfNotExist: !m.resumed}); err != nil {
		return f.writeError(ctx, ops.Move, destination, err)
	}
	f.folders.mark(destination)
	return nil
}

// run moves everything in the directory source, the markers last.
func (m *dirMove) run(ctx context.Context, source string) error {
	f := m.fs
	if err := f.keep(ctx, source); err != nil {
		return err
	}
	f.folders.forget(source)
	left, err := m.files(ctx)
	if err != nil {
		return err
	}
	// A marker with the content of another program takes the place of ours
	// before it is deleted, and any other afterwards.
	if left.content {
		if err := f.copyMarker(ctx, m.from, m.to); err != nil {
			return err
		}
	}
	if err := f.deleteBatches(ctx, left.markers); err != nil {
		return err
	}
	if err := f.checkEmptied(ctx, m.from, left.doubt); err != nil || left.content {
		return err
	}
	return m.finish(ctx)
}

// finish says in the marker of the destination that the move is done. To leave
// the metadata out would not do: some stores keep what a marker had.
func (m *dirMove) finish(ctx context.Context) error {
	_, err := m.fs.put(ctx, m.to, nil, markerOf("done", m.id), workspace.WriteOptions{})
	return err
}

// leftover is what is in the source once the files have moved.
type leftover struct {
	markers []string
	content bool // the marker of the source itself has content
	doubt   bool // there may be keys that the store lists as others
}

// files moves the objects of the source, and copies the markers in it.
func (m *dirMove) files(ctx context.Context) (left leftover, err error) {
	q := listQuery{prefix: m.from, flat: true}
	for {
		p, err := m.fs.list(ctx, q)
		if err != nil {
			return left, err
		}
		for _, o := range p.objects {
			if strings.HasSuffix(o.key, "/") {
				left.markers = append(left.markers, o.key)
			}
			left.content = left.content || o.key == m.from && o.size > 0
		}
		left.doubt = left.doubt || slices.ContainsFunc(p.keys(), misspelt)
		if err := m.page(ctx, p.objects); err != nil {
			return left, err
		}
		if q.token = p.token; q.token == "" {
			return left, nil
		}
	}
}

// page moves objects side by side. If one fails, no more are begun; those under
// way come to their end, so as not to leave a file at both names.
func (m *dirMove) page(ctx context.Context, objects []object) error {
	var failed atomic.Bool
	var group errgroup.Group
	group.SetLimit(m.fs.opts.Workers)
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
func (m *dirMove) object(ctx context.Context, o object) error {
	f, to := m.fs, m.to+o.key[len(m.from):]
	switch {
	case o.key == m.from:
		return nil
	case strings.HasSuffix(o.key, "/") && o.size == 0:
		return f.putMarker(ctx, to)
	case strings.HasSuffix(o.key, "/"):
		return f.copyMarker(ctx, o.key, to)
	}
	from := head{object: o}
	if !f.copiesWhole(o) {
		found, err := f.headKey(ctx, o.key)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case isGone(found.metadata): // a move ended before it could delete it
			return f.deleteGone(ctx, o.key, found.etag)
		}
		from = found
	}
	etag, err := f.copyObject(ctx, from, to)
	adopted := m.resumed && errors.Is(err, fs.ErrExist)
	if adopted {
		err = m.checkCopy(ctx, from.object, to)
	}
	if err != nil {
		return err
	}
	err = f.takeAway(ctx, from.object)
	switch {
	case err == nil:
		m.moved.Add(1)
		return nil
	case !errors.Is(err, errTaken):
		return err
	case !adopted:
		if err := m.takeBack(ctx, to, etag); err != nil {
			return err
		}
	}
	return errSourceChanged
}

// checkCopy returns [fs.ErrExist] if the object to is not the copy of from that
// a move has made which ended before it could delete from.
// Nor is it this Move's to use if another has written itself into the marker:
// that may have made the copy, and take it back.
func (m *dirMove) checkCopy(ctx context.Context, from object, to string) error {
	if !m.isLast(ctx) {
		return errSourceChanged
	}
	made, err := m.fs.headKey(ctx, to)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errSourceChanged
	case err != nil:
		return err
	case made.size != from.size:
		return fs.ErrExist
	case made.etag == from.etag:
		return nil
	}
	same, err := m.fs.sameContent(ctx, from, made.object)
	if err == nil && !same {
		return fs.ErrExist
	}
	return err
}

// sameContent compares two objects of one size.
func (f *FS) sameContent(ctx context.Context, a, b object) (bool, error) {
	var bodies [2]io.ReadCloser
	for i, o := range []object{a, b} {
		out, err := f.client.GetObject(ctx, &s3.GetObjectInput{Bucket: f.bucket, Key: aws.String(o.key), IfMatch: aws.String(o.etag)})
		switch {
		case isMissing(err), isConflict(err):
			return false, errSourceChanged
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
	for rest := a.size; rest > 0; {
		n := min(rest, int64(len(chunks[0])))
		for i, body := range bodies {
			if _, err := io.ReadFull(body, chunks[i][:n]); err != nil {
				return false, err
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
func (m *dirMove) isLast(ctx context.Context) bool {
	marker, err := m.fs.headKey(ctx, m.to)
	return err == nil && marker.metadata[moverKey] == m.id
}

// takeBack deletes the copy to, whose source somebody else has written, removed
// or moved, unless another Move has gone on with this one: that may have taken
// the copy for its own, and then it is the only one there is.
func (m *dirMove) takeBack(ctx context.Context, to, etag string) error {
	ctx, cancel := m.fs.afterwards(ctx) // or the copy would stay
	defer cancel()
	if !m.isLast(ctx) {
		return nil
	}
	if err := m.fs.delete(ctx, to, m.fs.ifUnchanged(etag)); !isRefusal(err) {
		return err
	}
	return nil
}

// failed returns the error of a move that failed with err. What it has made is
// removed if nothing has been moved.
func (m *dirMove) failed(ctx context.Context, source, destination string, err error) error {
	partly := func(cause error) error { return cause }
	if m.resumed || !m.disclaim(ctx, destination) {
		partly = func(cause error) error {
			const text = "it has moved in part: %d files have got the new name now, the others have the old one, and some may have both; move it again to go on"
			if cause == nil {
				return fmt.Errorf(text, m.moved.Load())
			}
			return fmt.Errorf(text+": %w", m.moved.Load(), cause)
		}
	}
	kind, cause := diagnose(err)
	switch ended := ctx.Err(); {
	case ended != nil:
		kind, cause = ended, nil
	case errors.Is(err, errSourceChanged):
		kind, cause = workspace.ErrUnavailable, errSourceChanged
	case errors.Is(err, errUnknownOutcome):
		kind, cause = workspace.ErrUnavailable, errUnknownOutcome
	case errors.Is(err, errUnlistable):
		kind, cause = workspace.ErrNotEmpty, errUnlistable
	case errors.Is(err, fs.ErrExist):
		source, kind, cause = destination, fs.ErrExist, errors.New("somebody else has made a file in it")
	}
	return ops.Error(ops.Move, source, kind, partly(cause))
}

// disclaim removes the directory destination if nothing has been moved to it. It
// reports whether nothing has.
func (m *dirMove) disclaim(ctx context.Context, destination string) bool {
	f := m.fs
	ctx, cancel := f.afterwards(ctx)
	defer cancel()
	found, err := f.find(ctx, destination, findKeys)
	if err != nil || !found.empty {
		return false
	}
	f.folders.forget(destination)
	_ = f.delete(ctx, m.to, nil) // else an empty directory stays
	return true
}

// copyMarker copies a marker with the content that another program gave it.
func (f *FS) copyMarker(ctx context.Context, from, to string) error {
	_, err := f.client.CopyObject(ctx, &s3.CopyObjectInput{
		Bucket: f.bucket, Key: aws.String(to), CopySource: f.copySource(from),
	})
	return err
}

// deleteBatches deletes any number of objects, the last ones first.
func (f *FS) deleteBatches(ctx context.Context, keys []string) error {
	for len(keys) > 0 {
		n := max(len(keys)-maxKeys, 0)
		if err := f.deleteAll(ctx, keys[n:]); err != nil {
			return err
		}
		keys = keys[:n]
	}
	return nil
}
