package audit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A rotation replaces the file of the log, which stays under another name. At every
// step the name of the log is that of a log with all lines, so that nothing is lost if
// the program is killed. With Keep of 2, file 3 is full:
//
//	             log   log.1  log.2  log.3  log.new
//	before       3     1      2      -      -
//	link         3     1      2      3      -         the same file has two names
//	create       3     1      2      3      4         which begins with its header
//	rename       4     1      2      3      -
//	remove       4     -      2      3      -
//
// The link is made before the operation whose line begins the new file, which is refused if
// that fails. Whoever waits for the lock of file 3 meanwhile notices that the name is that of
// another file. A rotation that was cut off after the link or the new file begins again.
//
// The numbers come from the header, never from the names beside the log: whoever may
// create files there must not decide which ones are removed.

// rotate continues the log in a new file, or only links the full one if nothing is pending.
// f is the file of the log, which info describes, is locked, and ends with the line last.
func (l *Log) rotate(f *os.File, info fs.FileInfo, last string) error {
	if l.opts.Sync { // nobody does it later, and it may have failed for the last lines
		if err := l.sync(f); err != nil {
			return err
		}
	}
	_, head, err := beginning(f)
	if err != nil {
		return err
	}
	older, err := rotated(l.path)
	if err != nil {
		return err
	}
	number, oldest := max(head.Number, 1), max(head.Oldest, 1) // 0 is of before files had numbers
	if err := l.link(number, info); err != nil || len(l.pending) == 0 {
		return err
	}
	if l.opts.Keep > 0 {
		oldest = max(oldest, number-l.opts.Keep+1)
	}
	temp := l.path + ".new"
	if err := l.create(temp, newHeader(last, number+1, oldest)); err != nil {
		return err
	}
	if err := os.Rename(temp, l.path); err != nil {
		return err
	}
	if l.opts.Keep == 0 {
		return nil
	}
	for _, n := range older {
		if n < oldest {
			if err := os.Remove(numbered(l.path, n)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}

// link gives the file of the log, which info describes, the name with a number, unless a
// rotation that was cut off has done so.
func (l *Log) link(number int, info fs.FileInfo) error {
	err := os.Link(l.path, numbered(l.path, number))
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	if linked, err := os.Lstat(numbered(l.path, number)); err == nil && os.SameFile(linked, info) {
		return nil
	}
	return fmt.Errorf("another file has the name with the number %d, which is the next: move it away", number)
}

// create creates the file path, in the place of one from a rotation that was cut off,
// with one line.
func (l *Log) create(path string, header Entry) error {
	line, _, err := header.encode()
	if err != nil {
		return err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(line)
	if err == nil && l.opts.Sync {
		err = l.sync(f)
	}
	return errors.Join(err, f.Close())
}

// firstHeader returns the header of a file of the log that has just been created. It
// continues the file that was renamed last, if there is one, whoever wrote to it. Where the last
// line of l is in no file anymore, it continues that line, so that it shows that one was removed.
func (l *Log) firstHeader(ctx context.Context) (Entry, error) {
	older, err := rotated(l.path)
	if err != nil {
		return Entry{}, err
	}
	for _, number := range slices.Backward(older) {
		head, last, err := l.renamed(ctx, number)
		if err != nil {
			return Entry{}, err
		}
		if head == nil {
			continue
		}
		header := newHeader(l.last, number+1, head.Oldest)
		if header.Prev == "" || slices.ContainsFunc(older, func(n int) bool { return l.endedIn(numbered(l.path, n)) }) {
			header.Prev = last
		}
		return header, nil
	}
	return newHeader(l.last, 1, 1), nil
}

// renamed returns the header of the file with a number, and the hash of its last line. The
// header is nil if it is something else.
func (l *Log) renamed(ctx context.Context, number int) (head *Header, last string, err error) {
	f, err := os.Open(numbered(l.path, number))
	if err != nil {
		return nil, "", err
	}
	defer f.Close()
	info, err := l.lock(ctx, f) // nobody writes to it under its old name
	if err != nil {
		return nil, "", err
	}
	_, head, err = beginning(f)
	if err != nil || head == nil {
		return nil, "", nil
	}
	line, err := lastLine(f, info.Size())
	return head, hashOf(trimEnd(line)), err
}

// endedIn reports whether the last line of l is in the file path, which may have others after it.
func (l *Log) endedIn(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	line, err := lastLine(f, l.size)
	return err == nil && hashOf(trimEnd(line)) == l.last
}

// rotated returns the numbers of the files that the log path may have been rotated to, sorted.
func rotated(path string) (numbers []int, err error) {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		text, ok := strings.CutPrefix(e.Name(), filepath.Base(path)+".")
		if n, err := strconv.Atoi(text); ok && err == nil && n > 0 && strconv.Itoa(n) == text && e.Type().IsRegular() {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	return numbers, nil
}

// numbered returns the path of the file with a number.
func numbered(path string, number int) string { return fmt.Sprintf("%s.%d", path, number) }

// Files returns the files of the log path, the oldest first: those that it was rotated
// to, and path. Files with other numbers than its header keeps are none of them.
//
// # Errors
//
// A folder that cannot be listed, and a log that does not exist.
func Files(path string) ([]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	older, err := rotated(path)
	if err != nil {
		return nil, err
	}
	_, head, err := beginning(f)
	known := err == nil && head != nil && head.Number > 0
	var files []string
	for _, n := range older {
		if !known || head.Oldest <= n && n < head.Number {
			files = append(files, numbered(path, n))
		}
	}
	return append(files, path), nil
}
