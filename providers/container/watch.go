package container

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/workspacekit/workspacekit/providers/container/internal/shell"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/fallback"
)

// Watch implements [workspace.FileSystem]. If the image has inotifywait, it
// tells when something has changed, and what that is shows in a listing of the
// tree. Otherwise the tree is listed at every interval.
func (f *FS) Watch(ctx context.Context, dir string, opts *workspace.WatchOptions) (<-chan workspace.Event, error) {
	var o workspace.WatchOptions
	if opts != nil {
		o = *opts
	}
	if err := f.check(ctx, workspace.OpWatch, dir); err != nil {
		return nil, err
	}
	if err := o.Check(dir); err != nil {
		return nil, err
	}
	if !f.inside().watches {
		return fallback.Poll(ctx, f, dir, &o)
	}
	w := &observed{FS: f, dir: dir, changed: make(chan struct{}, 1)}
	stream, err := w.begin(ctx)
	if err != nil {
		return nil, err
	}
	o.Interval = pace
	events, err := fallback.Poll(ctx, w, dir, &o)
	if err != nil {
		stream.Close()
		return nil, err
	}
	f.background.Go(func() { w.run(ctx, stream) })
	return events, nil
}

// observed is an FS whose walks, but for the first, wait until something has
// changed. It is for one walk at a time.
type observed struct {
	*FS
	dir     string
	changed chan struct{} // has room for one
	walked  bool
}

const (
	// settle is how long after a change the tree is looked at once more: what
	// happens in a new directory before it is observed is not told.
	settle = 200 * time.Millisecond
	// retry is the time between two attempts to observe a tree again, and
	// between the looks at it meanwhile.
	retry = time.Second
	// pace is the shortest time between two looks, however much changes.
	pace = 10 * time.Millisecond
)

// Walk implements [workspace.Walker].
func (w *observed) Walk(ctx context.Context, dir string, opts *workspace.WalkOptions, fn workspace.WalkFunc) error {
	if w.walked {
		select {
		case <-w.changed:
		case <-ctx.Done():
			return workspace.NewPathError(workspace.OpWalk, dir, ctx.Err(), nil)
		}
	}
	w.walked = true
	return w.FS.Walk(ctx, dir, opts, fn)
}

// begin begins to observe the tree.
func (w *observed) begin(ctx context.Context) (*shell.Stream, error) {
	stream, err := w.pool.Stream(ctx, ask("observe", w.dir))
	if err != nil {
		return nil, w.broken(workspace.OpWatch, w.dir, err)
	}
	var said strings.Builder
	for b := make([]byte, 1); ; {
		_, err := io.ReadFull(stream, b)
		switch {
		case errors.Is(err, io.EOF):
			stream.Close()
			return nil, statusError(workspace.OpWatch, w.dir, stream.Status, []byte(said.String()))
		case err != nil:
			stream.Close()
			return nil, w.broken(workspace.OpWatch, w.dir, err)
		}
		said.Write(b)
		if strings.HasSuffix(said.String(), "Watches established.") {
			return stream, nil
		}
	}
}

// run tells of changes until ctx ends. If the container stops it begins anew
// when that is possible.
func (w *observed) run(ctx context.Context, stream *shell.Stream) {
	for {
		if stream != nil {
			w.follow(stream)
			stream.Close()
		}
		w.tell()
		select {
		case <-ctx.Done():
			return
		case <-w.done:
			return
		case <-time.After(retry):
		}
		stream, _ = w.begin(ctx) // nil if it cannot be observed yet
	}
}

// follow tells of the changes that stream has.
func (w *observed) follow(stream *shell.Stream) {
	later := time.AfterFunc(settle, w.tell)
	defer later.Stop()
	for b := make([]byte, streamBuffer); ; {
		// Not by lines: the end of the last one can be that of the stream, and
		// waits for what follows.
		if _, err := stream.Read(b); err != nil {
			return
		}
		w.tell()
		later.Reset(settle)
	}
}

// tell lets the next walk begin.
func (w *observed) tell() {
	select {
	case w.changed <- struct{}{}:
	default:
	}
}
