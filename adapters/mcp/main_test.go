package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/workspacekit/workspacekit/adapters/mcp"
	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/providers/localbash"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
)

// These variables make of the test binary a server.
const (
	serveVariable  = "WORKSPACEKIT_TEST_SERVE"  // "stdio", or "http" and its URL is the first line of standard output
	folderVariable = "WORKSPACEKIT_TEST_FOLDER" // what is served in place of a file in memory
	leftVariable   = "WORKSPACEKIT_TEST_LEFT"   // a file for the times at which long searches ended
)

func TestMain(m *testing.M) {
	if os.Getenv(serveVariable) == "" {
		exhaustive.Quicken()
		os.Exit(m.Run())
	}
	if err := serveProcess(os.Getenv(serveVariable) == "http"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serveProcess(overHTTP bool) error {
	ctx := context.Background()
	fsys, err := openServed(ctx)
	if err != nil {
		return err
	}
	set, err := tools.New(workspace.New("main", fsys, nil), nil)
	if err != nil {
		return err
	}
	const grace = 100 * time.Millisecond // as long searches end with their context only
	server := mcp.NewServer(set, &mcp.Options{ProgressInterval: 5 * time.Millisecond})
	if !overHTTP {
		// To write to a client that has gone is then an error, and not the end.
		signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
		return mcp.Serve(ctx, server, os.Stdin, os.Stdout, &mcp.ServeOptions{Grace: grace})
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Printf("http://%s%s\n", listener.Addr(), mcp.HTTPPath)
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		defer cancel()
		_, _ = io.Copy(io.Discard, os.Stdin) // until the test closes it
	}()
	return mcp.ServeHTTP(ctx, server, listener, &mcp.HTTPOptions{Grace: grace})
}

func openServed(ctx context.Context) (workspace.FileSystem, error) {
	if dir := os.Getenv(folderVariable); dir != "" {
		folder, err := localbash.Open(dir, nil)
		return longGrep{folder}, err
	}
	fsys := memory.New(nil)
	_, err := fsys.WriteFile(ctx, "a.txt", []byte("one\ntwo\n"), nil)
	return fsys, err
}

// longGrep is a folder in which a search for "long" begins again and again until it is
// cancelled. It says when it has ended.
type longGrep struct{ *localbash.FS }

func (l longGrep) Grep(ctx context.Context, pattern string, opts *workspace.GrepOptions) (*workspace.GrepResult, error) {
	result, err := l.FS.Grep(ctx, pattern, opts)
	for pattern == "long" && err == nil {
		result, err = l.FS.Grep(ctx, pattern, opts)
	}
	if pattern == "long" {
		left, openErr := os.OpenFile(os.Getenv(leftVariable), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
		if openErr != nil {
			return nil, openErr
		}
		_, writeErr := left.WriteString(strconv.FormatInt(time.Now().UnixMilli(), 10) + "\n")
		err = errors.Join(err, writeErr, left.Close())
	}
	return result, err
}
