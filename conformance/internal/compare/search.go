package compare

import (
	"context"
	"fmt"

	"pgregory.net/rapid"

	"github.com/workspacekit/workspacekit/workspace"
)

// glob draws a Glob. Its errors may be about the pattern, about Dir, or about a
// negative limit.
func (g *generators) glob() *rapid.Generator[step] {
	return rapid.Custom(func(t *rapid.T) step {
		pattern, opts := g.pattern.Draw(t, "pattern"), g.globOptions(t)
		opts.Limit, opts.After = g.limit.Draw(t, "limit"), g.after.Draw(t, "after")
		return step{text: fmt.Sprintf("Glob(%q, %+v)", pattern, *opts), names: []string{opts.Dir}, patterns: []string{pattern}, nonsense: opts.Limit < 0, do: func(ctx context.Context, s *side) (any, error) {
			return s.fsys.Glob(ctx, pattern, opts)
		}}
	})
}

// globOptions draws the options of a Glob.
func (g *generators) globOptions(t *rapid.T) *workspace.GlobOptions {
	return &workspace.GlobOptions{Dir: g.path.Draw(t, "dir"), Gitignore: rapid.IntRange(0, 3).Draw(t, "gitignore") == 3}
}

// globPages draws a Glob that is read in pages, which must add up to the
// whole.
func (g *generators) globPages() *rapid.Generator[step] {
	return rapid.Custom(func(t *rapid.T) step {
		pattern, opts, limit := g.pattern.Draw(t, "pattern"), g.globOptions(t), rapid.IntRange(1, 3).Draw(t, "limit")
		return step{text: fmt.Sprintf("Glob(%q, %+v) in pages of %d", pattern, *opts, limit), names: []string{opts.Dir}, patterns: []string{pattern}, do: func(ctx context.Context, s *side) (any, error) {
			whole, err := s.fsys.Glob(ctx, pattern, opts)
			if err != nil {
				return nil, err
			}
			pages, err := inPages(limit, func(after string) ([]string, error) {
				page := *opts
				page.Limit, page.After = limit, after
				return s.fsys.Glob(ctx, pattern, &page)
			}, func(path string) string { return path })
			s.adds(whole, pages)
			return whole, err
		}}
	})
}

// grep draws a Grep.
func (g *generators) grep() *rapid.Generator[step] {
	return rapid.Custom(func(t *rapid.T) step {
		pattern, opts := g.grepOptions(t)
		opts.MaxResults = g.limit.Draw(t, "limit")
		opts.StartAfter = workspace.Position{Path: g.after.Draw(t, "after"), LineNumber: g.lineNumber.Draw(t, "line")}
		names, patterns, nonsense := grepArguments(pattern, opts)
		return step{text: fmt.Sprintf("Grep(%q, %+v)", pattern, *opts), names: names, patterns: patterns, nonsense: nonsense, do: func(ctx context.Context, s *side) (any, error) {
			return s.grep(ctx, pattern, opts)
		}}
	})
}

// grepOptions draws the options of a Grep. One pattern in four is used in the
// other mode than its theme has it for, with or without Multiline.
func (g *generators) grepOptions(t *rapid.T) (pattern string, opts *workspace.GrepOptions) {
	p := g.expression.Draw(t, "pattern")
	opts = &workspace.GrepOptions{
		Path: g.path.Draw(t, "path"), Literal: p.Opts.Literal, IgnoreCase: p.Opts.IgnoreCase,
		IncludeGlob: g.filter.Draw(t, "include"), ExcludeGlob: g.filter.Draw(t, "exclude"),
		Before: g.around.Draw(t, "before"), After: g.around.Draw(t, "after lines"),
		Multiline: p.Opts.Multiline != (rapid.IntRange(0, 3).Draw(t, "multiline") == 3),
		FirstOnly: rapid.IntRange(0, 4).Draw(t, "first") == 4, Count: rapid.IntRange(0, 4).Draw(t, "count") == 4,
		MaxFileSize: g.maxSize.Draw(t, "size"), Gitignore: rapid.IntRange(0, 3).Draw(t, "gitignore") == 3,
	}
	return p.Text, opts
}

// grepArguments returns what the error of a Grep may name: paths and patterns.
// nonsense says that a number is negative.
func grepArguments(pattern string, opts *workspace.GrepOptions) (names, patterns []string, nonsense bool) {
	return []string{opts.Path}, []string{pattern, opts.IncludeGlob, opts.ExcludeGlob},
		min(opts.Before, opts.After, opts.MaxResults) < 0 || opts.MaxFileSize < 0
}

// grepPages draws a Grep that is read in pages, which must add up to the
// whole.
func (g *generators) grepPages() *rapid.Generator[step] {
	return rapid.Custom(func(t *rapid.T) step {
		pattern, opts := g.grepOptions(t)
		limit := rapid.IntRange(1, 3).Draw(t, "limit")
		names, patterns, nonsense := grepArguments(pattern, opts)
		text := fmt.Sprintf("Grep(%q, %+v) in pages of %d", pattern, *opts, limit)
		return step{text: text, names: names, patterns: patterns, nonsense: nonsense, do: func(ctx context.Context, s *side) (any, error) {
			whole, err := s.grep(ctx, pattern, opts)
			if err != nil {
				return nil, err
			}
			page := *opts
			page.MaxResults = max(limit, len(whole.Matches)/maxPages)
			pages, err := s.grepPages(ctx, pattern, page)
			if pages != nil {
				pages.Searched = whole.Searched // pages do not count the same files
			}
			s.adds(whole, pages)
			return whole, err
		}}
	})
}

// maxPages bounds the requests of a search in pages: each may read a long file
// again.
const maxPages = 20

// grep makes no difference between an empty list and none where JSON does not.
func (s *side) grep(ctx context.Context, pattern string, opts *workspace.GrepOptions) (*workspace.GrepResult, error) {
	result, err := s.fsys.Grep(ctx, pattern, opts)
	if err != nil {
		return nil, err
	}
	if len(result.Skipped) == 0 {
		result.Skipped = nil
	}
	for i, m := range result.Matches {
		if len(m.Before) == 0 {
			result.Matches[i].Before = nil
		}
		if len(m.After) == 0 {
			result.Matches[i].After = nil
		}
	}
	return result, nil
}

// grepPages reads a Grep in pages.
func (s *side) grepPages(ctx context.Context, pattern string, opts workspace.GrepOptions) (*workspace.GrepResult, error) {
	all := &workspace.GrepResult{}
	for {
		page, err := s.fsys.Grep(ctx, pattern, &opts)
		if err != nil {
			return nil, err
		}
		all.Matches = append(all.Matches, page.Matches...)
		all.Skipped = append(all.Skipped, page.Skipped...)
		if !page.Truncated {
			return all, nil
		}
		if len(page.Matches) != opts.MaxResults {
			s.fault("Grep(%q, %+v) is truncated after %d matches", pattern, opts, len(page.Matches))
			return all, nil
		}
		last := page.Matches[len(page.Matches)-1]
		next := workspace.Position{Path: last.Path, LineNumber: last.LineNumber}
		if next == opts.StartAfter {
			s.fault("Grep(%q, %+v) ends where it started", pattern, opts)
			return all, nil
		}
		opts.StartAfter = next
	}
}
