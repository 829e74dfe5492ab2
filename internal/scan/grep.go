package scan

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/workspacekit/workspacekit/internal/lines"
	"github.com/workspacekit/workspacekit/workspace"
)

// Grep is [workspace.FileSystem].Grep over src. workers is how many files are
// read at a time; zero suits a source that answers from memory or a local
// disk.
func Grep(ctx context.Context, src Source, pattern string, opts *workspace.GrepOptions, workers int) (*workspace.GrepResult, error) {
	var o workspace.GrepOptions
	if opts != nil {
		o = *opts
	}
	if o.Path == "" {
		o.Path = "."
	}
	if err := workspace.Check(ctx, workspace.OpGrep, o.Path); err != nil {
		return nil, err
	}
	if err := CheckGrep(o); err != nil {
		return nil, err
	}
	matcher, err := lines.Compile(pattern, lines.Options{Literal: o.Literal, IgnoreCase: o.IgnoreCase})
	if err != nil {
		return nil, workspace.NewPathError(workspace.OpGrep, pattern, nil, err)
	}
	files, err := newFilter(o.IncludeGlob, o.ExcludeGlob)
	if err != nil {
		return nil, err
	}
	s := &search{src: src, opts: o, matcher: matcher, filter: files}
	if _, ok := src.(Walker); ok {
		return s.treeOrSingle(ctx, workers)
	}
	kind, err := src.Stat(ctx, o.Path)
	if err != nil {
		return nil, workspace.RenameError(err, workspace.OpGrep, o.Path)
	}
	if kind == workspace.TypeDirectory {
		return s.tree(ctx, workers)
	}
	return s.single(ctx)
}

// treeOrSingle takes the path for a directory and finds out by listing it.
func (s *search) treeOrSingle(ctx context.Context, workers int) (*workspace.GrepResult, error) {
	result, err := s.tree(ctx, workers)
	if !errors.Is(err, workspace.ErrNotDir) {
		return result, err
	}
	if s.opts.Path < s.opts.StartAfter.Path { // which single leaves unread
		if _, err := s.src.Stat(ctx, s.opts.Path); err != nil {
			return nil, workspace.RenameError(err, workspace.OpGrep, s.opts.Path)
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
			return workspace.NewPathError(workspace.OpGrep, o.Path, fs.ErrInvalid, fmt.Errorf("negative %s", number.name))
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
}

// single searches the one file that the options name.
func (s *search) single(ctx context.Context) (*workspace.GrepResult, error) {
	c := collector{limit: s.opts.MaxResults}
	if s.opts.Path < s.opts.StartAfter.Path {
		return c.result(), nil
	}
	found := s.file(ctx, s.opts.Path, new([]byte), ReadOptions{Top: true})
	if found.err != nil && !errors.Is(found.err, workspace.ErrTooLarge) {
		return nil, workspace.RenameError(found.err, workspace.OpGrep, s.opts.Path)
	}
	c.add(found)
	return c.result(), nil
}

// file searches the file name.
func (s *search) file(ctx context.Context, name string, scratch *[]byte, how ReadOptions) found {
	how.Limit, how.Text = s.opts.MaxFileSize, true
	var numbers []int
	if s.opts.Before == 0 && s.opts.After == 0 {
		how.Lines = &numbers
	}
	data, err := s.src.Read(ctx, name, scratch, how)
	skippable := name != s.opts.StartAfter.Path // the page before told of that one
	switch {
	case err == nil && !lines.IsBinary(data):
		return found{path: name, matches: s.matches(name, data, numbers)}
	case !skippable:
		return found{path: name, err: err}
	case errors.Is(err, workspace.ErrTooLarge):
		return found{path: name, skipped: workspace.SkipTooLarge, err: err}
	case (errors.Is(err, fs.ErrNotExist) || errors.Is(err, workspace.ErrSymlink)) && !how.Top: // gone since it was listed
		return found{path: name}
	case err != nil:
		return found{path: name, skipped: workspace.SkipUnreadable, err: err}
	}
	return found{path: name, skipped: workspace.SkipBinary}
}

// matches returns the matches in data, one more than are wanted at most. numbers
// are those of the lines in data, nil if these are all of the file.
func (s *search) matches(name string, data []byte, numbers []int) []workspace.Match {
	var matches []workspace.Match
	text := excerpt{data: data, line: 1}
	scanner := s.matcher.Scan(data)
	for {
		start, end, ok := scanner.Next()
		if !ok {
			return matches
		}
		line := text.lineAt(start)
		if numbers != nil {
			line = numbers[line-1]
		}
		if name == s.opts.StartAfter.Path && line <= s.opts.StartAfter.LineNumber {
			continue
		}
		matches = append(matches, workspace.Match{
			Path: name, LineNumber: line, Line: string(data[start:end]),
			Before: text.before(start, s.opts.Before),
			After:  text.after(end, s.opts.After),
		})
		if s.opts.MaxResults > 0 && len(matches) > s.opts.MaxResults {
			return matches
		}
	}
}
