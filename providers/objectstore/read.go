package objectstore

import (
	"context"
	"errors"
	"io"
	"io/fs"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

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
	if err := workspace.Check(ctx, workspace.OpReadFile, name); err != nil {
		return nil, "", err
	}
	o, data, err := f.read(ctx, name, limit, download.readAll)
	return data, versionOf(o.etag), err
}

// read downloads the file name, or what body reads of it, and makes sure that
// it is what the ETag says.
func (f *FS) read(ctx context.Context, name string, limit int64, body func(download) ([]byte, error)) (object, []byte, error) {
	var torn torn
	for range maxTorn {
		o, data, err := f.readOnce(ctx, name, limit, body)
		if err != nil || !torn.is(f, o, data) {
			return o, data, err
		}
	}
	return object{}, nil, workspace.NewPathError(workspace.OpReadFile, name, workspace.ErrUnavailable,
		errors.New("the file is written all the time: try again"))
}

func (f *FS) readOnce(ctx context.Context, name string, limit int64, body func(download) ([]byte, error)) (object, []byte, error) {
	got, err := f.get(ctx, workspace.OpReadFile, name, nil)
	if err != nil {
		return object{}, nil, err
	}
	defer got.body.Close()
	if err := workspace.CheckSize(workspace.OpReadFile, name, got.size, limit); err != nil {
		return object{}, nil, err
	}
	data, err := body(got)
	if err != nil {
		return object{}, nil, fault(ctx, workspace.OpReadFile, name, err)
	}
	return got.object, data, nil
}

// download is an object, or a range of one, that is being read.
type download struct {
	object
	length int64 // of the body
	body   io.ReadCloser
}

// get begins to download the file name, or the range rng of it. To ask for a
// range that begins behind the end is errRange.
//
// # Errors
// errRange, or the error of op for name.
func (f *FS) get(ctx context.Context, op, name string, rng *string) (download, error) {
	if name == "." {
		return download{}, workspace.NewPathError(op, name, workspace.ErrIsDir, nil)
	}
	out, err := f.client.GetObject(ctx, &s3.GetObjectInput{Bucket: f.bucket, Key: aws.String(f.key(name)), Range: rng})
	switch {
	case err == nil && isGone(out.Metadata):
		out.Body.Close()
		return download{}, workspace.NewPathError(op, name, fs.ErrNotExist, nil)
	case isMissing(err):
		return download{}, f.unreadable(ctx, op, name)
	case codeOf(err) == "InvalidRange":
		return download{}, errRange
	case err != nil:
		return download{}, fault(ctx, op, name, err)
	}
	f.descriptions.put(f.key(name), versionOf(aws.ToString(out.ETag)), describedBy(out.ResultMetadata))
	return download{
		object: object{
			size: wholeSize(out), etag: aws.ToString(out.ETag), modified: aws.ToTime(out.LastModified),
		},
		length: aws.ToInt64(out.ContentLength),
		body:   out.Body,
	}, nil
}

// errRange says that a range begins behind the end of a file.
var errRange = errors.New("the range begins behind the end")

// unreadable returns the error for name, which has no object.
func (f *FS) unreadable(ctx context.Context, op, name string) error {
	isDir, err := f.exists(ctx, f.dirKey(name))
	switch {
	case err != nil:
		return fault(ctx, op, name, err)
	case isDir:
		return workspace.NewPathError(op, name, workspace.ErrIsDir, nil)
	}
	return f.missing(ctx, op, name)
}

// readAll reads the body, which is exactly as long as the store said.
func (d download) readAll() ([]byte, error) {
	data := make([]byte, d.length)
	return data, d.readRest(data)
}

// readRest fills data with the rest of the body.
func (d download) readRest(data []byte) error {
	if err := d.readFull(data); err != nil {
		return err
	}
	// The SDK compares the checksum, if there is one, at the end of the body.
	if _, err := d.body.Read(make([]byte, 1)); err != nil && err != io.EOF {
		return err
	}
	return nil
}

func (d download) readFull(data []byte) error {
	_, err := io.ReadFull(d.body, data)
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
