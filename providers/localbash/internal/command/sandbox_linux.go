package command

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/workspacekit/workspacekit/internal/lazyregexp"
)

// sandbox is what programs run in.
type sandbox struct {
	bwrap string // the path of bubblewrap, empty if there is no sandbox
	text  string // what it is
	path  string // the PATH of programs
}

// probeWait bounds how long bubblewrap is tried.
const probeWait = 10 * time.Second

// findSandbox looks for bubblewrap in path and tries it. A fault of the readable paths is an
// error: otherwise commands would run without the sandbox that there is.
func findSandbox(ctx context.Context, s Settings, path string) (*sandbox, error) {
	if s.Sandbox == Off {
		return &sandbox{text: "no sandbox: it is off", path: path}, nil
	}
	found, err := tryBubblewrap(ctx, s, path)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err == nil {
		return found, nil
	}
	if bare := s; len(s.Readable) > 0 {
		bare.Readable = nil
		if _, fault := tryBubblewrap(ctx, bare, path); fault == nil {
			return nil, fmt.Errorf("%w: %w", ErrReadable, err)
		}
	}
	if s.Sandbox == Require {
		return nil, fmt.Errorf("%w: %w", ErrNoSandbox, err)
	}
	return &sandbox{text: "no sandbox: " + err.Error(), path: path}, nil
}

// tryBubblewrap returns a sandbox that has been tried.
func tryBubblewrap(ctx context.Context, s Settings, path string) (*sandbox, error) {
	bwrap := ""
	for _, dir := range filepath.SplitList(path) {
		file := filepath.Join(dir, "bwrap")
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			bwrap = file
			break
		}
	}
	if bwrap == "" {
		return nil, ErrNoBwrap
	}
	found := &sandbox{bwrap: bwrap, path: visiblePath(s, path)}
	ctx, cancel := context.WithTimeout(ctx, probeWait)
	defer cancel()
	cmd := exec.CommandContext(ctx, bwrap, append(systemArguments(s), "--", shell, "-c", ":")...)
	cmd.Env, cmd.Dir, cmd.WaitDelay = []string{}, "/", time.Second
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("bubblewrap does not work: %w", probeError(err, stderr.String()))
	}
	version := exec.CommandContext(ctx, bwrap, "--version")
	version.Env, version.WaitDelay = []string{}, time.Second
	said, err := version.Output()
	found.text = strings.TrimSpace(string(said))
	if err != nil || len(found.text) > 40 {
		found.text = "bubblewrap"
	}
	if !s.Network {
		found.text += ", no network"
	}
	return found, nil
}

// place matches a path in what bubblewrap says, and what follows it but for the reason:
//
//	Can't find source path /srv/a: b: Not a directory
//	                       ^^^^^^^^^
var place = lazyregexp.New(`(^|[\s'"(])/.*?(: [^:/]*$|$)`)

// probeError returns the error of bubblewrap, with the first line that it said, without paths
// of this computer.
func probeError(err error, said string) error {
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		err = at.Err
	}
	line, _, _ := strings.Cut(strings.TrimPrefix(said, "bwrap: "), "\n")
	if line == "" {
		return err
	}
	return fmt.Errorf("%w (%.200s)", err, place().ReplaceAllString(line, "${1}[hidden]${2}"))
}

// systemDirs are the directories of the system that programs see.
var systemDirs = []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix", "/gnu"}

// visiblePath returns the directories of path that programs in the sandbox see.
func visiblePath(s Settings, path string) string {
	dirs := slices.DeleteFunc(filepath.SplitList(path), func(dir string) bool {
		return !slices.ContainsFunc(slices.Concat(s.Readable, systemDirs), func(seen string) bool { return isBelow(seen, dir) })
	})
	return cmp.Or(strings.Join(dirs, ":"), basePath)
}

// systemArguments returns the arguments that do not depend on the command: namespaces,
// and the directories of the system, as they are now.
func systemArguments(s Settings) []string {
	args := []string{
		"--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try",
		// Bubblewrap ends after its first process. That must not be another one of
		// bubblewrap, which it would not wait for.
		"--as-pid-1",
		"--die-with-parent", "--new-session", "--cap-drop", "ALL",
	}
	if !s.Network {
		args = append(args, "--unshare-net")
	}
	for _, dir := range systemDirs {
		info, err := os.Lstat(dir)
		if err != nil {
			continue
		}
		if target, err := os.Readlink(dir); err == nil {
			args = append(args, "--symlink", target, dir)
		} else if info.IsDir() {
			args = append(args, "--ro-bind", dir, dir)
		}
	}
	args = append(args, secretArguments("/etc")...)
	home, err := os.UserHomeDir()
	if err == nil {
		home, err = filepath.EvalSymlinks(home)
	}
	if err == nil {
		for _, dir := range []string{"/usr", "/opt", "/etc"} {
			if isBelow(dir, home) && home != dir {
				args = append(args, "--tmpfs", home)
			}
		}
	}
	if s.Network {
		// Often a symlink to where the sandbox has nothing.
		if file, err := filepath.EvalSymlinks("/etc/resolv.conf"); err == nil && !isBelow("/etc", file) {
			args = append(args, "--ro-bind", file, file)
		}
	}
	args = append(args, "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--dir", "/run", "--symlink", "../tmp", "/var/tmp")
	// What the super-user could change the kernel by, without any capability. No
	// other mount of proc can be made while these hide parts of it.
	for _, path := range []string{"/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/fs", "/proc/acpi", "/proc/scsi"} {
		if _, err := os.Lstat(path); err == nil {
			args = append(args, "--ro-bind", path, path)
		}
	}
	for _, path := range []string{"/proc/kcore", "/proc/keys", "/proc/timer_list"} {
		if _, err := os.Lstat(path); err == nil {
			args = append(args, "--ro-bind", os.DevNull, path)
		}
	}
	for _, path := range s.Readable {
		// Bubblewrap itself ignores only ENOENT.
		if _, err := os.Stat(path); err == nil {
			args = append(args, "--ro-bind-try", path, path)
		}
	}
	return args
}

// secretArguments returns the arguments that hide the files below dir that some
// users may not read: the super-user could.
func secretArguments(dir string) []string {
	var args []string
	_ = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.Type()&fs.ModeSymlink != 0 {
			return nil // a directory that cannot be read here cannot be read in the sandbox
		}
		info, err := entry.Info()
		switch {
		case err != nil:
			return nil
		case entry.IsDir() && info.Mode()&0o005 != 0o005:
			args = append(args, "--tmpfs", path)
			return fs.SkipDir
		case !entry.IsDir() && info.Mode()&0o004 == 0:
			args = append(args, "--ro-bind", os.DevNull, path)
		}
		return nil
	})
	return args
}

// arguments returns the arguments of bubblewrap for c, as bubblewrap reads them from a file.
func (s *sandbox) arguments(r *Runner, c Command) []byte {
	root := "/proc/self/fd/" + strconv.Itoa(rootFd)
	args := append(systemArguments(r.settings), "--bind", root, r.root)
	for _, frozen := range c.Frozen {
		kind := "--ro-bind"
		if frozen.Parent {
			kind = "--bind"
		}
		args = append(args, kind, root+"/"+frozen.Name, filepath.Join(r.root, filepath.FromSlash(frozen.Name)))
	}
	args = append(args, "--bind", r.keeper.home, r.keeper.home, "--block-fd", strconv.Itoa(holdFd), "--remount-ro", "/", "--chdir", "/")
	return []byte(strings.Join(args, "\x00") + "\x00")
}
