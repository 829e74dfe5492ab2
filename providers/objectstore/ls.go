package objectstore

import (
	"context"
	"strings"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

// Ls implements [workspace.FileSystem]: one request for 1,000 entries, and one
// more for an empty directory.
func (f *FS) Ls(ctx context.Context, dir string, opts *workspace.LsOptions) ([]workspace.FileInfo, error) {
	var o workspace.LsOptions
	if opts != nil {
		o = *opts
	}
	if err := ops.Check(ctx, ops.Ls, dir); err != nil {
		return nil, err
	}
	if err := ops.CheckLimit(ops.Ls, dir, int64(o.Limit)); err != nil {
		return nil, err
	}
	l := &listing{dir: dir, prefix: f.dirKey(dir), opts: o, infos: []workspace.FileInfo{}}
	if err := l.read(ctx, f); err != nil {
		return nil, fault(ctx, ops.Ls, dir, err)
	}
	if !l.found {
		if err := f.checkDir(ctx, ops.Ls, dir); err != nil {
			return nil, err
		}
	}
	return l.infos, nil
}

// listing is one Ls.
type listing struct {
	dir    string
	prefix string
	opts   workspace.LsOptions
	order  order
	infos  []workspace.FileInfo
	found  bool // a key below dir
}

func (l *listing) read(ctx context.Context, f *FS) error {
	q := listQuery{prefix: l.prefix, after: l.prefix + beforeEscapes(l.opts.After), limit: l.pageSize()}
	for {
		p, err := f.list(ctx, q)
		if err != nil {
			return err
		}
		l.add(p)
		last := ""
		if p.token != "" {
			last = p.last()[len(l.prefix):]
		}
		l.take(l.order.release(last))
		if p.token == "" || l.full() {
			return nil
		}
		q.token = p.token
	}
}

// pageSize asks for two more than are wanted: a file of the same name as a
// directory, and the one that shows that a directory has ended.
func (l *listing) pageSize() int32 {
	if l.opts.Limit == 0 || l.opts.Limit > maxKeys-2 {
		return maxKeys
	}
	return int32(l.opts.Limit) + 2
}

func (l *listing) full() bool { return l.opts.Limit > 0 && len(l.infos) >= l.opts.Limit }

func (l *listing) add(p page) {
	l.found = l.found || !p.empty()
	for _, o := range p.objects {
		name, ok := nameOf(o.key[len(l.prefix):])
		if ok && !o.isGone() {
			l.order.add(entry{rel: name, info: o.info(workspace.Join(l.dir, name))})
		}
	}
	for _, prefix := range p.prefixes {
		if name, ok := nameOf(strings.TrimSuffix(prefix[len(l.prefix):], "/")); ok {
			l.order.add(entry{rel: name, info: dirInfo(workspace.Join(l.dir, name))})
		}
	}
}

func (l *listing) take(entries []entry) {
	for _, e := range entries {
		last := len(l.infos) - 1
		if l.full() || e.rel <= l.opts.After || last >= 0 && l.infos[last].Name == e.rel {
			continue
		}
		l.infos = append(l.infos, e.info)
	}
}
