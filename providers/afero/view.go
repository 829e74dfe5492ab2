package afero

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/afero"

	"github.com/workspacekit/workspacekit/internal/osfile"
	"github.com/workspacekit/workspacekit/workspace"
)

// ToAfero returns a view of ws as an [afero.Fs], for as long as ctx lasts. It is safe for
// concurrent use.
//
// A file that is open for writing is kept in memory, up to the limit of ws, and stored by
// Sync and Close. Others see the old content until then, and users of the view what has
// been written. A file that none of them has opened with O_TRUNC is stored only if nobody
// else has changed it meanwhile, where ws has conditional writes; with O_APPEND alone, what
// was written is appended to what others have stored. Use [afero.NewReadOnlyFs] for a view
// that changes nothing.
//
// A workspace has no modes, owners and times to set: Chmod keeps whether a file can be
// executed, for the view alone, and Chown and Chtimes are [errors.ErrUnsupported]. Symlinks
// are followed, and cannot be created.
func ToAfero(ctx context.Context, ws *workspace.Workspace) afero.Fs {
	return &view{osfile.New(ctx, ws, nil), ws.Name()}
}

// view is a workspace.
type view struct {
	fs   *osfile.FS
	name string
}

var (
	_ afero.Fs      = (*view)(nil)
	_ afero.Lstater = (*view)(nil)
)

// Name implements [afero.Fs]. It returns the name of the workspace.
func (v *view) Name() string { return v.name }

// Create implements [afero.Fs].
func (v *view) Create(name string) (afero.File, error) {
	return v.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
}

// Open implements [afero.Fs].
func (v *view) Open(name string) (afero.File, error) { return v.OpenFile(name, os.O_RDONLY, 0) }

// OpenFile implements [afero.Fs].
func (v *view) OpenFile(name string, flag int, perm fs.FileMode) (afero.File, error) {
	f, err := v.fs.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return viewFile{f}, nil
}

// Mkdir implements [afero.Fs].
func (v *view) Mkdir(name string, _ fs.FileMode) error { return v.fs.Mkdir(name) }

// MkdirAll implements [afero.Fs].
func (v *view) MkdirAll(name string, _ fs.FileMode) error { return v.fs.MkdirAll(name) }

// Remove implements [afero.Fs].
func (v *view) Remove(name string) error { return v.fs.Remove(name) }

// RemoveAll implements [afero.Fs].
func (v *view) RemoveAll(name string) error { return v.fs.RemoveAll(name) }

// Rename implements [afero.Fs].
func (v *view) Rename(from, to string) error { return v.fs.Rename(from, to) }

// Stat implements [afero.Fs].
func (v *view) Stat(name string) (fs.FileInfo, error) { return v.fs.Stat(name) }

// LstatIfPossible implements [afero.Lstater].
func (v *view) LstatIfPossible(name string) (fs.FileInfo, bool, error) {
	info, err := v.fs.Lstat(name)
	return info, true, err
}

// Chmod implements [afero.Fs].
func (v *view) Chmod(name string, mode fs.FileMode) error { return v.fs.Chmod(name, mode) }

// Chown implements [afero.Fs].
func (v *view) Chown(name string, _, _ int) error {
	return &fs.PathError{Op: "chown", Path: name, Err: errors.ErrUnsupported}
}

// Chtimes implements [afero.Fs].
func (v *view) Chtimes(name string, _, _ time.Time) error {
	return &fs.PathError{Op: "chtimes", Path: name, Err: errors.ErrUnsupported}
}

// viewFile is an open file or directory.
type viewFile struct{ *osfile.File }

// Readdirnames implements [afero.File].
func (f viewFile) Readdirnames(n int) ([]string, error) {
	infos, err := f.Readdir(n)
	names := make([]string, len(infos))
	for i, info := range infos {
		names[i] = info.Name()
	}
	return names, err
}

// WriteString implements [afero.File].
func (f viewFile) WriteString(s string) (int, error) { return f.Write([]byte(s)) }
