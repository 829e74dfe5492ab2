package osfile

import (
	"io/fs"
	"time"

	"github.com/workspacekit/workspacekit/workspace"
)

// info returns a description as package os has it, with the mode that Chmod or the creation
// left.
func (f *FS) info(described workspace.FileInfo) fs.FileInfo {
	f.mu.Lock()
	defer f.mu.Unlock()
	return fileInfo{described, described.Type == workspace.TypeFile && f.executables[described.Path]}
}

// fileInfo is a [workspace.FileInfo] as an [fs.FileInfo].
type fileInfo struct {
	info       workspace.FileInfo
	executable bool
}

// Name implements [fs.FileInfo].
func (i fileInfo) Name() string { return i.info.Name }

// Size implements [fs.FileInfo].
func (i fileInfo) Size() int64 { return i.info.Size }

// ModTime implements [fs.FileInfo].
func (i fileInfo) ModTime() time.Time { return i.info.ModTime }

// IsDir implements [fs.FileInfo].
func (i fileInfo) IsDir() bool { return i.info.IsDir() }

// Sys implements [fs.FileInfo]. It returns the [workspace.FileInfo].
func (i fileInfo) Sys() any { return i.info }

// Mode implements [fs.FileInfo]. A workspace has no modes, so it returns usual ones.
func (i fileInfo) Mode() fs.FileMode {
	switch i.info.Type {
	case workspace.TypeDirectory:
		return fs.ModeDir | 0o755
	case workspace.TypeSymlink:
		return fs.ModeSymlink | 0o777
	case workspace.TypeOther:
		return fs.ModeIrregular | 0o644
	}
	if i.executable {
		return 0o755
	}
	return 0o644
}
