package answer

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"

	"github.com/workspacekit/workspacekit/internal/lazyregexp"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/provider"
)

// storeError is an error of the store or of the way to it, in words that show
// no bucket, key, host or credential. Only what the store itself answered can
// be reached through it: an error of the transport may be of a kind that means
// something else here, such as a file of credentials that does not exist.
type storeError struct {
	diagnosis
	cause  smithy.APIError // nil if the store did not answer
	status int             // of the answer; zero if there was none
}

func (e *storeError) Error() string {
	text := e.text
	if e.remedy != "" {
		text += ": " + e.remedy
	}
	if e.cause != nil {
		text += " (" + e.cause.ErrorCode() + ")"
	}
	return text
}

func (e *storeError) Unwrap() error {
	if e.cause == nil {
		return nil
	}
	return e.cause
}

// remediedError is a storeError that a person can do something about.
type remediedError struct{ *storeError }

// Unwrap lets Status and Code find the storeError.
func (e remediedError) Unwrap() error { return e.storeError }

// Remedy returns what that is, for those who ask an error for this method. The
// error's text has it too, after a colon and a space.
func (e remediedError) Remedy() string { return e.remedy }

// explain is the first step of a request, which sees how it ended.
func explain(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
	out, metadata, err := next.HandleInitialize(ctx, in)
	return out, metadata, Explain(ctx, err)
}

// Explain returns the error that callers see of a request with ctx, or of
// reading its answer, that failed with err: the one of ctx if that has ended,
// an error of [provider.Errorf] otherwise, and nil for nil. What is explained
// already stays as it is.
func Explain(ctx context.Context, err error) error {
	switch {
	case err == nil, isType[*storeError](err):
		return err
	case context.Cause(ctx) == ErrLate:
		return ErrLate
	case ctx.Err() != nil:
		return ctx.Err()
	case isType[*CutError](err): // which the caller of the request looks into
		return &CutError{show(err)}
	}
	return show(err)
}

// ErrLate is the cause of a context that the caller knows nothing of, so that its
// end is not reported as the end of the caller's.
var ErrLate = New(workspace.ErrUnavailable, "the store did not answer in time: try again later")

// New returns an error of the given kind whose text may be shown, beside those
// that Explain returns.
func New(kind error, text string) error {
	return provider.Errorf(kind, "%w", &storeError{diagnosis: diagnosis{kind: kind, text: text}})
}

// Within returns err, which Explain or New has returned or which is a kind or the
// error of a context, with words about the whole of what failed before its text.
func Within(err error, words string) error {
	if remedied, ok := errors.AsType[remediedError](err); ok {
		return provider.Errorf(remedied.kind, "%s: %w", words, remedied)
	}
	if explained, ok := errors.AsType[*storeError](err); ok {
		return provider.Errorf(explained.kind, "%s: %w", words, explained)
	}
	return provider.Errorf(err, "%s", words)
}

// show returns err as callers see it. Who can only try again needs no remedy.
func show(err error) error {
	e := diagnose(err)
	if e.remedy == "" || strings.HasPrefix(e.remedy, tryAgain) {
		return provider.Errorf(e.kind, "%w", e)
	}
	return provider.Errorf(e.kind, "%w", remediedError{e})
}

func diagnose(err error) *storeError {
	if refused, ok := errors.AsType[*RoleError](err); ok {
		return &storeError{diagnosis: refused.diagnosis()}
	}
	status := Status(err)
	answer, ok := errors.AsType[smithy.APIError](err)
	if !ok {
		return &storeError{diagnosis: diagnoseTransport(err), status: status}
	}
	d := diagnoseAnswer(answer.ErrorCode(), status)
	if region := rightRegion(err, answer.ErrorMessage()); region != "" {
		d = diagnosis{nil, fmt.Sprintf("the bucket is in the region %q", region), "set the region to it"}
	}
	return &storeError{diagnosis: d, cause: answer, status: status}
}

// rightRegion returns the region of the bucket, where err says that the request
// was sent to another one or signed for another one, and else "". The answer to a
// HEAD has it in a header, and an error of the signature in its message.
func rightRegion(err error, message string) string {
	response, ok := errors.AsType[*awshttp.ResponseError](err)
	if !ok || response.Response == nil || response.Response.Response == nil {
		return ""
	}
	switch response.HTTPStatusCode() {
	case http.StatusMovedPermanently, http.StatusTemporaryRedirect, http.StatusBadRequest:
	default:
		return ""
	}
	region := response.Response.Header.Get("X-Amz-Bucket-Region")
	if expected := expectedRegion().FindStringSubmatch(message); region == "" && expected != nil {
		region = expected[1]
	}
	signed := ""
	if request := response.Response.Request; request != nil {
		signed = request.Header.Get("Authorization")
	}
	if !regionName().MatchString(region) || strings.Contains(signed, "/"+region+"/s3/") {
		return ""
	}
	return region
}

var (
	expectedRegion = lazyregexp.New(`expecting ['"]([^'"]*)['"]`)
	regionName     = lazyregexp.New("^[a-z][a-z0-9-]{1,31}$")
)

// Status returns the HTTP status of the answer, zero if there was none.
func Status(err error) int {
	if explained, ok := errors.AsType[*storeError](err); ok {
		return explained.status
	}
	if response, ok := errors.AsType[*awshttp.ResponseError](err); ok {
		return response.HTTPStatusCode()
	}
	return 0
}

// Code returns the code of the store's answer, empty if there was none.
func Code(err error) string {
	if answer, ok := errors.AsType[smithy.APIError](err); ok {
		return answer.ErrorCode()
	}
	return ""
}

// IsMissing reports whether the store said that there is no such object. The
// answer to a HEAD has no more than its status.
func IsMissing(err error) bool {
	switch Code(err) {
	case "NoSuchKey", "NotFound":
		return true
	case "": // the SDK cannot read the answer for a key that XML cannot spell
		return Status(err) == http.StatusNotFound
	}
	return false
}

// IsConflict reports whether the store said that the condition of a write does
// not hold, or may not have held because of a write at the same moment.
func IsConflict(err error) bool {
	switch Code(err) {
	case "PreconditionFailed", "ConditionalRequestConflict":
		return true
	}
	return Status(err) == http.StatusPreconditionFailed
}

// IsRefusal reports whether err is what a store answers if a condition does not
// hold, or if it has done already what it is asked for.
func IsRefusal(err error) bool {
	return IsConflict(err) || IsMissing(err) || Code(err) == "NoSuchUpload"
}
