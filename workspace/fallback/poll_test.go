package fallback_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/fallback"
)

// flaky is a file system whose Ls and Stat fail as they are told to.
type flaky struct {
	workspace.FileSystem
	mu sync.Mutex
	ls func(dir string, opts *workspace.LsOptions) error // guarded by mu; nil for none
	st func(name string) error                           // guarded by mu; nil for none
}

func (f *flaky) fail(ls func(dir string, opts *workspace.LsOptions) error, st func(name string) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ls, f.st = ls, st
}

func (f *flaky) Ls(ctx context.Context, dir string, opts *workspace.LsOptions) ([]workspace.FileInfo, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ls != nil {
		if err := f.ls(dir, opts); err != nil {
			return nil, ops.Error(ops.Ls, dir, err, nil)
		}
	}
	return f.FileSystem.Ls(ctx, dir, opts)
}

func (f *flaky) Stat(ctx context.Context, name string) (workspace.FileInfo, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.st != nil {
		if err := f.st(name); err != nil {
			return workspace.FileInfo{}, ops.Error(ops.Stat, name, err, nil)
		}
	}
	return f.FileSystem.Stat(ctx, name)
}

// failing returns a failure of each listing of dir.
func failing(dir string, err error) func(string, *workspace.LsOptions) error {
	return func(listed string, _ *workspace.LsOptions) error {
		if listed == dir {
			return err
		}
		return nil
	}
}

var errBroken = errors.New("broken")

// TestPollBesideFailures lets listings fail for some looks, changes something
// meanwhile, and wants the events of the changes and no others.
func TestPollBesideFailures(t *testing.T) {
	for _, test := range []struct {
		name   string
		ls     func(dir string, opts *workspace.LsOptions) error
		st     func(name string) error
		change func(t *testing.T, fsys workspace.FileSystem)
		during []string // what is reported while listings fail
		after  []string
	}{
		{name: "unavailable", ls: failing("w/dir", workspace.ErrUnavailable)},
		{name: "any-error", ls: failing("w/dir", errBroken)},
		{name: "permission", ls: failing("w/dir", fs.ErrPermission)},
		{name: "below", ls: failing("w/dir/sub", errBroken)},
		{name: "watched", ls: failing("w", errBroken)},
		{name: "second-page", ls: func(dir string, opts *workspace.LsOptions) error {
			if dir == "w/large" && opts.After != "" {
				return errBroken
			}
			return nil
		}},
		{name: "watched-and-stat", ls: failing("w", fs.ErrNotExist), st: func(string) error { return workspace.ErrUnavailable }},
		{name: "watched-is-there", ls: failing("w", fs.ErrNotExist)},
		{
			name: "change-elsewhere", ls: failing("w/dir", errBroken),
			change: func(t *testing.T, fsys workspace.FileSystem) { put(t, fsys, "w/x") },
			during: []string{"create w/x"},
		},
		{
			name: "change-within", ls: failing("w/dir", errBroken),
			change: func(t *testing.T, fsys workspace.FileSystem) {
				put(t, fsys, "w/dir/x")
				remove(t, fsys, "w/dir/a")
			},
			after: []string{"remove w/dir/a", "create w/dir/x"},
		},
		{
			name: "removed-in-what-is-listed", ls: func(dir string, opts *workspace.LsOptions) error {
				if dir == "w/large" && opts.After != "" {
					return errBroken
				}
				return nil
			},
			change: func(t *testing.T, fsys workspace.FileSystem) { remove(t, fsys, "w/large/0000/in") },
			during: []string{"remove w/large/0000/in"},
		},
		{
			name: "directory-removed", ls: failing("w/dir", errBroken),
			change: func(t *testing.T, fsys workspace.FileSystem) { remove(t, fsys, "w/dir") },
			during: []string{"remove w/dir", "remove w/dir/a", "remove w/dir/sub", "remove w/dir/sub/b"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				fsys := &flaky{FileSystem: memory.New(nil)}
				for _, name := range []string{"w/dir/a", "w/dir/sub/b", "w/other", "w/large/0000/in"} {
					put(t, fsys, name)
				}
				for i := range 1500 {
					put(t, fsys, fmt.Sprintf("w/large/%04d", i+1))
				}
				events, err := fallback.Poll(t.Context(), fsys, "w", &workspace.WatchOptions{Interval: time.Second})
				if err != nil {
					t.Fatal(err)
				}
				fsys.fail(test.ls, test.st)
				if test.change != nil {
					test.change(t, fsys)
				}
				if diff := cmp.Diff(test.during, reported(events)); diff != "" {
					t.Errorf("events while listings fail (-want +got):\n%s", diff)
				}
				fsys.fail(nil, nil)
				if diff := cmp.Diff(test.after, reported(events)); diff != "" {
					t.Errorf("events after that (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// reported returns the events of the next looks.
func reported(events <-chan workspace.Event) []string {
	var all []string
	for range 3 {
		time.Sleep(time.Second) // of the bubble's clock
		synctest.Wait()
		for {
			select {
			case event := <-events:
				all = append(all, fmt.Sprintf("%s %s", event.Op, event.Path))
				synctest.Wait()
				continue
			default:
			}
			break
		}
	}
	return all
}

func put(t *testing.T, fsys workspace.FileSystem, name string) {
	t.Helper()
	if _, err := fsys.WriteFile(t.Context(), name, []byte("x"), nil); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, fsys workspace.FileSystem, name string) {
	t.Helper()
	if err := fsys.Rm(t.Context(), name, &workspace.RmOptions{Recursive: true}); err != nil {
		t.Fatal(err)
	}
}

// TestPollFirstLook fails as the first listing does: what it does not show would
// later seem to be new.
func TestPollFirstLook(t *testing.T) {
	for _, test := range []struct {
		err, want error
	}{
		{workspace.ErrUnavailable, workspace.ErrUnavailable},
		{errBroken, errBroken},
		{fs.ErrPermission, nil},
	} {
		fsys := &flaky{FileSystem: memory.New(nil)}
		put(t, fsys, "dir/a")
		fsys.fail(failing("dir", test.err), nil)
		if _, err := fallback.Poll(t.Context(), fsys, ".", nil); !errors.Is(err, test.want) || (err == nil) != (test.want == nil) {
			t.Errorf("Poll of a tree in which a listing fails with %q = %v, want %v", test.err, err, test.want)
		}
	}
}
