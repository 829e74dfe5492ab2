package command

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// mountWait bounds how long bubblewrap makes a sandbox.
const mountWait = 10 * time.Second

// release lets the gate of a sandbox begin, once bubblewrap has mounted what c says and nothing
// else. Bubblewrap looks names up again. If another command has replaced a directory by a symlink
// meanwhile, bubblewrap mounts what that leads to, or mounts something there:
//
//	c.Frozen     .git is a directory, number 7
//	             another command replaces it by a symlink to ..
//	bubblewrap   mounts the directory above the folder, number 2
//	release      .git is not a mount of number 7: ErrSwapped
//
// If bubblewrap ends, there is nothing to release and no error.
func (p *process) release(ctx context.Context, root string, c Command) error {
	if p.sandbox.bwrap == "" {
		return nil
	}
	top, err := p.mounted(ctx)
	if top == nil {
		return err
	}
	defer top.Close()
	if !c.isMounted(top, root) {
		return ErrSwapped
	}
	_, err = p.hold.Write([]byte{'\n'})
	return err
}

// mounted waits until bubblewrap has mounted everything, and returns the root of the sandbox.
// It is nil without an error if bubblewrap has ended.
func (p *process) mounted(ctx context.Context) (*os.File, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, mountWait, ErrFailed)
	defer cancel()
	host, err := os.Stat("/")
	if err != nil {
		return nil, err
	}
	pause := time.NewTicker(time.Millisecond / 2)
	defer pause.Stop()
	for {
		if top := p.top(host); top != nil {
			return top, nil
		}
		select {
		case <-pause.C:
		case <-p.ended:
			return nil, nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// top returns the root of the sandbox, nil before bubblewrap has made it. Then it is read-only and
// not that of this computer, and ".." in it leads to itself: it did not while bubblewrap had
// another root on top of it.
func (p *process) top(host os.FileInfo) *os.File {
	fd, err := unix.Open(fmt.Sprintf("/proc/%d/root", p.child()), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	top := os.NewFile(uintptr(fd), "root")
	if above, err := openBelow(top, "..", 0); err == nil {
		defer above.Close()
		if info, err := top.Stat(); err == nil && !os.SameFile(info, host) && isReadOnly(top) && isFile(above, info) {
			return top
		}
	}
	top.Close()
	return nil
}

// isMounted reports whether the folder and all that is frozen are mounts in the sandbox with the
// root top. Each must be another mount: so none is left that could be somewhere else.
func (c Command) isMounted(top *os.File, root string) bool {
	folder, err := openBelow(top, strings.TrimPrefix(root, "/"), 0)
	if err != nil {
		return false
	}
	defer folder.Close()
	if want, err := c.Root.Stat(); err != nil || !isFile(folder, want) {
		return false
	}
	mounts := map[string]bool{mountOf(folder): true}
	for _, frozen := range c.Frozen {
		mount, ok := frozen.mountIn(folder)
		if !ok || mounts[mount] {
			return false
		}
		mounts[mount] = true
	}
	return !mounts[""]
}

// mountIn returns the mount that has f in the folder. It is not ok if the name leads to another
// file, by a symlink, or to one that can be changed.
func (f Frozen) mountIn(folder *os.File) (mount string, ok bool) {
	file, err := openBelow(folder, ".", 0)
	for element := range strings.SplitSeq(f.Name, "/") {
		if err != nil {
			return "", false
		}
		dir := file
		file, err = openBelow(dir, element, unix.O_NOFOLLOW)
		dir.Close()
	}
	if err != nil {
		return "", false
	}
	defer file.Close()
	return mountOf(file), isFile(file, f.Info) && (f.Parent || isReadOnly(file))
}

// openBelow opens name in the directory dir, only to identify it.
func openBelow(dir *os.File, name string, flags int) (*os.File, error) {
	fd, err := unix.Openat(int(dir.Fd()), filepath.Clean(name), flags|unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

// isFile reports whether an open file is the one that want describes.
func isFile(file *os.File, want os.FileInfo) bool {
	got, err := file.Stat()
	return err == nil && os.SameFile(got, want)
}

// isReadOnly reports whether the mount of an open file is read-only.
func isReadOnly(file *os.File) bool {
	var s unix.Statfs_t
	return unix.Fstatfs(int(file.Fd()), &s) == nil && s.Flags&unix.ST_RDONLY != 0
}

// mountOf returns the number of the mount that a file was opened in, empty if it is not known.
func mountOf(file *os.File) string {
	info, _ := os.ReadFile(fmt.Sprintf("/proc/self/fdinfo/%d", file.Fd()))
	_, rest, _ := strings.Cut(string(info), "mnt_id:")
	number, _, _ := strings.Cut(rest, "\n")
	return strings.TrimSpace(number)
}
