package objectstore_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/workspacekit/workspacekit/internal/s3test"
	"github.com/workspacekit/workspacekit/providers/objectstore"
	"github.com/workspacekit/workspacekit/workspace"
)

// misspelling is a way to a store whose listings have U+FFFD for U+FFFF, as
// those of stores written in Go do.
type misspelling struct{ http.RoundTripper }

func (m misspelling) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := m.RoundTripper.RoundTrip(request)
	if err != nil || !strings.Contains(request.URL.RawQuery, "list-type") {
		return response, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	body = bytes.ReplaceAll(body, []byte("\uffff"), []byte("\ufffd"))
	response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	response.Header.Del("Content-Length")
	return response, err
}

// TestUnlistableKeys removes and moves a directory with a key that the store
// lists as another one. What remains must not be reported as done.
func TestUnlistableKeys(t *testing.T) {
	for name, open := range map[string]func(t *testing.T) store{
		"modest": func(t *testing.T) store {
			server := s3test.New(t, modest())
			return inProcess(server, otherCompat(), func(o *s3.Options) {
				o.HTTPClient = &http.Client{Transport: misspelling{server.Client().Transport}}
			})
		},
		"external": func(t *testing.T) store { return external(t) },
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			fsys, prefix := s.emptyPrefix(t)
			key := prefix + "/d/\uffff"
			if _, err := s.client.PutObject(t.Context(), &s3.PutObjectInput{Bucket: &s.bucket, Key: &key}); err != nil {
				t.Fatal(err)
			}
			if _, err := fsys.WriteFile(t.Context(), "d/f", []byte("f"), nil); err != nil {
				t.Fatal(err)
			}
			if err := fsys.Move(t.Context(), "d", "m"); !errors.Is(err, workspace.ErrNotEmpty) {
				t.Errorf("Move(%q) = %v, want %v", "d", err, workspace.ErrNotEmpty)
			}
			err := fsys.Rm(t.Context(), "d", &workspace.RmOptions{Recursive: true})
			if !errors.Is(err, workspace.ErrNotEmpty) {
				t.Errorf("Rm(%q) recursively = %v, want %v", "d", err, workspace.ErrNotEmpty)
			}
			if _, err := s.client.DeleteObject(t.Context(), &s3.DeleteObjectInput{Bucket: &s.bucket, Key: &key}); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// misspelt returns a workspace with more than a page of keys that the store lists as others, in
// the directory "d/n", and a file after them.
func misspelt(t *testing.T) (*objectstore.FS, *s3test.Server) {
	server := s3test.New(t, modest())
	fsys := inProcess(server, otherCompat(), func(o *s3.Options) {
		o.HTTPClient = &http.Client{Transport: misspelling{server.Client().Transport}}
	}).open(t, "p", objectstore.Options{})
	for i := range 1001 {
		server.Put(bucket, fmt.Sprintf("p/d/\uffff/%04d", i), nil)
	}
	server.Put(bucket, "p/d/\U00010000", nil)
	return fsys, server
}

// TestUnlistablePage removes a directory whose first page of keys is still there after it was
// deleted. What can be removed is, and the Rm ends.
func TestUnlistablePage(t *testing.T) {
	t.Parallel()
	fsys, server := misspelt(t)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := fsys.Rm(ctx, "d", &workspace.RmOptions{Recursive: true}); !errors.Is(err, workspace.ErrNotEmpty) {
		t.Errorf("Rm(%q) recursively = %v, want %v", "d", err, workspace.ErrNotEmpty)
	}
	if _, ok := server.Get(bucket, "p/d/\U00010000"); ok {
		t.Error("the last file is still there, want it removed")
	}
}

// TestUnlistableSkipped leaves out a directory whose keys come after the end of the one that the
// store lists.
func TestUnlistableSkipped(t *testing.T) {
	t.Parallel()
	fsys, _ := misspelt(t)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var names []string
	err := fsys.Walk(ctx, "d", nil, func(info workspace.FileInfo, _ error) error {
		names = append(names, info.Name)
		if info.IsDir() {
			return fs.SkipDir
		}
		return nil
	})
	if want := []string{"\ufffd", "\U00010000"}; err != nil || !slices.Equal(names, want) {
		t.Errorf("Walk(%q) = %q, %v, want %q", "d", names, err, want)
	}
}
