package bucket

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/middleware"

	"github.com/workspacekit/workspacekit/providers/objectstore/internal/answer"
	"github.com/workspacekit/workspacekit/providers/objectstore/internal/object"
	"github.com/workspacekit/workspacekit/workspace"
)

// tokenKey is the metadata key of what tells one write from all others.
const tokenKey = "workspacekit-write"

// condition is what a request that writes an object makes sure of. It is also
// how a request whose answer was lost is recognised: the SDK sends it again,
// and the store refuses it because of the first one's success.
type condition struct {
	ifMatch     *string
	ifNoneMatch *string
	token       string // tells the write from all others; empty if that is not needed
	sent        *sent
}

// sent is what became of the requests of a write that failed. What the SDK's retries do
// not tell, these counts do:
//
//	connection refused                  begun 0, lost 0   nothing has reached the store
//	connection cut while the body was   begun 1, lost 0   not sent whole, so not written:
//	sent                                                  it may be started again
//	sent whole, no answer               begun 1, lost 1   may have been written
//	sent whole, 503                     begun 0, lost 1   may have been written
//	sent, 412                           begun 0, lost 0   an answer: not written
type sent struct {
	begun int // that the store may have seen a part of, and did not answer
	lost  int // that may have taken place
}

// newCondition returns the condition of o, with a token if there is one.
func newCondition(o workspace.WriteOptions) condition {
	c := condition{sent: new(sent)}
	switch {
	case o.IfNotExist:
		c.ifNoneMatch = aws.String("*")
	case o.IfVersion != "":
		c.ifMatch = object.ETagOf(o.IfVersion)
	default:
		return c
	}
	c.token = rand.Text()
	return c
}

// metadata returns the token as user metadata.
func (c condition) metadata() map[string]string {
	if c.token == "" {
		return nil
	}
	return map[string]string{tokenKey: c.token}
}

// count is an option of the request.
func (c condition) count(o *s3.Options) {
	o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
		return stack.Finalize.Add(middleware.FinalizeMiddlewareFunc("workspacekit:CountSent", c.send), middleware.After)
	})
}

// send sends a request once. A store that refuses a write before it has read
// all of it closes the connection, and then its answer is lost more often than
// not. What has not been sent whole has not taken place.
func (c condition) send(ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler) (middleware.FinalizeOutput, middleware.Metadata, error) {
	var traced, connected, whole atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn: func(string) { traced.Store(true) },
		GotConn: func(httptrace.GotConnInfo) { connected.Store(true) },
		WroteRequest: func(info httptrace.WroteRequestInfo) {
			if info.Err == nil {
				whole.Store(true)
			}
		},
	})
	out, metadata, err := next.HandleFinalize(ctx, in)
	if err == nil || answer.Status(err)/100 == 4 {
		return out, metadata, err
	}
	answered := answer.Status(err) >= http.StatusBadRequest
	if !answered && (connected.Load() || !traced.Load()) {
		c.sent.begun++
	}
	if whole.Load() || !traced.Load() || answer.IsTimeout(err) {
		c.sent.lost++
	} else if c.token != "" && c.sent.begun == 1 && !answered {
		err = &answer.CutError{Err: err}
	}
	return out, metadata, err
}

// errUnknownOutcome says that the answer to a conditional write was lost, that it
// was refused when it was sent again, and that somebody else has written since.
// Nothing tells whether that was before or after this write took place.
var errUnknownOutcome = answer.New(workspace.ErrUnavailable, "the answer to the write was lost, and the file has been written since: read it to see whether the write took place")

// errUnanswered says that the answer to a write was lost, and that neither its repetition nor a
// look at the object tells whether it took place.
var errUnanswered = answer.New(workspace.ErrUnavailable, "the answer to the write was lost, and the store does not tell whether it took place: read the file to see")

// maxConditional is how often a conditional write is started again because the
// object changed between the store's refusal and the look at it.
const maxConditional = 10

// conditional writes key by write, under the condition c of o, and finds out
// what a refusal, or the lack of an answer, means.
//
// Two writers, A and B, replace version "1" of a file, each on the condition
// If-Match: "1". Each sends a token of its own as metadata. The answers to A's
// first request are lost:
//
//	A  PUT if "1", token a   takes place; the answer is lost
//	A  PUT if "1", token a   the SDK's retry: refused, as the file has another ETag
//	A  HEAD                  token a: the write took place, and has this ETag
//
// If B replaces A's version before the HEAD, that shows the token b. A was lost
// once (sent.lost), so nobody knows whether B replaced version "1" or A's:
// errUnknownOutcome. Had no answer been lost, the refusal alone would show that A
// did not take place: [workspace.ErrConflict].
//
// # Errors
//
// [fs.ErrExist], [workspace.ErrConflict], errUnknownOutcome, errUnanswered, and
// those of write.
func (b *Bucket) conditional(ctx context.Context, key string, o workspace.WriteOptions, c condition, write func(condition) (etag string, err error)) (etag string, err error) {
	for range maxConditional {
		etag, err := write(c)
		refused, status := answer.IsRefusal(err), answer.Status(err)
		// Another error in answer to a repetition says nothing of what was sent before.
		unanswered := !refused && c.sent.lost > 0 && status/100 == 4
		switch {
		case unanswered && c.token == "":
			return "", errUnanswered
		case err == nil || c.token == "" || !refused && !unanswered && (c.sent.begun == 0 || status >= http.StatusBadRequest):
			return etag, err
		}
		now, headErr := b.head(ctx, key)
		switch {
		case headErr == nil && now.metadata[tokenKey] == c.token:
			return now.ETag, nil
		case headErr != nil && !errors.Is(headErr, fs.ErrNotExist) && (ctx.Err() != nil || c.sent.lost == 0):
			return "", headErr
		case unanswered, headErr != nil && !errors.Is(headErr, fs.ErrNotExist):
			return "", errUnanswered
		case refused && c.sent.lost > 0:
			return "", errUnknownOutcome
		case !refused && c.sent.lost == 0 && isCut(err) && c.holds(o, now, headErr == nil):
			continue // now the SDK repeats it
		case !refused && (c.sent.lost > 0 || c.holds(o, now, headErr == nil)), o == (workspace.WriteOptions{}),
			answer.Code(err) == answer.NoSuchUpload: // it was aborted, not completed
			return "", err
		}
		next, again := c.again(o, now, headErr == nil, answer.Code(err))
		if !again {
			break
		}
		c = next
	}
	if o.IfNotExist {
		return "", fs.ErrExist
	}
	return "", workspace.ErrConflict
}

// holds reports whether the object now, if it exists, is as o and c want it.
func (c condition) holds(o workspace.WriteOptions, now Head, exists bool) bool {
	switch {
	case c.ifMatch != nil:
		return exists && now.ETag == *c.ifMatch
	case o.IfNotExist:
		return !exists || object.HasTombstone(now.metadata)
	}
	return true
}

// isCut reports whether the connection was lost while the request was sent.
func isCut(err error) bool {
	_, ok := errors.AsType[*answer.CutError](err)
	return ok
}

// again returns the condition with which a write that was refused, with code,
// is started again, and false if the refusal was right. now is the object that
// exists.
func (c condition) again(o workspace.WriteOptions, now Head, exists bool, code string) (condition, bool) {
	next := newCondition(o)
	next.token = c.token
	switch {
	case o.IfNotExist && exists && object.HasTombstone(now.metadata):
		next.ifNoneMatch, next.ifMatch = nil, aws.String(now.ETag)
		return next, true
	case o.IfNotExist:
		return next, !exists // it did a moment ago
	}
	// Another write was under way, and may have failed.
	return next, exists && code == "ConditionalRequestConflict" && now.ETag == *c.ifMatch
}

// Put writes the object key in one request, on the conditions of o.
//
// # Errors
//
// Those of conditional, and the store's.
func (b *Bucket) Put(ctx context.Context, key string, data []byte, d Description, o workspace.WriteOptions) (etag string, err error) {
	return b.put(ctx, key, data, d, o, newCondition(o))
}

func (b *Bucket) put(ctx context.Context, key string, data []byte, d Description, o workspace.WriteOptions, c condition, more ...func(*s3.Options)) (etag string, err error) {
	return b.conditional(ctx, key, o, c, func(c condition) (string, error) {
		out, err := b.client.PutObject(ctx, &s3.PutObjectInput{
			Bucket:      b.name,
			Key:         aws.String(key),
			Body:        bytes.NewReader(data),
			IfMatch:     c.ifMatch,
			IfNoneMatch: c.ifNoneMatch,
			Metadata:    c.metadata(),
		}, append(more, c.count, d.apply)...)
		if err != nil {
			return "", err
		}
		return aws.ToString(out.ETag), nil
	})
}

// PutMarker writes the marker key unless there is one, which may have content
// that another program gave it.
func (b *Bucket) PutMarker(ctx context.Context, key string) error {
	in := &s3.PutObjectInput{Bucket: b.name, Key: aws.String(key)}
	if !b.opts.Unconditional {
		in.IfNoneMatch = aws.String("*")
	}
	_, err := b.client.PutObject(ctx, in, MarkerDescription.apply)
	if answer.IsConflict(err) {
		return nil
	}
	return err
}
