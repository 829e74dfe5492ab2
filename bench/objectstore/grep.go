package main

import (
	"bytes"
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/workspacekit/workspacekit/providers/objectstore"
	"github.com/workspacekit/workspacekit/workspace"
)

// grepJob searches set. The workspace of the second search has searched in the
// round that is not counted.
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

// grepSecondJob compares the first search with later ones of the same objects, and says how many
// requests each sends. No content is kept but for one contender.
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
