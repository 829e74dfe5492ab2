// Package scratch is the space of a session for files that are in no workspace. They are in
// memory, with a limit for all of them together. What a command or a script prints goes in:
// [Shorten] returns what a model sees of it, and [Space.Spill] keeps the whole as a file.
package scratch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/workspace"
)

// DefaultLimit is how many bytes the files of a space may have together where nobody says.
const DefaultLimit = 64 << 20

// dir is where sessions see the files of a space, whatever their workspaces have.
const dir = "/dev/shm/"

// Space is the files of a session. It is safe for concurrent use.
type Space struct {
	// Workspace has the files.
	Workspace *workspace.Workspace
	files     *files

	mu      sync.Mutex
	count   int      // guarded by mu; of the outputs that were spilled
	spilled []string // guarded by mu; the names of those that are kept, in order
}

// New returns a space without files, which may have limit bytes together.
func New(limit int64) *Space {
	f := &files{FS: memory.New(nil), limit: limit}
	return &Space{Workspace: workspace.New("scratch", f, nil), files: f}
}

// Spill keeps an output as a file, and returns the name under which sessions see it. If
// there is no room, outputs from before make some.
//
// # Errors
//
// [workspace.ErrNoSpace], and the error of ctx.
func (s *Space) Spill(ctx context.Context, output []byte) (name string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		name = fmt.Sprintf("output-%d", s.count+1)
		if _, err := s.files.Stat(ctx, name); err == nil {
			s.count++ // a script has a file of this name
			continue
		}
		_, err = s.files.WriteFile(ctx, name, output, &workspace.WriteOptions{IfNotExist: true})
		switch {
		case err == nil:
			s.count++
			s.spilled = append(s.spilled, name)
			return dir + name, nil
		case errors.Is(err, workspace.ErrNoSpace) && len(s.spilled) > 0:
			// A script may have removed it, or put a directory in its place.
			_ = s.files.Rm(ctx, s.spilled[0], nil)
			s.spilled = s.spilled[1:]
		case !errors.Is(err, fs.ErrExist):
			return "", err
		}
	}
}

// ReadScratch returns the content of a file by the name under which sessions see it,
// whatever its size.
//
// # Errors
//
// Those of [workspace.FileSystem].ReadFile.
func (s *Space) ReadScratch(ctx context.Context, name string) ([]byte, error) {
	inside, ok := strings.CutPrefix(name, dir)
	if !ok {
		return nil, ops.Error(ops.ReadFile, name, fs.ErrNotExist, nil)
	}
	return s.Read(ctx, inside)
}

// Read returns the content of a file by its name in the space, whatever its size.
//
// # Errors
//
// Those of [workspace.FileSystem].ReadFile.
func (s *Space) Read(ctx context.Context, name string) ([]byte, error) {
	return s.files.ReadFile(ctx, name)
}

// files is a file system in memory with a limit for all its files together.
type files struct {
	*memory.FS
	limit int64

	mu   sync.Mutex
	used int64 // guarded by mu; at least what the files have, with those being written
	open int64 // guarded by mu; what the files that are being written have
}

// entryCost is what a name costs besides the bytes of the file.
const entryCost = 1 << 10

// reserve counts size bytes for op on name. What was removed in the meantime is found out
// only when the limit seems to be reached.
func (f *files) reserve(ctx context.Context, op, name string, size int64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.count(ctx, op, name, size+entryCost)
}

// reserveOpen counts size bytes more of a file that is being written.
func (f *files) reserveOpen(ctx context.Context, name string, size int64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.count(ctx, ops.Create, name, size); err != nil {
		return err
	}
	f.open += size
	return nil
}

// count adds size to used, or returns an error if that is above the limit. f.mu is locked.
func (f *files) count(ctx context.Context, op, name string, size int64) error {
	if f.used+size > f.limit {
		used := int64(0)
		err := workspace.Walk(ctx, f.FS, ".", nil, func(info workspace.FileInfo, err error) error {
			used += info.Size + entryCost
			return err
		})
		if err != nil {
			return err
		}
		f.used = used + f.open
	}
	if f.used+size > f.limit {
		return ops.Error(op, name, workspace.ErrNoSpace, nil)
	}
	f.used += size
	return nil
}

// WriteFile implements [workspace.FileSystem].
func (f *files) WriteFile(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
	if err := f.reserve(ctx, ops.WriteFile, name, int64(len(data))); err != nil {
		return "", err
	}
	return f.FS.WriteFile(ctx, name, data, opts)
}

// Mkdir implements [workspace.FileSystem].
func (f *files) Mkdir(ctx context.Context, name string, opts *workspace.MkdirOptions) error {
	if err := f.reserve(ctx, ops.Mkdir, name, 0); err != nil {
		return err
	}
	return f.FS.Mkdir(ctx, name, opts)
}

// Copy implements [workspace.Copier].
func (f *files) Copy(ctx context.Context, source, destination string) (workspace.Version, error) {
	info, err := f.FS.Stat(ctx, source)
	if err != nil {
		return "", ops.Rename(err, ops.Copy, source)
	}
	if err := f.reserve(ctx, ops.Copy, destination, info.Size); err != nil {
		return "", err
	}
	return f.FS.Copy(ctx, source, destination)
}

// Create implements [workspace.Creator].
func (f *files) Create(ctx context.Context, name string, opts *workspace.WriteOptions) (workspace.Writer, error) {
	if err := f.reserve(ctx, ops.Create, name, 0); err != nil {
		return nil, err
	}
	w, err := workspace.Create(ctx, f.FS, name, opts)
	return &writer{Writer: w, ctx: ctx, fsys: f, name: name}, err
}

// writer counts what is written to a file.
type writer struct {
	workspace.Writer
	ctx     context.Context
	fsys    *files
	name    string
	held    int64 // what it has in fsys.open
	refused error // of the first Write for which there was no room
}

// Write implements [io.Writer].
func (w *writer) Write(b []byte) (int, error) {
	size := int64(len(b))
	if w.refused == nil {
		w.refused = w.fsys.reserveOpen(w.ctx, w.name, size)
	}
	if w.refused != nil {
		return 0, w.refused
	}
	w.held += size
	return w.Writer.Write(b)
}

// Commit implements [workspace.Writer].
func (w *writer) Commit() (workspace.Version, error) {
	defer w.release()
	if w.refused != nil {
		return "", w.refused
	}
	return w.Writer.Commit()
}

// Close implements [workspace.Writer].
func (w *writer) Close() error {
	defer w.release()
	return w.Writer.Close()
}

// release ends the count of w as an open file. From then on the file that it has
// written counts, if there is one.
func (w *writer) release() {
	w.fsys.mu.Lock()
	defer w.fsys.mu.Unlock()
	w.fsys.open -= w.held
	w.held = 0
}
