package container

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/workspacekit/workspacekit/providers/container/internal/program"
	"github.com/workspacekit/workspacekit/workspace"
)

// Stat implements [provider.Store].
func (s *store) Stat(ctx context.Context, name string) (workspace.FileInfo, error) {
	c, err := s.begin(ctx, name)
	if err != nil {
		return workspace.FileInfo{}, err
	}
	info, err := c.Stat(ctx, name)
	if err != nil {
		return workspace.FileInfo{}, err
	}
	return info.Describe(name), nil
}

// Resolve implements [provider.Resolver].
func (s *store) Resolve(ctx context.Context, name string) (string, error) {
	c, err := s.begin(ctx, name)
	if err != nil {
		return "", err
	}
	return c.Resolve(ctx, name)
}

// Ls implements [provider.Store].
func (s *store) Ls(ctx context.Context, dir string, opts workspace.LsOptions) ([]workspace.FileInfo, error) {
	c, err := s.begin(ctx, dir)
	if err != nil {
		return nil, err
	}
	entries, err := c.Children(ctx, dir)
	if err != nil {
		return nil, err
	}
	from := 0
	if opts.After != "" {
		from, _ = slices.BinarySearchFunc(entries, opts.After+"\x00", func(e program.Entry, name string) int {
			return strings.Compare(e.Name, name)
		})
	}
	entries = entries[from:]
	if opts.Limit > 0 {
		entries = entries[:min(opts.Limit, len(entries))]
	}
	infos := make([]workspace.FileInfo, len(entries))
	for i, e := range entries {
		infos[i] = e.Describe(workspace.Join(dir, e.Name))
	}
	return infos, nil
}

// Mkdir implements [provider.Store].
func (s *store) Mkdir(ctx context.Context, name string, opts workspace.MkdirOptions) error {
	c, err := s.begin(ctx, name)
	if err != nil {
		return err
	}
	call := program.Once("make", program.Pair(name)...)
	if opts.Recursive {
		call = program.Idempotent("deep", name)
	}
	_, err = retry(func() ([]byte, error) { return c.Do(ctx, call) })
	return err
}

// Rm implements [provider.Store].
func (s *store) Rm(ctx context.Context, name string, opts workspace.RmOptions) error {
	c, err := s.begin(ctx, name)
	if err != nil {
		return err
	}
	if !opts.Recursive { // one that is recursive may take long, and is tried again where a writer puts a file back
		leave, err := s.barrier.enter(ctx)
		if err != nil {
			return err
		}
		defer leave()
	}
	_, err = retry(func() (struct{}, error) { return struct{}{}, c.Remove(ctx, name, opts.Recursive) })
	return err
}

// Walk implements [provider.Walker] in one request.
func (s *store) Walk(ctx context.Context, dir string, opts workspace.WalkOptions, fn workspace.WalkFunc) error {
	c, err := s.begin(ctx, dir)
	if err != nil {
		return err
	}
	entries, err := c.Tree(ctx, dir)
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
	client  *program.Client
	dir     string
	after   string
	fn      workspace.WalkFunc
	skipped []string // directories whose children are left out, with a slash
}

func (w *walk) run(ctx context.Context, entries []program.Entry) error {
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		info := e.Describe(workspace.Join(w.dir, e.Name))
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
func (w *walk) report(e program.Entry, info workspace.FileInfo) error {
	if err := w.fn(info, nil); err != nil || !w.client.Hides(e) {
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
