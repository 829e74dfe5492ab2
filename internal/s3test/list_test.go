package s3test_test

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/internal/s3test"
)

// listAll returns the keys and common prefixes of every page.
func listAll(t *testing.T, client *s3.Client, input *s3.ListObjectsV2Input) []string {
	t.Helper()
	input.Bucket = aws.String(bucket)
	input.EncodingType = types.EncodingTypeUrl
	found := []string{}
	pages := s3.NewListObjectsV2Paginator(client, input)
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatalf("ListObjectsV2: %v", err)
		}
		if page.EncodingType != types.EncodingTypeUrl {
			t.Fatal("ListObjectsV2 does not say that it encodes keys")
		}
		for _, object := range page.Contents {
			found = append(found, decoded(t, *object.Key))
		}
		for _, prefix := range page.CommonPrefixes {
			found = append(found, decoded(t, *prefix.Prefix))
		}
	}
	return found
}

func decoded(t *testing.T, key string) string {
	t.Helper()
	text, err := url.QueryUnescape(key)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// naive lists the way the documentation explains it.
func naive(keys []string, prefix, delimiter, after string) []string {
	found := []string{}
	for _, key := range keys {
		rest, ok := strings.CutPrefix(key, prefix)
		if !ok || key <= after {
			continue
		}
		if at := strings.Index(rest, delimiter); delimiter != "" && at >= 0 {
			key = prefix + rest[:at+len(delimiter)]
		}
		if !slices.Contains(found, key) {
			found = append(found, key)
		}
	}
	slices.Sort(found)
	return found
}

// TestListPages compares every page size with a listing by definition.
func TestListPages(t *testing.T) {
	keys := []string{"a", "a-b", "a/", "a/b", "a/c/d", "a/c/e", "a/c0", "a//x", "ab", "b/x", "b/y", "c", "c/", "ü/a", "ü/b"}
	server, client := start(t, s3test.Options{})
	for _, key := range keys {
		server.Put(bucket, key, nil)
	}
	slices.Sort(keys)
	for _, prefix := range []string{"", "a", "a/", "a/c", "b/", "z", "ü"} {
		for _, delimiter := range []string{"", "/", "/c", "b"} {
			for _, after := range []string{"", "a", "a/", "a/b", "a/zz", "b/x", "zz", "ü"} {
				want := naive(keys, prefix, delimiter, after)
				for limit := int32(1); limit <= 5; limit++ {
					got := listAll(t, client, &s3.ListObjectsV2Input{Prefix: &prefix, Delimiter: &delimiter, StartAfter: &after, MaxKeys: &limit})
					slices.Sort(got)
					if diff := cmp.Diff(want, got); diff != "" {
						t.Fatalf("prefix %q delimiter %q after %q limit %d differ (-want +got):\n%s", prefix, delimiter, after, limit, diff)
					}
				}
			}
		}
	}
}

func TestListLimits(t *testing.T) {
	server, client := start(t, s3test.Options{})
	for i := range 1100 {
		server.Put(bucket, fmt.Sprintf("%04d", i), []byte("hello"))
	}
	for _, test := range []struct {
		limit     *int32
		count     int
		truncated bool
	}{
		{nil, 1000, true}, {aws.Int32(0), 0, false}, {aws.Int32(1), 1, true}, {aws.Int32(1000), 1000, true}, {aws.Int32(5000), 1000, true},
	} {
		page, err := client.ListObjectsV2(t.Context(), &s3.ListObjectsV2Input{Bucket: aws.String(bucket), MaxKeys: test.limit})
		if err != nil {
			t.Fatal(err)
		}
		if len(page.Contents) != test.count || int(*page.KeyCount) != test.count || *page.IsTruncated != test.truncated {
			t.Errorf("max-keys %v: %d keys, KeyCount %d, IsTruncated %v, want %d, %v",
				aws.ToInt32(test.limit), len(page.Contents), *page.KeyCount, *page.IsTruncated, test.count, test.truncated)
		}
	}
	_, err := client.ListObjectsV2(t.Context(), &s3.ListObjectsV2Input{Bucket: aws.String(bucket), ContinuationToken: aws.String("!")})
	if codeOf(err) != "InvalidArgument" {
		t.Errorf("ListObjectsV2 with a wrong token = %v, want InvalidArgument", err)
	}
}

func TestListDescribes(t *testing.T) {
	now := time.Date(2030, 1, 2, 3, 4, 5, 6, time.UTC)
	server, client := start(t, s3test.Options{Now: func() time.Time { return now }})
	server.Put(bucket, "a", []byte("hello"))
	now = time.Now() // for the signature
	page, err := client.ListObjectsV2(t.Context(), &s3.ListObjectsV2Input{Bucket: aws.String(bucket), FetchOwner: aws.Bool(true)})
	if err != nil {
		t.Fatal(err)
	}
	o := page.Contents[0]
	if *o.Size != 5 || *o.ETag != etag("hello") || !o.LastModified.Equal(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)) || o.Owner == nil {
		t.Errorf("ListObjectsV2 describes %q as %d bytes, ETag %s, modified %v, owner %v", *o.Key, *o.Size, *o.ETag, o.LastModified, o.Owner)
	}
}

func TestIgnoreEncodingType(t *testing.T) {
	server, client := start(t, s3test.Options{IgnoreEncodingType: true})
	server.Put(bucket, "a b&c", nil)
	page, err := client.ListObjectsV2(t.Context(), &s3.ListObjectsV2Input{Bucket: aws.String(bucket), EncodingType: types.EncodingTypeUrl})
	if err != nil || page.EncodingType != "" || *page.Contents[0].Key != "a b&c" {
		t.Errorf("ListObjectsV2 = %+v, %v", page, err)
	}
}

// TestSynthetic lists in a bucket of a hundred million keys.
func TestSynthetic(t *testing.T) {
	_, client := start(t, s3test.Options{Synthetic: &s3test.Synthetic{
		Bucket: "large", Len: 100_000_000,
		Key:  func(i int) string { return fmt.Sprintf("dir-%04d/%04d", i/10000, i%10000) },
		Size: func(i int) int64 { return int64(i % 10) },
	}})
	page, err := client.ListObjectsV2(t.Context(), &s3.ListObjectsV2Input{Bucket: aws.String("large"), Delimiter: aws.String("/"), StartAfter: aws.String("dir-4999/9999")})
	if err != nil || len(page.CommonPrefixes) != 1000 || *page.CommonPrefixes[0].Prefix != "dir-5000/" || !*page.IsTruncated {
		t.Fatalf("ListObjectsV2 = %d prefixes, %v", len(page.CommonPrefixes), err)
	}
	page, err = client.ListObjectsV2(t.Context(), &s3.ListObjectsV2Input{Bucket: aws.String("large"), Prefix: aws.String("dir-0007/999"), MaxKeys: aws.Int32(2)})
	if err != nil || len(page.Contents) != 2 || *page.Contents[1].Key != "dir-0007/9991" || *page.Contents[1].Size != 1 {
		t.Errorf("ListObjectsV2 = %+v, %v", page, err)
	}
	head, err := client.HeadObject(t.Context(), &s3.HeadObjectInput{Bucket: aws.String("large"), Key: aws.String("dir-0007/0009")})
	if err != nil || *head.ContentLength != 9 {
		t.Errorf("HeadObject = %+v, %v", head, err)
	}
	_, err = client.PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String("large"), Key: aws.String("a")})
	if codeOf(err) != "AccessDenied" {
		t.Errorf("PutObject = %v, want AccessDenied", err)
	}
}

// TestControlCharacters lists a key without asking for an encoding.
func TestControlCharacters(t *testing.T) {
	server := s3test.New(t, nil)
	server.Put(bucket, "a\x01<\n", nil)
	response, err := server.Client().Get(listURL(t, server))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if want := "<Key>a&#x1;&lt;&#xa;</Key>"; err != nil || !strings.Contains(string(body), want) {
		t.Errorf("the answer is %q, %v, want %s in it", body, err, want)
	}
}

// listURL returns a presigned URL that lists the bucket.
func listURL(tb testing.TB, server *s3test.Server) string {
	tb.Helper()
	request, err := http.NewRequestWithContext(tb.Context(), http.MethodGet, server.URL+"/"+bucket+"?list-type=2&X-Amz-Expires=3600", http.NoBody)
	if err != nil {
		tb.Fatal(err)
	}
	credentials := aws.Credentials{AccessKeyID: server.AccessKeyID, SecretAccessKey: server.SecretAccessKey}
	presigned, _, err := v4.NewSigner().PresignHTTP(tb.Context(), credentials, request, "UNSIGNED-PAYLOAD", "s3", server.Region, time.Now())
	if err != nil {
		tb.Fatal(err)
	}
	return presigned
}

// BenchmarkListThousand measures the server without Amazon's client, which
// takes longer than the server.
func BenchmarkListThousand(b *testing.B) {
	server := s3test.New(b, nil)
	for i := range 1000 {
		server.Put(bucket, fmt.Sprintf("folder/file-%04d.txt", i), []byte("hello"))
	}
	presigned := listURL(b, server)
	for b.Loop() {
		response, err := server.Client().Get(presigned)
		if err != nil {
			b.Fatal(err)
		}
		if n, err := io.Copy(io.Discard, response.Body); n < 200_000 || err != nil {
			b.Fatalf("the answer has %d bytes, %v", n, err)
		}
		response.Body.Close()
	}
}
