package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"time"

	_ "github.com/rclone/rclone/backend/s3" // registers the kind of the remote
	"github.com/rclone/rclone/fs"
	"github.com/rclone/rclone/fs/object"
	"github.com/rclone/rclone/fs/walk"
)

// remote is what rclone makes of a store.
type remote struct{ fs fs.Fs }

// newRemote opens the store with rclone's library, which is to list with
// ListObjectsV2 as the others do.
func newRemote(ctx context.Context, s *store) (remote, error) {
	opened, err := fs.NewFs(ctx, fmt.Sprintf(
		":s3,provider=Other,list_version=2,force_path_style,no_check_bucket,endpoint=%q,region=%q,access_key_id=%q,secret_access_key=%q:%s/%s",
		s.endpoint, s.region, s.accessKeyID, s.secretAccessKey, s.bucket, s.prefix))
	if err != nil {
		return remote{}, fmt.Errorf("rclone: %w", err)
	}
	return remote{opened}, nil
}

// read reads a file that rclone has not seen yet: it asks what the object is,
// and then for its content.
func (r remote) read(ctx context.Context, name string) (int, error) {
	found, err := r.fs.NewObject(ctx, name)
	if err != nil {
		return 0, err
	}
	body, err := found.Open(ctx)
	if err != nil {
		return 0, err
	}
	defer body.Close()
	data, err := io.ReadAll(body)
	return len(data), err
}

func (r remote) write(ctx context.Context, name string, data []byte) (int, error) {
	info := object.NewStaticObjectInfo(name, time.Now(), int64(len(data)), true, nil, r.fs)
	_, err := r.fs.Put(ctx, bytes.NewReader(data), info)
	return len(data), err
}

func (r remote) list(ctx context.Context, dir string) (int, error) {
	entries, err := r.fs.List(ctx, dir)
	return len(entries), err
}

func (r remote) listRecursive(ctx context.Context, dir string) (int, error) {
	files := 0
	err := walk.ListR(ctx, r.fs, dir, true, -1, walk.ListObjects, func(entries fs.DirEntries) error {
		files += len(entries)
		return nil
	})
	return files, err
}
