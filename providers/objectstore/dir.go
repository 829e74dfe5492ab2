package objectstore

import (
	"context"
	"errors"
	"io/fs"

	"github.com/workspacekit/workspacekit/providers/objectstore/internal/bucket"
	"github.com/workspacekit/workspacekit/providers/objectstore/internal/listing"
	"github.com/workspacekit/workspacekit/providers/objectstore/internal/object"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/provider"
)

// Mkdir implements [provider.Store]: three requests at most, as WriteFile has them
// if it is recursive, and two if the parent is known.
func (t *tree) Mkdir(ctx context.Context, name string, opts workspace.MkdirOptions) error {
	if name == "." {
		info, err := t.Stat(ctx, name)
		return provider.CheckMkdir(info, err, opts)
	}
	found, err := t.bucket.Find(ctx, t.prefix.Key(name), bucket.FindKeys)
	switch {
	case err != nil:
		return err
	case found.File != nil:
		return provider.CheckMkdir(found.File.Info(name), nil, opts)
	case found.IsDir():
		return provider.CheckMkdir(object.DirInfo(name), nil, opts)
	}
	if err := t.checkNewDir(ctx, name, opts.Recursive); err != nil {
		return err
	}
	since := t.dirCache.Now()
	o := workspace.WriteOptions{IfNotExist: t.compat.capabilities().ConditionalWrite}
	_, err = t.bucket.Put(ctx, t.prefix.DirKey(name), nil, bucket.MarkerDescription, o)
	if errors.Is(err, fs.ErrExist) {
		return provider.CheckMkdir(object.DirInfo(name), nil, opts)
	}
	if err != nil {
		return err
	}
	t.dirCache.Mark(since, name)
	t.watches.created(name)
	return nil
}

// checkNewDir returns the error of a Mkdir whose parent does not exist, or
// cannot be created.
func (t *tree) checkNewDir(ctx context.Context, name string, recursive bool) error {
	parent, _ := workspace.Split(name)
	switch {
	case t.dirCache.Has(parent):
		return nil
	case recursive:
		return t.checkMissing(ctx, parent)
	}
	return t.checkDir(ctx, parent)
}

// keepParent makes sure that the directory that name lies in stays when name is
// deleted.
func (t *tree) keepParent(ctx context.Context, name string) error {
	parent, _ := workspace.Split(name)
	if parent == "." || t.dirCache.Marked(parent) {
		return nil
	}
	since := t.dirCache.Now()
	err := t.bucket.PutMarker(ctx, t.prefix.DirKey(parent))
	if err == nil {
		t.dirCache.Mark(since, parent)
	}
	return err
}

// Rm implements [provider.Store]: three requests at most for a file or an empty
// directory, and two for each 1,000 keys below a directory, beside the one that
// keeps the directory it lies in. Where very many names continue the name of a
// directory, one more finds it.
func (t *tree) Rm(ctx context.Context, name string, opts workspace.RmOptions) error {
	keys := int32(bucket.FindKeys)
	if opts.Recursive {
		keys = listing.MaxKeys
	}
	found, err := t.bucket.Find(ctx, t.prefix.Key(name), keys)
	switch {
	case err != nil:
		return err
	case !found.Exists():
		return t.missing(ctx, name)
	case found.IsDir() && !opts.Recursive && !found.Empty:
		return workspace.ErrNotEmpty
	}
	if err := t.remove(ctx, name, found); err != nil {
		return err
	}
	t.watches.removed(name)
	return nil
}

// remove removes what was found at name, and keeps the directory it lies in.
func (t *tree) remove(ctx context.Context, name string, found bucket.Finding) error {
	if err := t.keepParent(ctx, name); err != nil {
		return err
	}
	if !found.IsDir() {
		return t.bucket.Delete(ctx, t.prefix.Key(name))
	}
	defer t.dirCache.Forget(name) // afterwards: what was seen meanwhile may be deleted
	return t.bucket.RemoveTree(ctx, t.prefix.DirKey(name), found)
}
