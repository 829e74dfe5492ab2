package objectstore

import (
	"context"
	"crypto/md5"
	"encoding/base64"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// Encryption is how a store encrypts the content of what is written: files,
// copies and markers of directories.
type Encryption struct {
	// Type says whose keys are used. Empty leaves it to the bucket.
	Type EncryptionType
	// KMSKey is the id, alias or ARN of the key for [SSEKMS]. Empty means the
	// account's key for S3.
	KMSKey string
	// BucketKey makes the store ask KMS for a key of the bucket, and not for
	// one of each object. It is for SSEKMS.
	BucketKey bool
	// CustomerKey is the key for [SSEC], which needs it: 32 bytes. It is sent
	// with each request that reads or writes a file, so the endpoint must have
	// https, and all files of the workspace must be encrypted with it.
	CustomerKey CustomerKey
}

// EncryptionType says whose keys a store encrypts with.
type EncryptionType string

// The types of encryption.
const (
	SSES3  EncryptionType = "sse-s3"  // keys of the store
	SSEKMS EncryptionType = "sse-kms" // keys of a key management service
	SSEC   EncryptionType = "sse-c"   // a key of the caller's, which the store does not keep
)

// CustomerKey is a key of encryption. Whatever prints it prints "REDACTED".
type CustomerKey []byte

// Format implements [fmt.Formatter].
func (CustomerKey) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, redacted) }

// MarshalText implements [encoding.TextMarshaler].
func (CustomerKey) MarshalText() ([]byte, error) { return []byte(redacted), nil }

const redacted = "REDACTED"

// customerKeySize is the size of a key for AES-256.
const customerKeySize = 32

func (e Encryption) check(o *Options) error {
	switch e.Type {
	case "", SSES3, SSEKMS, SSEC:
	default:
		return wrong("Encryption", "the type %q is none of %s, %s and %s", e.Type, SSES3, SSEKMS, SSEC)
	}
	switch {
	case e.Type != SSEKMS && (e.KMSKey != "" || e.BucketKey):
		return wrong("Encryption", "a KMS key and a bucket key are for the type %s", SSEKMS)
	case e.Type != SSEC && len(e.CustomerKey) > 0:
		return wrong("Encryption", "a customer key is for the type %s", SSEC)
	case e.KMSKey != "" && (!headerValue.MatchString(e.KMSKey) || strings.Contains(e.KMSKey, " ")):
		return wrong("Encryption", "the KMS key must be an id, an alias such as alias/files, or an ARN")
	case e.Type == SSEC && len(e.CustomerKey) != customerKeySize:
		return wrong("Encryption", "the customer key has %d bytes, and needs %d", len(e.CustomerKey), customerKeySize)
	case e.Type == SSEC && strings.HasPrefix(strings.ToLower(o.Endpoint), "http:"):
		return errPlainKey
	}
	return nil
}

var errPlainKey = wrong("Encryption", "%s sends the key with each request: it needs an endpoint with https", SSEC)

// checkClient returns the error of a client that would send a key in plain
// text.
func (e Encryption) checkClient(c s3.Options) error {
	plain := c.EndpointOptions.DisableHTTPS || strings.HasPrefix(strings.ToLower(aws.ToString(c.BaseEndpoint)), "http:")
	if e.Type == SSEC && plain {
		return errPlainKey
	}
	return nil
}

// hidesSums reports whether ETags are not MD5 sums of contents.
func (e Encryption) hidesSums() bool { return e.Type == SSEKMS || e.Type == SSEC }

const (
	encryptionHeader = "X-Amz-Server-Side-Encryption"
	customerHeader   = encryptionHeader + "-Customer-"
	copyHeader       = "X-Amz-Copy-Source-Server-Side-Encryption-Customer-"
)

// customerHeaders returns the headers that show the store the key, which begin
// with prefix.
func (e Encryption) customerHeaders(prefix string) http.Header {
	sum := md5.Sum(e.CustomerKey)
	return http.Header{
		prefix + "Algorithm": {"AES256"},
		prefix + "Key":       {base64.StdEncoding.EncodeToString(e.CustomerKey)},
		prefix + "Key-Md5":   {base64.StdEncoding.EncodeToString(sum[:])},
	}
}

// headersFor returns the headers that o adds to requests, by operation; those of
// the empty one are for operations that are not named.
//
// The source of a copy is in the same bucket, so its owner is not asked for apart:
// versitygw denies that to the right one.
//
// A header is set here, and not in the input of each call, so that no call can
// lack it.
func (o Options) headersFor() map[string]http.Header {
	all, made, shown, copied := http.Header{}, http.Header{}, http.Header{}, http.Header{}
	if o.RequesterPays {
		all.Set("X-Amz-Request-Payer", "requester")
	}
	if o.ExpectedBucketOwner != "" {
		all.Set("X-Amz-Expected-Bucket-Owner", o.ExpectedBucketOwner)
	}
	switch o.Encryption.Type {
	case SSES3:
		made.Set(encryptionHeader, "AES256")
	case SSEKMS:
		made.Set(encryptionHeader, "aws:kms")
		if o.Encryption.KMSKey != "" {
			made.Set(encryptionHeader+"-Aws-Kms-Key-Id", o.Encryption.KMSKey)
		}
		if o.Encryption.BucketKey {
			made.Set(encryptionHeader+"-Bucket-Key-Enabled", "true")
		}
	case SSEC:
		shown = o.Encryption.customerHeaders(customerHeader)
		copied = o.Encryption.customerHeaders(copyHeader)
	}
	return map[string]http.Header{
		"":                        all,
		"GetObject":               merged(all, shown),
		"HeadObject":              merged(all, shown),
		"PutObject":               merged(all, made, shown),
		"CreateMultipartUpload":   merged(all, made, shown),
		"UploadPart":              merged(all, shown),
		"CompleteMultipartUpload": merged(all, shown),
		"CopyObject":              merged(all, made, shown, copied),
		"UploadPartCopy":          merged(all, shown, copied),
	}
}

func merged(headers ...http.Header) http.Header {
	sum := http.Header{}
	for _, h := range headers {
		maps.Copy(sum, h)
	}
	return sum
}

// addHeaders makes a client add the headers that o asks for to each request. It
// changes nothing if there are none.
func (o Options) addHeaders(c *s3.Options) {
	headers := o.headersFor()
	if len(headers["CopyObject"]) == 0 { // which has them all
		return
	}
	if o.Encryption.Type == SSEC {
		c.HTTPClient = withoutRedirects(c.HTTPClient)
	}
	add := middleware.BuildMiddlewareFunc("workspacekit:AddHeaders", func(ctx context.Context, in middleware.BuildInput, next middleware.BuildHandler) (middleware.BuildOutput, middleware.Metadata, error) {
		added, ok := headers[awsmiddleware.GetOperationName(ctx)]
		if !ok {
			added = headers[""]
		}
		if request, ok := in.Request.(*smithyhttp.Request); ok {
			maps.Copy(request.Header, added)
		}
		return next.HandleBuild(ctx, in)
	})
	c.APIOptions = append(c.APIOptions, func(stack *middleware.Stack) error { return stack.Build.Add(add, middleware.Before) })
}

// withoutRedirects returns client if it is not known to follow redirects, and
// one that does not: they would take the key to another host, or to http.
func withoutRedirects(client s3.HTTPClient) s3.HTTPClient {
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	switch c := client.(type) {
	case *awshttp.BuildableClient:
		return &http.Client{Transport: c.GetTransport(), Timeout: c.GetTimeout(), CheckRedirect: stay}
	case *http.Client:
		still := *c
		still.CheckRedirect = stay
		return &still
	}
	return client
}
