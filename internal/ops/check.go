package ops

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"
	"unicode/utf8"
)

// What package workspace says about names.
const (
	MaxNameLength    = 4096
	MaxElementLength = 255
	ReservedPrefix   = ".workspacekit-tmp-"
)

// DefaultWatchBuffer is the buffer of a watch whose options set none.
const DefaultWatchBuffer = 1024

// Check returns the error of ctx if it has ended, and the error of name if that
// is not valid, as a [*fs.PathError].
func Check(ctx context.Context, op, name string) error {
	if err := ctx.Err(); err != nil {
		return Error(op, name, err, nil)
	}
	if err := CheckName(name); err != nil {
		return Error(op, name, err, nil)
	}
	return nil
}

// Limit returns limit, zero for none, or less where ctx ends too soon after that: a twentieth of
// the time that is left remains, so that the output of what is stopped is not lost.
func Limit(ctx context.Context, limit time.Duration) time.Duration {
	if deadline, ok := ctx.Deadline(); ok {
		if left := time.Until(deadline); limit <= 0 || left < limit+limit/40 {
			return (left - left/20).Truncate(time.Millisecond)
		}
	}
	return limit
}

// ValidName reports whether a FileSystem accepts name, as package provider says.
func ValidName(name string) bool { return CheckName(name) == nil }

// CheckName returns the reason why name is not valid, nil if it is.
func CheckName(name string) error {
	switch {
	case name == "":
		return invalidName("empty name")
	case !utf8.ValidString(name):
		return invalidName("name is not valid UTF-8")
	case strings.IndexByte(name, 0) >= 0:
		return invalidName("name has a NUL byte")
	case len(name) > MaxNameLength:
		return invalidName(fmt.Sprintf("name is longer than %d bytes", MaxNameLength))
	case climbs(name):
		return ErrEscape
	case name[0] == '/':
		return invalidName("name begins with a slash")
	case !fs.ValidPath(name):
		return invalidName("name has an empty or a \".\" element")
	case strings.HasPrefix(name, ReservedPrefix), strings.Contains(name, "/"+ReservedPrefix):
		return invalidName(fmt.Sprintf("names that begin with %q are reserved for temporary files", ReservedPrefix))
	case hasLongElement(name):
		return invalidName(fmt.Sprintf("an element of the name is longer than %d bytes", MaxElementLength))
	}
	return nil
}

// InGit reports whether an element of name is ".git" on some file system, as git sees it: in
// other letters, by its short name, with what NTFS ignores at its end, after a backslash.
func InGit(name string) bool {
	for element := range strings.FieldsFuncSeq(name, func(r rune) bool { return r == '/' || r == '\\' }) {
		element, _, _ = strings.Cut(element, ":")
		element = strings.TrimRight(element, ". ")
		if strings.EqualFold(element, ".git") || strings.EqualFold(element, "git~1") {
			return true
		}
	}
	return false
}

// invalidName returns the error of a name, with what is wrong with it.
func invalidName(why string) error {
	return &kindError{kind: fs.ErrInvalid, cause: errors.New(why), only: true}
}

// climbs reports whether name has a ".." element.
func climbs(name string) bool {
	if !strings.Contains(name, "..") {
		return false
	}
	for element := range strings.SplitSeq(name, "/") {
		if element == ".." {
			return true
		}
	}
	return false
}

// hasLongElement reports whether an element of name is longer than
// MaxElementLength.
func hasLongElement(name string) bool {
	if len(name) <= MaxElementLength {
		return false
	}
	for element := range strings.SplitSeq(name, "/") {
		if len(element) > MaxElementLength {
			return true
		}
	}
	return false
}

// CheckSize returns the [ErrTooLarge] error for a file of size bytes if that
// is more than limit, and the [fs.ErrInvalid] error of a negative limit.
// Zero means no limit.
func CheckSize(op, name string, size, limit int64) error {
	if err := CheckLimit(op, name, limit); err != nil {
		return err
	}
	if limit == 0 || size <= limit {
		return nil
	}
	return Error(op, name, ErrTooLarge, fmt.Errorf("%d bytes, and the limit is %d", size, limit))
}

// CheckLimit returns the [fs.ErrInvalid] error of a negative limit.
func CheckLimit(op, name string, limit int64) error {
	if limit < 0 {
		return Error(op, name, fs.ErrInvalid, errors.New("negative limit"))
	}
	return nil
}

// CheckWindow returns the [fs.ErrInvalid] error of a negative offset or length.
func CheckWindow(name string, offset, length int64) error {
	if offset < 0 || length < 0 {
		return Error(Open, name, fs.ErrInvalid, errors.New("negative offset or length"))
	}
	return nil
}

// CheckConditions returns the [fs.ErrInvalid] error of a write with both
// conditions.
func CheckConditions(op, name, ifVersion string, ifNotExist bool) error {
	if ifVersion != "" && ifNotExist {
		return Error(op, name, fs.ErrInvalid, errors.New("IfVersion and IfNotExist exclude each other"))
	}
	return nil
}

// CheckWatch returns the [fs.ErrInvalid] error of a negative buffer or interval.
func CheckWatch(dir string, buffer int, interval time.Duration) error {
	if buffer < 0 || interval < 0 {
		return Error(Watch, dir, fs.ErrInvalid, errors.New("negative buffer or interval"))
	}
	return nil
}

// Window returns the bytes of data from offset on, length of them unless that is
// zero.
func Window(data []byte, offset, length int64) []byte {
	data = data[min(offset, int64(len(data))):]
	if length > 0 {
		data = data[:min(length, int64(len(data)))]
	}
	return data
}

// EndsWalk reports whether err, which a WalkFunc returned, ends its walk with that error. A
// walk that compares its own error with err instead panics if their type cannot be compared.
func EndsWalk(err error, isDir bool) bool {
	return err != nil && !errors.Is(err, fs.SkipAll) && !(isDir && errors.Is(err, fs.SkipDir))
}
