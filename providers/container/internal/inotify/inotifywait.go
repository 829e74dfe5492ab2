package inotify

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"

	"github.com/workspacekit/workspacekit/providers/container/internal/program"
	"github.com/workspacekit/workspacekit/providers/container/internal/shell"
)

// inotifywait observes a tree by the program with that name, which observes new
// directories by itself.
type inotifywait struct {
	client *program.Client
	dir    string
}

// goneEvent is part of the names of the events of a directory that is removed or
// moved. Another may take the place of the watched one.
const goneEvent = "_SELF"

// begin implements [notifier].
func (i *inotifywait) begin(ctx context.Context) (*shell.Stream, error) {
	stream, err := i.client.Stream(ctx, program.Idempotent("observe", i.dir))
	if err != nil {
		return nil, err
	}
	var said strings.Builder
	for b := make([]byte, 1); ; {
		_, err := io.ReadFull(stream, b)
		switch {
		case errors.Is(err, io.EOF):
			stream.Close()
			return nil, program.StatusError(stream.Status, []byte(said.String()))
		case err != nil:
			stream.Close()
			return nil, i.client.Broken(err)
		}
		said.Write(b)
		if strings.HasSuffix(said.String(), "Watches established.") {
			return stream, nil
		}
	}
}

// follow implements [notifier].
func (i *inotifywait) follow(stream *shell.Stream, tell func()) {
	var said []byte
	for b := make([]byte, program.StreamBuffer); ; {
		// Not by lines: the last one can end with the stream, and
		// waits for what follows.
		n, err := stream.Read(b)
		if err != nil {
			return
		}
		tell()
		if said = append(said, b[:n]...); bytes.Contains(said, []byte(goneEvent)) {
			return
		}
		said = said[max(0, len(said)-len(goneEvent)):]
	}
}

// seen implements [notifier].
func (i *inotifywait) seen([]string) {}
