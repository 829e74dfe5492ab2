package s3test

import (
	"fmt"
	"net/http"
)

// apiError is an answer that says no.
type apiError struct {
	status  int
	code    string
	message string
	detail  []field     // more elements of the XML
	header  http.Header // more headers
}

type field struct{ name, value string }

func (e *apiError) Error() string { return fmt.Sprintf("%d %s: %s", e.status, e.code, e.message) }

// with returns e with one more element.
func (e *apiError) with(name, value string) *apiError {
	e.detail = append(e.detail, field{name, value})
	return e
}

func accessDenied(message string) *apiError {
	return &apiError{status: http.StatusForbidden, code: "AccessDenied", message: message}
}

func badDigest(message string) *apiError {
	return &apiError{status: http.StatusBadRequest, code: "BadDigest", message: message}
}

func invalidArgument(message, name, value string) *apiError {
	e := &apiError{status: http.StatusBadRequest, code: "InvalidArgument", message: message}
	return e.with("ArgumentName", name).with("ArgumentValue", value)
}

func invalidRequest(message string) *apiError {
	return &apiError{status: http.StatusBadRequest, code: "InvalidRequest", message: message}
}

func malformedXML() *apiError {
	return &apiError{status: http.StatusBadRequest, code: "MalformedXML",
		message: "The XML you provided was not well-formed or did not validate against our published schema"}
}

func methodNotAllowed() *apiError {
	return &apiError{status: http.StatusMethodNotAllowed, code: "MethodNotAllowed",
		message: "The specified method is not allowed against this resource."}
}

func noSuchBucket(name string) *apiError {
	e := &apiError{status: http.StatusNotFound, code: "NoSuchBucket", message: "The specified bucket does not exist"}
	return e.with("BucketName", name)
}

func noSuchKey(key string) *apiError {
	e := &apiError{status: http.StatusNotFound, code: "NoSuchKey", message: "The specified key does not exist."}
	return e.with("Key", key)
}

func noSuchUpload(id string) *apiError {
	e := &apiError{status: http.StatusNotFound, code: "NoSuchUpload",
		message: "The specified upload does not exist. The upload ID may be invalid, or the upload may have been aborted or completed."}
	return e.with("UploadId", id)
}

func notImplemented(header string) *apiError {
	e := &apiError{status: http.StatusNotImplemented, code: "NotImplemented",
		message: "A header you provided implies functionality that is not implemented"}
	return e.with("Header", header)
}

func preconditionFailed(condition string) *apiError {
	e := &apiError{status: http.StatusPreconditionFailed, code: "PreconditionFailed",
		message: "At least one of the pre-conditions you specified did not hold"}
	return e.with("Condition", condition)
}
