package objectstore_test

import (
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/workspacekit/workspacekit/providers/objectstore"
	"github.com/workspacekit/workspacekit/tools"
)

// TestServer tests that a store is called what it calls itself, by one HEAD.
func TestServer(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "key")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	for _, test := range []struct {
		name, server string
		status       int
		kind         error
	}{
		{"named", "MinIO", http.StatusOK, nil},
		{"nameless", "", http.StatusOK, nil},
		{"refused", "MinIO", http.StatusForbidden, fs.ErrPermission},
	} {
		t.Run(test.name, func(t *testing.T) {
			var asked []string
			store := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked = append(asked, r.Method+" "+r.URL.Path)
				if test.server != "" {
					w.Header().Set("Server", test.server)
				}
				w.WriteHeader(test.status)
			}))
			defer store.Close()
			f, err := objectstore.Open(t.Context(), &objectstore.Options{Bucket: "b", Endpoint: store.URL})
			if err != nil {
				t.Fatal(err)
			}
			got, err := f.Server(t.Context())
			if !errors.Is(err, test.kind) || err == nil && got != test.server {
				t.Errorf("Server() = %q, %v, want %q, %v", got, err, test.server, test.kind)
			}
			if len(asked) != 1 || asked[0] != "HEAD /b" {
				t.Errorf("the store was asked %q, want one HEAD of the bucket", asked)
			}
		})
	}
}

func TestServerOfNoStore(t *testing.T) {
	f, err := objectstore.Open(t.Context(), &objectstore.Options{Bucket: "b", Endpoint: "http://127.0.0.1:1", MaxAttempts: 1})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := f.Server(t.Context()); err == nil || tools.CodeOf(err) == "" {
		t.Errorf("Server() = %q, %v, want an error", got, err)
	}
}
