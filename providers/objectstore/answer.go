package objectstore

import (
	"context"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// An answer with a status of success proves nothing by itself: proxies, captive
// portals and load balancers answer with 200 in the store's place, and drop
// headers or bodies. So each answer must have what only the store can know.

// maxSize is more than any store lets an object have. A greater size is a lie.
const maxSize = 1 << 50

// answerError says that an answer with a status of success does not prove the
// success.
type answerError struct {
	lacks string
	cause error // nil if there is none
}

func (e *answerError) Error() string { return "the answer lacks " + e.lacks }
func (e *answerError) Unwrap() error { return e.cause }

// RetryableError makes the SDK send the request again.
func (e *answerError) RetryableError() bool { return true }

// checkAnswers makes a client check the answer to each request.
func checkAnswers(o *s3.Options) {
	o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
		return insertCheck(stack, "workspacekit:CheckAnswer", func(result any, response *smithyhttp.Response) string {
			return lacks(result, response.StatusCode)
		})
	})
}

// insertCheck adds a check of the decoded answer, which returns what it lacks.
func insertCheck(stack *middleware.Stack, id string, lacks func(result any, response *smithyhttp.Response) string) error {
	check := func(ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler) (middleware.DeserializeOutput, middleware.Metadata, error) {
		out, metadata, err := next.HandleDeserialize(ctx, in)
		response, ok := out.RawResponse.(*smithyhttp.Response)
		if !ok || response.Response == nil {
			return out, metadata, err
		}
		if err != nil {
			if response.StatusCode/100 == 2 && isType[*smithy.DeserializationError](err) {
				err = &answerError{"the form of one", err}
			}
			return out, metadata, err
		}
		if missing := lacks(out.Result, response); missing != "" {
			response.Body.Close()
			return out, metadata, &answerError{lacks: missing}
		}
		return out, metadata, nil
	}
	if _, ok := stack.Deserialize.Get("OperationDeserializer"); !ok {
		return nil // the request is presigned, and not sent
	}
	return stack.Deserialize.Insert(middleware.DeserializeMiddlewareFunc(id, check), "OperationDeserializer", middleware.Before)
}

// lacks returns what the answer result with a status lacks, empty for nothing.
func lacks(result any, status int) string {
	var etag *string
	switch r := result.(type) {
	case *s3.ListObjectsV2Output, *s3.DeleteObjectsOutput, *s3.HeadBucketOutput:
		return lacksStatus(status, http.StatusOK) // their documents are checked where they are used
	case *s3.DeleteObjectOutput, *s3.AbortMultipartUploadOutput:
		return lacksStatus(status, http.StatusNoContent)
	case *s3.GetObjectTaggingOutput: // which is asked for only if there are tags
		if len(r.TagSet) == 0 {
			return "the tags"
		}
		return lacksStatus(status, http.StatusOK)
	case *s3.CreateMultipartUploadOutput:
		if aws.ToString(r.UploadId) == "" {
			return "an upload id"
		}
		return ""
	case *s3.GetObjectOutput:
		want := http.StatusOK
		if r.ContentRange != nil {
			want = http.StatusPartialContent
		}
		if status != want {
			return "the status of a success"
		}
		etag = r.ETag
	case *s3.HeadObjectOutput:
		if size := r.ContentLength; size == nil || *size < 0 || *size > maxSize {
			return "a length"
		}
		etag = r.ETag
	case *s3.PutObjectOutput:
		etag = r.ETag
	case *s3.UploadPartOutput:
		etag = r.ETag
	case *s3.CompleteMultipartUploadOutput:
		etag = r.ETag
	case *s3.CopyObjectOutput:
		if r.CopyObjectResult != nil {
			etag = r.CopyObjectResult.ETag
		}
	case *s3.UploadPartCopyOutput:
		if r.CopyPartResult != nil {
			etag = r.CopyPartResult.ETag
		}
	default:
		return "a check: the request is new"
	}
	if versionOf(aws.ToString(etag)) == "" {
		return "an ETag"
	}
	return ""
}

func lacksStatus(status, want int) string {
	if status != want {
		return "the status of a success"
	}
	return ""
}
