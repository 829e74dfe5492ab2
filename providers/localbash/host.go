package localbash

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/workspacekit/workspacekit/workspace"
)

// host is the folder as the operating system shows it.
type host interface {
	OpenFile(name string, flag int, perm fs.FileMode) (*os.File, error)
	OpenRoot(name string) (*os.Root, error)
	Stat(name string) (fs.FileInfo, error)
	Lstat(name string) (fs.FileInfo, error)
	Readlink(name string) (string, error)
	Mkdir(name string, perm fs.FileMode) error
	MkdirAll(name string, perm fs.FileMode) error
	Rename(oldname, newname string) error
	Link(oldname, newname string) error
	Close() error
}

var (
	_ host = confined{}
	_ host = plain{}
)

// confined is the host of an FS that is not relaxed. [os.Root], which lets
// nothing out, follows at most 8 symlinks in a name; confined follows as many as
// Linux does. Where os.Root gives up, it looks up where the symlinks lead and
// asks os.Root for that name. os.Root confines it like any other, so whoever
// swaps symlinks in between gains nothing.
type confined struct{ root *os.Root }

func (c confined) OpenFile(name string, flag int, perm fs.FileMode) (*os.File, error) {
	return follow(name, c.resolve, func(name string) (*os.File, error) { return c.root.OpenFile(name, flag, perm) })
}

func (c confined) OpenRoot(name string) (*os.Root, error) {
	return follow(name, c.resolveDir, c.root.OpenRoot)
}

func (c confined) Stat(name string) (fs.FileInfo, error) { return follow(name, c.resolve, c.root.Stat) }

func (c confined) Lstat(name string) (fs.FileInfo, error) {
	return follow(name, c.resolveParent, c.root.Lstat)
}

func (c confined) Readlink(name string) (string, error) {
	return follow(name, c.resolveParent, c.root.Readlink)
}

func (c confined) Mkdir(name string, perm fs.FileMode) error {
	_, err := follow(name, c.resolveParent, func(name string) (none struct{}, err error) { return none, c.root.Mkdir(name, perm) })
	return err
}

func (c confined) MkdirAll(name string, perm fs.FileMode) error {
	_, err := follow(name, c.resolveMade, func(name string) (none struct{}, err error) { return none, c.root.MkdirAll(name, perm) })
	return err
}

func (c confined) Rename(oldname, newname string) error {
	return c.between(c.root.Rename, oldname, newname)
}

func (c confined) Link(oldname, newname string) error {
	return c.between(c.root.Link, oldname, newname)
}

func (c confined) Close() error { return c.root.Close() }

// between is follow for two names.
func (c confined) between(use func(oldname, newname string) error, oldname, newname string) error {
	_, err := follow(oldname, c.resolveParent, func(oldname string) (none struct{}, err error) {
		return follow(newname, c.resolveParent, func(newname string) (struct{}, error) { return none, use(oldname, newname) })
	})
	return err
}

// follow returns what use returns for name or, if os.Root gives up following the
// symlinks in it, for what resolve makes of it.
func follow[T any](name string, resolve func(name string) (string, error), use func(name string) (T, error)) (T, error) {
	result, err := use(name)
	if cause := plainCause(err); cause != syscall.ELOOP && cause != syscall.ENAMETOOLONG {
		return result, err
	}
	resolved, resolveErr := resolve(name)
	if resolveErr != nil {
		return result, resolveErr
	}
	return use(resolved)
}

// maxLookups bounds how many elements are looked up to resolve a name, as each
// costs as many system calls as it is deep.
const maxLookups = 1000

// resolve returns name without the symlinks in it. What does not exist stays as
// it is spelled.
func (c confined) resolve(name string) (string, error) {
	lookups := 0
	r := resolution{
		lstat: func(name string) (stamp, error) {
			if lookups++; lookups > maxLookups {
				return stamp{}, syscall.ELOOP
			}
			info, err := c.root.Lstat(name)
			if err != nil {
				return stamp{}, err
			}
			return stampOf(info), nil
		},
		readlink: c.root.Readlink,
		fromRoot: func(string) (string, error) { return "", workspace.ErrEscape },
	}
	return r.run(context.Background(), name)
}

// resolveDir resolves the name of a directory.
func (c confined) resolveDir(name string) (string, error) {
	resolved, err := c.resolve(name)
	return inside(resolved), err
}

// resolveParent resolves all but the last element of name.
func (c confined) resolveParent(name string) (string, error) {
	dir, base := workspace.Split(name)
	parent, err := c.resolve(dir)
	return workspace.Join(parent, base), err
}

// resolveMade resolves the name of a directory that may have to be created. What
// a dangling symlink leads to is not.
func (c confined) resolveMade(name string) (string, error) {
	resolved, err := c.resolve(name)
	if err != nil {
		return "", err
	}
	if _, err := c.root.Lstat(resolved); !errors.Is(err, fs.ErrNotExist) {
		return resolved, nil
	}
	spelled, err := c.resolveParent(name)
	if err == nil && spelled != resolved {
		err = fs.ErrExist
	}
	return spelled, err
}

// plain is the host of a relaxed FS: names mean what they mean to any program
// that runs in dir.
type plain struct{ dir string }

// path does not clean, as "link/.." is not the folder that link is in.
func (p plain) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return p.dir + string(filepath.Separator) + name
}

// inside returns a spelling of dir that only a directory can have, so that
// opening it never waits for the other end of a FIFO.
func inside(dir string) string { return dir + string(filepath.Separator) + "." }

func (p plain) OpenFile(name string, flag int, perm fs.FileMode) (*os.File, error) {
	return os.OpenFile(p.path(name), flag, perm)
}

func (p plain) OpenRoot(name string) (*os.Root, error) { return os.OpenRoot(p.path(name)) }
func (p plain) Stat(name string) (fs.FileInfo, error)  { return os.Stat(p.path(name)) }
func (p plain) Lstat(name string) (fs.FileInfo, error) { return os.Lstat(p.path(name)) }
func (p plain) Readlink(name string) (string, error)   { return os.Readlink(p.path(name)) }

func (p plain) Mkdir(name string, perm fs.FileMode) error {
	return os.Mkdir(p.path(name), perm)
}

func (p plain) MkdirAll(name string, perm fs.FileMode) error {
	return os.MkdirAll(p.path(name), perm)
}

func (p plain) Rename(oldname, newname string) error {
	return os.Rename(p.path(oldname), p.path(newname))
}

func (p plain) Link(oldname, newname string) error {
	return os.Link(p.path(oldname), p.path(newname))
}

func (p plain) Close() error { return nil }

// besides returns target as seen from the directory that the symlink name is
// in.
func (p plain) besides(name, target string) string {
	if filepath.IsAbs(target) {
		return target
	}
	dir, _ := splitUnclean(name)
	return dir + "/" + target
}

// splitUnclean splits a name that may be the target of a symlink: absolute, or
// with elements that path.Dir would clean away although they mean something.
func splitUnclean(name string) (dir, base string) {
	name = strings.TrimRight(filepath.ToSlash(name), "/")
	i := strings.LastIndexByte(name, '/')
	switch {
	case name == "":
		return "/", "."
	case i < 0:
		return ".", name
	case i == 0:
		return "/", name[1:]
	}
	return name[:i], name[i+1:]
}
