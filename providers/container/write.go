package container

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"path"
	"sync"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/providers/container/internal/program"
	"github.com/workspacekit/workspacekit/providers/container/internal/shell"
	"github.com/workspacekit/workspacekit/workspace"
)

const (
	// maxInline is the largest file, in bytes, whose bytes are part of the request
	// that writes it. For more of them a program is faster than the shell.
	maxInline = 16 << 10
	// maxBuffered is how much of a created file waits here before it is sent.
	maxBuffered = 1 << 20
	// maxAttempts bounds how often a change is started again because something else
	// moved its directory, or fills it.
	maxAttempts = 5
)

// WriteFile implements [provider.Store].
func (s *store) WriteFile(ctx context.Context, name string, data []byte, opts workspace.WriteOptions) (workspace.Version, error) {
	c, err := s.begin(ctx, name)
	if err != nil {
		return "", err
	}
	return retry(func() (workspace.Version, error) {
		temp := s.newTemporary(c, path.Dir(name), path.Base(name))
		w := write{client: c, barrier: s.barrier, name: name, opts: opts, temp: temp}
		version, err := w.file(ctx, data)
		temp.end(ctx, err)
		return version, err
	})
}

// retry makes a change again if somebody else was faster. Nothing has been done then, except
// that a recursive Rm has removed some of a directory that is still there.
func retry[T any](change func() (T, error)) (T, error) {
	for attempt := 1; ; attempt++ {
		result, err := change()
		if !errors.Is(err, program.ErrOvertaken) || attempt == maxAttempts {
			return result, err
		}
	}
}

// write is a file on its way into the container, by way of a temporary file.
type write struct {
	client  *program.Client
	barrier *writeBarrier
	name    string
	opts    workspace.WriteOptions
	temp    *temporary
}

// file writes the file in one or two requests.
func (w *write) file(ctx context.Context, data []byte) (workspace.Version, error) {
	if len(data) > maxInline {
		path, err := w.spool(ctx, data)
		if err != nil {
			return "", err
		}
		return w.commit(ctx, path, int64(len(data)))
	}
	args := append(program.Pair(w.name), condition(w.opts)...)
	args = append(args, w.temp.name, shell.Number(int64(len(data))), format(data))
	return w.publish(ctx, program.Once("write", args...))
}

// condition returns the condition of opts as the program has it.
func condition(opts workspace.WriteOptions) []string {
	switch {
	case opts.IfNotExist:
		return []string{"new", ""}
	case opts.IfVersion != "":
		return []string{"same", program.Expected(opts.IfVersion)}
	}
	return []string{"any", ""}
}

// format returns the format for which printf writes data.
func format(data []byte) string {
	if !bytes.ContainsAny(data, "\\%\x00") && !bytes.HasPrefix(data, []byte{'-'}) {
		return string(data)
	}
	var b bytes.Buffer
	for i, c := range data {
		switch {
		case c == '\\':
			b.WriteString(`\\`)
		case c == '%':
			b.WriteString("%%")
		case c == 0:
			b.WriteString(`\000`)
		case c == '-' && i == 0: // or it would be taken for an option
			b.WriteString(`\055`)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// spool stores data in a temporary file near the file, and returns its path in
// the container.
func (w *write) spool(ctx context.Context, data []byte) (string, error) {
	args := append(program.Pair(w.name), condition(w.opts)[0], w.temp.name, shell.Number(int64(len(data))))
	call := program.Once("spool", args...)
	call.Input, call.Size = bytes.NewReader(data), int64(len(data))
	body, err := w.client.Do(ctx, call)
	if err != nil {
		return "", err
	}
	w.temp.foundAt(string(body))
	return string(body), nil
}

// commit gives a temporary file of size bytes the name of the file.
func (w *write) commit(ctx context.Context, path string, size int64) (workspace.Version, error) {
	args := append(program.Pair(w.name), condition(w.opts)...)
	return w.publish(ctx, program.Once("commit", append(args, path, shell.Number(size))...))
}

// publish makes the call that gives a file its new bytes.
func (w *write) publish(ctx context.Context, call shell.Call) (workspace.Version, error) {
	enter := w.barrier.enter
	if w.opts != (workspace.WriteOptions{}) {
		enter = w.barrier.enterAlone
	}
	leave, err := enter(ctx)
	if err != nil {
		return "", err
	}
	defer leave()
	return newVersion(w.client.Do(ctx, call))
}

// newVersion returns the version that a call which writes reports last.
func newVersion(body []byte, err error) (workspace.Version, error) {
	if err != nil {
		return "", err
	}
	info, err := program.ParseStat(body)
	if err != nil {
		return "", err
	}
	return info.Version(), nil
}

// Create implements [provider.Creator]. What is written goes to a temporary file
// in the container, 1 MiB at a time.
func (s *store) Create(ctx context.Context, name string, opts workspace.WriteOptions) (workspace.Writer, error) {
	c, err := s.begin(ctx, name)
	if err != nil {
		return nil, err
	}
	return &writer{ctx: ctx, store: s, write: write{client: c, barrier: s.barrier, name: name, opts: opts}}, nil
}

// writer is a file that is written as a stream.
type writer struct {
	write
	ctx   context.Context // of Create, which the writer is a part of
	store *store
	buf   bytes.Buffer // what has not been sent
	path  string       // of the temporary file; empty if there is none, or it is not known
	sent  int64
	done  bool
}

// Write implements [io.Writer].
func (w *writer) Write(p []byte) (int, error) {
	w.buf.Write(p)
	if w.buf.Len() < maxBuffered {
		return len(p), nil
	}
	if err := w.flush(); err != nil {
		return 0, err
	}
	return len(p), nil
}

// flush sends what is buffered.
func (w *writer) flush() error {
	data := w.buf.Bytes()
	defer w.buf.Reset()
	w.sent += int64(len(data))
	if w.path == "" {
		w.temp = w.store.newTemporary(w.client, path.Dir(w.name), path.Base(w.name))
		var err error
		w.path, err = w.spool(w.ctx, data)
		if err != nil {
			w.temp.end(w.ctx, err)
		}
		return err
	}
	call := program.Once("append", w.path, shell.Number(int64(len(data))))
	call.Input, call.Size = bytes.NewReader(data), int64(len(data))
	_, err := w.client.Do(w.ctx, call)
	return err
}

// Commit implements [workspace.Writer].
func (w *writer) Commit() (workspace.Version, error) {
	if w.path == "" && w.buf.Len() <= maxInline {
		w.done = true
		return w.store.WriteFile(w.ctx, w.name, w.buf.Bytes(), w.opts)
	}
	if err := w.flush(); err != nil {
		return "", err
	}
	version, err := w.commit(w.ctx, w.path, w.sent)
	if err == nil {
		w.done = true
		w.temp.end(w.ctx, nil)
	}
	return version, err
}

// Close implements [workspace.Writer].
func (w *writer) Close() error {
	if w.done {
		return nil
	}
	w.done = true
	w.buf = bytes.Buffer{}
	if w.path != "" {
		w.temp.discard()
	}
	return nil
}

// barrierWidth is how many writers without a condition pass at a time.
const barrierWidth = 8

// writeBarrier keeps writers with a condition, who look before they write, from
// all other writers of one FS, and from who removes a file. So those without a
// condition need no lock in the container, which costs as much as the write. It is
// safe for concurrent use.
type writeBarrier struct {
	alone  chan struct{} // held by one who is about to take all places
	places chan struct{}
}

func newWriteBarrier() *writeBarrier {
	return &writeBarrier{alone: make(chan struct{}, 1), places: make(chan struct{}, barrierWidth)}
}

// enter lets a writer in, and returns how it leaves.
func (b *writeBarrier) enter(ctx context.Context) (leave func(), err error) {
	if err := acquire(ctx, b.places); err != nil {
		return nil, err
	}
	return func() { b.free(1) }, nil
}

// enterAlone lets a writer in when nobody else is, and returns how it leaves.
func (b *writeBarrier) enterAlone(ctx context.Context) (leave func(), err error) {
	if err := acquire(ctx, b.alone); err != nil {
		return nil, err
	}
	defer func() { <-b.alone }()
	for taken := range barrierWidth {
		if err := acquire(ctx, b.places); err != nil {
			b.free(taken)
			return nil, err
		}
	}
	return func() { b.free(barrierWidth) }, nil
}

func (b *writeBarrier) free(places int) {
	for range places {
		<-b.places
	}
}

func acquire(ctx context.Context, places chan struct{}) error {
	select {
	case places <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// temporaries are the temporary files that calls under way may have in the
// container. It is safe for concurrent use. Its zero value is empty.
type temporaries struct {
	mu  sync.Mutex
	all map[*temporary]struct{} // guarded by mu
}

// temporary is a temporary file in the container.
type temporary struct {
	among  *temporaries
	client *program.Client
	dir    string // of what the call changes
	base   string // its name there
	name   string
	remove shell.Call // guarded by among.mu
}

// newTemporary returns a temporary file of a new name, for a call that changes base in
// dir, or several things in dir if base is empty, and may create the file there or
// beside what base leads to. Close removes it, and the lock of the directory if the
// call held that, unless it has ended.
func (s *shared) newTemporary(c *program.Client, dir, base string) *temporary {
	t := &temporary{among: &s.temporaries, client: c, dir: dir, base: base, name: ops.ReservedPrefix + rand.Text()}
	t.remove = t.abandon("")
	s.temporaries.mu.Lock()
	defer s.temporaries.mu.Unlock()
	if s.temporaries.all == nil {
		s.temporaries.all = map[*temporary]struct{}{}
	}
	s.temporaries.all[t] = struct{}{}
	return t
}

// foundAt notes the path of the file in the container.
func (t *temporary) foundAt(path string) {
	t.among.mu.Lock()
	defer t.among.mu.Unlock()
	t.remove = t.abandon(path)
}

// abandon returns the call that removes the file, whose path may be empty.
func (t *temporary) abandon(path string) shell.Call {
	return t.client.Prepare(program.Idempotent("abandon", t.dir, t.base, t.name, path))
}

// end ends the life of the file after a call has returned err. The program in
// the container has given it another name or removed it if it came to its end;
// otherwise it is removed in the background, for the context of the call may
// have ended. What cannot be removed stays hidden.
func (t *temporary) end(ctx context.Context, err error) {
	remove := t.forget()
	if err != nil && (ctx.Err() != nil || errors.Is(err, workspace.ErrUnavailable)) {
		t.client.Pool.Clean(remove)
	}
}

// discard removes the file in the background.
func (t *temporary) discard() { t.client.Pool.Clean(t.forget()) }

// forget ends the life of the file here, and returns the call that removes it.
func (t *temporary) forget() shell.Call {
	t.among.mu.Lock()
	defer t.among.mu.Unlock()
	delete(t.among.all, t)
	return t.remove
}

// removals returns the calls that remove what is left.
func (t *temporaries) removals() []shell.Call {
	t.mu.Lock()
	defer t.mu.Unlock()
	var calls []shell.Call
	for left := range t.all {
		calls = append(calls, left.remove)
	}
	return calls
}
