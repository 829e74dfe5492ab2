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
	"sync"
	"time"

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
	// LockTimeout is how long a line waits for another process that writes one.
	// Zero means ten seconds.
	LockTimeout time.Duration
}

// defaultLockTimeout is far longer than it takes to write a line.
const defaultLockTimeout = 10 * time.Second

// Log is an [observe.Observer] that appends each event to a file. It holds nothing
// that has to be closed, and is safe for concurrent use.
type Log struct {
	path string
	opts Options

	mu      sync.Mutex
	file    fs.FileInfo // guarded by mu; which file the last line is in, nil before the first
	size    int64       // guarded by mu; of the file after the last line
	last    string      // guarded by mu; the hash of the last line
	pending []Entry     // guarded by mu; of what was carried out and could not be written
}

var _ observe.VersionObserver = (*Log)(nil)

// errUnwritable is in the error of operations that are refused because of the log.
var errUnwritable = errors.New("the audit log cannot be written")

// Open returns the log in the file path, which is created if it does not exist. Only
// its owner can read it. Nil opts mean the zero Options.
//
// # Errors
//
// A file that cannot be opened, locked or written, and one with something else in it
// than a log.
func Open(path string, opts *Options) (*Log, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	l := &Log{path: absolute}
	if opts != nil {
		l.opts = *opts
		l.opts.Key = bytes.Clone(opts.Key)
	}
	if l.opts.LockTimeout == 0 {
		l.opts.LockTimeout = defaultLockTimeout
	}
	if err := l.write(nil); err != nil {
		return nil, fmt.Errorf("audit log %s: %w", path, err)
	}
	return l, nil
}

// WantsVersions implements [observe.VersionObserver].
func (l *Log) WantsVersions() bool { return true }

// Before implements [observe.Observer]. It refuses every operation while there are
// some that could not be recorded.
func (l *Log) Before(ctx context.Context, _ observe.Event) (context.Context, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.pending) == 0 {
		return ctx, nil
	}
	return ctx, l.flush()
}

// After implements [observe.Observer]: it records e.
func (l *Log) After(_ context.Context, e observe.Event) {
	if errors.Is(e.Err, errUnwritable) {
		return // it was not carried out, and there would be no end to these
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pending = append(l.pending, newEntry(e, l.opts.Key))
	_ = l.flush() // Before returns the error for the next operation
}

// flush writes what is pending. It needs l.mu.
func (l *Log) flush() error {
	if err := l.write(l.pending); err != nil {
		var pathError *fs.PathError
		if errors.As(err, &pathError) {
			err = pathError.Err // without the path of the host
		}
		return fmt.Errorf("%w: %w: %w", workspace.ErrUnavailable, errUnwritable, err)
	}
	l.pending = nil
	return nil
}

// write appends entries, and before them what the file lacks: its header, and the
// record of a line that was cut short. It needs l.mu, unless l is new.
func (l *Log) write(entries []Entry) error {
	f, info, err := l.open()
	if err != nil {
		return err
	}
	defer f.Close() // which also unlocks it
	end, err := l.end(f, info)
	if err != nil {
		return err
	}
	lines, last := end.separator, end.last
	for _, e := range append(end.missing, entries...) {
		if e.Log == nil || e.Torn > 0 {
			e.Prev = last
		}
		line, hash, err := e.encode()
		if err != nil {
			return err
		}
		lines, last = append(lines, line...), hash
	}
	n, err := f.Write(lines)
	if err == nil && l.opts.Sync && n > 0 {
		err = f.Sync()
	}
	if err != nil {
		return err // what was written of the lines is found the next time
	}
	l.file, l.size, l.last = info, info.Size()+int64(n), last
	return nil
}

// maxReplaced bounds how often the file is opened again because it was renamed
// before it could be locked.
const maxReplaced = 10

// open opens the file and locks it.
func (l *Log) open() (*os.File, fs.FileInfo, error) {
	for range maxReplaced {
		f, err := os.OpenFile(l.path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
		if err != nil {
			return nil, nil, err
		}
		info, err := l.lock(f)
		if err != nil {
			f.Close()
			return nil, nil, err
		}
		if named, err := os.Stat(l.path); err == nil && os.SameFile(named, info) {
			return f, info, nil
		}
		f.Close()
	}
	return nil, nil, errors.New("the file is replaced all the time")
}

// lockPause is the time between two attempts to lock the file.
const lockPause = time.Millisecond

// lock waits until no other process writes to f, and describes f.
func (l *Log) lock(f *os.File) (fs.FileInfo, error) {
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is not a regular file")
	}
	if err != nil {
		return nil, err
	}
	for deadline := time.Now().Add(l.opts.LockTimeout); ; time.Sleep(lockPause) {
		locked, err := tryLock(f)
		switch {
		case err != nil:
			return nil, fmt.Errorf("it cannot be locked: %w", err)
		case locked:
			return f.Stat()
		case time.Now().After(deadline):
			return nil, fmt.Errorf("another process has locked it for %v", l.opts.LockTimeout)
		}
	}
}

// end is where a log ends.
type end struct {
	last      string  // the hash of the last line
	separator []byte  // ends that line if it was cut short
	missing   []Entry // what has to be written before other lines
}

// end returns where f ends. It looks at f only if others have written to it.
func (l *Log) end(f *os.File, info fs.FileInfo) (end, error) {
	same := l.file != nil && os.SameFile(l.file, info)
	switch {
	case same && info.Size() == l.size:
		return end{last: l.last}, nil
	case same && info.Size() < l.size:
		return end{}, errors.New("it is shorter than it was: somebody has cut lines off")
	case info.Size() == 0:
		return end{missing: []Entry{newHeader(l.last)}}, nil
	}
	whole, headed, err := beginning(f)
	if err != nil {
		return end{}, err
	}
	line, err := lastLine(f, info.Size())
	if err != nil {
		return end{}, err
	}
	switch {
	case whole && line[len(line)-1] == '\n':
		return end{last: hashOf(trimEnd(line))}, nil
	case !headed:
		header := newHeader("")
		header.Torn = len(line)
		return end{last: hashOf(line), separator: []byte("\n"), missing: []Entry{header}}, nil
	}
	torn := Entry{Torn: len(line), Time: time.Now().UTC()}
	return end{last: hashOf(line), separator: []byte("\n"), missing: []Entry{torn}}, nil
}

// headerStart is what every log begins with.
const headerStart = `{"log":{`

// beginning reports whether the first line of f is whole, and whether the header,
// which a crash may have cut short, is.
func beginning(f io.ReaderAt) (whole, headed bool, err error) {
	first := make([]byte, maxText)
	n, err := f.ReadAt(first, 0)
	if err != nil && err != io.EOF {
		return false, false, err
	}
	line, rest, whole := bytes.Cut(first[:n], []byte("\n"))
	var e Entry
	if err := json.Unmarshal(line, &e); err == nil && e.Log != nil && e.Log.Version == formatVersion {
		return whole, whole, nil
	}
	torn := bytes.HasPrefix([]byte(headerStart), line) || bytes.HasPrefix(line, []byte(headerStart))
	if torn && !whole {
		return false, false, nil
	}
	second, _, _ := bytes.Cut(rest, []byte("\n"))
	if torn && json.Unmarshal(second, &e) == nil && e.Log != nil && e.Torn == len(line) {
		return true, true, nil
	}
	return false, false, errors.New("there is something else in it than an audit log")
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
