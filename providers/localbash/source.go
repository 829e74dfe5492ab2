package localbash

import (
	"context"
	"io/fs"

	"github.com/workspacekit/workspacekit/internal/lines"
	"github.com/workspacekit/workspacekit/internal/scan"
	"github.com/workspacekit/workspacekit/workspace"
)

// source shows an FS to the search engine.
type source struct{ f *FS }

var _ scan.Source = source{}

// List implements [scan.Source].
func (s source) List(ctx context.Context, dir string, top bool) ([]scan.Child, error) {
	if err := s.check(ctx, workspace.OpLs, dir, top); err != nil {
		return nil, err
	}
	l, err := s.f.openListing(dir, !top)
	if err != nil {
		return nil, s.f.fault(workspace.OpLs, dir, err)
	}
	defer l.Close()
	children, err := s.f.visible(ctx, l, dir)
	return children, s.f.fault(workspace.OpLs, dir, err)
}

// Read implements [scan.Source].
func (s source) Read(ctx context.Context, name string, scratch *[]byte, opts scan.ReadOptions) ([]byte, error) {
	if err := s.check(ctx, workspace.OpReadFile, name, opts.Top); err != nil {
		return nil, err
	}
	h, found, err := s.f.openRegular(name, !opts.Top)
	if err != nil {
		return nil, s.f.fault(workspace.OpReadFile, name, err)
	}
	defer h.Close()
	data, err := readFor(ctx, h, found.size, opts, (*scratch)[:0])
	if err != nil {
		return nil, s.f.fault(workspace.OpReadFile, name, err)
	}
	*scratch = data
	return data, nil
}

// headSize is how much of a large file is read before it is known to be text.
const headSize = 64 << 10

// readFor reads h, which has size bytes, into buf: not more than its head if
// that shows that it is binary and only text is wanted.
func readFor(ctx context.Context, h handle, size int64, opts scan.ReadOptions, buf []byte) ([]byte, error) {
	if opts.Text && size > headSize {
		if err := checkSize(size, opts.Limit); err != nil {
			return nil, err
		}
		head, err := readAll(ctx, h, headSize, opts.Limit, buf)
		if err != nil || lines.IsBinary(head) {
			return head, err
		}
		buf = head
	}
	return readAll(ctx, h, size, opts.Limit, buf)
}

// Stat implements [scan.Source].
func (s source) Stat(ctx context.Context, name string) (workspace.FileType, error) {
	if err := s.f.check(ctx, workspace.OpStat, name); err != nil {
		return "", err
	}
	kind, err := s.f.followedKind(name)
	return kind, s.f.fault(workspace.OpStat, name, err)
}

// check leaves out what is known of names that a listing gave.
func (s source) check(ctx context.Context, op, name string, top bool) error {
	if top {
		return s.f.check(ctx, op, name)
	}
	if s.f.closed.Load() {
		return workspace.NewPathError(op, name, fs.ErrClosed, nil)
	}
	if err := ctx.Err(); err != nil {
		return workspace.NewPathError(op, name, err, nil)
	}
	return nil
}

// followedKind returns what name is once symlinks have been followed.
func (f *FS) followedKind(name string) (workspace.FileType, error) {
	s, err := f.lstat(name)
	if err != nil || s.kind != workspace.TypeSymlink {
		return s.kind, err
	}
	info, err := f.host.Stat(name)
	if err != nil {
		return "", err
	}
	return kindOfMode(info.Mode()), nil
}
