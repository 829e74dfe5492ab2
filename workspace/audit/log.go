package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/workspacekit/workspacekit/internal/filelock"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/observe"
)

// Options are the settings of a [Log].
type Options struct {
	// Key lets the log have the HMAC-SHA-256 of names with this key in place of the
	// names. Who has the key can find out which names they are; [LoadKey] keeps it
	// in a file. Empty means that the names are in the log.
	Key []byte
	// Sync lets each line reach the disk before its operation returns, so that it
	// survives a loss of power. False leaves that to the operating system: a line
	// then survives the end of the program, however that comes.
	Sync bool
	// LockTimeout is how long a line waits for another process that writes one, also
	// after the context of its operation has ended. Zero means ten seconds.
	LockTimeout time.Duration
	// MaxSize is how many bytes a file has when the log continues in a new one: see the
	// package comment. Zero means that the log is one file.
	MaxSize int64
	// Keep is how many older files are kept. Zero means all.
	Keep int
}

// defaultLockTimeout is far longer than it takes to write a line.
const defaultLockTimeout = 10 * time.Second

// Log is an [observe.Observer] that appends each event to a file. It holds nothing
// that has to be closed, and is safe for concurrent use.
type Log struct {
	path string
	opts Options
	sync func(*os.File) error // File.Sync, but in tests

	mu       sync.Mutex
	file     fs.FileInfo // guarded by mu; which file the last line is in, nil before the first
	seed     string      // guarded by mu; in the header of that file
	size     int64       // guarded by mu; of the file after the last line
	last     string      // guarded by mu; the hash of the last line
	pending  []Entry     // guarded by mu; of what was carried out and could not be written
	unsynced bool        // guarded by mu; lines were written that may not have reached the disk
}

var _ observe.VersionObserver = (*Log)(nil)

// errUnwritable is in the error of operations that are refused because of the log.
var errUnwritable = errors.New("the audit log cannot be written")

// Open returns the log in the file path, which is created, for its owner alone to read,
// if it does not exist. Nil opts mean the zero Options.
//
// # Errors
//
// A symlink; a file that cannot be opened, locked or written, and one with something else
// in it than a log; [fs.ErrInvalid] for an option below zero, and [errors.ErrUnsupported] for
// MaxSize on Windows.
func Open(path string, opts *Options) (*Log, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	l := &Log{path: absolute, sync: (*os.File).Sync}
	if opts != nil {
		l.opts = *opts
		l.opts.Key = bytes.Clone(opts.Key)
	}
	if l.opts.LockTimeout == 0 {
		l.opts.LockTimeout = defaultLockTimeout
	}
	switch {
	case l.opts.MaxSize < 0, l.opts.Keep < 0, l.opts.LockTimeout < 0:
		return nil, fmt.Errorf("audit log %s: MaxSize, Keep or LockTimeout is below zero: %w", path, fs.ErrInvalid)
	case l.opts.MaxSize > 0 && !filelock.Replaces:
		return nil, fmt.Errorf("audit log %s: MaxSize: %w on this system", path, errors.ErrUnsupported)
	}
	if err := l.write(context.Background()); err != nil {
		return nil, fmt.Errorf("audit log %s: %w", path, err)
	}
	return l, nil
}

// WantsVersions implements [observe.VersionObserver].
func (l *Log) WantsVersions() bool { return true }

// Before implements [observe.Observer]. It refuses every operation while there are
// some that could not be recorded, or its line would begin a new file and cannot, and waits
// for another process no longer than ctx lasts.
func (l *Log) Before(ctx context.Context, _ observe.Event) (context.Context, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.pending) == 0 && !l.unsynced && !l.full() {
		return ctx, nil
	}
	return ctx, l.flush(ctx)
}

// full reports whether the next line is to begin a new file. Others write to the file too.
func (l *Log) full() bool {
	if l.opts.MaxSize == 0 {
		return false
	}
	info, err := os.Stat(l.path)
	return err == nil && info.Size() >= l.opts.MaxSize
}

// After implements [observe.Observer]: it records e, also if its context has ended.
func (l *Log) After(_ context.Context, e observe.Event) {
	if errors.Is(e.Err, errUnwritable) {
		return // it was not carried out, and there would be no end to these
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pending = append(l.pending, newEntry(e, l.opts.Key))
	_ = l.flush(context.Background()) // Before returns the error for the next operation
}

// flush writes what is pending. It needs l.mu.
func (l *Log) flush(ctx context.Context) error {
	if err := l.write(ctx); err != nil {
		if ended := ctx.Err(); ended != nil {
			return fmt.Errorf("%w: %w", ended, errUnwritable)
		}
		var pathError *fs.PathError
		var linkError *os.LinkError
		switch { // without the paths of the host
		case errors.As(err, &pathError):
			err = pathError.Err
		case errors.As(err, &linkError):
			err = linkError.Err
		}
		return fmt.Errorf("%w: %w: %w", workspace.ErrUnavailable, errUnwritable, err)
	}
	return nil
}

// write appends what is pending, and before it what the file lacks: its header, and
// the record of a line that was cut short. It needs l.mu, unless l is new.
func (l *Log) write(ctx context.Context) error {
	f, info, err := l.open(ctx)
	if err != nil {
		return err
	}
	defer func() { f.Close() }() // which also unlocks it
	end, err := l.end(ctx, f, info)
	if err != nil {
		return err
	}
	if l.opts.MaxSize > 0 && info.Size() >= l.opts.MaxSize && len(end.missing) == 0 {
		if err := l.rotate(f, info, end.last); err != nil {
			return err
		}
		f.Close()
		if f, info, err = l.open(ctx); err != nil {
			return err
		}
		if end, err = l.end(ctx, f, info); err != nil {
			return err
		}
	}
	return l.append(f, info, end)
}

// append writes what is missing at the end of f, and what is pending. An entry whose
// line was written is not pending anymore, also if the lines after it, or the way to
// the disk, failed.
func (l *Log) append(f *os.File, info fs.FileInfo, end end) error {
	lines, last := end.separator, end.last
	var ends []int // of the line of each entry that is pending
	for i, e := range append(end.missing, l.pending...) {
		if e.Log == nil || e.Torn > 0 {
			e.Prev = last
		}
		line, hash, err := e.encode()
		if err != nil {
			return err
		}
		lines, last = append(lines, line...), hash
		if i >= len(end.missing) {
			ends = append(ends, len(lines))
		}
	}
	n, err := f.Write(lines)
	written, _ := slices.BinarySearch(ends, n+1)
	l.pending = slices.Delete(l.pending, 0, written)
	known := !l.unsynced && l.file != nil && os.SameFile(l.file, info) // its name is on the disk
	l.unsynced = l.opts.Sync && (l.unsynced || n > 0)
	if err != nil {
		return err // a part of a line is found the next time
	}
	l.file, l.seed, l.size, l.last = info, end.seed, info.Size()+int64(n), last
	if l.unsynced {
		if err := l.sync(f); err != nil {
			return err
		}
		if !known {
			if err := l.syncFolder(); err != nil {
				return err
			}
		}
		l.unsynced = false
	}
	return nil
}

// syncFolder lets the names of the files reach the disk. Windows does that by itself.
func (l *Log) syncFolder() error {
	if runtime.GOOS == "windows" {
		return nil
	}
	folder, err := os.Open(filepath.Dir(l.path))
	if err != nil {
		return err
	}
	defer folder.Close()
	return l.sync(folder)
}

// maxReplaced bounds how often the file is opened again because it was renamed
// before it could be locked.
const maxReplaced = 10

// open opens the file and locks it.
func (l *Log) open(ctx context.Context) (*os.File, fs.FileInfo, error) {
	for range maxReplaced {
		f, err := os.OpenFile(l.path, os.O_RDWR|os.O_APPEND, 0)
		if errors.Is(err, fs.ErrNotExist) {
			// O_EXCL does not create what a dangling symlink leads to.
			if f, err = os.OpenFile(l.path, os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600); err == nil {
				l.file = nil // a new file can have the inode of the last one
			}
		}
		var info fs.FileInfo
		if err == nil {
			info, err = l.lock(ctx, f)
		}
		if err != nil && !errors.Is(err, fs.ErrExist) { // or else another process has just created it
			f.Close() // f may be nil
			return nil, nil, err
		}
		named, err := os.Lstat(l.path)
		switch {
		case err == nil && named.Mode().Type() == fs.ModeSymlink: // a rotation would rename it, and not the file
			f.Close()
			return nil, nil, errors.New("it is a symlink: name the file that it leads to")
		case err == nil && os.SameFile(named, info):
			return f, info, nil
		}
		f.Close()
	}
	return nil, nil, errors.New("the file is replaced all the time")
}

// lock waits until no other process writes to f, and describes f.
func (l *Log) lock(ctx context.Context, f *os.File) (fs.FileInfo, error) {
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is not a regular file")
	}
	if err != nil {
		return nil, err
	}
	if err := filelock.Lock(ctx, f, l.opts.LockTimeout); err != nil {
		return nil, err
	}
	return f.Stat()
}

// end is where a log ends.
type end struct {
	seed      string  // in the header
	last      string  // the hash of the last line
	separator []byte  // ends that line if it was cut short
	missing   []Entry // what has to be written before other lines
}

// end returns where f ends. It looks at f only if others have written to it.
func (l *Log) end(ctx context.Context, f *os.File, info fs.FileInfo) (end, error) {
	same := l.file != nil && os.SameFile(l.file, info)
	switch {
	case same && info.Size() == l.size:
		return end{seed: l.seed, last: l.last}, nil
	case info.Size() == 0 && !same:
		header, err := l.firstHeader(ctx)
		if err != nil {
			return end{}, err
		}
		return end{seed: header.Log.Seed, missing: []Entry{header}}, nil
	}
	whole, head, err := beginning(f)
	if err != nil {
		return end{}, err
	}
	if same && info.Size() < l.size && (head == nil || head.Seed == l.seed) { // and no new file with its inode
		return end{}, errors.New("it is shorter than it was: somebody has cut lines off")
	}
	line, err := lastLine(f, info.Size())
	if err != nil {
		return end{}, err
	}
	switch {
	case whole && line[len(line)-1] == '\n':
		return end{seed: head.Seed, last: hashOf(trimEnd(line))}, nil
	case head == nil:
		header, err := l.firstHeader(ctx)
		if err != nil {
			return end{}, err
		}
		header.Torn = len(line)
		return end{seed: header.Log.Seed, last: hashOf(line), separator: []byte("\n"), missing: []Entry{header}}, nil
	}
	torn := Entry{Torn: len(line), Time: time.Now().UTC()}
	return end{seed: head.Seed, last: hashOf(line), separator: []byte("\n"), missing: []Entry{torn}}, nil
}

// headerStart is what every log begins with.
const headerStart = `{"log":{`

// beginning reports whether the first line of f is whole, and returns its header, nil
// if a crash has cut that short.
func beginning(f io.ReaderAt) (whole bool, head *Header, err error) {
	first := make([]byte, maxText)
	n, err := f.ReadAt(first, 0)
	if err != nil && err != io.EOF {
		return false, nil, err
	}
	line, rest, whole := bytes.Cut(first[:n], []byte("\n"))
	var e Entry
	if err := json.Unmarshal(line, &e); err == nil && e.Log != nil && e.Log.Version == formatVersion {
		if !whole {
			return false, nil, nil
		}
		return true, e.Log, nil
	}
	torn := bytes.HasPrefix([]byte(headerStart), line) || bytes.HasPrefix(line, []byte(headerStart))
	if torn && !whole {
		return false, nil, nil
	}
	second, _, _ := bytes.Cut(rest, []byte("\n"))
	if torn && json.Unmarshal(second, &e) == nil && e.Log != nil && e.Torn == len(line) {
		return true, e.Log, nil
	}
	return false, nil, errors.New("there is something else in it than an audit log")
}

// lastLine returns the last line of f, which has size bytes, with its line end if it
// has one.
func lastLine(f io.ReaderAt, size int64) ([]byte, error) {
	tail := make([]byte, min(size, maxLine+1))
	if _, err := f.ReadAt(tail, size-int64(len(tail))); err != nil && err != io.EOF {
		return nil, err
	}
	start := bytes.LastIndexByte(trimEnd(tail), '\n') + 1
	if start == 0 && size > maxLine {
		return nil, errors.New("its last line is too long for an audit log")
	}
	return tail[start:], nil
}
