package s3test_test

import (
	"io"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/internal/s3test"
)

func TestRange(t *testing.T) {
	each(t, func(t *testing.T, _ *s3test.Server, client *s3.Client) {
		put(t, client, "a", "0123456789")
		for _, test := range []struct{ span, want, content string }{
			{"bytes=0-0", "0", "bytes 0-0/10"},
			{"bytes=3-5", "345", "bytes 3-5/10"},
			{"bytes=8-", "89", "bytes 8-9/10"},
			{"bytes=8-100", "89", "bytes 8-9/10"},
			{"bytes=-2", "89", "bytes 8-9/10"},
			{"bytes=-100", "0123456789", "bytes 0-9/10"},
			{"bytes=10-", "InvalidRange", ""},
			{"bytes=-0", "InvalidRange", ""},
			{"bytes=5-3", "0123456789", ""},
			{"other", "0123456789", ""},
		} {
			output, err := client.GetObject(t.Context(), &s3.GetObjectInput{Bucket: aws.String(bucket), Key: aws.String("a"), Range: &test.span})
			if err != nil {
				if codeOf(err) != test.want {
					t.Errorf("%s: %v, want %s", test.span, err, test.want)
				}
				continue
			}
			data, err := io.ReadAll(output.Body)
			output.Body.Close()
			if string(data) != test.want || err != nil || aws.ToString(output.ContentRange) != test.content {
				t.Errorf("%s: %q, %v, Content-Range %q, want %q, %q", test.span, data, err, aws.ToString(output.ContentRange), test.want, test.content)
			}
		}
	})
}

func TestConditionalGet(t *testing.T) {
	now := time.Now()
	server, client := start(t, s3test.Options{Now: func() time.Time { return now }})
	put(t, client, "a", "hello")
	now = now.Add(10 * time.Minute)
	before, after, future := now.Add(-time.Hour), now.Add(-time.Minute), now.Add(time.Hour)
	for _, test := range []struct {
		name  string
		input s3.GetObjectInput
		want  string
	}{
		{"same", s3.GetObjectInput{IfMatch: aws.String(etag("hello"))}, ""},
		{"other", s3.GetObjectInput{IfMatch: aws.String(etag("other"))}, "PreconditionFailed"},
		{"not-same", s3.GetObjectInput{IfNoneMatch: aws.String(etag("hello"))}, "NotModified"},
		{"not-other", s3.GetObjectInput{IfNoneMatch: aws.String(etag("other"))}, ""},
		{"modified-since", s3.GetObjectInput{IfModifiedSince: &before}, ""},
		{"not-modified-since", s3.GetObjectInput{IfModifiedSince: &after}, "NotModified"},
		{"modified-since-the-future", s3.GetObjectInput{IfModifiedSince: &future}, ""},
		{"unmodified-since", s3.GetObjectInput{IfUnmodifiedSince: &after}, ""},
		{"not-unmodified-since", s3.GetObjectInput{IfUnmodifiedSince: &before}, "PreconditionFailed"},
		{"etag-outdoes-time", s3.GetObjectInput{IfMatch: aws.String(etag("hello")), IfUnmodifiedSince: &before}, ""},
	} {
		test.input.Bucket, test.input.Key = aws.String(bucket), aws.String("a")
		server.ResetRequests()
		output, err := client.GetObject(t.Context(), &test.input)
		if err == nil {
			output.Body.Close()
		}
		got := codeOf(err)
		if server.Requests()[0].Status == 304 {
			got = "NotModified"
		}
		if got != test.want {
			t.Errorf("%s: GetObject is %q, want %q", test.name, got, test.want)
		}
	}
}

// TestChecksumMode shows when an answer says what the checksum of an object is.
func TestChecksumMode(t *testing.T) {
	_, client := start(t, s3test.Options{})
	put(t, client, "a", "hello")
	for _, test := range []struct {
		name  string
		input s3.GetObjectInput
		want  string
	}{
		{"enabled", s3.GetObjectInput{ChecksumMode: "ENABLED"}, "NhCmhg=="},
		{"range", s3.GetObjectInput{ChecksumMode: "ENABLED", Range: aws.String("bytes=0-3")}, ""},
	} {
		test.input.Bucket, test.input.Key = aws.String(bucket), aws.String("a")
		output, err := client.GetObject(t.Context(), &test.input)
		if err != nil {
			t.Fatal(err)
		}
		output.Body.Close()
		if got := aws.ToString(output.ChecksumCRC32); got != test.want {
			t.Errorf("%s: the checksum is %q, want %q", test.name, got, test.want)
		}
	}
}

func TestBuckets(t *testing.T) {
	_, client := start(t, s3test.Options{Region: "eu-west-1", Buckets: []string{"first"}})
	made := aws.String("second")
	input := &s3.CreateBucketInput{Bucket: made}
	_, createErr := client.CreateBucket(t.Context(), input)
	_, againErr := client.CreateBucket(t.Context(), input)
	_, nameErr := client.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: aws.String("Upper_Case")})
	_, placeErr := client.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: aws.String("third"),
		CreateBucketConfiguration: &types.CreateBucketConfiguration{LocationConstraint: "us-west-2"}})
	_, putErr := client.PutObject(t.Context(), &s3.PutObjectInput{Bucket: made, Key: aws.String("a")})
	_, fullErr := client.DeleteBucket(t.Context(), &s3.DeleteBucketInput{Bucket: made})
	_, emptyErr := client.DeleteBucket(t.Context(), &s3.DeleteBucketInput{Bucket: aws.String("first")})
	_, goneErr := client.HeadBucket(t.Context(), &s3.HeadBucketInput{Bucket: aws.String("first")})
	_, listErr := client.ListObjectsV2(t.Context(), &s3.ListObjectsV2Input{Bucket: aws.String("first")})
	got := []string{codeOf(createErr), codeOf(againErr), codeOf(nameErr), codeOf(placeErr), codeOf(putErr), codeOf(fullErr), codeOf(emptyErr), codeOf(goneErr), codeOf(listErr)}
	want := []string{"", "BucketAlreadyOwnedByYou", "InvalidBucketName", "IllegalLocationConstraintException", "", "BucketNotEmpty", "", "NotFound", "NoSuchBucket"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the answers differ (-want +got):\n%s", diff)
	}
	list, err := client.ListBuckets(t.Context(), nil)
	if err != nil || len(list.Buckets) != 1 || *list.Buckets[0].Name != "second" {
		t.Errorf("ListBuckets = %+v, %v, want second", list, err)
	}
	head, err := client.HeadBucket(t.Context(), &s3.HeadBucketInput{Bucket: made})
	if err != nil || aws.ToString(head.BucketRegion) != "eu-west-1" {
		t.Errorf("HeadBucket = %+v, %v", head, err)
	}
	location, err := client.GetBucketLocation(t.Context(), &s3.GetBucketLocationInput{Bucket: made})
	if err != nil || location.LocationConstraint != "eu-west-1" {
		t.Errorf("GetBucketLocation = %+v, %v", location, err)
	}
}
