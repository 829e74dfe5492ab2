// Package program is what a shell in the container is taught when it is opened,
// and the Go side of it: the calls of its functions, and what their replies mean.
//
// # Functions
//
// The files *.sh have one function for each request, and keep to what dash and
// busybox have. [Text] puts them together, after the numbers and names that both
// sides use: those are written once, in Go.
//
// A name comes as two arguments, its directory and its last element ([Pair]). A
// function writes its reply and returns a status of the table below. 100 is added
// where the status is about the second of two names. [Client] makes the calls and
// returns an error of the contract for such a status:
//
//	describe 'dir' 'file'            stat, of dir/file
//	    81a4 5 1234 0 0 644 2026-01-02 03:04:05.678901234 +0000
//	    status 0
//	describe 'dir' 'missing'
//	    status 10                    fs.ErrNotExist
//	move 'dir' 'file' 'other' 'name'
//	    status 111                   fs.ErrExist, about other/name
//
// # Descriptions
//
// A [StatInfo] is read from one line: the type, the size, the inode, the owner,
// the group, the permission bits and the time at which the bytes changed, as stat
// or GNU's find writes them. A listing has the path after each, and then "//" and
// a line break, which no path has in it.
package program

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strings"

	"github.com/workspacekit/workspacekit/internal/lazyregexp"
	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/providers/container/internal/shell"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/provider"
)

//go:embed *.sh
var files embed.FS

// Text returns what a shell is taught.
func Text() (string, error) {
	var b strings.Builder
	b.WriteString(constants())
	names, err := fs.Glob(files, "*.sh")
	if err != nil {
		return "", err
	}
	for _, name := range names {
		text, err := files.ReadFile(name)
		if err != nil {
			return "", err
		}
		b.Write(text)
	}
	return b.String(), nil
}

// constants returns the assignments of what the functions share with this
// package.
func constants() string {
	var b strings.Builder
	b.WriteString("# The numbers and names of package program.\n")
	for _, s := range statuses {
		fmt.Fprintf(&b, "%s=%d\n", s.name, s.status)
	}
	fmt.Fprintf(&b, "other=%d\nprefix=%s\n", statusOther, shell.Quote(ops.ReservedPrefix))
	return b.String()
}

// The statuses that a function returns.
const (
	statusMissing = 10 + iota
	statusExists
	statusIsDir
	statusNotDir
	statusNotEmpty
	statusEscape
	statusLoop
	statusDenied
	statusConflict
	statusSpecial
	statusTooLarge
	// StatusFailed is a failure that the program explains at best in words.
	StatusFailed
	// StatusPartial says that a program worked on many files and failed for some.
	StatusPartial
	statusOvertaken
	statusBeneath
	// StatusLacking says that the image has not what the function needs.
	StatusLacking
	statusKilled
	statusFull
	statusSymlink
	statusAgain // only within the program: nothing is done, and another attempt may succeed
	statusLocked
	statusVanished // of a listing that is complete but for what has vanished
	statusReserved
	statusBusy
	statusLong
)

// statusOther is added to a status that is about the second of two names.
const statusOther = 100

// ErrOvertaken says that someone else moved or removed the directory that an
// operation worked in. Starting the operation again is the remedy.
var ErrOvertaken = provider.Errorf(workspace.ErrUnavailable, "something else changed the container's files meanwhile")

// statuses are all statuses, with the variables of the program for them and the
// errors that they stand for. Those without an error come with words, or are no
// failures.
var statuses = []struct {
	status int
	name   string
	err    error
}{
	{statusMissing, "missing", fs.ErrNotExist},
	{statusExists, "exists", fs.ErrExist},
	{statusIsDir, "isdir", workspace.ErrIsDir},
	{statusNotDir, "notdir", workspace.ErrNotDir},
	{statusNotEmpty, "notempty", workspace.ErrNotEmpty},
	{statusEscape, "escape", workspace.ErrEscape},
	{statusLoop, "loop", provider.Errorf(fs.ErrInvalid, "its symlinks form a loop, or are too many")},
	{statusDenied, "denied", fs.ErrPermission},
	{statusConflict, "conflict", workspace.ErrConflict},
	{statusSpecial, "special", provider.Errorf(fs.ErrInvalid, "it is no regular file")},
	{statusTooLarge, "toolarge", nil},
	{StatusFailed, "failed", nil},
	{StatusPartial, "partial", nil},
	{statusOvertaken, "overtaken", ErrOvertaken},
	{statusBeneath, "beneath", provider.Errorf(fs.ErrInvalid, "a directory cannot be moved below itself")},
	{StatusLacking, "lacking", errors.ErrUnsupported},
	{statusKilled, "killed", provider.Errorf(workspace.ErrUnavailable, "a program in the container was killed")},
	{statusFull, "full", workspace.ErrNoSpace},
	{statusSymlink, "symlink", workspace.ErrSymlink},
	{statusAgain, "again", nil},
	{statusLocked, "locked", nil},
	{statusVanished, "vanished", nil},
	{statusReserved, "reserved", provider.Errorf(fs.ErrInvalid, "a symlink leads to a reserved name")},
	{statusBusy, "busy", provider.Errorf(fs.ErrPermission, "it, or something in it, is mounted in the container, or in use there")},
	{statusLong, "long", provider.Errorf(fs.ErrInvalid, "a symlink leads to a name that is too long")},
}

// StatusError returns the error of a call that ended with a status other than
// zero. said is what the call wrote.
func StatusError(status int, said []byte) error {
	if status == statusLocked {
		return provider.Errorf(workspace.ErrUnavailable, "%w", lockedError(string(said)))
	}
	for _, s := range statuses {
		if s.status == status && s.err != nil {
			return s.err
		}
	}
	words := failure(said)
	if isFull(words) {
		return workspace.ErrNoSpace
	}
	return provider.Errorf(nil, "%s", words)
}

// lockedError returns why a lock could not be had, as stuck in the program says it.
func lockedError(said string) error {
	process, path, _ := strings.Cut(said, "\n")
	if process == "" {
		return fmt.Errorf("%q is in the way of a lock: %w", path, ops.Remedy("delete it in the container"))
	}
	return fmt.Errorf("the process %s in the container does not release the lock %q: %w",
		shell.OneLine(process), path, ops.Remedy("delete that if the process does not use this workspace"))
}

// isFull reports whether a program says that it cannot write any more: what C
// libraries say about ENOSPC and EDQUOT.
func isFull(words string) bool {
	return strings.Contains(words, "No space left on device") || strings.Contains(words, "uota exceeded")
}

// temporaryName matches names that nobody but this package knows.
var temporaryName = lazyregexp.New(regexp.QuoteMeta(ops.ReservedPrefix) + `\w*`)

// failure returns what a program said about its failure, in one line.
func failure(said []byte) string {
	if words := shell.OneLine(string(said)); words != "" {
		return temporaryName().ReplaceAllString(words, "(temporary file)")
	}
	return "a program in the container failed"
}

// HelloError returns the error of the hello that opens a shell if err is its
// status, and nil otherwise.
func HelloError(err error) error {
	var refused *shell.StatusError
	switch {
	case !errors.As(err, &refused):
		return nil
	case refused.Status == StatusLacking:
		return provider.Errorf(errors.ErrUnsupported, "%s", failure([]byte(refused.Text)))
	}
	for _, s := range statuses {
		if s.status == refused.Status {
			return provider.Errorf(s.err, "the root of the workspace cannot be entered")
		}
	}
	return provider.Errorf(nil, "the root of the workspace cannot be entered")
}
