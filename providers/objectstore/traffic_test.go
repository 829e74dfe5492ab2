package objectstore_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/workspacekit/workspacekit/internal/s3test"
	"github.com/workspacekit/workspacekit/providers/objectstore"
	"github.com/workspacekit/workspacekit/workspace"
)

// TestListedPrefixes looks at what the listings of a search ask for.
func TestListedPrefixes(t *testing.T) {
	for _, c := range []struct {
		name, pattern     string
		prefix, delimiter string
	}{
		{"below-literal", "src/**/*.go", "p/src/", ""},
		{"one-level", "*", "p/", "/"},
		{"one-level-below-literal", "src/pkg/*.go", "p/src/pkg/", "/"},
		{"everything", "**", "p/", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := s3test.New(t, nil)
			seed(server, "doc/a", "src/pkg/f.go", "web/b")
			fsys := inProcess(server, awsCompat()).open(t, "p", objectstore.Options{})
			if _, err := fsys.Glob(t.Context(), c.pattern, nil); err != nil {
				t.Fatalf("Glob(%q) = %v, want nil", c.pattern, err)
			}
			for _, request := range server.Requests() {
				prefix, delimiter := request.Query.Get("prefix"), request.Query.Get("delimiter")
				if prefix != c.prefix || delimiter != c.delimiter {
					t.Errorf("Glob(%q) lists prefix %q with delimiter %q, want %q with %q", c.pattern, prefix, delimiter, c.prefix, c.delimiter)
				}
			}
		})
	}
}

// TestWindowTraffic reads a window of a large file, which is all that may be
// sent of it.
func TestWindowTraffic(t *testing.T) {
	server := s3test.New(t, nil)
	content := bytes.Repeat([]byte("0123456789abcdef"), 4<<20/16)
	server.Put(bucket, "p/large", content)
	fsys := inProcess(server, awsCompat()).open(t, "p", objectstore.Options{})
	const offset, length = 3<<20 + 5, 1000
	stream, info, err := fsys.Open(t.Context(), "large", &workspace.OpenOptions{Offset: offset, Length: length})
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	got, err := io.ReadAll(stream)
	if err != nil || !bytes.Equal(got, content[offset:offset+length]) || info.Size != int64(len(content)) {
		t.Errorf("window of %d bytes, %v, of a file of %d; want %d of %d", len(got), err, info.Size, length, len(content))
	}
	requests := server.Requests()
	if trace(requests) != "GetObject" || requests[0].BytesSent != length {
		t.Errorf("requests = %q, %d bytes sent, want GetObject with %d", trace(requests), requests[0].BytesSent, length)
	}
}

// TestFirstOnlyTraffic searches a large file for its first match, after which the
// rest need not be sent. It is not kept as the whole file either.
func TestFirstOnlyTraffic(t *testing.T) {
	t.Parallel()
	server := s3test.New(t, nil)
	server.Put(bucket, "p/large", []byte("hay\nneedle\n"+strings.Repeat("more hay\n", 16<<20/9)+"needle\n"))
	received := &receivedBytes{}
	count := func(o *s3.Options) { received.HTTPClient, o.HTTPClient = o.HTTPClient, received }
	fsys := inProcess(server, awsCompat(), count).open(t, "p", objectstore.Options{})
	first, err := fsys.Grep(t.Context(), "needle", &workspace.GrepOptions{FirstOnly: true})
	if err != nil || len(first.Matches) != 1 || first.Matches[0].LineNumber != 2 {
		t.Fatalf("Grep(needle, FirstOnly) = %+v, %v, want a match in line 2", first, err)
	}
	if n := received.bytes.Load(); trace(server.Requests()) != "ListObjectsV2 GetObject" || n > 1<<20 {
		t.Errorf("requests = %q, %d bytes received, want one GetObject with at most 1 MiB", trace(server.Requests()), n)
	}
	all, err := fsys.Grep(t.Context(), "needle", nil)
	if err != nil || len(all.Matches) != 2 {
		t.Errorf("Grep(needle) after that = %+v, %v, want 2 matches", all, err)
	}
}

// receivedBytes counts the bytes of the bodies that a client reads.
type receivedBytes struct {
	s3.HTTPClient
	bytes atomic.Int64
}

func (r *receivedBytes) Do(request *http.Request) (*http.Response, error) {
	response, err := r.HTTPClient.Do(request)
	if err == nil {
		response.Body = countedBody{response.Body, &r.bytes}
	}
	return response, err
}

type countedBody struct {
	io.ReadCloser
	bytes *atomic.Int64
}

func (c countedBody) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.bytes.Add(int64(n))
	return n, err
}

// TestFolderTTL tests that every write looks for its directory if nothing is
// remembered.
func TestFolderTTL(t *testing.T) {
	server := s3test.New(t, nil)
	fsys := inProcess(server, awsCompat()).open(t, "p", objectstore.Options{FolderTTL: -1})
	for range 2 {
		if _, err := fsys.WriteFile(t.Context(), "f", nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	const want = "ListObjectsV2 PutObject ListObjectsV2 PutObject"
	if got := trace(server.Requests()); got != want {
		t.Errorf("requests of two writes = %q, want %q", got, want)
	}
}

// TestWatchRequests looks at what a watch of 1,500 keys costs at each
// interval.
func TestWatchRequests(t *testing.T) {
	server := s3test.New(t, nil)
	seed(server, numbered("d/f%04d", 1500)...)
	fsys := inProcess(server, awsCompat()).open(t, "p", objectstore.Options{})
	if _, err := fsys.Watch(t.Context(), "d", &workspace.WatchOptions{Interval: time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	pollUntil(t, "three listings", func() bool { return len(server.Requests()) >= 6 })
	begun := 0
	for _, request := range server.Requests()[:6] {
		if request.Op != "ListObjectsV2" || request.Query.Get("prefix") != "p/d/" {
			t.Errorf("request = %s %v, want a listing of p/d/", request.Op, request.Query)
		}
		if !request.Query.Has("start-after") && !request.Query.Has("continuation-token") {
			begun++
		}
	}
	if begun < 3 {
		t.Errorf("6 requests are %d listings, want one for two requests", begun)
	}
}

// TestRmBatches looks at what a recursive Rm deletes last: the marker, so that
// the directory is there until it is empty.
func TestRmBatches(t *testing.T) {
	server := s3test.New(t, nil)
	seed(server, append([]string{"d/"}, numbered("d/f%04d", 1500)...)...)
	fsys := inProcess(server, awsCompat()).open(t, "p", objectstore.Options{})
	var left []bool
	server.Inject(func(r s3test.Request) s3test.Fault {
		if strings.HasPrefix(r.Op, "Delete") {
			_, marked := server.Get(bucket, "p/d/")
			left = append(left, marked)
		}
		return s3test.Fault{}
	})
	if err := fsys.Rm(t.Context(), "d", &workspace.RmOptions{Recursive: true}); err != nil {
		t.Fatal(err)
	}
	if len(left) != 2 || !left[0] || !left[1] {
		t.Errorf("the marker was there before the deletes: %v, want twice", left)
	}
	if keys := server.Objects(bucket); len(keys) > 0 {
		t.Errorf("keys left = %d, want none", len(keys))
	}
}
