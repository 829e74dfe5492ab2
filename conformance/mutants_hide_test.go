package conformance_test

import (
	"context"
	"io/fs"
	"slices"
	"strings"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/scan"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/fallback"
)

type hiddenFunc = func(dir string) func(name string, isDir bool) bool

// hiding is the view of a [hooked], in which more can be hidden.
type hiding struct {
	fallback.HidingFS
	hidden hiddenFunc
}

func hide(fsys workspace.FileSystem, hidden hiddenFunc) hiding {
	return hiding{fallback.Hide(fsys, hidden), hidden}
}

// Hide implements [fallback.Hider].
func (v hiding) Hide(hidden func(dir string) func(name string, isDir bool) bool) (workspace.FileSystem, error) {
	return hide(v.FileSystem, scan.Either(v.hidden, hidden)), nil
}

func hideMutants() []mutant {
	return []mutant{
		{"hide-filters-a-page-afterwards", mutateHide(func(v *hooked, hidden hiddenFunc) {
			v.glob = func(ctx context.Context, pattern string, opts *workspace.GlobOptions) ([]string, error) {
				paths, err := v.reference.Glob(ctx, pattern, opts)
				return slices.DeleteFunc(paths, func(path string) bool { return hidesSome(hidden, path) }), err
			}
		}), []string{"Hide/finds-the-rest"}},
		{"hide-keeps-what-is-below", mutateHide(func(v *hooked, hidden hiddenFunc) {
			v.walk = func(ctx context.Context, dir string, opts *workspace.WalkOptions, fn workspace.WalkFunc) error {
				return workspace.Walk(ctx, v.reference, dir, opts, func(info workspace.FileInfo, err error) error {
					in, name := workspace.Split(info.Path)
					if test := hidden(in); test != nil && test(name, info.IsDir()) {
						return nil
					}
					return fn(info, err)
				})
			}
		}), []string{"Hide/finds-the-rest"}},
		{"hide-lists-hidden-as-skipped", mutateHide(func(v *hooked, _ hiddenFunc) {
			grep := v.grep
			v.grep = func(ctx context.Context, pattern string, opts *workspace.GrepOptions) (*workspace.GrepResult, error) {
				result, err := grep(ctx, pattern, opts)
				if all, allErr := v.reference.Grep(ctx, pattern, opts); err == nil && allErr == nil {
					result.Skipped = all.Skipped
				}
				return result, err
			}
		}), []string{"Hide/finds-the-rest"}},
		{"hide-hides-where-a-search-begins", mutateHide(func(v *hooked, hidden hiddenFunc) {
			glob := v.glob
			v.glob = func(ctx context.Context, pattern string, opts *workspace.GlobOptions) ([]string, error) {
				if opts != nil && opts.Dir != "" && hidesSome(hidden, opts.Dir+"/x") {
					return []string{}, nil
				}
				return glob(ctx, pattern, opts)
			}
		}), []string{"Hide/where-it-begins"}},
		{"hide-hides-ignore-files", mutateHide(func(v *hooked, _ hiddenFunc) {
			glob := v.glob
			v.glob = func(ctx context.Context, pattern string, opts *workspace.GlobOptions) ([]string, error) {
				o := *opts
				o.Gitignore = false
				return glob(ctx, pattern, &o)
			}
		}), []string{"Hide/ignore-files"}},
		{"hide-hides-from-stat", mutateHide(func(v *hooked, hidden hiddenFunc) {
			v.stat = func(ctx context.Context, name string) (workspace.FileInfo, error) {
				if hidesSome(hidden, name) {
					return workspace.FileInfo{}, ops.Error(ops.Stat, name, fs.ErrNotExist, nil)
				}
				return v.reference.Stat(ctx, name)
			}
		}), []string{"Hide/other-methods"}},
		{"hide-hides-from-watch", mutateHide(func(v *hooked, hidden hiddenFunc) {
			v.watch = func(ctx context.Context, dir string, opts *workspace.WatchOptions) (<-chan workspace.Event, error) {
				return fallback.Poll(ctx, hide(v.reference, hidden), dir, opts)
			}
		}), []string{"Hide/other-methods"}},
		{"hide-forgets-the-first", mutateHide(func(v *hooked, _ hiddenFunc) {
			v.hide = func(hidden hiddenFunc) (workspace.FileSystem, error) { return fallback.Hide(v.reference, hidden), nil }
		}), []string{"Hide/twice"}},
	}
}

// mutateHide is a mutant whose views alone are wrong.
func mutateHide(breaks func(view *hooked, hidden hiddenFunc)) func(*hooked) {
	return func(h *hooked) {
		h.hide = func(hidden func(dir string) func(name string, isDir bool) bool) (workspace.FileSystem, error) {
			view, right := hook(h.reference), hide(h.reference, hidden)
			view.glob, view.grep, view.walk, view.hide = right.Glob, right.Grep, right.Walk, right.Hide
			breaks(view, hidden)
			return view, nil
		}
	}
}

// hidesSome reports whether an element of path is hidden.
func hidesSome(hidden hiddenFunc, path string) bool {
	dir := "."
	for rest := path; rest != ""; {
		name, deeper, more := strings.Cut(rest, "/")
		if test := hidden(dir); test != nil && test(name, more) {
			return true
		}
		dir, rest = workspace.Join(dir, name), deeper
	}
	return false
}
