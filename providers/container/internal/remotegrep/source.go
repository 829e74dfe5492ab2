package remotegrep

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/workspacekit/workspacekit/internal/lines"
	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/scan"
	"github.com/workspacekit/workspacekit/providers/container/internal/program"
	"github.com/workspacekit/workspacekit/workspace"
)

// source shows a tree to the search engine. It lists the tree, or the part of it
// that is wanted, in one request, and answers from that.
type source struct {
	Search
	c      *program.Client // set by connect
	top    string          // where the search begins
	within scope
	filter *prefilter // says which files need no search; nil without a search

	connecting sync.Mutex      // guards c until connect returns
	mu         sync.Mutex      // guards what follows
	entries    []program.Entry // what is in the tree, sorted; names are from top
	listed     map[string][]scan.Child
	hidden     map[string]bool // directories that cannot be read
	files      *files          // reads many at a time; nil before a tree has been listed
}

var _ scan.Source = (*source)(nil)

// scope is the part of a tree that a search can need.
type scope struct {
	below string // a directory, from where the search begins; "." for all
	depth string // how many levels of it; empty for all
}

// connect reaches the container. The search calls it late, as a malformed pattern
// starts nothing.
func (s *source) connect(ctx context.Context) (err error) {
	s.connecting.Lock()
	defer s.connecting.Unlock()
	if s.c == nil {
		s.c, err = s.Begin(ctx)
	}
	return err
}

// List implements [scan.Source].
func (s *source) List(ctx context.Context, dir string, top bool) ([]scan.Child, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if top {
		if err := s.look(ctx); err != nil {
			return nil, err
		}
	}
	if s.hidden[dir] {
		return nil, fs.ErrPermission
	}
	return s.listed[dir], nil
}

// look lists the tree. s.mu is held.
func (s *source) look(ctx context.Context) error {
	if err := s.connect(ctx); err != nil {
		return err
	}
	entries, err := s.c.Subtree(ctx, s.top, s.within.below, s.within.depth)
	cut := s.within.below != "." && (errors.Is(err, program.ErrBelow) || errors.Is(err, fs.ErrPermission))
	if err != nil && !cut {
		return err
	}
	s.listed, s.hidden = map[string][]scan.Child{}, map[string]bool{}
	if cut {
		return s.keepPartOfWay(ctx)
	}
	s.keep(entries)
	return nil
}

// keep notes what has been listed.
func (s *source) keep(entries []program.Entry) {
	s.entries = entries
	s.keepWay()
	for i := range entries {
		e := &entries[i]
		e.Name = workspace.Join(s.within.below, e.Name)
		path := workspace.Join(s.top, e.Name)
		parent, base := workspace.Split(path)
		if e.IsUnnamed() && !ops.ValidName(parent) {
			continue // its directory is unnamed itself
		}
		s.listed[parent] = append(s.listed[parent], scan.Child{Name: base, Type: e.Kind})
		if s.c.Hides(*e) {
			s.hidden[path] = true
		}
	}
}

// keepWay notes the directories on the way to where the listing began. They
// exist.
func (s *source) keepWay() {
	if s.within.below == "." {
		return
	}
	dir := s.top
	for element := range strings.SplitSeq(s.within.below, "/") {
		dir = s.keepStep(dir, element, workspace.TypeDirectory)
	}
}

// keepStep notes the child of dir by which the way continues, and returns its
// path. An ignore file may be beside it.
func (s *source) keepStep(dir, name string, kind workspace.FileType) string {
	children := []scan.Child{{Name: name, Type: kind}}
	if name != ignoreFile {
		children = append(children, scan.Child{Name: ignoreFile, Type: workspace.TypeFile})
	}
	slices.SortFunc(children, func(a, b scan.Child) int { return strings.Compare(a.Name, b.Name) })
	s.listed[dir] = children
	return workspace.Join(dir, name)
}

// keepPartOfWay notes how much exists of the way to where the listing should have
// begun: what it ends at, such as a file, may match itself. A directory that is denied ends
// the way, but where the search begins that is an error. s.mu is held.
func (s *source) keepPartOfWay(ctx context.Context) error {
	dir := s.top
	for element := range strings.SplitSeq(s.within.below, "/") {
		info, err := s.c.Stat(ctx, workspace.Join(dir, element))
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, workspace.ErrNotDir), errors.Is(err, fs.ErrPermission) && dir != s.top:
			return nil
		case err != nil:
			return err
		}
		dir = s.keepStep(dir, element, info.Kind)
		if info.Kind != workspace.TypeDirectory {
			return nil // a symlink is not followed
		}
	}
	return nil
}

// ignoreFile is the name of the files with ignore rules.
const ignoreFile = ".gitignore"

// Stat implements [scan.Source]. A search asks for where it begins.
func (s *source) Stat(ctx context.Context, name string) (workspace.FileType, error) {
	if err := s.connect(ctx); err != nil {
		return "", err
	}
	target := name
	info, err := s.c.Stat(ctx, name)
	if err == nil && info.Kind == workspace.TypeSymlink {
		if target, err = s.c.Resolve(ctx, name); err == nil {
			info, err = s.c.Stat(ctx, target)
		}
	}
	if err == nil && s.filter != nil && info.Kind == workspace.TypeFile && info.Size > largeFile {
		s.keepLarge(target, info)
	}
	return info.Kind, err
}

// keepLarge notes the one file that is searched, so that grep looks into it
// before it is read.
func (s *source) keepLarge(name string, info program.StatInfo) {
	dir, base := workspace.Split(name)
	e := &file{Entry: &program.Entry{StatInfo: info, Name: base}, alone: true}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files = &files{c: s.c, contents: s.Contents, top: dir, filter: s.filter, window: maxWindow, known: map[string]*file{s.top: e}, wanted: []*file{e}}
}

// Read implements [scan.Source]. What is not read for its text is an ignore file, which no
// listing need have shown.
func (s *source) Read(ctx context.Context, name string, _ *[]byte, opts scan.ReadOptions) ([]byte, error) {
	if err := s.connect(ctx); err != nil {
		return nil, err
	}
	if data, ok, err := s.readAhead(ctx, name, opts); ok || err != nil {
		return data, err
	}
	if opts.Text {
		return s.readText(ctx, name, opts.Limit, opts.Enough)
	}
	info, err := s.c.Stat(ctx, name)
	if err == nil && info.Kind == workspace.TypeSymlink {
		err = workspace.ErrSymlink
	}
	if err != nil {
		return nil, err
	}
	data, _, err := s.c.ReadFile(ctx, name, opts.Limit)
	return data, err
}

// headSize is how much of a large file is read before it is known to be text.
const headSize = 64 << 10

// readText reads a file of at most limit bytes; zero means no limit. It reads only
// the beginning of a binary file, and of another if enough returns true for that.
func (s *source) readText(ctx context.Context, name string, limit int64, enough func(head []byte) bool) ([]byte, error) {
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
	for part := int64(headSize); enough != nil && int64(len(head)) == part; {
		if enough(head) {
			return head, nil
		}
		more, err := io.ReadAll(io.LimitReader(stream, 3*part))
		if err != nil {
			return nil, err
		}
		part, head = 4*part, append(head, more...)
	}
	rest, err := io.ReadAll(stream)
	return append(head, rest...), err
}

// readAhead returns the bytes of a file that is read together with others, or
// need not be read at all. It returns false for a file that is read alone.
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
