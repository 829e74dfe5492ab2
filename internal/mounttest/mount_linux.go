package mounttest

import (
	"syscall"
	"testing"
)

// Tmpfs mounts an empty file system in memory at dir until the test ends, with options such as
// "size=64k" or "nr_inodes=8". It skips the test without the right to mount.
func Tmpfs(t testing.TB, dir, options string) {
	t.Helper()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, options); err != nil {
		t.Skipf("the right to mount a file system, which root has, is missing: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Errorf("Unmount(%q) = %v", dir, err)
		}
	})
}
