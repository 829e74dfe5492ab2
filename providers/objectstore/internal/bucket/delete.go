package bucket

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	"golang.org/x/sync/errgroup"

	"github.com/workspacekit/workspacekit/providers/objectstore/internal/answer"
	"github.com/workspacekit/workspacekit/providers/objectstore/internal/listing"
	"github.com/workspacekit/workspacekit/providers/objectstore/internal/object"
	"github.com/workspacekit/workspacekit/workspace"
)

// Delete deletes the object key. One that does not exist is no error.
func (b *Bucket) Delete(ctx context.Context, key string) error {
	err := b.deleteIf(ctx, key, nil)
	if answer.Code(err) == noSuchKey {
		return nil
	}
	return err
}

// noSuchKey is what some stores answer when two delete an object at one moment.
const noSuchKey = "NoSuchKey"

// deleteIf deletes the object key, if it has the ETag ifMatch where that is not
// nil.
func (b *Bucket) deleteIf(ctx context.Context, key string, ifMatch *string, opts ...func(*s3.Options)) error {
	_, err := b.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: b.name, Key: aws.String(key), IfMatch: ifMatch}, opts...)
	return err
}

// RemoveTree deletes the keys that were found below dirKey and all that follow,
// the marker last.
//
// # Errors
//
// ErrUnlistable, and the store's.
func (b *Bucket) RemoveTree(ctx context.Context, dirKey string, found Finding) error {
	keys, token := found.Keys, found.Token
	marked, doubt := false, false
	q := listing.Query{Prefix: dirKey, Flat: true} // begins again: the token may be of another prefix
	for {
		doubt = doubt || slices.ContainsFunc(keys, listing.Misspelt)
		if len(keys) > 0 && keys[0] == dirKey {
			marked, keys = true, keys[1:]
		}
		slices.Reverse(keys)
		if token == "" && marked {
			keys = append(keys, dirKey)
		}
		for batch := range slices.Chunk(keys, listing.MaxKeys) { // the marker may be one too many
			if err := b.deleteAll(ctx, batch); err != nil {
				return err
			}
		}
		if token == "" {
			return b.checkEmptied(ctx, dirKey, doubt)
		}
		p, err := b.List(ctx, q)
		if err != nil {
			return err
		}
		keys, token = p.Keys(), p.Token
		q = q.Next(p)
	}
}

// ErrUnlistable says that objects remain whose keys the store cannot list.
var ErrUnlistable = answer.New(workspace.ErrNotEmpty,
	"it has objects whose keys the store lists with other characters: remove those with another program")

// checkEmptied returns ErrUnlistable if an object remains whose key begins with
// prefix. It asks the store only if a key was in doubt: to delete one that does
// not exist succeeds.
func (b *Bucket) checkEmptied(ctx context.Context, prefix string, doubt bool) error {
	if !doubt {
		return nil
	}
	remains, err := b.HasAny(ctx, prefix)
	if err == nil && remains {
		return ErrUnlistable
	}
	return err
}

// deleteAll deletes up to 1,000 objects, in one request where the store can and
// XML can spell the keys: what it cannot, it would turn into other keys.
func (b *Bucket) deleteAll(ctx context.Context, keys []string) error {
	switch {
	case len(keys) == 0:
		return nil
	case len(keys) == 1:
		return b.Delete(ctx, keys[0])
	case slices.ContainsFunc(keys, notXML):
		return b.deleteEach(ctx, keys)
	}
	objects := make([]types.ObjectIdentifier, len(keys))
	for i, key := range keys {
		objects[i].Key = aws.String(key)
	}
	out, err := b.client.DeleteObjects(ctx, &s3.DeleteObjectsInput{
		Bucket: b.name, Delete: &types.Delete{Objects: objects},
	}, answer.CheckDeleted(len(keys)))
	switch answer.Code(err) {
	case "":
	case "NotImplemented", "MethodNotAllowed", "MissingContentMD5":
		return b.deleteEach(ctx, keys)
	}
	if err != nil {
		return err
	}
	for _, e := range out.Errors {
		if code := aws.ToString(e.Code); code != noSuchKey {
			return answer.Explain(ctx, &smithy.GenericAPIError{Code: code, Message: aws.ToString(e.Message)})
		}
	}
	return nil
}

// notXML reports whether key has a character that XML 1.0 cannot spell
// (https://www.w3.org/TR/xml/#charsets), or is not valid UTF-8.
func notXML(key string) bool {
	return !utf8.ValidString(key) || strings.ContainsFunc(key, func(r rune) bool {
		return r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0xfffe || r == 0xffff
	})
}

// deleteEach deletes the objects side by side.
func (b *Bucket) deleteEach(ctx context.Context, keys []string) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(b.opts.Workers)
	for _, key := range keys {
		group.Go(func() error { return b.Delete(ctx, key) })
	}
	return group.Wait()
}

// ErrTaken says that an object is no longer what it was.
var ErrTaken = errors.New("the object has been changed or removed")

// Take deletes the object from, which has been copied, if nobody has written or
// deleted it. Of several that do so at the same moment one succeeds. A store that
// cannot delete on a condition can write on one: it puts a tombstone in the
// object's place, which is no file, and deletes that.
//
// # Errors
//
// ErrTaken, errUnknownOutcome, and the store's.
func (b *Bucket) Take(ctx context.Context, from Head, copied Written) error {
	o := workspace.WriteOptions{IfVersion: from.Version()}
	c, again := newCondition(o), b.repeatWhile(ctx, from.written(), copied)
	if b.opts.ConditionalDelete {
		return b.takeAtOnce(ctx, from.Key, c, again)
	}
	tombstone := Description{MetaHeader(object.TombstoneKey): {"true"}}
	etag, err := b.put(ctx, from.Key, []byte(object.TombstoneText), tombstone, o, c, again)
	switch {
	case errors.Is(err, workspace.ErrConflict):
		return ErrTaken
	case err != nil:
		return err
	}
	return b.deleteTombstone(ctx, Written{Key: from.Key, ETag: etag, token: c.token})
}

// deleteTombstone deletes what has taken the place of a file that was moved away.
// Whoever writes the file from then on creates a new one, which must stay: stores
// that look at the condition keep it, if not in the same step.
func (b *Bucket) deleteTombstone(ctx context.Context, w Written) error {
	err := b.deleteIf(ctx, w.Key, aws.String(w.ETag), b.repeatWhile(ctx, w))
	if answer.IsRefusal(err) {
		return nil
	}
	return err
}

func (b *Bucket) takeAtOnce(ctx context.Context, key string, c condition, again func(*s3.Options)) error {
	err := b.deleteIf(ctx, key, c.ifMatch, again, c.count)
	switch {
	case !answer.IsRefusal(err):
		return err
	case c.sent.lost > 0:
		return errUnknownOutcome
	}
	return ErrTaken
}

// repeatWhile is an option of a request with ctx. The SDK sends it again only while
// the objects are what these writes made. The condition of the request does not
// tell that: somebody else may have moved a file back meanwhile, with the same bytes.
func (b *Bucket) repeatWhile(ctx context.Context, objects ...Written) func(*s3.Options) {
	sent := false
	step := func(attempt context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler) (out middleware.FinalizeOutput, metadata middleware.Metadata, err error) {
		if sent {
			err = b.check(ctx, objects)
		}
		if sent = true; err != nil {
			return out, metadata, err
		}
		return next.HandleFinalize(attempt, in)
	}
	return func(o *s3.Options) {
		o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
			return stack.Finalize.Insert(middleware.FinalizeMiddlewareFunc("workspacekit:RepeatWhile", step), "Retry", middleware.After)
		})
	}
}

// check returns what the store answers if a condition does not hold, unless objects are what
// these writes made.
func (b *Bucket) check(ctx context.Context, objects []Written) error {
	for _, w := range objects {
		now, err := b.head(ctx, w.Key)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err != nil || !w.is(now) {
			return &smithy.GenericAPIError{Code: "PreconditionFailed"}
		}
	}
	return nil
}

// TakeBack deletes what the write w made. If somebody else has written or deleted it since, or
// may have, it stays, and that is no error.
func (b *Bucket) TakeBack(ctx context.Context, w Written) error {
	now, err := b.head(ctx, w.Key)
	if err == nil && w.is(now) {
		err = b.Take(ctx, now, w)
	}
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrTaken) || errors.Is(err, errUnknownOutcome) {
		return nil
	}
	return err
}
