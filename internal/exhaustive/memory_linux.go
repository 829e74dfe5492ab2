package exhaustive

import "syscall"

// memoryDir is where files are in memory.
const memoryDir = "/dev/shm"

// room returns how many bytes are free in dir, 0 if that is not known.
func room(dir string) uint64 {
	var stat syscall.Statfs_t
	if err := syscall.Statfs(dir, &stat); err != nil {
		return 0
	}
	return stat.Bavail * uint64(stat.Bsize)
}
