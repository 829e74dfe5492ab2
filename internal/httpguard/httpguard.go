// Package httpguard is what the HTTP servers of this module have in common, the one of
// package adapters/mcp and the one of adapters/webdav: who is let in, and how long a
// client may take.
//
// A server that only this computer reaches may let everybody in; any other needs a token
// ([CheckTokens], [Tokens]). A page that a browser shows is refused, unless it comes from
// the server itself ([Guard]). Every wait for a client is bounded ([NewServer]).
package httpguard

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
	"unicode/utf8"
)

const (
	// MinToken is the length of the shortest token, in characters.
	MinToken = 16
	// WriteTimeout is how long a client has to take each part of an answer.
	WriteTimeout = 30 * time.Second

	maxHeader   = 64 << 10        // bytes
	idleTimeout = 2 * time.Minute // between the requests of a connection
	slowest     = 64 << 10        // bytes of a body in a second
)

// CheckTokens returns an error for tokens that leave addr open to others.
func CheckTokens(addr net.Addr, tokens []string) error {
	for _, token := range tokens {
		if utf8.RuneCountInString(token) < MinToken {
			return fmt.Errorf("a token has fewer than %d characters: use a longer one", MinToken)
		}
	}
	if len(tokens) == 0 && !IsLoopback(addr) {
		return fmt.Errorf("%s can be reached from other computers: a token is required", addr)
	}
	return nil
}

// IsLoopback reports whether only this computer reaches addr.
func IsLoopback(addr net.Addr) bool {
	tcp, ok := addr.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}

// Tokens are the hashes of tokens.
type Tokens [][sha256.Size]byte

// NewTokens returns the hashes of tokens.
func NewTokens(tokens []string) Tokens {
	hashes := make(Tokens, len(tokens))
	for i, token := range tokens {
		hashes[i] = sha256.Sum256([]byte(token))
	}
	return hashes
}

// User returns the name by which whoever has the token is known, and whether it is one
// of t. How long this takes says nothing about the tokens.
func (t Tokens) User(token string) (user string, ok bool) {
	hash := sha256.Sum256([]byte(token))
	for _, known := range t {
		if subtle.ConstantTimeCompare(known[:], hash[:]) == 1 {
			return hex.EncodeToString(hash[:]), true
		}
	}
	return "", false
}

// Guard refuses what a page in a browser sends to a server that is not its own, and
// every request once ctx has ended. hosts are further names for the server in the Host
// header of requests. The IP address that a request has reached is allowed anyway, and
// "localhost" on a loopback address.
func Guard(ctx context.Context, hosts []string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case ctx.Err() != nil:
			http.Error(w, "the server is shutting down", http.StatusServiceUnavailable)
		case !isHost(hosts, r):
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
func isHost(hosts []string, r *http.Request) bool {
	host := (&url.URL{Host: r.Host}).Hostname()
	if slices.ContainsFunc(hosts, func(known string) bool { return strings.EqualFold(known, host) }) {
		return true
	}
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if IsLoopback(local) && strings.EqualFold(host, "localhost") {
		return true
	}
	tcp, ok := local.(*net.TCPAddr)
	return ok && tcp.IP.Equal(net.ParseIP(host))
}

// isOwnOrigin reports whether r comes from no page, or from one of the host that it
// was sent to. Browsers send Origin with what can change something, and Sec-Fetch-Site
// (https://www.w3.org/TR/fetch-metadata/) also with images and links.
func isOwnOrigin(r *http.Request) bool {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "none" && site != "same-origin" {
		return false
	}
	origins := r.Header.Values("Origin")
	if len(origins) == 0 {
		return true
	}
	origin, err := url.Parse(origins[0])
	return err == nil && len(origins) == 1 && origin.Host != "" && strings.EqualFold(origin.Host, r.Host)
}

// NewServer returns a server of handler that waits for no client longer than read for the
// head of a request, and again for its body, with a second more for every 64 KiB, and
// longer than [WriteTimeout] for each part of an answer. A body whose length is not known
// in advance is regarded as one of longest bytes. Trouble with connections is logged.
func NewServer(handler http.Handler, read time.Duration, longest int64, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           bounded(handler, read, longest),
		ReadHeaderTimeout: read,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
}

// bounded bounds how long a client takes to send a body, and to take each part of an
// answer. A stream as a whole can last.
func bounded(next http.Handler, read time.Duration, longest int64) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		connection := http.NewResponseController(w)
		if r.Body != http.NoBody {
			length := r.ContentLength
			if length < 0 || length > longest {
				length = longest
			}
			// An error means that the connection is closed, as reading shows.
			_ = connection.SetReadDeadline(time.Now().Add(read + time.Duration(length/slowest)*time.Second))
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

func (w boundedWriter) extend() { _ = w.connection.SetWriteDeadline(time.Now().Add(WriteTimeout)) } // as above

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
