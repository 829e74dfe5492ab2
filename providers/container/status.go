package container

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/workspacekit/workspacekit/providers/container/internal/shell"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/provider"
)

// The exit statuses of the program's functions.
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
	statusFailed
	statusPartial
	statusOvertaken
	statusBeneath
	statusLacking
	statusKilled
	statusFull
	statusSymlink
	_ // the functions' own
	statusLocked
	statusVanished
)

// statusOther is added to a status that is about the second of two names.
const statusOther = 100

// errOvertaken says that someone else moved or removed the directory that an
// operation worked in. Starting the operation again is the remedy.
var errOvertaken = provider.Errorf(workspace.ErrUnavailable, "something else changed the container's files meanwhile")

// statusErrors are the errors that statuses stand for, but for those that come
// with words.
var statusErrors = map[int]error{
	statusMissing:   fs.ErrNotExist,
	statusExists:    fs.ErrExist,
	statusIsDir:     workspace.ErrIsDir,
	statusNotDir:    workspace.ErrNotDir,
	statusNotEmpty:  workspace.ErrNotEmpty,
	statusEscape:    workspace.ErrEscape,
	statusLoop:      provider.Errorf(fs.ErrInvalid, "its symlinks form a loop"),
	statusDenied:    fs.ErrPermission,
	statusConflict:  workspace.ErrConflict,
	statusSpecial:   provider.Errorf(fs.ErrInvalid, "it is no regular file"),
	statusOvertaken: errOvertaken,
	statusSymlink:   workspace.ErrSymlink,
	statusLacking:   errors.ErrUnsupported,
	statusKilled:    provider.Errorf(workspace.ErrUnavailable, "a program in the container was killed"),
	statusFull:      workspace.ErrNoSpace,
	statusBeneath:   provider.Errorf(fs.ErrInvalid, "a directory cannot be moved below itself"),
}

// statusError returns the error of a call that ended with a status other than
// zero. said is what the call wrote.
func statusError(status int, said []byte) error {
	if status == statusLocked {
		return provider.Errorf(workspace.ErrUnavailable, "%w", lockedError(string(said)))
	}
	if err := statusErrors[status]; err != nil {
		return err
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
		return fmt.Errorf("%q is in the way of a lock: delete it in the container", path)
	}
	return fmt.Errorf("the process %s in the container does not release the lock %q: delete that if the process does not use this workspace",
		shell.OneLine(process), path)
}

// isFull reports whether a program says that it cannot write any more: what C
// libraries say of ENOSPC and EDQUOT.
func isFull(words string) bool {
	return strings.Contains(words, "No space left on device") || strings.Contains(words, "uota exceeded")
}

// failure returns what a program said of its failure, in one line.
func failure(said []byte) string {
	if words := shell.OneLine(string(said)); words != "" {
		return words
	}
	return "a program in the container failed"
}
