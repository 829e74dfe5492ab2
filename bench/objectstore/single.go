package main

import (
	"bytes"
	"context"
	"io"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// singleTurns is how often each contender does a single operation in a round.
const singleTurns = 200

func readJob(c *clients) job {
	name := single().name(0)
	key := c.key(name)
	return job{name: "read of 4 KiB", turns: singleTurns, contenders: []contender{
		{"objectstore ReadFile", func(ctx context.Context) (int, error) {
			data, err := c.ours.ReadFile(ctx, name)
			return len(data), err
		}},
		{"SDK GetObject", func(ctx context.Context) (int, error) {
			data, err := c.body(ctx, key)
			return len(data), err
		}},
		{"s3blob ReadAll", func(ctx context.Context) (int, error) {
			data, err := c.gocloud.ReadAll(ctx, key)
			return len(data), err
		}},
		{"rclone NewObject and Open", func(ctx context.Context) (int, error) { return c.rclone.read(ctx, name) }},
		{"the request by net/http", func(ctx context.Context) (int, error) {
			data, err := c.plain.get(ctx, key, nil)
			return len(data), err
		}},
	}}
}

// body reads an object with the SDK.
func (c *clients) body(ctx context.Context, key string) ([]byte, error) {
	out, err := c.raw.GetObject(ctx, &s3.GetObjectInput{Bucket: &c.bucket, Key: &key})
	if err != nil {
		return nil, err
	}
	defer out.Body.Close()
	return io.ReadAll(out.Body)
}

// writeJob lets each contender replace a file of its own, in one folder. The
// provider looks at the folder whenever Options.FolderTTL has passed.
func writeJob(c *clients) job {
	data := []byte(single().content(0))
	name := func(who string) string { return single().folder(0) + "/" + who + ".txt" }
	return job{name: "write of 4 KiB", turns: singleTurns, contenders: []contender{
		{"objectstore WriteFile", func(ctx context.Context) (int, error) {
			_, err := c.ours.WriteFile(ctx, name("objectstore"), data, nil)
			return len(data), err
		}},
		{"SDK PutObject", func(ctx context.Context) (int, error) {
			_, err := c.raw.PutObject(ctx, &s3.PutObjectInput{
				Bucket: &c.bucket, Key: aws.String(c.key(name("sdk"))), Body: bytes.NewReader(data),
				ContentType: aws.String("text/plain; charset=utf-8"),
			})
			return len(data), err
		}},
		{"s3blob WriteAll", func(ctx context.Context) (int, error) {
			return len(data), c.gocloud.WriteAll(ctx, c.key(name("s3blob")), data, nil)
		}},
		{"rclone Put", func(ctx context.Context) (int, error) { return c.rclone.write(ctx, name("rclone"), data) }},
	}}
}

func statJob(c *clients) job {
	name := single().name(0)
	key := c.key(name)
	return job{name: "stat", turns: singleTurns, contenders: []contender{
		{"objectstore Stat", func(ctx context.Context) (int, error) {
			info, err := c.ours.Stat(ctx, name)
			return int(info.Size), err
		}},
		{"SDK HeadObject", func(ctx context.Context) (int, error) {
			out, err := c.raw.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &c.bucket, Key: &key})
			if err != nil {
				return 0, err
			}
			return int(aws.ToInt64(out.ContentLength)), nil
		}},
		{"s3blob Attributes", func(ctx context.Context) (int, error) {
			attributes, err := c.gocloud.Attributes(ctx, key)
			if err != nil {
				return 0, err
			}
			return int(attributes.Size), nil
		}},
	}}
}
