package mcp

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/workspacekit/workspacekit/internal/httpguard"
)

const (
	// HTTPPath is the path that [ServeHTTP] answers. There is nothing at others.
	HTTPPath = "/mcp"
	// MinToken is the length of the shortest token that [HTTPOptions] may have.
	MinToken = httpguard.MinToken
	// DefaultReadTimeout is how long a client has to send the head of a request,
	// and again for its body, where the options do not say.
	DefaultReadTimeout = 30 * time.Second
	// DefaultSessionTimeout is how long a session to which nothing is posted is kept
	// where the options do not say.
	DefaultSessionTimeout = time.Hour
	// DefaultMaxSessions is how many sessions there can be where the options do not say.
	DefaultMaxSessions = 1000
)

// HTTPOptions tune a [ServeHTTP], which refuses negative numbers.
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
	// again for its body, with a second more for every 64 KiB. Zero means
	// [DefaultReadTimeout].
	ReadTimeout time.Duration
	// SessionTimeout is how long a session to which nothing is posted is kept, also one
	// that listens. Zero means [DefaultSessionTimeout].
	SessionTimeout time.Duration
	// MaxSessions is how many sessions there can be: a request that would begin one more is
	// refused. Zero means [DefaultMaxSessions].
	MaxSessions int
	// Grace is how long calls that run when ctx ends may continue before they are
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
// A client that ends its session cancels the calls that run in it. When ctx ends, calls that
// run are still answered, and ServeHTTP returns nil. It closes the listener.
//
// # Errors
//
// Options that are refused, with [io/fs.ErrInvalid] those below zero, or the error of the
// listener.
func ServeHTTP(ctx context.Context, server *sdk.Server, listener net.Listener, opts *HTTPOptions) error {
	o := opts.withDefaults()
	if err := o.check(listener.Addr()); err != nil {
		listener.Close()
		return err
	}
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	calls := &httpCalls{server: running, open: map[*httpCall]bool{}, ending: map[owner]int{}}
	base := context.WithValue(context.WithValue(running, hangUpKey{}, ctx.Done()), callsKey{}, calls)
	sessions := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, &sdk.StreamableHTTPOptions{
		SessionTimeout:             o.SessionTimeout,
		MaxRequestBodyBytes:        int64(o.MaxMessage),
		DisableLocalhostProtection: true, // httpguard allows for o.Hosts
		Logger:                     o.Logger,
	})
	mux := http.NewServeMux()
	var posts sync.RWMutex
	mux.Handle(HTTPPath, httpguard.Guard(ctx, o.Hosts, o.authorize(o.refuseLong(counted(&posts, calls.cancelEnded(o.limitSessions(server, sessions)))))))
	srv := httpguard.NewServer(mux, o.ReadTimeout, int64(o.MaxMessage), o.Logger)
	srv.BaseContext = func(net.Listener) context.Context { return base }
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(listener) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
		shutDown(srv, server, &posts, o.Grace, cancel)
		return nil
	}
}

// check returns the error of an option that is refused for a server at addr.
func (o *HTTPOptions) check(addr net.Addr) error {
	if err := httpguard.CheckTokens(addr, o.Tokens); err != nil {
		return fmt.Errorf("mcp: %w", err)
	}
	return notNegative(limit{"MaxMessage", int64(o.MaxMessage)}, limit{"ReadTimeout", int64(o.ReadTimeout)},
		limit{"SessionTimeout", int64(o.SessionTimeout)}, limit{"MaxSessions", int64(o.MaxSessions)}, limit{"Grace", int64(o.Grace)})
}

// limitSessions refuses a message that would begin a session too many.
func (o *HTTPOptions) limitSessions(server *sdk.Server, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && r.Header.Get(sessionHeader) == "" && len(slices.Collect(server.Sessions())) >= o.MaxSessions {
			http.Error(w, fmt.Sprintf("there are %d sessions, which is the limit: try again when one has ended", o.MaxSessions), http.StatusServiceUnavailable)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// sessionHeader has the id of a session in all requests but the one that begins it.
const sessionHeader = "Mcp-Session-Id"

// counted holds posts for reading while a client's message is answered, and refuses
// messages once posts is locked.
func counted(posts *sync.RWMutex, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			if !posts.TryRLock() {
				http.Error(w, "the server shuts down", http.StatusServiceUnavailable)
				return
			}
			defer posts.RUnlock()
		}
		next.ServeHTTP(w, r)
	})
}

// cancelEnded cancels the calls of a session that its client ends, which next does.
func (c *httpCalls) cancelEnded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodDelete {
			defer c.cancel(ownerOf(r.Header.Get(sessionHeader), auth.TokenInfoFromContext(r.Context())))()
		}
		next.ServeHTTP(w, r)
	})
}

// shutDown ends srv and the sessions of server, and after the time of grace the calls
// that still run.
func shutDown(srv *http.Server, server *sdk.Server, posts *sync.RWMutex, grace time.Duration, cancel func()) {
	defer time.AfterFunc(grace, cancel).Stop()
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		posts.Lock() // A session that is closed may drop an answer that is not sent yet.
		for session := range server.Sessions() {
			session.Close()
		}
	}()
	limited, stop := context.WithTimeout(context.Background(), grace+httpguard.WriteTimeout)
	defer stop()
	if srv.Shutdown(limited) != nil {
		srv.Close()
	}
	select {
	case <-closed:
	case <-limited.Done():
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
	if o.MaxSessions == 0 {
		o.MaxSessions = DefaultMaxSessions
	}
	if o.Grace == 0 {
		o.Grace = DefaultGrace
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// refuseLong refuses a message by its declared length, and does not wait for it. The SDK
// refuses one whose length shows only as it comes.
func (o *HTTPOptions) refuseLong(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength > int64(o.MaxMessage) {
			w.Header().Set("Connection", "close")
			http.Error(w, fmt.Sprintf("the message has more than %d bytes", o.MaxMessage), http.StatusRequestEntityTooLarge)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// authorize lets in requests with a token, if there are tokens. The SDK refuses one
// whose token differs from the token that its session began with.
func (o *HTTPOptions) authorize(next http.Handler) http.Handler {
	if len(o.Tokens) == 0 {
		return next
	}
	tokens := httpguard.NewTokens(o.Tokens)
	verify := func(_ context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
		user, ok := tokens.User(token)
		if !ok {
			return nil, auth.ErrInvalidToken
		}
		return &auth.TokenInfo{UserID: user}, nil
	}
	next = auth.RequireBearerToken(verify, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(challenging{w}, r)
	})
}

// challenging adds to a refusal what a client has to send, which the SDK does only for
// OAuth.
type challenging struct{ http.ResponseWriter }

// WriteHeader implements [http.ResponseWriter]. HTTP wants to know how to authenticate
// with every 401 (RFC 9110, section 15.5.2).
func (c challenging) WriteHeader(status int) {
	if status == http.StatusUnauthorized {
		c.Header().Set("WWW-Authenticate", "Bearer")
	}
	c.ResponseWriter.WriteHeader(status)
}

func (c challenging) Unwrap() http.ResponseWriter { return c.ResponseWriter }
