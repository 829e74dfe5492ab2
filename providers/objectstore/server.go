package objectstore

import (
	"context"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/workspacekit/workspacekit/internal/ops"
)

// Server returns what the store calls itself, such as "AmazonS3" or "MinIO", by
// one HEAD of the bucket. It is empty if the store says nothing.
//
// # Errors
//
// Those of [FS.Stat], if the bucket cannot be asked.
func (f *FS) Server(ctx context.Context) (string, error) {
	if err := ops.Check(ctx, ops.Stat, "."); err != nil {
		return "", err
	}
	answer, err := f.client.HeadBucket(ctx, &s3.HeadBucketInput{Bucket: f.bucket})
	if err != nil {
		return "", fault(ctx, ops.Stat, ".", err)
	}
	return headersOf(answer).Get("Server"), nil
}

// headersOf returns the headers of an answer as they came.
func headersOf(answer *s3.HeadBucketOutput) http.Header {
	raw, ok := middleware.GetRawResponse(answer.ResultMetadata).(*smithyhttp.Response)
	if !ok {
		return nil
	}
	return raw.Header
}
