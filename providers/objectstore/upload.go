package objectstore

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/workspacekit/workspacekit/workspace"
)

const (
	// maxParts is how many parts an upload may have
	// (https://docs.aws.amazon.com/AmazonS3/latest/userguide/qfacts.html).
	maxParts = 10_000
	// partsAtOnce is how many parts of an upload are sent at a time.
	partsAtOnce = 4
	// abortTime is how long it may take to clean up after a call, and lateTime
	// how long once its context has ended.
	abortTime = 30 * time.Second
	lateTime  = 500 * time.Millisecond
)

// upload is a multipart upload. Its parts are sent side by side; all methods
// are for one goroutine.
type upload struct {
	fs   *FS
	ctx  context.Context
	key  string
	id   *string
	opts workspace.WriteOptions
	cond condition

	slots chan struct{} // has room for the parts that are being sent
	group sync.WaitGroup
	sent  int32

	mu    sync.Mutex            // guards what follows
	parts []types.CompletedPart // not sorted
	err   error                 // of the first part that failed
}

// beginUpload begins an upload to key.
func (f *FS) beginUpload(ctx context.Context, key string, d description, o workspace.WriteOptions) (*upload, error) {
	if f.compat.UnconditionalUpload && o != (workspace.WriteOptions{}) {
		return nil, errUploadCondition
	}
	u := &upload{fs: f, ctx: ctx, key: key, opts: o, cond: newCondition(o), slots: make(chan struct{}, partsAtOnce)}
	u.cond.token = rand.Text() // some stores refuse to complete an upload twice
	out, err := f.client.CreateMultipartUpload(ctx, &s3.CreateMultipartUploadInput{
		Bucket: f.bucket, Key: aws.String(key), Metadata: u.cond.metadata(),
	}, d.apply)
	if err != nil {
		return nil, err
	}
	u.id = out.UploadId
	return u, nil
}

// errUploadCondition says that a long file cannot be written on a condition.
var errUploadCondition = errors.New("the store honours no conditions for a file of more than one part")

// errParts says that a file is too long for its parts.
var errParts = errors.New("the file has more than 10,000 parts: raise PartSize")

// send sends data, which is not to be changed any more, as the next part. It
// returns the error of an earlier part if one has failed.
func (u *upload) send(data []byte) error {
	return u.add(func(number *int32) (types.CompletedPart, error) {
		out, err := u.fs.client.UploadPart(u.ctx, &s3.UploadPartInput{
			Bucket: u.fs.bucket, Key: aws.String(u.key), UploadId: u.id, PartNumber: number, Body: bytes.NewReader(data),
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
func (u *upload) copyPart(from object, rng *string) error {
	return u.add(func(number *int32) (types.CompletedPart, error) {
		out, err := u.fs.client.UploadPartCopy(u.ctx, &s3.UploadPartCopyInput{
			Bucket: u.fs.bucket, Key: aws.String(u.key), UploadId: u.id, PartNumber: number,
			CopySource: u.fs.copySource(from.key), CopySourceIfMatch: aws.String(from.etag), CopySourceRange: rng,
		})
		switch {
		case isConflict(err), isMissing(err):
			return types.CompletedPart{}, errSourceChanged
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
func (u *upload) add(send func(number *int32) (types.CompletedPart, error)) error {
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

func (u *upload) failure() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.err
}

// complete waits for all parts and makes them the object. If it fails, the
// upload is to be aborted.
func (u *upload) complete() (etag string, err error) {
	u.group.Wait()
	if u.err != nil {
		return "", u.err
	}
	slices.SortFunc(u.parts, func(a, b types.CompletedPart) int { return int(*a.PartNumber - *b.PartNumber) })
	return u.fs.conditional(u.ctx, u.key, u.opts, u.cond, func(c condition) (string, error) {
		out, err := u.fs.client.CompleteMultipartUpload(u.ctx, &s3.CompleteMultipartUploadInput{
			Bucket: u.fs.bucket, Key: aws.String(u.key), UploadId: u.id,
			MultipartUpload: &types.CompletedMultipartUpload{Parts: u.parts},
			IfMatch:         c.ifMatch, IfNoneMatch: c.ifNoneMatch,
		}, c.count)
		if err != nil {
			return "", err
		}
		return aws.ToString(out.ETag), nil
	})
}

// abort gives up the upload, also if its context has ended. Should it fail, the
// store's own rule for incomplete uploads has to remove it.
func (u *upload) abort() {
	u.group.Wait()
	ctx, cancel := u.fs.afterwards(u.ctx)
	defer cancel()
	_, _ = u.fs.client.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{
		Bucket: u.fs.bucket, Key: aws.String(u.key), UploadId: u.id,
	})
}

// afterwards returns a context in which to clean up after a call with ctx.
func (f *FS) afterwards(ctx context.Context) (context.Context, context.CancelFunc) {
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), abortTime)
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(lateTime, cancel) })
	return late, func() {
		stop()
		cancel()
	}
}
