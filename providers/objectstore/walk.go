package objectstore

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

// maxHeld is how many entries a walk holds back before it asks the store
// whether anything is to come before them.
const maxHeld = 4000

// Walk implements [workspace.Walker]: one request for 1,000 keys, in a bounded
// amount of memory. What has been listed before is listed faster, by some
// requests at a time. A directory that fn leaves out is passed over without
// being listed if it does not end within a request's answer. Where very many
// names continue a name with one of the characters before the slash ("a-1",
// "a-2"), one request or two more find out whether that is a directory ("a").
func (f *FS) Walk(ctx context.Context, dir string, opts *workspace.WalkOptions, fn workspace.WalkFunc) error {
	if err := ops.Check(ctx, ops.Walk, dir); err != nil {
		return err
	}
	w := &walk{fs: f, ctx: ctx, dir: dir, prefix: f.dirKey(dir), fn: fn}
	if opts != nil {
		w.after = opts.After
	}
	if err := w.run(); !errors.Is(err, fs.SkipAll) {
		return err
	}
	return nil
}

// walk is one Walk.
type walk struct {
	fs     *FS
	ctx    context.Context
	dir    string
	prefix string
	after  string // paths up to it are not wanted
	fn     workspace.WalkFunc

	order order
	chain string   // the directories that the last key lies in, with a slash
	early []string // directories that have been reported before their first key
	skip  []string // directories that are left out and may not have ended
	last  string   // what was reported last
	found bool     // a key below dir
}

func (w *walk) run() error {
	start, any := w.start()
	if !any {
		return w.fs.checkDir(w.ctx, ops.Walk, w.dir)
	}
	pages := w.fs.newPager(w.ctx, w.prefix, start)
	defer pages.close()
	for {
		p, more, err := pages.next()
		if err != nil {
			return fault(w.ctx, ops.Walk, w.dir, err)
		}
		w.add(p)
		if !more {
			return w.finish()
		}
		if p.empty() {
			continue
		}
		last := p.last()[len(w.prefix):]
		if err := w.release(last); err != nil {
			return err
		}
		w.passOver(pages, last)
	}
}

// start returns the key behind which a walk begins, empty for the marker of dir
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
	if rel = beforeEscapes(rel); rel == "" {
		return "", true
	}
	return w.prefix + rel, true
}

// maxStart is how many bytes of a name a listing begins after. A name may be
// longer than any key, and than a request may be.
const maxStart = 1024

// beforeEscapes cuts name, which need not be valid, before the first character
// that has an escape or is in no key: names that follow it may have keys that
// do not.
func beforeEscapes(name string) string {
	for i, r := range name {
		if r == 0 || mayEscape(r) || i+utf8.RuneLen(r) > maxStart {
			return name[:i]
		}
	}
	return name
}

// passOver jumps over a directory that is left out and goes on behind the key
// last.
func (w *walk) passOver(pages *pager, last string) {
	for _, dir := range w.skip {
		if key := escape(dir) + "/"; strings.HasPrefix(last, key) {
			pages.jump(w.prefix + key + "\U0010ffff")
			return
		}
	}
}

// add adds the entries of p.
func (w *walk) add(p page) {
	for _, o := range p.objects {
		w.found = true
		rel := o.key[len(w.prefix):]
		w.addDirs(rel)
		if strings.HasSuffix(rel, "/") || rel == "" || o.isGone() {
			continue
		}
		if name, ok := nameOf(rel); ok {
			w.order.add(w.entry(name, o.info))
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
		name, ok := nameOf(rel[:i])
		if !ok {
			return
		}
		if !slices.Contains(w.early, name) {
			w.order.add(w.entry(name, dirInfo))
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

func (w *walk) entry(rel string, info func(path string) workspace.FileInfo) entry {
	return entry{rel: rel, info: info(workspace.Join(w.dir, rel))}
}

// release reports what can be reported once the key last has been listed.
func (w *walk) release(last string) error {
	if err := w.report(w.order.release(last)); err != nil {
		return err
	}
	for len(w.order.held) > w.fs.maxHeld {
		prefix, ok := w.order.holds(last)
		if !ok {
			break
		}
		if done, err := w.settle(prefix, last[len(prefix)]); !done {
			return err
		}
		if err := w.report(w.order.release(last)); err != nil {
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
		isDir, err := w.fs.exists(w.ctx, w.prefix+prefix+"/")
		if err != nil {
			return false, fault(w.ctx, ops.Walk, w.dir, err)
		}
		if name, ok := nameOf(prefix); ok && isDir {
			w.early = append(w.early, name)
			w.order.add(w.entry(name, dirInfo))
		}
	}
	w.order.settle(prefix)
	return true, nil
}

// hasEscapes reports whether there may be names that continue prefix with a
// character that has an escape.
func (w *walk) hasEscapes(prefix string) (bool, error) {
	p, err := w.fs.list(w.ctx, listQuery{prefix: w.prefix + prefix + "%", flat: true})
	if err != nil {
		return false, fault(w.ctx, ops.Walk, w.dir, err)
	}
	return p.token != "" || slices.ContainsFunc(p.objects, func(o object) bool {
		return escapeLen(o.key[len(w.prefix)+len(prefix):]) > 0
	}), nil
}

// finish reports the rest.
func (w *walk) finish() error {
	if !w.found {
		if err := w.nothing(); err != nil {
			return err
		}
	}
	return w.report(w.order.release(""))
}

// nothing returns the error of a walk that has met no key.
func (w *walk) nothing() error {
	switch {
	case w.dir == ".":
		return nil
	case w.after == "": // the marker has been looked for, too
		return w.fs.notDir(w.ctx, ops.Walk, w.dir)
	}
	return w.fs.checkDir(w.ctx, ops.Walk, w.dir)
}

// report calls the function of the walk for what is wanted of entries.
func (w *walk) report(entries []entry) error {
	for _, e := range entries {
		if err := w.ctx.Err(); err != nil {
			return ops.Error(ops.Walk, w.dir, err, nil)
		}
		// A key that is a file and a directory at once is shown as the file.
		twice := e.rel == w.last
		w.last = e.rel
		if twice || e.info.Path <= w.after || w.skips(e.rel) {
			continue
		}
		err := w.fn(e.info, nil)
		if errors.Is(err, fs.SkipDir) && e.info.IsDir() {
			w.skip = append(w.skip, e.rel)
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
