package container

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/workspacekit/workspacekit/providers/container/internal/shell"
	"github.com/workspacekit/workspacekit/workspace"
)

// The operations that only this provider has, as errors spell them.
const (
	opImport = "import"
	opExport = "export"
)

// TarOptions tune [FS.ImportTar] and [FS.ExportTar].
type TarOptions struct {
	// Progress is called after each name that has been passed on. It must not
	// call the FS. Nil means that nobody wants to know.
	Progress func(TarProgress)
}

// TarProgress says how far a transfer has come.
type TarProgress struct {
	Path  string // the name that was passed on last, from the directory of the transfer
	Names int    // all names so far, directories included
	Bytes int64  // all bytes of files so far
}

// ImportTar unpacks a tar archive into dir, which is made if it is missing, as
// one stream. Files that are there are replaced, one after the other and, other
// than by WriteFile, not atomically; an error leaves what has been unpacked
// before. Owners are not taken over, permission bits and times are.
//
// # Errors
//
// Those of [workspace.FileSystem].Mkdir, [workspace.ErrEscape] for an archive
// with a name or a symlink that leads out of dir, [fs.ErrInvalid] for one with
// anything but files, directories, and links, [errors.ErrUnsupported] if the
// image has no tar.
func (f *FS) ImportTar(ctx context.Context, dir string, archive io.Reader, opts *TarOptions) error {
	if err := f.check(ctx, opImport, dir); err != nil {
		return err
	}
	parts, to := io.Pipe()
	packed := make(chan struct{})
	go func() {
		defer close(packed)
		_ = to.CloseWithError(f.importTo(to, dir, archive, opts)) // never fails
	}()
	call := act("unpack", dir)
	call.Input, call.Size = parts, shell.Unknown
	_, status, err := f.pool.Do(ctx, call)
	parts.CloseWithError(fs.ErrClosed)
	<-packed
	if pathError := new(fs.PathError); errors.As(err, &pathError) {
		return err
	}
	if err != nil {
		return f.broken(opImport, dir, err)
	}
	if status != 0 {
		return statusError(opImport, dir, status, []byte("tar in the container could not unpack the archive"))
	}
	return nil
}

// importTo writes the archive to w as the program takes it.
func (f *FS) importTo(w io.Writer, dir string, archive io.Reader, opts *TarOptions) error {
	parts := &chunker{w: w}
	out := tar.NewWriter(parts)
	err := relay(out, tar.NewReader(archive), opts, func(header *tar.Header) (bool, error) {
		header.Uid, header.Gid = int(f.inside().user), f.inside().group0()
		header.Uname, header.Gname = "", ""
		return true, checkHeader(header)
	})
	if pathError := new(fs.PathError); err != nil && !errors.As(err, &pathError) {
		err = workspace.NewPathError(opImport, dir, nil, err)
	}
	if err == nil {
		err = out.Close()
	}
	if err == nil {
		err = parts.end()
	}
	return err
}

// checkHeader returns what is wrong with an entry of an archive.
func checkHeader(header *tar.Header) error {
	name := path.Clean(header.Name)
	fail := func(kind, cause error) error {
		return workspace.NewPathError(opImport, header.Name, kind, cause)
	}
	switch {
	case strings.HasPrefix(header.Name, "/"), name == "..", strings.HasPrefix(name, "../"):
		return fail(workspace.ErrEscape, nil)
	case !workspace.ValidName(name):
		return fail(fs.ErrInvalid, errors.New("an archive cannot have that name in it"))
	}
	switch header.Typeflag {
	case tar.TypeReg, tar.TypeDir:
		return nil
	case tar.TypeSymlink:
		if escapes(path.Dir(name), header.Linkname) {
			return fail(workspace.ErrEscape, errors.New("a symlink leads out"))
		}
		return nil
	case tar.TypeLink:
		if escapes(".", header.Linkname) {
			return fail(workspace.ErrEscape, errors.New("a link leads out"))
		}
		return nil
	}
	return fail(fs.ErrInvalid, fmt.Errorf("an entry of the type %q is neither file, directory nor link", header.Typeflag))
}

// escapes reports whether target, as seen from dir, leads out by its spelling.
func escapes(dir, target string) bool {
	joined := path.Join(dir, target)
	return path.IsAbs(target) || joined == ".." || strings.HasPrefix(joined, "../")
}

// relay copies entries, as keep changes them and unless it leaves them out.
func relay(out *tar.Writer, in *tar.Reader, opts *TarOptions, keep func(*tar.Header) (bool, error)) error {
	var progress TarProgress
	for {
		header, err := in.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		kept, err := keep(header)
		if err != nil {
			return err
		}
		if !kept {
			continue
		}
		if err := out.WriteHeader(header); err != nil {
			return err
		}
		n, err := io.Copy(out, in)
		if err != nil {
			return err
		}
		progress = TarProgress{Path: path.Clean(header.Name), Names: progress.Names + 1, Bytes: progress.Bytes + n}
		if opts != nil && opts.Progress != nil {
			opts.Progress(progress)
		}
	}
}

// ExportTar writes a tar archive of all that is below dir to w, as one stream.
//
// # Errors
//
// Those of [workspace.FileSystem].Ls, what w returns, [workspace.ErrUnavailable]
// if something changes while it is read, or cannot be read,
// [errors.ErrUnsupported] if the image has no tar.
func (f *FS) ExportTar(ctx context.Context, dir string, w io.Writer, opts *TarOptions) error {
	if err := f.check(ctx, opExport, dir); err != nil {
		return err
	}
	stream, err := f.pool.Stream(ctx, ask("pack", dir))
	if err != nil {
		return f.broken(opExport, dir, err)
	}
	defer stream.Close()
	out := tar.NewWriter(w)
	err = relay(out, tar.NewReader(stream), opts, func(header *tar.Header) (bool, error) {
		header.Format = tar.FormatUnknown // the one that fits
		name := path.Clean(header.Name)
		return name != "." && workspace.ValidName(name), nil
	})
	if err == nil {
		_, err = io.Copy(io.Discard, stream) // behind the end of the archive
	}
	switch {
	case stream.Status == statusPartial:
		return workspace.NewPathError(opExport, dir, workspace.ErrUnavailable,
			errors.New("something changed while it was read, or could not be read"))
	case stream.Status != 0:
		return statusError(opExport, dir, stream.Status, nil)
	case err != nil:
		return f.broken(opExport, dir, err)
	}
	return out.Close()
}
