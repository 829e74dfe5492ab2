package webdav

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/webdav"

	"github.com/workspacekit/workspacekit/internal/osfile"
	"github.com/workspacekit/workspacekit/workspace"
)

// fileSystem serves the files of the workspace of a request.
type fileSystem struct{ properties *properties }

var _ webdav.FileSystem = fileSystem{}

// Mkdir implements [webdav.FileSystem].
func (fileSystem) Mkdir(ctx context.Context, name string, _ os.FileMode) error {
	req := requestOf(ctx)
	return req.note(req.fs.Mkdir(name))
}

// RemoveAll implements [webdav.FileSystem]. It leaves a file that the next call replaces by
// another, which is one step then.
func (s fileSystem) RemoveAll(ctx context.Context, name string) error {
	req := requestOf(ctx)
	if (req.method == "COPY" || req.method == "MOVE") && req.replaces == "" {
		return nil
	}
	if err := req.fs.RemoveAll(name); err != nil {
		return req.note(err)
	}
	req.removed = s.properties.take(name)
	return nil
}

// Rename implements [webdav.FileSystem].
func (s fileSystem) Rename(ctx context.Context, from, to string) error {
	req := requestOf(ctx)
	rename := req.fs.Rename
	if req.keeps {
		rename = req.fs.RenameNew
	}
	if err := rename(from, to); err != nil {
		return req.note(err)
	}
	s.properties.rename(from, to)
	return nil
}

// Stat implements [webdav.FileSystem].
func (fileSystem) Stat(ctx context.Context, name string) (os.FileInfo, error) {
	req := requestOf(ctx)
	if info, ok := req.listed[path.Clean("/"+name)]; ok {
		return info, nil
	}
	info, err := req.fs.Stat(name)
	if err != nil {
		return nil, req.note(err)
	}
	return described{FileInfo: info}, nil
}

// OpenFile implements [webdav.FileSystem].
func (s fileSystem) OpenFile(ctx context.Context, name string, flag int, perm os.FileMode) (webdav.File, error) {
	req := requestOf(ctx)
	held := propertyHolder{s.properties, path.Clean("/" + name)}
	switch req.method {
	case "PROPFIND", "PROPPATCH", http.MethodHead: // no bytes are needed
		info, err := s.Stat(ctx, name)
		if err != nil {
			return nil, err
		}
		return &unread{propertyHolder: held, info: info, children: req.children}, nil
	case "LOCK": // after any error of Stat, also where the file exists or is created meanwhile
		if req.err != nil {
			return nil, req.err
		}
		flag = os.O_RDWR | os.O_CREATE | os.O_EXCL
	}
	f, err := req.fs.OpenFile(name, flag, perm)
	if req.method == "LOCK" && errors.Is(err, fs.ErrExist) {
		return &unread{propertyHolder: held}, nil
	}
	if err != nil {
		return nil, req.note(err)
	}
	if req.condition != (workspace.WriteOptions{}) {
		f.Require(req.condition)
	}
	return &file{File: f, propertyHolder: held, req: req}, nil
}

// file is an open file, or a directory.
type file struct {
	*osfile.File
	propertyHolder
	req *request
}

// Stat implements [http.File].
func (f *file) Stat() (fs.FileInfo, error) {
	info, err := f.File.Stat()
	return described{FileInfo: info, written: f}, err
}

// Readdir implements [http.File].
func (f *file) Readdir(int) ([]fs.FileInfo, error) {
	infos, err := f.req.readDir(f.Name())
	return infos, f.req.note(err)
}

// ReadFrom implements [io.ReaderFrom], which [io.Copy] uses. If r does not end well,
// nothing is stored.
func (f *file) ReadFrom(r io.Reader) (int64, error) {
	n, err := io.Copy(struct{ io.Writer }{f.File}, r)
	if err != nil {
		f.Discard()
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = errLate
	}
	return n, f.req.note(err)
}

// errLate is the error of a body that does not arrive in time. The connection's error has
// its addresses.
var errLate = fmt.Errorf("the body: %w", os.ErrDeadlineExceeded)

// Close implements [io.Closer].
func (f *file) Close() error { return f.req.note(f.File.Close()) }

// unread is a file or directory whose bytes are not read.
type unread struct {
	propertyHolder
	info     fs.FileInfo
	children []fs.FileInfo
}

// Stat implements [http.File].
func (u *unread) Stat() (fs.FileInfo, error) { return u.info, nil }

// Readdir implements [http.File].
func (u *unread) Readdir(int) ([]fs.FileInfo, error) { return u.children, nil }

// Seek implements [io.Seeker]. Net/http asks for the size by it.
func (u *unread) Seek(offset int64, whence int) (int64, error) {
	if whence == io.SeekEnd {
		offset += u.info.Size()
	}
	return offset, nil
}

// Read implements [io.Reader].
func (u *unread) Read([]byte) (int, error) { return 0, fs.ErrInvalid }

// Write implements [io.Writer].
func (u *unread) Write([]byte) (int, error) { return 0, fs.ErrInvalid }

// Close implements [io.Closer].
func (u *unread) Close() error { return nil }

// described is a description that has an ETag and a type. written is the file that was
// described before it was stored, or nil.
type described struct {
	fs.FileInfo
	written *file
}

var (
	_ webdav.ETager       = described{}
	_ webdav.ContentTyper = described{}
)

// ModTime implements [fs.FileInfo]. Clients need some time, so one that is not known is
// the first of 1970.
func (d described) ModTime() time.Time {
	if t := d.FileInfo.ModTime(); !t.IsZero() {
		return t
	}
	return time.Unix(0, 0)
}

// ContentType implements [webdav.ContentTyper].
func (d described) ContentType(context.Context) (string, error) { return contentType(d.Name()), nil }

// contentType returns the type of a file by its name. To look at its bytes would cost a
// request for each file of a listing. A script is plain text: a page of another site
// could else run it, and so read it.
func contentType(name string) string {
	known := mime.TypeByExtension(path.Ext(name))
	switch {
	case known == "":
		return "application/octet-stream"
	case slices.ContainsFunc(scripts, func(part string) bool { return strings.Contains(known, part) }):
		return "text/plain; charset=utf-8"
	}
	return known
}

// scripts are parts of the types that browsers run as scripts
// (https://mimesniff.spec.whatwg.org/#javascript-mime-type).
var scripts = []string{"javascript", "ecmascript", "jscript", "livescript"}

// ETag implements [webdav.ETager].
func (d described) ETag(context.Context) (string, error) {
	info := d.FileInfo
	if d.written != nil {
		var err error
		if info, err = d.written.File.Stat(); err != nil {
			return "", err
		}
		if versionOf(info) == "" {
			if info, err = d.written.req.fs.Stat(d.written.Name()); err != nil {
				return "", err
			}
		}
	}
	return etag(info), nil
}

// etag returns the ETag of a file: its version, or a weak one without versions.
func etag(info fs.FileInfo) string {
	if version := versionOf(info); version != "" {
		return `"` + base64.RawURLEncoding.EncodeToString([]byte(version)) + `"`
	}
	return fmt.Sprintf(`W/"%x-%x"`, info.ModTime().UnixNano(), info.Size())
}

// versionOf returns the version of a file, if there is one.
func versionOf(info fs.FileInfo) workspace.Version {
	described, _ := info.Sys().(workspace.FileInfo)
	return described.Version
}
