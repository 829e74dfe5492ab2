package conformance_test

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/workspacekit/workspacekit/conformance"
	"github.com/workspacekit/workspacekit/workspace"
)

type lsFunc = func(ctx context.Context, dir string, opts *workspace.LsOptions) ([]workspace.FileInfo, error)

// emptyBehindAfter lists nothing where After leaves nothing of dir.
func emptyBehindAfter(_ *hooked, ls lsFunc) lsFunc {
	return func(ctx context.Context, dir string, opts *workspace.LsOptions) ([]workspace.FileInfo, error) {
		if opts != nil && opts.After > "zz" {
			return []workspace.FileInfo{}, nil
		}
		return ls(ctx, dir, opts)
	}
}

// mutateLs is a mutant with another Ls, made from the right one.
func mutateLs(change func(h *hooked, ls lsFunc) lsFunc) func(*hooked) {
	return func(h *hooked) {
		h.ls = change(h, h.ls)
		h.walk = func(ctx context.Context, dir string, opts *workspace.WalkOptions, fn workspace.WalkFunc) error {
			return workspace.Walk(ctx, lsOnly{h}, dir, opts, fn)
		}
	}
}

// lsOnly hides every optional interface, so that a walk goes by Ls.
type lsOnly struct{ workspace.FileSystem }

// mutateInfos is a mutant whose Ls results go through change.
func mutateInfos(change func(dir string, infos []workspace.FileInfo) []workspace.FileInfo) func(*hooked) {
	return mutateLs(func(_ *hooked, ls lsFunc) lsFunc {
		return func(ctx context.Context, dir string, opts *workspace.LsOptions) ([]workspace.FileInfo, error) {
			infos, err := ls(ctx, dir, opts)
			return change(dir, infos), err
		}
	})
}

// mutateLsOptions is a mutant whose Ls options go through change.
func mutateLsOptions(change func(o *workspace.LsOptions)) func(*hooked) {
	return mutateLs(func(_ *hooked, ls lsFunc) lsFunc {
		return func(ctx context.Context, dir string, opts *workspace.LsOptions) ([]workspace.FileInfo, error) {
			var o workspace.LsOptions
			if opts != nil {
				o = *opts
			}
			change(&o)
			return ls(ctx, dir, &o)
		}
	})
}

func listMutants() []mutant {
	return []mutant{
		{"ls-unsorted", mutateInfos(func(_ string, infos []workspace.FileInfo) []workspace.FileInfo { slices.Reverse(infos); return infos }),
			[]string{"Ls/sorted-bytewise", "Ls/children-only", "Ls/pages"}},
		{"ls-ignores-case-in-order", mutateInfos(foldedOrder), []string{"Ls/sorted-bytewise"}},
		{"ls-directories-first", mutateInfos(directoriesFirst), []string{"Ls/sorted-bytewise"}},
		{"ls-behind-after-is-empty", mutateLs(emptyBehindAfter), []string{"Errors/behind-options"}},
		{"ls-hides-dot-files", mutateInfos(hidesDots), []string{"Names/unusual-dots", "IOFS/fstest"}},
		{"ls-lists-itself", mutateInfos(listsItself), []string{"Ls/empty-directory", "Ls/children-only", "Walk/empty-directory"}},
		{"ls-missing-is-empty", mutateLs(missingIsEmpty), []string{"Ls/missing", "Errors/ls-missing"}},
		{"ls-file-lists-itself", mutateLs(fileListsItself), []string{"Ls/file"}},
		{"ls-prefix-of-names", mutateLs(prefixIsEmpty), []string{"Ls/missing"}},
		{"ls-no-limit", mutateLsOptions(func(o *workspace.LsOptions) { o.Limit = 0 }), []string{"Ls/limit", "Ls/pages", "Ls/negative-limit"}},
		{"ls-limit-one-short", mutateLsOptions(func(o *workspace.LsOptions) { o.Limit = max(o.Limit-1, 0) }), []string{"Ls/limit"}},
		{"ls-no-after", mutateLsOptions(func(o *workspace.LsOptions) { o.After = "" }), []string{"Ls/after", "Ls/pages", "Property/random-pages"}},
		{"ls-after-and-limit-is-one", mutateLsOptions(func(o *workspace.LsOptions) {
			if o.After != "" && o.Limit > 0 {
				o.Limit = 1
			}
		}), []string{"Ls/pages"}},
		{"ls-after-must-exist", mutateLs(afterMustExist), []string{"Ls/after"}},
		{"ls-thousand-at-most", mutateInfos(func(_ string, infos []workspace.FileInfo) []workspace.FileInfo { return infos[:min(1000, len(infos))] }),
			[]string{"Ls/eleven-hundred"}},
		{"ls-path-is-name", mutateInfos(eachInfo(func(i *workspace.FileInfo) { i.Path = i.Name })), []string{"Ls/describes", "Walk/below-dir"}},
		{"ls-no-size", mutateInfos(eachInfo(func(i *workspace.FileInfo) { i.Size = 0 })), []string{"Ls/describes", "Ls/as-stat", "Walk/describes"}},
		{"ls-directory-has-size", mutateInfos(eachInfo(func(i *workspace.FileInfo) { i.Size += 4096 })), []string{"Ls/describes"}},
		{"ls-no-version", mutateInfos(eachInfo(func(i *workspace.FileInfo) { i.Version = "" })), []string{"Ls/as-stat", "WriteFile/version-everywhere-the-same", "Capabilities/versions"}},
		{"ls-shares-its-result", mutateLs(sharesList), []string{"Ls/result-is-the-callers"}},
		{"ls-caches-large-directories", mutateLs(cachesLarge(func() int { return 0 })), []string{"Ls/eleven-hundred"}},
		{"ls-nothing-is-nil", mutateInfos(func(_ string, infos []workspace.FileInfo) []workspace.FileInfo {
			return append([]workspace.FileInfo(nil), infos...)
		}), []string{"Ls/empty-directory", "Ls/after"}},
		{"ls-limit-of-32-bits", mutateLsOptions(func(o *workspace.LsOptions) { o.Limit = int(int32(o.Limit)) }), []string{"Ls/limit"}},
		{"ls-negative-is-all", mutateLsOptions(func(o *workspace.LsOptions) { o.Limit = max(o.Limit, 0) }), []string{"Ls/negative-limit"}},
	}
}

func foldedOrder(_ string, infos []workspace.FileInfo) []workspace.FileInfo {
	slices.SortStableFunc(infos, func(a, b workspace.FileInfo) int {
		return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name))
	})
	return infos
}

func directoriesFirst(_ string, infos []workspace.FileInfo) []workspace.FileInfo {
	slices.SortStableFunc(infos, func(a, b workspace.FileInfo) int { return strings.Compare(string(a.Type), string(b.Type)) })
	return infos
}

func hidesDots(_ string, infos []workspace.FileInfo) []workspace.FileInfo {
	return slices.DeleteFunc(infos, func(i workspace.FileInfo) bool { return i.Name[0] == '.' })
}

func listsItself(dir string, infos []workspace.FileInfo) []workspace.FileInfo {
	_, base := workspace.Split(dir)
	return append([]workspace.FileInfo{{Name: base, Path: dir, Type: workspace.TypeFile}}, infos...)
}

// eachInfo changes every entry.
func eachInfo(change func(*workspace.FileInfo)) func(string, []workspace.FileInfo) []workspace.FileInfo {
	return func(_ string, infos []workspace.FileInfo) []workspace.FileInfo {
		for i := range infos {
			change(&infos[i])
		}
		return infos
	}
}

func missingIsEmpty(_ *hooked, ls lsFunc) lsFunc {
	return func(ctx context.Context, dir string, opts *workspace.LsOptions) ([]workspace.FileInfo, error) {
		infos, err := ls(ctx, dir, opts)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return infos, err
	}
}

func fileListsItself(h *hooked, ls lsFunc) lsFunc {
	return func(ctx context.Context, dir string, opts *workspace.LsOptions) ([]workspace.FileInfo, error) {
		if info, err := h.reference.Stat(ctx, dir); err == nil && info.Type == workspace.TypeFile {
			return []workspace.FileInfo{info}, nil
		}
		return ls(ctx, dir, opts)
	}
}

// prefixIsEmpty takes a name for a directory if others begin with it.
func prefixIsEmpty(h *hooked, ls lsFunc) lsFunc {
	return func(ctx context.Context, dir string, opts *workspace.LsOptions) ([]workspace.FileInfo, error) {
		infos, err := ls(ctx, dir, opts)
		for name := range h.reference.nodes {
			if errors.Is(err, fs.ErrNotExist) && strings.HasPrefix(name, dir) {
				return nil, nil
			}
		}
		return infos, err
	}
}

func afterMustExist(_ *hooked, ls lsFunc) lsFunc {
	return func(ctx context.Context, dir string, opts *workspace.LsOptions) ([]workspace.FileInfo, error) {
		infos, err := ls(ctx, dir, nil)
		if opts == nil || err != nil {
			return infos, err
		}
		for i, info := range infos {
			if info.Name == opts.After {
				return infos[i+1:], nil
			}
		}
		return infos, nil
	}
}

// cachesLarge lists a directory of more than 200 entries from a cache while
// state stays the same.
func cachesLarge(state func() int) func(*hooked, lsFunc) lsFunc {
	type listing struct {
		infos []workspace.FileInfo
		state int
	}
	return func(_ *hooked, ls lsFunc) lsFunc {
		lists := make(map[string]listing)
		return func(ctx context.Context, dir string, opts *workspace.LsOptions) ([]workspace.FileInfo, error) {
			if list, ok := lists[dir]; ok && opts == nil && list.state == state() {
				return slices.Clone(list.infos), nil
			}
			infos, err := ls(ctx, dir, opts)
			if opts == nil && len(infos) > 200 {
				lists[dir] = listing{slices.Clone(infos), state()}
			}
			return infos, err
		}
	}
}

// TestStaleListings proves that a cache must notice both its own client's
// writes and those of a peer.
func TestStaleListings(t *testing.T) {
	opts := conformance.Options{Peer: func(_ *testing.T, fsys workspace.FileSystem) workspace.FileSystem { return fsys.(*hooked).reference }}
	for _, notices := range []string{"own", "peer"} {
		t.Run("notices-"+notices, func(t *testing.T) {
			t.Parallel()
			h, own := newHooked(), 0
			write := h.writeFile
			h.writeFile = func(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
				own++
				return write(ctx, name, data, opts)
			}
			mutateLs(cachesLarge(func() int {
				if notices == "own" {
					return own
				}
				return h.reference.writes - own
			}))(h)
			got := conformance.RunCase(t, "Ls/eleven-hundred", h, opts)
			if got.Skipped && testing.Short() {
				t.Skip(got.Log)
			}
			if !got.Failed {
				t.Errorf("case Ls/eleven-hundred does not fail for a cache that notices writes of one side (%s) only; its log: %s", notices, got.Log)
			}
		})
	}
}

func sharesList(_ *hooked, ls lsFunc) lsFunc {
	lists := make(map[string][]workspace.FileInfo)
	return func(ctx context.Context, dir string, opts *workspace.LsOptions) ([]workspace.FileInfo, error) {
		if lists[dir] == nil {
			infos, err := ls(ctx, dir, opts)
			if err != nil {
				return nil, err
			}
			lists[dir] = infos
		}
		return lists[dir], nil
	}
}

// TestUnsortedIsNotShared tests that the case about the caller's list says nothing of its order.
func TestUnsortedIsNotShared(t *testing.T) {
	for _, m := range listMutants() {
		if m.name != "ls-unsorted" {
			continue
		}
		h := newHooked()
		m.breaks(h)
		if got := conformance.RunCase(t, "Ls/result-is-the-callers", h, conformance.Options{}); got.Failed {
			t.Errorf("the case fails for a list that is not sorted: %+v", got)
		}
	}
}
