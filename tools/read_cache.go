package tools

import (
	"context"
	"io"
	"slices"
	"sync"

	"github.com/workspacekit/workspacekit/workspace"
)

// readCache keeps the files that were read last, so that those who read one by
// pages pay for it once. What it has is used only for a file that still has the
// version that it had. It is safe for concurrent use.
type readCache struct {
	limit int64 // on the bytes of all files together

	mu    sync.Mutex
	files []cachedFile // guarded by mu; the one used last comes last
}

type cachedFile struct {
	ws   *workspace.Workspace
	path string
	*content
}

func newReadCache(limit int64) *readCache {
	if limit == 0 {
		limit = DefaultReadCache
	}
	return &readCache{limit: limit}
}

// take returns what is kept of a file, nil if nothing is, and counts that as a
// use.
func (c *readCache) take(ws *workspace.Workspace, path string) *content {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := c.indexLocked(ws, path)
	if i < 0 {
		return nil
	}
	file := c.files[i]
	c.files = append(slices.Delete(c.files, i, i+1), file)
	return file.content
}

func (c *readCache) indexLocked(ws *workspace.Workspace, path string) int {
	return slices.IndexFunc(c.files, func(f cachedFile) bool { return f.ws == ws && f.path == path })
}

// put replaces what is kept of a file, and forgets the files that were not used
// for longest until all are within the limit. It keeps no file that a single
// page holds, as to ask for its version costs as much as to read it, and none
// without a version.
func (c *readCache) put(ws *workspace.Workspace, path string, now *content) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if i := c.indexLocked(ws, path); i >= 0 {
		c.files = slices.Delete(c.files, i, i+1)
	}
	if !now.text || now.version == "" || len(now.data) <= readBytes || now.size() > c.limit {
		return
	}
	c.files = append(c.files, cachedFile{ws, path, now})
	total := int64(0)
	for i, file := range slices.Backward(c.files) {
		if total += file.size(); total > c.limit {
			c.files = slices.Delete(c.files, 0, i+1)
			break
		}
	}
}

func (c *content) size() int64 { return int64(cap(c.data)) }

// read returns what the file holds.
func (k *kit) read(ctx context.Context, path string) (*content, error) {
	if kept := k.cache.take(k.ws, path); kept != nil && k.still(ctx, path, kept.version) {
		return kept, nil
	}
	data, version, err := k.whole.ReadVersioned(ctx, path, 0)
	if err != nil {
		return nil, err
	}
	now := newContent(data, version)
	k.cache.put(k.ws, path, now)
	return now, nil
}

// still reports whether the file has that version and may be read. It opens the
// file, as a Stat follows no symlinks, and needs no right to read.
func (k *kit) still(ctx context.Context, path string, version workspace.Version) bool {
	stream, info, err := k.ws.Open(ctx, path, &workspace.OpenOptions{Length: 1})
	if err != nil {
		return false // the reader will say why
	}
	defer stream.Close()
	_, err = io.Copy(io.Discard, stream)
	return err == nil && info.Version == version
}
