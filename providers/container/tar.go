package container

import (
	"archive/tar"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/providers/container/internal/program"
	"github.com/workspacekit/workspacekit/providers/container/internal/shell"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/provider"
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

// ImportTar unpacks a tar archive into dir, which is created if it is missing, as
// one stream. The archive is unpacked into a temporary directory first, in which
// there is no symlink that could lead elsewhere, and what is in it is then moved to
// its place: so an archive that cannot be read to its end changes nothing. What
// comes after that is not atomic: files that exist are replaced one after the
// other, directories that exist are kept and filled, also through symlinks that
// stay inside, and the symlinks of the archive are created last. Permission bits
// and times of files and new directories are taken over, owners and any other bits
// are not, and the owner of a directory can always use it.
//
// # Errors
//
// Those of [workspace.FileSystem].Mkdir, [workspace.ErrEscape] for a name that
// leads out of dir, by itself or through a symlink that exists, and for a symlink
// whose target leads out by its spelling, [workspace.ErrSymlink] for a name below a
// symlink of the same archive, [workspace.ErrIsDir] where a directory has the name
// of something else, [fs.ErrInvalid] for an archive that is damaged or cut,
// also one without the mark at its end, or with anything but files, directories, and
// links, [workspace.ErrNoSpace], what archive returns, and [errors.ErrUnsupported] if
// the image has no tar.
func (f *FS) ImportTar(ctx context.Context, dir string, archive io.Reader, opts *TarOptions) error {
	c, err := f.begin(ctx, opImport, dir)
	if err != nil {
		return err
	}
	in := importing{f: f, client: c, dir: dir, symlinks: map[string]string{}}
	if opts != nil {
		in.progress.tell = opts.Progress
	}
	if err := in.unpack(ctx, archive); err != nil {
		return err
	}
	return in.link(ctx)
}

// begin is what the methods that only this provider has begin with.
func (f *FS) begin(ctx context.Context, op, dir string) (*program.Client, error) {
	if err := ops.Check(ctx, op, dir); err != nil {
		return nil, err
	}
	if f.store.isClosed() {
		return nil, ops.Error(op, dir, fs.ErrClosed, nil)
	}
	c, err := f.store.begin(ctx, dir)
	if err != nil {
		return nil, ops.Error(op, dir, provider.Classify(err), nil)
	}
	return c, nil
}

// importing is an archive on its way into a container.
type importing struct {
	f        *FS
	client   *program.Client
	dir      string
	progress progress
	symlinks map[string]string // the targets of the symlinks that were left for the end, by name
	order    []string          // their names, with some that have been replaced since
	refused  error             // why the archive was not passed on to its end
}

// unpack passes on all but the symlinks.
func (in *importing) unpack(ctx context.Context, archive io.Reader) error {
	temp := in.f.store.newTemporary(in.client, in.dir, "")
	parts, to := io.Pipe()
	packed := make(chan struct{})
	go func() {
		defer close(packed)
		in.send(to, archive)
		_ = to.Close() // never fails
	}()
	call := program.Once("unpack", in.dir, temp.name)
	call.Input, call.Size = parts, shell.Unknown
	_, status, err := in.client.Try(ctx, call)
	parts.CloseWithError(fs.ErrClosed)
	<-packed
	if err != nil {
		temp.discard()
	}
	temp.forget()
	if err != nil {
		return ops.Error(opImport, in.dir, provider.Classify(err), nil)
	}
	if in.refused != nil {
		return in.refused
	}
	if status != 0 {
		return ops.Error(opImport, in.dir, program.StatusError(status, []byte("tar in the container could not unpack the archive")), nil)
	}
	return nil
}

// send writes the archive to w as the program takes it, and then whether it is whole.
func (in *importing) send(w io.Writer, archive io.Reader) {
	parts := &chunker{w: w}
	out := tar.NewWriter(parts)
	from := &counter{r: archive}
	err := relay(out, wholeReader{tar.NewReader(from), from}, &in.progress, in.take)
	if pathError := new(fs.PathError); err != nil && !errors.As(err, &pathError) {
		err = in.unreadable(err)
	}
	if err == nil {
		err = out.Close()
	}
	end := "whole"
	if err != nil {
		end = "refused"
	}
	if parts.end(end) == nil { // the program has not ended before
		in.refused = err
	}
}

// unreadable returns the error of an archive that is damaged, or that its reader does
// not return.
func (in *importing) unreadable(err error) error {
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return ops.Error(opImport, in.dir, fs.ErrInvalid, fmt.Errorf("the archive ends too early: %w", err))
	case errors.Is(err, tar.ErrHeader), errors.Is(err, tar.ErrFieldTooLong):
		return ops.Error(opImport, in.dir, fs.ErrInvalid, err)
	}
	return ops.Error(opImport, in.dir, nil, err)
}

// wholeReader is a reader of an archive that must have the mark at its end, a block of
// zeros. A [tar.Reader] does not need it, so it does not notice that an archive was cut
// between two entries.
type wholeReader struct {
	*tar.Reader
	from *counter // which it reads
}

// block is the unit of archives: headers, and contents with what fills them up, have a
// whole number of them.
const block = 512

// Next returns the next entry, after the content of the last one has been read. At the
// end without the mark, it returns [io.ErrUnexpectedEOF].
func (w wholeReader) Next() (*tar.Header, error) {
	end := (w.from.n + block - 1) / block * block
	header, err := w.Reader.Next()
	if err == io.EOF && w.from.n <= end {
		err = io.ErrUnexpectedEOF
	}
	return header, err
}

// counter counts what is read of r.
type counter struct {
	r io.Reader
	n int64
}

// Read implements [io.Reader].
func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// chunker writes a stream whose length is not known, in parts whose lengths
// are.
type chunker struct {
	w   io.Writer
	buf []byte
}

// maxChunk is the length of a part.
const maxChunk = 256 << 10

// Write implements [io.Writer].
func (c *chunker) Write(p []byte) (int, error) {
	c.buf = append(c.buf, p...)
	if len(c.buf) < maxChunk {
		return len(p), nil
	}
	return len(p), c.flush()
}

func (c *chunker) flush() error {
	if len(c.buf) == 0 {
		return nil // that would be the end
	}
	if _, err := fmt.Fprintf(c.w, "%d\n", len(c.buf)); err != nil {
		return err
	}
	_, err := c.w.Write(c.buf)
	c.buf = c.buf[:0]
	return err
}

// end writes what is left, and a word after the end.
func (c *chunker) end(word string) error {
	if err := c.flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(c.w, "0\n%s\n", word)
	return err
}

// take returns what is passed on of an entry, nil for nothing. A symlink is left
// for the end: as long as there is none, no name leads anywhere else than it says.
func (in *importing) take(header *tar.Header) (*tar.Header, error) {
	if header.Typeflag == tar.TypeXGlobalHeader { // git archive writes one
		return nil, nil
	}
	entry, err := in.check(header)
	if err != nil {
		return nil, err
	}
	name := path.Clean(entry.Name)
	switch {
	case name == "." && entry.Typeflag == tar.TypeDir:
		return nil, nil
	case name == ".": // its content, which is not passed on, can have any length
		return nil, ops.Error(opImport, header.Name, workspace.ErrIsDir, nil)
	}
	for above := path.Dir(name); above != "."; above = path.Dir(above) {
		if _, ok := in.symlinks[above]; ok {
			return nil, ops.Error(opImport, header.Name, workspace.ErrSymlink, nil)
		}
	}
	if entry.Typeflag == tar.TypeLink {
		if target, ok := in.symlinks[entry.Linkname]; ok {
			entry.Typeflag, entry.Linkname = tar.TypeSymlink, target
		}
	}
	delete(in.symlinks, name)
	if entry.Typeflag == tar.TypeSymlink {
		in.symlinks[name] = entry.Linkname
		in.order = append(in.order, name)
		return nil, nil
	}
	entry.Uid, entry.Gid = int(in.client.User), in.client.Group()
	return entry, nil
}

// check returns an entry without what is not taken over, or what is wrong with it.
func (in *importing) check(header *tar.Header) (*tar.Header, error) {
	fail := func(kind, cause error) (*tar.Header, error) {
		return nil, ops.Error(opImport, header.Name, kind, cause)
	}
	entry := plainEntry(header)
	name := path.Clean(header.Name)
	switch {
	case escapes(".", header.Name):
		return fail(workspace.ErrEscape, nil)
	case !ops.ValidName(name):
		return fail(fs.ErrInvalid, errors.New("an archive cannot have that name in it"))
	case entry == nil:
		return fail(fs.ErrInvalid, fmt.Errorf("an entry of the type %q is neither file, directory nor link", header.Typeflag))
	case entry.Typeflag == tar.TypeSymlink && strings.ContainsRune(header.Linkname, 0),
		entry.Typeflag == tar.TypeSymlink && header.Linkname == "":
		return fail(fs.ErrInvalid, errors.New("nothing can be the target of that symlink"))
	case entry.Typeflag == tar.TypeSymlink && escapes(path.Dir(name), header.Linkname):
		return fail(workspace.ErrEscape, errors.New("a symlink leads out"))
	case entry.Typeflag == tar.TypeLink && escapes(".", header.Linkname):
		return fail(workspace.ErrEscape, errors.New("a link leads out"))
	}
	entry.Mode &= 0o777
	if entry.Typeflag == tar.TypeDir {
		entry.Mode |= 0o700
	}
	return entry, nil
}

// escapes reports whether target, as seen from dir, leads out by its spelling.
func escapes(dir, target string) bool {
	joined := path.Join(dir, target)
	return path.IsAbs(target) || joined == ".." || strings.HasPrefix(joined, "../")
}

// link creates the symlinks.
func (in *importing) link(ctx context.Context) error {
	for _, name := range in.order {
		target, ok := in.symlinks[name]
		if !ok {
			continue
		}
		full := workspace.Join(in.dir, name)
		if _, err := in.f.begin(ctx, opImport, full); err != nil {
			return err
		}
		if _, err := in.client.Do(ctx, program.Once("link", append(program.Pair(full), target)...)); err != nil {
			return ops.Error(opImport, full, provider.Classify(err), nil)
		}
		delete(in.symlinks, name)
		in.progress.add(name, 0)
	}
	return nil
}

// plainEntry returns an entry of an archive with what a workspace knows of files,
// and its name in one spelling. It returns nil for what is neither file, directory
// nor link.
func plainEntry(header *tar.Header) *tar.Header {
	entry := &tar.Header{
		Typeflag: header.Typeflag, Name: path.Clean(header.Name), Mode: header.Mode, ModTime: header.ModTime,
		Uid: header.Uid, Gid: header.Gid, Uname: header.Uname, Gname: header.Gname,
	}
	switch header.Typeflag {
	case tar.TypeReg, tar.TypeCont, tar.TypeGNUSparse: // a reader fills the holes
		entry.Typeflag, entry.Size = tar.TypeReg, header.Size
	case tar.TypeDir:
		entry.Name += "/"
	case tar.TypeSymlink:
		entry.Linkname = header.Linkname
	case tar.TypeLink:
		entry.Linkname = path.Clean(header.Linkname)
	default:
		return nil
	}
	return entry
}

// progress tells how far a transfer has come.
type progress struct {
	TarProgress
	tell func(TarProgress) // nil if nobody wants to know
}

func (p *progress) add(name string, bytes int64) {
	p.TarProgress = TarProgress{Path: path.Clean(name), Names: p.Names + 1, Bytes: p.Bytes + bytes}
	if p.tell != nil {
		p.tell(p.TarProgress)
	}
}

// entries is what [tar.Reader] does.
type entries interface {
	io.Reader
	Next() (*tar.Header, error)
}

// relay copies entries as take returns them, which returns nil for those that are
// left out.
func relay(out *tar.Writer, in entries, progress *progress, take func(*tar.Header) (*tar.Header, error)) error {
	for {
		header, err := in.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		entry, err := take(header)
		if err != nil {
			return err
		}
		if entry == nil {
			continue
		}
		if err := out.WriteHeader(entry); err != nil {
			return err
		}
		n, err := io.Copy(out, in)
		if err != nil {
			return err
		}
		progress.add(entry.Name, n)
	}
}

// ExportTar writes a tar archive of the files, directories and links below dir to
// w, as one stream. A symlink is written as one, wherever it leads. A hard link of a
// file whose name is left out as invalid is written as a file, after all others, and one of a
// symlink is left out, too.
//
// # Errors
//
// Those of [workspace.FileSystem].Ls, what w returns, [workspace.ErrUnavailable]
// if something changes while it is read, or cannot be read,
// [errors.ErrUnsupported] if the image has no tar.
func (f *FS) ExportTar(ctx context.Context, dir string, w io.Writer, opts *TarOptions) error {
	c, err := f.begin(ctx, opExport, dir)
	if err != nil {
		return err
	}
	// An import that was given up is still removing its files.
	stream, err := c.Stream(ctx, program.Once("pack", dir))
	if err != nil {
		return ops.Error(opExport, dir, provider.Classify(err), nil)
	}
	defer stream.Close()
	ex := exporting{f: f, dir: dir}
	if opts != nil {
		ex.progress.tell = opts.Progress
	}
	out := tar.NewWriter(w)
	err = relay(out, tar.NewReader(stream), &ex.progress, ex.take)
	if err == nil {
		_, err = io.Copy(io.Discard, stream) // after the end of the archive
	}
	switch {
	case stream.Status == program.StatusPartial:
		return ops.Error(opExport, dir, workspace.ErrUnavailable, errChanged)
	case stream.Status != 0:
		return ops.Error(opExport, dir, program.StatusError(stream.Status, nil), nil)
	case err != nil:
		return ops.Error(opExport, dir, c.Broken(err), nil)
	}
	if err := ex.readHidden(ctx, out); err != nil {
		return err
	}
	return out.Close()
}

// exporting is an archive on its way out of a container.
type exporting struct {
	f        *FS
	dir      string
	progress progress
	hidden   []*tar.Header // links to files that are left out
}

// take returns what is written of an entry that tar in the container wrote, nil for
// nothing. A link to a file that is left out waits for the end.
func (ex *exporting) take(header *tar.Header) (*tar.Header, error) {
	entry := plainEntry(header)
	name := path.Clean(header.Name)
	if entry == nil || name == "." || !ops.ValidName(name) {
		return nil, nil
	}
	if entry.Typeflag != tar.TypeLink || ops.ValidName(entry.Linkname) {
		return entry, nil
	}
	if escapes(".", entry.Linkname) {
		return nil, errors.New("tar in the container wrote a link that leads out")
	}
	if len(ex.hidden) == maxHidden {
		return nil, provider.Errorf(workspace.ErrUnavailable, "there are too many links to files whose names are invalid")
	}
	ex.hidden = append(ex.hidden, entry)
	return nil, nil
}

// maxHidden is how many links to files that are left out an archive may have.
const maxHidden = 1 << 20

// readHidden writes the links to files that are left out. It follows no symlink, so nothing that
// was exchanged for one is read.
func (ex *exporting) readHidden(ctx context.Context, out *tar.Writer) error {
	if len(ex.hidden) == 0 {
		return nil
	}
	dir, err := ex.f.Resolve(ctx, ex.dir)
	if err != nil {
		return ops.Rename(err, opExport, ex.dir)
	}
	view, err := ex.f.Exact()
	if err != nil {
		return ops.Rename(err, opExport, ex.dir)
	}
	for _, entry := range ex.hidden {
		if err := ex.read(ctx, view, workspace.Join(dir, entry.Name), out, entry); err != nil {
			return err
		}
	}
	return nil
}

// read writes the file that a link is, by the name that the link has. A symlink is left out: what
// it says is not known by that name.
func (ex *exporting) read(ctx context.Context, view workspace.FileSystem, name string, out *tar.Writer, entry *tar.Header) error {
	if info, err := view.Stat(ctx, name); err == nil && info.Type == workspace.TypeSymlink {
		return nil
	}
	r, info, err := workspace.Open(ctx, view, name, nil)
	if err != nil {
		return ops.Error(opExport, ex.dir, cmp.Or(ctx.Err(), workspace.ErrUnavailable), errChanged)
	}
	defer r.Close()
	entry.Typeflag, entry.Linkname, entry.Size = tar.TypeReg, "", info.Size
	if err := out.WriteHeader(entry); err != nil {
		return ops.Error(opExport, ex.dir, nil, err)
	}
	n, err := io.Copy(out, r)
	switch {
	case errors.Is(err, tar.ErrWriteTooLong), err == nil && n < info.Size:
		return ops.Error(opExport, ex.dir, workspace.ErrUnavailable, errChanged)
	case err != nil:
		return ops.Error(opExport, ex.dir, nil, err)
	}
	ex.progress.add(entry.Name, n)
	return nil
}

var errChanged = errors.New("something changed while it was read, or could not be read")
