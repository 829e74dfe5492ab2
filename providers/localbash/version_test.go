package localbash_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/workspacekit/workspacekit/workspace"
)

// TestVersionNoticesRewrites lets another program rewrite a file in place with
// as many bytes.
func TestVersionNoticesRewrites(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	fsys := open(t, dir, nil)
	version := write(t, fsys, "file", "content 0")
	for i := 1; i < 10; i++ {
		put(t, path, "content "+string(rune('0'+i)))
		_, now, err := fsys.ReadVersioned(ctx, "file", 0)
		if err != nil || now == version {
			t.Fatalf("ReadVersioned after rewrite %d = version %q, %v, want another than %q", i, now, err, version)
		}
		_, err = fsys.WriteFile(ctx, "file", nil, &workspace.WriteOptions{IfVersion: version})
		if !errors.Is(err, workspace.ErrConflict) {
			t.Fatalf("WriteFile with the version before rewrite %d = %v, want %q", i, err, workspace.ErrConflict)
		}
		version = now
		waitForTick(t, path)
	}
}

// waitForTick waits until the clock of the file system has moved on.
func waitForTick(t *testing.T, path string) {
	t.Helper()
	before := modTime(t, path)
	probe := path + "-probe"
	defer os.Remove(probe)
	deadline := time.Now().Add(10 * time.Second)
	for {
		put(t, probe, "")
		if modTime(t, probe).After(before) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the clock of the file system stands still")
		}
	}
}

func modTime(t *testing.T, path string) time.Time {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.ModTime()
}

// TestVersionNoticesRestoredTimes lets another program rewrite a file and set
// its old modification time, as archivers do.
func TestVersionNoticesRestoredTimes(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	fsys := open(t, dir, nil)
	version := write(t, fsys, "file", "content 0")
	before := modTime(t, path)
	put(t, path, "content 1")
	if err := os.Chtimes(path, before, before); err != nil {
		t.Fatal(err)
	}
	if !modTime(t, path).Equal(before) {
		t.Fatal("the time was not restored, so that nothing is tested")
	}
	info, err := fsys.Stat(context.Background(), "file")
	if err != nil || info.Version == version {
		t.Errorf("Stat = version %q, %v, want another than %q", info.Version, err, version)
	}
}

// TestVersionsNeverRepeat writes one empty file as fast as it goes, and wants
// what WriteFile returns to be what readers see.
func TestVersionsNeverRepeat(t *testing.T) {
	ctx := context.Background()
	fsys := open(t, t.TempDir(), nil)
	seen := map[workspace.Version]bool{}
	last := modTimeOf(t, fsys, write(t, fsys, "file", ""))
	for range 500 {
		before := time.Now()
		version := write(t, fsys, "file", "")
		if seen[version] {
			t.Fatalf("WriteFile returned version %q twice", version)
		}
		seen[version] = true
		_, read, err := fsys.ReadVersioned(ctx, "file", 0)
		if err != nil || read != version {
			t.Fatalf("ReadVersioned = version %q, %v, want %q as WriteFile returned", read, err, version)
		}
		now := modTimeOf(t, fsys, version)
		if !now.After(last) || now.Before(before) {
			t.Fatalf("modification time %v follows %v in a write at %v, want a later one than both", now, last, before)
		}
		last = now
	}
}

// modTimeOf describes "file", and wants each way of that to give version.
func modTimeOf(t *testing.T, fsys workspace.FileSystem, version workspace.Version) time.Time {
	t.Helper()
	ctx := context.Background()
	info, err := fsys.Stat(ctx, "file")
	if err != nil || info.Version != version {
		t.Fatalf("Stat = version %q, %v, want %q as WriteFile returned", info.Version, err, version)
	}
	infos, err := fsys.Ls(ctx, ".", nil)
	if err != nil || len(infos) != 1 || infos[0] != info {
		t.Fatalf("Ls = %+v, %v, want what Stat says: %+v", infos, err, info)
	}
	return info.ModTime
}

// TestReadVersionedIsOneInstant reads while others write, all of them other
// contents, and wants each content to have one version and each version to
// stand for one content.
func TestReadVersionedIsOneInstant(t *testing.T) {
	ctx := context.Background()
	fsys := open(t, t.TempDir(), nil)
	var seen pairs
	seen.add(t, write(t, fsys, "file", "start"), "start", nil)
	var all sync.WaitGroup
	for i := range 2 {
		all.Go(func() {
			for j := range 300 {
				text := fmt.Sprintf("%d writes %d", i, j)
				version, err := fsys.WriteFile(ctx, "file", []byte(text), nil)
				seen.written.Store(text, version)
				seen.add(t, version, text, err)
			}
		})
		all.Go(func() {
			for range 5000 {
				data, version, err := fsys.ReadVersioned(ctx, "file", 0)
				seen.add(t, version, string(data), err)
			}
		})
	}
	all.Wait()
	data, version, err := fsys.ReadVersioned(ctx, "file", 0)
	if seen.add(t, version, string(data), err); seen.others.Load() > 10 {
		t.Errorf("%d of 600 contents had another version for a moment, want hardly any", seen.others.Load())
	}
	t.Logf("%d contents had another version for a moment", seen.others.Load())
	if written, _ := seen.written.Load(string(data)); written != version {
		t.Errorf("%q has the version %q now, and was written as %q", data, version, written)
	}
}

// pairs are versions and the contents that they belong to. Each content is written once.
//
// A file that is replaced has been seen with a second version by a few readers, most often
// where the writer was interrupted. It fits that a rename changes the time of the file that
// loses its name before the name leads to the new one: who opens and reads it in between
// sees a version that no file keeps, and that no condition is true for. That order in the
// kernel was not traced. A content with a third version, or a second one that stays, would
// contradict it, and fails the test.
type pairs struct {
	contents, versions, written sync.Map
	others                      atomic.Int64 // contents with two versions
}

func (p *pairs) add(t *testing.T, version workspace.Version, text string, err error) {
	if err != nil {
		t.Errorf("ReadVersioned or WriteFile = %v, want nil", err)
		return
	}
	if other, loaded := p.contents.LoadOrStore(version, text); loaded && other != text {
		t.Errorf("version %q stands for %q and for %q", version, other, text)
	}
	first, loaded := p.versions.LoadOrStore(text, version)
	if !loaded || first == version {
		return
	}
	second, loaded := p.versions.LoadOrStore("again: "+text, version)
	switch {
	case !loaded:
		p.others.Add(1)
	case second != version:
		t.Errorf("%q has the versions %q, %q and %q, want at most two", text, first, second, version)
	}
}
