package container

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/providers/container/internal/shell"
	"github.com/workspacekit/workspacekit/workspace"
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

// errOvertaken says that someone else moved or removed the ground that an
// operation stood on.
var errOvertaken = errors.New("something else changed the container's files meanwhile")

// statusKind returns what a status means, and what there is to add.
func statusKind(status int) (kind, cause error) {
	switch status {
	case statusMissing:
		return fs.ErrNotExist, nil
	case statusExists:
		return fs.ErrExist, nil
	case statusIsDir:
		return workspace.ErrIsDir, nil
	case statusNotDir:
		return workspace.ErrNotDir, nil
	case statusNotEmpty:
		return workspace.ErrNotEmpty, nil
	case statusEscape:
		return workspace.ErrEscape, nil
	case statusLoop:
		return fs.ErrInvalid, errors.New("its symlinks form a loop")
	case statusDenied:
		return fs.ErrPermission, nil
	case statusConflict:
		return workspace.ErrConflict, nil
	case statusSpecial:
		return fs.ErrInvalid, errors.New("it is no regular file")
	case statusOvertaken:
		return workspace.ErrUnavailable, errOvertaken
	case statusSymlink:
		return workspace.ErrSymlink, nil
	case statusLacking:
		return errors.ErrUnsupported, nil
	case statusKilled:
		return workspace.ErrUnavailable, errors.New("a program in the container was killed")
	case statusLocked:
		return workspace.ErrUnavailable, nil
	case statusFull:
		return workspace.ErrNoSpace, nil
	case statusBeneath:
		return fs.ErrInvalid, errors.New("a directory cannot be moved below itself")
	}
	return nil, nil
}

// statusError returns the error of a call that ended with a status other than
// zero, for the caller's op and name. said is what the call wrote.
func statusError(op, name string, status int, said []byte) error {
	kind, cause := statusKind(status)
	if status == statusLocked {
		cause = lockedError(string(said))
	}
	if kind == nil {
		words := failure(said)
		if isFull(words) {
			return ops.Error(op, name, workspace.ErrNoSpace, nil)
		}
		cause = errors.New(words)
	}
	return ops.Error(op, name, kind, cause)
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
