package objectstore

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

// probeName is what the name of the file begins with that a probe makes, and
// removes.
const probeName = ".workspacekit-probe-"

// probe finds out which conditions the store honours, by breaking them.
func (f *FS) probe(ctx context.Context) error {
	name := probeName + rand.Text()
	key := f.key(name)
	etag, err := f.put(ctx, key, []byte("probe"), nil, workspace.WriteOptions{})
	if err != nil {
		return fault(ctx, ops.WriteFile, name, err)
	}
	defer func() {
		late, cancel := f.afterwards(ctx)
		defer cancel()
		_ = f.delete(late, key, nil)
	}()
	stale := workspace.WriteOptions{IfVersion: versionOf(etag) + "0"}
	for _, broken := range []workspace.WriteOptions{{IfNotExist: true}, stale} {
		_, err := f.put(ctx, key, []byte("broken"), nil, broken)
		honoured, err := refused(err)
		if err != nil {
			return fault(ctx, ops.WriteFile, name, err)
		}
		f.compat.Unconditional = f.compat.Unconditional || !honoured
	}
	if !f.compat.Unconditional {
		if err := f.probeUpload(ctx, name); err != nil {
			return fault(ctx, ops.WriteFile, name, err)
		}
	}
	f.caps = f.compat.capabilities()
	return nil
}

// probeUpload finds out whether uploads honour conditions. name exists.
func (f *FS) probeUpload(ctx context.Context, name string) error {
	u, err := f.beginUpload(ctx, f.key(name), nil, workspace.WriteOptions{IfNotExist: true})
	if err != nil {
		return err
	}
	if err := u.send([]byte("broken")); err != nil {
		u.abort()
		return err
	}
	_, err = u.complete()
	honoured, err := refused(err)
	if err != nil || honoured {
		u.abort()
	}
	f.compat.UnconditionalUpload = err == nil && !honoured
	return err
}

// refused reports whether err, of a write whose condition does not hold, is
// what it should be. A store may also do the write, or say that it cannot.
func refused(err error) (honoured bool, failed error) {
	switch {
	case errors.Is(err, fs.ErrExist), errors.Is(err, workspace.ErrConflict):
		return true, nil
	case err == nil:
		return false, nil
	}
	if kind, _ := diagnose(err); errors.Is(kind, errors.ErrUnsupported) {
		return false, nil
	}
	return false, err
}
