package provider

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"syscall"
	"time"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

// Errorf returns an error of the given kind whose text, formatted as by
// [fmt.Errorf], callers may see. The text must not show a host path, a key or
// a credential: it reaches the context of a model. What %w names can be found
// with [errors.Is] and [errors.As]. A nil kind means none of the contract's: the
// failure stays as it is until somebody corrects its cause.
func Errorf(kind error, format string, args ...any) error {
	return &visibleError{kind: kind, text: fmt.Errorf(format, args...)}
}

// At returns err as an error about name, for a method of two names such as Move
// where the second is at fault.
func At(name string, err error) error {
	if err == nil {
		return nil
	}
	return &nameError{name: name, err: err}
}

// nameError is an error about a name. It is not a [*fs.PathError], as those of
// package os are about names that only look like the caller's.
//
// Callers never see it: fail takes its name for the contract's form.
type nameError struct {
	name string
	err  error
}

// Error implements error.
func (e *nameError) Error() string { return e.name + ": " + e.err.Error() }

// Unwrap returns the error itself.
func (e *nameError) Unwrap() error { return e.err }

// Classify returns err as callers will see it: with its kind, and without host
// paths. FS does this with every error, and asks [Facts].Kind, too. A store needs
// it only to ask for the kind of an error number with [errors.Is].
func Classify(err error) error {
	if err == nil {
		return nil
	}
	return classify(withoutPaths(err), nil)
}

// visibleError is an error whose text may be shown. Its kind may be nil.
type visibleError struct{ kind, text error }

// Unwrap returns the kind and the cause.
func (e *visibleError) Unwrap() []error { return []error{e.kind, e.text} }

// Error returns the text that callers may see.
func (e *visibleError) Error() string {
	if e.kind == nil {
		return e.text.Error()
	}
	return e.kind.Error() + ": " + e.text.Error()
}

// storeError is an error of a store. Only its kind may be shown.
type storeError struct{ kind, cause error }

// Error returns the text of the kind: the store's own is withheld.
func (e *storeError) Error() string { return e.kind.Error() }

// Unwrap returns the kind. The cause is there for a program that looks for it:
// only its text is withheld.
func (e *storeError) Unwrap() []error { return []error{e.kind, e.cause} }

// errFailed stands for an error of no kind.
var errFailed = errors.New("the store failed")

// kinds are the kinds of the contract, special cases before the kinds that they
// refine. The first one that an error is counts, so a name that leads out of
// the workspace is [workspace.ErrEscape], although that is [io/fs.ErrInvalid],
// too.
var kinds = []error{
	context.Canceled, context.DeadlineExceeded,
	workspace.ErrPolicy, workspace.ErrEscape, workspace.ErrSymlink, workspace.ErrPattern, workspace.ErrConflict,
	workspace.ErrTooLarge, workspace.ErrBinary, workspace.ErrNotEmpty, workspace.ErrIsDir, workspace.ErrNotDir,
	workspace.ErrNoSpace, workspace.ErrUnavailable,
	fs.ErrNotExist, fs.ErrExist, fs.ErrPermission, fs.ErrInvalid, fs.ErrClosed, errors.ErrUnsupported,
}

// fail returns the contract's form of an error that the store returned for op,
// and nil for nil. The error names the first of names, unless [At] or a
// [*fs.PathError] of op names another of them. Any store can make such an error,
// so it is classified like any other.
//
// A store that fails because ctx has ended often says so in words of its own,
// so an error of no kind, or one of a store that cannot be reached, becomes the
// error of ctx. A deadline that passes without that of ctx is one of the store's
// own, such as that of a connection, so the store cannot be reached.
func (f *FS) fail(ctx context.Context, op string, err error, names ...string) error {
	if err == nil {
		return nil
	}
	name := names[0]
	if at := new(nameError); errors.As(err, &at) && slices.Contains(names, at.name) {
		name, err = at.name, at.err
	}
	var pathError *fs.PathError
	if errors.As(err, &pathError) && pathError.Op == op && slices.Contains(names, pathError.Path) {
		if isShown(pathError.Err) {
			return pathError
		}
		name, err = pathError.Path, withoutPaths(err)
	}
	shown := classify(withoutPaths(err), f.facts.Kind)
	f.log(ctx, op, name, err, shown)
	ended := ctx.Err()
	if deadline, ok := ctx.Deadline(); ended == nil && ok && !time.Now().Before(deadline) {
		ended = context.DeadlineExceeded // the timer of ctx is late
	}
	switch {
	case ended != nil && (errors.Is(shown, errFailed) || errors.Is(shown, workspace.ErrUnavailable)):
		shown = ended
	case ended == nil && errors.Is(shown, context.DeadlineExceeded):
		shown = &storeError{workspace.ErrUnavailable, err}
	}
	return ops.Error(op, name, shown, nil)
}

// isShown reports whether err has a text of this module, or has been classified.
func isShown(err error) bool {
	switch err.(type) {
	case *visibleError, *storeError:
		return true
	}
	return ops.IsShown(err)
}

// withoutPaths removes what the errors of package os say about paths. They
// nest, and each has a path of the host, which a model must not see.
func withoutPaths(err error) error {
	for {
		switch e := err.(type) {
		case *fs.PathError:
			err = e.Err
		case *os.LinkError:
			err = e.Err
		case *os.SyscallError:
			err = e.Err
		default:
			return err
		}
	}
}

// classify returns the part of err that callers may see. kindOf, which may be
// nil, tells the kinds of errors that are the store's own.
//
// Here is what becomes of some errors of a store:
//
//	error                                   callers see
//	fs.ErrNotExist                          file does not exist
//	&fs.PathError{..., syscall.ENOENT}      file does not exist
//	Errorf(ErrNoSpace, "the quota is 5 GB") no space left: the quota is 5 GB
//	fmt.Errorf("/srv/a: %w", fs.ErrExist)   file already exists
//	errors.New("dial tcp 10.0.0.7: ...")    the store failed
//
// The texts that are lost, host paths too, are what [Facts].Log gets.
func classify(err error, kindOf func(error) error) error {
	if errno, ok := err.(syscall.Errno); ok {
		return errnoError(errno)
	}
	if known := new(visibleError); errors.As(err, &known) {
		return known
	}
	if classified := new(storeError); errors.As(err, &classified) {
		return classify(withoutPaths(classified.cause), kindOf)
	}
	if kindOf != nil {
		if kind := kindOf(err); kind != nil {
			return &storeError{kind, err}
		}
	}
	if i := slices.IndexFunc(kinds, func(kind error) bool { return errors.Is(err, kind) }); i >= 0 {
		if err == kinds[i] {
			return err
		}
		return &storeError{kinds[i], err}
	}
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return &storeError{errnoError(errno), err}
	}
	if errors.As(err, new(netError)) {
		return &storeError{workspace.ErrUnavailable, err}
	}
	return &storeError{errFailed, err}
}

// netError is net.Error, which says that a connection or a lookup of a name failed.
// Package net is not imported: with cgo, it makes each program one that needs the
// C library of the system.
type netError interface {
	error
	Timeout() bool
	Temporary() bool
}

// log logs err unless shown, which callers see of it, has its text. It is at debug
// level because the text may have paths and names of hosts.
func (f *FS) log(ctx context.Context, op, name string, err, shown error) {
	if f.facts.Log == nil {
		return
	}
	if _, ok := err.(syscall.Errno); ok {
		return // its kind says as much
	}
	if hidden := new(storeError); errors.As(err, &hidden) {
		err = hidden.cause // of Classify
	}
	if err.Error() != shown.Error() {
		f.facts.Log.DebugContext(ctx, "workspace: the store failed", "op", op, "name", name, "error", err)
	}
}

// errnoError returns the kind of an error number of the operating system, with
// the number's own text unless the kind says as much.
func errnoError(errno syscall.Errno) error {
	switch errno {
	case syscall.ENOENT:
		return fs.ErrNotExist
	case syscall.EEXIST:
		return fs.ErrExist
	case syscall.EACCES:
		return fs.ErrPermission
	case syscall.ENOTDIR:
		return workspace.ErrNotDir
	case syscall.EISDIR:
		return workspace.ErrIsDir
	case syscall.ENOTEMPTY:
		return workspace.ErrNotEmpty
	case syscall.ENOSPC, syscall.EDQUOT:
		return workspace.ErrNoSpace
	case syscall.EPERM, syscall.EROFS, syscall.EBUSY: // the last of a name on which something is mounted
		return &visibleError{fs.ErrPermission, errno}
	case syscall.EINVAL, syscall.ENAMETOOLONG, syscall.ELOOP, syscall.ENXIO, syscall.ENODEV:
		return &visibleError{fs.ErrInvalid, errno}
	case syscall.EXDEV, syscall.ENOSYS, syscall.ENOTSUP:
		return &visibleError{errors.ErrUnsupported, errno}
	case syscall.EAGAIN, syscall.EINTR, syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM,
		syscall.EIO, syscall.ESTALE, syscall.ETIMEDOUT, syscall.ETXTBSY,
		syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.ECONNABORTED, syscall.EPIPE, syscall.ENOTCONN,
		syscall.EHOSTUNREACH, syscall.EHOSTDOWN, syscall.ENETUNREACH, syscall.ENETDOWN, syscall.ENETRESET:
		return &visibleError{workspace.ErrUnavailable, errno}
	}
	return systemError(errno)
}

// systemError asks errno itself, as the errors of Windows have numbers of their
// own.
func systemError(errno syscall.Errno) error {
	if runtime.GOOS == "windows" {
		const diskFull, handleDiskFull = 112, 39
		const netDown, hostUnreachable = 10050, 10065 // and the other failures of a connection
		switch {
		case errno == diskFull, errno == handleDiskFull:
			return workspace.ErrNoSpace
		case netDown <= errno && errno <= hostUnreachable:
			return &visibleError{workspace.ErrUnavailable, errno}
		}
	}
	for _, kind := range []error{fs.ErrNotExist, fs.ErrExist, fs.ErrPermission} {
		if errors.Is(errno, kind) {
			return kind
		}
	}
	return &visibleError{errFailed, errno}
}
