package s3test_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/internal/s3test"
)

// each runs test over HTTP, where the client sends its checksum in a header,
// and over TLS, where it sends it in a trailer.
func each(t *testing.T, test func(t *testing.T, server *s3test.Server, client *s3.Client)) {
	for name, tls := range map[string]bool{"http": false, "tls": true} {
		t.Run(name, func(t *testing.T) {
			server, client := start(t, s3test.Options{TLS: tls})
			test(t, server, client)
		})
	}
}

func TestChecksums(t *testing.T) {
	each(t, func(t *testing.T, server *s3test.Server, client *s3.Client) {
		for _, algorithm := range []types.ChecksumAlgorithm{"CRC32", "CRC32C", "CRC64NVME", "SHA1", "SHA256", "SHA512"} {
			t.Run(string(algorithm), func(t *testing.T) {
				_, err := client.PutObject(t.Context(), &s3.PutObjectInput{
					Bucket: aws.String(bucket), Key: aws.String("a"), Body: bytes.NewReader([]byte("hello")), ChecksumAlgorithm: algorithm,
				})
				if err != nil {
					t.Fatal(err)
				}
				output, err := client.GetObject(t.Context(), &s3.GetObjectInput{
					Bucket: aws.String(bucket), Key: aws.String("a"), ChecksumMode: types.ChecksumModeEnabled,
				})
				if err != nil {
					t.Fatal(err)
				}
				defer output.Body.Close()
				if data, err := io.ReadAll(output.Body); string(data) != "hello" || err != nil {
					t.Errorf("read %q, %v, want hello", data, err)
				}
			})
		}
	})
}

// TestTrailers shows that over TLS the client sends what is tested as such.
func TestTrailers(t *testing.T) {
	each(t, func(t *testing.T, server *s3test.Server, client *s3.Client) {
		put(t, client, "a", "hello")
		header := server.Requests()[0].Header
		streaming := header.Get("X-Amz-Content-Sha256") == "STREAMING-UNSIGNED-PAYLOAD-TRAILER"
		if tls := server.URL[:5] == "https"; streaming != tls {
			t.Errorf("over %s the payload is %q", server.URL, header.Get("X-Amz-Content-Sha256"))
		}
	})
}

func TestConditionalPut(t *testing.T) {
	each(t, func(t *testing.T, server *s3test.Server, client *s3.Client) {
		write := func(match, noneMatch *string) string {
			_, err := client.PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String(bucket), Key: aws.String("a"),
				Body: bytes.NewReader([]byte("hello")), IfMatch: match, IfNoneMatch: noneMatch})
			return codeOf(err)
		}
		for _, step := range []struct {
			name, want       string
			match, noneMatch *string
		}{
			{"replace-nothing", "NoSuchKey", aws.String(etag("hello")), nil},
			{"create", "", nil, aws.String("*")},
			{"create-again", "PreconditionFailed", nil, aws.String("*")},
			{"replace-other", "PreconditionFailed", aws.String(etag("other")), nil},
			{"replace", "", aws.String(etag("hello")), nil},
			{"not-that", "NotImplemented", nil, aws.String(etag("other"))},
			{"both", "NotImplemented", aws.String(etag("hello")), aws.String("*")},
		} {
			if got := write(step.match, step.noneMatch); got != step.want {
				t.Errorf("%s: PutObject is %q, want %q", step.name, got, step.want)
			}
		}
	})
}

// TestConditionsOfOtherStores covers the servers that are worse than Amazon's.
func TestConditionsOfOtherStores(t *testing.T) {
	for _, test := range []struct {
		name                   string
		opts                   s3test.Options
		put, copied, completed string
		deleted                string
	}{
		{"amazon", s3test.Options{}, "PreconditionFailed", "PreconditionFailed", "PreconditionFailed", "PreconditionFailed"},
		{"ignore", s3test.Options{IgnoreConditions: true}, "", "", "", ""},
		{"ignore-copy", s3test.Options{IgnoreCopyConditions: true}, "PreconditionFailed", "", "PreconditionFailed", "PreconditionFailed"},
		{"ignore-delete", s3test.Options{IgnoreDeleteConditions: true}, "PreconditionFailed", "PreconditionFailed", "PreconditionFailed", ""},
		{"refuse", s3test.Options{RefuseConditions: true}, "NotImplemented", "NotImplemented", "NotImplemented", "NotImplemented"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, client := start(t, test.opts)
			put(t, client, "a", "hello")
			b, a, always, other := aws.String(bucket), aws.String("a"), aws.String("*"), aws.String(etag("other"))
			_, putErr := client.PutObject(t.Context(), &s3.PutObjectInput{Bucket: b, Key: a, IfNoneMatch: always})
			_, copyErr := client.CopyObject(t.Context(), &s3.CopyObjectInput{Bucket: b, Key: a, CopySource: aws.String(bucket + "/a"),
				MetadataDirective: types.MetadataDirectiveReplace, IfNoneMatch: always})
			completeErr := complete(t, client, begin(t, client, "a", "part"), &s3.CompleteMultipartUploadInput{IfNoneMatch: always})
			_, deleteErr := client.DeleteObject(t.Context(), &s3.DeleteObjectInput{Bucket: b, Key: a, IfMatch: other})
			got := []string{codeOf(putErr), codeOf(copyErr), codeOf(completeErr), codeOf(deleteErr)}
			if diff := cmp.Diff([]string{test.put, test.copied, test.completed, test.deleted}, got); diff != "" {
				t.Errorf("put, copy, complete and delete differ (-want +got):\n%s", diff)
			}
		})
	}
}

// TestOneWriterWins races conditional writers of every kind.
func TestOneWriterWins(t *testing.T) {
	_, client := start(t, s3test.Options{})
	var winners atomic.Int32
	var group sync.WaitGroup
	for i := range 16 {
		group.Go(func() {
			_, err := client.PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String(bucket), Key: aws.String("a"),
				Body: bytes.NewReader(fmt.Append(nil, i)), IfNoneMatch: aws.String("*")})
			if err == nil {
				winners.Add(1)
			} else if codeOf(err) != "PreconditionFailed" {
				t.Errorf("PutObject: %v", err)
			}
		})
	}
	group.Wait()
	if got := winners.Load(); got != 1 {
		t.Errorf("%d writers created the object, want 1", got)
	}
}

func TestDelete(t *testing.T) {
	each(t, func(t *testing.T, server *s3test.Server, client *s3.Client) {
		server.Deny("secret/")
		for _, key := range []string{"a", "b", "c", "secret/x"} {
			server.Put(bucket, key, []byte("hello"))
		}
		remove := func(key string, match *string) string {
			_, err := client.DeleteObject(t.Context(), &s3.DeleteObjectInput{Bucket: aws.String(bucket), Key: &key, IfMatch: match})
			return codeOf(err)
		}
		got := []string{remove("nothing", nil), remove("a", aws.String(etag("other"))), remove("a", aws.String(etag("hello"))),
			remove("a", aws.String(etag("hello"))), remove("secret/x", nil)}
		if diff := cmp.Diff([]string{"", "PreconditionFailed", "", "PreconditionFailed", "AccessDenied"}, got); diff != "" {
			t.Errorf("DeleteObject differs (-want +got):\n%s", diff)
		}
		output, err := client.DeleteObjects(t.Context(), &s3.DeleteObjectsInput{Bucket: aws.String(bucket), Delete: &types.Delete{
			Objects: []types.ObjectIdentifier{{Key: aws.String("b")}, {Key: aws.String("nothing")}, {Key: aws.String("secret/x")},
				{Key: aws.String("c"), ETag: aws.String(etag("other"))}},
		}})
		if err != nil {
			t.Fatal(err)
		}
		var said []string
		for _, d := range output.Deleted {
			said = append(said, *d.Key)
		}
		for _, e := range output.Errors {
			said = append(said, *e.Key+" "+*e.Code)
		}
		if diff := cmp.Diff([]string{"b", "nothing", "secret/x AccessDenied", "c PreconditionFailed"}, said); diff != "" {
			t.Errorf("DeleteObjects says (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"c", "secret/x"}, server.Objects(bucket)); diff != "" {
			t.Errorf("the bucket holds (-want +got):\n%s", diff)
		}
	})
}

func TestCopy(t *testing.T) {
	each(t, func(t *testing.T, server *s3test.Server, client *s3.Client) {
		_, err := client.PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String(bucket), Key: aws.String("a b"),
			Body: bytes.NewReader([]byte("hello")), ContentType: aws.String("text/plain"), Metadata: map[string]string{"mode": "0644"}})
		if err != nil {
			t.Fatal(err)
		}
		for _, test := range []struct {
			name, source, to, want string
			directive              types.MetadataDirective
		}{
			{"plain", bucket + "/a%20b", "c", "", ""},
			{"missing", bucket + "/nothing", "c", "NoSuchKey", ""},
			{"no-bucket", "nothing/a", "c", "NoSuchBucket", ""},
			{"no-key", bucket, "c", "InvalidArgument", ""},
			{"version", bucket + "/a%20b?versionId=1", "c", "NotImplemented", ""},
			{"itself", bucket + "/a%20b", "a b", "InvalidRequest", ""},
			{"itself-replaced", bucket + "/a%20b", "a b", "", types.MetadataDirectiveReplace},
		} {
			_, err := client.CopyObject(t.Context(), &s3.CopyObjectInput{Bucket: aws.String(bucket), Key: &test.to,
				CopySource: &test.source, MetadataDirective: test.directive})
			if got := codeOf(err); got != test.want {
				t.Errorf("%s: CopyObject is %q, want %q", test.name, got, test.want)
			}
		}
		head, err := client.HeadObject(t.Context(), &s3.HeadObjectInput{Bucket: aws.String(bucket), Key: aws.String("c")})
		if err != nil || head.Metadata["mode"] != "0644" || *head.ContentType != "text/plain" || *head.ContentLength != 5 {
			t.Errorf("HeadObject of the copy = %+v, %v", head, err)
		}
		head, err = client.HeadObject(t.Context(), &s3.HeadObjectInput{Bucket: aws.String(bucket), Key: aws.String("a b")})
		if err != nil || len(head.Metadata) != 0 {
			t.Errorf("HeadObject after REPLACE = %+v, %v", head, err)
		}
	})
}

// TestCopyTags copies an object with tags. Which tags the copy has is for the tagging directive
// alone to say.
func TestCopyTags(t *testing.T) {
	each(t, func(t *testing.T, _ *s3test.Server, client *s3.Client) {
		_, err := client.PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String(bucket), Key: aws.String("a"),
			Body: bytes.NewReader([]byte("hello")), Tagging: aws.String("old=1")})
		if err != nil {
			t.Fatal(err)
		}
		for _, metadata := range []types.MetadataDirective{"", types.MetadataDirectiveCopy, types.MetadataDirectiveReplace} {
			for _, test := range []struct {
				directive  types.TaggingDirective
				tags, want string
			}{
				{"", "", "old=1"},
				{"", "new=2", "old=1"},
				{types.TaggingDirectiveCopy, "", "old=1"},
				{types.TaggingDirectiveReplace, "", ""},
				{types.TaggingDirectiveReplace, "new=2", "new=2"},
			} {
				input := &s3.CopyObjectInput{Bucket: aws.String(bucket), Key: aws.String("b"), CopySource: aws.String(bucket + "/a"),
					MetadataDirective: metadata, TaggingDirective: test.directive}
				if test.tags != "" {
					input.Tagging = &test.tags
				}
				if _, err := client.CopyObject(t.Context(), input); err != nil {
					t.Errorf("CopyObject with the directives %q and %q and the tags %q = %v", metadata, test.directive, test.tags, err)
					continue
				}
				out, err := client.GetObjectTagging(t.Context(), &s3.GetObjectTaggingInput{Bucket: aws.String(bucket), Key: aws.String("b")})
				if err != nil {
					t.Fatal(err)
				}
				got := ""
				for _, tag := range out.TagSet {
					got += *tag.Key + "=" + *tag.Value
				}
				if got != test.want {
					t.Errorf("CopyObject with the directives %q and %q and the tags %q makes the tags %q, want %q", metadata, test.directive, test.tags, got, test.want)
				}
			}
		}
		_, err = client.CopyObject(t.Context(), &s3.CopyObjectInput{Bucket: aws.String(bucket), Key: aws.String("b"), CopySource: aws.String(bucket + "/a"),
			TaggingDirective: "OTHER"})
		if got := codeOf(err); got != "InvalidArgument" {
			t.Errorf("CopyObject with an unknown tagging directive is %q, want InvalidArgument", got)
		}
	})
}

// TestStoredHeaders stores what an upload says about the object, and not what it
// says about itself.
func TestStoredHeaders(t *testing.T) {
	each(t, func(t *testing.T, _ *s3test.Server, client *s3.Client) {
		for encoding, want := range map[string]string{"": "", "gzip": "gzip"} {
			input := &s3.PutObjectInput{Bucket: aws.String(bucket), Key: aws.String("a"), Body: bytes.NewReader([]byte("hello"))}
			if encoding != "" {
				input.ContentEncoding = &encoding
			}
			if _, err := client.PutObject(t.Context(), input); err != nil {
				t.Fatal(err)
			}
			head, err := client.HeadObject(t.Context(), &s3.HeadObjectInput{Bucket: aws.String(bucket), Key: aws.String("a")})
			if err != nil || aws.ToString(head.ContentEncoding) != want {
				t.Errorf("Content-Encoding is %q, %v, want %q", aws.ToString(head.ContentEncoding), err, want)
			}
		}
	})
}

func TestDeny(t *testing.T) {
	server, client := start(t, s3test.Options{})
	server.Put(bucket, "secret/a", []byte("hello"))
	server.Deny("secret/")
	_, getErr := client.GetObject(t.Context(), &s3.GetObjectInput{Bucket: aws.String(bucket), Key: aws.String("secret/a")})
	_, copyErr := client.CopyObject(t.Context(), &s3.CopyObjectInput{Bucket: aws.String(bucket), Key: aws.String("b"), CopySource: aws.String(bucket + "/secret/a")})
	if codeOf(getErr) != "AccessDenied" || codeOf(copyErr) != "AccessDenied" {
		t.Errorf("GetObject = %v, CopyObject = %v, want AccessDenied", getErr, copyErr)
	}
}

// TestDirect shows that what a test stores and gets is its own.
func TestDirect(t *testing.T) {
	server := s3test.New(t, nil)
	data := []byte("hello")
	server.Put(bucket, "a", data)
	data[0] = 'j'
	got, _ := server.Get(bucket, "a")
	got[1] = 'a'
	if got, _ := server.Get(bucket, "a"); string(got) != "hello" {
		t.Errorf("Get = %q, want hello", got)
	}
	if !server.Delete(bucket, "a") || server.Delete(bucket, "a") {
		t.Error("Delete does not say whether there was something to remove")
	}
}

func TestLargeCopy(t *testing.T) {
	_, client := start(t, s3test.Options{MaxCopySize: 4})
	put(t, client, "a", "hello")
	_, err := client.CopyObject(t.Context(), &s3.CopyObjectInput{Bucket: aws.String(bucket), Key: aws.String("b"), CopySource: aws.String(bucket + "/a")})
	if codeOf(err) != "InvalidRequest" {
		t.Errorf("CopyObject of 5 bytes = %v, want InvalidRequest", err)
	}
}

func TestNotImplemented(t *testing.T) {
	_, client := start(t, s3test.Options{})
	put(t, client, "a", "hello")
	_, err := client.PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String(bucket), Key: aws.String("a"), ACL: types.ObjectCannedACLPrivate})
	if codeOf(err) != "NotImplemented" {
		t.Errorf("PutObject with an access list = %v, want NotImplemented", err)
	}
	_, err = client.PutObjectTagging(t.Context(), &s3.PutObjectTaggingInput{Bucket: aws.String(bucket), Key: aws.String("a"),
		Tagging: &types.Tagging{TagSet: []types.Tag{}}})
	if codeOf(err) != "NotImplemented" {
		t.Errorf("PutObjectTagging = %v, want NotImplemented", err)
	}
	if got := get(t, client, "a"); got != "hello" {
		t.Errorf("what was refused changed the object to %q", got)
	}
}

func TestKeysRefused(t *testing.T) {
	_, client := start(t, s3test.Options{})
	for key, want := range map[string]string{strings.Repeat("k", 1025): "KeyTooLongError", "a\xff": "InvalidURI"} {
		_, err := client.PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String(bucket), Key: &key})
		if got := codeOf(err); got != want {
			t.Errorf("PutObject(%.10q) is %q, want %q", key, got, want)
		}
	}
}

func TestDefaultContentType(t *testing.T) {
	server, client := start(t, s3test.Options{})
	a := newAttempt(t, server)
	a.sign(t)
	if got := send(t, a.request); got != "200" {
		t.Fatalf("PUT is %q, want 200", got)
	}
	head, err := client.HeadObject(t.Context(), &s3.HeadObjectInput{Bucket: aws.String(bucket), Key: aws.String("a")})
	if err != nil || aws.ToString(head.ContentType) != "binary/octet-stream" {
		t.Errorf("Content-Type is %q, %v, want binary/octet-stream", aws.ToString(head.ContentType), err)
	}
}
