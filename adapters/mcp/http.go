package mcp

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// HTTPPath is the path that [ServeHTTP] answers. There is nothing at others.
	HTTPPath = "/mcp"
	// MinToken is the length of the shortest token that [HTTPOptions] may have.
	MinToken = 16
	// DefaultReadTimeout is how long a client has to send the head of a request,
	// and again for its body, where the options do not say.
	DefaultReadTimeout = 30 * time.Second
	// DefaultSessionTimeout is how long a session without a request is kept where
	// the options do not say.
	DefaultSessionTimeout = time.Hour

	maxHeader    = 64 << 10         // bytes
	writeTimeout = 30 * time.Second // for each part of an answer
	idleTimeout  = 2 * time.Minute  // between the requests of a connection
)

// HTTPOptions tune a [ServeHTTP].
type HTTPOptions struct {
	// Tokens are the bearer tokens that let a client in, each of at least
	// [MinToken] characters. A session is only for requests with the token that it
	// began with. None means that everybody who reaches the address is let in,
	// which is possible for a loopback address only.
	Tokens []string
	// Hosts are further names for the server in the Host header of requests, such
	// as the one of a proxy. The IP address that a request has reached is allowed
	// anyway, and "localhost" on a loopback address.
	Hosts []string
	// MaxMessage is the longest body of a request, in bytes. Zero means
	// [DefaultMaxMessage].
	MaxMessage int
	// ReadTimeout is how long a client has to send the head of a request, and
	// again for its body. Zero means [DefaultReadTimeout].
	ReadTimeout time.Duration
	// SessionTimeout is how long a session without a request is kept. Zero means
	// [DefaultSessionTimeout].
	SessionTimeout time.Duration
	// Grace is how long calls that run when ctx ends may go on before they are
	// cancelled. Zero means [DefaultGrace].
	Grace time.Duration
	// Logger receives what goes wrong with connections. Nil means nobody does.
	Logger *slog.Logger
}

// ServeHTTP answers clients over the streamable HTTP transport of the protocol, at
// [HTTPPath], until ctx ends. Each client has a session of its own. Requests of
// pages in browsers are refused: those with a foreign Origin, and those with a Host
// that is not the server's. Nil opts mean the zero HTTPOptions.
//
// When ctx ends, calls that run are still answered, and ServeHTTP returns nil. It
// closes the listener.
//
// # Errors
//
// Options that are refused, or the error of the listener.
func ServeHTTP(ctx context.Context, server *sdk.Server, listener net.Listener, opts *HTTPOptions) error {
	o := opts.withDefaults()
	if err := o.check(listener.Addr()); err != nil {
		listener.Close()
		return err
	}
	calls, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	base := context.WithValue(context.WithValue(calls, hangUpKey{}, ctx.Done()), callsKey{}, calls)
	sessions := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, &sdk.StreamableHTTPOptions{
		SessionTimeout:             o.SessionTimeout,
		MaxRequestBodyBytes:        int64(o.MaxMessage),
		DisableLocalhostProtection: true, // guard allows for o.Hosts
		Logger:                     o.Logger,
	})
	mux := http.NewServeMux()
	mux.Handle(HTTPPath, o.guard(ctx, o.authorize(sessions)))
	srv := &http.Server{
		Handler:           bounded(mux, o.ReadTimeout),
		BaseContext:       func(net.Listener) context.Context { return base },
		ReadHeaderTimeout: o.ReadTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(o.Logger.Handler(), slog.LevelWarn),
	}
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(listener) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
		shutDown(srv, server, o.Grace, cancel)
		return nil
	}
}

// callsKey is the key of a context in that of a session. When it ends, the calls of
// the session are cancelled.
type callsKey struct{}

// shutDown ends srv and the sessions of server, and after the time of grace the calls
// that still run.
func shutDown(srv *http.Server, server *sdk.Server, grace time.Duration, cancel func()) {
	defer time.AfterFunc(grace, cancel).Stop()
	for session := range server.Sessions() {
		go session.Close() // which waits for the calls of the session
	}
	limited, stop := context.WithTimeout(context.Background(), grace+writeTimeout)
	defer stop()
	if srv.Shutdown(limited) != nil {
		srv.Close()
	}
}

// withDefaults fills in what opts leave open.
func (opts *HTTPOptions) withDefaults() HTTPOptions {
	var o HTTPOptions
	if opts != nil {
		o = *opts
	}
	if o.MaxMessage == 0 {
		o.MaxMessage = DefaultMaxMessage
	}
	if o.ReadTimeout == 0 {
		o.ReadTimeout = DefaultReadTimeout
	}
	if o.SessionTimeout == 0 {
		o.SessionTimeout = DefaultSessionTimeout
	}
	if o.Grace == 0 {
		o.Grace = DefaultGrace
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// check returns an error for options that leave addr open to others.
func (o *HTTPOptions) check(addr net.Addr) error {
	for _, token := range o.Tokens {
		if len(token) < MinToken {
			return fmt.Errorf("mcp: a token has %d characters; use at least %d", len(token), MinToken)
		}
	}
	if len(o.Tokens) == 0 && !isLoopback(addr) {
		return fmt.Errorf("mcp: %s can be reached from other computers: a token is required", addr)
	}
	return nil
}

func isLoopback(addr net.Addr) bool {
	tcp, ok := addr.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}

// guard refuses what a page in a browser sends to a server that is not its own, and
// every request once ctx has ended.
func (o *HTTPOptions) guard(ctx context.Context, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case ctx.Err() != nil:
			http.Error(w, "the server is shutting down", http.StatusServiceUnavailable)
		case !o.isHost(r):
			http.Error(w, "the Host header does not name this server", http.StatusForbidden)
		case !isOwnOrigin(r):
			http.Error(w, "requests of other sites are refused", http.StatusForbidden)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// isHost reports whether the Host header of r names this server. A page of another
// site whose name leads here (DNS rebinding) sends that name.
func (o *HTTPOptions) isHost(r *http.Request) bool {
	host := (&url.URL{Host: r.Host}).Hostname()
	if slices.ContainsFunc(o.Hosts, func(known string) bool { return strings.EqualFold(known, host) }) {
		return true
	}
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if isLoopback(local) && strings.EqualFold(host, "localhost") {
		return true
	}
	tcp, ok := local.(*net.TCPAddr)
	return ok && tcp.IP.Equal(net.ParseIP(host))
}

// isOwnOrigin reports whether r comes from no page, or from one of the host that it
// was sent to.
func isOwnOrigin(r *http.Request) bool {
	origins := r.Header.Values("Origin")
	if len(origins) == 0 {
		return true
	}
	origin, err := url.Parse(origins[0])
	return err == nil && len(origins) == 1 && origin.Host != "" && strings.EqualFold(origin.Host, r.Host)
}

// authorize lets in requests with a token, if there are tokens. The SDK refuses one
// whose token differs from the token that its session began with.
func (o *HTTPOptions) authorize(next http.Handler) http.Handler {
	if len(o.Tokens) == 0 {
		return next
	}
	users := make([][sha256.Size]byte, len(o.Tokens))
	for i, token := range o.Tokens {
		users[i] = sha256.Sum256([]byte(token))
	}
	verify := func(_ context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
		user := sha256.Sum256([]byte(token))
		for _, known := range users {
			if subtle.ConstantTimeCompare(known[:], user[:]) == 1 {
				return &auth.TokenInfo{UserID: hex.EncodeToString(user[:])}, nil
			}
		}
		return nil, auth.ErrInvalidToken
	}
	next = auth.RequireBearerToken(verify, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(challenging{w}, r)
	})
}

// challenging adds to a refusal what a client has to send, which the SDK does only for
// OAuth.
type challenging struct{ http.ResponseWriter }

func (c challenging) WriteHeader(status int) {
	if status == http.StatusUnauthorized {
		c.Header().Set("WWW-Authenticate", "Bearer")
	}
	c.ResponseWriter.WriteHeader(status)
}

func (c challenging) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// bounded bounds how long a client takes to send a body, and to take each part of an
// answer. A stream as a whole can last.
func bounded(next http.Handler, read time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		connection := http.NewResponseController(w)
		if r.Body != http.NoBody {
			// An error means that the connection is closed, as reading shows.
			_ = connection.SetReadDeadline(time.Now().Add(read))
			r.Body = boundedBody{r.Body, connection}
		}
		writer := boundedWriter{w, connection}
		defer writer.extend() // for what is flushed when the request ends
		next.ServeHTTP(writer, r)
	})
}

// boundedBody ends the deadline with the body: the server reads on to see whether the
// client hangs up.
type boundedBody struct {
	io.ReadCloser
	connection *http.ResponseController
}

func (b boundedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		_ = b.connection.SetReadDeadline(time.Time{}) // as above
	}
	return n, err
}

type boundedWriter struct {
	http.ResponseWriter
	connection *http.ResponseController
}

func (w boundedWriter) extend() { _ = w.connection.SetWriteDeadline(time.Now().Add(writeTimeout)) } // as above

func (w boundedWriter) Write(p []byte) (int, error) {
	w.extend()
	return w.ResponseWriter.Write(p)
}

// FlushError is what [http.ResponseController] flushes by.
func (w boundedWriter) FlushError() error {
	w.extend()
	return w.connection.Flush()
}

func (w boundedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
