package answer

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
	"strings"
	"syscall"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
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
		text += inParentheses(e.cause.ErrorCode())
	}
	return text
}

// inParentheses returns the code of an answer as an error shows it: empty if it may be a text,
// which a model would read as ours.
func inParentheses(code string) string {
	if !isCode().MatchString(code) {
		return ""
	}
	return " (" + code + ")"
}

var isCode = lazyregexp.New("^[A-Za-z0-9.]{1,64}$")

// Unwrap returns what the store answered, which [Code] looks for, and nil if
// there is none.
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
//
// It is for what this module finds out by itself.
func New(kind error, text string) error {
	return provider.Errorf(kind, "%w", &storeError{diagnosis: diagnosis{kind: kind, text: text}})
}

// Within returns err, which Explain or New has returned or which is a kind or
// the error of a context, with words about the whole of what failed before its
// text. Kind, remedy and status of err stay.
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

// diagnose finds out what err means: the role comes first, as its error hides
// what caused it; then what the store answered; then what the way to the store
// says. A wrong region is told by name, whatever the code.
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
//
// A request that was signed for that region already has another mistake. The
// text comes from an answer, so only what looks like the name of a region is
// shown.
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

// Code returns the code of the store's answer, empty if there was none. It is
// the error code of S3, such as "NoSuchKey", or what the SDK makes of a HEAD's
// status.
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
// hold, or if it has done already what it is asked for. After a lost answer it
// may mean that the first attempt took place.
func IsRefusal(err error) bool {
	return IsConflict(err) || IsMissing(err) || Code(err) == NoSuchUpload
}

// NoSuchUpload is what a store answers if an upload was aborted, or completed.
const NoSuchUpload = "NoSuchUpload"

// diagnosis is what an error means, and what to do about it.
//
// Text and remedy are shown to models and people, so they have no name of a
// bucket or a host. An error of no kind stays until somebody corrects its
// cause: trying again does not help.
type diagnosis struct {
	kind   error  // of the contract; nil if it is none of its kinds
	text   string // what is wrong
	remedy string // what to do about it; empty if nothing helps
}

// tryAgain begins the remedy of what passes.
const tryAgain = "try again"

// The diagnoses that several codes or statuses share.
var (
	credentialsRefused = diagnosis{fs.ErrPermission, "the store does not accept the credentials", "correct the access key and its secret, or the profile"}
	credentialsExpired = diagnosis{fs.ErrPermission, "the credentials have expired", "renew them"}
	denied             = diagnosis{fs.ErrPermission, "the credentials do not allow this here", "grant them the right, or use others"}
	elsewhere          = diagnosis{nil, "the bucket is in another region or behind another endpoint", "correct Region or Endpoint"}
	nameRefused        = diagnosis{fs.ErrInvalid, "the store cannot hold this name", ""}
	full               = diagnosis{workspace.ErrNoSpace, "make room, or raise the quota", ""} // as the kind says the rest
	throttled          = diagnosis{workspace.ErrUnavailable, "the store asks for fewer requests", tryAgain + " later"}
	garbled            = diagnosis{workspace.ErrUnavailable, "the request did not reach the store whole and alone", tryAgain}
)

// byCode explains the codes of
// https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html and those
// of other stores.
var byCode = map[string]diagnosis{
	"NoSuchBucket":      {nil, "the bucket does not exist", "make it, or correct bucket, region or endpoint"},
	"InvalidBucketName": {nil, "the name of the bucket is not valid", "correct it"},

	"InvalidAccessKeyId": credentialsRefused, "SignatureDoesNotMatch": credentialsRefused, "InvalidToken": credentialsRefused,
	"InvalidClientTokenId": credentialsRefused, "UnrecognizedClientException": credentialsRefused, "XAdminUserNotFound": credentialsRefused,
	"ExpiredToken": credentialsExpired, "TokenRefreshRequired": credentialsExpired, "ExpiredTokenException": credentialsExpired,
	"RequestTimeTooSkewed": {fs.ErrPermission, "this machine's clock differs too much from the store's", "set it"},
	"AccessDenied":         denied, "AllAccessDisabled": denied, "AccountProblem": denied,

	"AuthorizationHeaderMalformed": elsewhere, "PermanentRedirect": elsewhere, "TemporaryRedirect": elsewhere,
	"IllegalLocationConstraintException": elsewhere, "MovedPermanently": elsewhere,
	// The answer to a HEAD has no more than its status.
	"BadRequest": {nil, "the store refuses the request", "check Region, Endpoint, and whether the credentials have expired"},

	"KeyTooLongError": nameRefused, "RequestHeaderSectionTooLarge": nameRefused, "InvalidObjectName": nameRefused,
	"XMinioInvalidObjectName": nameRefused, "XMinioInvalidResourceName": nameRefused, "InvalidURI": nameRefused,
	"EntityTooLarge": {workspace.ErrTooLarge, "the store takes no object of this size", ""},
	"QuotaExceeded":  full, "QuotaExceededException": full, "InsufficientStorage": full, "XMinioStorageFull": full, "StorageFull": full,
	"InvalidObjectState":        {fs.ErrPermission, "the object is archived", "restore it first"},
	"MetadataTooLarge":          {nil, "the user metadata of the file leave no room for those that a write adds", "shorten them"},
	NoSuchUpload:                {workspace.ErrUnavailable, "somebody else has aborted the upload", tryAgain},
	"NotImplemented":            {errors.ErrUnsupported, "the store does not support this", ""},
	"ObjectParentIsFile":        {workspace.ErrNotDir, "an element of the name is a file", ""},
	"ExistingObjectIsDirectory": {workspace.ErrIsDir, "the name is a directory", ""},

	"SlowDown": throttled, "RequestLimitExceeded": throttled, "TooManyRequests": throttled,
	"SlowDownRead": throttled, "SlowDownWrite": throttled, "ThrottlingException": throttled,
	"RequestTimeout": garbled, "OperationAborted": garbled, "ConditionalRequestConflict": garbled,
	"BadDigest": garbled, "IncompleteBody": garbled, "XAmzContentChecksumMismatch": garbled,
}

// diagnoseAnswer explains a code. An unknown one is judged by its status.
func diagnoseAnswer(code string, status int) diagnosis {
	if known, ok := byCode[code]; ok {
		return known
	}
	switch {
	case status == http.StatusForbidden || status == http.StatusUnauthorized:
		return diagnosis{fs.ErrPermission, "the store refuses", "check the credentials and their rights, and this machine's clock"}
	case status == http.StatusMovedPermanently:
		return elsewhere
	case status == http.StatusRequestURITooLong || status == http.StatusRequestHeaderFieldsTooLarge: // the key is in both
		return nameRefused
	case status >= 500, status == http.StatusTooManyRequests:
		return diagnosis{workspace.ErrUnavailable, "the store has a problem", tryAgain + " later"}
	}
	return diagnosis{nil, "the store refuses the request", ""}
}

// ErrCredentials marks that no credentials could be had.
var ErrCredentials = errors.New("no credentials")

// ErrPlainKey marks that a request was not sent because it has a key of
// encryption, which everybody on the way could read.
var ErrPlainKey = errors.New("a key over http")

// diagnoseTransport explains an error without an answer. An error can be
// several of these, so what says most comes first.
func diagnoseTransport(err error) diagnosis {
	unavailable := func(text, remedy string) diagnosis {
		return diagnosis{workspace.ErrUnavailable, text, remedy}
	}
	switch {
	case errors.Is(err, ErrCredentials) && isType[*net.DNSError](err):
		return unavailable("the name of the service that gives out the credentials cannot be resolved", "check the network")
	case errors.Is(err, ErrCredentials):
		return diagnosis{fs.ErrPermission, "no credentials were found", "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or name a profile"}
	case errors.Is(err, ErrPlainKey):
		return diagnosis{nil, "the endpoint has no https, over which alone the key of the encryption is sent", "correct the endpoint"}
	case isTLS(err):
		return diagnosis{nil, "the store's TLS certificate cannot be verified, or it does not speak TLS", "correct the endpoint, or trust its certificate"}
	case errors.Is(err, syscall.ECONNREFUSED):
		return unavailable("the store refuses the connection", "check that it runs at the endpoint")
	case isType[*net.DNSError](err):
		return unavailable("the name of the endpoint cannot be resolved", "check it and the network")
	case IsTimeout(err):
		return unavailable("the store did not answer in time", tryAgain+" later")
	case isType[*incompleteError](err):
		return unavailable("the answer lacks what a store sends, or is cut", "check that the endpoint is the store's and that no proxy answers in its place, or try again")
	case isType[*smithy.DeserializationError](err):
		return unavailable("the answer of the store could not be read", "check the endpoint, or try again")
	case isType[*retry.MaxAttemptsError](err), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, io.EOF), isType[*net.OpError](err):
		return unavailable("the connection to the store was lost", tryAgain)
	}
	return unavailable("the request to the store failed", tryAgain)
}

// isTLS reports whether err says that the connection cannot be trusted. Trying
// again does not help.
func isTLS(err error) bool {
	return isType[*tls.CertificateVerificationError](err) || isType[x509.UnknownAuthorityError](err) ||
		isType[x509.HostnameError](err) || isType[tls.RecordHeaderError](err) || isType[tls.AlertError](err) ||
		errors.Is(err, http.ErrSchemeMismatch)
}

// IsTimeout reports whether err says that a wait was too long.
func IsTimeout(err error) bool {
	timeout, ok := errors.AsType[net.Error](err)
	return ok && timeout.Timeout()
}

func isType[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// CutError says that the connection was lost while a request was sent. The
// reason may be that the store has refused it, which a look at the object tells
// sooner than the request sent again. [Explain] keeps it, for the code that has
// sent the request.
type CutError struct{ Err error }

func (e *CutError) Error() string { return e.Err.Error() }
func (e *CutError) Unwrap() error { return e.Err }

// RetryableError keeps the SDK from sending the request again.
func (e *CutError) RetryableError() bool { return false }

// RoleError says that a role could not be assumed. What caused it is hidden: it
// would look like an answer of the store.
type RoleError struct {
	Code string // of the answer; empty if the service did not answer
}

func (e *RoleError) Error() string { return e.diagnosis().text }

func (e *RoleError) diagnosis() diagnosis {
	if e.Code == "" {
		return diagnosis{workspace.ErrUnavailable, "the service that gives out the credentials of the role (STS) does not answer", tryAgain + " later"}
	}
	return diagnosis{fs.ErrPermission, "the role cannot be assumed",
		"check its ARN, its external id, its trust policy, and the rights of the credentials" + inParentheses(e.Code)}
}
