package bucket

import (
	"context"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/workspacekit/workspacekit/providers/objectstore/internal/answer"
	"github.com/workspacekit/workspacekit/providers/objectstore/internal/object"
	"github.com/workspacekit/workspacekit/workspace"
)

// The largest object that CopyObject copies, and the size of the parts in which
// a larger one is copied
// (https://docs.aws.amazon.com/AmazonS3/latest/userguide/qfacts.html). 10,000
// parts are more than the largest object.
const (
	maxCopy  = 5 << 30
	copyPart = 1 << 30
)

// ErrSourceChanged says that a file was written while it was copied.
var ErrSourceChanged = answer.New(workspace.ErrUnavailable, "the file was written at the same moment: try again")

// Written is what one write made. The token tells it from another write of the same
// bytes, which has the same ETag.
type Written struct {
	Key, ETag string
	token     string    // empty if the writer gave it none
	modified  time.Time // zero if the store has not said it
}

// written returns what made h.
func (h Head) written() Written { return Written{h.Key, h.ETag, h.metadata[tokenKey], h.Modified} }

// is reports whether now is what the write made.
func (w Written) is(now Head) bool {
	return now.Version() == object.VersionOf(w.ETag) && now.metadata[tokenKey] == w.token &&
		(w.modified.IsZero() || w.modified.Equal(now.Modified))
}

// Copy copies from to the key to, which must not exist, in the way that
// suits the store and the size.
//
// # Errors
//
// ErrSourceChanged, and those of conditional.
func (b *Bucket) Copy(ctx context.Context, from Head, to string) (Written, error) {
	if b.copiesWhole(from.Object) {
		return b.copyWhole(ctx, from, to)
	}
	if empty, err := b.isEmpty(ctx, from.Object); !empty || err != nil {
		if err != nil {
			return Written{}, err
		}
		return b.copyParts(ctx, from, to)
	}
	d, err := b.withTags(ctx, from.Key, from.Description()) // what is empty cannot be a part
	if err != nil {
		return Written{}, err
	}
	o := workspace.WriteOptions{IfNotExist: true}
	c := newCondition(o)
	etag, err := b.put(ctx, to, nil, d, o, c)
	return Written{Key: to, ETag: etag, token: c.token}, err
}

// isEmpty reports whether o is empty. Some proxies say so of everything that a
// HEAD asks for, so it is read unless its ETag proves it.
func (b *Bucket) isEmpty(ctx context.Context, o object.Object) (bool, error) {
	if o.Size > 0 || o.IsProvenEmpty() {
		return o.Size == 0, nil
	}
	d, err := b.fetch(ctx, o.Key, nil, aws.String(o.ETag))
	switch {
	case answer.IsConflict(err), answer.IsMissing(err):
		return false, ErrSourceChanged
	case err != nil:
		return false, err
	}
	defer d.Close()
	data, err := d.readOn(nil, 1)
	return len(data) == 0, err
}

// copiesWhole reports whether one CopyObject copies o.
func (b *Bucket) copiesWhole(o object.Object) bool { return b.opts.ConditionalCopy && o.Size < maxCopy }

// copyWhole copies in one request. What describes the source is sent, or the copy
// would have no token; the store copies the tags.
func (b *Bucket) copyWhole(ctx context.Context, from Head, to string) (Written, error) {
	o := workspace.WriteOptions{IfNotExist: true}
	first := newCondition(o)
	in := &s3.CopyObjectInput{
		Bucket: b.name, Key: aws.String(to), IfNoneMatch: first.ifNoneMatch,
		CopySource: b.copySource(from.Key), CopySourceIfMatch: aws.String(from.ETag),
		MetadataDirective: types.MetadataDirectiveReplace, Metadata: first.metadata(),
	}
	made := Written{Key: to, token: first.token}
	etag, err := b.conditional(ctx, to, o, first, func(c condition) (string, error) {
		switch {
		case c.ifMatch != nil: // there is a tombstone
			var err error
			made, err = b.copyParts(ctx, from, to)
			return made.ETag, err
		case c.sent != first.sent: // it was refused, though there is nothing: because of the source
			return "", ErrSourceChanged
		}
		out, err := b.client.CopyObject(ctx, in, c.count, from.Description().apply)
		if answer.Code(err) == "MetadataTooLarge" { // there is no room for the token
			in.Metadata, made.token = nil, ""
			out, err = b.client.CopyObject(ctx, in, c.count, from.Description().apply)
		}
		if err != nil {
			return "", err
		}
		return aws.ToString(out.CopyObjectResult.ETag), nil
	})
	made.ETag = etag
	return made, err
}

// copyParts copies by an upload whose parts are ranges of the source.
func (b *Bucket) copyParts(ctx context.Context, from Head, to string) (Written, error) {
	d, err := b.withTags(ctx, from.Key, from.Description())
	if err != nil {
		return Written{}, err
	}
	u, err := b.BeginUpload(ctx, to, d, workspace.WriteOptions{IfNotExist: true})
	if err != nil {
		return Written{}, err
	}
	if from.Size <= b.opts.CopyPart {
		err = u.copyPart(from.Object, nil) // all of it, whatever its size was said to be
	} else {
		for first := int64(0); first < from.Size && err == nil; first += b.opts.CopyPart {
			err = u.copyPart(from.Object, Window{first, min(first+b.opts.CopyPart, from.Size) - 1}.header())
		}
	}
	made := Written{Key: to, token: u.cond.token}
	if err == nil {
		made.ETag, err = u.Complete()
	}
	if err != nil {
		u.Abort()
	}
	return made, err
}

// copySource names the object key as the header wants it, encoded as a path.
func (b *Bucket) copySource(key string) *string {
	elements := strings.Split(key, "/")
	for i, element := range elements {
		elements[i] = strings.ReplaceAll(url.QueryEscape(element), "+", "%20")
	}
	bucket := *b.name
	if b.opts.AccessPoint {
		bucket += "/object"
	}
	return aws.String(bucket + "/" + strings.Join(elements, "/"))
}
