package objectstore

import (
	"context"
	"errors"
	"io/fs"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

// Mkdir implements [workspace.FileSystem]: three requests at most, as WriteFile
// has them if it is recursive, and two if the parent is known.
func (f *FS) Mkdir(ctx context.Context, name string, opts *workspace.MkdirOptions) error {
	if err := ops.Check(ctx, ops.Mkdir, name); err != nil {
		return err
	}
	recursive := opts != nil && opts.Recursive
	if name == "." {
		info, err := f.stat(ctx, ops.Mkdir, name)
		if err != nil {
			return err
		}
		return existing(name, info, recursive)
	}
	found, err := f.find(ctx, name, findKeys)
	switch {
	case err != nil:
		return fault(ctx, ops.Mkdir, name, err)
	case found.exists:
		return existing(name, found.info, recursive)
	}
	if err := f.checkParent(ctx, name, recursive); err != nil {
		return err
	}
	err = f.mark(ctx, name)
	if errors.Is(err, fs.ErrExist) {
		return existing(name, dirInfo(name), recursive)
	}
	if err != nil {
		return fault(ctx, ops.Mkdir, name, err)
	}
	f.watches.made(name)
	return nil
}

// existing returns the result of a Mkdir of what is there already.
func existing(name string, info workspace.FileInfo, recursive bool) error {
	switch {
	case !recursive:
		return ops.Error(ops.Mkdir, name, fs.ErrExist, nil)
	case !info.IsDir():
		return ops.Error(ops.Mkdir, name, workspace.ErrNotDir, nil)
	}
	return nil
}

// checkParent returns the error of a Mkdir whose parent does not exist, or
// cannot be made.
func (f *FS) checkParent(ctx context.Context, name string, recursive bool) error {
	parent, _ := workspace.Split(name)
	if f.folders.has(parent) {
		return nil
	}
	if !recursive {
		err := f.checkDir(ctx, ops.Mkdir, parent)
		return ops.Rename(err, ops.Mkdir, name)
	}
	return prepareError(ctx, ops.Mkdir, name, f.checkMissing(ctx, parent))
}

// mark makes the marker of the directory name. It is [fs.ErrExist] if there is
// one, on a store with conditions.
func (f *FS) mark(ctx context.Context, name string) error {
	o := workspace.WriteOptions{IfNotExist: f.caps.ConditionalWrite}
	if _, err := f.put(ctx, f.dirKey(name), nil, markerDescription, o); err != nil {
		return err
	}
	f.folders.mark(name)
	return nil
}

// keep makes sure that the directory that name lies in stays when name is gone.
func (f *FS) keep(ctx context.Context, name string) error {
	parent, _ := workspace.Split(name)
	if parent == "." || f.folders.marked(parent) {
		return nil
	}
	err := f.putMarker(ctx, f.dirKey(parent))
	if err == nil {
		f.folders.mark(parent)
	}
	return err
}

// putMarker makes the marker key unless there is one, which may have content
// that another program gave it.
func (f *FS) putMarker(ctx context.Context, key string) error {
	in := &s3.PutObjectInput{Bucket: f.bucket, Key: aws.String(key)}
	if f.caps.ConditionalWrite {
		in.IfNoneMatch = aws.String("*")
	}
	_, err := f.client.PutObject(ctx, in, markerDescription.apply)
	if isConflict(err) {
		return nil
	}
	return err
}

// markerDescription has the type that other programs give to the markers of
// directories.
var markerDescription = description{"Content-Type": {"application/x-directory"}}
