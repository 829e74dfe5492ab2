package objectstore_test

import (
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/workspacekit/workspacekit/internal/s3test"
	"github.com/workspacekit/workspacekit/providers/objectstore"
	"github.com/workspacekit/workspacekit/workspace"
)

// tearing is a way to a store that answers reads with ETags of its own, and a
// HEAD with the ETag of the reads before it if it is opaque.
type tearing struct {
	http.RoundTripper
	opaque bool
	reads  atomic.Int64
	etag   func(read int64, etag string) string
}

func (s *tearing) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := s.RoundTripper.RoundTrip(request)
	if err != nil || strings.Contains(request.URL.RawQuery, "list-type") {
		return response, err
	}
	switch etag := response.Header.Get("ETag"); {
	case request.Method == http.MethodGet:
		response.Header.Set("ETag", s.etag(s.reads.Add(1), etag))
	case request.Method == http.MethodHead && s.opaque:
		response.Header.Set("ETag", s.etag(s.reads.Load(), etag))
	}
	return response, nil
}

const otherETag = `"00000000000000000000000000000000"`

// openTorn returns a workspace behind a tearing way, with the file "file".
func openTorn(t *testing.T, compat objectstore.Compat, etag func(read int64, etag string) string) (*objectstore.FS, *tearing, workspace.Version) {
	t.Helper()
	server := s3test.New(t, modest())
	way := &tearing{RoundTripper: server.Client().Transport, etag: etag}
	s := inProcess(server, compat, func(o *s3.Options) { o.HTTPClient = &http.Client{Transport: way} })
	fsys := s.empty(t)
	version, err := fsys.WriteFile(t.Context(), "file", []byte("needle"), nil)
	if err != nil {
		t.Fatal(err)
	}
	return fsys, way, version
}

// TestTornRead reads again what came with the ETag of another version.
func TestTornRead(t *testing.T) {
	fsys, way, version := openTorn(t, otherCompat(), func(read int64, etag string) string {
		if read == 1 {
			return otherETag
		}
		return etag
	})
	data, got, err := fsys.ReadVersioned(t.Context(), "file", 0)
	if err != nil || string(data) != "needle" || got != version {
		t.Errorf("ReadVersioned = %q, %q, %v, want %q, %q, nil", data, got, err, "needle", version)
	}
	if reads := way.reads.Load(); reads != 2 {
		t.Errorf("it was read %d times, want 2", reads)
	}
}

// TestTornGrep keeps nothing under the ETag of another version.
func TestTornGrep(t *testing.T) {
	fsys, way, _ := openTorn(t, otherCompat(), func(read int64, etag string) string {
		if read == 1 {
			return otherETag
		}
		return etag
	})
	for range 2 {
		result, err := fsys.Grep(t.Context(), "needle", nil)
		if err != nil || len(result.Matches) != 1 {
			t.Fatalf("Grep = %+v, %v, want one match", result, err)
		}
	}
	if reads := way.reads.Load(); reads != 2 {
		t.Errorf("it was read %d times by two searches, want 2", reads)
	}
}

// TestOpaqueETags believes a store whose HEADs and reads say the same, and asks
// no more.
func TestOpaqueETags(t *testing.T) {
	fsys, way, _ := openTorn(t, otherCompat(), func(int64, string) string { return otherETag })
	way.opaque = true
	for range 3 {
		data, version, err := fsys.ReadVersioned(t.Context(), "file", 0)
		if err != nil || string(data) != "needle" || `"`+string(version)+`"` != otherETag {
			t.Fatalf("ReadVersioned = %q, %q, %v, want %q, %s, nil", data, version, err, "needle", otherETag)
		}
	}
	if reads := way.reads.Load(); reads != 6 {
		t.Errorf("it was read %d times by three calls, want 6", reads)
	}
}

// TestOpaqueObject reads an object whose ETag is not its MD5 sum from a store
// whose other ETags are, and continues verifying those.
func TestOpaqueObject(t *testing.T) {
	var torn atomic.Bool
	fsys, way, version := openTorn(t, otherCompat(), func(_ int64, etag string) string {
		if torn.Swap(false) {
			return otherETag
		}
		return etag
	})
	read := func() {
		t.Helper()
		if data, got, err := fsys.ReadVersioned(t.Context(), "file", 0); err != nil || string(data) != "needle" || got != version {
			t.Fatalf("ReadVersioned = %q, %q, %v, want %q, %q, nil", data, got, err, "needle", version)
		}
	}
	read()
	honest := way.etag
	way.opaque, way.etag = true, func(int64, string) string { return otherETag }
	if _, got, err := fsys.ReadVersioned(t.Context(), "file", 0); err != nil || `"`+string(got)+`"` != otherETag {
		t.Fatalf("ReadVersioned = %q, %v, want %s, nil", got, err, otherETag)
	}
	way.opaque, way.etag = false, honest
	torn.Store(true)
	read()
}

// TestTornAlike does not believe two reads that are torn in the same way.
func TestTornAlike(t *testing.T) {
	fsys, _, version := openTorn(t, otherCompat(), func(read int64, etag string) string {
		if read <= 5 {
			return otherETag
		}
		return etag
	})
	if data, got, err := fsys.ReadVersioned(t.Context(), "file", 0); err != nil || string(data) != "needle" || got != version {
		t.Errorf("ReadVersioned = %q, %q, %v, want %q, %q, nil", data, got, err, "needle", version)
	}
}

// TestTornForEver gives up at last.
func TestTornForEver(t *testing.T) {
	fsys, _, _ := openTorn(t, otherCompat(), func(read int64, _ string) string {
		return strings.Replace(otherETag, "0", string(rune('0'+read%10)), 1)
	})
	if _, err := fsys.ReadFile(t.Context(), "file"); !errors.Is(err, workspace.ErrUnavailable) {
		t.Errorf("ReadFile = %v, want %v", err, workspace.ErrUnavailable)
	}
}

// TestTrustedETags asks once where the store is known to answer in one step.
func TestTrustedETags(t *testing.T) {
	fsys, way, _ := openTorn(t, awsCompat(), func(int64, string) string { return otherETag })
	if _, err := fsys.ReadFile(t.Context(), "file"); err != nil || way.reads.Load() != 1 {
		t.Errorf("ReadFile = %v after %d reads, want nil after 1", err, way.reads.Load())
	}
}
