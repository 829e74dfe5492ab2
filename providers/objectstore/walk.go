package objectstore

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/workspacekit/workspacekit/internal/ignore"
	"github.com/workspacekit/workspacekit/internal/lines"
	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/scan"
	"github.com/workspacekit/workspacekit/internal/trigram"
	"github.com/workspacekit/workspacekit/providers/objectstore/internal/listing"
	"github.com/workspacekit/workspacekit/providers/objectstore/internal/object"
	"github.com/workspacekit/workspacekit/workspace"
)

// GlobSource implements [scan.Searcher]. A Glob lists only below what is literal at
// the beginning of its pattern: 1,000 keys with one request from the first "**" on,
// and before that directory by directory, so as not to list what is deeper.
func (t *tree) GlobSource(string, workspace.GlobOptions) scan.Source {
	return source{tree: t, ignoreFiles: new(sync.Map)}
}

// GrepSource implements [scan.Searcher]. A Grep lists as Walk does, and downloads
// with one request each the files that the globs, the limit of the size, the
// cache and the index leave over, several at a time.
func (t *tree) GrepSource(pattern string, opts workspace.GrepOptions, _ scan.Hidden) (src scan.Source, workers int) {
	s := source{tree: t, ignoreFiles: new(sync.Map)}
	if t.summaries != nil {
		s.query = trigram.PlanGrep(pattern, opts)
	}
	return s, t.opts.Workers
}

// source shows a tree to the search engine, which takes names from patterns: a
// pattern without a wildcard need not be a valid name.
type source struct {
	tree  *tree
	query trigram.Query // what a text must meet for the pattern to match in it
	// ignoreFiles has the versions of the ignore files that the listing has shown, by name.
	ignoreFiles *sync.Map
}

var _ scan.Walker = source{}

// List implements [scan.Source].
func (s source) List(ctx context.Context, dir string, _ bool) ([]scan.Child, error) {
	if err := s.tree.checkName(dir); err != nil {
		return nil, err
	}
	infos, err := s.tree.Ls(ctx, dir, workspace.LsOptions{})
	if err != nil {
		return nil, err
	}
	children := make([]scan.Child, len(infos))
	for i, info := range infos {
		children[i] = scan.Child{Name: info.Name, Type: info.Type}
		s.listed(info)
	}
	return children, nil
}

// Walk implements [scan.Walker].
func (s source) Walk(ctx context.Context, dir, after string, visit func(workspace.FileInfo) error) error {
	if err := s.tree.checkName(dir); err != nil {
		return err
	}
	return s.tree.walk(&walk{ctx: ctx, dir: dir, after: after, listed: s.listed, fn: func(info workspace.FileInfo, _ error) error {
		return visit(info)
	}})
}

// listed notes the version of an ignore file. A page shows it before the search needs its rules,
// unless a directory begins with the last names of a page.
func (s source) listed(info workspace.FileInfo) {
	if path.Base(info.Path) == ignore.FileName {
		s.ignoreFiles.Store(info.Path, info.Version)
	}
}

// Stat implements [scan.Source].
func (s source) Stat(ctx context.Context, name string) (workspace.FileType, error) {
	if err := s.tree.checkName(name); err != nil {
		return "", err
	}
	info, err := s.tree.Stat(ctx, name)
	return info.Type, err
}

// Lookup implements [scan.Walker].
func (s source) Lookup(ctx context.Context, name string) (workspace.FileType, error) {
	if err := s.tree.checkName(name); err != nil {
		return "", err
	}
	info, err := s.tree.lookup(ctx, name)
	return info.Type, err
}

// WasFile implements [scan.Walker].
func (s source) WasFile(name string) bool { return s.tree.contentCache.Has(name) }

// Read implements [scan.Source].
func (s source) Read(ctx context.Context, name string, _ *[]byte, opts scan.ReadOptions) ([]byte, error) {
	t, known := s.tree, opts.Known
	if known == nil {
		return s.readUnlisted(ctx, name, opts)
	}
	if err := ops.CheckSize(ops.ReadFile, name, known.Size, opts.Limit); err != nil || known.Size == 0 {
		return nil, err
	}
	if set, ok := t.summaries.Get(name, known.Version); ok && opts.Text {
		switch {
		case len(set) == 0:
			return []byte{0}, nil // as binary as the file
		case !s.query.Meets(set):
			return nil, nil // in which as little matches
		}
	}
	if data, ok := t.contentCache.Get(name, known.Version); ok {
		return data, nil
	}
	o, data, err := t.bucket.ReadText(ctx, t.prefix.Key(name), opts.Limit, opts.Enough)
	if err != nil {
		return nil, t.unreadable(ctx, name, err)
	}
	if int64(len(data)) == o.Size || !t.compat.VerifyETags && opts.Enough == nil {
		t.contentCache.Put(name, o.Version(), data)
		t.summarise(name, o.Version(), data)
	}
	return data, nil
}

// readUnlisted returns the content of an ignore file, or of the file at which the search begins.
// The search knows no more of it than what listed has noted. If there is no ignore file, the
// reason does not matter: the search looks in each directory above the one that it lists.
func (s source) readUnlisted(ctx context.Context, name string, opts scan.ReadOptions) ([]byte, error) {
	t := s.tree
	if version, ok := s.ignoreFiles.LoadAndDelete(name); ok { // it is read once in a search
		if data, ok := t.contentCache.Get(name, version.(workspace.Version)); ok && int64(len(data)) <= opts.Limit {
			return data, nil
		}
	}
	if opts.Top && t.contentCache.Has(name) {
		if o, err := t.bucket.Stat(ctx, t.prefix.Key(name)); err == nil && ops.CheckSize(ops.ReadFile, name, o.Size, opts.Limit) == nil {
			if data, ok := t.contentCache.Get(name, o.Version()); ok {
				return data, nil
			}
		}
	}
	o, data, err := t.bucket.Read(ctx, t.prefix.Key(name), opts.Limit)
	switch {
	case err == nil:
		t.contentCache.Put(name, o.Version(), data)
	case opts.Top:
		err = t.unreadable(ctx, name, err)
	}
	return data, err
}

// summarise keeps a summary of data, the content of a version of the file name, or the
// beginning if it is binary.
func (t *tree) summarise(name string, version workspace.Version, data []byte) {
	switch {
	case t.summaries == nil:
	case lines.IsBinary(data):
		t.summaries.Put(name, version, nil)
	default:
		t.summaries.Put(name, version, trigram.Append(nil, data))
	}
}

// maxHeld is how many entries a walk holds back before it asks the store
// whether anything comes before them.
const maxHeld = 4000

// Walk implements [provider.Walker]: one request for 1,000 keys, in a bounded
// amount of memory. What has been listed before is listed faster, by some
// requests at a time. A directory that fn leaves out is passed over without
// being listed if it does not end within a request's answer. Where very many
// names continue a name with one of the characters before the slash ("a-1",
// "a-2"), one request or two more find out whether that is a directory ("a").
func (t *tree) Walk(ctx context.Context, dir string, opts workspace.WalkOptions, fn workspace.WalkFunc) error {
	return t.walk(&walk{ctx: ctx, dir: dir, after: opts.After, fn: fn})
}

// walk is Walk as w says.
func (t *tree) walk(w *walk) error {
	w.tree, w.prefix = t, t.prefix.DirKey(w.dir)
	if err := w.run(); !errors.Is(err, fs.SkipAll) {
		return err
	}
	return nil
}

// walk is one Walk.
type walk struct {
	tree   *tree
	ctx    context.Context
	dir    string // where the walk begins
	prefix string // of the keys of dir
	after  string // paths up to it are not wanted
	fn     workspace.WalkFunc
	listed func(workspace.FileInfo) // is called for each file once it is listed; may be nil

	buffer listing.ReorderBuffer
	chain  string   // the directories that the last key lies in, with a slash
	early  []string // directories that have been reported before their first key
	skip   []string // directories that are left out and may not have ended
	passed string   // the last of them that was jumped over
	last   string   // what was reported last
	found  bool     // a key below dir
}

// run reads pages ahead of the walk, and gives their entries to the caller in the order
// of names. After each page it can leave out the keys below a directory that the caller
// skips.
func (w *walk) run() error {
	start, any := w.start()
	if !any {
		return w.tree.checkDir(w.ctx, w.dir)
	}
	pages := listing.NewPager(w.ctx, w.tree.bucket.List, &w.tree.pageBoundaries, w.prefix, start)
	defer pages.Close()
	for {
		p, more, err := pages.Next()
		if err != nil {
			return err
		}
		w.add(p)
		if !more {
			return w.finish()
		}
		last := strings.TrimPrefix(p.Last(), w.prefix)
		if last == "" {
			continue
		}
		if err := w.release(last); err != nil {
			return err
		}
		w.passOver(pages, last)
	}
}

// start returns the key after which a walk begins, empty for the marker of dir
// and all below, and false if all below dir comes before w.after.
func (w *walk) start() (key string, any bool) {
	rel := w.after
	if w.dir != "." {
		below, ok := strings.CutPrefix(w.after, w.dir+"/")
		if !ok {
			return "", w.after < w.dir+"/"
		}
		rel = below
	}
	if rel = object.BeforeEscapes(rel); rel == "" {
		return "", true
	}
	return w.prefix + rel, true
}

// passOver jumps over a directory that is left out and continues after the key
// last. One that has not ended then is listed: it has names that begin with U+10FFFF,
// and would begin again after each jump.
func (w *walk) passOver(pages *listing.Pager, last string) {
	for _, dir := range w.skip {
		if key := object.Escape(dir) + "/"; strings.HasPrefix(last, key) {
			if key != w.passed {
				pages.Jump(w.prefix + key + "\U0010ffff")
			}
			w.passed = key
			return
		}
	}
}

// add adds the entries of p.
func (w *walk) add(p listing.Page) {
	for _, o := range p.Objects {
		w.found = true
		rel := o.Key[len(w.prefix):]
		w.addDirs(rel)
		if strings.HasSuffix(rel, "/") || rel == "" || o.Tombstone {
			continue
		}
		if name, ok := object.NameOf(rel); ok {
			e := w.entry(name, o.Info)
			if w.listed != nil {
				w.listed(e.Info)
			}
			w.buffer.Add(e)
		}
	}
}

// addDirs adds the directories that the key rel lies in and the key before it
// does not.
func (w *walk) addDirs(rel string) {
	if strings.HasPrefix(rel, w.chain) && strings.IndexByte(rel[len(w.chain):], '/') < 0 {
		return
	}
	shared := sharedDirs(w.chain, rel)
	w.chain = rel[:strings.LastIndexByte(rel, '/')+1]
	for i := shared; i < len(w.chain); i++ {
		if rel[i] != '/' {
			continue
		}
		name, ok := object.NameOf(rel[:i])
		if !ok {
			return
		}
		if !slices.Contains(w.early, name) {
			w.buffer.Add(w.entry(name, object.DirInfo))
		}
	}
}

// sharedDirs returns the length of what a and b have in common, up to a slash.
func sharedDirs(a, b string) int {
	n := 0
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			break
		}
		if a[i] == '/' {
			n = i + 1
		}
	}
	return n
}

// entry returns an entry by its path below the directory of the walk.
func (w *walk) entry(rel string, info func(path string) workspace.FileInfo) listing.Entry {
	return listing.Entry{Rel: rel, Info: info(workspace.Join(w.dir, rel))}
}

// release reports what can be reported once the key last has been listed.
func (w *walk) release(last string) error {
	if err := w.report(w.buffer.Release(last)); err != nil {
		return err
	}
	for w.buffer.Len() > w.tree.maxHeld {
		prefix, ok := w.buffer.HoldsFor(last)
		if !ok {
			break
		}
		if done, err := w.settle(prefix, last[len(prefix)]); !done {
			return err
		}
		if err := w.report(w.buffer.Release(last)); err != nil {
			return err
		}
	}
	return nil
}

// settle finds out what is yet to come before the names that begin with prefix
// and next. It returns false if there are names with escapes, which makes the
// walk hold back everything until they come.
func (w *walk) settle(prefix string, next byte) (done bool, err error) {
	if next <= '%' {
		escapes, err := w.hasEscapes(prefix)
		if escapes || err != nil {
			return false, err
		}
	}
	if prefix != "" && !strings.HasSuffix(prefix, "/") {
		isDir, err := w.tree.bucket.HasAny(w.ctx, w.prefix+prefix+"/")
		if err != nil {
			return false, err
		}
		if name, ok := object.NameOf(prefix); ok && isDir {
			w.early = append(w.early, name)
			w.buffer.Add(w.entry(name, object.DirInfo))
		}
	}
	w.buffer.Settle(prefix)
	return true, nil
}

// hasEscapes reports whether there may be names that continue prefix with a
// character that has an escape.
func (w *walk) hasEscapes(prefix string) (bool, error) {
	p, err := w.tree.bucket.List(w.ctx, listing.Query{Prefix: w.prefix + prefix + "%", Flat: true})
	if err != nil {
		return false, err
	}
	return p.Token != "" || slices.ContainsFunc(p.Objects, func(o object.Object) bool {
		return object.EscapeLen(o.Key[len(w.prefix)+len(prefix):]) > 0
	}), nil
}

// finish reports the rest.
func (w *walk) finish() error {
	if !w.found {
		if err := w.nothing(); err != nil {
			return err
		}
	}
	return w.report(w.buffer.Release(""))
}

// nothing returns the error of a walk that has met no key.
func (w *walk) nothing() error {
	switch {
	case w.dir == ".":
		return nil
	case w.after == "": // the marker has been looked for, too
		return w.tree.notDir(w.ctx, w.dir)
	}
	return w.tree.checkDir(w.ctx, w.dir)
}

// report calls the function of the walk for what is wanted of entries.
func (w *walk) report(entries []listing.Entry) error {
	for _, e := range entries {
		if err := w.ctx.Err(); err != nil {
			return err
		}
		// A key that is a file and a directory at once is shown as the file.
		twice := e.Rel == w.last
		w.last = e.Rel
		if twice || e.Info.Path <= w.after || w.skips(e.Rel) {
			continue
		}
		err := w.fn(e.Info, nil)
		if errors.Is(err, fs.SkipDir) && e.Info.IsDir() {
			w.skip = append(w.skip, e.Rel)
			continue
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// skips reports whether rel lies in a directory that is left out, and forgets
// those that have ended.
func (w *walk) skips(rel string) bool {
	for len(w.skip) > 0 {
		last := w.skip[len(w.skip)-1] + "/"
		if strings.HasPrefix(rel, last) {
			return true
		}
		if rel < last {
			return false // what the others hold comes later
		}
		w.skip = w.skip[:len(w.skip)-1]
	}
	return false
}
