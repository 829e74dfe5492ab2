package localbash

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// host is the folder as the operating system shows it. [*os.Root] is one that
// lets nothing out.
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
	_ host = (*os.Root)(nil)
	_ host = plain{}
)

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
