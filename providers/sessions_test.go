package providers_test

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
)

// TestSessionsMeet lets four sessions edit the same files of each provider with
// conditional writes. Each edit is made on the bytes that its session has read, or
// refused, so that no edit is lost.
func TestSessionsMeet(t *testing.T) {
	exhaustive.NotShort(t, "has sessions meet in every store")
	const sessions = 4
	files := exhaustive.Some(t, "most of 50 files", 50, 15)
	for _, backend := range backends {
		t.Run(backend.name, func(t *testing.T) {
			t.Parallel()
			fsys := backend.prepare(t)(t)
			if !workspace.CapabilitiesOf(fsys).ConditionalWrite {
				t.Skip("a store without conditional writes promises less")
			}
			ws := workspace.New("main", fsys, nil)
			for i := range files {
				if _, err := ws.WriteFile(t.Context(), fmt.Sprint(i), []byte("0\n"), nil); err != nil {
					t.Fatal(err)
				}
			}
			set, err := tools.New(ws, &tools.Options{Naming: "{op}", ReadBeforeWrite: []string{"main"}})
			if err != nil {
				t.Fatal(err)
			}
			var applied [sessions]map[int]int // by session and file
			var editing sync.WaitGroup
			for who := range applied {
				applied[who] = map[int]int{}
				editing.Go(func() {
					s := editor{t, set, tools.NewSession()}
					for i := range files {
						if s.increment(i) {
							applied[who][i]++
						}
					}
				})
			}
			editing.Wait()
			for i := range files {
				sum := 0
				for who := range applied {
					sum += applied[who][i]
				}
				if data, err := ws.ReadFile(t.Context(), fmt.Sprint(i)); err != nil || string(data) != fmt.Sprintf("%d\n", sum) || sum == 0 {
					t.Errorf("file %d is %q, %v after %d edits that were applied", i, data, err, sum)
				}
			}
		})
	}
}

// editor is one session.
type editor struct {
	t       *testing.T
	set     *tools.Set
	session *tools.Session
}

// increment reads a file and adds one to the number in it, and reports whether the
// edit was applied.
func (e editor) increment(file int) bool {
	e.t.Helper()
	shown := e.call("read_file", map[string]any{"path": fmt.Sprint(file)})
	var read struct{ Text string }
	if err := json.Unmarshal(shown.Structured, &read); err != nil {
		e.t.Errorf("read_file = %s, %v", shown.Text, err)
		return false
	}
	var n int
	if _, err := fmt.Sscan(read.Text, &n); err != nil {
		e.t.Errorf("read_file = %q, want a number", read.Text)
	}
	edited := e.call("edit_file", map[string]any{
		"path": fmt.Sprint(file), "oldText": fmt.Sprintf("%d\n", n), "newText": fmt.Sprintf("%d\n", n+1),
	})
	if edited.IsError && edited.Error.Code != tools.CodeConflict {
		e.t.Errorf("edit_file = %s, want success or %s", edited.Text, tools.CodeConflict)
	}
	return !edited.IsError
}

func (e editor) call(name string, arguments map[string]any) *tools.Result {
	e.t.Helper()
	tool, ok := e.set.Lookup(name)
	data, err := json.Marshal(arguments)
	if err != nil || !ok {
		e.t.Errorf("no tool %s, or %v", name, err)
		return &tools.Result{IsError: true}
	}
	result, err := tool.Call(tools.WithSession(e.t.Context(), e.session), data)
	if err != nil {
		e.t.Errorf("%s: %v", name, err)
		return &tools.Result{IsError: true, Error: &tools.Error{Code: tools.CodeConflict}}
	}
	return result
}
