package compare

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/workspacekit/workspacekit/workspace"
)

// ls draws an Ls. After may be any text, a name or none.
func (g *generators) ls() *rapid.Generator[step] {
	return rapid.Custom(func(t *rapid.T) step {
		dir, opts := g.dir.Draw(t, "dir"), &workspace.LsOptions{Limit: g.limit.Draw(t, "limit"), After: g.after.Draw(t, "after")}
		return step{text: fmt.Sprintf("Ls(%q, %+v)", dir, *opts), names: []string{dir}, nonsense: opts.Limit < 0, do: func(ctx context.Context, s *side) (any, error) {
			infos, err := s.fsys.Ls(ctx, dir, opts)
			return s.entries(infos), err
		}}
	})
}

// lsPages lists a directory in pages, which must add up to the whole. Each side
// is compared with itself as well: two file systems could lose the same entry
// at the end of a page.
func (g *generators) lsPages() *rapid.Generator[step] {
	return rapid.Custom(func(t *rapid.T) step {
		dir, limit := g.dir.Draw(t, "dir"), rapid.IntRange(1, 3).Draw(t, "limit")
		return step{text: fmt.Sprintf("Ls(%q) in pages of %d", dir, limit), do: func(ctx context.Context, s *side) (any, error) {
			whole, err := s.fsys.Ls(ctx, dir, nil)
			if err != nil {
				return nil, err
			}
			pages, err := inPages(limit, func(after string) ([]workspace.FileInfo, error) {
				return s.fsys.Ls(ctx, dir, &workspace.LsOptions{Limit: limit, After: after})
			}, func(info workspace.FileInfo) string { return info.Name })
			s.adds(s.entries(whole), s.entries(pages))
			return s.entries(whole), err
		}}
	})
}

// inPages asks for pages until one is not full. Each begins after the last
// result of the page before. A page that does not come after the one before
// ends it too, so that a file system that ignores After does not run for ever.
// place is the cursor of a result.
func inPages[T any](limit int, page func(after string) ([]T, error), place func(T) string) ([]T, error) {
	all, after := []T{}, ""
	for {
		next, err := page(after)
		all = append(all, next...)
		if err != nil || len(next) < limit || place(next[len(next)-1]) <= after {
			return all, err
		}
		after = place(next[len(next)-1])
	}
}

// adds notes if pages do not add up to the whole.
func (s *side) adds(whole, pages any) {
	if diff := cmp.Diff(whole, pages, equateEmpty); diff != "" {
		s.fault("the pages do not add up (-whole +pages):\n%s", diff)
	}
}

// errWalk is the error of a walk's function.
var errWalk = errors.New("the function of the walk failed")

// walk draws a Walk, with a function that skips or fails at random.
func (g *generators) walk() *rapid.Generator[step] {
	ends := sampled([]error{nil, nil, fs.SkipDir, fs.SkipAll, errWalk})
	return rapid.Custom(func(t *rapid.T) step {
		dir, opts := g.dir.Draw(t, "dir"), &workspace.WalkOptions{After: g.after.Draw(t, "after")}
		end, at := ends.Draw(t, "end"), rapid.IntRange(0, 5).Draw(t, "at")
		text := fmt.Sprintf("Walk(%q, %+v)", dir, *opts)
		if end != nil {
			text += fmt.Sprintf(", its function returns %q from call %d on", end, at+1)
		}
		return step{text: text, do: func(ctx context.Context, s *side) (any, error) {
			return s.walk(ctx, dir, opts, func(call int) error {
				if call >= at {
					return end
				}
				return nil
			})
		}}
	})
}

// walk returns what was visited, and also how the walk ended if that was by
// its function.
func (s *side) walk(ctx context.Context, dir string, opts *workspace.WalkOptions, result func(call int) error) (any, error) {
	visited := []any{}
	call := 0
	err := workspace.Walk(ctx, s.fsys, dir, opts, func(info workspace.FileInfo, err error) error {
		visited = append(visited, s.entry(info))
		if err != nil {
			visited = append(visited, s.failureOf(err))
		}
		call++
		return result(call - 1)
	})
	if err != nil && call > 0 && ctx.Err() == nil {
		return append(visited, s.failureOf(err)), nil
	}
	return visited, err
}

// treeStep reads everything there is. It has no names, so no difference in its
// errors is excused.
func treeStep() step {
	return step{text: "the tree", do: func(ctx context.Context, s *side) (any, error) {
		var found []any
		err := s.tree(ctx, ".", &found)
		return found, err
	}}
}

// tree adds everything below dir to found, with contents. It reads by Ls and
// ReadVersioned alone, which the steps before have compared, and notes each
// version. Anything that is neither a file nor a directory is compared by its
// entry.
func (s *side) tree(ctx context.Context, dir string, found *[]any) error {
	infos, err := s.fsys.Ls(ctx, dir, nil)
	if err != nil {
		return err
	}
	for _, info := range infos {
		*found = append(*found, s.entry(info))
		switch info.Type {
		case workspace.TypeDirectory:
			err = s.tree(ctx, info.Path, found)
		case workspace.TypeFile:
			err = s.contents(ctx, info.Path, found)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// contents adds the content of a file to found.
func (s *side) contents(ctx context.Context, name string, found *[]any) error {
	data, version, err := workspace.ReadVersioned(ctx, s.fsys, name, 0)
	if err == nil {
		s.read(name, version, string(data))
		*found = append(*found, string(data))
	}
	return err
}
