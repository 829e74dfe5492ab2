package objectstore

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

// prepare makes sure that a file may be made at name: that the name is no
// directory and lies in none that is a file. It sends no request if the
// directory is known, one if it exists, and otherwise one more; beyond that,
// one for each missing directory that more than 1,000 keys keep from being seen
// in the second. It returns what to call once the file has been made.
//
// # Errors
//
// [workspace.ErrIsDir], [workspace.ErrNotDir], or the store's, for op and name.
func (f *FS) prepare(ctx context.Context, op, name string) (made func(), err error) {
	if name == "." {
		return nil, ops.Error(op, name, workspace.ErrIsDir, nil)
	}
	dir, base := workspace.Split(name)
	if f.folders.holdsFile(dir, base) {
		return func() {}, nil
	}
	made = func() {}
	exists, free, err := f.look(ctx, dir, base)
	switch {
	case err == nil && !exists:
		err = f.checkMissing(ctx, dir)
		made = func() {
			f.folders.exists(dir)
			f.folders.learn(dir, nil, "")
		}
	case err == nil && !free:
		err = f.checkFree(ctx, name)
	}
	return made, prepareError(ctx, op, name, err)
}

func prepareError(ctx context.Context, op, name string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, workspace.ErrIsDir), errors.Is(err, workspace.ErrNotDir):
		return ops.Error(op, name, err, nil)
	}
	return fault(ctx, op, name, err)
}

// look lists the directory dir and remembers what it has learned of it. It
// reports whether dir exists, and whether it was seen to have no directory
// base.
func (f *FS) look(ctx context.Context, dir, base string) (exists, free bool, err error) {
	prefix := f.dirKey(dir)
	p, err := f.list(ctx, listQuery{prefix: prefix})
	if err != nil {
		return false, false, err
	}
	if p.empty() && dir != "." {
		return false, false, nil
	}
	var dirs []string
	for _, key := range p.prefixes {
		if name, ok := nameOf(strings.TrimSuffix(key[len(prefix):], "/")); ok {
			dirs = append(dirs, name)
		}
	}
	upTo := ""
	if p.token != "" {
		upTo = p.last()[len(prefix):]
	}
	f.folders.exists(dir)
	f.folders.learn(dir, dirs, upTo)
	free = !slices.Contains(dirs, base) && (upTo == "" || escape(base)+"/" <= upTo)
	return true, free, nil
}

// checkFree returns [workspace.ErrIsDir] if name is a directory.
func (f *FS) checkFree(ctx context.Context, name string) error {
	isDir, err := f.exists(ctx, f.dirKey(name))
	if err == nil && isDir {
		f.folders.exists(name)
		return workspace.ErrIsDir
	}
	return err
}

// checkMissing returns [workspace.ErrNotDir] if the directory dir, in which
// there is nothing, or one that it lies in is a file.
func (f *FS) checkMissing(ctx context.Context, dir string) error {
	unknown := f.unknown(dir)
	if len(unknown) == 0 {
		return nil
	}
	top := f.key(unknown[len(unknown)-1])
	p, err := f.list(ctx, listQuery{prefix: top, flat: true})
	if err != nil {
		return err
	}
	var unseen []string
	for _, name := range unknown {
		switch key := f.key(name); {
		case p.hasFile(key):
			return workspace.ErrNotDir
		case p.token != "" && key > p.last():
			unseen = append(unseen, name)
		}
	}
	file, err := f.fileAmong(ctx, unseen)
	if file {
		return workspace.ErrNotDir
	}
	return err
}

// unknown returns dir and the directories that it lies in, as far as they are
// not known to exist.
func (f *FS) unknown(dir string) []string {
	all := ancestors(dir)
	for i, name := range all {
		if f.folders.has(name) {
			return all[:i]
		}
	}
	return all
}

// hasFile reports whether the page has an object that is a file at key.
func (p page) hasFile(key string) bool {
	for _, o := range p.objects {
		if o.key == key {
			return !o.isGone()
		}
	}
	return false
}
