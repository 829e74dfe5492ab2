package objectstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

// opPresign is the operation in the errors of [FS.PresignGet].
const opPresign = "presign"

// The shortest and the longest time for which a presigned URL may hold
// (https://docs.aws.amazon.com/AmazonS3/latest/userguide/ShareObjectPreSignedURL.html).
const (
	minPresign = time.Second
	maxPresign = 7 * 24 * time.Hour
)

// PresignGet returns a URL with which anyone can GET the file name for as long
// as ttl, from a second to seven days, in whole seconds, or until the
// credentials expire, if that is earlier. It sends no request to the store, so
// the file need not exist; name is not "." and is otherwise checked as that of a
// read. No policy in front of f is asked.
//
// # Errors
//
// [io/fs.ErrInvalid] for a ttl out of bounds; [errors.ErrUnsupported] if f sends
// no credentials, and if its files are encrypted with a key of the caller's, which
// whoever has the URL would need; and those of a read that sends no request.
func (f *FS) PresignGet(ctx context.Context, name string, ttl time.Duration) (string, error) {
	if err := ops.Check(ctx, opPresign, name); err != nil {
		return "", err
	}
	switch {
	case name == ".":
		return "", ops.Error(opPresign, name, workspace.ErrIsDir, nil)
	case ttl < minPresign || ttl > maxPresign:
		return "", ops.Error(opPresign, name, fs.ErrInvalid, fmt.Errorf("the URL cannot hold for %v: choose a time from 1s to 168h", ttl))
	case f.client.Options().Credentials == nil:
		return "", ops.Error(opPresign, name, errors.ErrUnsupported, errors.New("there are no credentials to sign a URL with"))
	case f.opts.Encryption.Type == SSEC:
		return "", ops.Error(opPresign, name, errors.ErrUnsupported, errors.New("whoever has the URL would need the key of the encryption"))
	}
	signed, err := s3.NewPresignClient(f.client).PresignGetObject(ctx,
		&s3.GetObjectInput{Bucket: f.bucket, Key: aws.String(f.key(name))}, s3.WithPresignExpires(ttl.Truncate(time.Second)))
	if err != nil {
		return "", fault(ctx, opPresign, name, err)
	}
	return signed.URL, nil
}
