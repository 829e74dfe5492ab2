package remotegrep

import (
	"context"
	"slices"
	"strings"

	"github.com/workspacekit/workspacekit/providers/container/internal/shell"
)

const (
	// batchSize is how many bytes are read ahead, at least of one file.
	batchSize = 16 << 20
	// batchFiles is how many files are read ahead.
	batchFiles = 2048
	// largeFile is the size of a file that is not read together with others.
	largeFile = 1 << 20
	// maxAhead is how many bytes are kept that nobody has asked for.
	maxAhead = 64 << 20
)

// read returns the bytes of e, or if some is not nil perhaps only some lines, and
// sets some to their numbers. For a binary file it returns a NUL, and nothing for a
// file without a match. It returns false for a file that is read alone.
func (fs *files) read(ctx context.Context, e *file, some *[]int) (data []byte, ok bool, err error) {
	if data, ok, done := fs.take(e, some); done {
		return data, ok, nil
	}
	fs.asking.Lock()
	defer fs.asking.Unlock()
	if err := fs.lookUpTo(ctx, e.Name); err != nil {
		return nil, false, err
	}
	data, ok, done := fs.take(e, some)
	if done || !e.seen { // or not wanted
		return data, ok, nil
	}
	if err := fs.readBatch(ctx, fs.batch(e)); err != nil {
		return nil, false, err
	}
	data, ok, _ = fs.take(e, some)
	return data, ok, nil
}

// lookUpTo looks into the wanted files up to name. fs.asking is held.
func (fs *files) lookUpTo(ctx context.Context, name string) error {
	for len(fs.wanted) > 0 && fs.wanted[0].Name <= name {
		if err := fs.choose(ctx, fs.nextWindow()); err != nil {
			return err
		}
	}
	return nil
}

// nextWindow takes the files that are looked into next, one at least.
func (fs *files) nextWindow() []*file {
	some := fitting(fs.wanted, fs.window)
	fs.wanted, fs.window = fs.wanted[len(some):], min(4*fs.window, maxWindow)
	return some
}

// fitting returns the first of some files that have at most size bytes together, and
// one if it has more.
func fitting(some []*file, size int64) []*file {
	count := 0
	for count < len(some) && (count == 0 || some[count].Size <= size) {
		size -= some[count].Size
		count++
	}
	return some[:count:count]
}

// choose finds out which of some files have to be read: text that may have a
// match. A binary file is reported as skipped even if it has none. The programs
// open files by their paths, which a symlink may have changed: the exact view uses
// nothing of what they read, and reads one by one the files that may match.
func (fs *files) choose(ctx context.Context, some []*file) error {
	byLine, byFile := fs.parts(some)
	if err := fs.look(ctx, byLine, true); err != nil {
		return err
	}
	if err := fs.look(ctx, byFile, false); err != nil {
		return err
	}
	if !fs.c.Exact {
		if err := fs.binarySniff(ctx, some); err != nil {
			return err
		}
	}
	fs.mu.Lock()
	defer fs.mu.Unlock()
	for _, e := range some {
		e.seen = true
		e.needed = e.content != binary && (e.content != plainText || e.matches)
		if e.content != plainText { // a grep may stop at a NUL
			e.data, e.numbers = nil, nil
		}
		if fs.c.Exact {
			e.alone = true
			continue
		}
		if e.needed {
			fs.needed = append(fs.needed, e)
			fs.ahead += int64(len(e.data))
		}
	}
	return nil
}

// take returns what read returns, if that is known. It forgets what has been read
// ahead: a file that is asked for again is read alone.
func (fs *files) take(e *file, some *[]int) (data []byte, ok, done bool) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	switch {
	case !e.seen:
		return nil, false, false
	case e.content == binary:
		return []byte{0}, true, true
	case !e.needed:
		return nil, true, true
	case e.data == nil:
		return nil, false, e.alone
	}
	if e.numbers != nil {
		*some = e.numbers
	}
	data = e.data
	fs.ahead -= int64(len(data))
	e.data, e.numbers, e.alone = nil, nil, true
	return data, true, true
}

// batch returns the files that are read with e, those before it that nobody has
// asked for included: several workers ask out of order. fs.asking is held.
func (fs *files) batch(e *file) []*file {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	at, _ := slices.BinarySearchFunc(fs.needed, e.Name, func(e *file, name string) int {
		return strings.Compare(e.Name, name)
	})
	for fs.first < at && fs.needed[fs.first].isRead() {
		fs.first++
	}
	if batch := fs.batchFrom(fs.first); slices.Contains(batch, e) {
		return batch
	}
	return fs.batchFrom(at)
}

// isRead reports whether e is read alone, or has been read.
func (e *file) isRead() bool { return e.alone || e.data != nil }

// batchFrom returns the needed file at an index, and those after it that have not
// been read.
func (fs *files) batchFrom(at int) []*file {
	batch, size := []*file{fs.needed[at]}, fs.needed[at].Size
	for _, e := range fs.needed[at+1:] {
		if e.isRead() {
			continue
		}
		if size += e.Size; len(batch) == batchFiles || size > batchSize {
			break
		}
		batch = append(batch, e)
	}
	return batch
}

// readBatch reads files ahead. If too much has been read ahead by then, that is
// dropped and will be read again. fs.asking is held.
func (fs *files) readBatch(ctx context.Context, batch []*file) error {
	fs.drop()
	p, err := fs.fetch(ctx, batch, 0)
	if err != nil {
		return err
	}
	fs.mu.Lock()
	defer fs.mu.Unlock()
	for _, e := range batch {
		e.data = p.sent[e]
		e.alone = e.alone || p.isLost(e)
		fs.ahead += int64(len(e.data))
	}
	return nil
}

// drop drops what has been read ahead if it is too much.
func (fs *files) drop() {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if fs.ahead <= maxAhead {
		return
	}
	for _, e := range fs.needed {
		e.data, e.numbers = nil, nil
	}
	fs.ahead, fs.first = 0, 0
}

// fetch reads files at once: length bytes of each, or all if that is zero.
func (fs *files) fetch(ctx context.Context, batch []*file, length int64) (*batchReader, error) {
	p := newBatchReader(batch, length)
	_, err := fs.ask(ctx, p.read, "fetch", batch, shell.Number(length), p.marker)
	return p, err
}
