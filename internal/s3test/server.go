package s3test

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"net/http/httptest"
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
	// IgnoreConditions makes a server that overlooks If-Match and
	// If-None-Match when it writes, copies, completes and deletes.
	IgnoreConditions bool
	// IgnoreCopyConditions overlooks them for the destination of a copy only.
	IgnoreCopyConditions bool
	// IgnoreDeleteConditions overlooks them in DeleteObject only.
	IgnoreDeleteConditions bool
	// RefuseConditions answers them with NotImplemented.
	RefuseConditions bool
	// IgnoreEncodingType makes a server that overlooks encoding-type in
	// listings.
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
	requests  []Request
	inject    func(Request) Fault
	denied    []string
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
// zero Options.
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

// Close stops the server. Answers that a fault holds up are cut.
func (s *Server) Close() {
	close(s.closed)
	s.http.Close()
}

// Certificate returns the certificate of a server with TLS.
func (s *Server) Certificate() *x509.Certificate { return s.http.Certificate() }

// Client returns an HTTP client that trusts the certificate of the server.
func (s *Server) Client() *http.Client { return s.http.Client() }

// now returns the time to a second, as S3 stores it.
func (s *Server) now() time.Time { return s.opts.Now().UTC().Truncate(time.Second) }
