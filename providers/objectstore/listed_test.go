package objectstore_test

import (
	"net/http"
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

// TestLsEmptyPage gets a page without keys before the others.
func TestLsEmptyPage(t *testing.T) {
	server := s3test.New(t, nil)
	seed(server, "a", "b")
	f := inProcess(server, awsCompat(), impatient(1)).open(t, "p", objectstore.Options{})
	empty := true
	server.Inject(func(r s3test.Request) s3test.Fault {
		if r.Op != "ListObjectsV2" || !empty {
			return s3test.Fault{}
		}
		empty = false
		body := `<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken></ListBucketResult>`
		return s3test.Fault{Instead: &s3test.Answer{Status: http.StatusOK, Length: -1, Header: http.Header{"Content-Type": {"application/xml"}}, Body: []byte(body)}}
	})
	if _, err := f.Ls(t.Context(), ".", nil); empty || err == nil {
		t.Errorf("Ls = %v, want the store's refusal of a token that it has not given", err)
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
