package objectstore

import (
	"cmp"
	"context"
	"crypto/rand"
	"net/url"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/provider"
)

// Compat is what differs from one S3 store to another.
type Compat struct {
	// PathStyle puts the bucket into the path of the URL and not into the
	// name of the host. Most stores but AWS want it. It is a setting of the
	// client, which [Open] makes.
	PathStyle bool
	// RequiredChecksumsOnly sends and asks for checksums only where the
	// protocol requires them. Older stores refuse, or store as content, what
	// newer clients of AWS send by default. It is a setting of the client,
	// which [Open] makes.
	RequiredChecksumsOnly bool
	// Unconditional says that the store ignores or refuses the conditions of a
	// write. The capabilities ConditionalWrite, Copy and Move are then missing.
	Unconditional bool
	// UnconditionalUpload says that the store ignores or refuses the conditions
	// of CompleteMultipartUpload. A conditional write of more than one part is
	// then [errors.ErrUnsupported]. Without ConditionalCopy the capabilities Copy
	// and Move are missing: a copy goes through the caller, as a conditional write.
	UnconditionalUpload bool
	// VerifyETags compares what is read with the ETag, where that is an MD5 sum,
	// and reads again what does not fit: some stores answer a read beside a
	// write with the content of the one and the ETag of the other version. It
	// takes 2 ms for each MiB. Where ETags look like MD5 sums and are not, an
	// empty file is [workspace.ErrUnavailable] until one with content was read.
	VerifyETags bool
	// ConditionalCopy says that CopyObject honours If-None-Match. Without it a
	// copy is an upload whose parts the store copies.
	ConditionalCopy bool
	// ConditionalDelete says that DeleteObject honours If-Match, atomically.
	// Without it a move replaces the source by a marker, which is no file any
	// more, before it deletes it.
	ConditionalDelete bool
}

// CompatFor returns what is known about the store at endpoint, a URL: AWS, which
// the empty endpoint means too, has everything; any other is asked for no more
// than R2, MinIO, Ceph and their like have.
func CompatFor(endpoint string) Compat {
	if isAWS(endpoint) {
		return Compat{ConditionalCopy: true, ConditionalDelete: true}
	}
	return Compat{PathStyle: true, RequiredChecksumsOnly: true, VerifyETags: true}
}

// adapt applies o to the client's own options, which know by now what the
// environment and the profile say.
func (o Options) adapt(c *s3.Options) {
	if o.Endpoint != "" {
		c.BaseEndpoint = aws.String(o.Endpoint)
	}
	endpoint := aws.ToString(c.BaseEndpoint)
	compat := o.compatFor(endpoint)
	c.UsePathStyle = compat.PathStyle
	if o.PathStyle != nil {
		c.UsePathStyle = *o.PathStyle
	}
	if point, ok := accessPointOf(o.Bucket); ok {
		c.UsePathStyle, c.UseARNRegion = false, true
		c.Region = cmp.Or(point.Region, c.Region)
	}
	if compat.RequiredChecksumsOnly {
		c.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
		c.ResponseChecksumValidation = aws.ResponseChecksumValidationWhenRequired
	}
	switch {
	case c.Region != "":
	case isR2(endpoint):
		c.Region = "auto"
	default:
		c.Region = "us-east-1"
	}
}

// compatFor returns how to speak with the store: as its endpoint suggests, unless the
// options say otherwise.
func (o Options) compatFor(endpoint string) Compat {
	compat := CompatFor(endpoint)
	if o.Compat != nil {
		compat = *o.Compat
	}
	if o.AdaptCompat != nil {
		o.AdaptCompat(&compat)
	}
	return compat
}

// capabilities returns those of a workspace in such a store.
func (c Compat) capabilities() workspace.Capabilities {
	conditions := !c.Unconditional
	copies := conditions && (c.ConditionalCopy || !c.UnconditionalUpload)
	return workspace.Capabilities{
		Write: true, Versions: true, ConditionalWrite: conditions,
		Watch: workspace.WatchPolled, Move: copies, Copy: copies,
	}
}

// isAWS reports whether the endpoint is one of AWS. An empty one is: the SDK then
// chooses it by the region.
func isAWS(endpoint string) bool {
	host := hostOf(endpoint)
	return host == "" || strings.HasSuffix(host, ".amazonaws.com") || strings.HasSuffix(host, ".amazonaws.com.cn")
}

// isR2 reports whether the endpoint is one of Cloudflare R2.
func isR2(endpoint string) bool {
	return strings.HasSuffix(hostOf(endpoint), ".r2.cloudflarestorage.com")
}

// hostOf returns the host of a URL in lower case, and what cannot be parsed as it is.
func hostOf(endpoint string) string {
	parsed, err := url.Parse(endpoint)
	if err != nil {
		return endpoint
	}
	return strings.ToLower(parsed.Hostname())
}

// probeName is what the name of the file begins with that a probe writes, and
// removes.
const probeName = ".workspacekit-probe-"

// probe finds out which conditions the store honours, by breaking them.
func (f *FS) probe(ctx context.Context) error {
	name := probeName + rand.Text()
	t := f.tree
	found, err := t.bucket.Probe(ctx, t.prefix.Key(name))
	if err != nil {
		return ops.Error(ops.WriteFile, name, provider.Classify(err), nil)
	}
	t.compat.Unconditional, t.compat.UnconditionalUpload = found.Unconditional, found.UnconditionalUpload
	return nil
}
