package transaction_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
	"github.com/workspacekit/workspacekit/workspace/transaction"
)

// stopper is a FileSystem whose program is killed: after so many changes, it makes no
// more. With after, the last one is made and its answer gets lost.
type stopper struct {
	*policy.SubFS
	fsys  workspace.FileSystem
	left  int
	after bool
}

var errKilled = errors.New("the program was killed")

func (s *stopper) change(do func() error) error {
	s.left--
	switch {
	case s.left > 0:
		return do()
	case s.left == 0 && s.after:
		_ = do()
	}
	return errKilled
}

func (s *stopper) Exact() (workspace.FileSystem, error) { return s, nil }

func (s *stopper) WriteFile(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (version workspace.Version, err error) {
	err = s.change(func() error { version, err = s.fsys.WriteFile(ctx, name, data, opts); return err })
	return version, err
}

func (s *stopper) Create(context.Context, string, *workspace.WriteOptions) (workspace.Writer, error) {
	return nil, errors.ErrUnsupported // backups write small files instead
}

func (s *stopper) Rm(ctx context.Context, name string, opts *workspace.RmOptions) error {
	return s.change(func() error { return s.fsys.Rm(ctx, name, opts) })
}

func (s *stopper) Mkdir(ctx context.Context, name string, opts *workspace.MkdirOptions) error {
	return s.change(func() error { return s.fsys.Mkdir(ctx, name, opts) })
}

func (s *stopper) Move(ctx context.Context, source, destination string) error {
	return s.change(func() error { return workspace.Move(ctx, s.fsys, source, destination) })
}

func (s *stopper) Copy(ctx context.Context, source, destination string) (version workspace.Version, err error) {
	err = s.change(func() error { version, err = workspace.Copy(ctx, s.fsys, source, destination); return err })
	return version, err
}

// killedAt returns store with transactions, as a program sees it that is killed at the
// change k.
func killedAt(t *testing.T, store workspace.FileSystem, k int, after bool) *transaction.FS {
	t.Helper()
	all, err := policy.Sub(store, ".")
	if err != nil {
		t.Fatal(err)
	}
	return newFS(t, &stopper{SubFS: all, fsys: store, left: k, after: after})
}

// tooLate is when a transaction has certainly ended.
const tooLate = transaction.MaxDuration + time.Hour

// TestStop kills the program at each change that a transaction makes in the store, and the
// next program at some change of the recovery. Then there is the old state or the new one.
func TestStop(t *testing.T) {
	exhaustive.Long(t)
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for provider, open := range map[string]func(t *testing.T) workspace.FileSystem{
		"memory": func(*testing.T) workspace.FileSystem { return memory.New(nil) }, "bucket": openBucket,
	} {
		step := 1
		if provider == "bucket" {
			step = exhaustive.Some(t, "most changes in a bucket", 1, 7)
		}
		for _, after := range []bool{false, true} {
			for _, fails := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%t/%t", provider, after, fails), func(t *testing.T) {
					t.Parallel()
					random := rand.New(rand.NewPCG(seed, 0))
					outcomes := map[bool]int{}
					for k := 1 + random.IntN(step); ; k += step {
						took, reached := stopAt(t, open(t), random, k, after, fails)
						outcomes[took]++
						if !reached {
							break
						}
					}
					if outcomes[false] < 20/step || outcomes[true] == 0 != fails {
						t.Errorf("%d transactions took place and %d did not", outcomes[true], outcomes[false])
					}
				})
			}
		}
	}
}

// stopAt kills the program at the change k of a transaction that fails or not. It reports
// whether the transaction took place, and whether it makes that many changes.
func stopAt(t *testing.T, store workspace.FileSystem, random *rand.Rand, k int, after, fails bool) (took, reached bool) {
	t.Helper()
	fill(t, store, start)
	before := contents(t, store)
	ws := workspace.New("test", killedAt(t, store, k, after), nil)
	err := ws.Transaction(t.Context(), func(ctx context.Context) error {
		if err := changeAll(ctx, ws); err != nil || !fails {
			return err
		}
		return fs.ErrInvalid
	})
	killed := errors.Is(err, errKilled) || errors.Is(err, workspace.ErrUnavailable)
	second := killedAt(t, store, 1+random.IntN(60), random.IntN(2) == 0)
	transaction.Later(second, tooLate)
	_ = second.Transaction(t.Context(), nil)
	last := newFS(t, store)
	transaction.Later(last, 2*tooLate)
	if err := last.Transaction(t.Context(), nil); err != nil {
		t.Fatalf("killed at change %d: the recovery returns %v", k, err)
	}
	got := contents(t, store)
	took = cmp.Equal(changed, got)
	if !took && !cmp.Equal(before, got) {
		t.Fatalf("killed at change %d, with %v, after the recovery (-old +got):\n%s", k, err, cmp.Diff(before, got))
	}
	if err == nil != took && !killed {
		t.Fatalf("killed at change %d: the transaction returned %v, and took place: %t", k, err, took)
	}
	return took, err != nil && (!fails || killed || strings.Contains(err.Error(), errKilled.Error()))
}

// TestOwner tests that the transaction of a program that runs is left alone, and that one
// that is undone by others fails.
func TestOwner(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		change func(state map[string]any)
		later  time.Duration
		undone bool
	}{
		{"runs", nil, 0, false},
		{"ended", func(state map[string]any) { state["process"] = after(state["process"].(string), 3, "999999999", "7") }, 0, true},
		{"of another computer", func(state map[string]any) { state["process"] = "0." + after(state["process"].(string), 1) }, 0, false},
		{"of another computer, long ago", func(state map[string]any) { state["process"] = "0." + after(state["process"].(string), 1) }, tooLate, true},
		{"of nobody", func(state map[string]any) { state["process"] = "" }, 0, false},
		{"long ago", nil, tooLate, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			store := memory.New(nil)
			fill(t, store, start)
			before := contents(t, store)
			ws, other := workspace.New("test", newFS(t, store), nil), newFS(t, store)
			transaction.Later(other, test.later)
			touched := false // by the test, so that the program cannot know what has become of it
			err := ws.Transaction(t.Context(), func(ctx context.Context) error {
				if err := changeAll(ctx, ws); err != nil {
					return err
				}
				names, err := store.Glob(t.Context(), transaction.DefaultDir+"/*/state.json", nil)
				if err != nil || len(names) != 1 {
					t.Fatalf("states: %q, %v", names, err)
				}
				if touched = test.change != nil; touched {
					data, err := store.ReadFile(t.Context(), names[0])
					state := map[string]any{}
					if err == nil {
						err = json.Unmarshal(data, &state)
					}
					if err != nil {
						t.Fatal(err)
					}
					test.change(state)
					if data, err = json.Marshal(state); err == nil {
						_, err = store.WriteFile(t.Context(), names[0], data, nil)
					}
					if err != nil {
						t.Fatal(err)
					}
				}
				if err := other.Transaction(t.Context(), nil); err != nil {
					t.Errorf("the recovery returns %v", err)
				}
				if undone := cmp.Equal(before, contents(t, store)); undone != test.undone {
					t.Errorf("the recovery has undone it: %t, want %t", undone, test.undone)
				}
				return nil
			})
			if (test.undone || touched) != errors.Is(err, workspace.ErrConflict) {
				t.Errorf("Transaction() = %v", err)
			}
		})
	}
}

// after returns the parts of a text that are separated by dots, the first n replaced by the
// first n of others.
func after(text string, n int, others ...string) string {
	parts := strings.Split(text, ".")
	if len(others) == 0 {
		return strings.Join(parts[n:], ".")
	}
	return strings.Join(append(parts[:n:n], others...), ".")
}

// TestTogether tests that transactions at the same time do not disturb each other.
func TestTogether(t *testing.T) {
	exhaustive.Long(t)
	t.Parallel()
	for name, store := range stores(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			failed := errors.New("failed")
			want := files{}
			var group sync.WaitGroup
			for i := range 8 {
				ws := workspace.New("test", newFS(t, store), nil)
				if i%2 == 0 {
					want[fmt.Sprint("d", i, "/")], want[fmt.Sprint("d", i, "/f")] = "", "9"
				}
				group.Go(func() {
					for n := range 10 {
						err := ws.Transaction(t.Context(), func(ctx context.Context) error {
							if _, err := ws.WriteFile(ctx, fmt.Sprint("d", i, "/f"), []byte(fmt.Sprint(n)), nil); err != nil {
								return err
							}
							if i%2 == 0 {
								return nil
							}
							return failed
						})
						if err != nil && (i%2 == 0 || !errors.Is(err, failed)) {
							t.Errorf("Transaction() = %v", err)
						}
					}
				})
			}
			group.Wait()
			if diff := cmp.Diff(want, contents(t, store)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestStopForeign kills the program at each change of an undo that leaves a file of somebody
// else alone. All other files are brought back.
func TestStopForeign(t *testing.T) {
	t.Parallel()
	remove := func(ctx context.Context, ws *workspace.Workspace) error {
		return ws.Rm(ctx, "dir", &workspace.RmOptions{Recursive: true})
	}
	move := func(ctx context.Context, ws *workspace.Workspace) error { return ws.Move(ctx, "dir", "to") }
	for foreign, change := range map[string]func(context.Context, *workspace.Workspace) error{"dir/b": remove, "to/b": move} {
		want := maps.Clone(start)
		delete(want, "dir/b")
		want[foreign] = "theirs"
		for k := 1; k < 15; k++ {
			store := memory.New(nil)
			fill(t, store, start)
			leave(t, store, func(ctx context.Context, ws *workspace.Workspace) error {
				err := change(ctx, ws)
				_, foreignErr := store.WriteFile(ctx, foreign, []byte("theirs"), nil)
				return errors.Join(err, foreignErr)
			})
			second, last := killedAt(t, store, k, k%2 == 0), newFS(t, store)
			transaction.Later(second, tooLate)
			transaction.Later(last, 2*tooLate)
			err := errors.Join(second.Transaction(t.Context(), nil), last.Transaction(t.Context(), nil))
			if !errors.Is(err, workspace.ErrConflict) {
				t.Errorf("%s, killed at change %d: the recovery returns %v, want ErrConflict", foreign, k, err)
			}
			got := contents(t, store)
			maps.DeleteFunc(got, func(name, _ string) bool { return strings.HasSuffix(name, "/") })
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s, killed at change %d, after the recovery (-want +got):\n%s", foreign, k, diff)
			}
		}
	}
}
