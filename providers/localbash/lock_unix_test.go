//go:build unix

package localbash_test

import (
	"os"
	"syscall"
	"testing"
)

// lockFolder locks dir as another program would.
func lockFolder(t *testing.T, dir string) (unlock func()) {
	t.Helper()
	file, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	return func() { file.Close() }
}
