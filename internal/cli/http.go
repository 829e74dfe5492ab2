package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"syscall"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/workspacekit/workspacekit/internal/cli/target"
	"github.com/workspacekit/workspacekit/internal/cli/term"
	"github.com/workspacekit/workspacekit/internal/httpguard"
	"github.com/workspacekit/workspacekit/internal/lazyregexp"
)

// httpFlags say where and to whom a command serves over HTTP.
type httpFlags struct {
	variable           string // of the environment, with a token
	address, tokenFile string
	hosts              []string
	tokens             []string // set by listen
	authority          string   // of the URLs of the server; set by listen
}

// add adds the flags to cmd. Without an address, the command serves over HTTP only if
// the flag is given.
func (h *httpFlags) add(cmd *cobra.Command, address string) {
	needs := ""
	if address == "" {
		needs = "; needs --http"
	}
	cmd.Flags().StringVar(&h.address, "http", address, "serve over HTTP at this `address` or port, such as 127.0.0.1:8080; the port 0 is any free one")
	cmd.Flags().StringVar(&h.tokenFile, "token-file", "", "accept the tokens in this `file`, one on each line"+needs)
	cmd.Flags().StringArrayVar(&h.hosts, "allow-host", nil, "accept requests for this host `name`, too, such as the name of a proxy"+needs)
}

// listen reads the tokens, and listens at the address. The caller closes the listener.
//
//	8080            127.0.0.1:8080, as does :8080
//	127.0.0.1:0     a free port
//	0.0.0.0:8080    all addresses, which needs a token
//
// Whether others can reach it is asked of the listener and not of the flag, as a name can
// stand for any address.
func (h *httpFlags) listen(ctx context.Context) (net.Listener, error) {
	for _, name := range h.hosts {
		if name == "" {
			return nil, errors.New("--allow-host is empty: name a host")
		}
		if _, err := netip.ParseAddr(name); err != nil && !hostName().MatchString(name) {
			return nil, fmt.Errorf("--allow-host %q: name a host alone, without a port, such as files.example.com", name)
		}
	}
	if err := h.readTokens(ctx); err != nil {
		return nil, err
	}
	host, port, err := net.SplitHostPort(h.address)
	if err != nil {
		host, port = "", h.address
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return nil, fmt.Errorf("--http %q: give an address with a port, such as 127.0.0.1:8080", h.address)
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort(cmp.Or(host, "127.0.0.1"), port))
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, term.Failf("--http %q: %w", h.address, listenCause(err))
	}
	if len(h.tokens) == 0 && !httpguard.IsLoopback(listener.Addr()) {
		listener.Close()
		return nil, fmt.Errorf("--http %s can be reached from other computers: give a token in %s or --token-file", h.address, h.variable)
	}
	if err := httpguard.CheckTokens(listener.Addr(), h.tokens); err != nil {
		listener.Close()
		return nil, fmt.Errorf("%s or --token-file: %w", h.variable, err)
	}
	h.authority = listener.Addr().String()
	if at, ok := listener.Addr().(*net.TCPAddr); ok && at.IP.IsUnspecified() { // 0.0.0.0 is [::] there
		h.authority = net.JoinHostPort(host, strconv.Itoa(at.Port))
	}
	return listener, nil
}

// hostName matches what a Host header can have, but for addresses with colons.
var hostName = lazyregexp.New(`^[A-Za-z0-9._-]+$`)

// listenCause returns why nobody can listen, without the addresses of name servers. Windows has
// another error for a port that is taken, which stays as it is.
func listenCause(err error) error {
	var lookup *net.DNSError
	var failed *net.OpError
	switch {
	case errors.As(err, &lookup):
		return errors.New(lookup.Err)
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("%w: choose another port, or 0 for any free one", syscall.EADDRINUSE)
	case errors.As(err, &failed):
		return failed.Err
	}
	return err
}

// readTokens reads the tokens of the environment and of the file, one on each line. White space
// around a line does not matter. A file without any is an error, as its owner believes that there
// is one.
func (h *httpFlags) readTokens(ctx context.Context) error {
	var err error
	if h.tokens, err = tokensIn(os.Getenv(h.variable)); err != nil {
		return fmt.Errorf("%s: %w", h.variable, err)
	}
	if h.tokenFile == "" {
		return nil
	}
	text, err := target.ReadFile(ctx, h.tokenFile, target.MaxInput)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return fmt.Errorf("--token-file %q: %s", h.tokenFile, term.Plain(err))
	}
	inFile, err := tokensIn(strings.TrimPrefix(string(text), "\ufeff")) // which some editors write
	if err != nil {
		return fmt.Errorf("--token-file %q: %w", h.tokenFile, err)
	}
	if len(inFile) == 0 {
		return fmt.Errorf("--token-file %q has no token: write one of at least %d characters on a line", h.tokenFile, httpguard.MinToken)
	}
	h.tokens = append(h.tokens, inFile...)
	return nil
}

// tokensIn returns the tokens in text, one on each line that is not blank. One with white space in
// it is refused: an HTTP header has none, and its parts would be shorter tokens.
func tokensIn(text string) (tokens []string, err error) {
	number := 0
	for line := range strings.Lines(text) {
		number++
		token := strings.TrimSpace(line)
		if strings.ContainsFunc(token, unicode.IsSpace) {
			return nil, fmt.Errorf("line %d has white space within the token: write one token on each line", number)
		}
		if token != "" {
			tokens = append(tokens, token)
		}
	}
	return tokens, nil
}
