package objectstore

import (
	"context"
	"errors"
	"io/fs"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

// Stat implements [workspace.FileSystem]: one request for a file and for the
// root, two for a directory.
func (f *FS) Stat(ctx context.Context, name string) (workspace.FileInfo, error) {
	if err := ops.Check(ctx, ops.Stat, name); err != nil {
		return workspace.FileInfo{}, err
	}
	return f.stat(ctx, ops.Stat, name)
}

// stat is Stat for the operation op.
func (f *FS) stat(ctx context.Context, op, name string) (workspace.FileInfo, error) {
	if name == "." { // which is a directory if there is a bucket
		if _, err := f.exists(ctx, f.prefix); err != nil {
			return workspace.FileInfo{}, fault(ctx, op, name, err)
		}
		return dirInfo(name), nil
	}
	found, err := f.head(ctx, name)
	switch {
	case err == nil:
		return found.info(name), nil
	case !errors.Is(err, fs.ErrNotExist):
		return workspace.FileInfo{}, fault(ctx, op, name, err)
	}
	isDir, err := f.exists(ctx, f.dirKey(name))
	switch {
	case err != nil:
		return workspace.FileInfo{}, fault(ctx, op, name, err)
	case isDir:
		return dirInfo(name), nil
	}
	return workspace.FileInfo{}, f.missing(ctx, op, name)
}

// head is an object with what the store keeps beside its content.
type head struct {
	object
	description description
	metadata    map[string]string // of the user, and the token
}

// head asks for the object of the file name. One that has been moved away is
// [fs.ErrNotExist], as one that does not exist; other errors are the store's.
func (f *FS) head(ctx context.Context, name string) (head, error) {
	h, err := f.headKey(ctx, f.key(name))
	if err == nil && isGone(h.metadata) {
		return head{}, fs.ErrNotExist
	}
	return h, err
}

func (f *FS) headKey(ctx context.Context, key string) (head, error) {
	out, err := f.client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: f.bucket, Key: aws.String(key)})
	switch {
	case isMissing(err):
		return head{}, fs.ErrNotExist
	case err != nil:
		return head{}, err
	}
	return head{
		object: object{
			key: key, size: aws.ToInt64(out.ContentLength), etag: aws.ToString(out.ETag),
			modified: aws.ToTime(out.LastModified), class: string(out.StorageClass),
		},
		description: describedBy(out.ResultMetadata),
		metadata:    out.Metadata,
	}, nil
}

// checkDir returns nil if the directory name exists.
func (f *FS) checkDir(ctx context.Context, op, name string) error {
	if name == "." {
		return nil
	}
	isDir, err := f.exists(ctx, f.dirKey(name))
	if err != nil {
		return fault(ctx, op, name, err)
	}
	if isDir {
		return nil
	}
	return f.notDir(ctx, op, name)
}

// notDir returns the error for name, in which there is nothing.
func (f *FS) notDir(ctx context.Context, op, name string) error {
	isFile, err := f.isFile(ctx, name)
	switch {
	case err != nil:
		return fault(ctx, op, name, err)
	case isFile:
		return ops.Error(op, name, workspace.ErrNotDir, nil)
	}
	return f.missing(ctx, op, name)
}

func (f *FS) isFile(ctx context.Context, name string) (bool, error) {
	_, err := f.head(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// missing returns the error for name, which is neither file nor directory:
// [workspace.ErrNotDir] if an element in the middle of it is a file. It sends no
// request if the directory that name lies in is known, one if it exists or lies
// at the top, and otherwise those of checkMissing beside that one.
func (f *FS) missing(ctx context.Context, op, name string) error {
	parent, _ := workspace.Split(name)
	err := f.findFile(ctx, parent)
	if err == nil {
		err = fs.ErrNotExist
	}
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, workspace.ErrNotDir) {
		return ops.Error(op, name, err, nil)
	}
	return fault(ctx, op, name, err)
}

// findFile returns [workspace.ErrNotDir] if dir or a directory that it lies in is
// a file.
func (f *FS) findFile(ctx context.Context, dir string) error {
	unknown := f.unknown(dir)
	switch len(unknown) {
	case 0:
		return nil
	case 1:
		isFile, err := f.isFile(ctx, dir)
		if isFile {
			return workspace.ErrNotDir
		}
		return err
	}
	exists, err := f.exists(ctx, f.dirKey(dir))
	if err != nil {
		return err
	}
	if exists {
		f.folders.exists(dir)
		return nil
	}
	return f.checkMissing(ctx, dir)
}

// ancestors returns dir and the directories that it lies in, without the root.
func ancestors(dir string) []string {
	var dirs []string
	for dir != "." {
		dirs = append(dirs, dir)
		dir, _ = workspace.Split(dir)
	}
	return dirs
}

// fileAmong reports whether any of names is a file. It asks for all at once,
// but for those that are known to be directories.
func (f *FS) fileAmong(ctx context.Context, names []string) (bool, error) {
	found := make([]bool, len(names))
	errs := make([]error, len(names))
	var group sync.WaitGroup
	for i, name := range names {
		if f.folders.has(name) {
			break // and so are those that it lies in
		}
		group.Go(func() { found[i], errs[i] = f.isFile(ctx, name) })
	}
	group.Wait()
	for i := range names {
		if found[i] {
			return true, nil
		}
	}
	return false, errors.Join(errs...)
}
