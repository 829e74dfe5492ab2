package objectstore

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	"github.com/workspacekit/workspacekit/providers/objectstore/internal/bucket"
	"github.com/workspacekit/workspacekit/providers/objectstore/internal/listing"
	"github.com/workspacekit/workspacekit/providers/objectstore/internal/object"
	"github.com/workspacekit/workspacekit/workspace"
)

// Stat implements [provider.Store]: one request for a file and for the root, two
// for a directory.
func (t *tree) Stat(ctx context.Context, name string) (workspace.FileInfo, error) {
	if name == "." { // which is a directory if there is a bucket
		if _, err := t.bucket.HasAny(ctx, string(t.prefix)); err != nil {
			return workspace.FileInfo{}, err
		}
		return object.DirInfo(name), nil
	}
	info, err := t.lookup(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		err = t.missing(ctx, name)
	}
	return info, err
}

// lookup is Stat of a name below the root, with two requests at most: what is
// below a file is [fs.ErrNotExist], too.
func (t *tree) lookup(ctx context.Context, name string) (workspace.FileInfo, error) {
	found, err := t.bucket.Stat(ctx, t.prefix.Key(name))
	if err == nil {
		return found.Info(name), nil
	}
	if err = t.noFile(ctx, name, err); errors.Is(err, workspace.ErrIsDir) {
		return object.DirInfo(name), nil
	}
	return workspace.FileInfo{}, err
}

// Ls implements [provider.Store]: one request for 1,000 entries, and one more
// for an empty directory.
func (t *tree) Ls(ctx context.Context, dir string, opts workspace.LsOptions) ([]workspace.FileInfo, error) {
	l := &lister{dir: dir, prefix: t.prefix.DirKey(dir), opts: opts}
	if err := l.read(ctx, t.bucket); err != nil {
		return nil, err
	}
	if !l.found {
		return nil, t.checkDir(ctx, dir)
	}
	return l.infos, nil
}

// lister is one Ls.
type lister struct {
	dir    string
	prefix string // of the keys of dir
	opts   workspace.LsOptions
	buffer listing.ReorderBuffer
	infos  []workspace.FileInfo // the entries so far, sorted by name
	found  bool                 // a key below dir
}

// read reads pages until the listing or its limit is reached. Entries go through a
// buffer, since names and keys sort differently; what sorts before the last key of a
// page can be released.
func (l *lister) read(ctx context.Context, b *bucket.Bucket) error {
	q := listing.Query{Prefix: l.prefix, After: l.prefix + object.BeforeEscapes(l.opts.After), Limit: l.pageSize()}
	for {
		p, err := b.List(ctx, q)
		if err != nil {
			return err
		}
		l.add(p)
		if p.Token == "" {
			l.take(l.buffer.Release(""))
			return nil
		}
		if last := strings.TrimPrefix(p.Last(), l.prefix); last != "" {
			l.take(l.buffer.Release(last))
		}
		if l.full() {
			return nil
		}
		q = q.Next(p)
	}
}

// pageSize asks for two more than are wanted: a file of the same name as a
// directory, and the one that shows that a directory has ended.
func (l *lister) pageSize() int32 {
	if l.opts.Limit == 0 || l.opts.Limit > listing.MaxKeys-2 {
		return listing.MaxKeys
	}
	return int32(l.opts.Limit) + 2
}

// full reports whether the limit is reached.
func (l *lister) full() bool { return l.opts.Limit > 0 && len(l.infos) >= l.opts.Limit }

// add adds the objects and the directories of a page to the buffer. Keys that no name
// stands for, and tombstones, are left out.
func (l *lister) add(p listing.Page) {
	l.found = l.found || !p.Empty()
	for _, o := range p.Objects {
		name, ok := object.NameOf(o.Key[len(l.prefix):])
		if ok && !o.Tombstone {
			l.buffer.Add(listing.Entry{Rel: name, Info: o.Info(workspace.Join(l.dir, name))})
		}
	}
	for _, prefix := range p.Prefixes {
		if name, ok := object.NameOf(strings.TrimSuffix(prefix[len(l.prefix):], "/")); ok {
			l.buffer.Add(listing.Entry{Rel: name, Info: object.DirInfo(workspace.Join(l.dir, name))})
		}
	}
}

// take appends entries to the result. A name that is both an object and a prefix comes
// twice in a row, and the first of them stays.
func (l *lister) take(entries []listing.Entry) {
	for _, e := range entries {
		last := len(l.infos) - 1
		if l.full() || e.Rel <= l.opts.After || last >= 0 && l.infos[last].Name == e.Rel {
			continue
		}
		l.infos = append(l.infos, e.Info)
	}
}
