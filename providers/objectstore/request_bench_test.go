package objectstore_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/workspacekit/workspacekit/providers/objectstore"
)

// canned answers each request with the same object.
type canned struct{}

func (canned) Do(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r, ContentLength: 4, Header: http.Header{
		"Etag": {`"8d777f385d3dfec8815d20f7496026dc"`}, "Content-Length": {"4"}, "Content-Type": {"text/plain"}, "Last-Modified": {"Mon, 02 Jan 2006 15:04:05 GMT"},
	}, Body: io.NopCloser(strings.NewReader("data"))}, nil
}

func cannedClient() *s3.Client {
	return newClient("http://127.0.0.1:1", "us-east-1", "k", "s", nil, otherCompat(), func(o *s3.Options) { o.HTTPClient = canned{} })
}

// BenchmarkRequest compares a request with the one of the SDK alone, without a
// store.
func BenchmarkRequest(b *testing.B) {
	client := cannedClient()
	compat := otherCompat()
	f, err := objectstore.New(client, &objectstore.Options{Bucket: "b", Compat: &compat})
	if err != nil {
		b.Fatal(err)
	}
	ctx, name, bucket := context.Background(), "dir/file", "b"
	for _, c := range []struct {
		name string
		do   func() error
	}{
		{"read/ours", func() error { _, err := f.ReadFile(ctx, name); return err }},
		{"read/sdk", func() error {
			out, err := client.GetObject(ctx, &s3.GetObjectInput{Bucket: &bucket, Key: &name})
			if err != nil {
				return err
			}
			defer out.Body.Close()
			_, err = io.ReadAll(out.Body)
			return err
		}},
		{"stat/ours", func() error { _, err := f.Stat(ctx, name); return err }},
		{"stat/sdk", func() error {
			_, err := client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &bucket, Key: &name})
			return err
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := c.do(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
