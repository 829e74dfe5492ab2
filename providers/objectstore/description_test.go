package objectstore_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/internal/s3test"
	"github.com/workspacekit/workspacekit/providers/objectstore"
	"github.com/workspacekit/workspacekit/workspace"
)

// describedObject is an object with everything that a store keeps beside the
// content.
func describedObject(bucket, key string) *s3.PutObjectInput {
	return &s3.PutObjectInput{
		Bucket: &bucket, Key: &key, Body: strings.NewReader("content"),
		ContentType: aws.String("text/x-special"), CacheControl: aws.String("max-age=60"), ContentEncoding: aws.String("identity"),
		ContentDisposition: aws.String(`attachment; filename="x"`), ContentLanguage: aws.String("de, en"),
		Expires:      aws.Time(time.Date(2031, 2, 3, 4, 5, 6, 0, time.UTC)),
		StorageClass: types.StorageClassStandardIa, WebsiteRedirectLocation: aws.String("/elsewhere"),
		Tagging:  aws.String("team=a%20b&stage=x&empty="),
		Metadata: map[string]string{"owner": "someone", "two-words": "a  b", "workspacekit-write": "an old token"},
	}
}

// descriptionOf spells what the store keeps of the object key, and returns the
// token.
func (s store) descriptionOf(t *testing.T, key string) (spelled map[string]string, token string) {
	t.Helper()
	head, err := s.client.HeadObject(t.Context(), &s3.HeadObjectInput{Bucket: &s.bucket, Key: &key})
	if err != nil {
		t.Fatal(err)
	}
	spelled = map[string]string{
		"type": aws.ToString(head.ContentType), "cache": aws.ToString(head.CacheControl), "encoding": aws.ToString(head.ContentEncoding),
		"disposition": aws.ToString(head.ContentDisposition), "language": aws.ToString(head.ContentLanguage),
		"expires": aws.ToString(head.ExpiresString), "class": string(head.StorageClass), "redirect": aws.ToString(head.WebsiteRedirectLocation),
	}
	token = head.Metadata["workspacekit-write"]
	delete(head.Metadata, "workspacekit-write")
	spelled["metadata"] = fmt.Sprint(head.Metadata)
	tags, err := s.client.GetObjectTagging(t.Context(), &s3.GetObjectTaggingInput{Bucket: &s.bucket, Key: &key})
	if err != nil {
		t.Fatal(err)
	}
	found := make(map[string]string)
	for _, tag := range tags.TagSet {
		found[*tag.Key] = *tag.Value
	}
	spelled["tags"] = fmt.Sprint(found)
	return spelled, token
}

// TestDescriptionKept replaces, copies and moves an object. It keeps everything
// but the token, which says whose write it was.
func TestDescriptionKept(t *testing.T) {
	exhaustive.Long(t)
	edit := func(ctx context.Context, f *objectstore.FS) error {
		_, _, err := workspace.New("test", f, nil).Edit(ctx, "d/f.txt", func([]byte) ([]byte, error) { return []byte("new"), nil })
		return err
	}
	replace := func(ctx context.Context, f *objectstore.FS) error {
		info, err := f.Stat(ctx, "d/f.txt")
		if err != nil {
			return err
		}
		return write("d/f.txt", &workspace.WriteOptions{IfVersion: info.Version})(ctx, f)
	}
	stream := func(size int) action {
		return func(ctx context.Context, f *objectstore.FS) error {
			info, err := f.Stat(ctx, "d/f.txt")
			if err != nil {
				return err
			}
			return createText("d/f.txt", strings.Repeat("x", size), &workspace.WriteOptions{IfVersion: info.Version})(ctx, f)
		}
	}
	for _, c := range []struct {
		name, key string
		do        action
	}{
		{"edit", "d/f.txt", edit}, {"edit-twice", "d/f.txt", func(ctx context.Context, f *objectstore.FS) error {
			if err := edit(ctx, f); err != nil {
				return err
			}
			return edit(ctx, f)
		}},
		{"replace-unread", "d/f.txt", replace},
		{"stream", "d/f.txt", stream(10)}, {"long-stream", "d/f.txt", stream(11 << 20)},
		{"copy", "d/g", copyFile("d/f.txt", "d/g")}, {"move", "g", moveTo("d/f.txt", "g")},
		{"move-directory", "e/f.txt", moveTo("d", "e")},
	} {
		for name, open := range map[string]func(t *testing.T) store{
			"aws":      func(t *testing.T) store { return inProcess(s3test.New(t, nil), awsCompat()) },
			"modest":   func(t *testing.T) store { return inProcess(s3test.New(t, modest()), otherCompat()) },
			"tls":      func(t *testing.T) store { return inProcess(s3test.New(t, &s3test.Options{TLS: true}), awsCompat()) },
			"external": func(t *testing.T) store { return external(t) },
		} {
			t.Run(c.name+"/"+name, func(t *testing.T) {
				s := open(t)
				_, prefix := s.emptyPrefix(t)
				f := s.open(t, prefix, objectstore.Options{PartSize: 5 << 20})
				if _, err := s.client.PutObject(t.Context(), describedObject(s.bucket, prefix+"/d/f.txt")); err != nil {
					t.Fatal(err)
				}
				before, old := s.descriptionOf(t, prefix+"/d/f.txt")
				if err := c.do(t.Context(), f); err != nil {
					t.Fatal(err)
				}
				after, token := s.descriptionOf(t, prefix+"/"+c.key)
				if diff := cmp.Diff(before, after); diff != "" {
					t.Errorf("description (-before +after):\n%s", diff)
				}
				if token == old {
					t.Errorf("the token is still %q, want a new one", token)
				}
			})
		}
	}
}

// TestTagsDeleted replaces a file whose tags were deleted after it was read. An
// answer without tags proves that only as a whole document.
func TestTagsDeleted(t *testing.T) {
	const head = `<?xml version="1.0" encoding="UTF-8"?>` + "\n"
	const start = head + `<Tagging xmlns="http://s3.amazonaws.com/doc/2006-03-01/">`
	for name, c := range map[string]struct {
		document string
		want     error
	}{
		"empty":         {start + "<TagSet></TagSet></Tagging>", nil},
		"short":         {start + "<TagSet/></Tagging>", nil},
		"spaced":        {start + "\n <TagSet>\n </TagSet>\n</Tagging>\n", nil},
		"no document":   {"", workspace.ErrUnavailable},
		"no element":    {head, workspace.ErrUnavailable},
		"no set":        {start + "</Tagging>", workspace.ErrUnavailable},
		"another":       {"<html><body></body></html>", workspace.ErrUnavailable},
		"cut at start":  {start, workspace.ErrUnavailable},
		"cut in set":    {start + "<TagSet>", workspace.ErrUnavailable},
		"cut after set": {start + "<TagSet></TagSet>", workspace.ErrUnavailable},
		"cut in end":    {start + "<TagSet></TagSet></Tagging", workspace.ErrUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			server := s3test.New(t, nil)
			s := inProcess(server, awsCompat(), impatient(2))
			f := s.open(t, "p", objectstore.Options{})
			if _, err := s.client.PutObject(t.Context(), describedObject(s.bucket, "p/f")); err != nil {
				t.Fatal(err)
			}
			server.Inject(func(r s3test.Request) s3test.Fault {
				if r.Op != "GetObjectTagging" {
					return s3test.Fault{}
				}
				return s3test.Fault{Edit: func(a *s3test.Answer) { a.Body, a.Length = []byte(c.document), int64(len(c.document)) }}
			})
			server.ResetRequests()
			_, version, err := f.ReadVersioned(t.Context(), "f", 100)
			if err != nil {
				t.Fatal(err)
			}
			version, err = f.WriteFile(t.Context(), "f", []byte("new"), &workspace.WriteOptions{IfVersion: version})
			if !errors.Is(err, c.want) {
				t.Fatalf("WriteFile = %v, want %v", err, c.want)
			}
			if err != nil {
				return
			}
			if err := write("f", &workspace.WriteOptions{IfVersion: version})(t.Context(), f); err != nil {
				t.Fatal(err)
			}
			var sent []string
			for _, r := range server.Requests() {
				sent = append(sent, r.Op)
			}
			if want := []string{"GetObject", "GetObjectTagging", "PutObject", "PutObject"}; !slices.Equal(sent, want) {
				t.Errorf("requests of a read and two writes = %q, want %q", sent, want)
			}
			server.Inject(nil)
			if after, _ := s.descriptionOf(t, "p/f"); after["tags"] != "map[]" {
				t.Errorf("tags = %s, want none", after["tags"])
			}
		})
	}
}

// TestTagsDeletedExternal deletes the tags in a store.
func TestTagsDeletedExternal(t *testing.T) {
	s := external(t)
	f, prefix := s.emptyPrefix(t)
	key := prefix + "/f"
	if _, err := s.client.PutObject(t.Context(), describedObject(s.bucket, key)); err != nil {
		t.Fatal(err)
	}
	_, version, err := f.ReadVersioned(t.Context(), "f", 100)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.client.DeleteObjectTagging(t.Context(), &s3.DeleteObjectTaggingInput{Bucket: &s.bucket, Key: &key}); err != nil {
		t.Fatal(err)
	}
	if err := write("f", &workspace.WriteOptions{IfVersion: version})(t.Context(), f); err != nil {
		t.Errorf("WriteFile = %v, want nil", err)
	}
	if after, _ := s.descriptionOf(t, key); after["tags"] != "map[]" {
		t.Errorf("tags = %s, want none", after["tags"])
	}
}

// TestContentTypes writes files of several endings, whatever the machine says
// of those.
func TestContentTypes(t *testing.T) {
	s := inProcess(s3test.New(t, nil), awsCompat())
	f := s.open(t, "p", objectstore.Options{})
	for name, want := range map[string]string{
		"index.html": "text/html; charset=utf-8", "main.ts": "text/plain; charset=utf-8", "A.JSON": "application/json",
		"x.svg": "image/svg+xml", "script": "", "x.unheard-of": "", "main.go": "text/plain; charset=utf-8",
	} {
		if err := write(name, nil)(t.Context(), f); err != nil {
			t.Fatal(err)
		}
		if want == "" {
			want = "application/octet-stream" // the SDK's
		}
		if got, _ := s.descriptionOf(t, "p/"+name); got["type"] != want {
			t.Errorf("the type of %q is %q, want %q", name, got["type"], want)
		}
	}
}

// TestCopyOfMuchMetadata copies and moves a file whose user metadata leaves no room for that of a
// write.
func TestCopyOfMuchMetadata(t *testing.T) {
	server := s3test.New(t, nil)
	s := inProcess(server, awsCompat())
	long := strings.Repeat("x", 2040)
	_, err := s.client.PutObject(t.Context(), &s3.PutObjectInput{
		Bucket: aws.String(bucket), Key: aws.String("p/a"), Body: strings.NewReader("content"), Metadata: map[string]string{"foo": long},
	})
	if err != nil {
		t.Fatal(err)
	}
	f := s.open(t, "p", objectstore.Options{})
	if _, err := f.Copy(t.Context(), "a", "b"); err != nil {
		t.Errorf("Copy = %v", err)
	}
	if err := f.Move(t.Context(), "a", "c"); err != nil {
		t.Errorf("Move = %v", err)
	}
	for _, name := range []string{"b", "c"} {
		head, err := s.client.HeadObject(t.Context(), &s3.HeadObjectInput{Bucket: aws.String(bucket), Key: aws.String("p/" + name)})
		if err != nil || head.Metadata["foo"] != long {
			t.Errorf("%s has other metadata than the file that it is a copy of: %v", name, err)
		}
	}
}
