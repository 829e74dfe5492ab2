package objectstore_test

import (
	"errors"
	"io/fs"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/internal/s3test"
	"github.com/workspacekit/workspacekit/providers/objectstore"
	"github.com/workspacekit/workspacekit/workspace"
)

// writers is how many take part in a race, who share two instances.
const writers = 32

// everyStore runs test on each kind of store, the external one included.
func everyStore(t *testing.T, test func(t *testing.T, s store)) {
	for _, p := range profiles() {
		t.Run(p.name, func(t *testing.T) { test(t, inProcess(s3test.New(t, p.options), p.compat)) })
	}
	t.Run("external", func(t *testing.T) { test(t, external(t)) })
}

// pair returns two workspaces over the same empty prefix, as two processes
// have them.
func (s store) pair(tb testing.TB) [2]*objectstore.FS {
	first, prefix := s.emptyPrefix(tb)
	return [2]*objectstore.FS{first, s.open(tb, prefix, objectstore.Options{})}
}

// TestCounter increments a counter by compare and swap.
func TestCounter(t *testing.T) {
	t.Parallel()
	increments := exhaustive.Some[int64](t, "most increments", 500, 100)
	if testing.Short() {
		increments = 40
	}
	everyStore(t, func(t *testing.T, s store) {
		pair := s.pair(t)
		if _, err := pair[0].WriteFile(t.Context(), "counter", []byte("0"), nil); err != nil {
			t.Fatal(err)
		}
		var begun atomic.Int64
		var group sync.WaitGroup
		for i := range writers {
			group.Go(func() {
				for begun.Add(1) <= increments {
					increment(t, workspace.New("test", pair[i%2], nil))
				}
			})
		}
		group.Wait()
		data, err := pair[1].ReadFile(t.Context(), "counter")
		if want := strconv.FormatInt(increments, 10); err != nil || string(data) != want {
			t.Errorf("counter = %q, %v, want %q", data, err, want)
		}
	})
}

func increment(t *testing.T, w *workspace.Workspace) {
	_, _, err := w.Edit(t.Context(), "counter", func(old []byte) ([]byte, error) {
		n, err := strconv.Atoi(string(old))
		return strconv.AppendInt(nil, int64(n+1), 10), err
	})
	if err != nil {
		t.Errorf("Edit = %v, want nil", err)
	}
}

// TestOneCreator lets many create the same new file: by a write, a stream, a copy
// and a move. One wins.
func TestOneCreator(t *testing.T) {
	exhaustive.Long(t)
	create := &workspace.WriteOptions{IfNotExist: true}
	for name, make := range map[string]func(t *testing.T, f *objectstore.FS, source string) error{
		"write": func(t *testing.T, f *objectstore.FS, source string) error {
			_, err := f.WriteFile(t.Context(), "made", []byte(source), create)
			return err
		},
		"stream": func(t *testing.T, f *objectstore.FS, source string) error {
			w, err := f.Create(t.Context(), "made", create)
			if err != nil {
				return err
			}
			defer w.Close()
			w.Write([]byte(source))
			_, err = w.Commit()
			return err
		},
		"copy": func(t *testing.T, f *objectstore.FS, source string) error {
			_, err := f.Copy(t.Context(), source, "made")
			return err
		},
		"move": func(t *testing.T, f *objectstore.FS, source string) error { return f.Move(t.Context(), source, "made") },
	} {
		t.Run(name, func(t *testing.T) {
			everyStore(t, func(t *testing.T, s store) { testOneCreator(t, s.pair(t), make) })
		})
	}
}

func testOneCreator(t *testing.T, pair [2]*objectstore.FS, make func(t *testing.T, f *objectstore.FS, source string) error) {
	sources := numbered("source-%02d", writers)
	for _, source := range sources {
		if _, err := pair[0].WriteFile(t.Context(), source, []byte(source), nil); err != nil {
			t.Fatal(err)
		}
	}
	var group sync.WaitGroup
	var mu sync.Mutex
	var winners []string
	for i, source := range sources {
		group.Go(func() {
			err := make(t, pair[i%2], source)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				winners = append(winners, source)
			case !errors.Is(err, fs.ErrExist):
				t.Errorf("%s loses with %v, want %v", source, err, fs.ErrExist)
			}
		})
	}
	group.Wait()
	data, err := pair[1].ReadFile(t.Context(), "made")
	if len(winners) != 1 || err != nil || string(data) != winners[0] {
		t.Errorf("winners = %q, the file has %q, %v; want one, whose text it has", winners, data, err)
	}
}
