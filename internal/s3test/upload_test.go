package s3test_test

import (
	"bytes"
	"crypto/md5"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/internal/s3test"
)

// upload is a multipart upload with its parts sent.
type upload struct {
	key, id string
	parts   []types.CompletedPart
}

// begin begins an upload and sends its parts.
func begin(t *testing.T, client *s3.Client, key string, parts ...string) *upload {
	t.Helper()
	output, err := client.CreateMultipartUpload(t.Context(), &s3.CreateMultipartUploadInput{Bucket: aws.String(bucket), Key: &key})
	if err != nil {
		t.Fatalf("CreateMultipartUpload(%q): %v", key, err)
	}
	u := &upload{key: key, id: *output.UploadId}
	for i, text := range parts {
		number := aws.Int32(int32(i + 1))
		part, err := client.UploadPart(t.Context(), &s3.UploadPartInput{Bucket: aws.String(bucket), Key: &key, UploadId: &u.id,
			PartNumber: number, Body: bytes.NewReader([]byte(text))})
		if err != nil {
			t.Fatalf("UploadPart(%q, %d): %v", key, *number, err)
		}
		u.parts = append(u.parts, types.CompletedPart{PartNumber: number, ETag: part.ETag, ChecksumCRC32: part.ChecksumCRC32})
	}
	return u
}

// complete completes u, with the conditions of input.
func complete(t *testing.T, client *s3.Client, u *upload, input *s3.CompleteMultipartUploadInput) error {
	t.Helper()
	if input == nil {
		input = &s3.CompleteMultipartUploadInput{}
	}
	input.Bucket, input.Key, input.UploadId = aws.String(bucket), &u.key, &u.id
	input.MultipartUpload = &types.CompletedMultipartUpload{Parts: u.parts}
	_, err := client.CompleteMultipartUpload(t.Context(), input)
	return err
}

func TestUpload(t *testing.T) {
	each(t, func(t *testing.T, server *s3test.Server, client *s3.Client) {
		u := begin(t, client, "m", "first", "second", "3")
		if open := server.Uploads(); len(open) != 1 || open[0].ID != u.id || open[0].Parts != 3 || open[0].Key != "m" {
			t.Errorf("Uploads() = %+v", open)
		}
		if _, exists := server.Get(bucket, "m"); exists {
			t.Error("the object exists before the upload is complete")
		}
		if err := complete(t, client, u, nil); err != nil {
			t.Fatal(err)
		}
		if got := get(t, client, "m"); got != "firstsecond3" {
			t.Errorf("GetObject = %q", got)
		}
		if err := complete(t, client, u, nil); err != nil {
			t.Errorf("completing again: %v", err)
		}
		if open := server.Uploads(); len(open) != 0 {
			t.Errorf("Uploads() = %+v, want none", open)
		}
		head, err := client.HeadObject(t.Context(), &s3.HeadObjectInput{Bucket: aws.String(bucket), Key: aws.String("m")})
		var sums []byte
		for _, text := range []string{"first", "second", "3"} {
			sum := md5.Sum([]byte(text))
			sums = append(sums, sum[:]...)
		}
		if want := strings.TrimSuffix(etag(string(sums)), `"`) + `-3"`; err != nil || *head.ETag != want {
			t.Errorf("HeadObject = %+v, %v, want the ETag %s", head, err, want)
		}
	})
}

func TestUploadRefused(t *testing.T) {
	_, client := start(t, s3test.Options{})
	for _, test := range []struct {
		name, want string
		change     func(u *upload)
	}{
		{"unchanged", "", func(*upload) {}},
		{"wrong-order", "InvalidPartOrder", func(u *upload) { u.parts[0], u.parts[1] = u.parts[1], u.parts[0] }},
		{"wrong-etag", "InvalidPart", func(u *upload) { u.parts[0].ETag = aws.String(etag("other")) }},
		{"wrong-checksum", "InvalidPart", func(u *upload) { u.parts[0].ChecksumCRC32 = aws.String("AAAAAA==") }},
		{"missing-part", "InvalidPart", func(u *upload) { u.parts[1].PartNumber = aws.Int32(7) }},
		{"other-key", "NoSuchUpload", func(u *upload) { u.key = "n" }},
		{"other-upload", "NoSuchUpload", func(u *upload) { u.id = "nothing" }},
	} {
		t.Run(test.name, func(t *testing.T) {
			u := begin(t, client, "m", "first", "second")
			test.change(u)
			if got := codeOf(complete(t, client, u, nil)); got != test.want {
				t.Errorf("CompleteMultipartUpload is %q, want %q", got, test.want)
			}
		})
	}
	t.Run("too-small", func(t *testing.T) {
		u := begin(t, client, "m", "abc", "second")
		if got := codeOf(complete(t, client, u, nil)); got != "EntityTooSmall" {
			t.Errorf("CompleteMultipartUpload is %q, want EntityTooSmall", got)
		}
	})
}

// TestUploadWhole compares the object with what completing says it is.
func TestUploadWhole(t *testing.T) {
	_, client := start(t, s3test.Options{})
	const crc = "4z4rxdhJx58=" // of another object
	for _, test := range []struct {
		name, want string
		input      s3.CompleteMultipartUploadInput
	}{
		{"size", "", s3.CompleteMultipartUploadInput{MpuObjectSize: aws.Int64(5)}},
		{"wrong-size", "InvalidRequest", s3.CompleteMultipartUploadInput{MpuObjectSize: aws.Int64(6)}},
		{"wrong-checksum", "BadDigest", s3.CompleteMultipartUploadInput{ChecksumCRC64NVME: aws.String(crc)}},
	} {
		if got := codeOf(complete(t, client, begin(t, client, "m", "first"), &test.input)); got != test.want {
			t.Errorf("%s: CompleteMultipartUpload is %q, want %q", test.name, got, test.want)
		}
	}
}

func TestAbort(t *testing.T) {
	server, client := start(t, s3test.Options{})
	u := begin(t, client, "m", "first")
	abort := func() string {
		_, err := client.AbortMultipartUpload(t.Context(), &s3.AbortMultipartUploadInput{Bucket: aws.String(bucket), Key: &u.key, UploadId: &u.id})
		return codeOf(err)
	}
	if got := abort(); got != "" {
		t.Errorf("AbortMultipartUpload is %q", got)
	}
	if got := abort(); got != "NoSuchUpload" {
		t.Errorf("AbortMultipartUpload again is %q, want NoSuchUpload", got)
	}
	if open := server.Uploads(); len(open) != 0 {
		t.Errorf("Uploads() = %+v, want none", open)
	}
}

func TestUploadPartCopy(t *testing.T) {
	_, client := start(t, s3test.Options{})
	put(t, client, "a", "0123456789")
	u := begin(t, client, "m")
	for i, span := range []string{"bytes=0-4", "bytes=8-9"} {
		output, err := client.UploadPartCopy(t.Context(), &s3.UploadPartCopyInput{Bucket: aws.String(bucket), Key: &u.key, UploadId: &u.id,
			PartNumber: aws.Int32(int32(i + 1)), CopySource: aws.String(bucket + "/a"), CopySourceRange: &span,
			CopySourceIfMatch: aws.String(etag("0123456789"))})
		if err != nil {
			t.Fatal(err)
		}
		u.parts = append(u.parts, types.CompletedPart{PartNumber: aws.Int32(int32(i + 1)), ETag: output.CopyPartResult.ETag})
	}
	if err := complete(t, client, u, nil); err != nil {
		t.Fatal(err)
	}
	if got := get(t, client, "m"); got != "0123489" {
		t.Errorf("GetObject = %q, want 0123489", got)
	}
}

func TestListUploads(t *testing.T) {
	_, client := start(t, s3test.Options{})
	var want []string
	for _, key := range []string{"a", "b/1", "b/1", "b/2", "c"} {
		u := begin(t, client, key, "one", "two", "three")
		want = append(want, u.key+" "+u.id)
	}
	got := []string{}
	pages := s3.NewListMultipartUploadsPaginator(client, &s3.ListMultipartUploadsInput{Bucket: aws.String(bucket), MaxUploads: aws.Int32(2)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, u := range page.Uploads {
			got = append(got, *u.Key+" "+*u.UploadId)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ListMultipartUploads differs (-want +got):\n%s", diff)
	}
}

func TestListParts(t *testing.T) {
	_, client := start(t, s3test.Options{})
	u := begin(t, client, "m", "1", "22", "333")
	var sizes []int64
	pages := s3.NewListPartsPaginator(client, &s3.ListPartsInput{Bucket: aws.String(bucket), Key: &u.key, UploadId: &u.id, MaxParts: aws.Int32(2)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range page.Parts {
			sizes = append(sizes, *part.Size)
		}
	}
	if diff := cmp.Diff([]int64{1, 2, 3}, sizes); diff != "" {
		t.Errorf("sizes of the parts differ (-want +got):\n%s", diff)
	}
}
