package conformance_test

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

type globFunc = func(ctx context.Context, pattern string, opts *workspace.GlobOptions) ([]string, error)

func mutateGlob(change func(h *hooked, glob globFunc) globFunc) func(*hooked) {
	return func(h *hooked) { h.glob = change(h, h.glob) }
}

// mutatePattern is a mutant whose patterns go through change.
func mutatePattern(change func(pattern string) string) func(*hooked) {
	return mutateGlob(func(_ *hooked, glob globFunc) globFunc {
		return func(ctx context.Context, pattern string, opts *workspace.GlobOptions) ([]string, error) {
			return glob(ctx, change(pattern), opts)
		}
	})
}

// mutatePaths is a mutant whose matches go through change.
func mutatePaths(change func(pattern string, paths []string) []string) func(*hooked) {
	return mutateGlob(func(_ *hooked, glob globFunc) globFunc {
		return func(ctx context.Context, pattern string, opts *workspace.GlobOptions) ([]string, error) {
			paths, err := glob(ctx, pattern, opts)
			return change(pattern, paths), err
		}
	})
}

// mutateGlobOptions is a mutant whose Glob options go through change.
func mutateGlobOptions(change func(o *workspace.GlobOptions)) func(*hooked) {
	return mutateGlob(func(_ *hooked, glob globFunc) globFunc {
		return func(ctx context.Context, pattern string, opts *workspace.GlobOptions) ([]string, error) {
			var o workspace.GlobOptions
			if opts != nil {
				o = *opts
			}
			change(&o)
			return glob(ctx, pattern, &o)
		}
	})
}

func replaced(old, new string) func(string) string {
	return func(pattern string) string { return strings.ReplaceAll(pattern, old, new) }
}

func globMutants() []mutant {
	return []mutant{
		{"glob-limit-of-32-bits", mutateGlobOptions(func(o *workspace.GlobOptions) { o.Limit = int(int32(o.Limit)) }), []string{"Glob/limit"}},
		{"glob-double-star-is-star", mutatePattern(replaced("**", "*")), []string{"Glob/double-star", "Glob/order", "Glob/dir"}},
		{"glob-star-crosses-slashes", mutatePattern(replaced("*", "**")), []string{"Glob/star"}},
		{"glob-nothing-is-nil", mutatePaths(func(_ string, paths []string) []string { return append([]string(nil), paths...) }),
			[]string{"Glob/empty-file-system"}},
		{"glob-question-is-star", mutatePattern(replaced("?", "*")), []string{"Glob/question"}},
		{"glob-question-is-a-byte", mutatePaths(asciiIfQuestion), []string{"Glob/question"}},
		{"glob-no-negated-class", mutatePattern(replaced("[^", "[")), []string{"Glob/class"}},
		{"glob-no-bang-class", mutatePattern(replaced("[!", "[")), []string{"Glob/class"}},
		{"glob-no-braces", mutatePattern(func(p string) string { return strings.NewReplacer("{", `\{`, "}", `\}`).Replace(p) }), []string{"Glob/brace"}},
		{"glob-no-escapes", mutatePattern(replaced(`\`, "")), []string{"Glob/escaped"}},
		{"glob-twice", mutatePaths(func(_ string, paths []string) []string { return append(paths, paths...) }), []string{"Glob/brace", "Glob/literal"}},
		{"glob-hides-dot-files", mutatePaths(hidesDotPaths), []string{"Glob/dot-files", "Glob/star"}},
		{"glob-names-beginning-with-literal", mutatePattern(func(p string) string { return p + "*" }), []string{"Glob/literal"}},
		{"glob-believes-in-literal-directories", mutatePaths(believesInLiterals), []string{"Glob/directories", "Glob/dir"}},
		{"glob-literal-is-a-directory", mutatePaths(literalIsDirectory), []string{"Glob/double-star", "Glob/dir"}},
		{"glob-directories-as-files", mutatePattern(func(p string) string { return strings.TrimSuffix(p, "/") }), []string{"Glob/directories", "Glob/limit-of-directories"}},
		{"glob-directories-with-slash", mutatePaths(slashAfterDirectories), []string{"Glob/directories"}},
		{"glob-in-order-of-a-walk", mutatePaths(walkOrder), []string{"Glob/order", "Glob/double-star"}},
		{"glob-paths-from-dir", mutateGlob(pathsFromDir), []string{"Glob/dir"}},
		{"glob-ignores-dir", mutateGlobOptions(func(o *workspace.GlobOptions) { o.Dir = "" }), []string{"Glob/dir", "Glob/dir-is-file", "Errors/glob-dir-missing"}},
		{"glob-no-limit", mutateGlobOptions(func(o *workspace.GlobOptions) { o.Limit = 0 }), []string{"Glob/limit", "Glob/pages", "Glob/negative-limit", "Glob/limit-of-directories"}},
		{"glob-thousand-at-most", mutatePaths(func(_ string, paths []string) []string { return paths[:min(1000, len(paths))] }),
			[]string{"Ls/eleven-hundred"}},
		{"glob-no-after", mutateGlobOptions(func(o *workspace.GlobOptions) { o.After = "" }), []string{"Glob/after", "Glob/pages", "Property/random-pages"}},
		{"glob-after-and-limit-is-one", mutateGlobOptions(func(o *workspace.GlobOptions) {
			if o.After != "" && o.Limit > 0 {
				o.Limit = 1
			}
		}), []string{"Glob/pages"}},
		{"glob-no-gitignore", mutateGlobOptions(func(o *workspace.GlobOptions) { o.Gitignore = false }), []string{"Glob/gitignore", "Glob/gitignore-directories", "Glob/gitignore-below-dir"}},
		{"glob-always-gitignore", mutateGlobOptions(func(o *workspace.GlobOptions) { o.Gitignore = true }), []string{"Glob/gitignore-off"}},
		{"glob-no-gitignore-after-one", mutateGlobOptions(func(o *workspace.GlobOptions) { o.Gitignore = o.Gitignore && path.Base(o.After) != ".gitignore" }), []string{"Glob/gitignore"}},
		{"glob-gitignore-no-comments", mutateGlob(gitignoreReads("\n#hash\n", "\n\\#hash\n")), []string{"Glob/gitignore"}},
		{"glob-gitignore-no-escapes", mutateGlob(gitignoreReads("\\#number", "#number")), []string{"Glob/gitignore"}},
		{"glob-gitignore-trailing-space", mutateGlob(gitignoreReads("space \n", "space\\ \n")), []string{"Glob/gitignore"}},
		{"glob-gitignore-from-dir-only", mutateGlob(gitignoreFromDir), []string{"Glob/gitignore-below-dir"}},
		{"glob-gitignore-of-dir", mutateGlob(gitignoreOfDir), []string{"Glob/gitignore-in-excluded"}},
		{"glob-gitignore-is-a-file", mutatePaths(gitignoreIsFile), []string{"Glob/gitignore-directory"}},
		{"glob-malformed-matches-nothing", mutateGlob(withoutError(workspace.ErrPattern)), []string{"Glob/malformed", "Glob/absolute", "Glob/brace-bomb"}},
		{"glob-cleans-patterns", mutatePattern(cleanPattern), []string{"Glob/odd-element"}},
		{"glob-odd-element-matches-nothing", mutateGlob(oddElementMatchesNothing), []string{"Glob/odd-element"}},
		{"glob-escape-matches-nothing", mutateGlob(withoutError(workspace.ErrEscape)), []string{"Glob/escape"}},
		{"glob-missing-dir-matches-nothing", mutateGlob(withoutError(fs.ErrNotExist)), []string{"Glob/dir-is-file"}},
		{"glob-no-match-is-an-error", mutateGlob(noMatchIsError), []string{"Glob/literal", "Glob/empty-file-system"}},
		{"glob-shares-its-result", mutateGlob(sharesPaths), []string{"Glob/result-is-the-callers"}},
		{"glob-negative-is-all", mutateGlobOptions(func(o *workspace.GlobOptions) { o.Limit = max(o.Limit, 0) }), []string{"Glob/negative-limit"}},
		{"glob-odd-names-left-out", mutatePaths(plainPaths), []string{"Names/unusual-control-in-search", "Names/unusual-quotes-in-search"}},
	}
}

// believesInLiterals takes what is spelled out before "**" for a directory that
// exists.
func believesInLiterals(pattern string, paths []string) []string {
	if literal, ok := strings.CutSuffix(pattern, "/**/"); ok && !strings.ContainsAny(literal, `*?[{\`) && !slices.Contains(paths, literal) {
		paths = append(paths, literal)
		slices.Sort(paths)
	}
	return paths
}

// literalIsDirectory takes what is spelled out before "**" for no file.
func literalIsDirectory(pattern string, paths []string) []string {
	literal, ok := strings.CutSuffix(pattern, "/**")
	return slices.DeleteFunc(paths, func(p string) bool { return ok && strings.HasSuffix(p, literal) })
}

func asciiIfQuestion(pattern string, paths []string) []string {
	return slices.DeleteFunc(paths, func(p string) bool { return strings.Contains(pattern, "?") && len(p) != len([]rune(p)) })
}

func hidesDotPaths(_ string, paths []string) []string {
	return slices.DeleteFunc(paths, func(p string) bool { return p[0] == '.' || strings.Contains(p, "/.") })
}

func plainPaths(_ string, paths []string) []string {
	return slices.DeleteFunc(paths, func(p string) bool { return strings.ContainsAny(p, "\n\\") })
}

func slashAfterDirectories(pattern string, paths []string) []string {
	for i := range paths {
		if strings.HasSuffix(pattern, "/") {
			paths[i] += "/"
		}
	}
	return paths
}

// walkOrder sorts as filepath.WalkDir goes: a directory's files right after it.
func walkOrder(_ string, paths []string) []string {
	slices.SortFunc(paths, func(a, b string) int { return slices.Compare(strings.Split(a, "/"), strings.Split(b, "/")) })
	return paths
}

func pathsFromDir(_ *hooked, glob globFunc) globFunc {
	return func(ctx context.Context, pattern string, opts *workspace.GlobOptions) ([]string, error) {
		paths, err := glob(ctx, pattern, opts)
		for i := range paths {
			if opts != nil && opts.Dir != "" && opts.Dir != "." {
				paths[i] = strings.TrimPrefix(paths[i], opts.Dir+"/")
			}
		}
		return paths, err
	}
}

// gitignoreReads reads the text old of the .gitignore in the root as another one.
func gitignoreReads(old, text string) func(*hooked, globFunc) globFunc {
	return func(h *hooked, glob globFunc) globFunc {
		return func(ctx context.Context, pattern string, opts *workspace.GlobOptions) ([]string, error) {
			if data, err := h.reference.ReadFile(ctx, ".gitignore"); err == nil {
				h.reference.WriteFile(ctx, ".gitignore", []byte(strings.Replace(string(data), old, text, 1)), nil)
			}
			return glob(ctx, pattern, opts)
		}
	}
}

// gitignoreFromDir does not know the .gitignore files above Dir.
func gitignoreFromDir(h *hooked, glob globFunc) globFunc {
	return func(ctx context.Context, pattern string, opts *workspace.GlobOptions) ([]string, error) {
		if opts != nil && opts.Gitignore && opts.Dir != "" {
			h.reference.Rm(ctx, ".gitignore", nil)
		}
		return glob(ctx, pattern, opts)
	}
}

// gitignoreOfDir finds nothing below a Dir that is excluded itself.
func gitignoreOfDir(_ *hooked, glob globFunc) globFunc {
	return func(ctx context.Context, pattern string, opts *workspace.GlobOptions) ([]string, error) {
		paths, err := glob(ctx, pattern, opts)
		if err != nil || opts == nil || !opts.Gitignore || opts.Dir == "" {
			return paths, err
		}
		kept, err := glob(ctx, "**", &workspace.GlobOptions{Gitignore: true})
		return slices.DeleteFunc(paths, func(name string) bool { return !slices.Contains(kept, name) }), err
	}
}

// gitignoreIsFile regards a directory named .gitignore that is spelled out before "**" as a
// file.
func gitignoreIsFile(pattern string, paths []string) []string {
	if literal, ok := strings.CutSuffix(pattern, "/**"); ok && path.Base(literal) == ".gitignore" {
		paths = append(paths, literal)
		slices.Sort(paths)
	}
	return paths
}

// withoutError makes an error of that kind an empty result.
func withoutError(kind error) func(*hooked, globFunc) globFunc {
	return func(_ *hooked, glob globFunc) globFunc {
		return func(ctx context.Context, pattern string, opts *workspace.GlobOptions) ([]string, error) {
			paths, err := glob(ctx, pattern, opts)
			if errors.Is(err, kind) {
				return nil, nil
			}
			return paths, err
		}
	}
}

// cleanPattern takes "." and empty elements out, as path.Clean does with names.
func cleanPattern(pattern string) string {
	clean := path.Clean(pattern)
	if strings.HasSuffix(pattern, "/") && clean != "/" {
		clean += "/"
	}
	return clean
}

func oddElementMatchesNothing(_ *hooked, glob globFunc) globFunc {
	return func(ctx context.Context, pattern string, opts *workspace.GlobOptions) ([]string, error) {
		paths, err := glob(ctx, pattern, opts)
		if errors.Is(err, workspace.ErrPattern) && strings.Contains(err.Error(), "element") {
			return []string{}, nil
		}
		return paths, err
	}
}

func noMatchIsError(_ *hooked, glob globFunc) globFunc {
	return func(ctx context.Context, pattern string, opts *workspace.GlobOptions) ([]string, error) {
		paths, err := glob(ctx, pattern, opts)
		if err == nil && len(paths) == 0 {
			err = ops.Error(ops.Glob, path.Clean(pattern), fs.ErrNotExist, nil)
		}
		return paths, err
	}
}

func sharesPaths(_ *hooked, glob globFunc) globFunc {
	var last []string
	return func(ctx context.Context, pattern string, opts *workspace.GlobOptions) ([]string, error) {
		if last != nil {
			return last, nil
		}
		paths, err := glob(ctx, pattern, opts)
		last = paths
		return paths, err
	}
}
