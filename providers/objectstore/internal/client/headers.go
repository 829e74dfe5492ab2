package client

import (
	"context"
	"crypto/md5"
	"encoding/base64"
	"maps"
	"net/http"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/workspacekit/workspacekit/providers/objectstore/internal/answer"
)

// Headers are what a client says to the store with its requests. The zero
// Headers are none. They are sent as they are: the options of the provider say
// which make sense together.
type Headers struct {
	RequesterPays bool
	BucketOwner   string // the account that must own the bucket; empty for any
	Encryption    string // of what is written, as the store calls it; empty for the bucket's
	KMSKey        string
	BucketKey     bool
	CustomerKey   []byte // which the store encrypts with, and does not keep
}

const (
	encryptionHeader = "X-Amz-Server-Side-Encryption"
	customerHeader   = encryptionHeader + "-Customer-"
	copyHeader       = "X-Amz-Copy-Source-Server-Side-Encryption-Customer-"
)

// customerHeaders returns the headers that show the store the key, which begin
// with prefix.
func (h Headers) customerHeaders(prefix string) http.Header {
	sum := md5.Sum(h.CustomerKey)
	return http.Header{
		prefix + "Algorithm": {"AES256"},
		prefix + "Key":       {base64.StdEncoding.EncodeToString(h.CustomerKey)},
		prefix + "Key-Md5":   {base64.StdEncoding.EncodeToString(sum[:])},
	}
}

// byOperation returns the headers of requests, by operation; those of the empty
// one are for operations that are not named.
//
// The source of a copy is in the same bucket, so its owner is not asked for apart:
// versitygw denies that to the right one.
//
// Listings and deletions get no more than payer and owner. A write gets the
// encryption; with a customer's key each request that reads or writes an object
// must show it, and a copy shows it twice, for both ends.
func (h Headers) byOperation() map[string]http.Header {
	all, made, shown, copied := http.Header{}, http.Header{}, http.Header{}, http.Header{}
	if h.RequesterPays {
		all.Set("X-Amz-Request-Payer", "requester")
	}
	if h.BucketOwner != "" {
		all.Set("X-Amz-Expected-Bucket-Owner", h.BucketOwner)
	}
	if h.Encryption != "" {
		made.Set(encryptionHeader, h.Encryption)
	}
	if h.KMSKey != "" {
		made.Set(encryptionHeader+"-Aws-Kms-Key-Id", h.KMSKey)
	}
	if h.BucketKey {
		made.Set(encryptionHeader+"-Bucket-Key-Enabled", "true")
	}
	if len(h.CustomerKey) > 0 {
		shown = h.customerHeaders(customerHeader)
		copied = h.customerHeaders(copyHeader)
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

// merged returns all headers in one. The map is new, and its values are those
// of the arguments.
func merged(headers ...http.Header) http.Header {
	sum := http.Header{}
	for _, h := range headers {
		maps.Copy(sum, h)
	}
	return sum
}

// Apply makes a client add the headers to each request, whatever the input of
// its call says, so that no call can lack them. It changes nothing if there are
// none. They are added before the request is signed, so that the signature
// covers them.
func (h Headers) Apply(c *s3.Options) {
	headers := h.byOperation()
	if len(headers["CopyObject"]) == 0 { // which has them all
		return
	}
	if len(h.CustomerKey) > 0 {
		c.HTTPClient, _ = WithoutRedirects(c.HTTPClient)
		c.APIOptions = append(c.APIOptions, func(stack *middleware.Stack) error {
			return stack.Deserialize.Add(httpsStep, middleware.After)
		})
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

// httpsStep is the last step before a request is sent. Only there its URL is
// known: a client can have an endpoint for each.
var httpsStep = middleware.DeserializeMiddlewareFunc("workspacekit:NeedHTTPS", func(ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler) (middleware.DeserializeOutput, middleware.Metadata, error) {
	if request, ok := in.Request.(*smithyhttp.Request); !ok || request.URL.Scheme != "https" {
		return middleware.DeserializeOutput{}, middleware.Metadata{}, answer.ErrPlainKey
	}
	return next.HandleDeserialize(ctx, in)
})

// WithoutRedirects returns a client that does what client does, but for
// following redirects, which would take a key to another host, or to http. It
// returns false for a client that it does not know how to change.
func WithoutRedirects(client s3.HTTPClient) (s3.HTTPClient, bool) {
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	switch c := client.(type) {
	case *awshttp.BuildableClient:
		return &http.Client{Transport: c.GetTransport(), Timeout: c.GetTimeout(), CheckRedirect: stay}, true
	case *http.Client:
		still := *c
		still.CheckRedirect = stay
		return &still, true
	}
	return client, false
}
