package objectstore

import (
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

// sent is what became of the requests of a write that failed.
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
		c.ifMatch = etagOf(o.IfVersion)
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
	if err == nil || statusOf(err)/100 == 4 {
		return out, metadata, err
	}
	answered := statusOf(err) >= http.StatusBadRequest
	if !answered && (connected.Load() || !traced.Load()) {
		c.sent.begun++
	}
	if whole.Load() || !traced.Load() || isTimeout(err) {
		c.sent.lost++
	} else if c.token != "" && c.sent.begun == 1 && !answered {
		err = &cutError{err}
	}
	return out, metadata, err
}

// cutError says that the connection was lost while a request was sent. The
// reason may be that the store has refused it, which a look at the object
// tells sooner than the request sent again.
type cutError struct{ error }

func (e *cutError) Unwrap() error { return e.error }

// RetryableError keeps the SDK from sending the request again.
func (e *cutError) RetryableError() bool { return false }

// errUnknownOutcome says that the answer to a conditional write was lost, that it
// was refused when it was sent again, and that somebody else has written since: whether that was before
// or after this write took place cannot be told.
var errUnknownOutcome = errors.New("the answer to the write was lost, and the file has been written since: read it to see whether the write took place")

// maxConditional is how often a conditional write is begun anew because the
// object changed between the store's refusal and the look at it.
const maxConditional = 10

// conditional writes key by write, under the condition c of o, and finds out
// what a refusal, or the lack of an answer, means.
//
// # Errors
//
// [fs.ErrExist], [workspace.ErrConflict], errUnknownOutcome, and those of
// write.
func (f *FS) conditional(ctx context.Context, key string, o workspace.WriteOptions, c condition, write func(condition) (etag string, err error)) (etag string, err error) {
	for range maxConditional {
		etag, err := write(c)
		refused := isRefusal(err)
		if err == nil || c.token == "" || !refused && (c.sent.begun == 0 || statusOf(err) >= http.StatusBadRequest) {
			return etag, err
		}
		now, headErr := f.headKey(ctx, key)
		switch {
		case headErr == nil && now.metadata[tokenKey] == c.token:
			return now.etag, nil
		case headErr != nil && !errors.Is(headErr, fs.ErrNotExist):
			return "", headErr
		case refused && c.sent.lost > 0:
			return "", errUnknownOutcome
		case !refused && c.sent.lost == 0 && isType[*cutError](err) && c.holds(o, now, headErr == nil):
			continue // now the SDK repeats it
		case !refused && (c.sent.lost > 0 || c.holds(o, now, headErr == nil)), o == (workspace.WriteOptions{}):
			return "", err
		}
		next, again := c.again(o, now, headErr == nil, codeOf(err))
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
func (c condition) holds(o workspace.WriteOptions, now head, exists bool) bool {
	switch {
	case c.ifMatch != nil:
		return exists && now.etag == *c.ifMatch
	case o.IfNotExist:
		return !exists || isGone(now.metadata)
	}
	return true
}

// isRefusal reports whether err is what a store answers if a condition does not
// hold, or if it has done already what it is asked for.
func isRefusal(err error) bool {
	return isConflict(err) || isMissing(err) || codeOf(err) == "NoSuchUpload"
}

// again returns the condition with which a write that was refused, with code,
// is begun anew, and false if the refusal was right. now is the object that
// exists.
func (c condition) again(o workspace.WriteOptions, now head, exists bool, code string) (condition, bool) {
	next := newCondition(o)
	next.token = c.token
	switch {
	case o.IfNotExist && exists && isGone(now.metadata):
		next.ifNoneMatch, next.ifMatch = nil, aws.String(now.etag)
		return next, true
	case o.IfNotExist:
		return next, !exists // it did a moment ago
	}
	// Another write was under way, and may have failed.
	return next, exists && code == "ConditionalRequestConflict" && now.etag == *c.ifMatch
}
