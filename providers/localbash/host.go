package localbash

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/provider"
)

// host is the folder as the operating system shows it. There are three:
//
//	confined     os.Root, for most folders
//	unconfined   package os, for those that are relaxed
//	nofollow     one of these for the exact view
//
// The methods are those of [os.Root]. Names are from the folder, or absolute in an unconfined
// one, and need not be clean, as some are what symlinks say. Errors are the operating system's
// own or of a kind of package workspace. The caller closes what it opens.
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
	_ host = unconfined{}
)

// confined is the host of a folder that is not relaxed. [os.Root], which lets
// nothing out, follows at most 8 symlinks in a name; confined follows as many as
// Linux does. Where os.Root gives up, it looks up where the symlinks lead and
// asks os.Root for that name. os.Root confines it like any other, so whoever
// swaps symlinks in between gains nothing.
//
// For os.Root a name with 9 symlinks is a loop. resolve turns it into a name without any,
// which costs a system call for each element of each directory on the way, and so is only done
// then.
type confined struct{ root *os.Root }

// OpenFile implements host. os.Root confines the name.
func (c confined) OpenFile(name string, flag int, perm fs.FileMode) (*os.File, error) {
	return follow(name, c.resolve, func(name string) (*os.File, error) { return c.root.OpenFile(name, flag, perm) })
}

// OpenRoot implements host.
func (c confined) OpenRoot(name string) (*os.Root, error) {
	return follow(name, c.resolveDir, c.root.OpenRoot)
}

// Stat implements host. It follows more symlinks in a name than os.Root does.
func (c confined) Stat(name string) (fs.FileInfo, error) { return follow(name, c.resolve, c.root.Stat) }

// Lstat implements host. The last element is not followed, so only the directories before it
// are resolved.
func (c confined) Lstat(name string) (fs.FileInfo, error) {
	return follow(name, c.resolveParent, c.root.Lstat)
}

// Readlink implements host.
func (c confined) Readlink(name string) (string, error) {
	return follow(name, c.resolveParent, c.root.Readlink)
}

// Mkdir implements host.
func (c confined) Mkdir(name string, perm fs.FileMode) error {
	_, err := follow(name, c.resolveParent, func(name string) (none struct{}, err error) { return none, c.root.Mkdir(name, perm) })
	return err
}

// MkdirAll implements host.
func (c confined) MkdirAll(name string, perm fs.FileMode) error {
	_, err := follow(name, c.resolve, func(name string) (none struct{}, err error) { return none, c.root.MkdirAll(name, perm) })
	return err
}

// Rename implements host.
func (c confined) Rename(oldname, newname string) error {
	return c.between(c.root.Rename, oldname, newname)
}

// Link implements host.
func (c confined) Link(oldname, newname string) error {
	return c.between(c.root.Link, oldname, newname)
}

// Close implements host.
func (c confined) Close() error { return c.root.Close() }

// between is follow for two names. Of both, only the directories are resolved: Rename and Link
// are about the names themselves.
func (c confined) between(use func(oldname, newname string) error, oldname, newname string) error {
	_, err := follow(oldname, c.resolveParent, func(oldname string) (none struct{}, err error) {
		return follow(newname, c.resolveParent, func(newname string) (struct{}, error) { return none, use(oldname, newname) })
	})
	return err
}

// follow returns what use returns for name or, if os.Root gives up following the symlinks in
// it, for what resolve makes of it. use is called twice at most, and must have done nothing if
// it fails so.
func follow[T any](name string, resolve func(name string) (string, error), use func(name string) (T, error)) (T, error) {
	result, err := use(name)
	if !errors.Is(err, syscall.ELOOP) && !errors.Is(err, syscall.ENAMETOOLONG) {
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
//
// An absolute symlink is [workspace.ErrEscape] wherever it leads, as it is for os.Root. Too
// many symlinks, or elements, are syscall.ELOOP.
func (c confined) resolve(name string) (string, error) {
	lookups := 0
	r := resolution{
		lstat: func(name string) (fileStat, error) {
			if lookups++; lookups > maxLookups {
				return fileStat{}, syscall.ELOOP
			}
			info, err := c.root.Lstat(name)
			if err != nil {
				return fileStat{}, err
			}
			return statOf(info), nil
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

// unconfined is the host of a relaxed folder: names mean what they mean to any program
// that runs in dir.
type unconfined struct{ dir string }

// path does not clean, as "link/.." is not the folder that link is in. Cleaning would make it
// the folder itself, wherever link leads.
func (u unconfined) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return u.dir + string(filepath.Separator) + name
}

// inside returns a spelling of dir that only a directory can have, so that
// opening it never waits for the other end of a FIFO.
func inside(dir string) string { return dir + string(filepath.Separator) + "." }

// OpenFile implements host. A symlink in the name may lead anywhere.
func (u unconfined) OpenFile(name string, flag int, perm fs.FileMode) (*os.File, error) {
	return os.OpenFile(u.path(name), flag, perm)
}

// OpenRoot implements host.
func (u unconfined) OpenRoot(name string) (*os.Root, error) { return os.OpenRoot(u.path(name)) }

// Stat implements host.
func (u unconfined) Stat(name string) (fs.FileInfo, error) { return os.Stat(u.path(name)) }

// Lstat implements host.
func (u unconfined) Lstat(name string) (fs.FileInfo, error) { return os.Lstat(u.path(name)) }

// Readlink implements host.
func (u unconfined) Readlink(name string) (string, error) { return os.Readlink(u.path(name)) }

// Mkdir implements host.
func (u unconfined) Mkdir(name string, perm fs.FileMode) error {
	return os.Mkdir(u.path(name), perm)
}

// MkdirAll implements host.
func (u unconfined) MkdirAll(name string, perm fs.FileMode) error {
	return os.MkdirAll(u.path(name), perm)
}

// Rename implements host.
func (u unconfined) Rename(oldname, newname string) error {
	return os.Rename(u.path(oldname), u.path(newname))
}

// Link implements host.
func (u unconfined) Link(oldname, newname string) error {
	return os.Link(u.path(oldname), u.path(newname))
}

// Close implements host. Nothing is open.
func (u unconfined) Close() error { return nil }

// splitUnclean splits a name that may be the target of a symlink: absolute, or with elements
// that path.Dir would clean away although they mean something.
//
//	a/b/    a     b
//	b       .     b
//	/b      /     b
//	/       /     .
//	l/../b  l/..  b
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

// maxLinks is how many symlinks are followed in one name,
// as Linux does.
const maxLinks = 40

// Resolve implements [provider.Resolver]. A relaxed folder, too, resolves only
// what lies in it.
//
// Nothing is held open between the steps, so the result is where the name led at some moment.
// What relies on it must not follow symlinks again.
func (f *folder) Resolve(ctx context.Context, name string) (string, error) {
	r := resolution{lstat: f.lstat, readlink: f.host.Readlink, fromRoot: f.fromRoot}
	return r.run(ctx, name)
}

// resolution is a walk along a name. It follows symlinks as the kernel does, but in the names
// of the folder. With a symlink a/l to ../b, the name a/l/c is resolved like this:
//
//	at     rest
//	.      a l c
//	a      l c
//	a      .. b c    the link has been replaced by its target
//	.      b c
//	b      c
//	b/c
type resolution struct {
	lstat    func(name string) (fileStat, error)
	readlink func(link string) (string, error)
	fromRoot func(target string) (string, error) // turns an absolute target into a path from the folder

	at    string   // so far, without symlinks
	rest  []string // the elements to come
	links int      // followed so far
}

// run returns name without the symlinks in it.
func (r *resolution) run(ctx context.Context, name string) (string, error) {
	r.at, r.rest = ".", strings.Split(filepath.ToSlash(name), "/")
	for len(r.rest) > 0 {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		if err := r.step(); err != nil {
			return "", err
		}
	}
	return r.at, nil
}

// step takes the next element. What does not exist stays as it is spelled (RS2), and so does
// everything below a file. But "file/.." is [workspace.ErrNotDir], as for the kernel: without
// that, a name could leave what is no directory as if it were one.
func (r *resolution) step() error {
	element := r.rest[0]
	r.rest = r.rest[1:]
	switch element {
	case "", ".":
		return nil
	case "..":
		return r.up()
	}
	next := workspace.Join(r.at, element)
	s, err := r.lstat(next)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		r.at = next
		return nil
	case err != nil:
		return err
	case s.kind == workspace.TypeSymlink:
		return r.follow(next)
	case s.kind != workspace.TypeDirectory && slices.Contains(r.rest, ".."):
		return workspace.ErrNotDir
	case s.kind != workspace.TypeDirectory: // nothing exists below it
		next, r.rest = path.Join(next, path.Join(r.rest...)), nil
	}
	r.at = next
	return nil
}

// up goes to the parent directory. The parent of the root is outside: [workspace.ErrEscape].
func (r *resolution) up() error {
	if r.at == "." {
		return workspace.ErrEscape
	}
	r.at = path.Dir(r.at)
	return nil
}

// follow continues with the target of link. Its elements take the place of the link, and are
// counted from the directory that the link is in.
func (r *resolution) follow(link string) error {
	r.links++
	if r.links > maxLinks {
		return provider.Errorf(fs.ErrInvalid, "%w", syscall.ELOOP)
	}
	target, err := r.readlink(link)
	if err != nil {
		return err
	}
	if filepath.IsAbs(target) {
		if target, err = r.fromRoot(target); err != nil {
			return err
		}
		r.at = "."
	}
	r.rest = append(strings.Split(filepath.ToSlash(target), "/"), r.rest...)
	return nil
}

// fromRoot returns the absolute target as a path from the folder. A relaxed folder may be
// named by the path that the caller gave or by the one without symlinks. What is outside has
// no name in the folder: [workspace.ErrEscape].
func (f *folder) fromRoot(target string) (string, error) {
	if !f.relaxed {
		return "", workspace.ErrEscape
	}
	real, err := filepath.EvalSymlinks(filepath.FromSlash(f.root))
	if err != nil {
		return "", err
	}
	for _, root := range []string{f.root, filepath.ToSlash(real)} {
		rest, ok := strings.CutPrefix(filepath.ToSlash(target)+"/", strings.TrimSuffix(root, "/")+"/")
		if ok {
			return rest, nil
		}
	}
	return "", workspace.ErrEscape
}
