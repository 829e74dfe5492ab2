package answer

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"syscall"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go"

	"github.com/workspacekit/workspacekit/workspace"
)

// diagnosis is what an error means, and what to do about it.
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
	"NoSuchBucket":      {nil, "the bucket does not exist", "make it, or correct the name, the region or the endpoint"},
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

// diagnoseTransport explains an error without an answer.
func diagnoseTransport(err error) diagnosis {
	unavailable := func(text, remedy string) diagnosis {
		return diagnosis{workspace.ErrUnavailable, text, remedy}
	}
	switch {
	case errors.Is(err, ErrCredentials):
		return diagnosis{fs.ErrPermission, "no credentials were found", "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or name a profile"}
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
// reason may be that the store has refused it, which a look at the object
// tells sooner than the request sent again.
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
		"check its ARN, its external id, its trust policy, and the rights of the credentials (" + e.Code + ")"}
}
