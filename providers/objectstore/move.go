package objectstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/workspacekit/workspacekit/providers/objectstore/internal/answer"
	"github.com/workspacekit/workspacekit/providers/objectstore/internal/bucket"
	"github.com/workspacekit/workspacekit/providers/objectstore/internal/object"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/provider"
)

// Copy implements [provider.Copier]. The store copies; nothing passes through
// the caller. It takes two requests, and two more where the store does not
// honour conditions of a CopyObject or the file has 5 GiB or more, beside those
// that look for the directory as in WriteFile. The copy has the content type,
// the other headers, the user metadata, the storage class and the tags of the
// source.
func (t *tree) Copy(ctx context.Context, source, destination string) (workspace.Version, error) {
	from, err := t.copySource(ctx, source)
	if err != nil {
		return "", err
	}
	if source == destination {
		return "", provider.At(destination, fs.ErrExist)
	}
	copied, err := t.copyFile(ctx, from, source, destination)
	if err != nil {
		return "", err
	}
	return t.wrote(destination, from.Size, copied.ETag), nil
}

// copySource describes the object of the file name. The errors are those of a
// read.
func (t *tree) copySource(ctx context.Context, name string) (bucket.Head, error) {
	if name == "." {
		return bucket.Head{}, workspace.ErrIsDir
	}
	found, err := t.bucket.Stat(ctx, t.prefix.Key(name))
	if err != nil {
		return bucket.Head{}, t.unreadable(ctx, name, err)
	}
	return found, nil
}

// copyFile copies the object from, which is the file source, to the name
// destination, where nothing may be.
func (t *tree) copyFile(ctx context.Context, from bucket.Head, source, destination string) (bucket.Written, error) {
	learn, err := t.checkParent(ctx, destination)
	if errors.Is(err, workspace.ErrIsDir) {
		err = fs.ErrExist
	}
	if err != nil {
		return bucket.Written{}, provider.At(destination, err)
	}
	copied, err := t.bucket.Copy(ctx, from, t.prefix.Key(destination))
	if errors.Is(err, bucket.ErrSourceChanged) {
		if _, gone := t.copySource(ctx, source); gone != nil {
			err = gone // somebody else has removed it
		}
		return bucket.Written{}, err
	}
	if err != nil {
		return bucket.Written{}, provider.At(destination, t.writeError(ctx, destination, err))
	}
	learn()
	return copied, nil
}

// Move implements [provider.Mover]. A store cannot rename: a file is copied, as
// by Copy, and then removed if it is still what was copied, in two to four
// requests more.
//
// A directory moves file by file, so others may see a part of it at each name,
// and a Move that fails or is killed may leave it so. The marker of the new
// directory says what is being moved to it, and the same Move again continues
// where that one ended. Moves of one directory at the same moment share out its
// files.
func (t *tree) Move(ctx context.Context, source, destination string) error {
	if destination == "." || destination == source {
		if _, err := t.Stat(ctx, source); err != nil {
			return err
		}
		return provider.At(destination, fs.ErrExist)
	}
	found, err := t.bucket.Find(ctx, t.prefix.Key(source), bucket.FindKeys)
	switch {
	case err != nil:
		return err
	case !found.Exists():
		return t.moveMissing(ctx, source, destination)
	case !found.IsDir():
		return t.moveFile(ctx, source, destination)
	case strings.HasPrefix(destination, source+"/"):
		return provider.Errorf(fs.ErrInvalid, "a directory cannot be moved into itself")
	}
	return t.moveDir(ctx, source, destination)
}

// moveFile copies an object to its new name and then removes the old one, since stores
// have no rename. Another process may move or write the source in between: Take removes
// just the version that was copied, and if somebody else has taken it, the copy is
// undone.
func (t *tree) moveFile(ctx context.Context, source, destination string) error {
	from, err := t.copySource(ctx, source)
	if err != nil {
		return err
	}
	if err := t.keepParent(ctx, source); err != nil {
		return err
	}
	copied, err := t.copyFile(ctx, from, source, destination)
	if err != nil {
		return err
	}
	t.wrote(destination, from.Size, copied.ETag)
	err = t.bucket.Take(ctx, from, copied)
	switch {
	case errors.Is(err, bucket.ErrTaken):
		err = t.undoCopy(ctx, source, destination, copied)
		t.watches.removed(destination)
		return err
	case err != nil:
		return answer.Within(err, "it has been copied to the new name, and may not have been removed from the old one")
	}
	t.watches.removed(source)
	return nil
}

// undoCopy deletes the copy of a source that somebody else has written or
// moved before it could be removed. It returns the error of the move.
func (t *tree) undoCopy(ctx context.Context, source, destination string, copied bucket.Written) error {
	late, cancel := bucket.Afterwards(ctx)
	defer cancel()
	if err := t.bucket.TakeBack(late, copied); err != nil {
		return provider.At(destination, answer.Within(err, "somebody else has changed or removed the file, and the copy may have stayed"))
	}
	isFile, err := t.isFile(ctx, source)
	switch {
	case err != nil:
		return err
	case isFile:
		return bucket.ErrSourceChanged
	}
	return t.missing(ctx, source)
}

// moveMissing moves the directory source, which does not exist. That is an error
// unless a Move of it ended before it could say in the marker that it was done.
func (t *tree) moveMissing(ctx context.Context, source, destination string) error {
	m := t.bucket.NewDirMove(t.prefix.DirKey(source), t.prefix.DirKey(destination))
	begun, err := m.Resume(ctx)
	switch {
	case err != nil:
		return provider.At(destination, err)
	case !begun:
		return t.missing(ctx, source)
	}
	return provider.At(destination, m.Finish(ctx))
}

// moveDir moves the directory source.
func (t *tree) moveDir(ctx context.Context, source, destination string) error {
	m := t.bucket.NewDirMove(t.prefix.DirKey(source), t.prefix.DirKey(destination))
	m.Copied = func(key, etag string) {
		if name, ok := object.NameOf(key[len(t.prefix):]); ok {
			t.watches.wrote(object.Object{ETag: etag}.Info(name))
		}
	}
	if err := t.claim(ctx, m, destination); err != nil {
		return provider.At(destination, err)
	}
	err := t.keepParent(ctx, source)
	if err == nil {
		err = m.Run(ctx)
		t.dirCache.Forget(source) // not earlier, as in remove
	}
	if err != nil {
		return t.moveError(ctx, m, destination, err)
	}
	t.watches.renamed(source, destination)
	return nil
}

// claim creates the directory destination, which must not exist unless it is the
// one of a move that is not done.
func (t *tree) claim(ctx context.Context, m *bucket.DirMove, destination string) error {
	found, err := t.bucket.Find(ctx, t.prefix.Key(destination), bucket.FindKeys)
	resumed := false
	if err == nil && found.IsDir() {
		resumed, err = m.Resume(ctx)
	}
	switch {
	case err != nil:
		return err
	case found.Exists() && !resumed:
		return fs.ErrExist
	}
	if !resumed {
		if err := t.checkNewDir(ctx, destination, true); err != nil {
			return err
		}
	}
	since := t.dirCache.Now()
	if err := m.Claim(ctx); err != nil {
		return t.writeError(ctx, destination, err)
	}
	t.dirCache.Mark(since, destination)
	return nil
}

// moveError returns the error of a move that failed with err. The destination is
// removed if nothing has been moved to it.
func (t *tree) moveError(ctx context.Context, m *bucket.DirMove, destination string, err error) error {
	exists := errors.Is(err, fs.ErrExist)
	if exists {
		err = answer.New(fs.ErrExist, "somebody else has created a file in it")
	}
	late, cancel := bucket.Afterwards(ctx)
	defer cancel()
	if !m.Resumed() && m.Disclaim(late) {
		t.dirCache.Forget(destination)
	} else {
		err = answer.Within(err, fmt.Sprintf("it has moved in part: at least %d files have the new name alone,"+
			" and others may have both; move it again to go on", m.Moved()))
	}
	if exists {
		return provider.At(destination, err)
	}
	return err
}
