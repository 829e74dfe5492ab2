package objectstore

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/workspacekit/workspacekit/providers/objectstore/internal/listing"
	"github.com/workspacekit/workspacekit/providers/objectstore/internal/object"
	"github.com/workspacekit/workspacekit/workspace"
)

// A store knows no directories, so it lets a file lie in another file, and at the
// name of a directory. What follows keeps files apart from directories, with as
// few requests as that takes.

// checkParent makes sure that a file may be created at name: that the name is no
// directory and lies in none that is a file. It sends no request if the
// directory is known, one if it exists, and otherwise one more; beyond that,
// one for each missing directory that more than 1,000 keys keep from being seen
// in the second. It returns what to call once the file has been created.
//
// # Errors
//
// [workspace.ErrIsDir], [workspace.ErrNotDir], or the store's.
func (t *tree) checkParent(ctx context.Context, name string) (learn func(), err error) {
	if name == "." {
		return nil, workspace.ErrIsDir
	}
	learn = func() {}
	dir, base := workspace.Split(name)
	if t.dirCache.HoldsFile(dir, base) {
		return learn, nil
	}
	since := t.dirCache.Now()
	exists, free, err := t.listParent(ctx, dir, base)
	switch {
	case err == nil && !exists:
		err = t.checkMissing(ctx, dir)
		learn = func() { t.dirCache.Learn(since, dir, nil, "") }
	case err == nil && !free:
		err = t.checkFree(ctx, name)
	}
	return learn, err
}

// listParent lists the directory dir and remembers what it has learned of it. It
// reports whether dir exists, and whether it was seen to have no directory
// base.
func (t *tree) listParent(ctx context.Context, dir, base string) (exists, free bool, err error) {
	since, prefix := t.dirCache.Now(), t.prefix.DirKey(dir)
	p, err := t.bucket.List(ctx, listing.Query{Prefix: prefix})
	if err != nil {
		return false, false, err
	}
	if p.Empty() && dir != "." {
		return false, false, nil
	}
	var dirs []string
	for _, key := range p.Prefixes {
		if name, ok := object.NameOf(strings.TrimSuffix(key[len(prefix):], "/")); ok {
			dirs = append(dirs, name)
		}
	}
	upTo := ""
	if p.Token != "" {
		if upTo = strings.TrimPrefix(p.Last(), prefix); upTo == "" { // which would mean all
			return true, false, nil
		}
	}
	t.dirCache.Learn(since, dir, dirs, upTo)
	free = !slices.Contains(dirs, base) && (upTo == "" || object.Escape(base)+"/" <= upTo)
	return true, free, nil
}

// checkFree returns [workspace.ErrIsDir] if name is a directory.
func (t *tree) checkFree(ctx context.Context, name string) error {
	since := t.dirCache.Now()
	isDir, err := t.bucket.HasAny(ctx, t.prefix.DirKey(name))
	if err == nil && isDir {
		t.dirCache.Exists(since, name)
		return workspace.ErrIsDir
	}
	return err
}

// checkMissing returns [workspace.ErrNotDir] if the directory dir, in which
// there is nothing, or one that it lies in is a file.
func (t *tree) checkMissing(ctx context.Context, dir string) error {
	unknown := t.dirCache.Unknown(dir)
	if len(unknown) == 0 {
		return nil
	}
	top := t.prefix.Key(unknown[len(unknown)-1])
	p, err := t.bucket.List(ctx, listing.Query{Prefix: top, Flat: true})
	if err != nil {
		return err
	}
	var unseen []string
	for _, name := range unknown {
		switch key := t.prefix.Key(name); {
		case p.HasFile(key):
			return workspace.ErrNotDir
		case p.Token != "" && key > p.Last():
			unseen = append(unseen, name)
		}
	}
	file, err := t.fileAmong(ctx, unseen)
	if file {
		return workspace.ErrNotDir
	}
	return err
}

// fileAmong reports whether any of names is a file. It asks for all at once,
// but for those that are known to be directories.
func (t *tree) fileAmong(ctx context.Context, names []string) (bool, error) {
	found := make([]bool, len(names))
	errs := make([]error, len(names))
	var group sync.WaitGroup
	for i, name := range names {
		if t.dirCache.Has(name) {
			break // and so are those that it lies in
		}
		group.Go(func() { found[i], errs[i] = t.isFile(ctx, name) })
	}
	group.Wait()
	if slices.Contains(found, true) {
		return true, nil
	}
	for _, err := range errs {
		if err != nil {
			return false, err
		}
	}
	return false, nil
}

// missing returns the error for name, which is neither file nor directory:
// [workspace.ErrNotDir] if an element in the middle of it is a file, and
// otherwise [fs.ErrNotExist]. It sends no request if the directory that name lies
// in is known, one if it exists or lies at the top, and otherwise those of
// checkMissing beside that one.
func (t *tree) missing(ctx context.Context, name string) error {
	parent, _ := workspace.Split(name)
	if err := t.findFile(ctx, parent); err != nil {
		return err
	}
	return fs.ErrNotExist
}

// findFile returns [workspace.ErrNotDir] if dir or a directory that it lies in is
// a file.
func (t *tree) findFile(ctx context.Context, dir string) error {
	switch len(t.dirCache.Unknown(dir)) {
	case 0:
		return nil
	case 1:
		isFile, err := t.isFile(ctx, dir)
		if isFile {
			return workspace.ErrNotDir
		}
		return err
	}
	since := t.dirCache.Now()
	exists, err := t.bucket.HasAny(ctx, t.prefix.DirKey(dir))
	if err != nil {
		return err
	}
	if exists {
		t.dirCache.Exists(since, dir)
		return nil
	}
	return t.checkMissing(ctx, dir)
}

// checkDir returns nil if the directory name exists.
func (t *tree) checkDir(ctx context.Context, name string) error {
	if name == "." {
		return nil
	}
	isDir, err := t.bucket.HasAny(ctx, t.prefix.DirKey(name))
	if err != nil || isDir {
		return err
	}
	return t.notDir(ctx, name)
}

// notDir returns the error for name, in which there is nothing.
func (t *tree) notDir(ctx context.Context, name string) error {
	isFile, err := t.isFile(ctx, name)
	switch {
	case err != nil:
		return err
	case isFile:
		return workspace.ErrNotDir
	}
	return t.missing(ctx, name)
}

// isFile reports whether an object has the name itself. It takes one request.
func (t *tree) isFile(ctx context.Context, name string) (bool, error) {
	_, err := t.bucket.Stat(ctx, t.prefix.Key(name))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
