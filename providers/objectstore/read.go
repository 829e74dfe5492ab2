package objectstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

// ReadFile implements [workspace.FileSystem]: one request.
func (f *FS) ReadFile(ctx context.Context, name string) ([]byte, error) {
	data, _, err := f.ReadVersioned(ctx, name, 0)
	return data, err
}

// ReadVersioned implements [workspace.VersionedReader]: one request. A file
// that is larger than limit is not downloaded.
func (f *FS) ReadVersioned(ctx context.Context, name string, limit int64) ([]byte, workspace.Version, error) {
	if err := ops.Check(ctx, ops.ReadFile, name); err != nil {
		return nil, "", err
	}
	o, data, err := f.read(ctx, name, limit, (*download).readAll)
	return data, versionOf(o.etag), err
}

// maxRereads is how often a file is read again because another write overtook
// the read, or what was read is not what the ETag says.
const maxRereads = 100

// read downloads the file name, or what body reads of it, and makes sure that
// it is what the ETag says.
func (f *FS) read(ctx context.Context, name string, limit int64, body func(d *download, limit int64) ([]byte, error)) (object, []byte, error) {
	torn := torn{fs: f}
	damaged := 0
	for range maxRereads {
		got, err := f.get(ctx, ops.ReadFile, name, nil)
		if err != nil {
			return object{}, nil, err
		}
		if err := ops.CheckSize(ops.ReadFile, name, got.size, limit); err != nil {
			got.body.Close()
			return object{}, nil, err
		}
		data, err := body(got, limit)
		got.body.Close()
		switch {
		case errors.Is(err, errDamaged) && damaged < maxBodyCuts:
			damaged++
			continue
		case errors.Is(err, errOvertaken):
			continue
		case err != nil:
			return object{}, nil, fault(ctx, ops.ReadFile, name, err)
		case limit > 0 && int64(len(data)) > limit:
			return object{}, nil, ops.Error(ops.ReadFile, name, workspace.ErrTooLarge, fmt.Errorf("more than the limit of %d bytes", limit))
		}
		if !torn.is(ctx, got, data) {
			return got.object, data, nil
		}
	}
	return object{}, nil, ops.Error(ops.ReadFile, name, workspace.ErrUnavailable,
		errors.New("the file is written all the time, or the store's ETags are not those of its contents: try again"))
}

// get begins to download the file name, or the window w of it where that is not
// nil.
//
// # Errors
//
// errRange, or the error of op for name.
func (f *FS) get(ctx context.Context, op, name string, w *window) (*download, error) {
	if name == "." {
		return nil, ops.Error(op, name, workspace.ErrIsDir, nil)
	}
	d, err := f.fetch(ctx, f.key(name), w, nil)
	switch {
	case err == nil && d.gone:
		d.body.Close()
		return nil, ops.Error(op, name, fs.ErrNotExist, nil)
	case isMissing(err):
		return nil, f.unreadable(ctx, op, name)
	case err == errRange:
		return nil, err
	case err != nil:
		return nil, fault(ctx, op, name, err)
	}
	f.descriptions.put(d.key, versionOf(d.etag), d.description)
	return d, nil
}

// unreadable returns the error for name, which has no object.
func (f *FS) unreadable(ctx context.Context, op, name string) error {
	isDir, err := f.exists(ctx, f.dirKey(name))
	switch {
	case err != nil:
		return fault(ctx, op, name, err)
	case isDir:
		return ops.Error(op, name, workspace.ErrIsDir, nil)
	}
	return f.missing(ctx, op, name)
}

func (d *download) readAll(limit int64) ([]byte, error) { return d.readOn(nil, limit) }
