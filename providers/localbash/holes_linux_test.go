package localbash_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestCopyKeepsHoles copies files of 256 MiB with a few bytes in them.
func TestCopyKeepsHoles(t *testing.T) {
	t.Parallel()
	const size, most = 256 << 20, 1 << 20
	for name, offsets := range map[string][]int64{
		"no data": nil, "data at the beginning": {0}, "in the middle": {100<<20 + 1, 200 << 20}, "at the end": {0, size - 4},
	} {
		dir := t.TempDir()
		file, err := os.Create(filepath.Join(dir, "file"))
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if err := file.Truncate(size); err != nil {
			t.Skipf("this file system has no files of %d bytes: %v", size, err)
		}
		for _, offset := range offsets {
			if _, err := file.WriteAt([]byte("data"), offset); err != nil {
				t.Fatal(err)
			}
		}
		if taken(t, file) > most {
			t.Skip("this file system has no holes")
		}
		if _, err := open(t, dir, nil).Copy(t.Context(), "file", "copy"); err != nil {
			t.Fatalf("%s: Copy = %v, want nil", name, err)
		}
		copied, err := os.Open(filepath.Join(dir, "copy"))
		if err != nil {
			t.Fatal(err)
		}
		defer copied.Close()
		if info, err := copied.Stat(); err != nil || info.Size() != size {
			t.Errorf("%s: Stat of the copy = %+v, %v, want %d bytes", name, info, err, size)
		}
		if got := taken(t, copied); got > most {
			t.Errorf("%s: the copy takes %d bytes of the disk, want at most %d", name, got, most)
		}
		for _, offset := range offsets {
			data := make([]byte, 4)
			if _, err := copied.ReadAt(data, offset); err != nil || string(data) != "data" {
				t.Errorf("%s: the copy has %q, %v at %d, want %q", name, data, err, offset, "data")
			}
		}
	}
}

// taken returns how many bytes of the disk file takes.
func taken(t *testing.T, file *os.File) int64 {
	t.Helper()
	var stat syscall.Stat_t
	if err := syscall.Fstat(int(file.Fd()), &stat); err != nil {
		t.Fatal(err)
	}
	return stat.Blocks * 512
}
