package scan

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/workspacekit/workspacekit/internal/glob"
	"github.com/workspacekit/workspacekit/internal/lines"
	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/progress"
	"github.com/workspacekit/workspacekit/workspace"
)

// Grep is [workspace.FileSystem].Grep over src without what is hidden. workers is
// how many files are read at a time; zero suits a source that answers from memory
// or a local disk.
func Grep(ctx context.Context, src Source, pattern string, opts *workspace.GrepOptions, workers int, hidden Hidden) (*workspace.GrepResult, error) {
	var o workspace.GrepOptions
	if opts != nil {
		o = *opts
	}
	if o.Path == "" {
		o.Path = "."
	}
	if err := ops.Check(ctx, ops.Grep, o.Path); err != nil {
		return nil, err
	}
	if err := CheckGrep(o); err != nil {
		return nil, err
	}
	matcher, err := lines.Compile(pattern, lines.Options{Literal: o.Literal, IgnoreCase: o.IgnoreCase, Multiline: o.Multiline})
	if err != nil {
		return nil, ops.Error(ops.Grep, pattern, nil, err)
	}
	s := &search{src: src, opts: o, matcher: matcher, hidden: hidden, progress: progress.From(ctx)}
	if s.filter, err = newFilter(o); err != nil {
		return nil, err
	}
	if walker, ok := src.(Walker); ok {
		return s.treeOrSingle(ctx, walker, workers)
	}
	kind, err := src.Stat(ctx, o.Path)
	if err != nil {
		return nil, ops.Rename(err, ops.Grep, o.Path)
	}
	if kind == workspace.TypeDirectory {
		return s.tree(ctx, workers)
	}
	return s.single(ctx)
}

// treeOrSingle searches the path of the options as a directory first, and as a
// file if it turns out to be one: a [Walker] has no cheaper way to ask. What was a file
// is searched as a file first.
func (s *search) treeOrSingle(ctx context.Context, walker Walker, workers int) (*workspace.GrepResult, error) {
	if s.opts.Path >= s.opts.StartAfter.Path && walker.WasFile(s.opts.Path) {
		if result, err := s.single(ctx); !errors.Is(err, workspace.ErrIsDir) {
			return result, err
		}
	}
	result, err := s.tree(ctx, workers)
	if !errors.Is(err, workspace.ErrNotDir) {
		return result, err
	}
	if s.opts.Path < s.opts.StartAfter.Path { // then single does not read it
		if _, err := s.src.Stat(ctx, s.opts.Path); err != nil {
			return nil, ops.Rename(err, ops.Grep, s.opts.Path)
		}
	}
	return s.single(ctx)
}

// CheckGrep returns the [fs.ErrInvalid] error of options that no search can
// honour.
func CheckGrep(o workspace.GrepOptions) error {
	for _, number := range []struct {
		name  string
		value int64
	}{
		{"Before", int64(o.Before)}, {"After", int64(o.After)}, {"MaxResults", int64(o.MaxResults)},
		{"MaxFileSize", o.MaxFileSize}, {"StartAfter.LineNumber", int64(o.StartAfter.LineNumber)},
	} {
		if number.value < 0 {
			return ops.Error(ops.Grep, o.Path, fs.ErrInvalid, fmt.Errorf("negative %s", number.name))
		}
	}
	return nil
}

// search is one Grep.
type search struct {
	src     Source
	opts    workspace.GrepOptions
	matcher *lines.Matcher
	filter  filter
	hidden  Hidden

	progress *progress.Counter
}

// single searches the one file that the options name. Whoever hides names has
// tested this one, perhaps as the directory that it was then.
func (s *search) single(ctx context.Context) (*workspace.GrepResult, error) {
	c := collector{limit: s.opts.MaxResults}
	dir, _ := workspace.Split(s.opts.Path)
	if NewNames(s.hidden, dir).Hides(s.opts.Path, false) {
		return nil, ops.Error(ops.Grep, s.opts.Path, fs.ErrNotExist, nil)
	}
	if s.opts.Path < s.opts.StartAfter.Path {
		return c.result(), nil
	}
	o := s.file(ctx, s.src, s.opts.Path, new([]byte), new([]int), ReadOptions{Top: true})
	if ended := ctx.Err(); ended != nil {
		return nil, ops.Error(ops.Grep, s.opts.Path, ended, nil)
	}
	if o.err != nil && !errors.Is(o.err, workspace.ErrTooLarge) {
		return nil, ops.Rename(o.err, ops.Grep, s.opts.Path)
	}
	c.add(o)
	return c.result(), nil
}

// reader is a [Source] or a [Dir].
type reader interface {
	Read(ctx context.Context, path string, scratch *[]byte, opts ReadOptions) ([]byte, error)
}

// file searches the file name in src. It uses the memory of scratch and numbers.
func (s *search) file(ctx context.Context, src reader, name string, scratch *[]byte, numbers *[]int, how ReadOptions) outcome {
	s.progress.Add(1)
	how.Limit, how.Text = s.opts.MaxFileSize, true
	if *numbers = nil; s.opts.Before == 0 && s.opts.After == 0 && !s.opts.Multiline {
		how.Lines = numbers
		if s.opts.FirstOnly && !s.opts.Count {
			how.Enough = func(head []byte) bool { return s.hasMatch(ctx, head) }
		}
	}
	data, err := src.Read(ctx, name, scratch, how)
	removed := (errors.Is(err, fs.ErrNotExist) || errors.Is(err, workspace.ErrSymlink)) && !how.Top // since it was listed
	switch {
	case err == nil && !lines.IsBinary(data):
		return outcome{path: name, searched: true, matches: s.matches(ctx, name, data, *numbers)}
	case name == s.opts.StartAfter.Path: // the page before listed it as skipped
		return outcome{path: name, err: err}
	case errors.Is(err, workspace.ErrTooLarge):
		return outcome{path: name, skipped: workspace.SkipTooLarge, err: err}
	case removed:
		return outcome{path: name}
	case err != nil:
		return outcome{path: name, skipped: workspace.SkipUnreadable, err: err}
	}
	return outcome{path: name, skipped: workspace.SkipBinary}
}

// hasMatch reports whether there is a match in the whole lines of head, which is
// the beginning of a file.
func (s *search) hasMatch(ctx context.Context, head []byte) bool {
	scanner := s.matcher.Scan(ctx, head[:bytes.LastIndexByte(head, '\n')+1])
	_, _, found := scanner.Next()
	return found
}

// matches returns the matches in data that the options want, at most one more than
// the limit. numbers are the numbers of the lines in data, nil if data is the whole
// file.
func (s *search) matches(ctx context.Context, name string, data []byte, numbers []int) []workspace.Match {
	var matches []workspace.Match
	around := lineContext{data: data, line: 1}
	scanner := s.matcher.Scan(ctx, data)
	for {
		start, end, ok := scanner.Next()
		if !ok {
			return matches
		}
		line := around.lineAt(start)
		if numbers != nil {
			line = numbers[line-1]
		}
		if name != s.opts.StartAfter.Path || line > s.opts.StartAfter.LineNumber {
			matches = append(matches, workspace.Match{
				Path: name, LineNumber: line, LastLine: around.lastLine(start, end), Line: string(data[start:end]),
				Before: around.before(start, s.opts.Before),
				After:  around.after(end, s.opts.After),
			})
		}
		switch {
		case s.opts.Count && len(matches) > 0:
			matches[0].Count = 1 + s.count(&scanner)
			return matches
		case s.opts.FirstOnly, s.opts.Count, s.opts.MaxResults > 0 && len(matches) > s.opts.MaxResults:
			return matches
		}
	}
}

// count returns how many more matches there are.
func (s *search) count(scanner *lines.Scanner) int {
	for n := 0; ; n++ {
		if _, _, ok := scanner.Next(); !ok {
			return n
		}
	}
}

// lineContext numbers the lines of a text, and returns the lines around them.
type lineContext struct {
	data []byte
	at   int // the place of the last question
	line int // the number of the line at that place
}

// lineAt returns the number of the line that begins at start. Each call must be
// for a later line, so that no line break is counted twice.
func (c *lineContext) lineAt(start int) int {
	c.line += bytes.Count(c.data[c.at:start], []byte{'\n'})
	c.at = start
	return c.line
}

// lastLine returns the number of the last line of a match that begins in the line
// of the last question, and 0 if it is in that line.
func (c *lineContext) lastLine(start, end int) int {
	if more := bytes.Count(c.data[start:end], []byte{'\n'}); more > 0 {
		return c.line + more
	}
	return 0
}

// before returns at most n lines that end before start, nearest last.
func (c *lineContext) before(start, n int) []string {
	var lines []string
	for ; n > 0 && start > 0; n-- {
		end := start - 1
		start = bytes.LastIndexByte(c.data[:end], '\n') + 1
		lines = append(lines, string(c.data[start:end]))
	}
	slices.Reverse(lines)
	return lines
}

// after returns at most n lines that begin after the line break at end,
// nearest first.
func (c *lineContext) after(end, n int) []string {
	var lines []string
	for ; n > 0 && end+1 < len(c.data); n-- {
		start := end + 1
		end = len(c.data)
		if next := bytes.IndexByte(c.data[start:], '\n'); next >= 0 {
			end = start + next
		}
		lines = append(lines, string(c.data[start:end]))
	}
	return lines
}

// filter chooses the files that a search looks into.
type filter struct {
	top              string            // where the search begins, from where the patterns match
	include, exclude *glob.FilePattern // nil for none
}

// newFilter returns the filter of a search with o.
func newFilter(o workspace.GrepOptions) (f filter, err error) {
	f.top = o.Path
	if f.include, err = compileFileGlob(o.IncludeGlob); err == nil {
		f.exclude, err = compileFileGlob(o.ExcludeGlob)
	}
	return f, err
}

// FileFilter returns a function that reports whether the globs of o let a Grep look into
// a file below o.Path, which is not empty.
func FileFilter(o workspace.GrepOptions) (wants func(path string) bool, err error) {
	f, err := newFilter(o)
	return func(path string) bool {
		dir, name := workspace.Split(path)
		return f.wants(&dirState{path: dir}, name)
	}, err
}

// compileFileGlob compiles IncludeGlob or ExcludeGlob. An empty one is nil,
// which restricts nothing.
func compileFileGlob(pattern string) (*glob.FilePattern, error) {
	if pattern == "" {
		return nil, nil
	}
	compiled, err := glob.CompileFile(pattern)
	if err != nil {
		return nil, ops.Error(ops.Grep, pattern, nil, err)
	}
	return compiled, nil
}

// wants reports whether the search looks into the file name of the directory in.
func (f filter) wants(in *dirState, name string) bool {
	if f.include == nil && f.exclude == nil {
		return true
	}
	dir := "."
	if in.path != f.top {
		dir = relative(in.path, f.top)
	}
	return (f.include == nil || f.include.Match(dir, name)) && (f.exclude == nil || !f.exclude.Match(dir, name))
}
