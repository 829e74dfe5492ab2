package memory

import (
	"bytes"
	"context"
	"io"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

// Open implements [provider.Opener]. The stream is of the file as it was when
// it was opened.
func (t *tree) Open(_ context.Context, name string, opts workspace.OpenOptions) (io.ReadCloser, workspace.FileInfo, error) {
	c, info, err := t.content(name)
	if err != nil {
		return nil, workspace.FileInfo{}, err
	}
	return io.NopCloser(bytes.NewReader(ops.Window(c.data, opts.Offset, opts.Length))), info, nil
}
