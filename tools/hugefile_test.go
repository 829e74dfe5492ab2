package tools_test

import (
	"context"
	"io"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/workspace"
)

const hugeSize = 10 << 30

// huge says that every file has 10 GiB, and counts what is read of them. The
// content is line feeds.
type huge struct {
	*memory.FS
	loaded atomic.Int64
}

func (h *huge) Stat(ctx context.Context, name string) (workspace.FileInfo, error) {
	info, err := h.FS.Stat(ctx, name)
	info.Size = hugeSize
	return info, err
}

func (h *huge) ReadFile(ctx context.Context, name string) ([]byte, error) {
	data, _, err := h.ReadVersioned(ctx, name, 0)
	return data, err
}

func (h *huge) ReadVersioned(_ context.Context, name string, limit int64) ([]byte, workspace.Version, error) {
	if err := ops.CheckSize(ops.ReadFile, name, hugeSize, limit); err != nil {
		return nil, "", err
	}
	h.loaded.Add(hugeSize)
	return []byte(strings.Repeat("\n", 1<<10)), "1", nil
}

func (h *huge) Open(ctx context.Context, name string, _ *workspace.OpenOptions) (io.ReadCloser, workspace.FileInfo, error) {
	info, err := h.Stat(ctx, name)
	return io.NopCloser(io.LimitReader(h, hugeSize)), info, err
}

// Read implements [io.Reader] for the streams.
func (h *huge) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '\n'
	}
	h.loaded.Add(int64(len(p)))
	return len(p), nil
}

// TestHugeFileIsNotLoaded gives the tools a file that no machine has the memory
// for, in workspaces that allow it.
func TestHugeFileIsNotLoaded(t *testing.T) {
	const allowed = 1 << 20
	tests := []struct {
		op   string
		args object
		hint string // "" for a call that succeeds
	}{
		{"read_file", object{"path": "a"}, "at most 256 MiB. Search it with workspace__test__grep."},
		{"read_file", object{"path": "a", "tail": 1}, "at most 256 MiB. Search it with workspace__test__grep."},
		{"read_file", object{"path": "a", "encoding": "base64"}, "at most 256 MiB. Search it with workspace__test__grep."},
		{"edit_file", object{"path": "a", "oldText": "x", "newText": "y"}, "Neither the file nor"},
		{"edit_file", object{"path": "a", "oldText": "x", "newText": "y", "dryRun": true}, "Neither the file nor"},
		{"write_file", object{"path": "a", "content": "new"}, ""},
		{"stat", object{"path": "a"}, ""},
		{"ls", object{}, ""},
		{"glob", object{"pattern": "*"}, ""},
		{"move", object{"source": "a", "destination": "b"}, ""},
		{"rm", object{"path": "b"}, ""},
	}
	for name, limit := range map[string]int64{"no-limit": -1, "high-limit": 2 * hugeSize} {
		fsys := &huge{FS: memory.New(nil)}
		if _, err := fsys.WriteFile(t.Context(), "a", nil, nil); err != nil {
			t.Fatal(err)
		}
		set := newSetOf(t, workspace.New("test", fsys, &workspace.Options{MaxFileSize: limit}), nil)
		for _, tt := range tests {
			t.Run(name+"/"+tt.op, func(t *testing.T) {
				before := fsys.loaded.Load()
				result := call(t, set, tt.op, tt.args)
				if result.IsError != (tt.hint != "") || !strings.Contains(result.Text, tt.hint) {
					t.Errorf("%s(%v) = %s, want the hint %q", tt.op, tt.args, result.Text, tt.hint)
				}
				if loaded := fsys.loaded.Load() - before; loaded > allowed {
					t.Errorf("%s(%v) loaded %d bytes, want at most %d", tt.op, tt.args, loaded, allowed)
				}
			})
		}
	}
}
