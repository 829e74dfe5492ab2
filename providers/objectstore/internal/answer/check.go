// Package answer judges what a store answers, and what the way to it does. In
// go the answers to requests of the SDK; out come answers that prove what they
// say, and errors with a kind of the contract, a text that may be shown and a
// remedy.
//
// [Check] puts both into a client, as two steps of each request:
//
//	the call  →  explain  →  retries  →  check  →  the SDK's decoder  →  HTTP
//
// The check sees each answer, so one without a proof is sent again; explain sees
// how it ended.
package answer

import (
	"context"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/workspacekit/workspacekit/providers/objectstore/internal/object"
)

// An answer with a status of success proves nothing by itself: proxies, captive
// portals and load balancers answer with 200 in the store's place, and drop
// headers or bodies. So each answer must have what only the store can know.

// incompleteError says that an answer with a status of success does not prove the
// success.
type incompleteError struct {
	lacks string
	cause error // nil if there is none
}

// Incomplete returns the error of an answer that lacks something. The SDK sends
// a request that gets it again. Callers see the words of [Explain] instead of
// lacks.
func Incomplete(lacks string) error { return &incompleteError{lacks: lacks} }

func (e *incompleteError) Error() string { return "the answer lacks " + e.lacks }
func (e *incompleteError) Unwrap() error { return e.cause }

// RetryableError makes the SDK send the request again.
func (e *incompleteError) RetryableError() bool { return true }

// Check makes a client check the answer to each request, and explain the errors.
//
// An operation for which lacks has no case fails, so a new one cannot go
// unchecked.
func Check(o *s3.Options) {
	o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
		if err := stack.Initialize.Add(explainStep, middleware.Before); err != nil {
			return err
		}
		return insertCheck(stack, checkStep)
	})
}

// The steps are values, so that a request builds none of its own.
var (
	explainStep = middleware.InitializeMiddlewareFunc("workspacekit:Explain", explain)
	checkStep   = &check{"workspacekit:CheckAnswer", lacks}
)

// CheckDeleted makes a DeleteObjects fail whose answer does not say for each of
// n keys whether it is deleted. A store that left a key out of both lists would
// otherwise have it regarded as deleted.
func CheckDeleted(n int) func(*s3.Options) {
	step := &check{"workspacekit:CheckDeleted", func(result any, _ int) string {
		if out, ok := result.(*s3.DeleteObjectsOutput); !ok || len(out.Deleted)+len(out.Errors) != n {
			return "some of the keys"
		}
		return ""
	}}
	return func(o *s3.Options) {
		o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error { return insertCheck(stack, step) })
	}
}

// decoder is the step of the SDK that decodes an answer.
const decoder = "OperationDeserializer"

// insertCheck puts step around the decoder, so that it sees what that has made
// of the answer.
func insertCheck(stack *middleware.Stack, step middleware.DeserializeMiddleware) error {
	if _, ok := stack.Deserialize.Get(decoder); !ok {
		return nil // the request is presigned, and not sent
	}
	return stack.Deserialize.Insert(step, decoder, middleware.Before)
}

// check is a step of a request that checks the decoded answer.
type check struct {
	id    string
	lacks func(result any, status int) string // what is missing, empty for nothing
}

// ID implements [middleware.DeserializeMiddleware].
func (c *check) ID() string { return c.id }

// HandleDeserialize implements [middleware.DeserializeMiddleware].
//
// A success that cannot be decoded is incomplete, too: that is a page of HTML
// from a proxy, or a document that was cut. An error of the store passes as it
// is. The body of an answer that fails is closed, since nobody else gets it.
func (c *check) HandleDeserialize(ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler) (middleware.DeserializeOutput, middleware.Metadata, error) {
	out, metadata, err := next.HandleDeserialize(ctx, in)
	response, ok := out.RawResponse.(*smithyhttp.Response)
	if !ok || response.Response == nil {
		return out, metadata, err
	}
	if err != nil {
		if response.StatusCode/100 == 2 && isType[*smithy.DeserializationError](err) {
			err = &incompleteError{"the form of one", err}
		}
		return out, metadata, err
	}
	if missing := c.lacks(out.Result, response.StatusCode); missing != "" {
		response.Body.Close()
		return out, metadata, Incomplete(missing)
	}
	return out, metadata, nil
}

// lacks returns what the answer result with a status lacks, empty for nothing.
//
// The proofs are:
//
//	writes, copies, parts           an ETag
//	a HEAD                          an ETag and a length
//	a GET                           an ETag, and 206 if and only if there is a range
//	deletions, aborts               the status 204
//	listings, DeleteObjects         the status 200, and what their callers check
//	new uploads                     an upload id
//	tags                            the status 200 and a set, which may be empty
func lacks(result any, status int) string {
	var etag *string
	switch r := result.(type) {
	case *s3.ListObjectsV2Output, *s3.DeleteObjectsOutput, *s3.HeadBucketOutput:
		return lacksStatus(status, http.StatusOK) // their documents are checked where they are used
	case *s3.DeleteObjectOutput, *s3.AbortMultipartUploadOutput:
		return lacksStatus(status, http.StatusNoContent)
	case *s3.GetObjectTaggingOutput:
		if r.TagSet == nil { // the SDK makes an empty set of <TagSet/>
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
		if size := r.ContentLength; size == nil || *size < 0 || *size > object.MaxSize {
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
	if object.VersionOf(aws.ToString(etag)) == "" {
		return "an ETag"
	}
	return ""
}

// lacksStatus returns what is missing unless the status is want. A proxy that
// answers in the store's place says 200 where S3 says 204.
func lacksStatus(status, want int) string {
	if status != want {
		return "the status of a success"
	}
	return ""
}
