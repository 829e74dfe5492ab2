package workspacekit

import (
	"os"
	"strings"
	"syscall"
)

// osName returns "Linux", with the version of the kernel if it says one.
func osName() string {
	release, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return "Linux"
	}
	return "Linux " + strings.TrimSpace(string(release))
}

// fileSystemOf returns what kind of file system a folder is on, "" if it is
// none of the common ones.
func fileSystemOf(root string) string {
	var stat syscall.Statfs_t
	if err := syscall.Statfs(root, &stat); err != nil {
		return ""
	}
	return magic(uint32(stat.Type))
}

// magic names file systems by the numbers in the kernel's
// include/uapi/linux/magic.h.
func magic(number uint32) string {
	switch number {
	case 0xEF53:
		return "ext2/3/4" // which have one number
	case 0x58465342:
		return "xfs"
	case 0x9123683E:
		return "btrfs"
	case 0x2FC12FC1:
		return "zfs"
	case 0xF2F52010:
		return "f2fs"
	case 0x01021994:
		return "tmpfs"
	case 0x794C7630:
		return "overlayfs"
	case 0x6969:
		return "nfs"
	case 0xFF534D42, 0xFE534D42, 0x517B:
		return "smb"
	case 0x65735546:
		return "fuse"
	case 0x01021997:
		return "9p"
	case 0x4D44:
		return "fat"
	case 0x2011BAB0:
		return "exfat"
	case 0x5346544E, 0x7366746E:
		return "ntfs"
	}
	return ""
}
