package objectstore

import (
	"bytes"
	"context"
	"errors"
	"io/fs"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

// WriteFile implements [workspace.FileSystem]: one request into a directory
// that is known, two into one that exists, three into a new one.
//
// With IfVersion it is one request if the version was read or written in the
// last moments ([Options].FolderTTL), and two otherwise. The file keeps its
// content type, its other headers, its user metadata, its storage class and its
// tags; to read tags takes one request more. Without IfVersion the write makes
// a new object, with the content type that its ending stands for.
func (f *FS) WriteFile(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
	var o workspace.WriteOptions
	if opts != nil {
		o = *opts
	}
	made, err := f.admit(ctx, ops.WriteFile, name, o)
	if err != nil {
		return "", err
	}
	d, err := f.describeNext(ctx, name, o)
	if err != nil {
		return "", f.writeError(ctx, ops.WriteFile, name, err)
	}
	etag, err := f.put(ctx, f.key(name), data, d, o)
	if err != nil {
		return "", f.writeError(ctx, ops.WriteFile, name, err)
	}
	f.descriptions.put(f.key(name), versionOf(etag), d)
	made()
	f.watches.wrote(object{size: int64(len(data)), etag: etag}.info(name))
	return versionOf(etag), nil
}

// admit checks what can be checked before a file is written. It returns what to
// call once it has been. A file that must have a version need not be looked
// for: if it has, there is nothing to be found out.
func (f *FS) admit(ctx context.Context, op, name string, o workspace.WriteOptions) (made func(), err error) {
	if err := ops.Check(ctx, op, name); err != nil {
		return nil, err
	}
	if err := ops.CheckConditions(op, name, string(o.IfVersion), o.IfNotExist); err != nil {
		return nil, err
	}
	if o != (workspace.WriteOptions{}) && !f.caps.ConditionalWrite {
		return nil, ops.Error(op, name, errors.ErrUnsupported, errors.New("the store honours no conditions"))
	}
	if o.IfVersion != "" && name != "." {
		return func() {}, nil
	}
	made, err = f.prepare(ctx, op, name)
	if o.IfNotExist && errors.Is(err, workspace.ErrIsDir) {
		err = ops.Error(op, name, fs.ErrExist, nil)
	}
	return made, err
}

// writeError returns the error of a write that failed with err, which may be
// [fs.ErrExist] or [workspace.ErrConflict].
func (f *FS) writeError(ctx context.Context, op, name string, err error) error {
	switch {
	case errors.Is(err, errUnknownOutcome):
		return ops.Error(op, name, workspace.ErrUnavailable, errUnknownOutcome)
	case errors.Is(err, errUploadCondition):
		return ops.Error(op, name, errors.ErrUnsupported, errUploadCondition)
	case errors.Is(err, errParts):
		return ops.Error(op, name, workspace.ErrTooLarge, errParts)
	case errors.Is(err, fs.ErrExist):
		return ops.Error(op, name, fs.ErrExist, nil)
	case !errors.Is(err, workspace.ErrConflict):
		return fault(ctx, op, name, err)
	}
	if _, err := f.prepare(ctx, op, name); err != nil {
		return err
	}
	return ops.Error(op, name, workspace.ErrConflict, nil)
}

// put writes the object key in one request.
//
// # Errors
//
// Those of conclude, and the store's.
func (f *FS) put(ctx context.Context, key string, data []byte, d description, o workspace.WriteOptions) (etag string, err error) {
	return f.conditional(ctx, key, o, newCondition(o), func(c condition) (string, error) {
		out, err := f.client.PutObject(ctx, &s3.PutObjectInput{
			Bucket:      f.bucket,
			Key:         aws.String(key),
			Body:        bytes.NewReader(data),
			IfMatch:     c.ifMatch,
			IfNoneMatch: c.ifNoneMatch,
			Metadata:    c.metadata(),
		}, c.count, d.apply)
		if err != nil {
			return "", err
		}
		return aws.ToString(out.ETag), nil
	})
}
