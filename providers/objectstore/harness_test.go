package objectstore_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/workspacekit/workspacekit/internal/s3test"
	"github.com/workspacekit/workspacekit/providers/objectstore"
)

// bucket is the one that a new server of s3test has.
const bucket = "workspace"

// store is a bucket that tests use, each below a prefix of its own.
type store struct {
	client *s3.Client
	bucket string
	compat objectstore.Compat
}

// aws has what the real one has; others is as modest as the other stores are.
func awsCompat() objectstore.Compat {
	return objectstore.Compat{PathStyle: true, ConditionalCopy: true, ConditionalDelete: true}
}

func otherCompat() objectstore.Compat { return objectstore.CompatFor("https://s3.example.org") }

// modest are the options of a server that has no more than the other stores.
func modest() *s3test.Options {
	return &s3test.Options{IgnoreCopyConditions: true, IgnoreDeleteConditions: true, IgnoreEncodingType: true}
}

// newClient returns a client of a server, with what adapt changes in it.
func newClient(endpoint, region, key, secret string, transport *http.Client, compat objectstore.Compat, adapt ...func(*s3.Options)) *s3.Client {
	options := s3.Options{
		BaseEndpoint: aws.String(endpoint),
		Region:       region,
		UsePathStyle: compat.PathStyle,
		Credentials:  credentials.NewStaticCredentialsProvider(key, secret, ""),
	}
	if transport != nil {
		options.HTTPClient = transport
	}
	options.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenSupported
	options.ResponseChecksumValidation = aws.ResponseChecksumValidationWhenSupported
	if compat.RequiredChecksumsOnly {
		options.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
		options.ResponseChecksumValidation = aws.ResponseChecksumValidationWhenRequired
	}
	return s3.New(options, adapt...)
}

// profile is a kind of store: the server, and what its clients know of it.
type profile struct {
	name    string
	options *s3test.Options
	compat  objectstore.Compat
}

func profiles() []profile {
	return []profile{{"aws", nil, awsCompat()}, {"modest", modest(), otherCompat()}}
}

// inProcess returns the bucket of a server in memory.
func inProcess(server *s3test.Server, compat objectstore.Compat, adapt ...func(*s3.Options)) store {
	client := newClient(server.URL, server.Region, server.AccessKeyID, server.SecretAccessKey, server.Client(), compat, adapt...)
	return store{client: client, bucket: bucket, compat: compat}
}

// open returns the workspace below prefix, with the other options of opts.
func (s store) open(tb testing.TB, prefix string, opts objectstore.Options) *objectstore.FS {
	tb.Helper()
	opts.Bucket, opts.Prefix, opts.Compat = s.bucket, prefix, &s.compat
	fsys, err := objectstore.New(s.client, &opts)
	if err != nil {
		tb.Fatalf("New(%q, %q) = %v, want nil", s.bucket, prefix, err)
	}
	return fsys
}

// empty returns an empty workspace, below a prefix that is removed at the end.
func (s store) empty(tb testing.TB) *objectstore.FS {
	tb.Helper()
	fsys, _ := s.emptyPrefix(tb)
	return fsys
}

func (s store) emptyPrefix(tb testing.TB) (*objectstore.FS, string) {
	tb.Helper()
	prefix := s.prefix(tb)
	return s.open(tb, prefix, objectstore.Options{}), prefix
}

// prefix returns one without objects, and removes those that come when the test
// ends. Prefixes share no directory: a store that keeps objects in a file system
// removes one with its last object, while a test beside it creates in it.
func (s store) prefix(tb testing.TB) string {
	prefix := "test-" + rand.Text()
	tb.Cleanup(func() { s.clear(tb, prefix+"/") })
	return prefix
}

// clear removes the objects whose keys begin with prefix.
func (s store) clear(tb testing.TB, prefix string) {
	ctx := context.Background()
	last := ""
	for {
		out, err := s.client.ListObjectsV2(ctx, &s3.ListObjectsV2Input{Bucket: &s.bucket, Prefix: &prefix})
		if err != nil {
			tb.Errorf("listing what is left below %q: %v", prefix, err)
			return
		}
		for i := len(out.Contents) - 1; i >= 0; i-- {
			if _, err := s.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &s.bucket, Key: out.Contents[i].Key}); err != nil {
				tb.Errorf("removing what is left below %q: %v", prefix, err)
				return
			}
		}
		switch {
		case len(out.Contents) == 0:
			return
		case *out.Contents[0].Key == last:
			tb.Errorf("%q cannot be removed", last)
			return
		}
		last = *out.Contents[0].Key
	}
}

// external returns the bucket that the environment names, and skips the test if
// it names none.
func external(tb testing.TB) store {
	tb.Helper()
	e, ok := s3test.External(tb)
	if !ok {
		tb.SkipNow()
	}
	compat := objectstore.CompatFor(e.Endpoint)
	return store{client: newClient(e.Endpoint, e.Region, e.AccessKeyID, e.SecretAccessKey, nil, compat), bucket: e.Bucket, compat: compat}
}

// numbered returns n names made by format, in order.
func numbered(format string, n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf(format, i)
	}
	return names
}

// seed puts objects below "p/" whose contents are their names. Markers are
// empty.
func seed(server *s3test.Server, names ...string) {
	for _, name := range names {
		content := []byte(name + "\n")
		if strings.HasSuffix(name, "/") {
			content = nil
		}
		server.Put(bucket, "p/"+name, content)
	}
}

// patience is how long a test waits for what is to happen at once.
const patience = 10 * time.Second

// pollUntil waits until done.
func pollUntil(tb testing.TB, what string, done func() bool) {
	tb.Helper()
	deadline := time.Now().Add(patience)
	for !done() {
		if time.Now().After(deadline) {
			tb.Fatalf("waited for %s in vain", what)
		}
		runtime.Gosched()
	}
}
