package inotify

import (
	"bytes"
	"context"
	"errors"
	"io"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/workspacekit/workspacekit/providers/container/internal/program"
	"github.com/workspacekit/workspacekit/providers/container/internal/shell"
	"github.com/workspacekit/workspacekit/workspace"
)

// inotifyd observes a tree by the program of busybox with that name. The program
// observes the directories that it is given when it starts, and nothing below
// them. So it is started again when a listing has a directory that it was not
// given, or when one of its own was deleted or moved. Each time the tree is listed
// once all is observed, so nothing is lost on the way.
//
// The program does not say when it observes all. So the top is its last argument,
// and is opened until the program reports that:
//
//	inotifyd - /root:DM /root/top/a:cnmydDM /root/top:cnmydDMr
//	knock    (opens /root/top)
//	r        /root/top          all before it is observed, too
type inotifyd struct {
	client *program.Client
	dir    string

	mu       sync.Mutex      // guards what follows
	observed map[string]bool // directories
	stream   *shell.Stream   // nil if nobody follows it
}

const (
	// observedEvents are the letters of inotifyd for bytes that change, names that
	// appear and disappear, and directories that do.
	observedEvents = "cnmydDM"
	// opened is the letter for a directory that is opened. Only the top has it.
	opened = "r"
	// goneEvents are the letters for a directory that may be observed no longer,
	// and for lost events.
	goneEvents = "DMuox"
)

// maxWait bounds the wait for inotifyd to observe all.
const maxWait = 10 * time.Second

// maxObserved bounds the names of directories, in bytes: as many as Linux takes as
// arguments of a program.
const maxObserved = 1 << 20

var errNotObserved = errors.New("inotifyd cannot observe these directories")

// begin implements [notifier].
func (d *inotifyd) begin(ctx context.Context) (*shell.Stream, error) {
	top, err := d.client.Resolve(ctx, d.dir)
	if err != nil {
		return nil, err
	}
	dirs, err := d.list(ctx)
	if err != nil {
		return nil, err
	}
	input := d.arguments(top, dirs)
	if input == nil {
		return nil, errNotObserved
	}
	call := program.Idempotent("survey", top, shell.Number(int64(len(input))))
	call.Input, call.Size = bytes.NewReader(input), int64(len(input))
	stream, err := d.client.Stream(ctx, call)
	if err != nil {
		return nil, err
	}
	if err := d.await(ctx, top, stream); err != nil {
		stream.Close()
		return nil, err
	}
	d.note(dirs, stream)
	return stream, nil
}

func (d *inotifyd) note(dirs []string, stream *shell.Stream) {
	observed := map[string]bool{}
	for _, dir := range dirs {
		observed[workspace.Join(d.dir, dir)] = true
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.observed, d.stream = observed, stream
}

// list returns the directories of the tree that can be observed, from its top.
func (d *inotifyd) list(ctx context.Context) ([]string, error) {
	entries, err := d.client.Tree(ctx, d.dir)
	if err != nil {
		return nil, err
	}
	var dirs []string
	for _, e := range entries {
		if e.Kind == workspace.TypeDirectory && !d.client.Hides(e) {
			dirs = append(dirs, e.Name)
		}
	}
	return dirs, nil
}

// arguments returns the arguments of inotifyd, nil if it cannot take them: it takes
// what follows a colon for events. The top is last, so once that is observed all
// are. The directories above it may be moved, and the top with them.
func (d *inotifyd) arguments(top string, dirs []string) []byte {
	var args []string
	add := func(name, events string) {
		args = append(args, path.Join(d.client.Root, name)+":"+events+"\x00")
	}
	for above := top; above != "."; {
		above, _ = workspace.Split(above)
		add(above, "DM")
	}
	for _, dir := range dirs {
		add(workspace.Join(top, dir), observedEvents)
	}
	add(top, observedEvents+opened)
	input := strings.Join(args, "")
	if strings.Count(input, ":") > len(args) || len(input) > maxObserved {
		return nil
	}
	return []byte(input)
}

// await returns when all is observed: when inotifyd reports that the top was opened.
func (d *inotifyd) await(ctx context.Context, top string, stream *shell.Stream) error {
	ctx, cancel := context.WithCancel(ctx)
	late := time.AfterFunc(maxWait, stream.Abort)
	defer late.Stop()
	var knocking sync.WaitGroup
	defer knocking.Wait()
	defer cancel()
	knocking.Go(func() { d.knock(ctx, top) })
	var told daemonEvents
	for b := make([]byte, program.StreamBuffer); ; {
		n, err := stream.Read(b)
		switch {
		case errors.Is(err, io.EOF): // a directory was deleted meanwhile, or there are too many
			return errNotObserved
		case errors.As(err, new(*shell.BrokenError)) && ctx.Err() == nil && !late.Stop():
			return errNotObserved
		case err != nil:
			return d.client.Broken(err)
		}
		switch events := told.read(b[:n]); {
		case strings.ContainsAny(events, goneEvents): // perhaps the top, that will not be opened
			return errNotObserved
		case strings.Contains(events, opened):
			return nil
		}
	}
}

// knock opens the top again and again until ctx ends.
func (d *inotifyd) knock(ctx context.Context, top string) {
	for ctx.Err() == nil {
		_, _, _ = d.client.Try(ctx, program.Idempotent("knock", top)) // the stream shows whether it did
		select {
		case <-ctx.Done():
		case <-time.After(pace):
		}
	}
}

// follow implements [notifier].
func (d *inotifyd) follow(stream *shell.Stream, tell func()) {
	defer d.forget()
	var told daemonEvents
	for b := make([]byte, program.StreamBuffer); ; {
		n, err := stream.Read(b)
		if err != nil {
			return
		}
		events := told.read(b[:n])
		if strings.ContainsAny(events, observedEvents) {
			tell()
		}
		if strings.ContainsAny(events, goneEvents) {
			return
		}
	}
}

func (d *inotifyd) forget() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stream = nil
}

// seen implements [notifier].
func (d *inotifyd) seen(dirs []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	isNew := func(dir string) bool { return !d.observed[dir] }
	if d.stream != nil && slices.ContainsFunc(dirs, isNew) {
		d.stream.Abort()
	}
}

// daemonEvents reads what inotifyd writes: lines of events, a tab, and names, which
// may have line breaks in them. So it may read events that did not happen, but
// misses none.
type daemonEvents struct {
	named bool // what is read is a name
}

// read returns the events in b.
func (e *daemonEvents) read(b []byte) string {
	var events []byte
	for _, c := range b {
		switch {
		case c == '\n':
			e.named = false
		case c == '\t':
			e.named = true
		case !e.named:
			events = append(events, c)
		}
	}
	return string(events)
}
