package osfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"sync"

	"github.com/workspacekit/workspacekit/workspace"
)

// File is an open file or directory. It is safe for concurrent use, as an [os.File] is. mu is
// held during a call, so that two calls of one File come one after the other; Files of one
// content share only that.
type File struct {
	fs      *FS
	name    string      // as the caller gave it
	flag    int         // of the open: os.O_RDWR and the like
	content *content    // shared with other files; nil for a directory
	entries *dirEntries // nil for a file

	mu     sync.Mutex
	at     int64 // where Read and Write continue
	closed bool
	locks  bool // it holds the lock of its content
}

// OpenFile opens name with flags of package os. A file that is opened for reading alone
// is read at once, if it is not larger than the limit of the workspace, and in windows
// if it is. perm says whether a file that is created can be executed: see [FS.Chmod].
//
// A file that is opened for writing is stored by [File.Sync] and [File.Close]. With
// O_EXCL, it is stored only if it is still new. If nobody has opened it here with O_TRUNC,
// it is stored only if nobody else has changed it, and with O_APPEND alone, what was
// written is appended to what others have written. These conditions need a workspace with
// conditional writes.
func (f *FS) OpenFile(name string, flag int, perm fs.FileMode) (*File, error) {
	clean, err := f.clean("open", name)
	if err != nil {
		return nil, err
	}
	file := &File{fs: f, name: name, flag: flag}
	if !file.writable() {
		err = f.openRead(file, clean)
	} else {
		err = f.openWrite(file, clean, perm)
	}
	if err != nil {
		return nil, fail("open", name, err)
	}
	return file, nil
}

// readable reports whether the file was opened for reading.
func (file *File) readable() bool { return file.flag&(os.O_WRONLY|os.O_RDWR) != os.O_WRONLY }

// writable reports whether the file was opened for writing.
func (file *File) writable() bool { return file.flag&(os.O_WRONLY|os.O_RDWR) != 0 }

// openRead opens a file or directory for reading.
func (f *FS) openRead(file *File, name string) error {
	if c := f.open(name); c != nil {
		file.content = c
		return nil
	}
	c, err := f.load(name)
	if errors.Is(err, workspace.ErrIsDir) {
		info, err := f.follow(name)
		file.entries = &dirEntries{info: info}
		return err
	}
	file.content = c
	return err
}

// openWrite opens a file for writing. The content is made without the lock, as the workspace
// may be far away; nobody here removes or renames the name meanwhile. If somebody opens or closes it,
// openWrite starts again, so that there is one content, and it is stored.
func (f *FS) openWrite(file *File, name string, perm fs.FileMode) error {
	if !f.ws.Capabilities().Write {
		return fs.ErrPermission
	}
	exclusive := file.flag&(os.O_CREATE|os.O_EXCL) == os.O_CREATE|os.O_EXCL
	defer f.opening(name)()
	for {
		known := f.open(name)
		if known != nil && exclusive {
			return fs.ErrExist
		}
		c := known
		if known == nil {
			var err error
			if c, err = f.prepare(name, file.flag, exclusive); err != nil {
				return err
			}
		}
		if f.attach(file, name, known, c, perm) {
			return nil
		}
	}
}

// attach makes c the content of file, and reports false if known, nil for none, is no longer the
// content by that name.
func (f *FS) attach(file *File, name string, known, c *content, perm fs.FileMode) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.written[name] != known {
		return false
	}
	if c.attach(file.flag&os.O_TRUNC != 0) {
		f.setMode(name, perm)
	}
	f.written[name] = c
	file.content = c
	return true
}

// prepare returns the content of a file to write to. What it holds, and what its first store
// depends on:
//
//	flags                  the file exists               it does not
//	none                   its bytes, its version        fs.ErrNotExist
//	O_CREATE               its bytes, its version        nothing, that it is new
//	O_TRUNC                nothing, no condition         fs.ErrNotExist
//	O_CREATE|O_TRUNC       nothing, no condition         nothing, no condition
//	O_CREATE|O_EXCL        fs.ErrExist                   nothing, that it is new
//
// A new file is stored when it is closed, even if nothing is written to it. One that is larger
// than the limit is [workspace.ErrTooLarge] unless O_TRUNC leaves nothing of it.
func (f *FS) prepare(name string, flag int, exclusive bool) (*content, error) {
	if flag&os.O_TRUNC == 0 && !exclusive {
		c, err := f.load(name)
		if err == nil && !c.whole {
			return nil, workspace.ErrTooLarge
		}
		if !errors.Is(err, fs.ErrNotExist) || flag&os.O_CREATE == 0 {
			return c, err
		}
		c, err = f.create(name, workspace.WriteOptions{IfNotExist: true})
		if err == nil {
			c.follows = true
		}
		return c, err
	}
	info, err := f.follow(name)
	switch {
	case errors.Is(err, fs.ErrNotExist) && flag&os.O_CREATE != 0:
		c, err := f.create(name, workspace.WriteOptions{IfNotExist: exclusive})
		if err == nil {
			c.rewritten = exclusive // nothing of it is added to what others have stored
		}
		return c, err
	case err != nil:
		return nil, err
	case exclusive:
		return nil, fs.ErrExist
	case info.IsDir():
		return nil, workspace.ErrIsDir
	case info.Type != workspace.TypeFile:
		return nil, fs.ErrInvalid
	}
	info.Size = 0
	c := f.newContent(info)
	c.whole, c.dirty = true, true
	return c, nil
}

// create returns the content of a file that does not exist. Nothing is stored yet.
func (f *FS) create(name string, condition workspace.WriteOptions) (*content, error) {
	if err := f.checkParent(name); err != nil {
		return nil, err
	}
	_, base := workspace.Split(name)
	info := workspace.FileInfo{Name: base, Path: name, Type: workspace.TypeFile}
	c := f.newContent(info)
	c.whole, c.dirty, c.created, c.condition = true, true, true, condition
	return c, nil
}

// Name returns the name that OpenFile was given.
func (file *File) Name() string { return file.name }

// Require sets the condition of the next store, in place of the one that the flags mean. It
// has no effect on a directory, nor on a file that is not stored.
func (file *File) Require(condition workspace.WriteOptions) {
	if file.content != nil {
		file.content.require(condition)
	}
}

// Stat describes the file as it is now, what was written included.
func (file *File) Stat() (fs.FileInfo, error) {
	if file.entries != nil {
		return file.fs.info(file.entries.info), nil
	}
	return file.fs.info(file.content.describe()), nil
}

// check returns the error of a file that is closed, a directory, or not open for what the
// caller wants, which open says. file.mu is held.
func (file *File) check(op string, open bool) error {
	switch {
	case file.closed:
		return fail(op, file.name, fs.ErrClosed)
	case file.content == nil:
		return fail(op, file.name, workspace.ErrIsDir)
	case !open:
		return fail(op, file.name, errNotOpen)
	}
	return nil
}

var errNotOpen = errors.New("the file is not open for this")

// Read implements [io.Reader]. The last bytes come without [io.EOF], and after them it returns
// 0 and io.EOF.
func (file *File) Read(p []byte) (int, error) {
	file.mu.Lock()
	defer file.mu.Unlock()
	n, err := file.readAt("read", p, file.at)
	file.at += int64(n)
	if n > 0 && err == io.EOF {
		err = nil
	}
	return n, err
}

// ReadAt implements [io.ReaderAt].
func (file *File) ReadAt(p []byte, at int64) (int, error) {
	file.mu.Lock()
	defer file.mu.Unlock()
	return file.readAt("read", p, at)
}

// readAt reads at a place, and does not change where Read continues. file.mu is held.
func (file *File) readAt(op string, p []byte, at int64) (int, error) {
	if err := file.check(op, file.readable()); err != nil {
		return 0, err
	}
	n, err := file.content.readAt(p, at)
	if err != nil && err != io.EOF {
		err = fail(op, file.name, err)
	}
	return n, err
}

// Write implements [io.Writer]. With O_APPEND it writes at the end of what is there, wherever
// Read is. It writes all of p or nothing.
func (file *File) Write(p []byte) (int, error) {
	file.mu.Lock()
	defer file.mu.Unlock()
	if err := file.check("write", file.writable()); err != nil {
		return 0, err
	}
	end, err := file.content.writeAt(p, file.at, file.flag&os.O_APPEND != 0)
	if err != nil {
		return 0, fail("write", file.name, err)
	}
	file.at = end
	return len(p), nil
}

// WriteAt implements [io.WriterAt]. As in package os, it is an error with O_APPEND.
func (file *File) WriteAt(p []byte, at int64) (int, error) {
	file.mu.Lock()
	defer file.mu.Unlock()
	if err := file.check("write", file.writable() && file.flag&os.O_APPEND == 0); err != nil {
		return 0, err
	}
	if _, err := file.content.writeAt(p, at, false); err != nil {
		return 0, fail("write", file.name, err)
	}
	return len(p), nil
}

// Seek implements [io.Seeker]. A place after the end is allowed: a Write there fills what is
// between with zeros.
func (file *File) Seek(offset int64, whence int) (int64, error) {
	file.mu.Lock()
	defer file.mu.Unlock()
	if err := file.check("seek", true); err != nil {
		return 0, err
	}
	switch whence {
	case io.SeekStart:
	case io.SeekCurrent:
		offset += file.at
	case io.SeekEnd:
		offset += file.content.describe().Size
	default:
		return 0, fail("seek", file.name, fs.ErrInvalid)
	}
	if offset < 0 {
		return 0, fail("seek", file.name, fs.ErrInvalid)
	}
	file.at = offset
	return offset, nil
}

// Truncate gives the file the size, with zeros at its end if it was smaller.
func (file *File) Truncate(size int64) error {
	file.mu.Lock()
	defer file.mu.Unlock()
	if err := file.check("truncate", file.writable()); err != nil {
		return err
	}
	return fail("truncate", file.name, file.content.truncate(size))
}

// Readdir returns the next children of a directory, at most n of them unless n is zero
// or less, as the method of [os.File] does.
func (file *File) Readdir(n int) ([]fs.FileInfo, error) {
	file.mu.Lock()
	defer file.mu.Unlock()
	switch {
	case file.closed:
		return nil, fail("readdir", file.name, fs.ErrClosed)
	case file.entries == nil:
		return nil, fail("readdir", file.name, workspace.ErrNotDir)
	}
	return file.entries.next(n, func() ([]fs.FileInfo, error) { return file.fs.ReadDir(file.name) })
}

// Sync stores what was written. The file stays open. The next store depends on the version that
// this one has written.
func (file *File) Sync() error {
	file.mu.Lock()
	defer file.mu.Unlock()
	if file.closed {
		return fail("sync", file.name, fs.ErrClosed)
	}
	if file.content == nil || !file.writable() {
		return nil
	}
	return fail("sync", file.name, file.fs.store(file.content))
}

// Close stores what was written, unless it was discarded, and closes the file. After an
// error the stored file is as it was before.
func (file *File) Close() error {
	file.mu.Lock()
	defer file.mu.Unlock()
	if file.closed {
		return fail("close", file.name, fs.ErrClosed)
	}
	file.closed = true
	defer file.unlock()
	if file.content == nil || !file.writable() {
		return nil
	}
	return fail("close", file.name, file.fs.close(file.content))
}

// Lock waits until no other file that is open for writing under the same name holds the lock,
// and takes it. It excludes users of the same FS only; others are noticed when the file is
// stored. Close gives the lock back. It is an error for a file that holds it already.
func (file *File) Lock() error {
	file.mu.Lock()
	defer file.mu.Unlock()
	if err := file.check("lock", !file.locks); err != nil {
		return err
	}
	select {
	case file.content.locked <- struct{}{}:
		file.locks = true
		return nil
	case <-file.fs.ctx.Done():
		return fail("lock", file.name, file.fs.ctx.Err())
	}
}

// Unlock gives the lock back, if the file holds it.
func (file *File) Unlock() error {
	file.mu.Lock()
	defer file.mu.Unlock()
	if err := file.check("unlock", true); err != nil {
		return err
	}
	file.unlock()
	return nil
}

// unlock gives the lock back, if the file holds it. file.mu is held.
func (file *File) unlock() {
	if file.locks {
		<-file.content.locked
		file.locks = false
	}
}

// store stores a content before or after a change of its name, and not beside it.
func (f *FS) store(c *content) error {
	defer f.storing(c)()
	return c.store()
}

// close stores a content, and forgets it when no file is open for writing any more.
func (f *FS) close(c *content) error {
	err := f.store(c)
	f.mu.Lock()
	defer f.mu.Unlock()
	if name, last := c.detach(); last && f.written[name] == c {
		delete(f.written, name)
	}
	return err
}

// Discard makes Close store nothing of what has been written since the last store, for
// a caller that knows that it is not whole.
func (file *File) Discard() {
	if file.content != nil && file.writable() {
		file.content.discard()
	}
}

// dirEntries are the children of an open directory, which are listed when the first of
// them is asked for.
type dirEntries struct {
	info   workspace.FileInfo
	rest   []fs.FileInfo // those that have not been returned yet
	listed bool
}

// next returns the next n entries, or all that are left if n is not above zero. At the end,
// that is [io.EOF] for an n above zero, and an empty list otherwise. list is called once,
// unless it fails.
func (d *dirEntries) next(n int, list func() ([]fs.FileInfo, error)) ([]fs.FileInfo, error) {
	if !d.listed {
		all, err := list()
		if err != nil {
			return nil, err
		}
		d.rest, d.listed = all, true
	}
	if n > 0 && len(d.rest) == 0 {
		return nil, io.EOF
	}
	if n <= 0 || n > len(d.rest) {
		n = len(d.rest)
	}
	next := d.rest[:n:n]
	d.rest = d.rest[n:]
	return next, nil
}
