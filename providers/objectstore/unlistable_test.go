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
	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/internal/s3test"
	"github.com/workspacekit/workspacekit/providers/objectstore"
	"github.com/workspacekit/workspacekit/workspace"
)

// misspelling is a way to a store whose listings have U+FFFD for U+FFFF and U+0001, as
// those of stores written in Go do.
type misspelling struct{ http.RoundTripper }

func (m misspelling) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := m.RoundTripper.RoundTrip(request)
	if err != nil || !strings.Contains(request.URL.RawQuery, "list-type") {
		return response, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	for _, character := range []string{"\uffff", "&#x1;"} {
		body = bytes.ReplaceAll(body, []byte(character), []byte("\ufffd"))
	}
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

// misspelt returns a workspace with names, in a store that lists some keys as others.
func misspelt(t *testing.T, names ...string) (*objectstore.FS, *s3test.Server) {
	server := s3test.New(t, modest())
	seed(server, names...)
	return inProcess(server, otherCompat(), func(o *s3.Options) {
		o.HTTPClient = &http.Client{Transport: misspelling{server.Client().Transport}}
	}).open(t, "p", objectstore.Options{}), server
}

// misspeltPage returns a workspace with more than a page of keys that the store lists as others, in
// the directory "d/n", and a file after them.
func misspeltPage(t *testing.T) (*objectstore.FS, *s3test.Server) {
	fsys, server := misspelt(t)
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
	fsys, server := misspeltPage(t)
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
	fsys, _ := misspeltPage(t)
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

// TestUnlistableEnd ends a page with a key that the store lists as one that sorts after those of
// the next page.
func TestUnlistableEnd(t *testing.T) {
	t.Parallel()
	page := append(numbered("d/A%04d", 999), "d/a\x01")
	for _, c := range []struct {
		name  string
		names []string
		do    action
		want  error
	}{
		{"a write over a directory", append(page, "d/aa/x"), write("d/aa", nil), workspace.ErrIsDir},
		{"a write below a file", append(numbered("d\x01%04d", 1000), "d/f"), write("d/f/g/h", nil), workspace.ErrNotDir},
		{"mkdir of a directory", append(numbered("d\x01%02d", 20), "d/x"), mkdir("d", false), fs.ErrExist},
		{"rm of a directory", append(numbered("d\x01%02d", 20), "d/x"), rm("d", false), workspace.ErrNotEmpty},
	} {
		fsys, _ := misspelt(t, c.names...)
		if err := c.do(t.Context(), fsys); !errors.Is(err, c.want) {
			t.Errorf("%s = %v, want %v", c.name, err, c.want)
		}
	}
	fsys, _ := misspelt(t, append(page, "d/aa", "d/b")...)
	infos, err := fsys.Ls(t.Context(), "d", &workspace.LsOptions{Limit: 1000})
	if err != nil || len(infos) != 1000 || infos[999].Name != "aa" {
		t.Errorf("Ls of 1,000 names = %d, %v, want those up to %q", len(infos), err, "aa")
	}
}

// TestUnlistableAgain walks again. The store lists some keys as others that sort after the end of
// a page.
func TestUnlistableAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ names, added, removed []string }{
		"end":       {names: append(numbered("A%04d", 999), "a\x01", "aa", "b")},
		"beginning": {append(numbered("f%04d", 1000), numbered("g%04d", 500)...), numbered("\x01%04d", 600), numbered("f%04d", 600)},
	} {
		fsys, server := misspelt(t, c.names...)
		filesOf(t.Context(), t, fsys)
		seed(server, c.added...)
		for _, removed := range c.removed {
			server.Delete(bucket, "p/"+removed)
		}
		want := []string{}
		for _, key := range server.Objects(bucket) {
			want = append(want, strings.ReplaceAll(strings.TrimPrefix(key, "p/"), "\x01", "\ufffd"))
		}
		slices.Sort(want)
		for range 2 {
			if diff := cmp.Diff(want, filesOf(t.Context(), t, fsys)); diff != "" {
				t.Errorf("%s: Walk differs (-want +got):\n%s", name, diff)
			}
		}
	}
}
