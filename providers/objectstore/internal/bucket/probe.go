package bucket

import (
	"context"
	"errors"
	"io/fs"

	"github.com/workspacekit/workspacekit/providers/objectstore/internal/object"
	"github.com/workspacekit/workspacekit/workspace"
)

// Probe finds out which conditions the store honours, by breaking them with the
// object key, which must not exist. The Bucket adapts to what it finds, and Probe
// returns that.
func (b *Bucket) Probe(ctx context.Context, key string) (Options, error) {
	etag, err := b.Put(ctx, key, []byte("probe"), nil, workspace.WriteOptions{})
	if err != nil {
		return b.opts, err
	}
	defer func() {
		late, cancel := Afterwards(ctx)
		defer cancel()
		_ = b.Delete(late, key)
	}()
	stale := workspace.WriteOptions{IfVersion: object.VersionOf(etag) + "0"}
	for _, broken := range []workspace.WriteOptions{{IfNotExist: true}, stale} {
		_, err := b.Put(ctx, key, []byte("broken"), nil, broken)
		honoured, err := refused(err)
		if err != nil {
			return b.opts, err
		}
		b.opts.Unconditional = b.opts.Unconditional || !honoured
	}
	if !b.opts.Unconditional && !b.opts.UnconditionalUpload {
		err = b.probeUpload(ctx, key)
	}
	return b.opts, err
}

// probeUpload finds out whether uploads honour conditions. key exists.
func (b *Bucket) probeUpload(ctx context.Context, key string) error {
	u, err := b.BeginUpload(ctx, key, nil, workspace.WriteOptions{IfNotExist: true})
	if err != nil {
		return err
	}
	if err := u.Send([]byte("broken")); err != nil {
		u.Abort()
		return err
	}
	_, err = u.Complete()
	honoured, err := refused(err)
	if err != nil || honoured {
		u.Abort()
	}
	b.opts.UnconditionalUpload = err == nil && !honoured
	return err
}

// refused reports whether err, of a write whose condition does not hold, is
// what it should be. A store may also do the write, or say that it cannot.
func refused(err error) (honoured bool, failed error) {
	switch {
	case errors.Is(err, fs.ErrExist), errors.Is(err, workspace.ErrConflict):
		return true, nil
	case err == nil, errors.Is(err, errors.ErrUnsupported):
		return false, nil
	}
	return false, err
}
