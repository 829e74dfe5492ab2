// Package bucket has the operations on the objects of a bucket that the files of
// a workspace need, where a store is slow, forgets answers and knows neither
// moves nor locks. It works on keys; what they mean to a workspace is the
// business of its caller.
//
// In go keys, contents and the conditions of a write; out come objects and
// errors. Beside the plain requests there are these mechanisms:
//
//   - A conditional write finds out what became of it when its answer was lost
//     (condition.go).
//   - A download continues after a lost connection, and one whose content is not
//     what its ETag says is repeated (download.go, read.go).
//   - A long content is an upload in parts, some at a time (upload.go).
//   - A copy, and taking an object away, are atomic on stores that honour no
//     conditions for them (copy.go, delete.go).
//   - A directory moves key by key, and continues where a failed move ended
//     (dirmove.go).
//   - What describes an object is kept by the writes that replace it
//     (description.go).
//
// # Errors
//
// Methods return the kinds of the contract where the store's answer has one
// ([io/fs.ErrNotExist], [io/fs.ErrExist], [workspace.ErrConflict]), the
// variables of this package, and for everything else what package answer makes
// of it, whose text may be shown.
package bucket

import (
	"context"
	"io/fs"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/workspacekit/workspacekit/providers/objectstore/internal/answer"
	"github.com/workspacekit/workspacekit/providers/objectstore/internal/listing"
	"github.com/workspacekit/workspacekit/providers/objectstore/internal/object"
)

// Options are what a Bucket has to know of the store and of its caller.
type Options struct {
	// Unconditional, UnconditionalUpload, VerifyETags, ConditionalCopy and
	// ConditionalDelete are as in the Compat of package objectstore.
	Unconditional, UnconditionalUpload, VerifyETags, ConditionalCopy, ConditionalDelete bool

	Opaque         bool          // the ETags are not MD5 sums, because of the encryption
	AccessPoint    bool          // the name is the ARN of an access point
	Workers        int           // how many objects are deleted or moved at a time
	CopyPart       int64         // the size of the parts of a long copy; zero means 1 GiB
	DescriptionTTL time.Duration // how long a description is believed
}

// Bucket is a bucket, through a client that checks and explains the answers
// ([answer.Check]). It is safe for concurrent use.
type Bucket struct {
	client       *s3.Client
	name         *string
	opts         Options
	descriptions *descriptions

	sums   atomic.Bool // an ETag was the MD5 sum of its content
	opaque atomic.Bool // the ETags of the store are not MD5 sums of the content

	background sync.WaitGroup
	mu         sync.Mutex // guards closed, and background from growing after it is set
	closed     bool
}

// New returns the bucket name.
func New(client *s3.Client, name string, opts Options) *Bucket {
	if opts.CopyPart == 0 {
		opts.CopyPart = copyPart
	}
	b := &Bucket{client: client, name: aws.String(name), opts: opts, descriptions: newDescriptions(opts.DescriptionTTL)}
	b.opaque.Store(opts.Opaque)
	return b
}

// closeWait is how long Close waits. A process that ends may leave the rest to the store's own rule
// for incomplete uploads.
const closeWait = 5 * time.Second

// Close waits for what has been left to the background, at most closeWait.
func (b *Bucket) Close() {
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	ended := make(chan struct{})
	go func() {
		b.background.Wait() // which ends within abortTime
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(closeWait):
	}
}

// inBackground starts do, which ends within abortTime, and for which Close waits.
func (b *Bucket) inBackground(do func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		go do()
		return
	}
	b.background.Go(do)
}

// SetCopyPart changes the size of the parts of a long copy, for tests.
func (b *Bucket) SetCopyPart(size int64) { b.opts.CopyPart = size }

// Server returns what the store calls itself, by a HEAD of the bucket. It is
// empty if the store says nothing.
func (b *Bucket) Server(ctx context.Context) (string, error) {
	out, err := b.client.HeadBucket(ctx, &s3.HeadBucketInput{Bucket: b.name})
	if err != nil {
		return "", err
	}
	return headerOf(out.ResultMetadata).Get("Server"), nil
}

// headerOf returns the header of an answer as it came, which must not change.
func headerOf(answer middleware.Metadata) http.Header {
	raw, ok := awsmiddleware.GetRawResponse(answer).(*smithyhttp.Response)
	if !ok {
		return nil
	}
	return raw.Header
}

// PresignGet returns a URL with which anyone can GET the object key for as long
// as ttl.
func (b *Bucket) PresignGet(ctx context.Context, key string, ttl time.Duration) (string, error) {
	signed, err := s3.NewPresignClient(b.client).PresignGetObject(ctx,
		&s3.GetObjectInput{Bucket: b.name, Key: aws.String(key)}, s3.WithPresignExpires(ttl))
	if err != nil {
		return "", err
	}
	return signed.URL, nil
}

// Head is an object with what the store keeps beside its content.
type Head struct {
	object.Object
	header   http.Header       // of the answer
	metadata map[string]string // of the user, and the token
}

// Description returns what describes the object.
func (h Head) Description() Description { return describedBy(h.header) }

// Stat asks for the object key. A tombstone is [fs.ErrNotExist], as an object
// that does not exist is.
func (b *Bucket) Stat(ctx context.Context, key string) (Head, error) {
	h, err := b.head(ctx, key)
	if err == nil && object.HasTombstone(h.metadata) {
		return Head{}, fs.ErrNotExist
	}
	return h, err
}

// head is Stat that shows tombstones.
func (b *Bucket) head(ctx context.Context, key string) (Head, error) {
	out, err := b.client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: b.name, Key: aws.String(key)})
	switch {
	case answer.IsMissing(err):
		return Head{}, fs.ErrNotExist
	case err != nil:
		return Head{}, err
	}
	return Head{
		Object: object.Object{
			Key: key, Size: aws.ToInt64(out.ContentLength), ETag: aws.ToString(out.ETag),
			Modified: aws.ToTime(out.LastModified), Class: string(out.StorageClass),
		},
		header:   headerOf(out.ResultMetadata),
		metadata: out.Metadata,
	}, nil
}

// HasAny reports whether any key begins with prefix.
func (b *Bucket) HasAny(ctx context.Context, prefix string) (bool, error) {
	p, err := b.List(ctx, listing.Query{Prefix: prefix, Limit: 1, Flat: true})
	return !p.Empty(), err
}

// How long it may take to clean up after a call, and how long once its context
// has ended.
const (
	abortTime = 30 * time.Second
	lateTime  = 500 * time.Millisecond
)

// Afterwards returns a context in which to clean up after a call with ctx.
func Afterwards(ctx context.Context) (context.Context, context.CancelFunc) {
	late, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	timer := time.AfterFunc(abortTime, func() { cancel(answer.ErrLate) })
	stop := context.AfterFunc(ctx, func() { timer.Reset(lateTime) })
	return late, func() {
		stop()
		timer.Stop()
		cancel(nil)
	}
}
