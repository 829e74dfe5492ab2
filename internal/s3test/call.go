package s3test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"
)

const maxKeySize = 1024

// call is one request while it is served.
//
// The fields are filled in this order: newCall reads the address and the
// headers, readBody the body as sent, authenticate the body as meant. The
// goroutine that serves the request owns them, so they need no lock.
type call struct {
	w       http.ResponseWriter
	r       *http.Request
	id      string // of the request, which the answer has
	request Request
	raw     []byte      // the body as sent
	body    []byte      // the body as meant: verified, and without its chunks
	trailer http.Header // that follows a body in chunks
	err     error       // what is wrong with the address
}

// newCall reads a request, but for its body. What is wrong with the address is
// kept in c.err and answered later, so that a fault can still happen to such a
// request.
func (s *Server) newCall(w http.ResponseWriter, r *http.Request) *call {
	c := &call{w: w, r: r, id: fmt.Sprintf("%016X", s.serial.Add(1))}
	c.request.Header = r.Header.Clone()
	query, err := url.ParseQuery(r.URL.RawQuery)
	if c.request.Query = query; err != nil {
		c.err = invalidURI()
	}
	c.address()
	c.request.Op = c.operation()
	return c
}

// readBody reads the body of the request whole. From then on the context of the
// request ends when the client goes. If the client goes before that, the
// handler ends without an answer.
func (c *call) readBody() {
	raw, err := io.ReadAll(c.r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	c.raw = raw
}

// address finds the bucket and the key. The path is taken as it is: a key may
// be "//" or "..". That is why the server does not use [http.ServeMux], which
// would redirect from such a path to a clean one. Both ways to name a bucket
// are understood:
//
//	GET /workspace/dir/file HTTP/1.1      Host: 127.0.0.1:9000
//	GET /dir/file HTTP/1.1                Host: workspace.localhost:9000
func (c *call) address() {
	path := strings.TrimPrefix(c.r.URL.Path, "/")
	bucket, ok := bucketOfHost(c.r.Host)
	if !ok {
		bucket, path, _ = strings.Cut(path, "/")
	}
	c.request.Bucket, c.request.Key = bucket, path
	switch {
	case !utf8.ValidString(path):
		c.err = invalidURI()
	case len(path) > maxKeySize:
		c.err = keyTooLong(len(path))
	}
}

// bucketOfHost returns the bucket that is a label of host, as in
// "workspace.localhost:8080".
func bucketOfHost(host string) (string, bool) {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	for _, suffix := range []string{".localhost", ".example.com"} {
		if bucket, ok := strings.CutSuffix(host, suffix); ok {
			return bucket, true
		}
	}
	return "", false
}

// invalidURI is the error of a path that cannot be decoded.
func invalidURI() *apiError {
	return &apiError{status: http.StatusBadRequest, code: "InvalidURI", message: "Couldn't parse the specified URI."}
}

// keyTooLong is the error of a key of more than 1,024 bytes.
func keyTooLong(size int) *apiError {
	e := &apiError{status: http.StatusBadRequest, code: "KeyTooLongError", message: "Your key is too long"}
	return e.with("Size", fmt.Sprint(size)).with("MaxSizeAllowed", fmt.Sprint(maxKeySize))
}

// bucket returns the bucket that the request names.
func (c *call) bucket() string { return c.request.Bucket }

// key returns the key that the request names.
func (c *call) key() string { return c.request.Key }

// header returns a header of the request.
func (c *call) header(name string) string { return c.r.Header.Get(name) }

// query returns a parameter of the request.
func (c *call) query(name string) string { return c.request.Query.Get(name) }

// has reports whether the query has name, if only as a word.
func (c *call) has(name string) bool { return c.request.Query.Has(name) }

// serve answers one request. The order decides what a fault can imitate: an
// Unread one comes before the body is read; Delay, Reset, Status and Instead
// come before the store is touched; the others come after the request has taken
// effect, when the client waits for the answer.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	c := s.newCall(w, r)
	fault := s.faultFor(c.request)
	if fault.Unread {
		s.record(c.request)
		reset(c.w)
	}
	c.readBody()
	a := s.before(c, fault)
	if a == nil {
		a = s.answer(c)
	} else {
		fault = Fault{} // it has happened
	}
	a.header.Set("X-Amz-Request-Id", c.id)
	a.header.Set("X-Amz-Id-2", "s3test/"+c.id)
	a.header.Set("Server", "AmazonS3")
	s.deliver(c, a, fault)
}

// answer answers a call, or with an error as S3 shows it.
func (s *Server) answer(c *call) *answer {
	a, err := s.perform(c)
	if err != nil {
		return c.refuse(err)
	}
	return a
}

// perform verifies the request and does what it asks for. Nothing is changed
// before all checks have passed. The signature is checked before anything that
// depends on the store: a request with a wrong one learns nothing about what is
// in it.
func (s *Server) perform(c *call) (*answer, error) {
	if c.err != nil {
		return nil, c.err
	}
	if err := s.authenticate(c); err != nil {
		return nil, err
	}
	if err := s.checkAccount(c); err != nil {
		return nil, err
	}
	if err := c.checkHeaders(); err != nil {
		return nil, err
	}
	if err := c.verifyDigests(); err != nil {
		return nil, err
	}
	handle, ok := s.handler(c.request.Op)
	if !ok {
		return nil, c.unknown()
	}
	if c.key() != "" && s.denies(c.key()) {
		return nil, accessDenied("Access Denied")
	}
	return handle(c)
}

// refuse returns the answer that says err. That to a HEAD has no body. A client
// therefore knows of a failed HEAD no more than the status, and cannot tell a
// missing bucket from a missing key. An error that is no apiError is a mistake
// of this server, and becomes a 500.
func (c *call) refuse(err error) *answer {
	var e *apiError
	if !errors.As(err, &e) {
		e = &apiError{status: http.StatusInternalServerError, code: "InternalError", message: err.Error()}
	}
	a := plain(e.status)
	for name, values := range e.header {
		a.header[name] = values
	}
	if c.r.Method == http.MethodHead || e.status == http.StatusNotModified {
		return a
	}
	a.header.Set("Content-Type", "application/xml")
	a.body = c.errorBody(e)
	return a
}

// errorBody returns the document of an error.
func (c *call) errorBody(e *apiError) []byte {
	var d document
	d.WriteString(`<?xml version="1.0" encoding="UTF-8"?>` + "\n<Error>")
	d.text("Code", e.code)
	d.text("Message", e.message)
	for _, f := range e.detail {
		d.text(f.name, f.value)
	}
	d.text("Resource", c.r.URL.EscapedPath())
	d.text("RequestId", c.id)
	d.text("HostId", "s3test/"+c.id)
	d.close("Error")
	return bytes.Clone(d.Bytes())
}

// operation returns the name of the operation that the request asks for, empty
// if it is none of this server's. Method, path and query decide, and for copies
// a header:
//
//	GET    /b?list-type=2                ListObjectsV2
//	GET    /b/k                          GetObject
//	POST   /b/k?uploads                  CreateMultipartUpload
//	PUT    /b/k?partNumber=1&uploadId=u  UploadPart
//	PUT    /b/k  X-Amz-Copy-Source: b/s  CopyObject
//	GET    /b/k?versionId=v              none: see subresource
func (c *call) operation() string {
	switch {
	case c.has("tagging") && c.key() != "":
		return operations{http.MethodGet: "GetObjectTagging"}[c.r.Method]
	case c.subresource():
		return ""
	case c.bucket() == "":
		return operations{http.MethodGet: "ListBuckets"}[c.r.Method]
	case c.key() == "":
		return c.bucketOperation()
	case c.has("uploads") || c.has("uploadId"):
		return c.uploadOperation()
	case c.r.Method == http.MethodPut && c.header("X-Amz-Copy-Source") != "":
		return "CopyObject"
	}
	return operations{
		http.MethodGet: "GetObject", http.MethodHead: "HeadObject",
		http.MethodPut: "PutObject", http.MethodDelete: "DeleteObject",
	}[c.r.Method]
}

// operations maps a method to an operation. A method that is not in it maps to
// "", no operation.
type operations map[string]string

// bucketOperation returns the operation of a request without a key. The first
// version of ListObjects is none of this server's.
func (c *call) bucketOperation() string {
	switch {
	case c.has("location"):
		return operations{http.MethodGet: "GetBucketLocation"}[c.r.Method]
	case c.has("uploads"):
		return operations{http.MethodGet: "ListMultipartUploads"}[c.r.Method]
	case c.has("delete"):
		return operations{http.MethodPost: "DeleteObjects"}[c.r.Method]
	case c.r.Method == http.MethodGet && c.query("list-type") != "2":
		return ""
	}
	return operations{
		http.MethodGet: "ListObjectsV2", http.MethodHead: "HeadBucket",
		http.MethodPut: "CreateBucket", http.MethodDelete: "DeleteBucket",
	}[c.r.Method]
}

// uploadOperation returns the operation of a request about a multipart upload.
func (c *call) uploadOperation() string {
	switch {
	case c.has("uploads"):
		return operations{http.MethodPost: "CreateMultipartUpload"}[c.r.Method]
	case c.r.Method == http.MethodPut && c.header("X-Amz-Copy-Source") != "":
		return "UploadPartCopy"
	}
	return operations{
		http.MethodGet: "ListParts", http.MethodPut: "UploadPart",
		http.MethodPost: "CompleteMultipartUpload", http.MethodDelete: "AbortMultipartUpload",
	}[c.r.Method]
}

// subresource reports whether the request is about something of a bucket or an
// object that this server does not have. Such a word in the query changes what
// a method means: a DELETE with "tagging" would otherwise delete the object. A
// part number with an upload is no subresource, since it names the part that is
// uploaded.
func (c *call) subresource() bool {
	return slices.ContainsFunc([]string{
		"accelerate", "acl", "analytics", "attributes", "cors", "encryption", "inventory", "legal-hold",
		"lifecycle", "logging", "metrics", "notification", "object-lock", "ownershipControls", "partNumber",
		"policy", "policyStatus", "publicAccessBlock", "renameObject", "replication", "requestPayment",
		"restore", "retention", "select", "tagging", "torrent", "versionId", "versioning", "versions", "website",
	}, func(name string) bool { return c.has(name) && (name != "partNumber" || !c.has("uploadId")) })
}

// unknown is the error for a request that is no operation of this server.
func (c *call) unknown() *apiError {
	if c.subresource() || c.r.Method == http.MethodGet {
		return notImplemented(c.r.URL.RawQuery)
	}
	return methodNotAllowed()
}

// methodNotAllowed is the error of a method that the resource does not have.
func methodNotAllowed() *apiError {
	return &apiError{status: http.StatusMethodNotAllowed, code: "MethodNotAllowed",
		message: "The specified method is not allowed against this resource."}
}

// handler carries out one operation, for a call that has passed all checks of
// [Server.perform]. It locks the server itself. An error that it returns is an
// *apiError.
type handler func(*call) (*answer, error)

// handler returns what carries out an operation.
func (s *Server) handler(op string) (handler, bool) {
	handle, ok := map[string]handler{
		"ListBuckets":             s.listBuckets,
		"CreateBucket":            s.createBucket,
		"HeadBucket":              s.headBucket,
		"DeleteBucket":            s.deleteBucket,
		"GetBucketLocation":       s.getBucketLocation,
		"ListObjectsV2":           s.listObjects,
		"DeleteObjects":           s.deleteObjects,
		"GetObject":               s.getObject,
		"GetObjectTagging":        s.getObjectTagging,
		"HeadObject":              s.getObject,
		"PutObject":               s.putObject,
		"CopyObject":              s.copyObject,
		"DeleteObject":            s.deleteObject,
		"CreateMultipartUpload":   s.createUpload,
		"UploadPart":              s.uploadPart,
		"UploadPartCopy":          s.uploadPartCopy,
		"CompleteMultipartUpload": s.completeUpload,
		"AbortMultipartUpload":    s.abortUpload,
		"ListMultipartUploads":    s.listUploads,
		"ListParts":               s.listParts,
	}[op]
	return handle, ok
}

// checkHeaders refuses the headers of S3 that this server does not honour. A
// test that relied on one would otherwise pass here and fail on Amazon.
func (c *call) checkHeaders() error {
	for name := range c.r.Header {
		name = strings.ToLower(name)
		if strings.HasPrefix(name, "x-amz-") && !knownHeader(name) {
			return notImplemented(name)
		}
	}
	return nil
}

// knownHeader reports whether the server honours a header. Any other that
// could change the result is refused.
func knownHeader(name string) bool {
	for _, prefix := range []string{"x-amz-meta-", "x-amz-checksum-", "x-amz-copy-source", "x-amz-server-side-encryption"} {
		if strings.HasPrefix(name, prefix) {
			return !strings.HasSuffix(name, "-context")
		}
	}
	return slices.Contains([]string{
		"x-amz-request-payer", "x-amz-expected-bucket-owner", "x-amz-source-expected-bucket-owner", "x-amz-security-token",
		"x-amz-content-sha256", "x-amz-date", "x-amz-decoded-content-length", "x-amz-metadata-directive",
		"x-amz-storage-class", "x-amz-tagging", "x-amz-tagging-directive", "x-amz-website-redirect-location",
		"x-amz-mp-object-size", "x-amz-sdk-checksum-algorithm", "x-amz-trailer", "x-amz-user-agent",
	}, name)
}

// Request is a request as the server saw it.
type Request struct {
	// Op is the name of the operation in Amazon's reference, such as
	// "ListObjectsV2". It is empty for what is no operation of this server.
	Op string
	// Bucket and Key are what the request is about, decoded; either may be
	// empty.
	Bucket, Key string
	// Query and Header are as they were sent. They are the server's, to be
	// read only.
	Query  url.Values
	Header http.Header
	// Status is what was answered, zero if the connection was cut instead.
	Status int
	// BytesSent counts the bytes of the answer's body, sent or cut off.
	BytesSent int64
}

// Requests returns what the server has answered since it started, or since
// [Server.ResetRequests], in the order of the answers. What a client has an
// answer to is in it.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// ResetRequests forgets the requests so far.
func (s *Server) ResetRequests() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = nil
}

// record adds a request to the log. A request is recorded at most once, before
// the first byte of its answer is sent. One whose client leaves before it is
// served is not in the log.
func (s *Server) record(request Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, request)
}
