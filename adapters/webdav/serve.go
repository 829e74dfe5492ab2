package webdav

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/workspacekit/workspacekit/internal/httpguard"
	"github.com/workspacekit/workspacekit/internal/osfile"
	"github.com/workspacekit/workspacekit/workspace"
)

const (
	// DefaultReadTimeout is how long a client has to send the head of a request, and again
	// for its body, with a second more for every 64 KiB, where the options do not say.
	DefaultReadTimeout = 30 * time.Second
	// DefaultGrace is how long requests may continue after the end, where the options do not
	// say.
	DefaultGrace = 30 * time.Second
)

// ServeOptions tune a [Serve], which refuses negative times.
type ServeOptions struct {
	// Tokens let a client in, as the password of any user (HTTP's basic authentication) or
	// as a bearer token. Each has at least 16 characters. None means that everybody who
	// reaches the address is let in, which is possible for a loopback address only.
	Tokens []string
	// Hosts are further names for the server in the Host header of requests, such as the
	// one of a proxy. The IP address that a request has reached is allowed anyway, and
	// "localhost" on a loopback address.
	Hosts []string
	// ReadTimeout is how long a client has to send the head of a request, and again for
	// its body, with a second more for every 64 KiB. Zero means [DefaultReadTimeout].
	ReadTimeout time.Duration
	// Grace is how long requests that run when ctx ends may continue. Zero means
	// [DefaultGrace].
	Grace time.Duration
	// Logger receives what goes wrong with connections. Nil means nobody does.
	Logger *slog.Logger
}

// Serve serves ws until ctx ends. Requests of pages in browsers are refused: those with a
// foreign Origin, and those with a Host that is not the server's. Nil opts mean the zero
// ServeOptions.
//
// When ctx ends, requests that run are still answered, and Serve returns nil. It closes
// the listener.
//
// # Errors
//
// Options that are refused, with [io/fs.ErrInvalid] those below zero, or the error of the
// listener.
func Serve(ctx context.Context, ws *workspace.Workspace, listener net.Listener, opts *ServeOptions) error {
	var o ServeOptions
	if opts != nil {
		o = *opts
	}
	err := httpguard.CheckTokens(listener.Addr(), o.Tokens)
	if err == nil && (o.ReadTimeout < 0 || o.Grace < 0) {
		err = fmt.Errorf("ReadTimeout or Grace is negative: leave it out for the default: %w", fs.ErrInvalid)
	}
	if err != nil {
		listener.Close()
		return fmt.Errorf("webdav: %w", err)
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	requests, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	longest := osfile.New(ctx, ws, nil).Limit()
	handler := httpguard.Guard(ctx, o.Hosts, authorize(o.Tokens, NewHandler(ws, nil)))
	srv := httpguard.NewServer(handler, cmp.Or(o.ReadTimeout, DefaultReadTimeout), longest, o.Logger)
	srv.BaseContext = func(net.Listener) context.Context { return requests }
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(listener) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	limited, stop := context.WithTimeout(requests, cmp.Or(o.Grace, DefaultGrace))
	defer stop()
	if srv.Shutdown(limited) != nil {
		cancel()
		srv.Close()
	}
	return nil
}

// authorize lets in requests with a token, if there are tokens.
func authorize(list []string, next http.Handler) http.Handler {
	if len(list) == 0 {
		return next
	}
	tokens := httpguard.NewTokens(list)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, token, ok := r.BasicAuth()
		if !ok {
			token = bearer(r.Header.Get("Authorization"))
		}
		if _, ok := tokens.User(token); !ok {
			w.Header().Set("WWW-Authenticate", `Basic realm="workspace", charset="UTF-8"`)
			http.Error(w, "give a token of the server as the password", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// bearer returns the token of an Authorization header with the scheme Bearer, in either case.
func bearer(header string) string {
	scheme, token, _ := strings.Cut(header, " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}
