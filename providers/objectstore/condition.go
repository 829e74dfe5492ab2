package objectstore

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"

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
	attempts    *int   // how often the request was sent
}

// newCondition returns the condition of o, with a token if there is one.
func newCondition(o workspace.WriteOptions) condition {
	c := condition{attempts: new(int)}
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

// countAttempts is an option of the request.
func (c condition) countAttempts(o *s3.Options) {
	count := func(ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler) (middleware.FinalizeOutput, middleware.Metadata, error) {
		*c.attempts++
		return next.HandleFinalize(ctx, in)
	}
	o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
		return stack.Finalize.Add(middleware.FinalizeMiddlewareFunc("workspacekit:CountAttempts", count), middleware.After)
	})
}

// errUnknownOutcome says that a conditional write was sent more than once, was
// refused, and that somebody else has written since: whether that was before
// or after this write took place cannot be told.
var errUnknownOutcome = errors.New("the answer to the write was lost, and the file has been written since: read it to see whether the write took place")

// maxConditional is how often a conditional write is begun anew because the
// object changed between the store's refusal and the look at it.
const maxConditional = 10

// conditional writes key by write, under the condition c of o, and finds out
// what a refusal means.
//
// # Errors
// [fs.ErrExist], [workspace.ErrConflict], errUnknownOutcome, and those of
// write.
func (f *FS) conditional(ctx context.Context, key string, o workspace.WriteOptions, c condition, write func(condition) (etag string, err error)) (etag string, err error) {
	for range maxConditional {
		etag, err := write(c)
		if err == nil || c.token == "" || !isRefusal(err) {
			return etag, err
		}
		now, headErr := f.headKey(ctx, key)
		switch {
		case headErr == nil && now.metadata[tokenKey] == c.token:
			return now.etag, nil
		case headErr != nil && !errors.Is(headErr, fs.ErrNotExist):
			return "", headErr
		case *c.attempts > 1:
			return "", errUnknownOutcome
		case o == (workspace.WriteOptions{}):
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
