// Package session carries the id of an agent's run in a context. In goes an id, by
// [WithID], where a call enters (package tools does it); out comes the same id, by
// [ID], in the layers below that record who did what. A layer that needs to know
// nothing else of a session imports this package and not package tools.
package session

import (
	"context"
	"crypto/rand"
	"strings"
)

// maxID is how long an id can be, so that it fits into a name of a file.
const maxID = 64

// idBytes is what an id consists of: what every store and log takes as it is.
const idBytes = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

// idKey is the key of an id in a context.
type idKey struct{}

// NewID returns a random id, which nobody can guess.
func NewID() string { return rand.Text() }

// Valid reports whether id is 1 to 64 letters, digits, "-" and "_". Ids come from
// files, too, and are parts of names.
func Valid(id string) bool {
	return id != "" && len(id) <= maxID && strings.Trim(id, idBytes) == ""
}

// WithID returns a context for the operations of the session id. An id that is not
// [Valid] is ignored.
func WithID(ctx context.Context, id string) context.Context {
	if !Valid(id) {
		return ctx
	}
	return context.WithValue(ctx, idKey{}, id)
}

// ID returns the id of the session that ctx belongs to, "" if it belongs to none.
func ID(ctx context.Context) string {
	id, _ := ctx.Value(idKey{}).(string)
	return id
}

// workspaceKey is the key of the name of a workspace in a context.
type workspaceKey struct{}

// WithWorkspace returns a context for the operations of a tool of the workspace name.
func WithWorkspace(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, workspaceKey{}, name)
}

// Workspace returns the name of the workspace whose tool ctx belongs to, "" if it
// belongs to none.
func Workspace(ctx context.Context) string {
	name, _ := ctx.Value(workspaceKey{}).(string)
	return name
}

// callKey is the key of a call in a context.
type callKey struct{}

// WithCall returns a context for the operations of one call of a tool, which belong
// together: an undo reverts them together. In a call it returns ctx.
func WithCall(ctx context.Context) context.Context {
	if Call(ctx) != "" {
		return ctx
	}
	return context.WithValue(ctx, callKey{}, NewID())
}

// InCall returns a context for operations that belong to the call id, whichever call ctx
// belongs to.
func InCall(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, callKey{}, id)
}

// Call returns the id of the call that ctx belongs to, "" if it belongs to none.
func Call(ctx context.Context) string {
	id, _ := ctx.Value(callKey{}).(string)
	return id
}

// passingKey is the key of a mark in a context.
type passingKey struct{}

// WithoutUndo returns a context for changes that nobody wants to undo, as they are undone
// themselves, such as those of a probe. Backups keep nothing of them, and git stages none.
func WithoutUndo(ctx context.Context) context.Context {
	return context.WithValue(ctx, passingKey{}, true)
}

// Undoable reports whether the changes of ctx can be undone when they have been made.
func Undoable(ctx context.Context) bool { return ctx.Value(passingKey{}) == nil }

// privateKey is the key of a mark in a context.
type privateKey struct{}

// WithPrivate returns a context for writes of what nobody but the user may read, such as the
// bytes of private files: a folder gives new files modes for their owner alone.
func WithPrivate(ctx context.Context) context.Context {
	return context.WithValue(ctx, privateKey{}, true)
}

// Private reports whether ctx is one of [WithPrivate].
func Private(ctx context.Context) bool { return ctx.Value(privateKey{}) != nil }

// unaskedKey is the key of a mark in a context.
type unaskedKey struct{}

// WithoutQuestions returns a context for an operation that is refused where a rule would ask:
// what it finds out is worth no question.
func WithoutQuestions(ctx context.Context) context.Context {
	return context.WithValue(ctx, unaskedKey{}, true)
}

// MayAsk reports whether the operations of ctx may ask somebody.
func MayAsk(ctx context.Context) bool { return ctx.Value(unaskedKey{}) == nil }

// copyLimitKey is the key of a number in a context.
type copyLimitKey struct{}

// WithCopyLimit returns a context for a copy of at most limit bytes, whose size the caller may
// not find out itself. A lower limit of ctx stays.
func WithCopyLimit(ctx context.Context, limit int64) context.Context {
	if lower := CopyLimit(ctx); lower > 0 {
		limit = min(limit, lower)
	}
	return context.WithValue(ctx, copyLimitKey{}, limit)
}

// CopyLimit returns the limit of [WithCopyLimit], zero if ctx has none.
func CopyLimit(ctx context.Context) int64 {
	limit, _ := ctx.Value(copyLimitKey{}).(int64)
	return limit
}

// approvedKey is the key of a function in a context.
type approvedKey struct{}

// WithApproved returns a context for an operation that calls f whenever somebody has
// approved it, before it acts: what f knows of the files may have changed meanwhile.
func WithApproved(ctx context.Context, f func()) context.Context {
	return context.WithValue(ctx, approvedKey{}, f)
}

// Approved calls the function of [WithApproved], if ctx has one.
func Approved(ctx context.Context) {
	if f, ok := ctx.Value(approvedKey{}).(func()); ok {
		f()
	}
}
