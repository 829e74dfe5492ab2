//go:build unix

package localbash_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/workspacekit/workspacekit/providers/localbash"
	"github.com/workspacekit/workspacekit/workspace"
)

func unixRoles() map[string]func(dir string) error {
	return map[string]func(string) error{
		"full":     func(dir string) error { return withFS(dir, writeTooMuch) },
		"nobody":   beNobody,
		"fewfiles": runOutOfFiles,
		"deep":     removeDeepTree,
	}
}

// fullLimit is the largest file that writeTooMuch may write.
const fullLimit = 64 << 10

// writeTooMuch writes more than the operating system allows, in each way.
func writeTooMuch(fsys *localbash.FS) error {
	signal.Ignore(syscall.SIGXFSZ)
	limit := syscall.Rlimit{Cur: fullLimit, Max: fullLimit}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	ctx := context.Background()
	large := bytes.Repeat([]byte("x"), 4*fullLimit)
	for _, name := range []string{"file", "new/file"} {
		if _, err := fsys.WriteFile(ctx, name, large, nil); !errors.Is(err, syscall.EFBIG) {
			return fmt.Errorf("WriteFile(%q) = %w, want %w", name, err, syscall.EFBIG)
		}
		w, err := fsys.Create(ctx, name, nil)
		if err != nil {
			return err
		}
		_, err = w.Write(large)
		if closeErr := w.Close(); !errors.Is(err, syscall.EFBIG) || closeErr != nil {
			return fmt.Errorf("Write to %q = %w and Close = %v, want %w", name, err, closeErr, syscall.EFBIG)
		}
	}
	if _, err := fsys.Copy(ctx, "large", "copy"); !errors.Is(err, syscall.EFBIG) {
		return fmt.Errorf("Copy = %w, want %w", err, syscall.EFBIG)
	}
	return nil
}

// nobody is a user that owns nothing.
const nobody = 65534

// beNobody does what the super-user may and others may not.
func beNobody(dir string) error {
	fsys, err := localbash.Open(dir, nil)
	if err != nil {
		return err
	}
	defer fsys.Close()
	if err := becomeNobody(); err != nil {
		return err
	}
	var failures []error
	for _, op := range deniedOperations() {
		_, err := op.do(context.Background(), fsys, op.name)
		if !errors.Is(err, fs.ErrPermission) || strings.Contains(err.Error(), dir) {
			failures = append(failures, fmt.Errorf("%s = %w, want %w and no host path", op.name, err, fs.ErrPermission))
		}
	}
	return errors.Join(append(failures, passDenied(fsys))...)
}

// becomeNobody gives up the rights of the super-user.
func becomeNobody() error {
	if os.Geteuid() != 0 {
		return nil
	}
	return errors.Join(syscall.Setgroups(nil), syscall.Setgid(nobody), syscall.Setuid(nobody))
}

// deniedOperations are named by the file that they fail on.
func deniedOperations() []operation {
	all := map[string]operation{}
	for _, op := range operations() {
		all[op.name] = op
	}
	var denied []operation
	for _, pair := range []string{
		"ReadFile unreadable", "Open unreadable", "Copy-from unreadable", "WriteFile readonly",
		"Create readonly", "WriteFile-new fixed/new", "WriteFile fixed/file", "Mkdir fixed/dir",
		"Mkdir-recursive fixed/a/b", "Rm fixed/file", "Move-from fixed/file", "Copy-to fixed/copy",
		"Ls closed", "Stat closed/file", "ReadFile closed/file", "Watch closed", "Glob closed",
		"Rm-recursive closed", "Grep unreadable",
	} {
		name, file, _ := strings.Cut(pair, " ")
		denied = append(denied, operation{name: file, do: all[name].do})
	}
	return denied
}

// passDenied searches and watches around what may not be read.
func passDenied(fsys *localbash.FS) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	result, err := fsys.Grep(ctx, "content", &workspace.GrepOptions{Path: "."})
	if err != nil {
		return err
	}
	want := []workspace.Skipped{{Path: "closed", Reason: workspace.SkipUnreadable}, {Path: "unreadable", Reason: workspace.SkipUnreadable}}
	if fmt.Sprint(result.Skipped) != fmt.Sprint(want) {
		return fmt.Errorf("Grep skipped %v, want %v", result.Skipped, want)
	}
	events, err := fsys.Watch(ctx, ".", nil)
	if err != nil {
		return fmt.Errorf("Watch = %w, want the closed folder passed by", err)
	}
	if _, err := fsys.WriteFile(ctx, "free/file", nil, nil); err != nil {
		return err
	}
	if event := <-events; event.Path != "free/file" {
		return fmt.Errorf("the first event is %v, want one of %q", event, "free/file")
	}
	return watchUnlocked(ctx, fsys)
}

// watchUnlocked watches around a directory that may be read only later.
func watchUnlocked(ctx context.Context, fsys *localbash.FS) error {
	if err := fsys.Mkdir(ctx, "free/shut", nil); err != nil {
		return err
	}
	host := filepath.Join(fsys.Root(), "free/shut")
	if err := os.Chmod(host, 0); err != nil {
		return err
	}
	events, err := fsys.Watch(ctx, "free", &workspace.WatchOptions{Interval: 10 * time.Millisecond})
	if err != nil {
		return err
	}
	if err := os.Chmod(host, 0o700); err != nil {
		return err
	}
	if _, err := fsys.WriteFile(ctx, "free/shut/file", nil, nil); err != nil {
		return err
	}
	want := workspace.Event{Op: workspace.EventCreate, Path: "free/shut/file"}
	if event := <-events; event != want {
		return fmt.Errorf("the first event is %v, want %v", event, want)
	}
	return nil
}

// runOutOfFiles uses up the descriptors of the process.
func runOutOfFiles(dir string) error {
	fsys, err := localbash.Open(dir, nil)
	if err != nil {
		return err
	}
	defer fsys.Close()
	limit := syscall.Rlimit{Cur: 64, Max: 64}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return err
	}
	for err == nil {
		_, err = os.Open("/dev/null")
	}
	for _, op := range operations() {
		switch op.name {
		case "Stat", "Resolve": // a name at the top needs no descriptor
			continue
		}
		if _, err := op.do(context.Background(), fsys, "dir/file"); !errors.Is(err, workspace.ErrUnavailable) {
			return fmt.Errorf("%s without descriptors = %w, want %w", op.name, err, workspace.ErrUnavailable)
		}
	}
	return nil
}

// canceledLater is a context that is canceled once it was asked for its error a number of times.
type canceledLater struct {
	context.Context
	left int
}

func (c *canceledLater) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// TestRmStopsHalfway cancels the removal of a deep tree at each step. What is left is listed.
func TestRmStopsHalfway(t *testing.T) {
	dir := t.TempDir()
	fsys := open(t, dir, nil)
	for steps := 0; ; steps++ {
		put(t, filepath.Join(dir, "t", strings.Repeat("d/", 70), "file"), "")
		err := fsys.Rm(&canceledLater{t.Context(), steps}, "t", &workspace.RmOptions{Recursive: true})
		if err == nil {
			return
		}
		listed, lsErr := fsys.Ls(t.Context(), "t", nil)
		found, osErr := os.ReadDir(filepath.Join(dir, "t"))
		if len(listed) != len(found) || lsErr != nil || osErr != nil {
			t.Fatalf("Ls after Rm that was canceled at step %d = %v, %v, want %v, %v", steps, listed, lsErr, found, osErr)
		}
	}
}

// removeDeepTree removes a tree with more levels than the process can have
// open files.
func removeDeepTree(dir string) error {
	fsys, err := localbash.Open(dir, nil)
	if err != nil {
		return err
	}
	defer fsys.Close()
	const files, levels = 128, 600
	limit := syscall.Rlimit{Cur: files, Max: files}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return err
	}
	if err := os.Chdir(dir); err != nil {
		return err
	}
	for level := range levels {
		err := errors.Join(os.Mkdir("sub", 0o777), os.WriteFile(fmt.Sprint(level), nil, 0o666), os.Chdir("sub"))
		if err != nil {
			return err
		}
	}
	return fsys.Rm(context.Background(), "sub", &workspace.RmOptions{Recursive: true})
}
