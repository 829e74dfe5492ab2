package localbash

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
