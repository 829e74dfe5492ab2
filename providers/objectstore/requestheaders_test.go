package objectstore_test

import (
	"bytes"
	"context"
	"crypto/md5"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	transport "github.com/aws/smithy-go/endpoints"
	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/internal/s3test"
	"github.com/workspacekit/workspacekit/providers/objectstore"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
)

// owner is the account that owns the buckets of these tests.
const owner = "123456789012"

// customerKey is a key of a caller's, and no text.
var customerKey = objectstore.CustomerKey("\x00\x01\xffof nobody but the callers:\xfd\xfc\xfb")

// encryptions are those that are tested, by name.
func encryptions() map[string]objectstore.Encryption {
	return map[string]objectstore.Encryption{
		"sse-s3":  {Type: objectstore.SSES3},
		"sse-kms": {Type: objectstore.SSEKMS, KMSKey: "alias/files", BucketKey: true},
		"sse-c":   {Type: objectstore.SSEC, CustomerKey: customerKey},
	}
}

// headersOf returns the headers that a request of an operation must have, as
// the documentation of each operation lists them.
func headersOf(op string, e objectstore.Encryption) map[string]string {
	sum := md5.Sum(customerKey)
	headers := map[string]string{"X-Amz-Request-Payer": "requester", "X-Amz-Expected-Bucket-Owner": owner}
	show := func(prefix string) {
		headers[prefix+"Algorithm"] = "AES256"
		headers[prefix+"Key"] = base64.StdEncoding.EncodeToString(customerKey)
		headers[prefix+"Key-Md5"] = base64.StdEncoding.EncodeToString(sum[:])
	}
	isCopy := op == "CopyObject" || op == "UploadPartCopy"
	creates := slices.Contains([]string{"PutObject", "CopyObject", "CreateMultipartUpload"}, op)
	content := creates || isCopy || slices.Contains([]string{"GetObject", "HeadObject", "UploadPart", "CompleteMultipartUpload"}, op)
	switch {
	case e.Type == objectstore.SSES3 && creates:
		headers["X-Amz-Server-Side-Encryption"] = "AES256"
	case e.Type == objectstore.SSEKMS && creates:
		headers["X-Amz-Server-Side-Encryption"] = "aws:kms"
		headers["X-Amz-Server-Side-Encryption-Aws-Kms-Key-Id"] = "alias/files"
		headers["X-Amz-Server-Side-Encryption-Bucket-Key-Enabled"] = "true"
	case e.Type == objectstore.SSEC && content:
		show("X-Amz-Server-Side-Encryption-Customer-")
		if isCopy {
			show("X-Amz-Copy-Source-Server-Side-Encryption-Customer-")
		}
	}
	return headers
}

// TestRequestHeaders does every operation with each encryption, on a server that
// demands the headers, and compares those of every request with the
// documentation's.
func TestRequestHeaders(t *testing.T) {
	t.Parallel()
	for _, p := range profiles() {
		for name, encryption := range encryptions() {
			if name == "sse-s3" && p.name != "aws" {
				continue // it changes the same requests as sse-kms
			}
			t.Run(p.name+"/"+name, func(t *testing.T) {
				exhaustive.Sample(t, 4)
				t.Parallel()
				seen := make(map[string]bool)
				for _, c := range append(slices.Concat(writeFaults(), treeFaults(), readFaults()), editTagged()) {
					testHeaders(t, p, c, encryption, seen)
				}
				for _, op := range []string{
					"GetObject", "HeadObject", "PutObject", "CreateMultipartUpload", "UploadPart", "CompleteMultipartUpload", "AbortMultipartUpload",
					"DeleteObject", "DeleteObjects", "ListObjectsV2", "HeadBucket", "GetObjectTagging", map[string]string{"aws": "CopyObject", "modest": "UploadPartCopy"}[p.name],
				} {
					if !seen[op] {
						t.Errorf("no operation sends %s", op)
					}
				}
			})
		}
	}
}

// editTagged edits a file that has tags.
func editTagged() faultCase {
	return faultCase{name: "edit-tagged", after: objects{"t": "old and new"}, do: noResult(func(ctx context.Context, f *objectstore.FS) error {
		if _, err := f.Stat(ctx, "t"); err == nil {
			return editOnce("t")(ctx, f)
		}
		return errors.New("the tagged object cannot be seen")
	})}
}

func testHeaders(t *testing.T, p profile, c faultCase, encryption objectstore.Encryption, seen map[string]bool) {
	t.Helper()
	options := s3test.Options{}
	if p.options != nil {
		options = *p.options
	}
	options.TLS, options.Owner, options.RequesterPays, options.MinPartSize = true, owner, true, 1
	server := s3test.Start(&options)
	defer server.Close()
	s := inProcess(server, p.compat)
	open := func() *objectstore.FS {
		f := s.open(t, faultPrefix, objectstore.Options{ExpectedBucketOwner: owner, RequesterPays: true, Encryption: encryption})
		f.SetPartSizes(partSize)
		return f
	}
	for _, key := range slices.Sorted(maps.Keys(c.before)) {
		var err error
		if dir, ok := strings.CutSuffix(key, "/"); ok {
			err = open().Mkdir(t.Context(), dir, nil)
		} else {
			_, err = open().WriteFile(t.Context(), key, []byte(c.before[key]), nil)
		}
		if err != nil {
			t.Fatalf("%s: seeding %q: %v", c.name, key, err)
		}
	}
	if c.name == "edit-tagged" {
		putTagged(t, s, faultPrefix+"/t", encryption)
	}
	sent := len(server.Requests())
	result, err := c.do(t.Context(), open())
	if c.checkResult(t, result, err); t.Failed() {
		t.Fatalf("%s fails", c.name)
	}
	c.checkDone(t, c.name, objectsOf(server))
	for _, r := range server.Requests()[sent:] {
		seen[r.Op] = true
		got := make(map[string]string)
		for name := range r.Header {
			if strings.Contains(name, "Encryption") || strings.Contains(name, "Owner") || strings.Contains(name, "Payer") {
				got[name] = r.Header.Get(name)
			}
		}
		if diff := cmp.Diff(headersOf(r.Op, encryption), got); diff != "" {
			t.Errorf("%s: headers of %s (-want +got):\n%s", c.name, r.Op, diff)
		}
	}
}

// putTagged makes an object with a tag, by the client itself.
func putTagged(t *testing.T, s store, key string, encryption objectstore.Encryption) {
	t.Helper()
	in := &s3.PutObjectInput{Bucket: &s.bucket, Key: &key, Body: strings.NewReader("old"), Tagging: aws.String("team=a"), RequestPayer: "requester"}
	if headers := headersOf("PutObject", encryption); encryption.Type == objectstore.SSEC {
		in.SSECustomerAlgorithm = aws.String("AES256")
		in.SSECustomerKey = aws.String(headers["X-Amz-Server-Side-Encryption-Customer-Key"])
		in.SSECustomerKeyMD5 = aws.String(headers["X-Amz-Server-Side-Encryption-Customer-Key-Md5"])
	}
	if _, err := s.client.PutObject(t.Context(), in); err != nil {
		t.Fatal(err)
	}
}

// TestUnsaidEncryption reads from a store that does not say which contents are
// encrypted: that an ETag is no sum of a content must not look like a torn read.
func TestUnsaidEncryption(t *testing.T) {
	t.Parallel()
	server := s3test.New(t, modest())
	f := inProcess(server, otherCompat()).open(t, "p", objectstore.Options{Encryption: objectstore.Encryption{Type: objectstore.SSEKMS}})
	first, err := f.WriteFile(t.Context(), "f", []byte("content"), nil)
	if err != nil {
		t.Fatal(err)
	}
	server.Put(bucket, "p/sum", []byte("its ETag is its sum"))
	server.Inject(func(s3test.Request) s3test.Fault {
		return s3test.Fault{Edit: func(a *s3test.Answer) { a.Header.Del("X-Amz-Server-Side-Encryption") }}
	})
	sent := len(server.Requests())
	for _, name := range []string{"sum", "f"} {
		if _, err := f.ReadFile(t.Context(), name); err != nil {
			t.Errorf("ReadFile(%q) = %v, want nil", name, err)
		}
	}
	if got := trace(server.Requests()[sent:]); got != "GetObject*2" {
		t.Errorf("requests = %q, want one for each read", got)
	}
	next, err := f.WriteFile(t.Context(), "f", []byte("changed"), &workspace.WriteOptions{IfVersion: first})
	if err != nil || next == first {
		t.Errorf("WriteFile on the condition of %q = %q, %v, want another version", first, next, err)
	}
}

// TestWrongOwner tests that a bucket of another account is refused.
func TestWrongOwner(t *testing.T) {
	t.Parallel()
	server := s3test.New(t, &s3test.Options{Owner: "999999999999"})
	server.Put(bucket, "p/f", []byte("content"))
	f := inProcess(server, awsCompat()).open(t, "p", objectstore.Options{ExpectedBucketOwner: owner})
	for name, do := range map[string]action{"read": readFile("f"), "write": write("f", nil), "ls": lists(".", nil, 1), "rm": rm("f", false)} {
		if err := do(t.Context(), f); tools.CodeOf(err) != tools.CodePermission {
			t.Errorf("%s in a bucket of another account = %v, want %s", name, err, tools.CodePermission)
		}
	}
}

// TestCustomerKeySecret prints everything that has the key, which nothing may
// show.
func TestCustomerKeySecret(t *testing.T) {
	t.Parallel()
	options := objectstore.Options{Bucket: bucket, Encryption: objectstore.Encryption{Type: objectstore.SSEC, CustomerKey: customerKey}}
	server := s3test.New(t, &s3test.Options{TLS: true})
	f := inProcess(server, awsCompat()).open(t, "p", options)
	_, missing := f.ReadFile(t.Context(), "missing")
	short := options
	short.Encryption.CustomerKey = customerKey[:31]
	data, err := json.Marshal(options.Encryption)
	if err != nil {
		t.Fatal(err)
	}
	var logged bytes.Buffer
	slog.New(slog.NewJSONHandler(&logged, nil)).Info("options", "encryption", options.Encryption)
	slog.New(slog.NewTextHandler(&logged, nil)).Info("options", "encryption", options.Encryption, "key", options.Encryption.CustomerKey)
	texts := []string{string(data), logged.String(), missing.Error(), short.Check().Error()}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%q", "%d"} {
		texts = append(texts, fmt.Sprintf(verb, options), fmt.Sprintf(verb, &options), fmt.Sprintf(verb, f), fmt.Sprintf(verb, options.Encryption.CustomerKey))
	}
	hex := fmt.Sprintf("%x", []byte(customerKey))
	for _, text := range texts {
		for _, secret := range []string{"of nobody", base64.StdEncoding.EncodeToString(customerKey), hex, "0 1 255 111", "0x0, 0x1, 0xff", hex[8:20]} {
			if strings.Contains(text, secret) {
				t.Errorf("%.200q shows the key as %q", text, secret)
			}
		}
	}
}

// TestCustomerKeyStays tests that a store cannot send the key elsewhere by a
// redirect.
func TestCustomerKeyStays(t *testing.T) {
	t.Parallel()
	elsewhere := s3test.New(t, nil)
	server := s3test.New(t, &s3test.Options{TLS: true})
	server.Inject(func(s3test.Request) s3test.Fault {
		return s3test.Fault{Instead: &s3test.Answer{Status: http.StatusTemporaryRedirect, Header: http.Header{"Location": {elsewhere.URL + "/" + bucket + "/p/f"}}}}
	})
	f := inProcess(server, awsCompat()).open(t, "p", objectstore.Options{Encryption: objectstore.Encryption{Type: objectstore.SSEC, CustomerKey: customerKey}})
	if _, err := f.ReadFile(t.Context(), "f"); err == nil {
		t.Error("ReadFile by a redirect = nil, want an error")
	}
	if sent := elsewhere.Requests(); len(sent) > 0 {
		t.Errorf("%d requests were sent elsewhere, with the headers %v", len(sent), sent[0].Header)
	}
	// Nobody can keep a client of another type from following a redirect.
	client := inProcess(server, awsCompat(), func(o *s3.Options) { o.HTTPClient = struct{ s3.HTTPClient }{o.HTTPClient} }).client
	options := objectstore.Options{Bucket: bucket, Encryption: objectstore.Encryption{Type: objectstore.SSEC, CustomerKey: customerKey}}
	if _, err := objectstore.New(client, &options); err == nil || !strings.Contains(err.Error(), "Encryption: ") || !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("New with an HTTP client of a type of its own = %v, want a refusal", err)
	}
}

// toEndpoint resolves all endpoints to one.
type toEndpoint string

func (e toEndpoint) ResolveEndpoint(context.Context, s3.EndpointParameters) (transport.Endpoint, error) {
	u, err := url.Parse(string(e))
	return transport.Endpoint{URI: *u}, err
}

// TestPlainEndpoint tests that a key is not sent over http where a client finds
// its endpoint for each request.
func TestPlainEndpoint(t *testing.T) {
	t.Parallel()
	server := s3test.New(t, nil)
	s := inProcess(server, awsCompat(), func(o *s3.Options) {
		o.BaseEndpoint, o.EndpointResolverV2 = nil, toEndpoint(server.URL+"/"+bucket)
	})
	f := s.open(t, "p", objectstore.Options{Encryption: objectstore.Encryption{Type: objectstore.SSEC, CustomerKey: customerKey}})
	if _, err := f.WriteFile(t.Context(), "f", nil, nil); err == nil || !strings.Contains(err.Error(), "https") {
		t.Errorf("WriteFile over http = %v, want an error about https", err)
	}
	if sent := server.Requests(); len(sent) > 0 {
		t.Errorf("%d requests were sent, the first with the headers %v", len(sent), sent[0].Header)
	}
}

// TestPlainKey tests that a key is not sent over http, whoever made the client.
func TestPlainKey(t *testing.T) {
	server := s3test.New(t, nil)
	encryption := objectstore.Encryption{Type: objectstore.SSEC, CustomerKey: customerKey}
	t.Setenv("AWS_ENDPOINT_URL_S3", server.URL)
	for name, open := range map[string]func() (*objectstore.FS, error){
		"option": func() (*objectstore.FS, error) {
			return objectstore.Open(t.Context(), &objectstore.Options{Bucket: bucket, Endpoint: server.URL, Encryption: encryption})
		},
		"environment": func() (*objectstore.FS, error) {
			return objectstore.Open(t.Context(), &objectstore.Options{Bucket: bucket, Encryption: encryption})
		},
		"client": func() (*objectstore.FS, error) {
			return objectstore.New(inProcess(server, awsCompat()).client, &objectstore.Options{Bucket: bucket, Encryption: encryption})
		},
	} {
		if _, err := open(); err == nil || !strings.Contains(err.Error(), "Encryption: sse-c sends the key with each request: it needs an endpoint with https") {
			t.Errorf("%s: error = %v, want that https is needed", name, err)
		}
	}
}
