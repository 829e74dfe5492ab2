package conformance_test

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

type grepFunc = func(ctx context.Context, pattern string, opts *workspace.GrepOptions) (*workspace.GrepResult, error)

func mutateGrep(change func(h *hooked, grep grepFunc) grepFunc) func(*hooked) {
	return func(h *hooked) { h.grep = change(h, h.grep) }
}

// mutateQuery is a mutant whose pattern and options go through change.
func mutateQuery(change func(pattern *string, o *workspace.GrepOptions)) func(*hooked) {
	return mutateGrep(func(_ *hooked, grep grepFunc) grepFunc {
		return func(ctx context.Context, pattern string, opts *workspace.GrepOptions) (*workspace.GrepResult, error) {
			var o workspace.GrepOptions
			if opts != nil {
				o = *opts
			}
			change(&pattern, &o)
			return grep(ctx, pattern, &o)
		}
	})
}

// mutateResult is a mutant whose results go through change.
func mutateResult(change func(o workspace.GrepOptions, r *workspace.GrepResult)) func(*hooked) {
	return mutateGrep(func(_ *hooked, grep grepFunc) grepFunc {
		return func(ctx context.Context, pattern string, opts *workspace.GrepOptions) (*workspace.GrepResult, error) {
			result, err := grep(ctx, pattern, opts)
			if err != nil {
				return result, err
			}
			var o workspace.GrepOptions
			if opts != nil {
				o = *opts
			}
			change(o, result)
			return result, nil
		}
	})
}

// mutateMatches is a mutant whose matches are changed one by one.
func mutateMatches(change func(m *workspace.Match)) func(*hooked) {
	return mutateResult(func(_ workspace.GrepOptions, r *workspace.GrepResult) {
		for i := range r.Matches {
			change(&r.Matches[i])
		}
	})
}

func grepMutants() []mutant { return slices.Concat(grepQueryMutants(), grepResultMutants()) }

type (
	grepOptions = workspace.GrepOptions
	grepResult  = workspace.GrepResult
)

func grepQueryMutants() []mutant {
	return []mutant{
		{"grep-literal-only", mutateQuery(func(_ *string, o *grepOptions) { o.Literal = true }), []string{"Grep/regular-expression", "Grep/empty-lines", "Grep/unicode", "Grep/one-line-at-a-time", "Grep/only-line-breaks", "Grep/malformed-pattern", "Property/random-lines"}},
		{"grep-nothing-is-nil", mutateResult(func(_ grepOptions, r *grepResult) { r.Matches = append([]workspace.Match(nil), r.Matches...) }),
			[]string{"Grep/no-match"}},
		{"grep-ignores-literal", mutateQuery(func(_ *string, o *grepOptions) { o.Literal = false }), []string{"Grep/literal"}},
		{"grep-ignores-ignore-case", mutateQuery(func(_ *string, o *grepOptions) { o.IgnoreCase = false }), []string{"Grep/ignore-case"}},
		{"grep-folds-ascii-only", mutateQuery(foldASCII), []string{"Grep/ignore-case"}},
		{"grep-always-ignores-case", mutateQuery(func(_ *string, o *grepOptions) { o.IgnoreCase = true }), []string{"Grep/literal-text", "Grep/ignore-case"}},
		{"grep-no-include", mutateQuery(func(_ *string, o *grepOptions) { o.IncludeGlob = "" }), []string{"Grep/include-glob", "Grep/include-and-exclude", "Grep/skipped-only-if-asked-for", "Grep/brace-bomb", "Grep/malformed-glob"}},
		{"grep-no-exclude", mutateQuery(func(_ *string, o *grepOptions) { o.ExcludeGlob = "" }), []string{"Grep/exclude-glob", "Grep/include-and-exclude", "Grep/skipped-only-if-asked-for"}},
		{"grep-include-by-name-only", mutateQuery(includeByName), []string{"Grep/include-glob"}},
		{"grep-include-unanchored", mutateQuery(func(_ *string, o *grepOptions) { o.IncludeGlob = strings.TrimPrefix(o.IncludeGlob, "/") }), []string{"Grep/include-glob"}},
		{"grep-include-from-root", mutateQuery(includeFromRoot), []string{"Grep/include-glob"}},
		{"grep-globs-filter-named-file", mutateGrep(filtersNamedFile), []string{"Grep/path-file"}},
		{"grep-ignores-path", mutateQuery(func(_ *string, o *grepOptions) { o.Path = "" }), []string{"Grep/path-file", "Grep/path-directory", "Errors/grep-path-missing"}},
		{"grep-no-context", mutateQuery(func(_ *string, o *grepOptions) { o.Before, o.After = 0, 0 }), []string{"Grep/context", "Grep/context-of-neighbours", "Grep/negative-options"}},
		{"grep-symmetric-context", mutateQuery(func(_ *string, o *grepOptions) { o.Before = max(o.Before, o.After); o.After = o.Before }), []string{"Grep/context"}},
		{"grep-no-limit", mutateQuery(func(_ *string, o *grepOptions) { o.MaxResults = 0 }), []string{"Grep/max-results", "Grep/max-results-in-one-file", "Grep/pages", "Grep/many-files"}},
		{"grep-looks-for-one-more", mutateQuery(func(_ *string, o *grepOptions) {
			if o.MaxResults > 0 {
				o.MaxResults = max(o.MaxResults+1, 0) - 1
			}
		}), []string{"Grep/max-results"}},
		{"grep-starts-at-the-start", mutateQuery(func(_ *string, o *grepOptions) { o.StartAfter = workspace.Position{} }), []string{"Grep/start-after", "Grep/start-after-in-path", "Grep/pages", "Grep/pages-with-context", "Grep/pages-of-skipped"}},
		{"grep-pages-after-the-first-have-one", mutateQuery(func(_ *string, o *grepOptions) {
			if o.StartAfter.Path != "" && o.MaxResults > 0 {
				o.MaxResults = 1
			}
		}), []string{"Grep/pages"}},
		{"grep-starts-after-the-file", mutateQuery(func(_ *string, o *grepOptions) { o.StartAfter.LineNumber *= 1000 }), []string{"Grep/start-after", "Grep/pages"}},
		{"grep-no-size-limit", mutateQuery(func(_ *string, o *grepOptions) { o.MaxFileSize = max(0, o.MaxFileSize*1000) }), []string{"Grep/max-file-size", "Grep/skipped-sorted", "Grep/skipped-without-match"}},
		{"grep-size-limit-is-exclusive", mutateQuery(func(_ *string, o *grepOptions) { o.MaxFileSize = max(0, o.MaxFileSize-1) }), []string{"Grep/max-file-size"}},
		{"grep-no-gitignore", mutateQuery(func(_ *string, o *grepOptions) { o.Gitignore = false }), []string{"Grep/gitignore"}},
		{"grep-always-gitignore", mutateQuery(func(_ *string, o *grepOptions) { o.Gitignore = true }), []string{"Grep/gitignore"}},
		{"grep-multi-line", mutateGrep(multiLine), []string{"Grep/one-line-at-a-time", "Grep/line-break-in-pattern"}},
		{"grep-sees-carriage-returns", mutateQuery(seesCR), []string{"Grep/carriage-return", "Property/random-lines"}},
		{"grep-never-sees-carriage-returns", mutateGrep(dropsCR), []string{"Grep/carriage-return"}},
		{"grep-no-multiline", mutateQuery(func(_ *string, o *grepOptions) { o.Multiline = false }), []string{"Grep/multiline", "Grep/multiline-no-line-break-at-end", "Grep/multiline-carriage-return", "Grep/multiline-in-large-file", "Grep/lines-of-a-match"}},
		{"grep-multiline-anchors-are-the-text's", mutateQuery(onMultiline(func(p string) string { return "(?-m)" + p })), []string{"Grep/multiline"}},
		{"grep-multiline-dot-matches-all", mutateQuery(onMultiline(func(p string) string { return "(?s)" + p })), []string{"Grep/multiline"}},
		{"grep-multiline-ungreedy", mutateQuery(onMultiline(func(p string) string { return "(?U)" + p })), []string{"Grep/multiline", "Grep/multiline-in-large-file"}},
		{"grep-no-first-only", mutateQuery(func(_ *string, o *grepOptions) { o.FirstOnly = false }), []string{"Grep/first-only", "Grep/first-only-in-large-file", "Property/random-lines"}},
		{"grep-first-only-begins-after", mutateGrep(firstOnlyBeginsAfter), []string{"Grep/first-only"}},
		{"grep-no-count", mutateQuery(func(_ *string, o *grepOptions) { o.Count = false }), []string{"Grep/count", "Property/random-lines"}},
		{"grep-absolute-values", mutateQuery(absoluteValues), []string{"Grep/negative-options"}},
	}
}

func grepResultMutants() []mutant {
	return []mutant{
		{"grep-unsorted", mutateResult(func(_ grepOptions, r *grepResult) { slices.Reverse(r.Matches) }), []string{"Grep/order", "Grep/many-lines", "Grep/many-files"}},
		{"grep-in-order-of-a-walk", mutateResult(walkOrderMatches), []string{"Grep/order"}},
		{"grep-line-numbers-from-zero", mutateMatches(func(m *workspace.Match) { m.LineNumber-- }), []string{"Grep/literal-text", "Grep/context", "Grep/not-utf-8"}},
		{"grep-strips-carriage-returns", mutateMatches(func(m *workspace.Match) { m.Line = strings.TrimRight(m.Line, "\r") }), []string{"Grep/carriage-return-kept"}},
		{"grep-no-last-line", mutateMatches(func(m *workspace.Match) { m.LastLine = 0 }), []string{"Grep/multiline", "Grep/lines-of-a-match"}},
		{"grep-last-line-of-every-match", mutateMatches(func(m *workspace.Match) { m.LastLine = max(m.LastLine, m.LineNumber) }), []string{"Grep/multiline", "Grep/literal-text"}},
		{"grep-first-line-of-a-match", mutateMatches(func(m *workspace.Match) { m.Line, _, _ = strings.Cut(m.Line, "\n") }), []string{"Grep/lines-of-a-match"}},
		{"grep-match-with-plain-line-breaks", mutateMatches(func(m *workspace.Match) { m.Line = strings.ReplaceAll(m.Line, "\r\n", "\n") }), []string{"Grep/lines-of-a-match"}},
		{"grep-matches-after-the-last-line", mutateGrep(afterLastLine), []string{"Grep/multiline", "Grep/multiline-empty-file"}},
		{"grep-counts-up-to-100", mutateMatches(func(m *workspace.Match) { m.Count = min(m.Count, 100) }), []string{"Grep/count"}},
		{"grep-always-counts", mutateMatches(func(m *workspace.Match) { m.Count = max(m.Count, 1) }), []string{"Grep/count", "Grep/context"}},
		{"grep-counts-what-is-left", mutateResult(countsWhatIsLeft), []string{"Grep/count"}},
		{"grep-searched-is-what-matches", mutateResult(func(_ grepOptions, r *grepResult) { r.Searched = len(r.Matches) }), []string{"Grep/searched"}},
		{"grep-searched-with-skipped", mutateResult(func(_ grepOptions, r *grepResult) { r.Searched += len(r.Skipped) }), []string{"Grep/searched"}},
		{"grep-searched-though-truncated", mutateResult(func(_ grepOptions, r *grepResult) { r.Searched = max(r.Searched, 1) }), []string{"Grep/searched"}},
		{"grep-keeps-line-breaks", mutateMatches(func(m *workspace.Match) { m.Line += "\n" }), []string{"Grep/carriage-return-kept", "Grep/long-line"}},
		{"grep-cuts-long-lines", mutateMatches(func(m *workspace.Match) { m.Line = m.Line[:min(len(m.Line), 65536)] }), []string{"Grep/long-line"}},
		{"grep-few-lines-of-a-file", mutateResult(fewLinesOfAFile), []string{"Grep/every-line"}},
		{"grep-path-ends-at-colon", mutateMatches(func(m *workspace.Match) { m.Path, _, _ = strings.Cut(m.Path, ":") }), []string{"Grep/names-like-matches"}},
		{"grep-one-context-line-missing", mutateMatches(func(m *workspace.Match) { m.After = m.After[:max(0, len(m.After)-1)] }), []string{"Grep/context"}},
		{"grep-context-ends-with-page", mutateResult(contextEndsWithPage), []string{"Grep/pages-with-context"}},
		{"grep-trailing-empty-line", mutateGrep(trailingEmptyLine), []string{"Grep/line-break-at-end", "Grep/empty-file"}},
		{"grep-needs-final-line-break", mutateGrep(needsFinalBreak), []string{"Grep/no-line-break-at-end"}},
		{"grep-counts-every-match", mutateResult(func(_ grepOptions, r *grepResult) { r.Matches = append(r.Matches, r.Matches...) }), []string{"Grep/match-is-counted-once"}},
		{"grep-matches-everything", mutateQuery(func(p *string, _ *grepOptions) { *p = "" }), []string{"Grep/no-match"}},
		{"grep-of-nothing-is-missing", mutateGrep(nothingIsMissing), []string{"Grep/empty-file-system"}},
		{"grep-never-truncated", mutateResult(func(_ grepOptions, r *grepResult) { r.Truncated = false }), []string{"Grep/truncated-exactly", "Grep/max-results-in-one-file", "Grep/pages"}},
		{"grep-truncated-when-full", mutateResult(func(o grepOptions, r *grepResult) { r.Truncated = len(r.Matches) == o.MaxResults }), []string{"Grep/truncated-exactly", "Grep/max-results-in-one-file"}},
		{"grep-hides-skipped", mutateResult(func(_ grepOptions, r *grepResult) { r.Skipped = nil }), []string{"Grep/binary-skipped", "Grep/max-file-size", "Grep/truncated-skipped", "Grep/skipped-without-match", "Grep/skipped-sorted"}},
		{"grep-skipped-unsorted", mutateResult(func(_ grepOptions, r *grepResult) { slices.Reverse(r.Skipped) }), []string{"Grep/skipped-sorted", "Grep/binary-skipped"}},
		{"grep-one-reason", mutateResult(func(_ grepOptions, r *grepResult) {
			for i := range r.Skipped {
				r.Skipped[i].Reason = workspace.SkipUnreadable
			}
		}), []string{"Grep/binary-skipped", "Grep/max-file-size"}},
		{"grep-late-nul-is-binary", mutateGrep(lateNULIsBinary), []string{"Grep/late-nul-searched"}},
		{"grep-searches-binary", mutateResult(func(_ grepOptions, r *grepResult) {
			r.Matches = append(r.Matches, workspace.Match{Path: "b.bin", LineNumber: 1, Line: "needle"})
		}), []string{"Grep/binary-skipped"}},
		{"grep-skipped-everywhere", mutateResult(func(_ grepOptions, r *grepResult) {
			r.Skipped = append(r.Skipped, workspace.Skipped{Path: "z", Reason: workspace.SkipBinary})
		}), []string{"Grep/truncated-skipped", "Grep/skipped-only-if-asked-for"}},
		{"grep-line-break-in-a-class-is-refused", mutateGrep(refusesLineBreaks), []string{"Grep/line-break-in-pattern"}},
		{"grep-malformed-finds-nothing", mutateGrep(grepWithoutError(workspace.ErrPattern)), []string{"Grep/malformed-pattern", "Grep/malformed-glob", "Grep/brace-bomb", "Grep/line-break-in-pattern"}},
		{"grep-nothing-after-its-path", mutateGrep(nothingAfterPath), []string{"Grep/start-after-missing-path"}},
		{"grep-missing-finds-nothing", mutateGrep(grepWithoutError(fs.ErrNotExist)), []string{"Errors/grep-path-missing"}},
		{"grep-searches-an-old-index", mutateGrep(oldIndex), []string{"Grep/follows-writes"}},
		{"grep-shares-its-result", mutateGrep(sharesResult), []string{"Grep/result-is-the-callers"}},
	}
}

// fewLinesOfAFile drops what is behind the first 1,000 matches of each file.
func fewLinesOfAFile(_ grepOptions, r *grepResult) {
	count := map[string]int{}
	r.Matches = slices.DeleteFunc(r.Matches, func(m workspace.Match) bool {
		count[m.Path]++
		return count[m.Path] > 1000
	})
}

// foldASCII spells the pattern out instead of folding it.
func foldASCII(pattern *string, o *grepOptions) {
	if o.IgnoreCase && len(*pattern) == len([]rune(*pattern)) && !o.Literal {
		*pattern = regexp.MustCompile("[a-z]").ReplaceAllStringFunc(*pattern, func(s string) string { return "(?:" + s + "|" + strings.ToUpper(s) + ")" })
	}
	o.IgnoreCase = false
}

// includeFromRoot has globs on paths match from the root.
func includeFromRoot(_ *string, o *grepOptions) {
	if rest, ok := strings.CutPrefix(o.IncludeGlob, o.Path+"/"); ok {
		o.IncludeGlob = "/" + rest
	}
}

// seesCR lets every pattern see the "\r" of a line's end.
func seesCR(pattern *string, o *grepOptions) {
	if !o.Literal {
		*pattern = "(?:" + *pattern + `)|\r\b\B`
	}
}

// dropsCR has the lines of files without a "\r" at their ends, whatever the pattern.
func dropsCR(h *hooked, grep grepFunc) grepFunc {
	return func(ctx context.Context, pattern string, opts *workspace.GrepOptions) (*workspace.GrepResult, error) {
		if strings.Contains(pattern, `\r`) {
			return &workspace.GrepResult{Matches: []workspace.Match{}}, nil
		}
		return grep(ctx, pattern, opts)
	}
}

// onMultiline changes patterns that can span lines.
func onMultiline(change func(pattern string) string) func(pattern *string, o *grepOptions) {
	return func(pattern *string, o *grepOptions) {
		if o.Multiline && !o.Literal {
			*pattern = change(*pattern)
		}
	}
}

// firstOnlyBeginsAfter returns the first match after the position where a page
// begins.
func firstOnlyBeginsAfter(_ *hooked, grep grepFunc) grepFunc {
	return func(ctx context.Context, pattern string, opts *workspace.GrepOptions) (*workspace.GrepResult, error) {
		if opts == nil || !opts.FirstOnly || opts.StartAfter.Path != opts.Path {
			return grep(ctx, pattern, opts)
		}
		o := *opts
		o.FirstOnly, o.MaxResults = false, 1
		return grep(ctx, pattern, &o)
	}
}

// afterLastLine finds a match of the empty text after the last line break.
func afterLastLine(h *hooked, grep grepFunc) grepFunc {
	return func(ctx context.Context, pattern string, opts *workspace.GrepOptions) (*workspace.GrepResult, error) {
		result, err := grep(ctx, pattern, opts)
		if err != nil || opts == nil || !opts.Multiline || opts.Path != "file" {
			return result, err
		}
		data, _ := h.reference.ReadFile(ctx, "file")
		if strings.TrimRight(string(data), "\n") == string(data) && len(data) > 0 || !regexp.MustCompile(pattern).MatchString("") {
			return result, nil
		}
		line := 1 + strings.Count(string(data), "\n")
		result.Matches = append(result.Matches, workspace.Match{Path: "file", LineNumber: line})
		return result, nil
	}
}

// countsWhatIsLeft does not count what comes before the position where a page
// begins.
func countsWhatIsLeft(o grepOptions, r *grepResult) {
	if len(r.Matches) > 0 && r.Matches[0].Count > 0 && r.Matches[0].Path == o.StartAfter.Path {
		r.Matches[0].Count--
	}
}

func includeByName(_ *string, o *grepOptions) {
	if o.IncludeGlob != "" {
		o.IncludeGlob = path.Base(o.IncludeGlob)
	}
}

func absoluteValues(_ *string, o *grepOptions) {
	o.Before, o.After, o.MaxResults, o.MaxFileSize = max(o.Before, 0), max(o.After, 0), max(o.MaxResults, 0), max(o.MaxFileSize, 0)
}

func filtersNamedFile(_ *hooked, grep grepFunc) grepFunc {
	return func(ctx context.Context, pattern string, opts *workspace.GrepOptions) (*workspace.GrepResult, error) {
		if opts != nil && opts.IncludeGlob != "" {
			if ok, _ := path.Match(opts.IncludeGlob, path.Base(opts.Path)); !ok && path.Ext(opts.Path) != "" {
				return &workspace.GrepResult{}, nil
			}
		}
		return grep(ctx, pattern, opts)
	}
}

// multiLine searches the whole text at once.
func multiLine(h *hooked, grep grepFunc) grepFunc {
	return func(ctx context.Context, pattern string, opts *workspace.GrepOptions) (*workspace.GrepResult, error) {
		if opts == nil || opts.Path == "" {
			return &workspace.GrepResult{}, nil
		}
		data, err := h.reference.ReadFile(ctx, opts.Path)
		if err != nil {
			return nil, err
		}
		result := &workspace.GrepResult{}
		for _, loc := range regexp.MustCompile("(?m)"+pattern).FindAllIndex(data, -1) {
			line := 1 + strings.Count(string(data[:loc[0]]), "\n")
			result.Matches = append(result.Matches, workspace.Match{Path: opts.Path, LineNumber: line})
		}
		return result, nil
	}
}

func contextEndsWithPage(o grepOptions, r *grepResult) {
	if last := len(r.Matches) - 1; last >= 0 && len(r.Matches) == o.MaxResults {
		r.Matches[last].After = nil
	}
}

func walkOrderMatches(_ grepOptions, r *grepResult) {
	slices.SortStableFunc(r.Matches, func(a, b workspace.Match) int {
		return slices.Compare(strings.Split(a.Path, "/"), strings.Split(b.Path, "/"))
	})
}

// trailingEmptyLine takes what follows the last line break for a line.
func trailingEmptyLine(h *hooked, grep grepFunc) grepFunc {
	return func(ctx context.Context, pattern string, opts *workspace.GrepOptions) (*workspace.GrepResult, error) {
		result, err := grep(ctx, pattern, opts)
		if err != nil || opts == nil || !regexp.MustCompile(pattern).MatchString("") {
			return result, err
		}
		data, _ := h.reference.ReadFile(ctx, opts.Path)
		if len(data) == 0 || data[len(data)-1] == '\n' {
			line := 1 + strings.Count(string(data), "\n")
			result.Matches = append(result.Matches, workspace.Match{Path: opts.Path, LineNumber: line})
		}
		return result, nil
	}
}

// needsFinalBreak does not see a last line without a line break.
func needsFinalBreak(h *hooked, grep grepFunc) grepFunc {
	return func(ctx context.Context, pattern string, opts *workspace.GrepOptions) (*workspace.GrepResult, error) {
		result, err := grep(ctx, pattern, opts)
		if err != nil {
			return nil, err
		}
		result.Matches = slices.DeleteFunc(result.Matches, func(m workspace.Match) bool {
			data, _ := h.reference.ReadFile(ctx, m.Path)
			return m.LineNumber > strings.Count(string(data), "\n")
		})
		return result, nil
	}
}

func nothingIsMissing(_ *hooked, grep grepFunc) grepFunc {
	return func(ctx context.Context, pattern string, opts *workspace.GrepOptions) (*workspace.GrepResult, error) {
		result, err := grep(ctx, pattern, opts)
		if err == nil && len(result.Matches) == 0 {
			return nil, ops.Error(ops.Grep, ".", fs.ErrNotExist, nil)
		}
		return result, err
	}
}

func lateNULIsBinary(h *hooked, grep grepFunc) grepFunc {
	return func(ctx context.Context, pattern string, opts *workspace.GrepOptions) (*workspace.GrepResult, error) {
		if data, err := h.reference.ReadFile(ctx, "file"); err == nil && strings.Contains(string(data), "\x00") {
			return &workspace.GrepResult{Skipped: []workspace.Skipped{{Path: "file", Reason: workspace.SkipBinary}}}, nil
		}
		return grep(ctx, pattern, opts)
	}
}

// nothingAfterPath does not look at a path that comes before StartAfter.
func nothingAfterPath(_ *hooked, grep grepFunc) grepFunc {
	return func(ctx context.Context, pattern string, opts *workspace.GrepOptions) (*workspace.GrepResult, error) {
		if opts != nil && opts.StartAfter.Path > opts.Path+"0" {
			return &workspace.GrepResult{Matches: []workspace.Match{}}, nil
		}
		return grep(ctx, pattern, opts)
	}
}

// refusesLineBreaks looks for a line break in the text of the pattern.
func refusesLineBreaks(_ *hooked, grep grepFunc) grepFunc {
	return func(ctx context.Context, pattern string, opts *workspace.GrepOptions) (*workspace.GrepResult, error) {
		if strings.Contains(pattern, `\n`) || strings.Contains(pattern, "\n") {
			return nil, ops.Error(ops.Grep, pattern, workspace.ErrPattern, nil)
		}
		return grep(ctx, pattern, opts)
	}
}

func grepWithoutError(kind error) func(*hooked, grepFunc) grepFunc {
	return func(_ *hooked, grep grepFunc) grepFunc {
		return func(ctx context.Context, pattern string, opts *workspace.GrepOptions) (*workspace.GrepResult, error) {
			result, err := grep(ctx, pattern, opts)
			if errors.Is(err, kind) {
				return &workspace.GrepResult{}, nil
			}
			return result, err
		}
	}
}

// oldIndex answers the same question as before with the same answer.
func oldIndex(_ *hooked, grep grepFunc) grepFunc {
	index := make(map[string]*workspace.GrepResult)
	return func(ctx context.Context, pattern string, opts *workspace.GrepOptions) (*workspace.GrepResult, error) {
		if index[pattern] == nil {
			index[pattern], _ = grep(ctx, pattern, opts)
		}
		return index[pattern], nil
	}
}

func sharesResult(h *hooked, grep grepFunc) grepFunc { return oldIndex(h, grep) }
