package container

import (
	"bytes"
	"context"
	"io"

	"github.com/workspacekit/workspacekit/internal/lines"
	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/providers/container/internal/shell"
	"github.com/workspacekit/workspacekit/workspace"
)

// ReadFile implements [workspace.FileSystem].
func (f *FS) ReadFile(ctx context.Context, name string) ([]byte, error) {
	if err := f.check(ctx, ops.ReadFile, name); err != nil {
		return nil, err
	}
	data, err := f.do(ctx, ops.ReadFile, name, ask("content", names(name)...))
	if err != nil {
		return nil, err
	}
	return data, nil
}

// ReadVersioned implements [workspace.VersionedReader].
func (f *FS) ReadVersioned(ctx context.Context, name string, limit int64) ([]byte, workspace.Version, error) {
	if err := f.check(ctx, ops.ReadFile, name); err != nil {
		return nil, "", err
	}
	if err := ops.CheckSize(ops.ReadFile, name, 0, limit); err != nil {
		return nil, "", err
	}
	body, status, err := f.pool.Do(ctx, snapshot(name, limit, workspace.OpenOptions{}))
	if err != nil {
		return nil, "", f.broken(ops.ReadFile, name, err)
	}
	if status != 0 && status != statusTooLarge {
		return nil, "", statusError(ops.ReadFile, name, status, nil)
	}
	r, data, err := cutRecord(body)
	if err != nil {
		return nil, "", ops.Error(ops.ReadFile, name, nil, err)
	}
	// It may also have grown while it was read.
	size := max(r.size, int64(len(data)))
	if err := ops.CheckSize(ops.ReadFile, name, size, limit); err != nil {
		return nil, "", err
	}
	return data, r.version(), nil
}

// snapshot returns the call for a window of a file and its description.
func snapshot(name string, limit int64, window workspace.OpenOptions) shell.Call {
	return ask("snapshot", append(names(name),
		shell.Number(limit), shell.Number(window.Offset), shell.Number(window.Length))...)
}

// cutRecord returns the description in the first line of a reply, and what is
// behind that line.
func cutRecord(body []byte) (record, []byte, error) {
	line, rest, found := bytes.Cut(body, []byte{'\n'})
	if !found {
		return record{}, nil, errRecord
	}
	r, extra, err := parseRecord(line)
	if err == nil && len(extra) > 0 {
		err = errRecord
	}
	return r, rest, err
}

// headSize is how much of a large file is read before it is known to be text.
const headSize = 64 << 10

// readText reads a file of at most limit bytes; zero is no limit. Of one that is
// binary it reads the beginning only.
func (f *FS) readText(ctx context.Context, name string, limit int64) ([]byte, error) {
	stream, info, err := f.Open(ctx, name, nil)
	if err != nil {
		return nil, ops.Rename(err, ops.ReadFile, name)
	}
	defer stream.Close()
	if err := ops.CheckSize(ops.ReadFile, name, info.Size, limit); err != nil {
		return nil, err
	}
	head, err := io.ReadAll(io.LimitReader(stream, headSize))
	if err != nil || len(head) < headSize || lines.IsBinary(head) {
		return head, ops.Rename(err, ops.ReadFile, name)
	}
	rest, err := io.ReadAll(stream)
	return append(head, rest...), ops.Rename(err, ops.ReadFile, name)
}
