package quota_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"math"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/conformance"
	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/internal/session"
	"github.com/workspacekit/workspacekit/providers/localbash"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/provider"
	"github.com/workspacekit/workspacekit/workspace/quota"
)

func limited(t testing.TB, fsys workspace.FileSystem, limits quota.Limits) *quota.FS {
	t.Helper()
	f, err := quota.New(fsys, limits)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestConformance runs the suite with limits that it does not reach.
func TestConformance(t *testing.T) {
	limits := quota.Limits{Files: 1 << 20, Bytes: 1 << 40}
	t.Run("memory", func(t *testing.T) {
		conformance.Run(t, func(t *testing.T) workspace.FileSystem { return limited(t, memory.New(nil), limits) },
			&conformance.Options{Short: !exhaustive.On()})
	})
	t.Run("local", func(t *testing.T) {
		opts := &conformance.Options{Short: !exhaustive.On()}
		if !exhaustive.On() { // memory has all cases
			opts.Only = []string{"WriteFile", "Create", "Rm", "Mkdir", "Move", "Copy"}
		}
		conformance.Run(t, func(t *testing.T) workspace.FileSystem {
			fsys, err := localbash.Open(t.TempDir(), nil)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { fsys.Close() })
			return limited(t, fsys, limits)
		}, opts)
	})
}

func write(ctx context.Context, fsys workspace.FileSystem, name string, size int) error {
	_, err := fsys.WriteFile(ctx, name, make([]byte, size), nil)
	return err
}

func create(ctx context.Context, fsys workspace.FileSystem, name string, size int) error {
	w, err := workspace.Create(ctx, fsys, name, nil)
	if err != nil {
		return err
	}
	defer w.Close()
	for range size {
		if _, err := w.Write([]byte("x")); err != nil {
			return err
		}
	}
	_, err = w.Commit()
	return err
}

func copyFile(ctx context.Context, fsys workspace.FileSystem, from, to string) error {
	_, err := workspace.Copy(ctx, fsys, from, to)
	return err
}

// TestBytes writes more bytes than allowed, in each way.
func TestBytes(t *testing.T) {
	for name, more := range map[string]func(ctx context.Context, fsys workspace.FileSystem) error{
		"write":  func(ctx context.Context, fsys workspace.FileSystem) error { return write(ctx, fsys, "b", 41) },
		"create": func(ctx context.Context, fsys workspace.FileSystem) error { return create(ctx, fsys, "b", 41) },
		"copy":   func(ctx context.Context, fsys workspace.FileSystem) error { return copyFile(ctx, fsys, "a", "b") },
		"exact": func(ctx context.Context, fsys workspace.FileSystem) error {
			exact, err := workspace.Exact(fsys)
			if err != nil {
				return err
			}
			return write(ctx, exact, "b", 41)
		},
		"create only": func(ctx context.Context, fsys workspace.FileSystem) error {
			_, err := fsys.WriteFile(ctx, "b", make([]byte, 41), &workspace.WriteOptions{IfNotExist: true})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			f := limited(t, memory.New(nil), quota.Limits{Bytes: 100})
			if err := write(ctx, f, "a", 60); err != nil {
				t.Fatal(err)
			}
			for range 2 { // what is refused does not count
				if err := more(ctx, f); !errors.Is(err, workspace.ErrPolicy) {
					t.Errorf("41 bytes more = %v, want ErrPolicy", err)
				}
			}
			if _, err := f.Stat(ctx, "b"); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("what was refused is there: %v", err)
			}
			if err := create(ctx, f, "b", 40); err != nil {
				t.Errorf("40 bytes more = %v, want nil", err)
			}
			if err := write(session.WithID(ctx, "other"), f, "c", 100); err != nil {
				t.Errorf("100 bytes of another session = %v, want nil", err)
			}
		})
	}
}

// TestFiles writes more files than allowed. A file that was removed still counts.
func TestFiles(t *testing.T) {
	ctx := t.Context()
	f := limited(t, memory.New(nil), quota.Limits{Files: 2})
	for _, name := range []string{"a", "b", "a"} {
		if err := write(ctx, f, name, 10); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Rm(ctx, "a", nil); err != nil {
		t.Fatal(err)
	}
	for what, err := range map[string]error{
		"write": write(ctx, f, "c", 0), "create": create(ctx, f, "c", 0), "copy": copyFile(ctx, f, "b", "c"), "move": workspace.Move(ctx, f, "b", "c"),
	} {
		if !errors.Is(err, workspace.ErrPolicy) {
			t.Errorf("%s of a third file = %v, want ErrPolicy", what, err)
		}
	}
	if err := write(ctx, f, "b", 0); err != nil {
		t.Errorf("another write of a file = %v, want nil", err)
	}
}

// TestMoves writes one name and moves it away, again and again.
func TestMoves(t *testing.T) {
	ctx := t.Context()
	f := limited(t, memory.New(nil), quota.Limits{Files: 3})
	if err := workspace.Move(ctx, f, "nope", "2"); !errors.Is(err, fs.ErrNotExist) { // and does not count
		t.Fatalf("Move of nothing = %v, want ErrNotExist", err)
	}
	for n := range 2 {
		if err := errors.Join(write(ctx, f, "a", 10), workspace.Move(ctx, f, "a", fmt.Sprint(n))); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(write(ctx, f, "a", 10), f.Mkdir(ctx, "dir", nil)); err != nil {
		t.Fatal(err)
	}
	for _, source := range []string{"a", "dir"} {
		if err := workspace.Move(ctx, f, source, "2"); !errors.Is(err, workspace.ErrPolicy) {
			t.Errorf("Move(%q) to a fourth name = %v, want ErrPolicy", source, err)
		}
	}
}

// TestFailuresDoNotCount writes what the store refuses, and closes a writer without a
// commit.
func TestFailuresDoNotCount(t *testing.T) {
	ctx := t.Context()
	f := limited(t, memory.New(nil), quota.Limits{Files: 1, Bytes: 10})
	if _, err := f.WriteFile(ctx, "a", make([]byte, 10), &workspace.WriteOptions{IfVersion: "none"}); !errors.Is(err, workspace.ErrConflict) {
		t.Fatalf("WriteFile = %v, want ErrConflict", err)
	}
	w, err := workspace.Create(ctx, f, "b", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	if err := write(ctx, f, "c", 1); !errors.Is(err, workspace.ErrPolicy) {
		t.Errorf("a write beside a writer with all bytes = %v, want ErrPolicy", err)
	}
	w.Close()
	w.Close()
	if err := write(ctx, f, "c", 10); err != nil {
		t.Errorf("a write after failures = %v, want nil", err)
	}
}

// TestCommitAfterRefusal commits a file after one of its Writes was refused: a part must
// not be stored.
func TestCommitAfterRefusal(t *testing.T) {
	ctx := t.Context()
	f := limited(t, memory.New(nil), quota.Limits{Bytes: 10})
	w, err := workspace.Create(ctx, f, "a", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if _, err := w.Write(make([]byte, 8)); err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{8, 1} {
		if _, err := w.Write(make([]byte, size)); !errors.Is(err, workspace.ErrPolicy) {
			t.Errorf("Write of %d bytes = %v, want ErrPolicy", size, err)
		}
	}
	if _, err := w.Commit(); !errors.Is(err, workspace.ErrPolicy) {
		t.Errorf("Commit after a Write that was refused = %v, want ErrPolicy", err)
	}
	if _, err := f.Stat(ctx, "a"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Stat after it = %v, want ErrNotExist", err)
	}
}

// TestTogether writes with many goroutines of one session.
func TestTogether(t *testing.T) {
	ctx := t.Context()
	f := limited(t, memory.New(nil), quota.Limits{Files: 10, Bytes: 95})
	var group sync.WaitGroup
	var written atomic.Int64
	for i := range 50 {
		group.Go(func() {
			if err := write(ctx, f, fmt.Sprint(i), 10); err == nil {
				written.Add(1)
			} else if !errors.Is(err, workspace.ErrPolicy) {
				t.Errorf("write %d = %v, want ErrPolicy", i, err)
			}
		})
	}
	group.Wait()
	if written.Load() != 9 {
		t.Errorf("%d writes of 10 bytes succeeded, want 9", written.Load())
	}
}

// TestResume carries what a session has written to another FS.
func TestResume(t *testing.T) {
	limits := quota.Limits{Files: 2, Bytes: 100}
	ctx, m := session.WithID(t.Context(), "one"), memory.New(nil)
	first := limited(t, m, limits)
	if err := errors.Join(write(ctx, first, "a", 60), write(ctx, first, "a", 10)); err != nil {
		t.Fatal(err)
	}
	used := first.Used("one")
	if diff := cmp.Diff(quota.Usage{Files: []string{"a"}, Bytes: 70}, used); diff != "" {
		t.Errorf("Used (-want +got):\n%s", diff)
	}
	next := limited(t, m, limits)
	if err := next.Resume("one", used); err != nil {
		t.Fatal(err)
	}
	if err := write(ctx, next, "b", 31); !errors.Is(err, workspace.ErrPolicy) {
		t.Errorf("31 bytes more = %v, want ErrPolicy", err)
	}
	if err := errors.Join(write(ctx, next, "a", 10), write(ctx, next, "b", 20)); err != nil {
		t.Errorf("30 bytes more = %v, want nil", err)
	}
	if err := write(ctx, next, "c", 0); !errors.Is(err, workspace.ErrPolicy) {
		t.Errorf("a third file = %v, want ErrPolicy", err)
	}
	if err := write(session.WithID(t.Context(), "two"), next, "c", 100); err != nil {
		t.Errorf("the write of another session = %v, want nil", err)
	}
	for _, bad := range []quota.Usage{{Bytes: -1}, {Files: []string{"../a"}}} {
		if err := next.Resume("three", bad); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("Resume(%+v) = %v, want ErrInvalid", bad, err)
		}
	}
	for range 3 {
		if err := next.Resume("three", quota.Usage{Bytes: math.MaxInt64}); err != nil {
			t.Fatal(err)
		}
	}
	if err := write(session.WithID(t.Context(), "three"), next, "a", 1); !errors.Is(err, workspace.ErrPolicy) {
		t.Errorf("a write after more bytes than there are = %v, want ErrPolicy", err)
	}
	if used := next.Used("none"); used.Bytes != 0 || used.Files != nil {
		t.Errorf("Used of no session = %+v", used)
	}
}

func TestBadLimits(t *testing.T) {
	for _, limits := range []quota.Limits{{Files: -1}, {Bytes: -1}} {
		if _, err := quota.New(memory.New(nil), limits); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("New(%+v) = %v, want ErrInvalid", limits, err)
		}
	}
}

func Example() {
	ctx := context.Background()
	fsys, err := quota.New(memory.New(nil), quota.Limits{Files: 1})
	if err != nil {
		log.Fatal(err)
	}
	for _, name := range []string{"a", "a", "b"} {
		_, err := fsys.WriteFile(ctx, name, []byte("text"), nil)
		fmt.Println(name, err)
	}
	// Output:
	// a <nil>
	// a <nil>
	// b write_file b: forbidden by policy: the session has written 1 file, and may write no other
}

// broken is memory whose writes take place and then fail without a kind.
type broken struct{ *memory.FS }

func (b broken) WriteFile(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
	if _, err := b.FS.WriteFile(ctx, name, data, opts); err != nil {
		return "", err
	}
	return "", provider.Classify(errors.New("it broke"))
}

func (broken) Create(context.Context, string, *workspace.WriteOptions) (workspace.Writer, error) {
	return nil, provider.Classify(errors.New("it broke"))
}

// TestFailedCreate tests that a file does not count that was never begun, whatever the error.
func TestFailedCreate(t *testing.T) {
	t.Parallel()
	fsys := limited(t, broken{memory.New(nil)}, quota.Limits{Files: 1})
	if err := create(t.Context(), fsys, "a", 1); err == nil || errors.Is(err, workspace.ErrPolicy) {
		t.Errorf("Create = %v, want the error of the store", err)
	}
	if err := write(t.Context(), fsys, "b", 1); errors.Is(err, workspace.ErrPolicy) {
		t.Errorf("a write after it = %v, want that only this counts", err)
	}
}

// TestUnknownFailure tests that a write counts if its error does not say that nothing changed.
func TestUnknownFailure(t *testing.T) {
	fsys := limited(t, broken{memory.New(nil)}, quota.Limits{Bytes: 5})
	if _, err := fsys.WriteFile(t.Context(), "a", []byte("12345"), nil); err == nil || errors.Is(err, workspace.ErrPolicy) {
		t.Errorf("the first WriteFile = %v, want the error of the store", err)
	}
	if _, err := fsys.WriteFile(t.Context(), "b", []byte("12345"), nil); !errors.Is(err, workspace.ErrPolicy) {
		t.Errorf("the second WriteFile = %v, want %v", err, workspace.ErrPolicy)
	}
}
