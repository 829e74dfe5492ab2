package s3test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

const (
	defaultBucket      = "workspace"
	defaultRegion      = "us-east-1"
	defaultMinPartSize = 5 << 20
	defaultMaxCopySize = 5 << 30
)

// Options are the settings of a [Server].
type Options struct {
	// TLS makes the server speak HTTPS. Amazon's SDK sends checksums as
	// trailers only then.
	TLS bool
	// Buckets are the buckets that exist from the start. Nil means one, named
	// "workspace".
	Buckets []string
	// Region is where the server says it is. Empty means "us-east-1".
	Region string
	// Synthetic is a bucket that only pretends to hold its keys. Nil means
	// that there is none.
	Synthetic *Synthetic
	// MinPartSize is the least size of a part that is not the last. Zero means
	// 5 MiB, as Amazon has it.
	MinPartSize int64
	// MaxCopySize is the largest object that CopyObject takes. Zero means
	// 5 GiB, as Amazon has it.
	MaxCopySize int64
	// IgnoreConditions makes a server that overlooks If-Match and If-None-Match
	// when it writes, copies, completes and deletes. A provider that believes
	// such a server loses edits: its probe must find it out.
	IgnoreConditions bool
	// IgnoreCopyConditions overlooks them for the destination of a copy only.
	IgnoreCopyConditions bool
	// IgnoreDeleteConditions overlooks them in DeleteObject only.
	IgnoreDeleteConditions bool
	// RefuseConditions answers them with NotImplemented. A provider must see
	// that as a missing capability, and not as a store that has failed.
	RefuseConditions bool
	// IgnoreEncodingType makes a server that overlooks encoding-type in
	// listings. The keys of their XML are then not encoded.
	IgnoreEncodingType bool
	// Public makes a server that serves requests without a signature, too.
	Public bool
	// Owner is the account that owns the buckets. Empty means whichever a
	// request expects.
	Owner string
	// RequesterPays makes a server that refuses requests which do not agree to
	// pay.
	RequesterPays bool
	// Now tells the time, of modifications and for signatures. Nil means
	// [time.Now].
	//
	// Many requests call it at a time.
	Now func() time.Time
}

// Server is an S3 server in memory. Its fields are for reading only. It is
// safe for concurrent use.
type Server struct {
	// URL is the endpoint, for path-style addresses. The same port also
	// answers for a bucket as the first label of "localhost" and of
	// "example.com", which is what the certificate is for.
	URL string
	// Region, AccessKeyID and SecretAccessKey are what requests are signed
	// with.
	Region, AccessKeyID, SecretAccessKey string

	opts   Options
	http   *httptest.Server
	closed chan struct{} // ends the answers that a fault holds up
	serial atomic.Uint64 // of requests and uploads

	mu        sync.Mutex // guards what follows, and what it leads to
	buckets   map[string]*bucket
	completed map[string]completion // by upload id
	requests  []Request             // those so far, for the tests
	inject    func(Request) Fault   // the fault of a request; nil for none
	denied    []string              // prefixes of keys that may not be used
}

// New starts a server that is closed when the test ends. Nil opts mean the
// zero Options.
func New(tb testing.TB, opts *Options) *Server {
	tb.Helper()
	s := Start(opts)
	tb.Cleanup(s.Close)
	return s
}

// Start starts a server, for programs; the caller closes it. Nil opts mean the
// zero Options. It accepts requests when Start returns, on the loopback
// interface, and Start panics if there is no free port.
func Start(opts *Options) *Server {
	s := &Server{
		AccessKeyID: "AKIAS3TEST0000000000", SecretAccessKey: "s3test/secret+key/only+for+tests",
		closed:    make(chan struct{}),
		buckets:   map[string]*bucket{},
		completed: map[string]completion{},
	}
	if opts != nil {
		s.opts = *opts
	}
	s.opts.setDefaults()
	s.Region = s.opts.Region
	for _, name := range s.opts.Buckets {
		s.buckets[name] = newBucket(name, s.now())
	}
	s.listen()
	return s
}

// setDefaults fills in what the test left out.
func (o *Options) setDefaults() {
	if o.Buckets == nil {
		o.Buckets = []string{defaultBucket}
	}
	if o.Region == "" {
		o.Region = defaultRegion
	}
	if o.MinPartSize == 0 {
		o.MinPartSize = defaultMinPartSize
	}
	if o.MaxCopySize == 0 {
		o.MaxCopySize = defaultMaxCopySize
	}
	if o.Now == nil {
		o.Now = time.Now
	}
}

// listen starts the server on a free port, with TLS if the test wants it.
func (s *Server) listen() {
	s.http = httptest.NewUnstartedServer(http.HandlerFunc(s.serve))
	if s.opts.TLS {
		// Half of the faults cut a connection, which HTTP/2 shares.
		s.http.TLS = &tls.Config{NextProtos: []string{"http/1.1"}}
		s.http.StartTLS()
	} else {
		s.http.Start()
	}
	s.URL = s.http.URL
}

// Close stops the server. Answers that a fault holds up are cut. Close waits
// until every request has ended, which a fault may prevent: those are cut
// first. It must be called once only.
func (s *Server) Close() {
	close(s.closed)
	s.http.Close()
}

// Certificate returns the certificate of a server with TLS.
func (s *Server) Certificate() *x509.Certificate { return s.http.Certificate() }

// Client returns an HTTP client that trusts the certificate of the server.
func (s *Server) Client() *http.Client { return s.http.Client() }

// now returns the time to a second, as S3 stores it. A header such as
// Last-Modified has no fraction either, so a client that sends the time back in
// a condition names the same moment.
func (s *Server) now() time.Time { return s.opts.Now().UTC().Truncate(time.Second) }

// Upload is a multipart upload that is under way.
type Upload struct {
	Bucket, Key, ID string
	Initiated       time.Time
	// Parts is how many parts have been uploaded.
	Parts int
}

// Uploads returns the multipart uploads that are neither completed nor aborted,
// in every bucket, sorted by bucket and key. The uploads of one key are in the
// order in which they were begun.
func (s *Server) Uploads() []Upload {
	s.mu.Lock()
	defer s.mu.Unlock()
	var open []Upload
	for _, b := range s.buckets {
		for _, u := range b.uploads {
			open = append(open, Upload{Bucket: b.name, Key: u.key, ID: u.id, Initiated: u.initiated, Parts: len(u.parts)})
		}
	}
	slices.SortStableFunc(open, func(a, b Upload) int {
		return slices.Compare([]string{a.Bucket, a.Key}, []string{b.Bucket, b.Key})
	})
	return open
}

// Objects returns the keys of a bucket, sorted bytewise. The slice is the
// caller's, and not nil. It panics if there is no such bucket, as Put, Get and
// Delete do; a [Synthetic] bucket is none to them.
func (s *Server) Objects(bucket string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	keys := []string{}
	for _, o := range s.mustBucket(bucket).objects {
		keys = append(keys, o.key)
	}
	return keys
}

// Put stores data under a key, without a request. The data is copied.
// Conditions, faults and denied prefixes are for requests only, and the log of
// requests does not show the call. A test uses it for what another client does.
func (s *Server) Put(bucket, key string, data []byte) {
	data = bytes.Clone(data)
	header := http.Header{"Content-Type": {defaultMimeType}}
	o := newObject(key, data, s.now(), header, checksumOf(defaultAlgorithm, data))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mustBucket(bucket).put(o)
}

// Get returns what a key holds, without a request. It reports whether the key
// exists. The bytes are a copy.
func (s *Server) Get(bucket, key string) ([]byte, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := lookup(s.mustBucket(bucket).objects, key)
	if o == nil {
		return nil, false
	}
	return bytes.Clone(o.data), true
}

// Delete removes a key, without a request. It reports whether there was
// something to remove.
func (s *Server) Delete(bucket, key string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mustBucket(bucket).remove(key)
}

// mustBucket returns a bucket of the locked server. That a test names one that
// does not exist is its mistake.
func (s *Server) mustBucket(name string) *bucket {
	b, ok := s.buckets[name]
	if !ok {
		panic(fmt.Sprintf("s3test: there is no bucket %q", name))
	}
	return b
}

// Deny makes the server answer AccessDenied to every request about a key that
// begins with prefix, as its object or as the source of a copy. Listings show
// such keys all the same. The prefixes of several calls add up; an empty one
// denies every key. Requests about the bucket itself are served.
func (s *Server) Deny(prefix string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.denied = append(s.denied, prefix)
}

// denies reports whether the test has denied access to the key.
func (s *Server) denies(key string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.deniesLocked(key)
}

// deniesLocked is denies. s.mu is held.
func (s *Server) deniesLocked(key string) bool {
	return slices.ContainsFunc(s.denied, func(prefix string) bool { return strings.HasPrefix(key, prefix) })
}
