package objectstore_test

import (
	"errors"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"testing"

	"github.com/workspacekit/workspacekit/internal/s3test"
	"github.com/workspacekit/workspacekit/providers/objectstore"
	"github.com/workspacekit/workspacekit/providers/objectstore/internal/object"
	"github.com/workspacekit/workspacekit/workspace"
)

// namesAfter returns the names in the root of f after a name.
func namesAfter(t *testing.T, f workspace.FileSystem, after string) string {
	t.Helper()
	infos, err := f.Ls(t.Context(), ".", &workspace.LsOptions{After: after})
	if err != nil {
		t.Errorf("Ls after %q = %v", after, err)
	}
	var names []string
	for _, info := range infos {
		names = append(names, info.Name)
	}
	return strings.Join(names, " ")
}

// TestLsAfterNameBelow lists what comes after a name in a directory, for which a store answers with
// that directory.
func TestLsAfterNameBelow(t *testing.T) {
	server := s3test.New(t, nil)
	seed(server, "a/b", "a/c", "b", "c")
	f := inProcess(server, awsCompat(), impatient(1)).open(t, "p", objectstore.Options{})
	for after, want := range map[string]string{"a": "b c", "a/": "b c", "a/b": "b c", "a/b/c": "b c", "b": "c"} {
		if got := namesAfter(t, f, after); got != want {
			t.Errorf("Ls after %q = %q, want %q", after, got, want)
		}
	}
}

// TestEmptyPage has the store begin each listing with a page without keys.
func TestEmptyPage(t *testing.T) {
	t.Parallel()
	body := []byte(`<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>ayE=</NextContinuationToken></ListBucketResult>`)
	for _, prefix := range []string{"", "p"} {
		server := s3test.New(t, nil)
		for _, name := range []string{"d/x", "e/y"} {
			server.Put(bucket, path.Join(prefix, name), nil)
		}
		f := inProcess(server, awsCompat()).open(t, prefix, objectstore.Options{})
		server.Inject(func(r s3test.Request) s3test.Fault {
			if r.Op != "ListObjectsV2" || r.Query.Has("continuation-token") {
				return s3test.Fault{}
			}
			return s3test.Fault{Instead: &s3test.Answer{Status: http.StatusOK, Body: body, Length: int64(len(body))}}
		})
		for _, c := range []struct {
			name string
			do   action
			want error
		}{
			{"a write", write("new", nil), nil},
			{"a write over a directory", write("d", nil), workspace.ErrIsDir},
			{"stat of a directory", stat("e"), nil},
			{"mkdir of a directory", mkdir("e", false), fs.ErrExist},
			{"ls", lists(".", nil, 3), nil},
			{"walk", walks(".", "", 5, ""), nil},
			{"rm", rm("e", true), nil},
			{"stat of a removed directory", stat("e"), fs.ErrNotExist},
		} {
			if err := c.do(t.Context(), f); !errors.Is(err, c.want) {
				t.Errorf("%s, with the prefix %q = %v, want %v", c.name, prefix, err, c.want)
			}
		}
	}
}

// TestLsUnreadableTombstone lists a directory in which an object looks like a tombstone and may not
// be read.
func TestLsUnreadableTombstone(t *testing.T) {
	server := s3test.New(t, nil)
	seed(server, "a", "b")
	server.Put(bucket, "p/c", []byte(object.TombstoneText))
	f := inProcess(server, awsCompat(), impatient(1)).open(t, "p", objectstore.Options{})
	server.Inject(func(r s3test.Request) s3test.Fault {
		if r.Op == "HeadObject" && r.Key == "p/c" {
			return s3test.Fault{Status: http.StatusForbidden, Code: "AccessDenied"}
		}
		return s3test.Fault{}
	})
	if got := namesAfter(t, f, ""); got != "a b c" {
		t.Errorf("Ls = %q, want %q", got, "a b c")
	}
}
