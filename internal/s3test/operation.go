package s3test

import (
	"net/http"
	"slices"
	"strings"
)

// operation returns the name of the operation that the request asks for, empty
// if it is none of this server's.
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

// operations maps a method to an operation.
type operations map[string]string

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
// object that this server does not have.
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

type handler func(*call) (*answer, error)

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

// checkHeaders refuses the headers of S3 that this server does not honour.
func (c *call) checkHeaders() error {
	for name := range c.r.Header {
		name = strings.ToLower(name)
		if strings.HasPrefix(name, "x-amz-") && !knownHeader(name) {
			return notImplemented(name)
		}
	}
	return nil
}

func knownHeader(name string) bool {
	for _, prefix := range []string{"x-amz-meta-", "x-amz-checksum-", "x-amz-copy-source", "x-amz-server-side-encryption"} {
		if strings.HasPrefix(name, prefix) {
			return !strings.HasSuffix(name, "-context")
		}
	}
	return slices.Contains([]string{
		"x-amz-request-payer", "x-amz-expected-bucket-owner", "x-amz-source-expected-bucket-owner", "x-amz-security-token",
		"x-amz-content-sha256", "x-amz-date", "x-amz-decoded-content-length", "x-amz-metadata-directive",
		"x-amz-storage-class", "x-amz-tagging", "x-amz-website-redirect-location",
		"x-amz-mp-object-size", "x-amz-sdk-checksum-algorithm", "x-amz-trailer", "x-amz-user-agent",
	}, name)
}
