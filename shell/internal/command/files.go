package command

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"hash"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/session"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/fallback"
)

// Files are the workspaces that a shell sees. One workspace is the root; several are
// directories of the root, each under its name. /tmp is a scratch workspace, unless the
// only workspace shows something of that name itself; /dev/shm is always the scratch
// workspace. A relative name never leads from the root of the only workspace to the
// scratch workspace: "tmp" there is the workspace's own. It is safe for concurrent use.
//
// Names are resolved from a directory that the caller gives with each call, as each shell,
// subshell and program has a working directory of its own. Errors name what the caller
// wrote, and never a path of the host.
type Files struct {
	workspaces []*workspace.Workspace
	scratch    *workspace.Workspace
	hooks      Hooks

	mu          sync.Mutex
	open        map[Location]*output // guarded by mu; the files that are being written
	stored      int                  // guarded by mu; how many of them have been stored, or not
	descriptors map[string][]byte    // guarded by mu; /dev/fd/N
}

// Hooks are told what a shell does with files. Each may be nil.
//
// They are called without Files.mu held, and may be called by several goroutines, as the
// programs of a pipeline run at the same time.
type Hooks struct {
	// Read gets each file that has been read to its end.
	Read func(ctx context.Context, at Location, version workspace.Version, content Content)
	// Change is asked before a file is changed; op is the name of the operation, as in
	// package workspace. exists says what the file is, nil if it does not exist,
	// and for a mkdir.
	Change func(ctx context.Context, op string, at Location, exists *workspace.FileInfo) error
	// Changed is told what has been changed. version is that of a file that was
	// written, "" for anything else. to is where it was moved to.
	Changed func(ctx context.Context, op string, at, to Location, version workspace.Version)
	// Wrote gets what a file holds that has been written whole.
	Wrote func(ctx context.Context, at Location, version workspace.Version, content Content)
	// Copied gets each file that was copied in one workspace. Read and Wrote do not get it.
	Copied func(ctx context.Context, from, to Location)
}

// Content is what is remembered of the content of a file.
type Content struct {
	Sum   [sha256.Size]byte // SHA-256 of the bytes
	Lines int               // the last may lack its line end
}

// contentOf describes data.
// It is what contentWriter makes of the same bytes in pieces.
func contentOf(data []byte) Content {
	c := newContentWriter()
	c.Write(data)
	return c.content()
}

// contentWriter describes what is written to it.
type contentWriter struct {
	hash  hash.Hash // SHA-256 of what was written
	lines int       // line feeds so far
	last  byte      // the last byte, for whether the last line has an end
	size  int64
}

// newContentWriter returns a writer that has been given nothing yet.
func newContentWriter() *contentWriter { return &contentWriter{hash: sha256.New()} }

// Write implements [io.Writer].
func (c *contentWriter) Write(b []byte) (int, error) {
	if len(b) > 0 {
		c.lines += bytes.Count(b, []byte("\n"))
		c.last = b[len(b)-1]
		c.size += int64(len(b))
	}
	return c.hash.Write(b)
}

// content returns the description.
//
// No bytes are no lines, and "a\nb" are two. More can be written afterwards.
func (c *contentWriter) content() Content {
	lines := c.lines
	if c.size > 0 && c.last != '\n' {
		lines++
	}
	return Content{[sha256.Size]byte(c.hash.Sum(nil)), lines}
}

// NewFiles returns the files of workspaces, which have different names, and of a scratch
// workspace.
//
// The slice is kept, and must not change. scratch is not nil; it may be shared by several
// Files, as a session has one for each run.
func NewFiles(workspaces []*workspace.Workspace, scratch *workspace.Workspace, hooks Hooks) *Files {
	return &Files{workspaces: workspaces, scratch: scratch, hooks: hooks,
		open: map[Location]*output{}, descriptors: map[string][]byte{}}
}

// Location is where a file is.
//
// Two equal locations name one file, unless symlinks lead to it: Files uses a Location as a
// key of the files that are being written.
type Location struct {
	Workspace *workspace.Workspace // nil: the directory of the workspaces
	Name      string               // in the workspace; "." for its root
}

// In returns a context for operations there: who is asked for an approval sees the name of
// the workspace.
//
// l.Workspace must not be nil.
func (l Location) In(ctx context.Context) context.Context {
	return session.WithWorkspace(ctx, l.Workspace.Name())
}

// ErrCrossWorkspace says that two names are in different workspaces.
var ErrCrossWorkspace error = syscall.EXDEV

// Locate says where name is, seen from dir. A ".." is taken away with the element
// before it; symlinks are the business of the workspace. With one workspace, repo, and
// with two, repo and lake:
//
//	cd /src; ../a.txt    repo: a.txt                fails: there is no workspace a.txt
//	/src/a.txt           repo: src/a.txt             fails: there is no workspace src
//	/repo/a.txt          repo: repo/a.txt            repo: a.txt
//	/tmp/x               scratch: x, unless repo     scratch: x
//	                     has a tmp itself
//	/dev/shm/x           scratch: x                  scratch: x
//	/host/root/x         repo: x, unless repo has    fails
//	                     a host/root itself
//
// dir is absolute. The only error is [fs.ErrNotExist], for "" and for a first element that
// is no workspace: whether the file exists is not looked at.
func (f *Files) Locate(ctx context.Context, dir, name string) (Location, error) {
	if name == "" {
		return Location{}, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	full := path.Clean("/" + name)
	if !path.IsAbs(name) {
		full = path.Join("/", dir, name)
	}
	if rest, ok := below(full, "/dev/shm"); ok {
		return Location{f.scratch, rest}, nil
	}
	if len(f.workspaces) == 1 {
		isAbs := path.IsAbs(name)
		return f.locateInOnly(ctx, full, isAbs || dir != "/", isAbs && !strings.HasPrefix(name, "//")), nil
	}
	if full == "/" {
		return Location{Name: "."}, nil
	}
	first, rest, _ := strings.Cut(full[1:], "/")
	if rest == "" {
		rest = "."
	}
	for _, ws := range f.workspaces {
		if ws.Name() == first {
			return Location{ws, rest}, nil
		}
	}
	if first == "tmp" {
		return Location{f.scratch, rest}, nil
	}
	return Location{}, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// locateInOnly is Locate for one workspace. scratch says whether /tmp may be the scratch
// workspace, and host whether full may be a host path below the root of the workspace, so that a
// name that another tool printed works here. If the workspace has something of that name itself,
// full is that. A name such as "//a" is no host path: scripts write $PWD/a. In the scratch workspace
// each name is a host path below the root: no directory there hides the root.
//
// Where a policy refuses tmp, whether it exists is not known, and
// /tmp is the scratch workspace. Other errors leave /tmp with the workspace, which then
// reports them.
func (f *Files) locateInOnly(ctx context.Context, full string, scratch, host bool) Location {
	ws := f.workspaces[0]
	if inTmp, ok := below(full, "/tmp"); ok && scratch {
		if _, err := ws.Stat(ctx, "tmp"); errors.Is(err, fs.ErrNotExist) || errors.Is(err, workspace.ErrPolicy) {
			if rest, ok := f.hostPath(ctx, full); ok && path.Clean(ws.Root()) != "/tmp" {
				return Location{ws, rest}
			}
			return Location{f.scratch, inTmp}
		}
	}
	if host {
		if rest, ok := f.hostPath(ctx, full); ok {
			own, _ := below(path.Clean(ws.Root()), "/")
			if _, err := ws.Stat(ctx, own); errors.Is(err, fs.ErrNotExist) {
				return Location{ws, rest}
			}
		}
	}
	rest, _ := below(full, "/")
	return Location{ws, rest}
}

// hostPath returns what is left of a host path below the root of the only workspace. It reports
// false for other names. full is clean and absolute.
func (f *Files) hostPath(ctx context.Context, full string) (string, bool) {
	if len(f.workspaces) > 1 {
		return "", false
	}
	_ = fallback.FindRoot(ctx, f.workspaces[0]) // an operation on the file reports the error
	if len(f.workspaces[0].Root()) <= len("/") {
		return "", false
	}
	return below(full, f.workspaces[0].Root())
}

// AboveRoot reports whether the host has the root of the only workspace below the directory name.
func (f *Files) AboveRoot(name string) bool {
	if len(f.workspaces) > 1 {
		return false
	}
	_, above := below(f.workspaces[0].Root(), name)
	return above
}

// MayBeHost reports whether a relative name, seen from dir, would be a host path if it were
// written as an absolute one. The interpreter makes names absolute.
func (f *Files) MayBeHost(ctx context.Context, dir, name string) bool {
	if path.IsAbs(name) {
		return false
	}
	_, ok := f.hostPath(ctx, path.Join("/", dir, name))
	return ok
}

// Absolute returns the clean absolute name of what name is, seen from dir. It is no host path, so
// that names can be seen from it.
func (f *Files) Absolute(ctx context.Context, dir, name string) string {
	full := path.Clean(name)
	if !path.IsAbs(name) {
		full = path.Join("/", dir, name)
	}
	if _, ok := f.hostPath(ctx, full); !ok {
		return full
	}
	at, err := f.Locate(ctx, dir, name)
	if err != nil || at.Workspace != f.workspaces[0] {
		return full
	}
	return path.Join("/", at.Name)
}

// below returns the name of full in dir, "." for dir itself.
// It reports false for what is not in dir. Both are clean and absolute.
func below(full, dir string) (string, bool) {
	if full == dir {
		return ".", true
	}
	return strings.CutPrefix(full, strings.TrimSuffix(dir, "/")+"/")
}

// Open opens a file for reading. A [Hooks].Read gets it when it has been read to
// the end.
//
// The caller closes it. A directory is [workspace.ErrIsDir].
func (f *Files) Open(ctx context.Context, dir, name string) (io.ReadCloser, error) {
	at, err := f.locateRead(ctx, dir, name)
	if err != nil {
		return nil, err
	}
	stream, info, err := at.Workspace.Open(at.In(ctx), at.Name, nil)
	if err != nil || f.hooks.Read == nil {
		return stream, err
	}
	return &input{ReadCloser: stream, ctx: ctx, files: f, at: at, info: info, seen: newContentWriter()}, nil
}

// locateFile is Locate for a name that cannot be the directory of the workspaces.
func (f *Files) locateFile(ctx context.Context, dir, name string) (Location, error) {
	at, err := f.Locate(ctx, dir, name)
	if err == nil && at.Workspace == nil {
		err = &fs.PathError{Op: "open", Path: name, Err: workspace.ErrIsDir}
	}
	return at, err
}

// locateRead is locateFile for a file that is read: a name of a directory ([namesDir]) must
// be one.
// So cat f/ fails with [workspace.ErrNotDir] for a file f, as on Unix.
func (f *Files) locateRead(ctx context.Context, dir, name string) (Location, error) {
	if namesDir(name) {
		if _, err := f.Stat(ctx, dir, name); err != nil {
			return Location{}, err
		}
	}
	return f.locateFile(ctx, dir, name)
}

// input is a file that is being read.
//
// The hook is told once, when Read returns the last byte, which comes alone: a program that
// stops before has not seen the end of the file, however much it has read ahead.
type input struct {
	io.ReadCloser
	ctx   context.Context
	files *Files
	at    Location
	info  workspace.FileInfo
	seen  *contentWriter // what Read has returned
	held  []byte         // a byte that may be the last one
	told  bool           // the observer knows of the read
	end   func(size int64, tell func())
}

// AtEnd has end called instead of the hook Read when file, which Open has returned, is about to
// return its last byte. tell calls the hook.
func AtEnd(file io.ReadCloser, end func(size int64, tell func())) {
	if in, ok := file.(*input); ok {
		in.end = end
	}
}

// unobserved keeps the hook Read from being called for a file that Open has returned.
func unobserved(file io.ReadCloser) { AtEnd(file, func(int64, func()) {}) }

// Read implements [io.Reader].
func (in *input) Read(b []byte) (int, error) {
	switch len(b) {
	case 0:
		return 0, nil
	case 1: // no room for the byte that is held back
		two := make([]byte, 2)
		n, err := in.Read(two)
		return copy(b, two[:n]), err
	}
	n := copy(b, in.held)
	read, err := in.ReadCloser.Read(b[n:])
	n, in.held = n+read, nil
	if n > 0 && err == nil || n > 1 && err == io.EOF {
		n, in.held = n-1, []byte{b[n-1]}
	}
	in.seen.Write(b[:n])
	switch {
	case n == 0 && err == nil:
		return in.Read(b)
	case err != io.EOF:
		return n, err
	case in.held == nil && !in.told:
		in.tell()
	}
	if n > 0 {
		return n, nil // the end comes again
	}
	return 0, io.EOF
}

// tell calls the hook, or what AtEnd has been given.
func (in *input) tell() {
	in.told = true
	content := in.seen.content()
	tell := func() { in.files.hooks.Read(in.ctx, in.at, in.info.Version, content) }
	if in.end == nil {
		tell()
		return
	}
	in.end(in.seen.size, tell)
}

// ReadFile returns the whole content of a file, and its version.
//
// Its size is bounded by the limit of the workspace alone ([workspace.ErrTooLarge]).
func (f *Files) ReadFile(ctx context.Context, dir, name string) ([]byte, workspace.Version, error) {
	at, err := f.locateRead(ctx, dir, name)
	if err != nil {
		return nil, "", err
	}
	data, version, err := at.Workspace.ReadVersioned(at.In(ctx), at.Name, 0)
	if err == nil && f.hooks.Read != nil {
		f.hooks.Read(ctx, at, version, contentOf(data))
	}
	return data, version, err
}

// WriteFile gives a file its content. Its directory must exist.
//
// Where the workspace has no conditional writes, opts are left out rather than refused: a
// script cannot know, and sed -i has to work there, too.
//
// data is not kept. A file that somebody has changed since is [workspace.ErrConflict], if
// opts have its version.
func (f *Files) WriteFile(ctx context.Context, dir, name string, data []byte, opts *workspace.WriteOptions) error {
	at, _, err := f.prepare(ctx, dir, name, false)
	if err != nil {
		return err
	}
	return f.write(ctx, at, data, opts)
}

// restore writes the old content of a file that a move has replaced, which still has the version.
// The hook has been asked about the move.
func (f *Files) restore(ctx context.Context, dir, name string, data []byte, version workspace.Version) error {
	at, err := f.locateFile(ctx, dir, name)
	if err != nil {
		return err
	}
	return f.write(ctx, at, data, &workspace.WriteOptions{IfVersion: version})
}

// write is WriteFile without the question whether the hook allows it.
func (f *Files) write(ctx context.Context, at Location, data []byte, opts *workspace.WriteOptions) error {
	if opts != nil && !at.Workspace.Capabilities().ConditionalWrite {
		opts = nil
	}
	version, err := at.Workspace.WriteFile(at.In(ctx), at.Name, data, opts)
	if err == nil {
		f.wrote(ctx, at, version, contentOf(data))
	}
	return err
}

// prepare locates a file that is about to be written, and checks that it can be: its
// directory exists, it is no directory, and the hook agrees. info is nil if it does not
// exist. With create, a symlink that leads to nothing is located where it leads to.
//
// The order matters: the hook comes last, so nobody is asked for an approval of a write
// that cannot succeed.
func (f *Files) prepare(ctx context.Context, dir, name string, create bool) (at Location, info *workspace.FileInfo, err error) {
	if at, err = f.locateFile(ctx, dir, name); err != nil {
		return at, nil, err
	}
	target, found, err := at.follow(ctx)
	switch {
	case err == nil && found.IsDir(), namesDir(name):
		return at, nil, &fs.PathError{Op: "open", Path: name, Err: workspace.ErrIsDir}
	case err == nil:
		info = &found
	case errors.Is(err, fs.ErrNotExist):
		if create {
			at = target
		}
		parent, _ := workspace.Split(at.Name)
		above, err := Location{at.Workspace, parent}.stat(ctx)
		if err != nil {
			return at, nil, err
		}
		if !above.IsDir() {
			return at, nil, &fs.PathError{Op: "open", Path: name, Err: workspace.ErrNotDir}
		}
	default:
		return at, nil, err
	}
	return at, info, f.change(ctx, ops.WriteFile, at, info)
}

// change asks the hook whether a file may be changed.
//
// Its error ends the operation before anything has changed, and is the one that the program
// prints.
func (f *Files) change(ctx context.Context, op string, at Location, info *workspace.FileInfo) error {
	if f.hooks.Change == nil {
		return nil
	}
	return f.hooks.Change(ctx, op, at, info)
}

// changed tells the hook what has been changed.
func (f *Files) changed(ctx context.Context, op string, at, to Location, version workspace.Version) {
	if f.hooks.Changed != nil {
		f.hooks.Changed(ctx, op, at, to, version)
	}
}

// wrote reports a file that was written whole.
func (f *Files) wrote(ctx context.Context, at Location, version workspace.Version, content Content) {
	f.changed(ctx, ops.WriteFile, at, Location{}, version)
	if f.hooks.Wrote != nil {
		f.hooks.Wrote(ctx, at, version, content)
	}
}

// stat describes what is at l, after symlinks.
// Stat of a workspace describes a symlink as itself.
func (l Location) stat(ctx context.Context) (workspace.FileInfo, error) {
	_, info, err := l.follow(ctx)
	return info, err
}

// follow is stat that also returns what the symlink at l leads to, even if nothing is there.
func (l Location) follow(ctx context.Context) (Location, workspace.FileInfo, error) {
	info, err := l.Workspace.Stat(l.In(ctx), l.Name)
	if err != nil || info.Type != workspace.TypeSymlink {
		return l, info, err
	}
	target, err := l.Workspace.Resolve(l.In(ctx), l.Name)
	if err != nil {
		return l, info, err
	}
	info, err = l.Workspace.Stat(l.In(ctx), target)
	return Location{l.Workspace, target}, info, err
}

// Create opens a file for writing, with the flags [os.O_APPEND] and [os.O_EXCL]. Two
// writers of one file at a time add to the same content, in the order in which they
// write. Copy and Move to it are refused meanwhile.
//
// The file is not truncated now, unlike on Unix. It keeps its old content until the last
// handle is closed, which is why sort f > f works. A handle that is never closed stores
// nothing, nor do those that are opened beside it. f.mu is held while an old content is read, so
// that a second writer waits for it. A file that is being stored is opened after that, and adds
// to what it has then.
func (f *Files) Create(ctx context.Context, dir, name string, flag int) (*handle, error) {
	for {
		f.mu.Lock()
		stored := f.stored
		f.mu.Unlock()
		at, info, err := f.prepare(ctx, dir, name, flag&os.O_EXCL == 0)
		if err != nil {
			return nil, err
		}
		if info != nil && flag&os.O_EXCL != 0 {
			return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrExist}
		}
		h, storing, err := f.create(ctx, at, info, flag&os.O_APPEND != 0, stored)
		if h != nil || err != nil {
			return h, err
		}
		if storing == nil {
			continue
		}
		select {
		case <-storing:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// create is Create of what info has described after stored files had been stored. It returns no
// handle if one has been stored since, as info may be out of date, or if one is being stored at the
// same place: storing is closed then.
func (f *Files) create(ctx context.Context, at Location, info *workspace.FileInfo, appends bool, stored int) (h *handle, storing <-chan struct{}, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := f.open[at]
	switch {
	case out != nil && len(out.users) == 0:
		return nil, out.stored, nil
	case out != nil: // appends no longer matters: with > a 2>> a, both add to what the first has begun
		return out.handle(), nil, nil
	case f.stored != stored:
		return nil, nil, nil
	}
	out = &output{ctx: ctx, files: f, seen: newContentWriter(), at: at, users: map[*handle]bool{}, stored: make(chan struct{}), limit: at.Workspace.MaxFileSize()}
	if err := out.start(info, appends); err != nil {
		return nil, nil, err
	}
	f.open[at] = out
	return out.handle(), nil, nil
}

// output is a file that is being written, by one handle or several. What is written is
// stored when the last handle is closed: at once, and on the condition that the file is
// what it was when it was opened. Up to wholeSize it is kept in memory, and then
// streamed to the workspace, which shows it on Commit only.
//
//	{ echo a; echo b; } > f    one handle: f is stored once
//	cmd > f 2> f               two handles of one output: both add to it
//	sort f > f                 sort reads the old f: the new one is stored after it
type output struct {
	ctx   context.Context
	files *Files
	at    Location
	limit int64 // in bytes, zero for none

	users  map[*handle]bool // guarded by files.mu; those that are open
	closed bool             // guarded by files.mu; one of several was closed without an error, so ctx does not end the storing
	stored chan struct{}    // closed once there are none, and the file has been stored
	mu     sync.Mutex
	opts   *workspace.WriteOptions
	buf    []byte           // guarded by mu; what was written, while there is no writer
	writer workspace.Writer // guarded by mu; of a large file
	seen   *contentWriter   // guarded by mu
	size   int64            // guarded by mu
	err    error            // guarded by mu; of the first write that failed
	source Location         // guarded by mu; what it is a copy of, if that is in the same workspace
}

// start begins the file, with its old content if more is appended to it. The version
// belongs to the content that was read.
// A new file gets the condition that it does not exist, an old one that its version is the
// one that was seen.
func (o *output) start(info *workspace.FileInfo, add bool) error {
	var old []byte
	opts := &workspace.WriteOptions{IfNotExist: true}
	if info != nil {
		opts = &workspace.WriteOptions{IfVersion: info.Version}
	}
	if info != nil && add {
		var err error
		if old, opts.IfVersion, err = o.at.Workspace.ReadVersioned(o.at.In(o.ctx), o.at.Name, 0); err != nil {
			return err
		}
	}
	if !o.at.Workspace.Capabilities().ConditionalWrite {
		opts = nil
	}
	o.opts, o.buf = opts, old
	if len(old) > 0 {
		o.seen.Write(old)
		o.size = int64(len(old))
	}
	return nil
}

// wholeSize is how many bytes of a file are kept in memory and written at once: where a
// rule asks somebody before a write, that person is shown them.
const wholeSize = 1 << 20

// Write implements [io.Writer].
//
// After the first error every Write fails, and so does finish: a file is stored whole or
// not at all. b is copied.
func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil && o.limit > 0 && o.size+int64(len(b)) > o.limit {
		o.err = &fs.PathError{Op: "write", Path: o.at.Name, Err: workspace.ErrTooLarge}
	}
	if o.err == nil && o.writer == nil && o.size+int64(len(b)) > wholeSize {
		o.err = o.stream()
	}
	if o.err != nil {
		return 0, WriteError{o.err}
	}
	o.seen.Write(b)
	o.size += int64(len(b))
	if o.writer == nil {
		o.buf = append(o.buf, b...)
		return len(b), nil
	}
	var n int
	if n, o.err = o.writer.Write(b); o.err != nil {
		return n, WriteError{o.err}
	}
	return n, nil
}

// stream begins to write the file before all of it is known.
// From here on, nothing of the file is kept in memory here.
func (o *output) stream() error {
	writer, err := o.at.Workspace.Create(o.at.In(o.ctx), o.at.Name, o.opts)
	if err != nil {
		return err
	}
	o.writer = writer
	_, err = writer.Write(o.buf)
	o.buf = nil
	return err
}

// finish stores what was written, unless a write failed.
// A write that failed leaves the file as it was: Close of a writer without Commit drops
// what it has.
//
// It is called once, by the handle that is closed last.
func (o *output) finish() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.writer != nil {
		defer o.writer.Close()
	}
	if o.err != nil {
		return o.err
	}
	ctx := o.ctx
	if o.closed { // files.mu is not needed: there are no users
		var cancel context.CancelFunc
		ctx, cancel = outlasting(ctx)
		defer cancel()
	}
	var version workspace.Version
	var err error
	if o.writer != nil {
		version, err = o.writer.Commit()
	} else {
		version, err = o.at.Workspace.WriteFile(o.at.In(ctx), o.at.Name, o.buf, o.opts)
	}
	switch {
	case err != nil:
		return err
	case o.source.Workspace != nil:
		o.files.copied(ctx, o.source, o.at, version)
	default:
		o.files.wrote(ctx, o.at, version, o.seen.content())
	}
	return nil
}

// storeTimeout bounds the storing of a file, and what undoes a move, after the context has ended.
const storeTimeout = 30 * time.Second

// outlasting returns a context that ends storeTimeout after ctx.
func outlasting(ctx context.Context) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		select {
		case <-longer.Done():
		case <-time.After(storeTimeout):
			cancel()
		}
	})
	return longer, func() {
		stop()
		cancel()
	}
}

// handle is one opening of an output.
type handle struct {
	*output
	owner *Process // guarded by files.mu; the program that has opened it, nil for none
}

// handle opens the output once more. files.mu is held.
func (o *output) handle() *handle {
	h := &handle{output: o}
	o.users[h] = true
	return h
}

// Close stores the file if no other handle is open. It may be called twice.
//
// Where another is open, who closes this one takes the file for stored: so the last Close stores
// a small one even if the job that holds it has been stopped. The error of storing the file
// goes to the handle that is closed last. The storing itself happens without files.mu, so that
// other files can be opened meanwhile.
func (h *handle) Close() error {
	f := h.files
	f.mu.Lock()
	if !h.users[h] {
		f.mu.Unlock()
		return nil
	}
	delete(h.users, h)
	last := len(h.users) == 0
	h.closed = h.closed || !last && h.ctx.Err() == nil
	f.mu.Unlock()
	if !last {
		return nil
	}
	err := h.finish()
	f.mu.Lock()
	delete(f.open, h.at)
	f.stored++
	f.mu.Unlock()
	close(h.stored)
	return err
}

// Stat describes what name is, after symlinks.
func (f *Files) Stat(ctx context.Context, dir, name string) (workspace.FileInfo, error) {
	return f.describe(ctx, dir, name, true)
}

// Lstat describes name, and a symlink as itself, unless name is that of a directory.
func (f *Files) Lstat(ctx context.Context, dir, name string) (workspace.FileInfo, error) {
	return f.describe(ctx, dir, name, namesDir(name))
}

// namesDir reports whether name can only be that of a directory: it ends with a slash, "."
// or "..".
func namesDir(name string) bool {
	last := name[strings.LastIndexByte(name, '/')+1:]
	return last == "" || last == "." || last == ".."
}

// describe is Stat and Lstat.
//
// A name of a directory ([namesDir]) that is something else is [workspace.ErrNotDir].
func (f *Files) describe(ctx context.Context, dir, name string, follow bool) (workspace.FileInfo, error) {
	if info, ok := f.deviceInfo(dir, name); ok {
		return info, nil
	}
	at, err := f.Locate(ctx, dir, name)
	if err != nil {
		return workspace.FileInfo{}, err
	}
	if at.Workspace == nil {
		return directory("/"), nil
	}
	info, err := at.Workspace.Stat(at.In(ctx), at.Name)
	if follow && err == nil && info.Type == workspace.TypeSymlink {
		info, err = at.stat(ctx)
	}
	if err == nil && namesDir(name) && !info.IsDir() {
		err = &fs.PathError{Op: "stat", Path: name, Err: workspace.ErrNotDir}
	}
	return info, err
}

// deviceInfo describes /dev/null and the like.
// Its type is [workspace.TypeOther]: it is neither a file nor a directory.
func (f *Files) deviceInfo(dir, name string) (workspace.FileInfo, bool) {
	full := path.Clean("/" + name)
	if !path.IsAbs(name) {
		full = path.Join("/", dir, name)
	}
	device, ok := strings.CutPrefix(full, "/dev/")
	if !ok {
		return workspace.FileInfo{}, false
	}
	_, kept := f.descriptor(device)
	if !kept && !slices.Contains(devices, device) {
		return workspace.FileInfo{}, false
	}
	return workspace.FileInfo{Name: path.Base(full), Path: full, Type: workspace.TypeOther}, true
}

// devices are the devices below /dev.
var devices = []string{"null", "stdin", "stdout", "stderr", "fd/0", "fd/1", "fd/2"}

// directory describes the root where it holds several workspaces, or one of the
// directories in it.
func directory(name string) workspace.FileInfo {
	return workspace.FileInfo{Name: path.Base(name), Path: name, Type: workspace.TypeDirectory}
}

// ReadDir returns the entries of a directory, sorted bytewise by name. Those of the root,
// with several workspaces, are the workspaces and /tmp.
func (f *Files) ReadDir(ctx context.Context, dir, name string) ([]workspace.FileInfo, error) {
	at, err := f.Locate(ctx, dir, name)
	if err != nil {
		return nil, err
	}
	if at.Workspace != nil {
		return at.Workspace.Ls(at.In(ctx), at.Name, nil)
	}
	list := []workspace.FileInfo{directory("tmp")}
	for _, ws := range f.workspaces {
		list = append(list, directory(ws.Name()))
	}
	slices.SortFunc(list, func(a, b workspace.FileInfo) int { return strings.Compare(a.Name, b.Name) })
	return slices.CompactFunc(list, func(a, b workspace.FileInfo) bool { return a.Name == b.Name }), nil
}

// Rm removes a file or an empty directory, or all below it.
//
// The hook is asked about the name alone, and not about what is below it.
func (f *Files) Rm(ctx context.Context, dir, name string, opts *workspace.RmOptions) error {
	at, err := f.locateChange(ctx, ops.Rm, dir, name)
	if err != nil {
		return err
	}
	return f.rm(ctx, at, opts)
}

// rm is Rm without the question whether the hook allows it.
func (f *Files) rm(ctx context.Context, at Location, opts *workspace.RmOptions) error {
	if err := at.Workspace.Rm(at.In(ctx), at.Name, opts); err != nil {
		return err
	}
	f.changed(ctx, ops.Rm, at, Location{}, "")
	return nil
}

// rmMoved is Rm for what a move has copied, and for the copies if it is undone. The hook has been
// asked about the move, and not about each file of a directory.
func (f *Files) rmMoved(ctx context.Context, dir, name string, opts *workspace.RmOptions) error {
	at, err := f.locateFile(ctx, dir, name)
	if err != nil {
		return err
	}
	return f.rm(ctx, at, opts)
}

// locateChange locates what op is about to change, and asks the hook.
// Where there is no hook, the Stat is spared. The hook gets nil for a name that cannot be
// described; the operation itself then says why.
func (f *Files) locateChange(ctx context.Context, op, dir, name string) (Location, error) {
	at, err := f.locateFile(ctx, dir, name)
	if err != nil || f.hooks.Change == nil {
		return at, err
	}
	var info *workspace.FileInfo
	if found, err := at.Workspace.Stat(at.In(ctx), at.Name); err == nil {
		info = &found
	}
	return at, f.change(ctx, op, at, info)
}

// Mkdir creates a directory.
//
// The root and the workspaces exist already: that is [fs.ErrExist], unless opts ask for
// missing parents. The hook Change is asked without a look at what there is.
func (f *Files) Mkdir(ctx context.Context, dir, name string, opts *workspace.MkdirOptions) error {
	at, err := f.Locate(ctx, dir, name)
	switch {
	case err != nil:
		return err
	case at.Workspace == nil || at.Name == ".":
		if opts != nil && opts.Recursive {
			return nil
		}
		return &fs.PathError{Op: "mkdir", Path: name, Err: fs.ErrExist}
	}
	if err := f.change(ctx, ops.Mkdir, at, nil); err != nil {
		return err
	}
	if err := at.Workspace.Mkdir(at.In(ctx), at.Name, opts); err != nil {
		return err
	}
	f.changed(ctx, ops.Mkdir, at, Location{}, "")
	return nil
}

// Move gives a file or a directory another name in the same workspace.
//
// The hook is asked about both names. Nothing is replaced: a name that exists is
// [fs.ErrExist]. Between two workspaces it is [ErrCrossWorkspace], and the caller copies.
func (f *Files) Move(ctx context.Context, dir, from, to string) error {
	source, err := f.locateChange(ctx, ops.Move, dir, from)
	if err != nil {
		return err
	}
	target, err := f.locateChange(ctx, ops.Move, dir, to)
	if err == nil {
		err = f.notWritten(target)
	}
	if err != nil {
		return err
	}
	if source.Workspace != target.Workspace {
		return &fs.PathError{Op: "move", Path: from, Err: ErrCrossWorkspace}
	}
	if err := source.Workspace.Move(source.In(ctx), source.Name, target.Name); err != nil {
		return err
	}
	f.changed(ctx, ops.Move, source, target, "")
	return nil
}

// errWritten is the error of a copy or a move to a file that a redirection or a program has open:
// what that stores at its end would replace the file, or be refused.
var errWritten = errors.New("another command is writing it")

// notWritten returns errWritten for a file that has a handle.
func (f *Files) notWritten(at Location) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if out := f.open[at]; out != nil && len(out.users) > 0 {
		return errWritten
	}
	return nil
}

// mayReplace asks the hook whether from may be moved to the file to. It comes before either is
// read: a file that was read counts as known.
func (f *Files) mayReplace(ctx context.Context, dir, from, to string) error {
	if _, err := f.locateChange(ctx, ops.Move, dir, from); err != nil {
		return err
	}
	_, _, err := f.prepare(ctx, dir, to, false)
	return err
}

// Copy copies one file.
//
// In one workspace, the workspace copies if it can, and no content passes through here. A
// destination that exists is overwritten through Create, on the condition that it does not
// change meanwhile.
//
// A copy that fails on the way leaves the destination as it was. The hook Read is not told, as
// nobody has seen the content, and Wrote only of a copy between workspaces.
func (f *Files) Copy(ctx context.Context, dir, from, to string) error {
	source, err := f.locateRead(ctx, dir, from)
	if err != nil {
		return err
	}
	target, info, err := f.prepare(ctx, dir, to, false)
	if err == nil {
		err = f.notWritten(target)
	}
	if err != nil {
		return err
	}
	can := source.Workspace.Capabilities()
	if info == nil && source.Workspace == target.Workspace && (can.Copy || can.ConditionalWrite) {
		version, err := source.Workspace.Copy(source.In(ctx), source.Name, target.Name)
		if err != nil {
			return err
		}
		f.copied(ctx, source, target, version)
		return nil
	}
	in, _, err := source.Workspace.Open(source.In(ctx), source.Name, nil) // not f.Open, which reports a read
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := f.Create(ctx, dir, to, 0)
	if err != nil {
		return err
	}
	if source.Workspace == target.Workspace {
		out.mu.Lock()
		out.source = source
		out.mu.Unlock()
	}
	if _, err := io.Copy(out, in); err != nil {
		out.Drop(err)
		return err
	}
	return out.Close()
}

// copied reports a file that was copied in one workspace.
func (f *Files) copied(ctx context.Context, from, to Location, version workspace.Version) {
	f.changed(ctx, ops.WriteFile, to, Location{}, version)
	if f.hooks.Copied != nil {
		f.hooks.Copied(ctx, from, to)
	}
}

// Drop closes the handle, and keeps the file as it is. Other handles of the same output fail from
// then on, too, unless one has been closed: what that has written is stored.
func (h *handle) Drop(err error) {
	h.files.mu.Lock()
	closed := h.closed
	h.files.mu.Unlock()
	if !closed {
		h.mu.Lock()
		h.err = err
		h.mu.Unlock()
	}
	h.Close()
}

// DropOutputs drops the files that p has created and not closed. Whoever runs a program calls it
// at the end of that: an output that stayed open would get what others write to the file later,
// and never store it.
func (p *Process) DropOutputs() {
	f := p.Files
	var left []*handle
	f.mu.Lock()
	for _, out := range f.open {
		for h := range out.users {
			if h.owner == p {
				left = append(left, h)
			}
		}
	}
	f.mu.Unlock()
	for _, h := range left {
		h.Drop(errAbandoned)
	}
}

// errAbandoned is the error of an output whose program has ended without closing it.
var errAbandoned = errors.New("a program that was writing it has failed")

// KeepDescriptor keeps data as /dev/fd/N, and returns that name. All that is kept has at
// most limit bytes: more is [workspace.ErrTooLarge].
//
// It is for <(command): bash opens a pipe there, and here the output is complete before
// the reader starts. Each entry counts 64 bytes more than its data. Numbers begin at 63, as
// in bash.
func (f *Files) KeepDescriptor(data []byte, limit int64) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, kept := range f.descriptors {
		limit -= int64(len(kept)) + 64
	}
	if int64(len(data)) > limit {
		return "", &fs.PathError{Op: "open", Path: "/dev/fd", Err: workspace.ErrTooLarge}
	}
	device := "fd/" + strconv.Itoa(63+len(f.descriptors))
	f.descriptors[device] = data
	return "/dev/" + device, nil
}

// DropDescriptors forgets what KeepDescriptor kept.
// Names that KeepDescriptor returned before are then names of nothing.
func (f *Files) DropDescriptors() {
	f.mu.Lock()
	defer f.mu.Unlock()
	clear(f.descriptors)
}

// descriptor returns what the descriptor behind a name such as /dev/fd/63 holds, and
// whether there is one.
func (f *Files) descriptor(device string) ([]byte, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	data, ok := f.descriptors[device]
	return data, ok
}
