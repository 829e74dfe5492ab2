package osfile

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"
	"time"

	"github.com/workspacekit/workspacekit/workspace"
)

const (
	// window is how much of a file larger than the limit is read at a time.
	window = 1 << 20
	// appendAttempts is how often what was appended is added to what others have
	// written meanwhile.
	appendAttempts = 100
)

// content is the bytes of an open file. All files that are open for writing under one name
// share theirs. There are two kinds:
//
//	whole       all bytes are in data: of a file that is written to, or is within the limit
//	not whole   a window of a larger file, which is only read
//
// It is stored by its first writer that closes or syncs, if it is dirty, and again by later
// ones if it has become so since. prefix and rewritten say whether something was appended and
// nothing else: then data[:prefix] is as it was stored. What was appended can be added to what
// others have stored meanwhile; after any other change the store then fails.
type content struct {
	fs     *FS
	locked chan struct{} // has an element while a file holds the lock

	mu        sync.Mutex             // guards what follows
	info      workspace.FileInfo     // as it was when the file was opened or stored last, with the present size
	data      []byte                 // all bytes if whole, or those from base on
	base      int64                  // the offset of data in the file
	whole     bool                   // data is all of the file
	writers   int                    // open files that can write
	created   bool                   // no file has been open yet
	dirty     bool                   // data differs from what is stored
	discarded bool                   // it must not be stored
	failed    error                  // of a write, after which data is not what the caller meant
	condition workspace.WriteOptions // of the next store
	prefix    int                    // how much of data is as it was stored
	rewritten bool                   // something else has changed than the end
	follows   bool                   // a new file may be the target of a symlink
}

// newContent returns the content of a file that has been described and not read.
func (f *FS) newContent(info workspace.FileInfo) *content {
	return &content{fs: f, info: info, locked: make(chan struct{}, 1)}
}

// load returns the content of a stored file: the whole of it if it is not larger than the
// limit. Its next store will depend on the version that was read.
func (f *FS) load(name string) (*content, error) {
	stream, info, err := f.ws.Open(f.ctx, name, nil)
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	c := f.newContent(info)
	if info.Size > f.Limit() {
		return c, nil
	}
	data, err := io.ReadAll(io.LimitReader(stream, f.Limit()+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > f.Limit() {
		return nil, workspace.ErrTooLarge // it grows
	}
	c.data, c.whole, c.prefix = data, true, len(data)
	c.info.Size = int64(len(data))
	c.condition.IfVersion = info.Version
	return c, nil
}

// describe returns what is known of the file. Its size counts what has been written and
// not stored.
func (c *content) describe() workspace.FileInfo {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.info
}

// require sets the condition of the next store. After a conflict, that store fails, even if
// all that was written was appended: a new attempt would not have the caller's condition.
func (c *content) require(condition workspace.WriteOptions) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.condition, c.rewritten, c.follows = condition, true, false
}

// isDirty reports whether the content is not stored yet.
func (c *content) isDirty() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.dirty
}

// required returns the version that the file must have for the next store, empty if any will do.
func (c *content) required() workspace.Version {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.condition.IfVersion
}

// moved tells the content the version of its file under a new name.
func (c *content) moved(version workspace.Version) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.condition.IfVersion, c.info.Version = version, version
}

// rename gives the content another name to be stored under. A new file must be new under that
// name, too, unless it replaces what is there. rename and discard are called with the lock of the
// FS, so no method of a content may take that lock.
func (c *content) rename(name string, replaces bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, c.info.Name = workspace.Split(name)
	c.info.Path = name
	c.condition.IfNotExist = c.condition.IfNotExist && !replaces
}

// discard makes the content store nothing more.
func (c *content) discard() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.discarded = true
}

// attach counts a file that can write, and reports whether it is the first file that is open
// under a new name. With truncate it drops what other writers have written, also one whose
// Close has stored it and does not count down yet, and the version that the next store needs.
func (c *content) attach(truncate bool) (created bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.writers++
	if truncate {
		c.data, c.failed, c.rewritten, c.condition.IfVersion = nil, nil, true, ""
		c.changed()
	}
	created, c.created = c.created, false
	return created
}

// detach counts down, and reports whether no file is left that can write.
func (c *content) detach() (name string, last bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.writers--
	return c.info.Path, c.writers == 0
}

// changed keeps the description in step with data. c.mu is held.
func (c *content) changed() {
	c.dirty = true
	c.info.Size, c.info.ModTime = int64(len(c.data)), time.Now()
}

// readAt reads as [io.ReaderAt] does. Of a file larger than the limit only a window is
// held, which moves to where the caller reads.
func (c *content) readAt(p []byte, at int64) (n int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at < 0 {
		return 0, fs.ErrInvalid
	}
	for n < len(p) {
		if at >= c.info.Size {
			return n, io.EOF
		}
		if !c.whole && (at < c.base || at >= c.base+int64(len(c.data))) {
			if err := c.move(at); err != nil {
				return n, err
			}
		}
		copied := copy(p[n:], c.data[at-c.base:])
		n, at = n+copied, at+int64(copied)
	}
	return n, nil
}

// move reads the window of a large file that begins at an offset in it. c.mu is held. The file
// must be the one that was opened, by its version and size: another window would be of other
// bytes, which is [workspace.ErrConflict].
func (c *content) move(at int64) error {
	stream, info, err := c.fs.ws.Open(c.fs.ctx, c.info.Path, &workspace.OpenOptions{Offset: at, Length: window})
	if err != nil {
		return err
	}
	defer stream.Close()
	if info.Version != c.info.Version || info.Size != c.info.Size {
		return workspace.ErrConflict
	}
	data, err := io.ReadAll(stream)
	if err == nil && len(data) == 0 {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return err
	}
	c.data, c.base = data, at
	return nil
}

// writeAt writes at an offset, or at the end, and returns where it ended. Bytes between the
// old end and at are zeros. p is copied. After a write beyond the limit, the content can only be
// stored again once it has been truncated.
func (c *content) writeAt(p []byte, at int64, atEnd bool) (end int64, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	size := int64(len(c.data))
	if atEnd {
		at = size
	}
	if at < 0 {
		return 0, fs.ErrInvalid
	}
	end = at + int64(len(p))
	if err := c.check(end); err != nil { // below zero if at is too large for a sum
		c.failed = err
		return 0, err
	}
	c.rewritten = c.rewritten || !atEnd
	if end > size {
		c.data = append(c.data, make([]byte, end-size)...)
	}
	copy(c.data[at:], p)
	c.changed()
	return end, nil
}

// check returns the error of a size that is larger than the limit.
func (c *content) check(size int64) error {
	if limit := c.fs.Limit(); size > limit || size < 0 {
		return fmt.Errorf("%w: it would have more than %d bytes", workspace.ErrTooLarge, limit)
	}
	return nil
}

// truncate cuts the content to size, or extends it with zeros.
func (c *content) truncate(size int64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if size < 0 {
		return fs.ErrInvalid
	}
	if err := c.check(size); err != nil {
		return err
	}
	if had := int64(len(c.data)); size <= had {
		c.data = c.data[:size:size]
	} else {
		c.data = append(c.data, make([]byte, size-had)...)
	}
	c.failed, c.rewritten = nil, true
	c.changed()
	return nil
}

// store writes the content to the workspace, if it has changed.
//
// For example, a file with "a\n" is opened with O_APPEND, "c\n" is written to it, and
// meanwhile somebody else has stored "a\nb\n":
//
//	write "a\nc\n" if the version is still that of "a\n"   workspace.ErrConflict
//	read "a\nb\n", with its version
//	write "a\nb\nc\n" if that is still the version         stored
func (c *content) store() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.discarded:
		return nil
	case c.failed != nil:
		return c.failed
	case !c.dirty:
		return nil
	}
	err := c.write()
	for attempts := appendAttempts; attempts > 0 && !c.rewritten && changedByOthers(err); attempts-- {
		current, loadErr := c.fs.load(c.info.Path)
		if loadErr != nil {
			return loadErr
		}
		if err := c.check(int64(len(current.data) + len(c.data) - c.prefix)); err != nil || !current.whole {
			return cmp.Or(err, error(workspace.ErrTooLarge))
		}
		c.data = append(current.data, c.data[c.prefix:]...)
		c.prefix, c.condition = current.prefix, current.condition
		err = c.write()
	}
	return err
}

// changedByOthers reports whether a store failed because the file is not as it was when
// it was read, or exists by now.
func changedByOthers(err error) bool {
	return errors.Is(err, workspace.ErrConflict) || errors.Is(err, fs.ErrExist)
}

// write is one attempt to store the content. c.mu is held. A symlink whose target does not exist
// has the name, but no file: then the target is what must be new.
func (c *content) write() error {
	err := c.writeAs(c.info.Path)
	if !c.follows || !c.condition.IfNotExist || !errors.Is(err, fs.ErrExist) {
		return err
	}
	target, resolveErr := c.fs.ws.Resolve(c.fs.ctx, c.info.Path)
	if resolveErr != nil || target == c.info.Path {
		return err
	}
	return c.writeAs(target)
}

// writeAs writes the content to the file name. Without conditional writes, only that the file
// is new is tested, before and not with the write.
func (c *content) writeAs(name string) error {
	condition := c.condition
	if !c.fs.ws.Capabilities().ConditionalWrite {
		if condition.IfNotExist {
			if _, err := c.fs.ws.Stat(c.fs.ctx, name); !errors.Is(err, fs.ErrNotExist) {
				return cmp.Or(err, error(fs.ErrExist))
			}
		}
		condition = workspace.WriteOptions{}
	}
	version, err := c.fs.ws.WriteFile(c.fs.ctx, name, c.data, &condition)
	if err != nil {
		return err
	}
	c.info.Version, c.dirty, c.prefix, c.rewritten = version, false, len(c.data), false
	c.condition = workspace.WriteOptions{IfVersion: version} // also for a file that was opened without O_TRUNC
	return nil
}
