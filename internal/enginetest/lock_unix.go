//go:build unix

package enginetest

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// share keeps others from killing dockerd during the test.
func share(tb testing.TB) { lock(tb, syscall.LOCK_SH) }

// own keeps others from using dockerd during the test.
func own(tb testing.TB) { lock(tb, syscall.LOCK_EX) }

// lock locks a file that all tests of a dockerd have in common, if that was
// started for the tests.
func lock(tb testing.TB, how int) {
	tb.Helper()
	state := os.Getenv("WORKSPACEKIT_DOCKERD_STATE")
	if state == "" {
		return
	}
	file, err := os.OpenFile(filepath.Join(state, "tests.lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { file.Close() })
	for err = syscall.EINTR; errors.Is(err, syscall.EINTR); {
		err = syscall.Flock(int(file.Fd()), how)
	}
	if err != nil {
		tb.Fatal(err)
	}
}
