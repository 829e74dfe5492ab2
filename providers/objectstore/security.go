package objectstore

import (
	"fmt"
	"io"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/arn"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/workspacekit/workspacekit/internal/lazyregexp"
	"github.com/workspacekit/workspacekit/providers/objectstore/internal/client"
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

// CustomerKey is a key of encryption. It is printed and encoded as "REDACTED", but
// package fmt prints the bytes of one in an unexported field.
type CustomerKey []byte

// Format implements [fmt.Formatter].
func (CustomerKey) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, redacted) }

// MarshalText implements [encoding.TextMarshaler].
func (CustomerKey) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// redacted stands for a secret in what is printed.
const redacted = "REDACTED"

// customerKeySize is the size of a key for AES-256.
const customerKeySize = 32

// check checks the encryption against itself and the endpoint.
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
	case e.KMSKey != "" && (!headerValue().MatchString(e.KMSKey) || strings.Contains(e.KMSKey, " ")):
		return wrong("Encryption", "the KMS key must be an id, an alias such as alias/files, or an ARN")
	case e.Type == SSEC && len(e.CustomerKey) != customerKeySize:
		return wrong("Encryption", "the customer key has %d bytes, and needs %d", len(e.CustomerKey), customerKeySize)
	case e.Type == SSEC && strings.HasPrefix(strings.ToLower(o.Endpoint), "http:"):
		return errPlainKey()
	}
	return nil
}

// errPlainKey returns the error of a key that would be readable on the network.
func errPlainKey() error {
	return wrong("Encryption", "%s sends the key with each request: it needs an endpoint with https", SSEC)
}

// checkClient returns the error of a client that would send a key in plain
// text, or might take it elsewhere.
func (e Encryption) checkClient(c s3.Options) error {
	if e.Type != SSEC {
		return nil
	}
	if c.EndpointOptions.DisableHTTPS || strings.HasPrefix(strings.ToLower(aws.ToString(c.BaseEndpoint)), "http:") {
		return errPlainKey()
	}
	if _, ok := client.WithoutRedirects(c.HTTPClient); !ok {
		return wrong("Encryption", "%s sends the key with each request, which must not follow a redirect: use an *http.Client or a BuildableClient of the SDK", SSEC)
	}
	return nil
}

// Role is a role of AWS, or of a store that has them.
type Role struct {
	// ARN names the role: "arn:aws:iam::123456789012:role/reader".
	ARN string
	// ExternalID is what the role's owner asks of those who assume it. Empty
	// means nothing.
	ExternalID string
}

// The external ids that AWS accepts
// (https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRole.html).
const maxExternalID = 1224

// externalIDs are the characters that AWS allows in an external id.
var externalIDs = lazyregexp.New(`^[\w+=,.@:/-]{2,}$`)

// roleNames is the part of an ARN that names a role, perhaps with a path.
var roleNames = lazyregexp.New(`^role/[\w+=,.@/-]+$`)

// check checks the form of the role. Whether it exists shows when it is assumed.
func (r Role) check() error {
	if r == (Role{}) {
		return nil
	}
	role, err := arn.Parse(r.ARN)
	switch {
	case r.ARN == "":
		return wrong("AssumeRole", "it has an external id and no ARN: name the role")
	case err != nil || role.Service != "iam" || !roleNames().MatchString(role.Resource):
		return wrong("AssumeRole", "%q is not the ARN of a role, such as arn:aws:iam::123456789012:role/reader", r.ARN)
	case r.ExternalID != "" && (len(r.ExternalID) > maxExternalID || !externalIDs().MatchString(r.ExternalID)):
		return wrong("AssumeRole", "the external id must have 2 to 1224 letters, digits and characters of _+=,.@:/-")
	}
	return nil
}

// accessPointOf returns the parts of bucket if it is the ARN of an access point
// of a bucket.
func accessPointOf(bucket string) (point arn.ARN, ok bool) {
	point, err := arn.Parse(bucket)
	if err != nil || point.Service != "s3" || !isAccount(point.AccountID) {
		return arn.ARN{}, false
	}
	name, ok := strings.CutPrefix(point.Resource, "accesspoint/")
	if !ok {
		name, ok = strings.CutPrefix(point.Resource, "accesspoint:")
	}
	word := func(r rune) bool { return r != '.' && r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') }
	return point, ok && name != "" && strings.IndexFunc(name, word) < 0
}

// isAccount reports whether text is the number of an account of AWS.
func isAccount(text string) bool {
	return len(text) == 12 && strings.Trim(text, "0123456789") == ""
}
