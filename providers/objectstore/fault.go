package objectstore

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"regexp"
	"strings"
	"syscall"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

// storeError is an error of the store or of the way to it, in words that show
// no bucket, key, host or credential. Only what the store itself answered can
// be reached through it: an error of the transport may be of a kind that means
// something else here, such as a file of credentials that does not exist.
type storeError struct {
	text  string
	cause smithy.APIError // nil if the store did not answer
}

func (e *storeError) Error() string { return e.text }

func (e *storeError) Unwrap() error {
	if e.cause == nil {
		return nil
	}
	return e.cause
}

// fault returns the error of a call that failed with err on its way to the
// store or there.
func fault(ctx context.Context, op, name string, err error) error {
	if ended := ctx.Err(); ended != nil {
		return ops.Error(op, name, ended, nil)
	}
	kind, cause := diagnose(err)
	return ops.Error(op, name, kind, cause)
}

// diagnose returns the kind of err, nil for none, and its words.
func diagnose(err error) (kind error, cause error) {
	if role, ok := errors.AsType[*roleError](err); ok {
		return role.kind, &storeError{text: role.Error()}
	}
	if answer, ok := errors.AsType[smithy.APIError](err); ok {
		d := diagnoseAnswer(answer.ErrorCode(), statusOf(err))
		if region := rightRegion(err, answer.ErrorMessage()); region != "" {
			d = diagnosis{nil, fmt.Sprintf("the bucket is in the region %q: set the region to it", region)}
		}
		return d.kind, &storeError{text: d.text + " (" + answer.ErrorCode() + ")", cause: answer}
	}
	d := diagnoseTransport(err)
	return d.kind, &storeError{text: d.text}
}

// diagnosis is what an error means, and what to do about it.
type diagnosis struct {
	kind error
	text string
}

// diagnoseAnswer explains the codes of
// https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html and those
// of other stores; an unknown one is judged by its status.
func diagnoseAnswer(code string, status int) diagnosis {
	switch code {
	case "NoSuchBucket":
		return diagnosis{nil, "the bucket does not exist: make it, or correct the name, the region or the endpoint"}
	case "InvalidBucketName":
		return diagnosis{nil, "the name of the bucket is not valid: correct it"}
	case "InvalidAccessKeyId", "SignatureDoesNotMatch", "InvalidToken", "InvalidClientTokenId", "UnrecognizedClientException", "XAdminUserNotFound":
		return diagnosis{fs.ErrPermission, "the store does not accept the credentials: correct the access key and its secret, or the profile"}
	case "ExpiredToken", "TokenRefreshRequired", "ExpiredTokenException":
		return diagnosis{fs.ErrPermission, "the credentials have expired: renew them"}
	case "RequestTimeTooSkewed":
		return diagnosis{fs.ErrPermission, "this machine's clock differs too much from the store's: set it"}
	case "AccessDenied", "AllAccessDisabled", "AccountProblem":
		return diagnosis{fs.ErrPermission, "the credentials do not allow this here: grant them the right, or use others"}
	case "AuthorizationHeaderMalformed", "PermanentRedirect", "TemporaryRedirect", "IllegalLocationConstraintException", "MovedPermanently":
		return diagnosis{nil, "the bucket is in another region or behind another endpoint: correct Region or Endpoint"}
	case "BadRequest": // the answer to a HEAD has no more than its status
		return diagnosis{nil, "the store refuses the request: check Region, Endpoint, and whether the credentials have expired"}
	case "KeyTooLongError", "RequestHeaderSectionTooLarge", "InvalidObjectName", "XMinioInvalidObjectName", "XMinioInvalidResourceName", "InvalidURI":
		return diagnosis{fs.ErrInvalid, "the store cannot hold this name"}
	case "EntityTooLarge":
		return diagnosis{workspace.ErrTooLarge, "the store takes no object of this size"}
	case "QuotaExceeded", "QuotaExceededException", "InsufficientStorage", "XMinioStorageFull", "StorageFull":
		return diagnosis{workspace.ErrNoSpace, "make room, or raise the quota"}
	case "InvalidObjectState":
		return diagnosis{fs.ErrPermission, "the object is archived: restore it first"}
	case "NotImplemented":
		return diagnosis{errors.ErrUnsupported, "the store does not support this"}
	case "ObjectParentIsFile":
		return diagnosis{workspace.ErrNotDir, "an element of the name is a file"}
	case "ExistingObjectIsDirectory":
		return diagnosis{workspace.ErrIsDir, "the name is a directory"}
	case "SlowDown", "RequestLimitExceeded", "TooManyRequests", "SlowDownRead", "SlowDownWrite", "ThrottlingException":
		return diagnosis{workspace.ErrUnavailable, "the store asks for fewer requests: try again later"}
	case "RequestTimeout", "OperationAborted", "ConditionalRequestConflict", "BadDigest", "IncompleteBody", "XAmzContentChecksumMismatch":
		return diagnosis{workspace.ErrUnavailable, "the request did not reach the store whole and alone: try again"}
	}
	return diagnoseStatus(status)
}

func diagnoseStatus(status int) diagnosis {
	switch {
	case status == http.StatusForbidden || status == http.StatusUnauthorized:
		return diagnosis{fs.ErrPermission, "the store refuses: check the credentials and their rights, and this machine's clock"}
	case status == http.StatusMovedPermanently:
		return diagnosis{nil, "the bucket is in another region or behind another endpoint: correct Region or Endpoint"}
	case status == http.StatusRequestURITooLong || status == http.StatusRequestHeaderFieldsTooLarge: // the key is in both
		return diagnosis{fs.ErrInvalid, "the store cannot hold this name"}
	case status >= 500, status == http.StatusTooManyRequests:
		return diagnosis{workspace.ErrUnavailable, "the store has a problem: try again later"}
	}
	return diagnosis{nil, "the store refuses the request"}
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
	if expected := expectedRegion.FindStringSubmatch(message); region == "" && expected != nil {
		region = expected[1]
	}
	signed := ""
	if request := response.Response.Request; request != nil {
		signed = request.Header.Get("Authorization")
	}
	if !regionName.MatchString(region) || strings.Contains(signed, "/"+region+"/s3/") {
		return ""
	}
	return region
}

var (
	expectedRegion = regexp.MustCompile(`expecting ['"]([^'"]*)['"]`)
	regionName     = regexp.MustCompile("^[a-z][a-z0-9-]{1,31}$")
)

// statusOf returns the HTTP status of the answer, zero if there was none.
func statusOf(err error) int {
	if response, ok := errors.AsType[*awshttp.ResponseError](err); ok {
		return response.HTTPStatusCode()
	}
	return 0
}

// diagnoseTransport explains an error without an answer.
func diagnoseTransport(err error) diagnosis {
	switch {
	case errors.Is(err, errCredentials):
		return diagnosis{fs.ErrPermission, "no credentials were found: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or name a profile"}
	case isTLS(err):
		return diagnosis{nil, "the store's TLS certificate cannot be verified, or it does not speak TLS: correct the endpoint, or trust its certificate"}
	case errors.Is(err, syscall.ECONNREFUSED):
		return diagnosis{workspace.ErrUnavailable, "the store refuses the connection: check that it runs at the endpoint"}
	case isType[*net.DNSError](err):
		return diagnosis{workspace.ErrUnavailable, "the name of the endpoint cannot be resolved: check it and the network"}
	case isTimeout(err):
		return diagnosis{workspace.ErrUnavailable, "the store did not answer in time: try again later"}
	case errors.Is(err, errUnknownOutcome):
		return diagnosis{workspace.ErrUnavailable, errUnknownOutcome.Error()}
	case isType[*answerError](err):
		return diagnosis{workspace.ErrUnavailable, "the answer lacks what a store sends, or is cut: check that the endpoint is the store's and that no proxy answers in its place, or try again"}
	case isType[*smithy.DeserializationError](err):
		return diagnosis{workspace.ErrUnavailable, "the answer of the store could not be read: check the endpoint, or try again"}
	case isType[*retry.MaxAttemptsError](err), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, io.EOF), isType[*net.OpError](err):
		return diagnosis{workspace.ErrUnavailable, "the connection to the store was lost: try again"}
	}
	return diagnosis{workspace.ErrUnavailable, "the request to the store failed: try again"}
}

func isTLS(err error) bool {
	return isType[*tls.CertificateVerificationError](err) || isType[x509.UnknownAuthorityError](err) ||
		isType[x509.HostnameError](err) || isType[tls.RecordHeaderError](err) || isType[tls.AlertError](err) ||
		errors.Is(err, http.ErrSchemeMismatch)
}

func isTimeout(err error) bool {
	timeout, ok := errors.AsType[net.Error](err)
	return ok && timeout.Timeout()
}

func isType[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// codeOf returns the code of the store's answer, empty if there was none.
func codeOf(err error) string {
	if answer, ok := errors.AsType[smithy.APIError](err); ok {
		return answer.ErrorCode()
	}
	return ""
}

// isMissing reports whether the store said that there is no such object. The
// answer to a HEAD has no more than its status.
func isMissing(err error) bool {
	switch codeOf(err) {
	case "NoSuchKey", "NotFound":
		return true
	case "": // the SDK cannot read the answer for a key that XML cannot spell
		return statusOf(err) == http.StatusNotFound
	}
	return false
}

// isConflict reports whether the store said that the condition of a write does
// not hold, or may not have held because of a write at the same moment.
func isConflict(err error) bool {
	switch codeOf(err) {
	case "PreconditionFailed", "ConditionalRequestConflict":
		return true
	}
	return statusOf(err) == http.StatusPreconditionFailed
}
