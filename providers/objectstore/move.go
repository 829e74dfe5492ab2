package objectstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"golang.org/x/sync/errgroup"

	"github.com/workspacekit/workspacekit/workspace"
)

// Move implements [workspace.Mover]. A store cannot rename: a file is copied,
// as by Copy, and then removed if it is still what was copied, in two to four
// requests more. A directory moves file by file, so others may see a part of it at each
// name, and a Move that fails may leave it so: what has moved is at the new
// name, and the rest at the old one. Moves of one directory at the same moment
// share out its files.
func (f *FS) Move(ctx context.Context, source, destination string) error {
	if err := f.checkPair(ctx, workspace.OpMove, source, destination); err != nil {
		return err
	}
	if source == "." {
		return workspace.NewPathError(workspace.OpMove, source, fs.ErrInvalid, errors.New("the root cannot be moved"))
	}
	if destination == "." || destination == source {
		return f.moveOntoExisting(ctx, source, destination)
	}
	found, err := f.find(ctx, source, findKeys)
	switch {
	case err != nil:
		return fault(ctx, workspace.OpMove, source, err)
	case !found.exists:
		return f.missing(ctx, workspace.OpMove, source)
	case !found.info.IsDir():
		return f.moveFile(ctx, source, destination)
	case strings.HasPrefix(destination, source+"/"):
		return workspace.NewPathError(workspace.OpMove, source, fs.ErrInvalid, errors.New("a directory cannot be moved into itself"))
	}
	return f.moveDir(ctx, source, destination)
}

// moveOntoExisting returns the error of a move to a name that is known to
// exist if the source does.
func (f *FS) moveOntoExisting(ctx context.Context, source, destination string) error {
	if _, err := f.stat(ctx, workspace.OpMove, source); err != nil {
		return err
	}
	return workspace.NewPathError(workspace.OpMove, destination, fs.ErrExist, nil)
}

func (f *FS) moveFile(ctx context.Context, source, destination string) error {
	from, err := f.source(ctx, workspace.OpMove, source)
	if err != nil {
		return err
	}
	if err := f.keep(ctx, source); err != nil {
		return fault(ctx, workspace.OpMove, source, err)
	}
	etag, err := f.copyFile(ctx, workspace.OpMove, from, source, destination)
	if err != nil {
		return err
	}
	err = f.takeAway(ctx, from.object)
	if errors.Is(err, errTaken) {
		err = f.undoCopy(ctx, source, destination, etag)
		f.watches.removed(destination)
		return err
	}
	if err != nil {
		return takeError(ctx, source, err)
	}
	f.watches.removed(source)
	return nil
}

// takeError returns the error of a move whose copy exists, and whose source may.
func takeError(ctx context.Context, source string, err error) error {
	if ended := ctx.Err(); ended != nil {
		return workspace.NewPathError(workspace.OpMove, source, ended, nil)
	}
	kind, cause := diagnose(err)
	return workspace.NewPathError(workspace.OpMove, source, kind,
		fmt.Errorf("it has been copied to the new name, and may not have been removed from the old one: %w", cause))
}

// undoCopy deletes the copy of a source that somebody else has written or
// moved before it could be removed. It returns the error of the move.
func (f *FS) undoCopy(ctx context.Context, source, destination, etag string) error {
	late, cancel := f.afterwards(ctx)
	defer cancel()
	if err := f.delete(late, f.key(destination), f.ifUnchanged(etag)); err != nil && !isRefusal(err) {
		return fault(ctx, workspace.OpMove, destination, err)
	}
	isFile, err := f.isFile(ctx, source)
	switch {
	case err != nil:
		return fault(ctx, workspace.OpMove, source, err)
	case isFile:
		return workspace.NewPathError(workspace.OpMove, source, workspace.ErrUnavailable, errSourceChanged)
	}
	return f.missing(ctx, workspace.OpMove, source)
}

// ifUnchanged returns the condition of a delete, where the store honours it.
func (f *FS) ifUnchanged(etag string) *string {
	if f.compat.ConditionalDelete {
		return aws.String(etag)
	}
	return nil
}

// errTaken says that an object is no longer what it was.
var errTaken = errors.New("the object has been changed or removed")

// takeAway deletes the object o if nobody has written or deleted it. Of several
// that do so at the same moment one succeeds. A store that cannot delete on a
// condition can write on one: what is written is no file any more.
//
// # Errors
// errTaken, errUnknownOutcome, and the store's.
func (f *FS) takeAway(ctx context.Context, o object) error {
	if f.compat.ConditionalDelete {
		return f.takeAtOnce(ctx, o)
	}
	gone := description{metaHeader(goneKey): {"true"}}
	etag, err := f.put(ctx, o.key, []byte(goneText), gone, workspace.WriteOptions{IfVersion: versionOf(o.etag)})
	switch {
	case errors.Is(err, workspace.ErrConflict):
		return errTaken
	case err != nil:
		return err
	}
	// Whoever writes the file from now on makes a new one, which is to stay:
	// stores that look at the condition keep it, if not in the same step.
	err = f.delete(ctx, o.key, aws.String(etag))
	if isRefusal(err) {
		return nil
	}
	return err
}

func (f *FS) takeAtOnce(ctx context.Context, o object) error {
	c := newCondition(workspace.WriteOptions{IfVersion: versionOf(o.etag)})
	_, err := f.client.DeleteObject(ctx, &s3.DeleteObjectInput{
		Bucket: f.bucket, Key: aws.String(o.key), IfMatch: c.ifMatch,
	}, c.count)
	switch {
	case !isRefusal(err):
		return err
	case c.sent.lost > 0:
		return errUnknownOutcome
	}
	return errTaken
}

// moveDir moves the directory source, key by key: also those that are no names.
func (f *FS) moveDir(ctx context.Context, source, destination string) error {
	if err := f.claim(ctx, destination); err != nil {
		return err
	}
	err := f.moveTree(ctx, source, destination)
	if err == nil {
		f.watches.renamed(source, destination)
		return nil
	}
	f.disclaim(ctx, destination)
	switch {
	case errors.Is(err, errSourceChanged):
		return workspace.NewPathError(workspace.OpMove, source, workspace.ErrUnavailable, errSourceChanged)
	case errors.Is(err, fs.ErrExist):
		return workspace.NewPathError(workspace.OpMove, destination, fs.ErrExist, errors.New("somebody else has made a file in it"))
	}
	return takeError(ctx, source, err)
}

// disclaim removes the directory destination if nothing has been moved to it,
// so that the move can be tried again.
func (f *FS) disclaim(ctx context.Context, destination string) {
	ctx, cancel := f.afterwards(ctx)
	defer cancel()
	if found, err := f.find(ctx, destination, findKeys); err == nil && found.empty && found.exists {
		f.folders.forget(destination)
		_ = f.delete(ctx, f.dirKey(destination), nil) // else an empty directory stays
	}
}

// claim makes the directory destination, which must not exist.
func (f *FS) claim(ctx context.Context, destination string) error {
	found, err := f.find(ctx, destination, findKeys)
	switch {
	case err != nil:
		return fault(ctx, workspace.OpMove, destination, err)
	case found.exists:
		return workspace.NewPathError(workspace.OpMove, destination, fs.ErrExist, nil)
	}
	if err := f.checkParent(ctx, destination, true); err != nil {
		return workspace.RenameError(err, workspace.OpMove, destination)
	}
	if err := f.mark(ctx, destination); err != nil {
		return f.writeError(ctx, workspace.OpMove, destination, err)
	}
	return nil
}

// moveTree moves everything in the directory source, the markers last.
func (f *FS) moveTree(ctx context.Context, source, destination string) error {
	if err := f.keep(ctx, source); err != nil {
		return err
	}
	f.folders.forget(source)
	markers, err := f.moveObjects(ctx, f.dirKey(source), f.dirKey(destination))
	if err != nil {
		return err
	}
	return f.deleteBatches(ctx, markers)
}

// moveObjects moves the objects whose keys begin with from, and copies markers.
// It returns the markers that are to be deleted.
func (f *FS) moveObjects(ctx context.Context, from, to string) (markers []string, err error) {
	q := listQuery{prefix: from, flat: true}
	for {
		p, err := f.list(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, o := range p.objects {
			if strings.HasSuffix(o.key, "/") {
				markers = append(markers, o.key)
			}
		}
		group, moving := errgroup.WithContext(ctx)
		group.SetLimit(f.opts.Workers)
		for _, o := range p.objects {
			group.Go(func() error { return f.moveObject(moving, o, to+o.key[len(from):]) })
		}
		if err := group.Wait(); err != nil {
			return nil, err
		}
		if q.token = p.token; q.token == "" {
			return markers, nil
		}
	}
}

// moveObject moves one object of a directory. One that somebody else has
// removed is not missed.
func (f *FS) moveObject(ctx context.Context, o object, to string) error {
	if strings.HasSuffix(o.key, "/") {
		return f.copyMarker(ctx, o, to)
	}
	from := head{object: o}
	if !f.copiesWhole(o) {
		found, err := f.headKey(ctx, o.key)
		if errors.Is(err, fs.ErrNotExist) || err == nil && isGone(found.metadata) {
			return nil
		}
		if err != nil {
			return err
		}
		from = found
	}
	etag, err := f.copyObject(ctx, from, to)
	if err != nil {
		return err
	}
	err = f.takeAway(ctx, from.object)
	if errors.Is(err, errTaken) {
		late, cancel := f.afterwards(ctx)
		defer cancel()
		if err := f.delete(late, to, f.ifUnchanged(etag)); err != nil && !isRefusal(err) {
			return err
		}
		return errSourceChanged
	}
	return err
}

// copyMarker copies the marker o, with the content that another program may
// have given it.
func (f *FS) copyMarker(ctx context.Context, o object, to string) error {
	if o.size == 0 {
		return f.putMarker(ctx, to)
	}
	_, err := f.client.CopyObject(ctx, &s3.CopyObjectInput{
		Bucket: f.bucket, Key: aws.String(to), CopySource: f.copySource(o.key),
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
