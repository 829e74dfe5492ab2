package container

import (
	"bytes"
	"context"
	"io"
	"sync"

	"github.com/workspacekit/workspacekit/internal/lines"
	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/scan"
	"github.com/workspacekit/workspacekit/providers/container/internal/program"
	"github.com/workspacekit/workspacekit/providers/container/internal/shell"
	"github.com/workspacekit/workspacekit/workspace"
)

// files are the files of a tree that a search may look into. It looks into some
// of them at a time, in the order of their names. It is safe for concurrent use:
// who asks for what is known already does not wait for a request of another.
type files struct {
	c        *program.Client
	contents *contents
	top      string
	narrow   *prefilter       // nil without a search
	known    map[string]*file // by path, all that have been listed
	rules    rules

	asking sync.Mutex // held during a request; guards the next three, and the files in wanted
	wanted []*file    // sorted, those that are to be searched and have not been looked into
	window int64      // how many bytes of those are looked into next
	first  int        // in needed, where the first may be that has not been read

	mu     sync.Mutex // guards the next two, and the files that have been looked into; held for moments
	needed []*file    // sorted, those that have to be read
	ahead  int64      // how many bytes have been read that nobody has asked for yet
}

// file is what is known of one file.
type file struct {
	*program.Entry
	content content
	seen    bool   // it has been looked into
	matches bool   // there may be a match in it
	needed  bool   // it has to be read
	alone   bool   // not together with others
	data    []byte // what has been read ahead; nil if nothing has
	numbers []int  // of the lines that data has; nil if it has all
}

// newFiles returns the files among entries that s is for.
func (s *source) newFiles(ctx context.Context) (*files, error) {
	fs := &files{c: s.c, contents: s.contents, top: s.top, narrow: s.narrow, window: maxWindow, known: make(map[string]*file, len(s.entries))}
	if s.narrow != nil && s.narrow.few {
		fs.window = shortWindow
	}
	all := make([]file, len(s.entries))
	for i := range s.entries {
		e := &all[i]
		e.Entry = &s.entries[i]
		e.alone = e.Size > largeFile
		path := workspace.Join(s.top, e.Name)
		fs.known[path] = e
		if e.isRules() {
			fs.rules.files = append(fs.rules.files, e)
		}
		if s.narrow != nil && s.narrow.wants(path, e.Entry) && s.c.MayRead(e.StatInfo) {
			fs.wanted = append(fs.wanted, e)
		}
	}
	if s.narrow == nil || !s.narrow.noGit {
		return fs, nil
	}
	return fs, fs.dropIgnored(ctx)
}

// isRules reports whether e is an ignore file.
func (e *file) isRules() bool {
	_, base := workspace.Split(e.Name)
	return base == ignoreFile && e.Kind == workspace.TypeFile
}

// ask makes a call about files, whose reply is read by read. A program that fails
// is no error: what it does not tell is found out by reading the files.
func (fs *files) ask(ctx context.Context, read func(reply io.Reader), function string, about []*file, args ...string) (status int, err error) {
	var input bytes.Buffer
	for _, e := range about {
		input.WriteString("./" + e.Name + "\x00")
	}
	args = append([]string{fs.top, shell.Number(int64(input.Len()))}, args...)
	call := program.Idempotent(function, args...)
	call.Input, call.Size = &input, int64(input.Len())
	status, err = fs.c.Read(ctx, call, read)
	if err != nil {
		return 0, err
	}
	switch status {
	case 0, program.StatusPartial, program.StatusLacking, program.StatusFailed:
		return status, nil
	}
	return 0, program.StatusError(status, nil)
}

// Read implements [scan.Source].
func (s *source) Read(ctx context.Context, name string, _ *[]byte, opts scan.ReadOptions) ([]byte, error) {
	if err := s.connect(ctx); err != nil {
		return nil, err
	}
	if data, ok, err := s.readAhead(ctx, name, opts); ok || err != nil {
		return data, err
	}
	if opts.Text {
		return s.readText(ctx, name, opts.Limit)
	}
	data, _, err := s.c.ReadFile(ctx, name, opts.Limit)
	return data, err
}

// headSize is how much of a large file is read before it is known to be text.
const headSize = 64 << 10

// readText reads a file of at most limit bytes; zero is no limit. Of one that is
// binary it reads the beginning only.
func (s *source) readText(ctx context.Context, name string, limit int64) ([]byte, error) {
	stream, info, err := s.c.Open(ctx, name, workspace.OpenOptions{})
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	if err := ops.CheckSize(ops.ReadFile, name, info.Size, limit); err != nil {
		return nil, err
	}
	head, err := io.ReadAll(io.LimitReader(stream, headSize))
	if err != nil || len(head) < headSize || lines.IsBinary(head) {
		return head, err
	}
	rest, err := io.ReadAll(stream)
	return append(head, rest...), err
}

// readAhead returns the bytes of a file that is read together with others, or
// need not be read at all. It returns false for what has to be read alone.
func (s *source) readAhead(ctx context.Context, name string, opts scan.ReadOptions) ([]byte, bool, error) {
	fs, err := s.filesOf(ctx)
	if fs == nil || err != nil {
		return nil, false, err
	}
	e := fs.known[name]
	if e == nil {
		return nil, false, nil
	}
	if err := ops.CheckSize(ops.ReadFile, name, e.Size, opts.Limit); err != nil {
		return nil, false, err
	}
	if !opts.Text {
		return fs.readRules(ctx, e)
	}
	return fs.read(ctx, e, opts.Lines)
}

// filesOf returns the files of the tree, nil if none has been listed.
func (s *source) filesOf(ctx context.Context) (*files, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.files != nil || s.listed == nil {
		return s.files, nil
	}
	fs, err := s.newFiles(ctx)
	if err == nil {
		s.files = fs
	}
	return s.files, err
}
