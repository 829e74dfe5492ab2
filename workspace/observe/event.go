package observe

import (
	"context"
	"errors"
	"time"

	"github.com/workspacekit/workspacekit/internal/errcode"
	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

// Event is an operation of a [workspace.FileSystem]. It has no contents of files.
// Patterns may quote some: only Err has one, if it is malformed.
type Event struct {
	// Time is when the operation began.
	Time time.Time
	// Session is the id of the session whose operation it is (package tools),
	// empty if it is of none.
	Session string
	// Workspace is the name that [New] was given.
	Workspace string
	// Op is the operation as in the errors of package workspace: "write_file".
	Op string
	// Path is the name that it is about, as the caller spelled it. Of a search, it
	// is where that begins.
	Path string
	// To is the destination of a move or a copy.
	To string
	// Command is what a run runs, cut after 4,096 bytes: the program and its
	// arguments, each as Go spells a string.
	Command string

	// The other fields are for [Observer].After. Before an operation they are zero.

	// VersionBefore is the version that was read, or that was there before a
	// write, a removal or a move. It is empty if there was none, and if it is not
	// known: a write with the condition IfVersion knows it, and for any other
	// change somebody has to ask, see [VersionObserver].
	VersionBefore workspace.Version
	// VersionAfter is the version that was written.
	VersionAfter workspace.Version
	// Edit says that a write had the condition IfVersion: the rules of package policy
	// call it an edit.
	Edit bool
	// Bytes is how many bytes of a file were read or written by a ReadFile, a
	// WriteFile or a stream. It is zero for all else, such as a search or a copy.
	Bytes int64
	// Duration is how long the operation took. A stream takes until it is closed,
	// a watch until its context ends.
	Duration time.Duration
	// Err is what the operation returned. It never has contents of files or paths
	// of the host.
	Err error
	// Code is the code of Err as in docs/errors.md, such as FILE_NOT_FOUND, or
	// DISCARDED for [ErrDiscarded]. It is empty if the operation succeeded.
	Code string
	// Decision says whether the operation was allowed, whatever came of it.
	Decision Decision
	// Rule names the rule of a policy that decided, empty if none has a name.
	Rule string
}

// Decision is what a policy makes of an operation.
type Decision string

// The decisions.
const (
	Allowed   Decision = "allowed"
	Denied    Decision = "denied"     // an observer refused it, or it failed with [workspace.ErrPolicy]
	WouldDeny Decision = "would-deny" // it was let through, as the policy only watches; in audit logs of a configuration file
)

// Changes reports whether the operation changes files if it succeeds. A run counts, as a
// command can change any.
func (e Event) Changes() bool {
	switch e.Op {
	case ops.WriteFile, ops.Create, ops.Mkdir, ops.Rm, ops.Move, ops.Copy, ops.Run:
		return true
	}
	return false
}

// ErrDiscarded is the Err of a Create whose writer was closed without a commit.
var ErrDiscarded = errors.New("the written bytes were discarded")

// codeDiscarded is the code of [ErrDiscarded].
const codeDiscarded = "DISCARDED"

// finish sets what is known of e after the operation has returned err. refused says that an
// observer has refused it.
func (e *Event) finish(err error, refused bool) {
	e.Duration = time.Since(e.Time)
	e.Err, e.Code, e.Decision = err, codeOf(err), Allowed
	if !refused && !errors.Is(err, workspace.ErrPolicy) {
		return
	}
	e.Decision = Denied
	if ruled, ok := errors.AsType[interface {
		error
		Rule() string
	}](err); ok {
		e.Rule = ruled.Rule()
	}
}

// Finished returns e as it is after an operation that has returned err, for whoever
// tells observers of operations that no [workspace.FileSystem] has. Time must be set.
func Finished(e Event, err error) Event {
	e.finish(err, false)
	return e
}

// codeOf returns the code of err.
func codeOf(err error) string {
	if err == ErrDiscarded {
		return codeDiscarded
	}
	return errcode.Of(err)
}

// Observer learns of operations. Both methods may be called concurrently. The
// package comment says what they can break.
type Observer interface {
	// Before is called before the operation. The operation uses the context that it
	// returns, which must be ctx or be derived from it. An error refuses the
	// operation: it is not carried out, and fails with an error of the same kind,
	// [workspace.ErrPolicy] if it is of none. The text of the error is shown to
	// the caller.
	Before(ctx context.Context, e Event) (context.Context, error)
	// After is called after the operation, exactly once for each, also if it was
	// refused; a Before of this observer may not have been called then. ctx is
	// what the last Before returned, and may have ended.
	After(ctx context.Context, e Event)
}

// VersionObserver is an [Observer] that wants to know Event.VersionBefore of all
// changes. For a change without the condition IfVersion, that costs a Stat before
// it, and somebody else can still change the file between the two.
type VersionObserver interface {
	Observer
	// WantsVersions reports whether it does, the same for its whole life.
	WantsVersions() bool
}

// Func is an [Observer] that is called after each operation, and refuses nothing: a
// notification.
type Func func(ctx context.Context, e Event)

// Before implements [Observer].
func (f Func) Before(ctx context.Context, _ Event) (context.Context, error) { return ctx, nil }

// After implements [Observer].
func (f Func) After(ctx context.Context, e Event) { f(ctx, e) }
