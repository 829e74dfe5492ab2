package localbash_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/workspacekit/workspacekit/providers/localbash"
	"github.com/workspacekit/workspacekit/workspace"
)

// TestWatchRecovers loses events, and wants that to be said, and later changes
// to be seen in all that has been made meanwhile.
func TestWatchRecovers(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "old/file"), "")
	put(t, filepath.Join(dir, "removed/file"), "")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	events, blind, lose, err := open(t, dir, nil).WatchLosing(ctx, ".")
	if err != nil {
		t.Fatal(err)
	}
	o := &observer{t: t, events: events}
	put(t, filepath.Join(dir, "seen"), "")
	o.until("create seen")
	blind()
	put(t, filepath.Join(dir, "new/sub/file"), "")
	rename(t, filepath.Join(dir, "removed"), filepath.Join(dir, "moved"))
	lose()
	o.until("overflow .")
	put(t, filepath.Join(dir, "new/sub/file"), "more")
	put(t, filepath.Join(dir, "old/file"), "more")
	put(t, filepath.Join(dir, "moved/file"), "more")
	put(t, filepath.Join(dir, "removed/file"), "")
	wanted := []string{"write new/sub/file", "write old/file", "write moved/file", "create removed", "create removed/file"}
	checkOthers(t, o.until(wanted...), wanted)
}

// TestOutOfWatches uses up what the operating system has, in a child that has
// its own of that.
func TestOutOfWatches(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "a/b/c/d/file"), "")
	for _, limit := range []string{"max_inotify_instances", "max_inotify_watches"} {
		t.Run(limit, func(t *testing.T) {
			cmd := child(t, limit, dir)
			cmd.SysProcAttr = &syscall.SysProcAttr{
				Cloneflags:  syscall.CLONE_NEWUSER,
				UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}},
				GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}},
			}
			if err := cmd.Start(); err != nil {
				t.Skipf("user namespaces are not allowed here: %v", err)
			}
			if err := cmd.Wait(); err != nil {
				t.Errorf("child: %v", err)
			}
		})
	}
}

// linuxRoles are what a child can do on Linux only.
func linuxRoles() map[string]func(dir string) error {
	roles := map[string]func(string) error{}
	for limit, named := range map[string]string{
		"max_inotify_instances": "max_user_instances", "max_inotify_watches": "max_user_watches",
	} {
		roles[limit] = func(dir string) error {
			if err := os.WriteFile("/proc/sys/user/"+limit, []byte("2"), 0); err != nil {
				return err
			}
			return withFS(dir, func(fsys *localbash.FS) error { return watchTooMuch(fsys, named) })
		}
	}
	return roles
}

// watchTooMuch watches until it is refused, and wants the error to name limit.
func watchTooMuch(fsys *localbash.FS, limit string) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for range 4 {
		_, err := fsys.Watch(ctx, ".", nil)
		if err == nil {
			continue
		}
		if !errors.Is(err, workspace.ErrUnavailable) || !strings.Contains(err.Error(), limit) {
			return fmt.Errorf("Watch = %w, want %w that names %q", err, workspace.ErrUnavailable, limit)
		}
		return nil
	}
	return errors.New("Watch was never refused")
}
