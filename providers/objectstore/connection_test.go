package objectstore_test

import (
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/workspacekit/workspacekit/internal/s3test"
	"github.com/workspacekit/workspacekit/providers/objectstore"
	"github.com/workspacekit/workspacekit/workspace"
)

// openAs opens the bucket of server with its credentials in the
// environment.
func openAs(t *testing.T, server *s3test.Server, o objectstore.Options) *objectstore.FS {
	t.Helper()
	bareEnvironment(t)
	t.Setenv("AWS_ACCESS_KEY_ID", server.AccessKeyID)
	t.Setenv("AWS_SECRET_ACCESS_KEY", server.SecretAccessKey)
	o.Bucket, o.Endpoint = bucket, server.URL
	f, err := objectstore.Open(t.Context(), &o)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestAnonymous reads and writes a public bucket without credentials, also if
// the environment has some.
func TestAnonymous(t *testing.T) {
	server := s3test.New(t, &s3test.Options{Public: true})
	f := openAs(t, server, objectstore.Options{Anonymous: true})
	for name, do := range map[string]action{"write": write("d/f", nil), "read": readFile("d/f"), "ls": lists("d", nil, 1), "stream": createText("d/f", strings.Repeat("x", 11<<20), nil)} {
		if err := write("d/f", nil)(t.Context(), f); err != nil {
			t.Fatal(err)
		}
		if err := do(t.Context(), f); err != nil {
			t.Errorf("%s = %v, want nil", name, err)
		}
	}
	for _, r := range server.Requests() {
		if authorization := r.Header.Get("Authorization"); authorization != "" {
			t.Errorf("%s has the authorization %q, want none", r.Op, authorization)
		}
	}
	private := openAs(t, s3test.New(t, nil), objectstore.Options{Anonymous: true})
	if _, err := private.ReadFile(t.Context(), "f"); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("ReadFile of a private bucket = %v, want %v", err, fs.ErrPermission)
	}
}

// stsAnswer is what the service answers that gives out the credentials of roles.
const stsAnswer = `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult>
<AssumedRoleUser><AssumedRoleId>A:workspacekit</AssumedRoleId><Arn>arn:aws:sts::123456789012:assumed-role/reader/workspacekit</Arn></AssumedRoleUser>
<Credentials><AccessKeyId>%s</AccessKeyId><SecretAccessKey>%s</SecretAccessKey><SessionToken>session</SessionToken><Expiration>%s</Expiration></Credentials>
</AssumeRoleResult></AssumeRoleResponse>`

// TestAssumeRole reads with the credentials of a role, which are asked for
// once.
func TestAssumeRole(t *testing.T) {
	server := s3test.New(t, nil)
	server.Put(bucket, "f", []byte("content"))
	var mu sync.Mutex
	var asked []url.Values
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		form, _ := url.ParseQuery(string(body))
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, form)
		fmt.Fprintf(w, stsAnswer, server.AccessKeyID, server.SecretAccessKey, time.Now().Add(time.Hour).UTC().Format(time.RFC3339))
	}))
	defer service.Close()
	role := objectstore.Role{ARN: "arn:aws:iam::123456789012:role/reader", ExternalID: "ticket-7"}
	bareEnvironment(t)
	t.Setenv("AWS_ENDPOINT_URL_STS", service.URL)
	t.Setenv("AWS_ACCESS_KEY_ID", "AKIAOTHER")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "other")
	f, err := objectstore.Open(t.Context(), &objectstore.Options{Bucket: bucket, Endpoint: server.URL, AssumeRole: role})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if data, err := f.ReadFile(t.Context(), "f"); err != nil || string(data) != "content" {
			t.Fatalf("ReadFile = %q, %v, want the content", data, err)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if len(asked) != 1 || asked[0].Get("Action") != "AssumeRole" || asked[0].Get("RoleArn") != role.ARN || asked[0].Get("ExternalId") != "ticket-7" || asked[0].Get("RoleSessionName") != "workspacekit" {
		t.Errorf("the service was asked %v, want once for the role", asked)
	}
	for _, r := range server.Requests() {
		if r.Header.Get("X-Amz-Security-Token") != "session" {
			t.Errorf("%s has no session token", r.Op)
		}
	}
}

// TestAssumeRoleFails tests that the errors of the service of roles are not
// taken for those of the store, where 404 means that a file does not exist.
func TestAssumeRoleFails(t *testing.T) {
	server := s3test.New(t, nil)
	for name, test := range map[string]struct {
		status int
		body   string
		kind   error
		want   string
	}{
		"denied": {http.StatusForbidden, `<ErrorResponse><Error><Code>AccessDenied</Code><Message>User hidden is not authorized</Message></Error></ErrorResponse>`,
			fs.ErrPermission, "the role cannot be assumed: check its ARN, its external id"},
		"not-found":   {http.StatusNotFound, "<html>hidden</html>", workspace.ErrUnavailable, "STS"},
		"gateway":     {http.StatusBadGateway, "hidden", workspace.ErrUnavailable, "STS"},
		"no-key":      {http.StatusOK, "<AssumeRoleResponse/>", workspace.ErrUnavailable, "STS"},
		"not-an-xml":  {http.StatusOK, "hidden", workspace.ErrUnavailable, "STS"},
		"no-response": {0, "", workspace.ErrUnavailable, "STS"},
	} {
		t.Run(name, func(t *testing.T) {
			service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body) // or the end of the connection is not seen
				if test.status == 0 {
					<-r.Context().Done()
					return
				}
				w.WriteHeader(test.status)
				io.WriteString(w, test.body)
			}))
			defer service.Close()
			bareEnvironment(t)
			t.Setenv("AWS_ENDPOINT_URL_STS", service.URL)
			t.Setenv("AWS_ACCESS_KEY_ID", "AKIAOTHER")
			t.Setenv("AWS_SECRET_ACCESS_KEY", "other")
			f, err := objectstore.Open(t.Context(), &objectstore.Options{
				Bucket: bucket, Endpoint: server.URL, AssumeRole: objectstore.Role{ARN: "arn:aws:iam::123456789012:role/hidden"},
				MaxAttempts: 1, ResponseTimeout: 200 * time.Millisecond,
			})
			if err != nil {
				t.Fatal(err)
			}
			_, err = f.Stat(t.Context(), "f")
			if !errors.Is(err, test.kind) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("Stat = %v, want %v with %q", err, test.kind, test.want)
			}
			checkDiscreet(t, err, "hidden", "AKIAOTHER")
		})
	}
	if sent := server.Requests(); len(sent) > 0 {
		t.Errorf("%d requests were sent without credentials", len(sent))
	}
}

// TestCAFile trusts the certificate of a server, and nothing that is none.
func TestCAFile(t *testing.T) {
	server := s3test.New(t, &s3test.Options{TLS: true})
	server.Put(bucket, "f", []byte("content"))
	dir := t.TempDir()
	good, bad := filepath.Join(dir, "hidden.pem"), filepath.Join(dir, "bad.pem")
	if err := os.WriteFile(good, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(bad, []byte("hidden"), 0o666); err != nil {
		t.Fatal(err)
	}
	if data, err := openAs(t, server, objectstore.Options{CAFile: good}).ReadFile(t.Context(), "f"); err != nil || string(data) != "content" {
		t.Errorf("ReadFile = %q, %v, want the content", data, err)
	}
	if _, err := openAs(t, server, objectstore.Options{MaxAttempts: 1}).ReadFile(t.Context(), "f"); err == nil {
		t.Error("ReadFile without the certificate = nil, want an error")
	}
	for file, want := range map[string]string{bad: "has no certificate", dir: "is not a file of certificates", filepath.Join(dir, "hidden"): "does not exist"} {
		_, err := objectstore.Open(t.Context(), &objectstore.Options{Bucket: bucket, CAFile: file})
		if !errors.Is(err, fs.ErrInvalid) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hidden") {
			t.Errorf("Open with the CAFile %q = %v, want %q", file, err, want)
		}
	}
}

// TestProxy sends requests through a proxy: it sees a store with http whole, and
// the host of one with https.
func TestProxy(t *testing.T) {
	var mu sync.Mutex
	var seen []string
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, r.Method+" "+r.RequestURI)
		w.WriteHeader(http.StatusBadGateway)
	}))
	defer proxy.Close()
	bareEnvironment(t)
	t.Setenv("AWS_ACCESS_KEY_ID", "key")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	for _, o := range []objectstore.Options{
		{Bucket: "files", Endpoint: "http://store.example.org"},
		{Bucket: "files", Region: "eu-west-1"},
		{Bucket: "arn:aws:s3:us-west-2:123456789012:accesspoint/files"},
		{Bucket: "arn:aws:s3:us-west-2:123456789012:accesspoint:files", Region: "us-west-2"},
	} {
		o.Proxy, o.MaxAttempts = proxy.URL, 1
		f, err := objectstore.Open(t.Context(), &o)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Stat(t.Context(), "f"); err == nil {
			t.Error("Stat = nil, want an error")
		}
	}
	mu.Lock()
	defer mu.Unlock()
	want := []string{
		"HEAD http://store.example.org/files/f", "CONNECT files.s3.eu-west-1.amazonaws.com:443",
		"CONNECT files-123456789012.s3-accesspoint.us-west-2.amazonaws.com:443", "CONNECT files-123456789012.s3-accesspoint.us-west-2.amazonaws.com:443",
	}
	if strings.Join(seen, "\n") != strings.Join(want, "\n") {
		t.Errorf("the proxy saw %q, want %q", seen, want)
	}
}

// TestAccessPoint copies in an access point: each request names its host, and
// the copy its ARN.
func TestAccessPoint(t *testing.T) {
	t.Parallel()
	server := s3test.New(t, &s3test.Options{Buckets: []string{"files-123456789012"}, Region: "us-west-2"})
	var mu sync.Mutex
	var sources []string
	server.Inject(func(r s3test.Request) s3test.Fault {
		mu.Lock()
		defer mu.Unlock()
		if source := r.Header.Get("X-Amz-Copy-Source"); source != "" {
			sources = append(sources, source)
			return s3test.Fault{Status: http.StatusNotImplemented, Code: "NotImplemented"}
		}
		return s3test.Fault{}
	})
	compat := awsCompat()
	compat.PathStyle = false
	const point = "arn:aws:s3:us-west-2:123456789012:accesspoint/files"
	s := inProcess(server, compat)
	transport := &http.Client{Transport: &http.Transport{Proxy: func(*http.Request) (*url.URL, error) { return url.Parse(server.URL) }}}
	s.client = newClient("http://example.com", "us-west-2", server.AccessKeyID, server.SecretAccessKey, transport, compat)
	f, err := objectstore.New(s.client, &objectstore.Options{Bucket: point, Prefix: "p", Compat: &compat})
	if err != nil {
		t.Fatal(err)
	}
	if err := write("d/a b", nil)(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Copy(t.Context(), "d/a b", "d/c"); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("Copy = %v, want the server's %v", err, errors.ErrUnsupported)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(sources) != 1 || sources[0] != point+"/object/p/d/a%20b" {
		t.Errorf("sources = %q, want %q", sources, point+"/object/p/d/a%20b")
	}
}
