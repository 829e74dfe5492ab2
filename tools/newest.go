package tools

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"
	"sort"
	"strings"

	"github.com/workspacekit/workspacekit/workspace"
)

// resultSort is the order of what a search finds. The empty one is sortPath.
type resultSort string

const (
	sortPath resultSort = "path"
	sortTime resultSort = "mtime" // the file that was modified last comes first, and then by path
)

// byTime reports whether the newest file comes first.
func (s resultSort) byTime() bool { return s == sortTime }

// sorted describes the parameter sort.
func (p properties) sorted() {
	p.oneOf("sort", string(sortPath), string(sortTime))
}

// newestFirst sorts results of a search in dir, which are sorted by path, by when
// their files were modified. It returns these times by path, in nanoseconds; 0 for a
// file that has none, or was removed since.
//
// It sorts results in place; equal times stay in the order of paths. The times come from one
// walk, which leaves out every directory without a result: a listing has the times of all its
// files, while a Stat for each would be one request for each. A directory that cannot be
// listed gives no times, and no error. dir may be a file, which is then the only result.
func newestFirst[T any](ctx context.Context, ts *toolset, op, dir string, results []T, path func(T) string) (map[string]int64, error) {
	dir, err := ts.ws.Clean(ctx, op, dir)
	if err != nil {
		return nil, err
	}
	modified := map[string]int64{}
	note := func(info workspace.FileInfo) {
		if !info.ModTime.IsZero() {
			modified[info.Path] = info.ModTime.UnixNano()
		}
	}
	// from returns the first result that is not before a path.
	from := func(at string) int {
		return sort.Search(len(results), func(i int) bool { return path(results[i]) >= at })
	}
	err = ts.ws.Walk(ctx, dir, nil, func(info workspace.FileInfo, err error) error {
		if err != nil {
			return nil
		}
		if i := from(info.Path); i < len(results) && path(results[i]) == info.Path {
			note(info)
		}
		if below := from(info.Path + "/"); info.IsDir() && (below == len(results) || !strings.HasPrefix(path(results[below]), info.Path+"/")) {
			return fs.SkipDir
		}
		return nil
	})
	if errors.Is(err, workspace.ErrNotDir) {
		var info workspace.FileInfo
		info, err = ts.ws.Stat(ctx, dir)
		note(info)
	}
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(results, func(a, b T) int { return cmp.Compare(modified[path(b)], modified[path(a)]) })
	return modified, nil
}

// comesAfter returns the index of the first result after a place, in the order of
// newestFirst. An empty place is before all of them. Of a file that was modified between two
// pages, a result can come on both, or on neither.
func comesAfter[T any](results []T, at place, modified map[string]int64, path func(T) string) int {
	if at.Path == "" {
		return 0
	}
	return sort.Search(len(results), func(i int) bool {
		name := path(results[i])
		return modified[name] < at.modified || modified[name] == at.modified && name > at.Path
	})
}
