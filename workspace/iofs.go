package workspace

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"time"

	"github.com/workspacekit/workspacekit/internal/ops"
)

// FS returns a read-only view of w as an [fs.FS], valid while ctx is: an io/fs
// call has no context of its own. It also implements [fs.ReadFileFS],
// [fs.ReadDirFS] and [fs.StatFS]; symlinks are followed, as io/fs expects. The
// view satisfies [testing/fstest.TestFS] if all that it lists can be read, no
// directory has symlinks in it or one of "[]^*?" in its name, and no name a backslash.
// It has no Glob of its own, so [fs.Glob] speaks the dialect of [path.Match].
func (w *Workspace) FS(ctx context.Context) fs.FS {
	return view{ctx: ctx, fsys: w.fsys, limit: w.maxSize}
}

// view is the file system that [Workspace.FS] returns.
type view struct {
	ctx   context.Context
	fsys  FileSystem
	limit int64
}

var (
	_ fs.ReadFileFS = view{}
	_ fs.ReadDirFS  = view{}
	_ fs.StatFS     = view{}
)

// Open implements [fs.FS].
func (v view) Open(name string) (fs.File, error) {
	info, err := v.describe("open", name)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return &viewDir{view: v, name: name, info: info}, nil
	}
	data, err := v.ReadFile(name)
	if err != nil {
		return nil, ops.Rename(err, "open", name)
	}
	info.Size = int64(len(data))
	return &viewFile{Reader: bytes.NewReader(data), name: name, info: info}, nil
}

// ReadFile implements [fs.ReadFileFS].
func (v view) ReadFile(name string) ([]byte, error) {
	if err := ops.Check(v.ctx, "open", name); err != nil {
		return nil, err
	}
	data, _, err := ReadVersioned(v.ctx, v.fsys, name, v.limit)
	return data, err
}

// ReadDir implements [fs.ReadDirFS].
func (v view) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := ops.Check(v.ctx, "open", name); err != nil {
		return nil, err
	}
	children, err := v.fsys.Ls(v.ctx, name, nil)
	if err != nil {
		return nil, err
	}
	entries := make([]fs.DirEntry, len(children))
	for i, child := range children {
		entries[i] = fs.FileInfoToDirEntry(viewInfo{child})
	}
	return entries, nil
}

// Stat implements [fs.StatFS].
func (v view) Stat(name string) (fs.FileInfo, error) {
	info, err := v.describe("stat", name)
	if err != nil {
		return nil, err
	}
	return viewInfo{info}, nil
}

// describe is Stat with symlinks followed. Like the other methods it checks the
// name, because io/fs refuses names that a FileSystem might clean.
func (v view) describe(op, name string) (FileInfo, error) {
	if err := ops.Check(v.ctx, op, name); err != nil {
		return FileInfo{}, err
	}
	info, err := v.fsys.Stat(v.ctx, name)
	if err != nil || info.Type != TypeSymlink {
		return info, ops.Rename(err, op, name)
	}
	target, err := Resolve(v.ctx, v.fsys, name)
	if err != nil {
		return FileInfo{}, ops.Rename(err, op, name)
	}
	followed, err := v.fsys.Stat(v.ctx, target)
	followed.Name, followed.Path = info.Name, info.Path
	return followed, ops.Rename(err, op, name)
}

// viewInfo is a FileInfo as an [fs.FileInfo]. The contract has no permission
// bits: it shows 0444 for files and 0555 for directories.
type viewInfo struct{ info FileInfo }

// Name implements [fs.FileInfo].
func (i viewInfo) Name() string { return i.info.Name }

// Size implements [fs.FileInfo].
func (i viewInfo) Size() int64 { return i.info.Size }

// ModTime implements [fs.FileInfo].
func (i viewInfo) ModTime() time.Time { return i.info.ModTime }

// IsDir implements [fs.FileInfo].
func (i viewInfo) IsDir() bool { return i.info.IsDir() }

// Sys implements [fs.FileInfo]. It returns the FileInfo of the workspace.
func (i viewInfo) Sys() any { return i.info }

// Mode implements [fs.FileInfo].
func (i viewInfo) Mode() fs.FileMode {
	switch i.info.Type {
	case TypeDirectory:
		return fs.ModeDir | 0o555
	case TypeSymlink:
		return fs.ModeSymlink | 0o777
	case TypeOther:
		return fs.ModeIrregular | 0o444
	}
	return 0o444
}

// viewFile is an open file. Its content was read when it was opened.
type viewFile struct {
	*bytes.Reader
	name   string
	info   FileInfo
	closed bool
}

// Stat implements [fs.File].
func (f *viewFile) Stat() (fs.FileInfo, error) { return viewInfo{f.info}, nil }

// Read implements [fs.File].
func (f *viewFile) Read(p []byte) (int, error) {
	if f.closed {
		return 0, ops.Error("read", f.name, fs.ErrClosed, nil)
	}
	return f.Reader.Read(p)
}

// Close implements [fs.File].
func (f *viewFile) Close() error {
	if f.closed {
		return ops.Error("close", f.name, fs.ErrClosed, nil)
	}
	f.closed = true
	return nil
}

// viewDir is an open directory. It is listed at the first ReadDir.
type viewDir struct {
	view view
	name string
	info FileInfo
	rest []fs.DirEntry // the entries that ReadDir has not returned yet
	read bool          // the directory has been listed
}

// Stat implements [fs.File].
func (d *viewDir) Stat() (fs.FileInfo, error) { return viewInfo{d.info}, nil }

// Close implements [fs.File].
func (d *viewDir) Close() error { return nil }

// Read implements [fs.File]. A directory has no bytes.
func (d *viewDir) Read([]byte) (int, error) {
	return 0, ops.Error("read", d.name, ErrIsDir, nil)
}

// ReadDir implements [fs.ReadDirFile].
func (d *viewDir) ReadDir(n int) ([]fs.DirEntry, error) {
	if !d.read {
		entries, err := d.view.ReadDir(d.name)
		if err != nil {
			return nil, err
		}
		d.rest, d.read = entries, true
	}
	if n > 0 && len(d.rest) == 0 {
		return nil, io.EOF
	}
	if n <= 0 || n > len(d.rest) {
		n = len(d.rest)
	}
	entries := d.rest[:n:n]
	d.rest = d.rest[n:]
	return entries, nil
}
