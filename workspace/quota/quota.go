// Package quota limits how much a session writes. [New] wraps any
// [workspace.FileSystem]: in go the operations, and out come the same operations, until
// a session has written as many files or bytes as the [Limits] say. A write beyond that
// is refused with [workspace.ErrPolicy], and changes nothing.
//
//	fsys, err := quota.New(local, quota.Limits{Files: 100})
//	ws := workspace.New("repo", fsys, nil)
//
// A session is a run of an agent, whose id package tools puts into the context; all
// operations without one are one session. What counts is what succeeds or, unless its error
// says that nothing changed, may have succeeded: a file once, however often it is written,
// the new name of what is moved as a file, and the bytes of every write and copy. Removing
// a file gives nothing back, nor does an undo. With 3 files and 100 bytes:
//
//	write a, 40 bytes    1 file,  40 bytes
//	write a, 40 bytes    1 file,  80 bytes
//	write b, 30 bytes    refused: it would be 110 bytes
//	copy a to b          refused, too
//	move a to c          2 files,  80 bytes
//	remove c             removals and new directories do not count
//	write b, 20 bytes    3 files, 100 bytes
//
// An FS counts from when it is created, and counts 10,000 sessions: it forgets one for each
// further one. [FS.Used] and [FS.Resume] carry what a session has written to another process.
// Commands are refused, as nobody counts what they write.
package quota

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"slices"
	"sync"

	"github.com/workspacekit/workspacekit/internal/errcode"
	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/session"
	"github.com/workspacekit/workspacekit/internal/wording"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/fallback"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// Limits are how much each session may write.
type Limits struct {
	// Files is how many different files a session may write, counted by their names, as
	// are what it moves. Zero means no limit.
	Files int
	// Bytes is how many bytes a session may write. Zero means no limit.
	Bytes int64
}

// FS is a [workspace.FileSystem] with a quota. It has the optional interfaces of the
// FileSystem that it wraps, and cannot be unwrapped. It is safe for concurrent use: the
// writes of a session together stay within its limits.
type FS struct {
	reads
	fsys workspace.FileSystem
	used *ledger
}

// reads are the methods that an FS forwards.
type reads = *policy.SubFS

var (
	_ workspace.FileSystem = (*FS)(nil)
	_ workspace.Creator    = (*FS)(nil)
	_ workspace.Copier     = (*FS)(nil)
	_ workspace.Mover      = (*FS)(nil)
	_ workspace.Exacter    = (*FS)(nil)
	_ fallback.Hider       = (*FS)(nil)
	_ fallback.Transactor  = (*FS)(nil)
)

// New returns fsys with limits for each session, counted from now on.
//
// # Errors
//
// [fs.ErrInvalid] for a limit below zero.
func New(fsys workspace.FileSystem, limits Limits) (*FS, error) {
	if limits.Files < 0 || limits.Bytes < 0 {
		return nil, ops.Error("quota", ".", fs.ErrInvalid, errors.New("a limit is below zero"))
	}
	return over(fsys, &ledger{limits: limits, sessions: map[string]*usage{}})
}

func over(fsys workspace.FileSystem, used *ledger) (*FS, error) {
	all, err := policy.Sub(fsys, ".")
	if err != nil {
		return nil, err
	}
	return &FS{reads: all, fsys: fsys, used: used}, nil
}

// Exact implements [workspace.Exacter]. The view has the same quota.
func (f *FS) Exact() (workspace.FileSystem, error) {
	exact, err := workspace.Exact(f.fsys)
	if err != nil {
		return nil, err
	}
	return over(exact, f.used)
}

// Hide implements [fallback.Hider].
func (f *FS) Hide(hidden func(dir string) func(name string, isDir bool) bool) (workspace.FileSystem, error) {
	hiding, err := f.reads.Hide(hidden)
	if err != nil {
		return nil, err
	}
	return &FS{reads: hiding.(reads), fsys: f.fsys, used: f.used}, nil
}

// Transaction implements [fallback.Transactor], as a restricting wrapper does: what is
// undone must not count.
func (f *FS) Transaction(ctx context.Context, change func(ctx context.Context) error) error {
	if !fallback.Transacts(f.fsys) {
		return ops.Error(ops.Transaction, ".", workspace.ErrPolicy,
			errors.New("the quota could forbid to undo a change; add transactions below it, with transaction.New"))
	}
	return fallback.Transaction(ctx, f.fsys, change)
}

// Capabilities implements [fallback.Capable].
func (f *FS) Capabilities() workspace.Capabilities {
	c := f.reads.Capabilities()
	c.Run = false
	return c
}

// Run implements [workspace.Runner]: it is refused, as nobody counts what a command
// writes.
func (f *FS) Run(ctx context.Context, opts *workspace.RunOptions) (*workspace.RunResult, error) {
	dir := "."
	if opts != nil && opts.Dir != "" {
		dir = opts.Dir
	}
	if err := ops.Check(ctx, ops.Run, dir); err != nil {
		return nil, err
	}
	return nil, ops.Error(ops.Run, dir, workspace.ErrPolicy, errors.New("the quota cannot count what a command writes"))
}

// Close closes the FileSystem below if it is an [io.Closer].
func (f *FS) Close() error {
	if closer, ok := workspace.As[io.Closer](f.fsys); ok {
		return closer.Close()
	}
	return nil
}

// WriteFile implements [workspace.FileSystem].
func (f *FS) WriteFile(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (version workspace.Version, err error) {
	if err := ops.Check(ctx, ops.WriteFile, name); err != nil {
		return "", err
	}
	c := f.used.claim(ctx, name)
	if err := c.add(ops.WriteFile, int64(len(data))); err != nil {
		return "", err
	}
	version, err = f.fsys.WriteFile(ctx, name, data, opts)
	c.end(err)
	return version, err
}

// Copy implements [workspace.Copier].
func (f *FS) Copy(ctx context.Context, source, destination string) (version workspace.Version, err error) {
	for _, name := range []string{source, destination} {
		if err := ops.Check(ctx, ops.Copy, name); err != nil {
			return "", err
		}
	}
	// A file that replaces source before the copy counts with the size of source.
	stream, info, err := workspace.Open(ctx, f.fsys, source, &workspace.OpenOptions{Length: 1})
	if err != nil {
		return "", ops.Rename(err, ops.Copy, source)
	}
	_ = stream.Close() // nothing was read
	c := f.used.claim(ctx, destination)
	if err := c.add(ops.Copy, info.Size); err != nil {
		return "", err
	}
	version, err = workspace.Copy(ctx, f.fsys, source, destination)
	c.end(err)
	return version, err
}

// Move implements [workspace.Mover]. The new name counts as a file, so that writing one name
// and moving it away again and again has an end.
func (f *FS) Move(ctx context.Context, source, destination string) error {
	for _, name := range []string{source, destination} {
		if err := ops.Check(ctx, ops.Move, name); err != nil {
			return err
		}
	}
	c := f.used.claim(ctx, destination)
	if err := c.add(ops.Move, 0); err != nil {
		return err
	}
	err := workspace.Move(ctx, f.fsys, source, destination)
	c.end(err)
	return err
}

// Create implements [workspace.Creator]. Bytes count when they are written.
func (f *FS) Create(ctx context.Context, name string, opts *workspace.WriteOptions) (workspace.Writer, error) {
	if err := ops.Check(ctx, ops.Create, name); err != nil {
		return nil, err
	}
	c := f.used.claim(ctx, name)
	if err := c.add(ops.Create, 0); err != nil {
		return nil, err
	}
	w, err := workspace.Create(ctx, f.fsys, name, opts)
	if err != nil {
		c.settle(false) // before a Commit there is nothing, whatever the error
		return nil, err
	}
	return &writer{Writer: w, claim: c}, nil
}

// writer is a file that is being created.
type writer struct {
	workspace.Writer
	claim   *claim
	refused error // of the first Write that the limits did not allow
}

// Write implements [workspace.Writer].
func (w *writer) Write(p []byte) (int, error) {
	if w.refused == nil {
		w.refused = w.claim.add(ops.Create, int64(len(p)))
	}
	if w.refused != nil {
		return 0, w.refused
	}
	return w.Writer.Write(p)
}

// Commit implements [workspace.Writer].
func (w *writer) Commit() (workspace.Version, error) {
	if w.refused != nil {
		return "", w.refused
	}
	version, err := w.Writer.Commit()
	w.claim.end(err)
	return version, err
}

// Close implements [workspace.Writer].
func (w *writer) Close() error {
	w.claim.settle(false)
	return w.Writer.Close()
}

// maxSessions is how many sessions are counted at a time. A server for more than these
// forgets one of them, which then begins again.
const maxSessions = 10_000

// Usage is what a session has written.
type Usage struct {
	// Files are the names of the files, sorted. They are not counted if there is no limit
	// for them.
	Files []string `json:"files,omitempty"`
	// Bytes is how many bytes.
	Bytes int64 `json:"bytes,omitempty"`
}

// Used returns what the session id has written up to now, for [FS.Resume].
func (f *FS) Used(id string) Usage {
	f.used.mu.Lock()
	defer f.used.mu.Unlock()
	u := f.used.sessions[id]
	if u == nil {
		return Usage{}
	}
	return Usage{Files: slices.Sorted(maps.Keys(u.files)), Bytes: u.bytes}
}

// Resume lets the session id continue after what it has written before, in another process.
//
// # Errors
//
// [fs.ErrInvalid] for a number of bytes below zero and for a name that no file can have:
// whoever can change what was stored can let a session begin again, and no more.
func (f *FS) Resume(id string, before Usage) error {
	if before.Bytes < 0 {
		return ops.Error("quota", ".", fs.ErrInvalid, errors.New("the session has written fewer than 0 bytes"))
	}
	for _, name := range before.Files {
		if !ops.ValidName(name) {
			return ops.Error("quota", name, fs.ErrInvalid, nil)
		}
	}
	f.used.mu.Lock()
	defer f.used.mu.Unlock()
	u := f.used.session(id)
	u.bytes = min(u.bytes+min(before.Bytes, maxBytes), maxBytes)
	if f.used.limits.Files > 0 {
		for _, name := range before.Files {
			u.files[name]++
		}
	}
	return nil
}

// maxBytes is how many bytes a session can have written, so that no sum overflows.
const maxBytes = math.MaxInt64 / 2

// ledger is what the sessions have written.
type ledger struct {
	limits Limits

	mu       sync.Mutex
	sessions map[string]*usage // guarded by mu; by id
}

// usage is what a session has written, or is writing.
type usage struct {
	files map[string]int // how many writes of each file succeeded or are running
	bytes int64
}

// claim is what one write needs of the quota.
type claim struct {
	used  *ledger
	usage *usage
	name  string

	bytes int64 // guarded by used.mu
	begun bool  // guarded by used.mu; the file is counted
	ended bool  // guarded by used.mu
}

// claim begins a write of name in the session of ctx.
func (l *ledger) claim(ctx context.Context, name string) *claim {
	l.mu.Lock()
	defer l.mu.Unlock()
	return &claim{used: l, usage: l.session(session.ID(ctx)), name: name}
}

// session returns what the session id has written. It needs l.mu.
func (l *ledger) session(id string) *usage {
	u := l.sessions[id]
	if u == nil {
		if len(l.sessions) >= maxSessions {
			for other := range l.sessions {
				delete(l.sessions, other)
				break
			}
		}
		u = &usage{files: map[string]int{}}
		l.sessions[id] = u
	}
	return u
}

// add counts so many bytes more, and the file, or returns the error of an op that
// would go beyond a limit.
func (c *claim) add(op string, bytes int64) error {
	c.used.mu.Lock()
	defer c.used.mu.Unlock()
	limits := c.used.limits
	switch {
	case c.ended:
		return nil // the writer returns its own error
	case limits.Bytes > 0 && bytes > limits.Bytes-c.usage.bytes:
		return c.refuse(op, fmt.Errorf("the session has written %d bytes, and may write %d: %d more are too many", c.usage.bytes, limits.Bytes, bytes))
	case limits.Files > 0 && c.usage.files[c.name] == 0 && len(c.usage.files) >= limits.Files:
		return c.refuse(op, fmt.Errorf("the session has written %s, and may write no other", wording.Count(len(c.usage.files), "file", "files")))
	}
	c.bytes += bytes
	c.usage.bytes += bytes
	if !c.begun {
		c.begun = true
		c.count(1)
	}
	return nil
}

// count adds n writes of the file. Without a limit, files are not counted, because
// nothing bounds how many there are.
func (c *claim) count(n int) {
	if c.used.limits.Files == 0 {
		return
	}
	if c.usage.files[c.name] += n; c.usage.files[c.name] == 0 {
		delete(c.usage.files, c.name)
	}
}

func (c *claim) refuse(op string, why error) error {
	return ops.Error(op, c.name, workspace.ErrPolicy, why)
}

// end ends the claim of a write that returned err. A write that may have taken place counts.
func (c *claim) end(err error) { c.settle(err == nil || errcode.Uncertain(err)) }

// settle ends the claim, and gives it back unless it counts.
func (c *claim) settle(counts bool) {
	c.used.mu.Lock()
	defer c.used.mu.Unlock()
	if !c.ended && !counts {
		c.usage.bytes -= c.bytes
		if c.begun {
			c.count(-1)
		}
	}
	c.ended = true
}
