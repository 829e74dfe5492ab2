package sys

import (
	"errors"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Rename renames old in the directory from to new in the directory to.
func Rename(from *os.File, old string, to *os.File, new string) error {
	return withDescriptors(from, to, func(source, target int) error {
		return unix.Renameat(source, old, target, new)
	})
}

// RenameExclusive is Rename in one step that never takes a name that exists.
//
// # Errors
//
// [errors.ErrUnsupported] if the kernel or the file system cannot.
func RenameExclusive(from *os.File, old string, to *os.File, new string) error {
	err := withDescriptors(from, to, func(source, target int) error {
		return unix.Renameat2(source, old, target, new, unix.RENAME_NOREPLACE)
	})
	if err == unix.EINVAL || err == unix.ENOSYS {
		return errors.ErrUnsupported
	}
	return err
}

// Link creates new in the directory to as a hard link of old in the directory
// from.
func Link(from *os.File, old string, to *os.File, new string) error {
	return withDescriptors(from, to, func(source, target int) error {
		return unix.Linkat(source, old, target, new, 0)
	})
}

// Duplicate returns a descriptor of file that outlives it.
func Duplicate(file *os.File) (int, error) {
	duplicate := -1
	err := withDescriptor(file, func(fd int) (err error) {
		duplicate, err = unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
		return err
	})
	return duplicate, err
}

// ChangeClock returns the time that a change at this moment would get. It is
// the kernel's coarse clock, which stands still for up to 10 ms.
func ChangeClock() int64 {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_REALTIME_COARSE, &now); err != nil {
		return 0
	}
	return now.Nano()
}

// DatesChanges reports whether every change of the open directory gets the time
// of the kernel's clock, to the nanosecond, before anyone can see it. So it is on
// local file systems; over a network it is another clock and later.
func DatesChanges(fd int, changed int64) bool {
	return changed%1e9 != 0 && isLocal(fd, unix.OVERLAYFS_SUPER_MAGIC) // ext4 can have inodes with whole seconds
}

// FillsReads reports whether a read of a file in the open directory returns all that was
// asked for, unless the file ends or the disk fails. Other file systems, such as those of
// programs and of the kernel, may return less.
func FillsReads(fd int) bool { return isLocal(fd) }

// isLocal reports whether an open file is on the disk of this machine, in its memory, or in
// a file system of one of the types more.
func isLocal(fd int, more ...int64) bool {
	var stat unix.Statfs_t
	if err := unix.Fstatfs(fd, &stat); err != nil {
		return false
	}
	switch uint32(stat.Type) {
	case unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.F2FS_SUPER_MAGIC, unix.TMPFS_MAGIC:
		return true
	}
	return slices.Contains(more, int64(uint32(stat.Type)))
}

// Name returns "Linux", with the version of the kernel if it says one.
func Name() string {
	release, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return "Linux"
	}
	return "Linux " + strings.TrimSpace(string(release))
}

// FileSystem returns what kind of file system a folder is on, "" if it is
// none of the common ones.
func FileSystem(root string) string {
	var stat unix.Statfs_t
	if err := unix.Statfs(root, &stat); err != nil {
		return ""
	}
	return fileSystems[uint32(stat.Type)]
}

// fileSystems names file systems by the numbers in the kernel's
// include/uapi/linux/magic.h.
var fileSystems = map[uint32]string{
	0xEF53:     "ext2/3/4", // which have one number
	0x58465342: "xfs",
	0x9123683E: "btrfs",
	0x2FC12FC1: "zfs",
	0xF2F52010: "f2fs",
	0x01021994: "tmpfs",
	0x794C7630: "overlayfs",
	0x6969:     "nfs",
	0xFF534D42: "smb",
	0xFE534D42: "smb",
	0x517B:     "smb",
	0x65735546: "fuse",
	0x01021997: "9p",
	0x4D44:     "fat",
	0x2011BAB0: "exfat",
	0x5346544E: "ntfs",
	0x7366746E: "ntfs",
}

// Mounts tells when a file system was mounted or unmounted below a directory, where this
// process sees it.
type Mounts struct {
	file  *os.File // the list of all mounts
	dir   int      // the directory
	below string   // its part of the list
}

// OpenMounts returns the Mounts below the open directory dir.
func OpenMounts(dir int) (*Mounts, error) {
	dir, err := unix.FcntlInt(uintptr(dir), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("fcntl", err)
	}
	m := &Mounts{dir: dir}
	// Package os would poll the file, too, and take the changes that Changed asks for.
	fd, err := unix.Open("/proc/self/mountinfo", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		unix.Close(m.dir)
		return nil, os.NewSyscallError("open", err)
	}
	m.file = os.NewFile(uintptr(fd), "mountinfo")
	if m.below, err = m.list(); err != nil {
		m.Close()
		return nil, err
	}
	return m, nil
}

// list returns the lines of the list that are about mounts below the directory. Their fifth
// field is where the file system is mounted, with spaces and the like as octal numbers. See
// proc_pid_mountinfo(5).
func (m *Mounts) list() (string, error) {
	dir, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(m.dir))
	if err != nil {
		return "", err
	}
	dir = strings.NewReplacer(" ", `\040`, "\t", `\011`, "\n", `\012`, `\`, `\134`).Replace(strings.TrimSuffix(dir, "/")) + "/"
	if _, err := m.file.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	all, err := io.ReadAll(m.file)
	var below strings.Builder
	for line := range strings.Lines(string(all)) {
		if fields := strings.Fields(line); len(fields) > 4 && strings.HasPrefix(fields[4], dir) {
			below.WriteString(line)
		}
	}
	return below.String(), err
}

// Changed reports whether there was a change since the last call. It returns true if it
// cannot tell.
func (m *Mounts) Changed() bool {
	changes := 0
	err := withDescriptor(m.file, func(fd int) (err error) {
		for { // a signal, such as those of Go's scheduler, interrupts even a call that does not wait
			changes, err = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLPRI}}, 0)
			if err != unix.EINTR {
				return err
			}
		}
	})
	if err != nil || changes == 0 {
		return err != nil
	}
	before := m.below
	m.below, err = m.list()
	return err != nil || m.below != before
}

// Close closes what m has open.
func (m *Mounts) Close() error {
	unix.Close(m.dir)
	return m.file.Close()
}
