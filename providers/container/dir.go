package container

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/workspacekit/workspacekit/workspace"
)

// Stat implements [provider.Store].
func (s *store) Stat(ctx context.Context, name string) (workspace.FileInfo, error) {
	c, err := s.begin(ctx, name)
	if err != nil {
		return workspace.FileInfo{}, err
	}
	info, err := c.stat(ctx, name)
	if err != nil {
		return workspace.FileInfo{}, err
	}
	return info.describe(name), nil
}

// Resolve implements [provider.Resolver].
func (s *store) Resolve(ctx context.Context, name string) (string, error) {
	c, err := s.begin(ctx, name)
	if err != nil {
		return "", err
	}
	return c.resolve(ctx, name)
}

// Ls implements [provider.Store].
func (s *store) Ls(ctx context.Context, dir string, opts workspace.LsOptions) ([]workspace.FileInfo, error) {
	c, err := s.begin(ctx, dir)
	if err != nil {
		return nil, err
	}
	entries, err := named(c.children(ctx, dir))
	if err != nil {
		return nil, err
	}
	from := 0
	if opts.After != "" {
		from, _ = slices.BinarySearchFunc(entries, opts.After+"\x00", func(e entry, name string) int {
			return strings.Compare(e.name, name)
		})
	}
	entries = entries[from:]
	if opts.Limit > 0 {
		entries = entries[:min(opts.Limit, len(entries))]
	}
	infos := make([]workspace.FileInfo, len(entries))
	for i, e := range entries {
		infos[i] = e.describe(workspace.Join(dir, e.name))
	}
	return infos, nil
}

// Mkdir implements [provider.Store].
func (s *store) Mkdir(ctx context.Context, name string, opts workspace.MkdirOptions) error {
	c, err := s.begin(ctx, name)
	if err != nil {
		return err
	}
	call := once("make", pair(name)...)
	if opts.Recursive {
		call = idempotent("deep", name)
	}
	_, err = c.do(ctx, call)
	return err
}

// Rm implements [provider.Store]. An rm that goes by paths could be led astray by
// a symlink, so the exact view removes what is in a directory one by one if the
// image has no other.
func (s *store) Rm(ctx context.Context, name string, opts workspace.RmOptions) error {
	c, err := s.begin(ctx, name)
	switch {
	case err != nil:
		return err
	case opts.Recursive && c.exact && !c.removes:
		return c.removeTree(ctx, name)
	case opts.Recursive:
		return c.remove(ctx, name, "recursive")
	}
	return c.remove(ctx, name, "")
}

// remove removes name. A directory with something in it needs how to be
// "recursive".
func (c *client) remove(ctx context.Context, name, how string) error {
	_, err := c.do(ctx, once("remove", append(pair(name), how)...))
	return err
}

// removeTree removes the directory name with all below it, one by one.
func (c *client) removeTree(ctx context.Context, name string) error {
	for attempt := 1; ; attempt++ {
		err := c.remove(ctx, name, "")
		if !errors.Is(err, workspace.ErrNotEmpty) || attempt == maxListings {
			return err
		}
		entries, err := named(c.tree(ctx, name, ".", ""))
		if err != nil {
			return err
		}
		for _, e := range slices.Backward(entries) {
			err := c.remove(ctx, workspace.Join(name, e.name), "")
			if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, workspace.ErrNotEmpty) {
				return err
			}
		}
	}
}

// Walk implements [provider.Walker] in one request.
func (s *store) Walk(ctx context.Context, dir string, opts workspace.WalkOptions, fn workspace.WalkFunc) error {
	c, err := s.begin(ctx, dir)
	if err != nil {
		return err
	}
	entries, err := named(c.tree(ctx, dir, ".", ""))
	if err != nil {
		return err
	}
	w := walk{client: c, dir: dir, after: opts.After, fn: fn}
	if err := w.run(ctx, entries); !errors.Is(err, fs.SkipAll) {
		return err
	}
	return nil
}

// walk reports entries.
type walk struct {
	client  *client
	dir     string
	after   string
	fn      workspace.WalkFunc
	skipped []string // directories whose children are left out, with a slash
}

func (w *walk) run(ctx context.Context, entries []entry) error {
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		info := e.describe(workspace.Join(w.dir, e.name))
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
	if err := w.fn(info, nil); err != nil || !w.client.hides(e) {
		return err
	}
	return w.fn(workspace.FileInfo{Name: info.Name, Path: info.Path, Type: info.Type}, fs.ErrPermission)
}

// skips reports whether path is below a directory that is left out. It forgets
// those that can hold no later path.
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
