package container

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

// Walk implements [workspace.Walker] in one request.
func (f *FS) Walk(ctx context.Context, dir string, opts *workspace.WalkOptions, fn workspace.WalkFunc) error {
	if err := f.check(ctx, ops.Walk, dir); err != nil {
		return err
	}
	entries, err := named(f.tree(ctx, ops.Walk, dir, ".", ""))
	if err != nil {
		return err
	}
	w := walk{f: f, ctx: ctx, dir: dir, fn: fn}
	if opts != nil {
		w.after = opts.After
	}
	if err := w.run(entries); !errors.Is(err, fs.SkipAll) {
		return err
	}
	return nil
}

// walk reports entries.
type walk struct {
	f       *FS
	ctx     context.Context
	dir     string
	after   string
	fn      workspace.WalkFunc
	skipped []string // directories whose children are left out, with a slash
}

func (w *walk) run(entries []entry) error {
	for _, e := range entries {
		if err := w.ctx.Err(); err != nil {
			return ops.Error(ops.Walk, w.dir, err, nil)
		}
		info := e.info(workspace.Join(w.dir, e.name))
		if info.Path <= w.after && w.after != "" || w.skips(info.Path) {
			continue
		}
		err := w.report(e, info)
		if info.IsDir() && errors.Is(err, fs.SkipDir) {
			w.skipped = append(w.skipped, info.Path+"/")
			continue
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// report reports one entry, and a directory that cannot be read once more.
func (w *walk) report(e entry, info workspace.FileInfo) error {
	if err := w.fn(info, nil); err != nil || !w.f.inside().hides(e) {
		return err
	}
	denied := ops.Error(ops.Walk, info.Path, fs.ErrPermission, nil)
	return w.fn(workspace.FileInfo{Name: info.Name, Path: info.Path, Type: info.Type}, denied)
}

// skips reports whether path is below a directory that is left out. Those that
// can hold no later path are forgotten.
func (w *walk) skips(path string) bool {
	for len(w.skipped) > 0 {
		last := w.skipped[len(w.skipped)-1]
		if strings.HasPrefix(path, last) {
			return true
		}
		if path < last {
			return false
		}
		w.skipped = w.skipped[:len(w.skipped)-1]
	}
	return false
}
