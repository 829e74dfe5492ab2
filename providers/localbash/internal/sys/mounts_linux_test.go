package sys_test

import (
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/workspacekit/workspacekit/providers/localbash/internal/sys"
)

// TestMountsWithSignals asks beside signals of a profiler, which interrupt system calls. A signal is no
// change.
func TestMountsWithSignals(t *testing.T) {
	t.Parallel()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	dir, err := os.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	mounts, err := sys.OpenMounts(int(dir.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer mounts.Close()
	thread := unix.Gettid()
	var sent atomic.Int64
	var group sync.WaitGroup
	defer group.Wait()
	done := make(chan struct{})
	defer close(done)
	group.Go(func() {
		for ; ; sent.Add(1) {
			select {
			case <-done:
				return
			default:
				unix.Tgkill(unix.Getpid(), thread, unix.SIGPROF)
			}
		}
	})
	for calls := 0; calls < 300_000 || sent.Load() < 20_000; calls++ {
		if mounts.Changed() {
			t.Fatalf("Changed() = true after %d signals, and nothing was mounted", sent.Load())
		}
	}
}
