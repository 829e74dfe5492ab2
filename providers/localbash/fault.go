package localbash

import (
	"errors"
	"io/fs"
	"os"
	"runtime"
	"syscall"

	"github.com/workspacekit/workspacekit/workspace"
)

// errOvertaken says that someone else moved or removed the ground that an
// operation stood on. Doing it again from the start is the remedy.
var errOvertaken = errors.New("another program changed the folder meanwhile")

// fault returns err, which may come from the operating system, as the
// contract's error for the caller's op and name, and nil for nil. It is the
// one place that takes host paths out of errors.
func (f *FS) fault(op, name string, err error) error {
	if err == nil {
		return nil
	}
	cause := plainCause(err)
	if f.escape != nil && cause == f.escape {
		return workspace.NewPathError(op, name, workspace.ErrEscape, nil)
	}
	if errno, ok := cause.(syscall.Errno); ok {
		return errnoError(op, name, errno)
	}
	if errors.Is(cause, errOvertaken) || errors.Is(cause, errLocked) {
		return workspace.NewPathError(op, name, workspace.ErrUnavailable, cause)
	}
	return workspace.NewPathError(op, name, nil, cause)
}

// faultOf is fault where another name than the first may be at fault.
func (f *FS) faultOf(op, name string, err error) error {
	if blamed := new(blame); errors.As(err, &blamed) {
		return f.fault(op, blamed.name, blamed.err)
	}
	return f.fault(op, name, err)
}

// blame is an error about a name.
type blame struct {
	name string
	err  error
}

func (b *blame) Error() string { return b.err.Error() }
func (b *blame) Unwrap() error { return b.err }

// plainCause takes off what the operating system's errors say of paths.
func plainCause(err error) error {
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

func errnoError(op, name string, errno syscall.Errno) error {
	kind, says := kindOf(errno)
	if says {
		return workspace.NewPathError(op, name, kind, nil)
	}
	return workspace.NewPathError(op, name, kind, errno)
}

// kindOf is the table of errors: the kind of errno, nil if it has none, and
// whether the kind says all that errno does.
func kindOf(errno syscall.Errno) (kind error, says bool) {
	switch errno {
	case syscall.ENOENT:
		return fs.ErrNotExist, true
	case syscall.EEXIST:
		return fs.ErrExist, true
	case syscall.EACCES:
		return fs.ErrPermission, true
	case syscall.EPERM, syscall.EROFS:
		return fs.ErrPermission, false
	case syscall.ENOTDIR:
		return workspace.ErrNotDir, true
	case syscall.EISDIR:
		return workspace.ErrIsDir, true
	case syscall.ENOTEMPTY:
		return workspace.ErrNotEmpty, true
	case syscall.EINVAL, syscall.ENAMETOOLONG, syscall.ELOOP, syscall.ENXIO, syscall.ENODEV:
		return fs.ErrInvalid, false
	case syscall.ENOSPC, syscall.EDQUOT:
		return workspace.ErrNoSpace, true
	case syscall.EXDEV, syscall.ENOSYS, syscall.ENOTSUP:
		return errors.ErrUnsupported, false
	case syscall.EAGAIN, syscall.EINTR, syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM,
		syscall.EIO, syscall.ESTALE, syscall.ETIMEDOUT, syscall.ETXTBSY:
		return workspace.ErrUnavailable, false
	}
	return systemKind(errno)
}

// systemKind asks errno itself, as the errors of Windows have numbers of their
// own.
func systemKind(errno syscall.Errno) (kind error, says bool) {
	const diskFull, handleDiskFull = 112, 39 // of Windows
	if runtime.GOOS == "windows" && (errno == diskFull || errno == handleDiskFull) {
		return workspace.ErrNoSpace, true
	}
	for _, kind := range []error{fs.ErrNotExist, fs.ErrExist, fs.ErrPermission} {
		if errors.Is(errno, kind) {
			return kind, true
		}
	}
	return nil, false
}
