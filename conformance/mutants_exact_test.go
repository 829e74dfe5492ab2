package conformance_test

import (
	"context"
	"runtime"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

func exactMutants() []mutant {
	return []mutant{
		{"exact-follows", func(h *hooked) { h.exact = func() (workspace.FileSystem, error) { return h.reference, nil } },
			[]string{"Exact/in-the-middle", "Exact/at-the-end", "Exact/swapped"}},
		{"exact-follows-in-the-middle", mutateExact(refusesLast), []string{"Exact/in-the-middle"}},
		{"exact-shows-other-files", func(h *hooked) { h.exact = newReference().Exact }, []string{"Exact/same-files"}},
		{"exact-tests-first", mutateExact(testsFirst), []string{"Exact/swapped"}},
		{"exact-hides-symlinks", mutateExact(hidesSymlinks), []string{"Exact/itself"}},
		{"exact-passes-symlinks-by", mutateExact(passesSymlinksBy), []string{"Exact/below-the-start"}},
	}
}

// mutateExact is a mutant whose exact view alone is wrong: plain is the file
// system of the view.
func mutateExact(breaks func(view *hooked, plain *reference)) func(*hooked) {
	return func(h *hooked) {
		h.exact = func() (workspace.FileSystem, error) {
			view := hook(&reference{state: h.state, exact: true})
			breaks(view, h.reference)
			return view, nil
		}
	}
}

// refusesLast looks at the last element only.
func refusesLast(view *hooked, plain *reference) {
	view.readFile = func(ctx context.Context, name string) ([]byte, error) {
		if info, err := plain.Stat(ctx, name); err == nil && info.Type == workspace.TypeSymlink {
			return nil, ops.Error(ops.ReadFile, name, workspace.ErrSymlink, nil)
		}
		return plain.ReadFile(ctx, name)
	}
}

// testsFirst looks for symlinks, and then reads whatever the name is.
func testsFirst(view *hooked, plain *reference) {
	view.readFile = func(ctx context.Context, name string) ([]byte, error) {
		if real, err := plain.Resolve(ctx, name); err != nil || real != name {
			return nil, ops.Error(ops.ReadFile, name, workspace.ErrSymlink, nil)
		}
		runtime.Gosched()
		return plain.ReadFile(ctx, name)
	}
}

func hidesSymlinks(view *hooked, plain *reference) {
	view.stat = func(ctx context.Context, name string) (workspace.FileInfo, error) {
		info, err := plain.Stat(ctx, name)
		if err == nil && info.Type == workspace.TypeSymlink {
			return info, ops.Error(ops.Stat, name, workspace.ErrSymlink, nil)
		}
		return info, err
	}
}

func passesSymlinksBy(view *hooked, plain *reference) {
	view.ls = func(ctx context.Context, dir string, opts *workspace.LsOptions) ([]workspace.FileInfo, error) {
		infos, err := plain.Ls(ctx, dir, opts)
		shown := infos[:0]
		for _, info := range infos {
			if info.Type != workspace.TypeSymlink {
				shown = append(shown, info)
			}
		}
		return shown, err
	}
}
