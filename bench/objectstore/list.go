package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"gocloud.dev/blob"

	"github.com/workspacekit/workspacekit/workspace"
)

// lsTurns is how often each contender lists the folder in a round.
const lsTurns = 5

func lsJob(c *clients) job {
	dir := folder().folder(0)
	prefix := c.key(dir) + "/"
	return job{name: fmt.Sprintf("list of one folder of %d", folder().count()), turns: lsTurns, contenders: []contender{
		{"objectstore Ls", func(ctx context.Context) (int, error) {
			infos, err := c.ours.Ls(ctx, dir, nil)
			return len(infos), err
		}},
		{"SDK paginator", func(ctx context.Context) (int, error) {
			keys, err := c.keys(ctx, prefix, "/")
			return len(keys), err
		}},
		{"s3blob List", func(ctx context.Context) (int, error) { return c.countBlobs(ctx, prefix, "/") }},
		{"rclone List", func(ctx context.Context) (int, error) { return c.rclone.list(ctx, dir) }},
		{"the requests by net/http", func(ctx context.Context) (int, error) { return c.plain.list(ctx, prefix, "/") }},
	}}
}

func walkJob(c *clients) job {
	set := tree()
	prefix := c.key(set.dir) + "/"
	return job{name: fmt.Sprintf("recursive list of %d in %d folders", set.count(), set.folders), turns: 1, contenders: []contender{
		{"objectstore Walk", func(ctx context.Context) (int, error) { return c.countFiles(ctx, set.dir) }},
		{"SDK paginator", func(ctx context.Context) (int, error) {
			keys, err := c.keys(ctx, prefix, "")
			return len(keys), err
		}},
		{"s3blob List", func(ctx context.Context) (int, error) { return c.countBlobs(ctx, prefix, "") }},
		{"rclone ListR", func(ctx context.Context) (int, error) { return c.rclone.listRecursive(ctx, set.dir) }},
		{"the requests by net/http", func(ctx context.Context) (int, error) { return c.plain.list(ctx, prefix, "") }},
	}}
}

// countFiles walks with the provider.
func (c *clients) countFiles(ctx context.Context, dir string) (int, error) {
	files := 0
	err := c.ours.Walk(ctx, dir, nil, func(info workspace.FileInfo, err error) error {
		if !info.IsDir() {
			files++
		}
		return err
	})
	return files, err
}

// keys lists with the SDK.
func (c *clients) keys(ctx context.Context, prefix, delimiter string) ([]string, error) {
	in := &s3.ListObjectsV2Input{Bucket: &c.bucket, Prefix: &prefix}
	if delimiter != "" {
		in.Delimiter = &delimiter
	}
	var keys []string
	for pages := s3.NewListObjectsV2Paginator(c.raw, in); pages.HasMorePages(); {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, object := range page.Contents {
			keys = append(keys, aws.ToString(object.Key))
		}
	}
	return keys, nil
}

// countBlobs lists with s3blob.
func (c *clients) countBlobs(ctx context.Context, prefix, delimiter string) (int, error) {
	files := 0
	for list := c.gocloud.List(&blob.ListOptions{Prefix: prefix, Delimiter: delimiter}); ; {
		object, err := list.Next(ctx)
		switch {
		case errors.Is(err, io.EOF):
			return files, nil
		case err != nil:
			return 0, err
		case !object.IsDir:
			files++
		}
	}
}
