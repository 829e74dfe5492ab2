package bucket

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/workspacekit/workspacekit/providers/objectstore/internal/answer"
	"github.com/workspacekit/workspacekit/providers/objectstore/internal/object"
	"github.com/workspacekit/workspacekit/workspace"
)

const (
	// maxParts is how many parts an upload may have
	// (https://docs.aws.amazon.com/AmazonS3/latest/userguide/qfacts.html).
	maxParts = 10_000
	// partsAtOnce is how many parts of an upload are sent at a time.
	partsAtOnce = 4
)

// Upload is a multipart upload. Its parts are sent side by side; all methods
// are for one goroutine.
type Upload struct {
	bucket *Bucket
	ctx    context.Context
	key    string
	id     *string
	opts   workspace.WriteOptions
	cond   condition

	slots chan struct{} // has room for the parts that are being sent
	group sync.WaitGroup
	sent  int32

	mu    sync.Mutex            // guards what follows
	parts []types.CompletedPart // not sorted
	err   error                 // of the first part that failed
}

// BeginUpload begins an upload to key, which takes place on the conditions of o.
func (b *Bucket) BeginUpload(ctx context.Context, key string, d Description, o workspace.WriteOptions) (*Upload, error) {
	if b.opts.UnconditionalUpload && o != (workspace.WriteOptions{}) {
		return nil, errUploadCondition
	}
	u := &Upload{bucket: b, ctx: ctx, key: key, opts: o, cond: newCondition(o), slots: make(chan struct{}, partsAtOnce)}
	u.cond.token = rand.Text() // some stores refuse to complete an upload twice
	out, err := b.client.CreateMultipartUpload(ctx, &s3.CreateMultipartUploadInput{
		Bucket: b.name, Key: aws.String(key), Metadata: u.cond.metadata(),
	}, d.apply)
	if err != nil {
		return nil, err
	}
	u.id = out.UploadId
	return u, nil
}

// errUploadCondition says that a long file cannot be written on a condition.
var errUploadCondition = answer.New(errors.ErrUnsupported, "the store honours no conditions for a file of more than one part")

// errParts says that a file is too long for its parts.
var errParts = answer.New(workspace.ErrTooLarge, "the file has more than 10,000 parts: raise PartSize")

// Send sends data, which must not change any more, as the next part. It
// returns the error of an earlier part if one has failed.
func (u *Upload) Send(data []byte) error {
	return u.add(func(number *int32) (types.CompletedPart, error) {
		out, err := u.bucket.client.UploadPart(u.ctx, &s3.UploadPartInput{
			Bucket: u.bucket.name, Key: aws.String(u.key), UploadId: u.id, PartNumber: number, Body: bytes.NewReader(data),
		})
		if err != nil {
			return types.CompletedPart{}, err
		}
		return types.CompletedPart{
			PartNumber: number, ETag: out.ETag, ChecksumCRC32: out.ChecksumCRC32, ChecksumCRC64NVME: out.ChecksumCRC64NVME,
		}, nil
	})
}

// copyPart makes the range rng of the object from, or all of it if that is nil,
// the next part. The object must not have changed.
func (u *Upload) copyPart(from object.Object, rng *string) error {
	return u.add(func(number *int32) (types.CompletedPart, error) {
		out, err := u.bucket.client.UploadPartCopy(u.ctx, &s3.UploadPartCopyInput{
			Bucket: u.bucket.name, Key: aws.String(u.key), UploadId: u.id, PartNumber: number,
			CopySource: u.bucket.copySource(from.Key), CopySourceIfMatch: aws.String(from.ETag), CopySourceRange: rng,
		})
		switch {
		case answer.IsConflict(err), answer.IsMissing(err):
			return types.CompletedPart{}, ErrSourceChanged
		case err != nil:
			return types.CompletedPart{}, err
		}
		return types.CompletedPart{
			PartNumber: number, ETag: out.CopyPartResult.ETag,
			ChecksumCRC32: out.CopyPartResult.ChecksumCRC32, ChecksumCRC64NVME: out.CopyPartResult.ChecksumCRC64NVME,
		}, nil
	})
}

// add makes the next part by send, once there is a slot for it.
func (u *Upload) add(send func(number *int32) (types.CompletedPart, error)) error {
	if u.sent == maxParts {
		return errParts
	}
	u.sent++
	number := aws.Int32(u.sent)
	u.slots <- struct{}{}
	if err := u.failure(); err != nil {
		<-u.slots
		return err
	}
	u.group.Go(func() {
		defer func() { <-u.slots }()
		part, err := send(number)
		u.mu.Lock()
		defer u.mu.Unlock()
		u.parts = append(u.parts, part)
		if u.err == nil {
			u.err = err
		}
	})
	return nil
}

func (u *Upload) failure() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.err
}

// Complete waits for all parts and makes them the object. If it fails, the
// upload must be aborted.
func (u *Upload) Complete() (etag string, err error) {
	u.group.Wait()
	if u.err != nil {
		return "", u.err
	}
	slices.SortFunc(u.parts, func(a, b types.CompletedPart) int { return int(*a.PartNumber - *b.PartNumber) })
	return u.bucket.conditional(u.ctx, u.key, u.opts, u.cond, func(c condition) (string, error) {
		out, err := u.bucket.client.CompleteMultipartUpload(u.ctx, &s3.CompleteMultipartUploadInput{
			Bucket: u.bucket.name, Key: aws.String(u.key), UploadId: u.id,
			MultipartUpload: &types.CompletedMultipartUpload{Parts: u.parts},
			IfMatch:         c.ifMatch, IfNoneMatch: c.ifNoneMatch,
		}, c.count)
		if err != nil {
			return "", err
		}
		return aws.ToString(out.ETag), nil
	})
}

// Abort gives up the upload, also if its context has ended: then it returns soon, and the
// request goes on until [Bucket.Close]. Should it fail, the store's own rule for incomplete
// uploads has to remove it.
func (u *Upload) Abort() {
	u.group.Wait()
	done := make(chan struct{})
	u.bucket.inBackground(func() {
		defer close(done)
		ctx, cancel := context.WithTimeout(context.WithoutCancel(u.ctx), abortTime)
		defer cancel()
		_, _ = u.bucket.client.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{
			Bucket: u.bucket.name, Key: aws.String(u.key), UploadId: u.id,
		})
	})
	late, cancel := Afterwards(u.ctx)
	defer cancel()
	select {
	case <-done:
	case <-late.Done():
	}
}
