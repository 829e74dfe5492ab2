package localbash

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/workspacekit/workspacekit/workspace"
)

// errNoOpenat2 says that openat2 does not exist, or gives no answer.
var errNoOpenat2 = errors.New("no openat2")

// nofollow is the host of an exact view: a symlink in a name is [workspace.ErrSymlink]. It
// opens the directory that a name is in, one element at a time, and compares each with what
// the element was before.
//
// On Linux, what only opens, lists or describes does not get here, as openat2 refuses symlinks
// by itself. Elsewhere the comparison is what keeps EX4: os.Root follows a symlink that has
// replaced a directory between Lstat and OpenRoot, but then has opened another directory than
// Lstat described.
//
//	Lstat("a")      a directory, number 7
//	                somebody replaces a by a symlink to b, number 9
//	OpenRoot("a")   opens number 9: errOvertaken, and all begins again
type nofollow struct {
	host    host        // of the folder, which follows symlinks within it
	openat2 openat2Root // the exact one; zero for a watch
}

var _ host = nofollow{}

// maxSwapAttempts bounds how often an open is repeated because others replaced
// the file or directory at that moment.
const maxSwapAttempts = 1000

// OpenRoot opens the directory name. The error after the last attempt is errOvertaken.
func (n nofollow) OpenRoot(name string) (*os.Root, error) {
	for attempt := 1; ; attempt++ {
		root, err := n.openRootOnce(name)
		if !errors.Is(err, errOvertaken) || attempt == maxSwapAttempts {
			return root, err
		}
	}
}

// openRootOnce opens a directory with openat2, which follows no symlink, and
// then by the host, and compares the two. Without openat2 it goes down element
// by element.
func (n nofollow) openRootOnce(name string) (*os.Root, error) {
	want, err := n.openat2.openDir(name)
	if err == errNoOpenat2 {
		return n.descend(name, openExactly)
	}
	if err != nil {
		return nil, err
	}
	defer want.Close()
	// The host may follow symlinks. If it reaches the same directory, that does
	// not matter.
	root, err := n.host.OpenRoot(name)
	if isDetour(err) {
		err = errOvertaken
	}
	if err != nil {
		return nil, err
	}
	before, err := want.Stat()
	if err != nil {
		root.Close()
		return nil, err
	}
	return sameRoot(root, before)
}

// isDetour reports whether err is one of following a symlink that took the place of a
// directory. It is for a name that openat2 has just opened without a symlink, so that these
// errors can only mean that something has changed since. Any other error number, such as
// EACCES, is an error of the directory itself.
func isDetour(err error) bool {
	var errno syscall.Errno
	return err != nil && (!errors.As(err, &errno) || errors.Is(err, fs.ErrNotExist) || errno == syscall.ENOTDIR || errno == syscall.ELOOP)
}

// sameRoot returns root if it is the directory that before describes, and closes it otherwise.
// It is errOvertaken then.
func sameRoot(root *os.Root, before fs.FileInfo) (*os.Root, error) {
	opened, err := root.Lstat(".")
	if err == nil && !os.SameFile(before, opened) {
		err = errOvertaken
	}
	if err != nil {
		root.Close()
		return nil, err
	}
	return root, nil
}

// descend opens the directory name one element at a time by enter. The caller closes the
// result. Only one directory is open at a time, besides the folder.
func (n nofollow) descend(name string, enter func(parent *os.Root, element string) (*os.Root, error)) (*os.Root, error) {
	root, err := n.host.OpenRoot(inside("."))
	if err != nil {
		return nil, err
	}
	for element := range strings.SplitSeq(filepath.ToSlash(name), "/") {
		if element == "." {
			continue
		}
		child, err := enter(root, element)
		root.Close()
		if err != nil {
			return nil, err
		}
		root = child
	}
	return root, nil
}

// openParent opens the directory that name is in. The caller closes it.
func (n nofollow) openParent(name string) (*os.Root, string, error) {
	dir, base := workspace.Split(name)
	root, err := n.OpenRoot(inside(dir))
	return root, base, err
}

// OpenFile opens a file or directory that exists. flag must not create: what is opened is
// compared with what was there before.
func (n nofollow) OpenFile(name string, flag int, perm fs.FileMode) (*os.File, error) {
	for attempt := 1; ; attempt++ {
		file, err := n.openFileOnce(name, flag, perm)
		if !errors.Is(err, errOvertaken) || attempt == maxSwapAttempts {
			return file, err
		}
	}
}

// openFileOnce opens a file in its directory and compares it with what Lstat
// found just before.
func (n nofollow) openFileOnce(name string, flag int, perm fs.FileMode) (*os.File, error) {
	parent, base, err := n.openParent(name)
	if err != nil {
		return nil, err
	}
	defer parent.Close()
	before, err := lstatPlain(parent, base)
	if err != nil {
		return nil, err
	}
	file, err := parent.OpenFile(base, flag, perm)
	if err != nil {
		return nil, err
	}
	opened, err := file.Stat()
	if err == nil && !os.SameFile(before, opened) {
		err = errOvertaken
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// lstatPlain describes base, which must not be a symlink.
func lstatPlain(parent *os.Root, base string) (fs.FileInfo, error) {
	info, err := parent.Lstat(base)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return nil, workspace.ErrSymlink
	}
	return info, err
}

// Stat describes what is not a symlink.
func (n nofollow) Stat(name string) (fs.FileInfo, error) {
	parent, base, err := n.openParent(name)
	if err != nil {
		return nil, err
	}
	defer parent.Close()
	return lstatPlain(parent, base)
}

// Lstat describes name itself.
func (n nofollow) Lstat(name string) (fs.FileInfo, error) {
	parent, base, err := n.openParent(name)
	if err != nil {
		return nil, err
	}
	defer parent.Close()
	return parent.Lstat(base)
}

// Readlink fails, as nothing may follow what it would return. The caller learns that there is
// a symlink, which is all that may happen with one here.
func (n nofollow) Readlink(string) (string, error) { return "", workspace.ErrSymlink }

// Mkdir creates the directory name.
func (n nofollow) Mkdir(name string, perm fs.FileMode) error {
	parent, base, err := n.openParent(name)
	if err != nil {
		return err
	}
	defer parent.Close()
	return parent.Mkdir(base, perm)
}

// MkdirAll creates the directory name and its missing parents. A directory that somebody else
// creates meanwhile is as good as a new one.
func (n nofollow) MkdirAll(name string, perm fs.FileMode) error {
	root, err := n.descend(name, func(parent *os.Root, element string) (*os.Root, error) {
		child, err := openExactly(parent, element)
		if !errors.Is(err, fs.ErrNotExist) {
			return child, err
		}
		if err := parent.Mkdir(element, perm); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		return openExactly(parent, element)
	})
	if err != nil {
		return err
	}
	return root.Close()
}

// Rename renames a file after it has looked at the directories of both names.
func (n nofollow) Rename(oldname, newname string) error {
	return n.afterLook(n.host.Rename, oldname, newname)
}

// Link creates a hard link after it has looked at the directories of both names.
func (n nofollow) Link(oldname, newname string) error {
	return n.afterLook(n.host.Link, oldname, newname)
}

// afterLook is for operating systems that take no open directories in place of
// names: a symlink that is created between the look and the use is followed.
func (n nofollow) afterLook(use func(oldname, newname string) error, oldname, newname string) error {
	for _, name := range []string{oldname, newname} {
		parent, _, err := n.openParent(name)
		if err != nil {
			return err
		}
		parent.Close()
	}
	return use(oldname, newname)
}

// Close closes the folder.
func (n nofollow) Close() error { return n.host.Close() }
