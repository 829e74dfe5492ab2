package conformance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/workspacekit/workspacekit/workspace"
)

// anySequence makes sequences of -rapid.steps operations on average. Names and
// patterns that are malformed are among them if malformed is set.
func anySequence(malformed bool) *rapid.Generator[sequence] {
	return rapid.Custom(func(t *rapid.T) sequence {
		g := newGenerators(t, malformed)
		var s sequence
		for _, name := range g.names {
			if rapid.Bool().Draw(t, "exists") {
				s = append(s, g.write(t, name, noOptions))
			}
		}
		any := g.step()
		t.Repeat(map[string]func(*rapid.T){"step": func(t *rapid.T) {
			next := any.Draw(t, "step")
			if rapid.IntRange(0, 49).Draw(t, "ended") == 49 {
				next.ended = true
				next.text += ", its context ended"
			}
			s = append(s, next)
		}})
		return s
	})
}

func (g *generators) step() *rapid.Generator[step] {
	return oneOf(
		g.writeFile(), g.writeFile(), g.writeFile(), g.writeFile(), g.writeFile(), g.create(), g.mkdir(), g.rm(), g.move(), g.copy(),
		g.readFile(), g.readVersioned(), g.open(), g.ls(), g.lsPages(), g.stat(), g.glob(), g.glob(), g.globPages(),
		g.grep(), g.grep(), g.grepPages(), g.walk(), g.resolve(),
	)
}

func (g *generators) readFile() *rapid.Generator[step] {
	return rapid.Custom(func(t *rapid.T) step {
		name := g.name.Draw(t, "name")
		return step{text: fmt.Sprintf("ReadFile(%q)", name), names: []string{name}, do: func(ctx context.Context, s *side) (any, error) {
			data, err := s.fsys.ReadFile(ctx, name)
			return scribbled(data), err
		}}
	})
}

func (g *generators) readVersioned() *rapid.Generator[step] {
	limits := sampled([]int64{0, 0, 1, 2, 5, 10, 100, 9000, -1})
	return rapid.Custom(func(t *rapid.T) step {
		name, limit := g.name.Draw(t, "name"), limits.Draw(t, "limit")
		return step{text: fmt.Sprintf("ReadVersioned(%q, %d)", name, limit), names: []string{name}, nonsense: limit < 0, do: func(ctx context.Context, s *side) (any, error) {
			data, version, err := workspace.ReadVersioned(ctx, s.fsys, name, limit)
			content := scribbled(data)
			if err == nil {
				s.read(name, version, content)
			}
			return content, err
		}}
	})
}

func (g *generators) open() *rapid.Generator[step] {
	bounds := sampled([]int64{0, 0, 1, 2, 3, 5, 10, 5000, 1 << 40, -1})
	return rapid.Custom(func(t *rapid.T) step {
		name := g.name.Draw(t, "name")
		opts := &workspace.OpenOptions{Offset: bounds.Draw(t, "offset"), Length: bounds.Draw(t, "length")}
		nonsense := opts.Offset < 0 || opts.Length < 0
		return step{text: fmt.Sprintf("Open(%q, %+v)", name, *opts), names: []string{name}, nonsense: nonsense, do: func(ctx context.Context, s *side) (any, error) {
			stream, info, err := workspace.Open(ctx, s.fsys, name, opts)
			if err != nil {
				return nil, err
			}
			defer stream.Close()
			data, err := io.ReadAll(stream)
			return []any{s.entry(info), string(data)}, err
		}}
	})
}

// condition is the options of a write. IfVersion is chosen when the write
// begins.
type condition string

const (
	noOptions   condition = "nil"
	zeroOptions condition = "{}"
	ifNotExist  condition = "{IfNotExist}"
	ifCurrent   condition = "{IfVersion: the current one}"
	ifStale     condition = "{IfVersion: an earlier one}"
	ifForeign   condition = "{IfVersion: of no file}"
	ifOdd       condition = `{IfVersion: "*"}`
	ifBoth      condition = "{IfNotExist, IfVersion: the current one}"
)

func anyCondition() *rapid.Generator[condition] {
	return sampled([]condition{
		noOptions, noOptions, noOptions, noOptions, noOptions, noOptions, noOptions, noOptions, noOptions, noOptions, zeroOptions,
		ifNotExist, ifCurrent, ifCurrent, ifStale, ifForeign, ifOdd, ifBoth,
	})
}

func (c condition) needs() func(workspace.Capabilities) bool {
	if c == noOptions || c == zeroOptions {
		return nil
	}
	return func(caps workspace.Capabilities) bool { return caps.ConditionalWrite }
}

func (c condition) options(ctx context.Context, s *side, name string) *workspace.WriteOptions {
	switch c {
	case noOptions:
		return nil
	case zeroOptions:
		return &workspace.WriteOptions{}
	case ifNotExist:
		return &workspace.WriteOptions{IfNotExist: true}
	case ifStale:
		return &workspace.WriteOptions{IfVersion: s.stale(name)}
	case ifForeign:
		return &workspace.WriteOptions{IfVersion: foreignVersion}
	case ifOdd:
		return &workspace.WriteOptions{IfVersion: "*"}
	}
	opts := &workspace.WriteOptions{IfVersion: foreignVersion, IfNotExist: c == ifBoth}
	if info, err := s.fsys.Stat(ctx, name); err == nil && info.Version != "" {
		opts.IfVersion = info.Version
	}
	return opts
}

func (g *generators) writeFile() *rapid.Generator[step] {
	return rapid.Custom(func(t *rapid.T) step {
		return g.write(t, g.name.Draw(t, "name"), g.condition.Draw(t, "condition"))
	})
}

func (g *generators) write(t *rapid.T, name string, cond condition) step {
	content := g.contentOf(t, name)
	text := fmt.Sprintf("WriteFile(%q, %s, %s)", name, brief(content), cond)
	return step{text: text, names: []string{name}, nonsense: cond == ifBoth, needs: cond.needs(), do: func(ctx context.Context, s *side) (any, error) {
		data := []byte(content)
		version, err := s.fsys.WriteFile(ctx, name, data, cond.options(ctx, s, name))
		scribbled(data)
		if err == nil {
			s.wrote(name, version, content)
		}
		return nil, err
	}}
}

// create writes in up to three parts, and looks before it commits or discards
// them.
func (g *generators) create() *rapid.Generator[step] {
	return rapid.Custom(func(t *rapid.T) step {
		name, cond := g.name.Draw(t, "name"), g.condition.Draw(t, "condition")
		parts := rapid.SliceOfN(rapid.Just(g.contentOf(t, name)), 0, 3).Draw(t, "parts")
		text := fmt.Sprintf("Create(%q, %s), Write %s in %d parts", name, cond, brief(strings.Join(parts, "")), len(parts))
		if rapid.IntRange(0, 3).Draw(t, "discard") == 3 {
			return step{text: text + ", Close", do: func(ctx context.Context, s *side) (any, error) {
				s.discard(ctx, name, parts, cond.options(ctx, s, name))
				return nil, nil
			}}
		}
		return step{text: text + ", Commit", names: []string{name}, nonsense: cond == ifBoth, needs: cond.needs(), do: func(ctx context.Context, s *side) (any, error) {
			return s.create(ctx, name, parts, cond.options(ctx, s, name))
		}}
	})
}

func (s *side) create(ctx context.Context, name string, parts []string, opts *workspace.WriteOptions) (any, error) {
	w, err := workspace.Create(ctx, s.fsys, name, opts)
	if err != nil {
		return nil, err
	}
	defer s.close(w)
	for _, part := range parts {
		data := []byte(part)
		if n, err := w.Write(data); err != nil {
			return nil, err
		} else if n != len(part) {
			s.fault("Write of %d bytes = %d", len(part), n)
		}
		scribbled(data)
	}
	var before any
	if info, err := s.fsys.Stat(ctx, name); err == nil {
		before = s.entry(info)
	}
	version, err := w.Commit()
	if err == nil {
		s.wrote(name, version, strings.Join(parts, ""))
	}
	return before, err
}

// discard may fail on one side alone, as what Commit would refuse can be refused
// before.
func (s *side) discard(ctx context.Context, name string, parts []string, opts *workspace.WriteOptions) {
	w, err := workspace.Create(ctx, s.fsys, name, opts)
	if err != nil {
		return
	}
	defer s.close(w)
	for _, part := range parts {
		if _, err := w.Write([]byte(part)); err != nil {
			return
		}
	}
}

func (s *side) close(w workspace.Writer) {
	if err := w.Close(); err != nil {
		s.fault("Close of a file that was created = %v", err)
	}
}

func (g *generators) mkdir() *rapid.Generator[step] {
	return rapid.Custom(func(t *rapid.T) step {
		name, opts := g.name.Draw(t, "name"), &workspace.MkdirOptions{Recursive: rapid.Bool().Draw(t, "recursive")}
		return step{text: fmt.Sprintf("Mkdir(%q, %+v)", name, *opts), names: []string{name}, do: func(ctx context.Context, s *side) (any, error) {
			return nil, s.fsys.Mkdir(ctx, name, opts)
		}}
	})
}

func (g *generators) rm() *rapid.Generator[step] {
	return rapid.Custom(func(t *rapid.T) step {
		name, opts := g.name.Draw(t, "name"), &workspace.RmOptions{Recursive: rapid.Bool().Draw(t, "recursive")}
		return step{text: fmt.Sprintf("Rm(%q, %+v)", name, *opts), names: []string{name}, do: func(ctx context.Context, s *side) (any, error) {
			err := s.fsys.Rm(ctx, name, opts)
			if err == nil {
				s.forget(name)
			}
			return nil, err
		}}
	})
}

func (g *generators) move() *rapid.Generator[step] {
	return rapid.Custom(func(t *rapid.T) step {
		source, destination := g.name.Draw(t, "source"), g.free.Draw(t, "destination")
		needs := func(caps workspace.Capabilities) bool { return caps.Move }
		from, to := cleaned(source), cleaned(destination)
		nonsense := from == "." || to == from || strings.HasPrefix(to, from+"/")
		return step{text: fmt.Sprintf("Move(%q, %q)", source, destination), names: []string{source, destination}, nonsense: nonsense, needs: needs, do: func(ctx context.Context, s *side) (any, error) {
			err := workspace.Move(ctx, s.fsys, source, destination)
			if err == nil {
				s.forget(source)
				s.forget(destination)
			}
			return nil, err
		}}
	})
}

func (g *generators) copy() *rapid.Generator[step] {
	return rapid.Custom(func(t *rapid.T) step {
		source, destination := g.name.Draw(t, "source"), g.free.Draw(t, "destination")
		needs := func(caps workspace.Capabilities) bool { return caps.Copy || caps.ConditionalWrite }
		return step{text: fmt.Sprintf("Copy(%q, %q)", source, destination), names: []string{source, destination}, needs: needs, do: func(ctx context.Context, s *side) (any, error) {
			version, err := workspace.Copy(ctx, s.fsys, source, destination)
			if err == nil {
				s.forget(destination)
				s.saw(destination, version)
			}
			return nil, err
		}}
	})
}

func (g *generators) stat() *rapid.Generator[step] {
	return rapid.Custom(func(t *rapid.T) step {
		name := g.name.Draw(t, "name")
		return step{text: fmt.Sprintf("Stat(%q)", name), do: func(ctx context.Context, s *side) (any, error) {
			info, err := s.fsys.Stat(ctx, name)
			if err != nil {
				return nil, err
			}
			return s.entry(info), nil
		}}
	})
}

func (g *generators) resolve() *rapid.Generator[step] {
	return rapid.Custom(func(t *rapid.T) step {
		name := g.name.Draw(t, "name")
		return step{text: fmt.Sprintf("Resolve(%q)", name), do: func(ctx context.Context, s *side) (any, error) {
			return workspace.Resolve(ctx, s.fsys, name)
		}}
	})
}

func (g *generators) ls() *rapid.Generator[step] {
	return rapid.Custom(func(t *rapid.T) step {
		dir, opts := g.dir.Draw(t, "dir"), &workspace.LsOptions{Limit: g.limit.Draw(t, "limit"), After: g.after.Draw(t, "after")}
		return step{text: fmt.Sprintf("Ls(%q, %+v)", dir, *opts), names: []string{dir}, nonsense: opts.Limit < 0, do: func(ctx context.Context, s *side) (any, error) {
			infos, err := s.fsys.Ls(ctx, dir, opts)
			return s.entries(infos), err
		}}
	})
}

// lsPages lists a directory in pages, which must add up to the whole.
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
// result of the page before.
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

func (g *generators) glob() *rapid.Generator[step] {
	return rapid.Custom(func(t *rapid.T) step {
		pattern, opts := g.pattern.Draw(t, "pattern"), g.globOptions(t)
		opts.Limit, opts.After = g.limit.Draw(t, "limit"), g.after.Draw(t, "after")
		return step{text: fmt.Sprintf("Glob(%q, %+v)", pattern, *opts), names: []string{opts.Dir}, patterns: []string{pattern}, nonsense: opts.Limit < 0, do: func(ctx context.Context, s *side) (any, error) {
			return s.fsys.Glob(ctx, pattern, opts)
		}}
	})
}

func (g *generators) globOptions(t *rapid.T) *workspace.GlobOptions {
	return &workspace.GlobOptions{Dir: g.path.Draw(t, "dir"), Gitignore: rapid.IntRange(0, 3).Draw(t, "gitignore") == 3}
}

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

func (g *generators) grepOptions(t *rapid.T) (pattern string, opts *workspace.GrepOptions) {
	p := g.expression.Draw(t, "pattern")
	opts = &workspace.GrepOptions{
		Path: g.path.Draw(t, "path"), Literal: p.opts.Literal, IgnoreCase: p.opts.IgnoreCase,
		IncludeGlob: g.filter.Draw(t, "include"), ExcludeGlob: g.filter.Draw(t, "exclude"),
		Before: g.around.Draw(t, "before"), After: g.around.Draw(t, "after lines"),
		MaxFileSize: g.maxSize.Draw(t, "size"), Gitignore: rapid.IntRange(0, 3).Draw(t, "gitignore") == 3,
	}
	return p.pattern, opts
}

func grepArguments(pattern string, opts *workspace.GrepOptions) (names, patterns []string, nonsense bool) {
	return []string{opts.Path}, []string{pattern, opts.IncludeGlob, opts.ExcludeGlob},
		min(opts.Before, opts.After, opts.MaxResults) < 0 || opts.MaxFileSize < 0
}

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

// errWalk is the error of a walk's function.
var errWalk = errors.New("the function of the walk failed")

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

// treeStep reads everything there is.
func treeStep() step {
	return step{text: "the tree", do: func(ctx context.Context, s *side) (any, error) {
		var found []any
		err := s.tree(ctx, ".", &found)
		return found, err
	}}
}

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

func (s *side) contents(ctx context.Context, name string, found *[]any) error {
	data, version, err := workspace.ReadVersioned(ctx, s.fsys, name, 0)
	if err == nil {
		s.read(name, version, string(data))
		*found = append(*found, string(data))
	}
	return err
}
