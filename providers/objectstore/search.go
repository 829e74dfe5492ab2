package objectstore

import (
	"bytes"
	"context"
	"io"

	"github.com/workspacekit/workspacekit/internal/lines"
	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/scan"
	"github.com/workspacekit/workspacekit/workspace"
)

// Glob implements [workspace.FileSystem]. It lists only below what is literal
// at the beginning of pattern: 1,000 keys with one request if pattern has
// "**", and otherwise directory by directory, so as not to list what is deeper.
func (f *FS) Glob(ctx context.Context, pattern string, opts *workspace.GlobOptions) ([]string, error) {
	return scan.Glob(ctx, source{f}, pattern, opts)
}

// Grep implements [workspace.FileSystem]. It lists as Walk does, and downloads
// with one request each the files that the globs, the limit of the size and
// the cache leave over, several at a time.
func (f *FS) Grep(ctx context.Context, pattern string, opts *workspace.GrepOptions) (*workspace.GrepResult, error) {
	return scan.Grep(ctx, source{f}, pattern, opts, f.opts.Workers)
}

// source shows an FS to the search engine.
type source struct{ fs *FS }

var _ scan.Walker = source{}

func (s source) List(ctx context.Context, dir string, _ bool) ([]scan.Child, error) {
	infos, err := s.fs.Ls(ctx, dir, nil)
	if err != nil {
		return nil, err
	}
	children := make([]scan.Child, len(infos))
	for i, info := range infos {
		children[i] = scan.Child{Name: info.Name, Type: info.Type}
	}
	return children, nil
}

func (s source) Walk(ctx context.Context, dir, after string, visit func(workspace.FileInfo) error) error {
	return s.fs.Walk(ctx, dir, &workspace.WalkOptions{After: after}, func(info workspace.FileInfo, _ error) error {
		return visit(info)
	})
}

func (s source) Stat(ctx context.Context, name string) (workspace.FileType, error) {
	info, err := s.fs.Stat(ctx, name)
	return info.Type, err
}

func (s source) Read(ctx context.Context, name string, _ *[]byte, opts scan.ReadOptions) ([]byte, error) {
	known := opts.Known
	if known == nil {
		data, _, err := s.fs.ReadVersioned(ctx, name, opts.Limit)
		return data, err
	}
	if err := ops.CheckSize(ops.ReadFile, name, known.Size, opts.Limit); err != nil || known.Size == 0 {
		return nil, err
	}
	if data, ok := s.fs.bodies.get(name, known.Version); ok {
		return data, nil
	}
	o, data, err := s.fs.read(ctx, name, opts.Limit, (*download).readText)
	if err == nil && (int64(len(data)) == o.size || !s.fs.compat.VerifyETags) {
		s.fs.bodies.put(name, versionOf(o.etag), data)
	}
	return data, err
}

// minLeft is how many bytes of a binary file are left where it pays to give up
// the connection for not having to download them.
const minLeft = 256 << 10

// readText reads the body, but of a large binary file only the beginning.
func (d *download) readText(limit int64) ([]byte, error) {
	left := d.end - d.at - lines.BinaryWindow
	if left < minLeft {
		return d.readOn(nil, limit)
	}
	start := make([]byte, lines.BinaryWindow, min(lines.BinaryWindow+left, maxAhead)+1)
	if _, err := io.ReadFull(d, start); err != nil {
		return nil, err
	}
	if lines.IsBinary(start) {
		return bytes.Clone(start), nil
	}
	return d.readOn(start, limit)
}
