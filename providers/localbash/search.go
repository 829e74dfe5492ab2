package localbash

import (
	"context"
	"slices"
	"strings"

	"github.com/workspacekit/workspacekit/internal/lines"
	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/scan"
	"github.com/workspacekit/workspacekit/internal/trigram"
	"github.com/workspacekit/workspacekit/providers/localbash/internal/index"
	"github.com/workspacekit/workspacekit/providers/localbash/internal/sys"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/provider"
)

// GlobSource implements [scan.Searcher].
func (f *folder) GlobSource(string, workspace.GlobOptions) scan.Source {
	return source{f: f, began: sys.ChangeClock(), known: f.index.Begin()}
}

// GrepSource implements [scan.Searcher]. The query is made only if there is an index, as
// nothing else has summaries to compare it with.
func (f *folder) GrepSource(pattern string, opts workspace.GrepOptions, _ scan.Hidden) (src scan.Source, workers int) {
	s := source{f: f, began: sys.ChangeClock(), known: f.index.Begin(), limit: opts.MaxFileSize}
	if s.known != nil {
		s.query = trigram.PlanGrep(pattern, opts)
	}
	return s, 0
}

// source shows a folder to the search engine. There are two kinds of directories in it: an
// openDir is read from the folder, and a knownDir is what the index has. A search meets both,
// as the index knows some directories and not others.
//
// Errors are classified here, as the engine acts on their kinds: a file that is
// [fs.ErrNotExist] was removed since it was listed, and most others make it a skipped one.
type source struct {
	f     *folder
	began int64         // when the search began, by [sys.ChangeClock]
	known *index.View   // nil for nothing
	query trigram.Query // what a file must meet for the pattern to match in it
	limit int64         // a larger file is not searched; zero for none
}

var _ scan.Opener = source{}

// List implements [scan.Source].
func (s source) List(ctx context.Context, dir string, top bool) ([]scan.Child, error) {
	d, err := s.OpenDir(dir, top)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	if open, ok := d.(*openDir); ok {
		children, err := s.f.visible(ctx, open.listing, dir)
		return children, provider.Classify(err)
	}
	return d.List(ctx)
}

// OpenDir implements [scan.Opener]. A symlink is followed only at the top, where the search
// begins (Y5, Y6).
func (s source) OpenDir(dir string, top bool) (scan.Dir, error) {
	if n, known, ok := s.known.Find(dir); ok {
		return &knownDir{Listing: known, source: s, at: n}, nil
	}
	l, err := s.f.openListing(dir, !top)
	if err != nil {
		return nil, provider.Classify(err)
	}
	return &openDir{listing: l, f: s.f, name: dir, began: s.began}, nil
}

// openDir is a directory that is searched. It is for one goroutine.
type openDir struct {
	listing
	f          *folder
	name       string
	began      int64
	known      bool // whether fillsReads is known
	fillsReads bool // see [sys.FillsReads]
}

// List implements [scan.Dir]. The children come in the order in which the system lists them:
// the engine sorts what it needs.
func (d *openDir) List(ctx context.Context) ([]scan.Child, error) {
	children, err := d.f.listed(ctx, d.listing, d.name, d.began)
	return children, provider.Classify(err)
}

// Read implements [scan.Dir]. Most files are smaller than headSize. For these one read is
// enough where a read is known to be whole, and what they are need not be asked.
func (d *openDir) Read(ctx context.Context, path string, scratch *[]byte, opts scan.ReadOptions) ([]byte, error) {
	h, err := d.open(path[strings.LastIndexByte(path, '/')+1:])
	if err != nil {
		return nil, provider.Classify(err)
	}
	defer h.Close()
	data := (*scratch)[:0]
	if !d.known {
		d.known, d.fillsReads = true, sys.FillsReads(d.descriptor())
	}
	if d.fillsReads {
		data = slices.Grow(data, headSize)
		n, whole := h.begin(data[:headSize])
		data = data[:n]
		if *scratch = data; whole {
			return data, provider.Classify(ops.CheckSize(ops.ReadFile, path, int64(n), opts.Limit))
		}
	}
	found, err := h.stat()
	if err == nil {
		err = found.refuseIrregular()
	}
	return readText(ctx, path, h, found, err, data, scratch, opts)
}

// Read implements [scan.Source].
func (s source) Read(ctx context.Context, name string, scratch *[]byte, opts scan.ReadOptions) ([]byte, error) {
	if s.known != nil {
		dir, _ := workspace.Split(name)
		if _, known, ok := s.known.Find(dir); ok {
			return (&knownDir{Listing: known, source: s}).Read(ctx, name, scratch, opts)
		}
	}
	return s.read(ctx, name, scratch, opts)
}

// knownDir is a directory that the index knows. It is for one goroutine, except for the
// methods of [scan.Tree].
type knownDir struct {
	*index.Listing
	source source
	at     int // its number
	next   int // the number of the child that Lacks looks at first

	nextRead int // the same for Read
}

var (
	_ scan.Sieve = (*knownDir)(nil)
	_ scan.Tree  = (*knownDir)(nil)
)

// List implements [scan.Dir].
func (d *knownDir) List(context.Context) ([]scan.Child, error) {
	return slices.AppendSeq(make([]scan.Child, 0, d.Len()), d.Listing.Children), nil
}

// Close implements [scan.Dir].
func (d *knownDir) Close() error { return nil }

// Lacks implements [scan.Sieve]. It looks on from the last name, as it is called in the order
// of List. A name before that one is not found, which only costs a read of the file.
func (d *knownDir) Lacks(name string) bool {
	for d.next < d.Len() {
		n := d.next
		d.next++
		if d.Name(n) == name {
			return d.Listing.Lacks(n, d.source.query, d.source.limit)
		}
	}
	return false
}

// Sub implements [scan.Sieve].
func (d *knownDir) Sub(dir string) scan.Sieve {
	if n, known, ok := d.source.known.Find(dir); ok {
		return &knownDir{Listing: known, source: d.source, at: n}
	}
	return nil
}

// Size implements [scan.Tree].
func (d *knownDir) Size() int {
	_, _, end := d.source.known.Dir(d.at)
	return end - d.at
}

// Dir implements [scan.Tree].
func (d *knownDir) Dir(n int) (path string, end int, known bool) {
	path, l, end := d.source.known.Dir(d.at + n)
	return path, end - d.at, l != nil
}

// Children implements [scan.Tree].
func (d *knownDir) Children(n int, yield func(scan.Child) bool) {
	_, l, _ := d.source.known.Dir(d.at + n)
	l.Children(yield)
}

// Left implements [scan.Tree].
func (d *knownDir) Left(n int, names []string) (left []string, lacking int) {
	_, l, _ := d.source.known.Dir(d.at + n)
	return l.Left(names, d.source.query, d.source.limit)
}

// Open implements [scan.Tree].
func (d *knownDir) Open(n int) scan.Dir {
	_, l, _ := d.source.known.Dir(d.at + n)
	return &knownDir{Listing: l, source: d.source, at: d.at + n}
}

// Read implements [scan.Dir]. What the index does not know is read from the folder. Of a
// binary file the index keeps only that it is one: that is enough for a caller who wants text,
// and all others get the bytes.
func (d *knownDir) Read(ctx context.Context, path string, scratch *[]byte, opts scan.ReadOptions) ([]byte, error) {
	data, size, ok := d.Listing.Read(path[strings.LastIndexByte(path, '/')+1:], &d.nextRead)
	if !ok || !opts.Text && len(data) < int(size) {
		return d.source.read(ctx, path, scratch, opts)
	}
	if err := ops.CheckSize(ops.ReadFile, path, size, opts.Limit); err != nil {
		return nil, provider.Classify(err)
	}
	return data, nil
}

// read reads a file of the folder.
func (s source) read(ctx context.Context, name string, scratch *[]byte, opts scan.ReadOptions) ([]byte, error) {
	h, found, err := s.f.openRegular(name, !opts.Top)
	if err == nil {
		defer h.Close()
	}
	return readText(ctx, name, h, found, err, (*scratch)[:0], scratch, opts)
}

// readText reads the rest of the open file name for a search, after data, unless there is an
// error. found and err are what opening the file returned, so that callers need not look at an
// error themselves. The result lies in *scratch, which is set to it to be used again. The
// caller closes h.
func readText(ctx context.Context, name string, h handle, found fileStat, err error, data []byte, scratch *[]byte, opts scan.ReadOptions) ([]byte, error) {
	if err != nil {
		return nil, provider.Classify(err)
	}
	r := reading{handle: h, name: name, limit: opts.Limit}
	if opts.Text && found.size > headSize {
		data, err = r.head(ctx, found.size, data, opts.Enough)
	} else {
		data, err = r.all(ctx, found.size, data)
	}
	if err != nil {
		return nil, provider.Classify(err)
	}
	*scratch = data
	return data, nil
}

// headSize is how much of a large file is read before it is known to be text.
const headSize = 64 << 10

// head is all for a large file. It reads no more than the beginning if that shows
// that the file is binary, or is enough.
//
// enough, if it is not nil, is asked again each time the head is four times as long: a file
// with a match near its beginning is not read to its end, and one without costs few more
// calls.
func (r reading) head(ctx context.Context, size int64, buf []byte, enough func(head []byte) bool) ([]byte, error) {
	if err := r.check(size); err != nil {
		return nil, err
	}
	head, err := r.all(ctx, headSize, buf)
	if err != nil || lines.IsBinary(head) {
		return head, err
	}
	for part := int64(headSize); enough != nil && part < size; {
		if enough(head) {
			return head, nil
		}
		part = min(4*part, size)
		if head, err = r.all(ctx, part, head); err != nil {
			return nil, err
		}
	}
	return r.all(ctx, size, head)
}

// Stat implements [scan.Source].
func (s source) Stat(_ context.Context, name string) (workspace.FileType, error) {
	kind, err := s.f.followedKind(name)
	return kind, provider.Classify(err)
}

// followedKind returns what name is once symlinks have been followed.
func (f *folder) followedKind(name string) (workspace.FileType, error) {
	s, err := f.lstat(name)
	if err != nil || s.kind != workspace.TypeSymlink {
		return s.kind, err
	}
	info, err := f.host.Stat(name)
	if err != nil {
		return "", err
	}
	return kindOfMode(info.Mode()), nil
}
