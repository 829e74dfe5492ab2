package objectstore_test

import (
	"context"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/middleware"
	"github.com/bmatcuk/doublestar/v4"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/s3test"
	"github.com/workspacekit/workspacekit/providers/objectstore"
	"github.com/workspacekit/workspacekit/providers/objectstore/internal/object"
	"github.com/workspacekit/workspacekit/workspace"
)

// tree is what there is by path, and whether it is a directory.
type tree map[string]bool

// treeOf returns what keys stand for.
func treeOf(keys []string) tree {
	t := tree{}
	for _, key := range keys {
		elements := strings.Split(key, "/")
		path := ""
		for i, element := range elements {
			name, ok := object.Unescape(element)
			if path += name; !ok || path == "." || !ops.ValidName(path) {
				break
			}
			isDir, known := t[path]
			last := i == len(elements)-1
			t[path] = !last && (isDir || !known)
			path += "/"
		}
	}
	return t
}

// paths returns, sorted, those that keep wants.
func (t tree) paths(keep func(path string, isDir bool) bool) []string {
	paths := []string{}
	for _, path := range slices.Sorted(maps.Keys(t)) {
		if keep(path, t[path]) {
			paths = append(paths, path)
		}
	}
	return paths
}

// walk returns what a walk of dir reports.
func (t tree) walk(dir, after string, skip []string) []string {
	return t.paths(func(path string, _ bool) bool {
		skipped := slices.ContainsFunc(skip, func(s string) bool { return t[s] && s > after && below(s, dir) && below(path, s) })
		return path > after && below(path, dir) && !skipped
	})
}

// children returns what a listing of dir has.
func (t tree) children(dir, after string, limit int) []string {
	found := t.paths(func(path string, _ bool) bool {
		parent, base := workspace.Split(path)
		return parent == dir && base > after
	})
	if limit > 0 {
		found = found[:min(limit, len(found))]
	}
	return found
}

// glob returns what a pattern matches.
func (t tree) glob(pattern, after string, limit int) []string {
	files, dirs := strings.CutSuffix(pattern, "/")
	found := t.paths(func(path string, isDir bool) bool {
		return path > after && isDir == dirs && doublestar.MatchUnvalidated(files, path)
	})
	if limit > 0 {
		found = found[:min(limit, len(found))]
	}
	return found
}

// patterns returns those that find everything. One that goes directory by
// directory does not look below what is a file, too.
func (t tree) patterns() []string {
	patterns := []string{"**", "**/", "**/*a*", "**/a/*"}
	for path := range t {
		parent, _ := workspace.Split(path)
		if isDir, known := t[parent]; known && !isDir {
			return patterns
		}
	}
	return append(patterns, "*", "*/", "*/*", "a/**/*", "a*/**/*", "a-*")
}

func below(path, dir string) bool { return dir == "." || strings.HasPrefix(path, dir+"/") }

// keysGenerator makes keys that come in another order than their names: a few
// characters each time, so that many begin with others.
func keysGenerator() *rapid.Generator[[]string] {
	alphabets := []string{"a-/", "a/!\x01", "a%/\x01", "a. /\x7f", "a%015/\x01", "aé-/0", "aa-.//! %\x010é"}
	return rapid.Custom(func(t *rapid.T) []string {
		alphabet := rapid.SampledFrom(alphabets).Draw(t, "alphabet")
		name := rapid.StringOfN(rapid.SampledFrom([]rune(alphabet)), 1, 6, -1)
		keys := rapid.SliceOfNDistinct(name, 1, 20, rapid.ID).Draw(t, "names")
		for i, name := range keys {
			keys[i] = object.Escape(name)
		}
		return keys
	})
}

// smallPages makes listings of at most size keys.
func smallPages(size *int32) func(*s3.Options) {
	shrink := func(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
		if list, ok := in.Parameters.(*s3.ListObjectsV2Input); ok {
			list.MaxKeys = aws.Int32(*size)
		}
		return next.HandleInitialize(ctx, in)
	}
	return func(o *s3.Options) {
		o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
			return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("SmallPages", shrink), middleware.Before)
		})
	}
}

// TestOrder compares listings of random keys in pages of random size with what
// the keys stand for.
func TestOrder(t *testing.T) {
	for _, p := range profiles() {
		t.Run(p.name, func(t *testing.T) {
			server := s3test.New(t, p.options)
			var size int32
			s := inProcess(server, p.compat, smallPages(&size))
			rapid.Check(t, func(t *rapid.T) {
				for _, key := range server.Objects(bucket) {
					server.Delete(bucket, key)
				}
				keys := keysGenerator().Draw(t, "keys")
				size = rapid.Int32Range(1, 4).Draw(t, "page size")
				for _, key := range keys {
					server.Put(bucket, "p/"+key, nil)
				}
				f, err := objectstore.New(s.client, &objectstore.Options{Bucket: bucket, Prefix: "p", Compat: &p.compat})
				if err != nil {
					t.Fatal(err)
				}
				f.SetMaxHeld(rapid.IntRange(0, 2).Draw(t, "held"))
				checkOrder(t, f, treeOf(keys))
			})
		})
	}
}

func checkOrder(t *rapid.T, f *objectstore.FS, want tree) {
	all := append(want.paths(func(string, bool) bool { return true }), ".", "a", "a/", "a%", "\x01", "zz")
	dirs := append(want.paths(func(_ string, isDir bool) bool { return isDir }), ".")
	dir := rapid.SampledFrom(dirs).Draw(t, "dir")
	after := rapid.SampledFrom(append(all, "", "")).Draw(t, "after")
	skip := rapid.SliceOfN(rapid.SampledFrom(dirs), 0, 3).Draw(t, "skip")
	limit := rapid.IntRange(0, 4).Draw(t, "limit")
	got, err := walkSkipping(f, dir, after, skip)
	checkPaths(t, "Walk", want.walk(dir, after, skip), got, err)

	_, base := workspace.Split(after)
	infos, err := f.Ls(context.Background(), dir, &workspace.LsOptions{After: base, Limit: limit})
	checkPaths(t, "Ls", want.children(dir, base, limit), pathsOf(infos), err)

	pattern := rapid.SampledFrom(want.patterns()).Draw(t, "pattern")
	got, err = f.Glob(context.Background(), pattern, &workspace.GlobOptions{After: after, Limit: limit})
	checkPaths(t, "Glob", want.glob(pattern, after, limit), got, err)
}

func walkSkipping(f *objectstore.FS, dir, after string, skip []string) ([]string, error) {
	got := []string{}
	err := f.Walk(context.Background(), dir, &workspace.WalkOptions{After: after}, func(info workspace.FileInfo, _ error) error {
		got = append(got, info.Path)
		if info.IsDir() && slices.Contains(skip, info.Path) {
			return fs.SkipDir
		}
		return nil
	})
	return got, err
}

func checkPaths(t *rapid.T, what string, want, got []string, err error) {
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%s: %v (-want +got):\n%s", what, err, diff)
	}
}
