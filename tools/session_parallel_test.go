package tools_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
)

// slowFS calls written after each write, before the write returns.
type slowFS struct {
	*memory.FS
	written func()
}

func (s *slowFS) WriteFile(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
	version, err := s.FS.WriteFile(ctx, name, data, opts)
	s.written()
	return version, err
}

// TestParallelEdits edits one file by calls of one session at the same time. Each knows what the
// others make of the file.
func TestParallelEdits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fsys := &slowFS{memory.New(nil), func() { time.Sleep(time.Second) }} // in the time of the bubble
		put(t, fsys.FS, "f", five)
		set := careful(t, fsys)
		good(t, set, "read_file", object{"path": "f"})
		results := make(chan *tools.Result)
		edits := []object{
			{"path": "f", "oldText": "two", "newText": "2"}, {"path": "f", "oldText": "three", "newText": "3\n3"},
			{"path": "f", "oldText": "four", "newText": "4"},
		}
		for _, args := range edits {
			go func() { results <- call(t, set, "edit_file", args) }()
		}
		go func() {
			results <- call(t, set, "write_file", object{"path": "f", "content": "six\n", "append": true})
		}()
		for range len(edits) + 1 {
			if r := <-results; r.IsError {
				t.Errorf("a call beside others = %s", r.Text)
			}
		}
		holds(t, fsys, "f", "one\n2\n3\n3\n4\nfive\nsix\n")
	})
}

// TestEditAfterStuckEdit edits a file whose last edit never ends, in a file system that ignores its
// context.
func TestEditAfterStuckEdit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		never := make(chan struct{})
		defer close(never)
		var writes atomic.Int32
		fsys := &slowFS{memory.New(nil), func() {
			if writes.Add(1) == 1 {
				<-never
			}
		}}
		put(t, fsys.FS, "f", five)
		set := newSetOf(t, workspace.New("test", fsys, nil), &tools.Options{ReadBeforeWrite: []string{"test"}, Timeout: time.Minute})
		good(t, set, "read_file", object{"path": "f"})
		bad(t, set, "edit_file", object{"path": "f", "oldText": "two", "newText": "2"}, tools.CodeTimeout)
		good(t, set, "read_file", object{"path": "f"})
		good(t, set, "edit_file", object{"path": "f", "oldText": "three", "newText": "3"})
		holds(t, fsys, "f", "one\n2\n3\nfour\nfive\n")
	})
}

// TestReadBesideEdit reads a part of a file between the write of an edit and its end. What the edit
// moves is what was read before, and not what was read of its result.
func TestReadBesideEdit(t *testing.T) {
	fsys := &slowFS{FS: memory.New(nil)}
	var text strings.Builder
	for i := range 100 {
		fmt.Fprintf(&text, "line %d.\n", i+1)
	}
	put(t, fsys.FS, "f", text.String())
	set := careful(t, fsys)
	good(t, set, "read_file", object{"path": "f", "limit": 10})
	fsys.written = func() { good(t, set, "read_file", object{"path": "f", "line": 30, "limit": 10}) } // the lines 10 to 19
	good(t, set, "edit_file", object{"path": "f", "oldText": "line 1.", "newText": strings.Repeat("new\n", 20) + "first"})
	fsys.written = func() {}
	bad(t, set, "edit_file", object{"path": "f", "oldText": "line 35.", "newText": "unseen"}, tools.CodeReadRequired)
	good(t, set, "edit_file", object{"path": "f", "oldText": "line 5.", "newText": "seen"})
	good(t, set, "edit_file", object{"path": "f", "oldText": "line 15.", "newText": "seen"})
}
