package objectstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

// Move implements [workspace.Mover]. A store cannot rename: a file is copied,
// as by Copy, and then removed if it is still what was copied, in two to four
// requests more.
//
// A directory moves file by file, so others may see a part of it at each name,
// and a Move that fails or is killed may leave it so. The marker of the new
// directory says what is being moved to it, and the same Move again goes on
// where that one ended. Moves of one directory at the same moment share out its
// files.
func (f *FS) Move(ctx context.Context, source, destination string) error {
	if err := f.checkPair(ctx, ops.Move, source, destination); err != nil {
		return err
	}
	if source == "." {
		return ops.Error(ops.Move, source, fs.ErrInvalid, errors.New("the root cannot be moved"))
	}
	if destination == "." || destination == source {
		return f.moveOntoExisting(ctx, source, destination)
	}
	found, err := f.find(ctx, source, findKeys)
	switch {
	case err != nil:
		return fault(ctx, ops.Move, source, err)
	case !found.exists:
		return f.moveMissing(ctx, source, destination)
	case !found.info.IsDir():
		return f.moveFile(ctx, source, destination)
	case strings.HasPrefix(destination, source+"/"):
		return ops.Error(ops.Move, source, fs.ErrInvalid, errors.New("a directory cannot be moved into itself"))
	}
	return f.moveDir(ctx, source, destination)
}

// moveOntoExisting returns the error of a move to a name that is known to
// exist if the source does.
func (f *FS) moveOntoExisting(ctx context.Context, source, destination string) error {
	if _, err := f.stat(ctx, ops.Move, source); err != nil {
		return err
	}
	return ops.Error(ops.Move, destination, fs.ErrExist, nil)
}

func (f *FS) moveFile(ctx context.Context, source, destination string) error {
	from, err := f.source(ctx, ops.Move, source)
	if err != nil {
		return err
	}
	if err := f.keep(ctx, source); err != nil {
		return fault(ctx, ops.Move, source, err)
	}
	etag, err := f.copyFile(ctx, ops.Move, from, source, destination)
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
		return ops.Error(ops.Move, source, ended, nil)
	}
	kind, cause := diagnose(err)
	return ops.Error(ops.Move, source, kind,
		fmt.Errorf("it has been copied to the new name, and may not have been removed from the old one: %w", cause))
}

// undoCopy deletes the copy of a source that somebody else has written or
// moved before it could be removed. It returns the error of the move.
func (f *FS) undoCopy(ctx context.Context, source, destination, etag string) error {
	late, cancel := f.afterwards(ctx)
	defer cancel()
	if err := f.delete(late, f.key(destination), f.ifUnchanged(etag)); err != nil && !isRefusal(err) {
		return fault(ctx, ops.Move, destination, err)
	}
	isFile, err := f.isFile(ctx, source)
	switch {
	case err != nil:
		return fault(ctx, ops.Move, source, err)
	case isFile:
		return ops.Error(ops.Move, source, workspace.ErrUnavailable, errSourceChanged)
	}
	return f.missing(ctx, ops.Move, source)
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
//
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
	return f.deleteGone(ctx, o.key, etag)
}

// deleteGone deletes what has taken the place of a file that was moved away.
// Whoever writes the file from then on makes a new one, which is to stay: stores
// that look at the condition keep it, if not in the same step.
func (f *FS) deleteGone(ctx context.Context, key, etag string) error {
	err := f.delete(ctx, key, aws.String(etag))
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
