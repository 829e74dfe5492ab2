package objectstore

import (
	"context"
	"errors"
	"io/fs"
	"net/url"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

// The largest object that CopyObject copies, and the size of the parts in which
// a larger one is copied
// (https://docs.aws.amazon.com/AmazonS3/latest/userguide/qfacts.html). 10,000
// parts are more than the largest object.
const (
	maxCopy  = 5 << 30
	copyPart = 1 << 30
)

// Copy implements [workspace.Copier]. The store copies; nothing passes through
// the caller. It takes two requests, and two more where the store does not
// honour conditions of a CopyObject or the file has 5 GiB or more, beside those
// that look for the directory as in WriteFile. The copy has the content type,
// the other headers, the user metadata, the storage class and the tags of the
// source.
func (f *FS) Copy(ctx context.Context, source, destination string) (workspace.Version, error) {
	if err := f.checkPair(ctx, ops.Copy, source, destination); err != nil {
		return "", err
	}
	from, err := f.source(ctx, ops.Copy, source)
	if err != nil {
		return "", err
	}
	if source == destination {
		return "", ops.Error(ops.Copy, destination, fs.ErrExist, nil)
	}
	etag, err := f.copyFile(ctx, ops.Copy, from, source, destination)
	return versionOf(etag), err
}

// checkPair checks what needs no request.
func (f *FS) checkPair(ctx context.Context, op, source, destination string) error {
	if err := ops.Check(ctx, op, source); err != nil {
		return err
	}
	if err := ops.Check(ctx, op, destination); err != nil {
		return err
	}
	if !f.caps.Copy {
		return ops.Error(op, source, errors.ErrUnsupported, errors.New("the store honours no conditions for it"))
	}
	return nil
}

// source describes the object of the file name.
//
// # Errors
//
// Those of a read, for op.
func (f *FS) source(ctx context.Context, op, name string) (head, error) {
	if name == "." {
		return head{}, ops.Error(op, name, workspace.ErrIsDir, nil)
	}
	found, err := f.head(ctx, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return head{}, f.unreadable(ctx, op, name)
	case err != nil:
		return head{}, fault(ctx, op, name, err)
	}
	return found, nil
}

// copyFile copies the object from, which is the file source, to the name
// destination, where nothing may be.
func (f *FS) copyFile(ctx context.Context, op string, from head, source, destination string) (etag string, err error) {
	made, err := f.prepare(ctx, op, destination)
	if errors.Is(err, workspace.ErrIsDir) {
		err = ops.Error(op, destination, fs.ErrExist, nil)
	}
	if err != nil {
		return "", err
	}
	etag, err = f.copyObject(ctx, from, f.key(destination))
	if err != nil {
		return "", f.copyError(ctx, op, source, destination, err)
	}
	made()
	f.watches.wrote(object{size: from.size, etag: etag}.info(destination))
	return etag, nil
}

// copyError returns the error of a copy that failed with err.
func (f *FS) copyError(ctx context.Context, op, source, destination string, err error) error {
	if !errors.Is(err, errSourceChanged) {
		return f.writeError(ctx, op, destination, err)
	}
	if _, err := f.source(ctx, op, source); err != nil {
		return err // somebody else has removed it
	}
	return ops.Error(op, source, workspace.ErrUnavailable, errSourceChanged)
}

// errSourceChanged says that a file was written while it was copied.
var errSourceChanged = errors.New("the file was written at the same moment: try again")

// copyObject copies from to the key to, which must not exist, in the way that
// suits the store and the size.
//
// # Errors
//
// errSourceChanged, and those of conditional.
func (f *FS) copyObject(ctx context.Context, from head, to string) (etag string, err error) {
	if f.copiesWhole(from.object) {
		return f.copyWhole(ctx, from, to)
	}
	if empty, err := f.isEmpty(ctx, from.object); !empty || err != nil {
		if err != nil {
			return "", err
		}
		return f.copyParts(ctx, from, to)
	}
	d, err := f.withTags(ctx, from.key, from.description) // what is empty cannot be a part
	if err != nil {
		return "", err
	}
	return f.put(ctx, to, nil, d, workspace.WriteOptions{IfNotExist: true})
}

// isEmpty reports whether o is empty. Some proxies say so of everything that a
// HEAD asks for, so it is read unless its ETag proves it.
func (f *FS) isEmpty(ctx context.Context, o object) (bool, error) {
	if o.size > 0 || o.isProvenEmpty() {
		return o.size == 0, nil
	}
	d, err := f.fetch(ctx, o.key, nil, aws.String(o.etag))
	switch {
	case isConflict(err), isMissing(err):
		return false, errSourceChanged
	case err != nil:
		return false, err
	}
	defer d.Close()
	data, err := d.readOn(nil, 1)
	return len(data) == 0, err
}

// copiesWhole reports whether one CopyObject copies o. It keeps by itself what
// describes o, but for what copyWhole asks for.
func (f *FS) copiesWhole(o object) bool { return f.compat.ConditionalCopy && o.size < maxCopy }

// copyWhole copies in one request. The copy has the metadata of the source, so
// there is no token to know it by.
func (f *FS) copyWhole(ctx context.Context, from head, to string) (etag string, err error) {
	c := newCondition(workspace.WriteOptions{IfNotExist: true})
	out, err := f.client.CopyObject(ctx, &s3.CopyObjectInput{
		Bucket: f.bucket, Key: aws.String(to), IfNoneMatch: c.ifNoneMatch,
		CopySource: f.copySource(from.key), CopySourceIfMatch: aws.String(from.etag),
		StorageClass: types.StorageClass(from.class),
	}, c.count, from.description.only(redirectHeader).apply)
	switch {
	case err == nil:
		return aws.ToString(out.CopyObjectResult.ETag), nil
	case isMissing(err):
		return "", errSourceChanged
	case !isConflict(err):
		return "", err
	case c.sent.lost > 0:
		return "", errUnknownOutcome
	}
	now, headErr := f.headKey(ctx, to)
	switch {
	case errors.Is(headErr, fs.ErrNotExist):
		return "", errSourceChanged
	case headErr == nil && isGone(now.metadata):
		return f.copyParts(ctx, from, to)
	case headErr == nil:
		return "", fs.ErrExist
	}
	return "", headErr
}

// copyParts copies by an upload whose parts are ranges of the source.
func (f *FS) copyParts(ctx context.Context, from head, to string) (etag string, err error) {
	d, err := f.withTags(ctx, from.key, from.description)
	if err != nil {
		return "", err
	}
	u, err := f.beginUpload(ctx, to, d, workspace.WriteOptions{IfNotExist: true})
	if err != nil {
		return "", err
	}
	if from.size <= f.copyPart {
		err = u.copyPart(from.object, nil) // all of it, whatever its size was said to be
	} else {
		for first := int64(0); first < from.size && err == nil; first += f.copyPart {
			err = u.copyPart(from.object, window{first, min(first+f.copyPart, from.size) - 1}.header())
		}
	}
	if err == nil {
		etag, err = u.complete()
	}
	if err != nil {
		u.abort()
	}
	return etag, err
}

// copySource names the object key as the header wants it, encoded as a path.
func (f *FS) copySource(key string) *string {
	elements := strings.Split(key, "/")
	for i, element := range elements {
		elements[i] = strings.ReplaceAll(url.QueryEscape(element), "+", "%20")
	}
	bucket := *f.bucket
	if _, ok := accessPointOf(bucket); ok {
		bucket += "/object"
	}
	return aws.String(bucket + "/" + strings.Join(elements, "/"))
}
