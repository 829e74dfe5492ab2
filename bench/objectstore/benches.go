package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/workspacekit/workspacekit/providers/objectstore"
	"github.com/workspacekit/workspacekit/workspace"
	"gocloud.dev/blob"
	"golang.org/x/sync/errgroup"
)

// bench is a benchmark that can be chosen by its name.
//
// needs are written before the first round, outside of what is measured.
type bench struct {
	name    string
	needs   objects
	latency time.Duration // added to each request
	job     func(c *clients) job
}

// benches are what -only chooses from. Those with a latency show what is waited for,
// the others what is computed.
func benches() []bench {
	return []bench{
		{name: "read", needs: single(), job: readJob},
		{name: "write", needs: single(), job: writeJob},
		{name: "stat", needs: single(), job: statJob},
		{name: "ls", needs: folder(), job: lsJob},
		{name: "walk", needs: tree(), job: walkJob},
		{name: "grep", needs: tree(), job: func(c *clients) job { return grepJob(c, tree()) }},
		{name: "grep-second", needs: tree(), job: func(c *clients) job { return grepSecondJob(c, tree()) }},
		{name: "grep-again-far", needs: tree(), latency: 5 * time.Millisecond, job: func(c *clients) job { return grepAgainJob(c, tree()) }},
		{name: "grep-far", needs: grove(), latency: 5 * time.Millisecond, job: func(c *clients) job { return grepJob(c, grove()) }},
	}
}

// run measures b with clients of its own, in so many rounds.
func (b bench) run(ctx context.Context, s *store, rounds int) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if b.latency > 0 {
		endpoint, err := delayed(ctx, s.endpoint, b.latency)
		if err != nil {
			return err
		}
		s = s.at(endpoint)
	}
	c, err := newClients(ctx, s)
	if err != nil {
		return err
	}
	defer c.gocloud.Close()
	j := b.job(c)
	if b.latency > 0 {
		j.name += fmt.Sprintf(", %v later for each request", b.latency)
	}
	return j.run(ctx, rounds)
}

// at returns the same store at another endpoint.
func (s *store) at(endpoint string) *store {
	other := *s
	other.endpoint = endpoint
	return &other
}

// singleTurns is how often each contender does a single operation in a round.
const singleTurns = 200

// readJob reads one small file again and again.
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

// statJob describes one file again and again.
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

// lsTurns is how often each contender lists the folder in a round.
const lsTurns = 5

// lsJob lists a folder whose entries fit into one page of S3.
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

// walkJob lists a tree of ten pages of S3.
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

// grepJob searches set. The workspace of the second search has searched in the
// round that is not counted. The loop that one writes first and the requests
// alone are the bounds between which a search should be.
func grepJob(c *clients, set objects) job {
	j := grepAgainJob(c, set)
	j.contenders = append(j.contenders,
		contender{"SDK, one after the other", func(ctx context.Context) (int, error) { return c.search(ctx, set) }},
		contender{"the first's requests by net/http", func(ctx context.Context) (int, error) { return c.plain.search(ctx, set) }},
	)
	return j
}

// grepAgainJob is grepJob without the other contenders: one takes a minute
// where requests take long.
func grepAgainJob(c *clients, set objects) job {
	return job{name: fmt.Sprintf("grep of %d objects in %d folders", set.count(), set.folders), turns: 1, contenders: []contender{
		{"objectstore Grep, the first", func(ctx context.Context) (int, error) {
			fsys, err := c.newOurs()
			if err != nil {
				return 0, err
			}
			return grep(ctx, fsys, set.dir)
		}},
		{"objectstore Grep, the second", func(ctx context.Context) (int, error) { return grep(ctx, c.ours, set.dir) }},
	}}
}

// grepSecondJob compares the first search with later ones of the same objects, and says
// how many requests each sends. No content is kept but for one contender.
func grepSecondJob(c *clients, set objects) job {
	j := job{name: fmt.Sprintf("the second grep of %d objects", set.count()), turns: 1, notes: map[string]int64{}}
	add := func(name string, again bool, opts objectstore.Options) {
		opts.Bucket, opts.Prefix = c.bucket, c.prefix
		var fsys *objectstore.FS
		j.contenders = append(j.contenders, contender{name, func(ctx context.Context) (matches int, err error) {
			if fsys == nil || !again {
				if fsys, err = objectstore.New(c.oursClient, &opts); err != nil {
					return 0, err
				}
			}
			before := c.sent.Load()
			matches, err = grep(ctx, fsys, set.dir)
			j.notes[name] = c.sent.Load() - before
			return matches, err
		}})
	}
	add("the second, with contents", true, objectstore.Options{})
	add("the second, with an index", true, objectstore.Options{CacheSize: -1, Index: &objectstore.IndexOptions{}})
	add("the second, with neither", true, objectstore.Options{CacheSize: -1})
	add("the first", false, objectstore.Options{})
	return j
}

// grep searches below dir, and returns the number of matching lines.
func grep(ctx context.Context, fsys *objectstore.FS, dir string) (int, error) {
	result, err := fsys.Grep(ctx, needle, &workspace.GrepOptions{Path: dir, Literal: true})
	if err != nil {
		return 0, err
	}
	return len(result.Matches), nil
}

// search is the loop that one writes first.
func (c *clients) search(ctx context.Context, set objects) (matches int, err error) {
	keys, err := c.keys(ctx, c.key(set.dir)+"/", "")
	if err != nil {
		return 0, err
	}
	for _, key := range keys {
		data, err := c.body(ctx, key)
		if err != nil {
			return 0, err
		}
		matches += bytes.Count(data, []byte(needle))
	}
	return matches, nil
}

// search lists, and then downloads as many objects at a time as the provider
// does. It knows their names.
func (p plain) search(ctx context.Context, set objects) (matches int, err error) {
	if _, err := p.list(ctx, p.key(set.dir)+"/", ""); err != nil {
		return 0, err
	}
	found := make([]int, set.count())
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(objectstore.DefaultWorkers)
	for i := range found {
		group.Go(func() error {
			data, err := p.get(ctx, p.key(set.name(i)), nil)
			found[i] = bytes.Count(data, []byte(needle))
			return err
		})
	}
	err = group.Wait()
	for _, n := range found {
		matches += n
	}
	return matches, err
}
