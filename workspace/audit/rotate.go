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
// Whoever waits for the lock of file 3 meanwhile notices that the name is that of
// another file. A rotation that was cut off after the link or the new file begins again.

// rotate continues the log in a new file. f is the file of the log, which info
// describes, is locked, and ends with the line last.
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
	number, oldest := max(head.Number, older.next()), head.Oldest
	if newest, err := os.Stat(older.newest()); err == nil && os.SameFile(newest, info) {
		number = older.next() - 1
	} else if err := os.Link(l.path, numbered(l.path, number)); err != nil {
		return err
	}
	if oldest == 0 { // a file from before files had numbers
		oldest = number
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
	for _, n := range older.numbers {
		if n < oldest {
			if err := os.Remove(numbered(l.path, n)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
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
	header := newHeader(l.last, older.next(), older.next())
	f, err := os.Open(older.newest())
	if errors.Is(err, fs.ErrNotExist) {
		return header, nil
	}
	if err != nil {
		return Entry{}, err
	}
	defer f.Close()
	info, err := l.lock(ctx, f) // nobody writes to it under its old name
	if err != nil {
		return Entry{}, err
	}
	whole, head, err := beginning(f)
	if err != nil || !whole || head == nil {
		return header, nil // it is something else
	}
	header.Log.Oldest = head.Oldest
	line, err := lastLine(f, info.Size())
	if err != nil {
		return Entry{}, err
	}
	if header.Prev == "" || slices.ContainsFunc(older.numbers, func(n int) bool { return l.endedIn(numbered(l.path, n)) }) {
		header.Prev = hashOf(trimEnd(line))
	}
	return header, nil
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

// olderFiles are the files that a log was rotated to.
type olderFiles struct {
	path    string // of the log
	numbers []int  // sorted
}

// rotated returns the files that the log path was rotated to.
func rotated(path string) (olderFiles, error) {
	older := olderFiles{path: path}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return older, err
	}
	for _, e := range entries {
		text, ok := strings.CutPrefix(e.Name(), filepath.Base(path)+".")
		if n, err := strconv.Atoi(text); ok && err == nil && n > 0 && strconv.Itoa(n) == text && e.Type().IsRegular() {
			older.numbers = append(older.numbers, n)
		}
	}
	slices.Sort(older.numbers)
	return older, nil
}

// next returns the number of the next file.
func (o olderFiles) next() int {
	if len(o.numbers) == 0 {
		return 1
	}
	return o.numbers[len(o.numbers)-1] + 1
}

// newest returns the path of the newest file, which need not exist.
func (o olderFiles) newest() string { return numbered(o.path, o.next()-1) }

// numbered returns the path of the file with a number.
func numbered(path string, number int) string { return fmt.Sprintf("%s.%d", path, number) }

// Files returns the files of the log path, the oldest first: those that it was rotated
// to, and path.
//
// # Errors
//
// A folder that cannot be listed, and a log that does not exist.
func Files(path string) ([]string, error) {
	current, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	older, err := rotated(path)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, n := range older.numbers {
		info, err := os.Stat(numbered(path, n))
		if err != nil {
			return nil, err
		}
		if !os.SameFile(info, current) { // a rotation that was cut off
			files = append(files, numbered(path, n))
		}
	}
	return append(files, path), nil
}
