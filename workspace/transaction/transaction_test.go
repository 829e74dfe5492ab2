package transaction_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/conformance"
	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/internal/s3test"
	"github.com/workspacekit/workspacekit/providers/localbash"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/providers/objectstore"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/backup"
	"github.com/workspacekit/workspacekit/workspace/policy"
	"github.com/workspacekit/workspacekit/workspace/quota"
	"github.com/workspacekit/workspacekit/workspace/transaction"
)

func Example() {
	ctx := context.Background()
	fsys, err := transaction.New(memory.New(nil), nil)
	if err != nil {
		log.Fatal(err)
	}
	ws := workspace.New("repo", fsys, nil)
	err = ws.Transaction(ctx, func(ctx context.Context) error {
		if _, err := ws.WriteFile(ctx, "a.txt", []byte("text"), nil); err != nil {
			return err
		}
		return errors.New("it does not fit")
	})
	fmt.Println(err)
	_, err = ws.Stat(ctx, "a.txt")
	fmt.Println(err)
	// Output:
	// it does not fit
	// stat a.txt: file does not exist
}

// files is the content of files, by name. A name that ends in a slash is a directory.
type files = map[string]string

var start = files{"a": "one", "dir/b": "two", "dir/sub/c": "three", "old": "moves"}

func fill(t testing.TB, fsys workspace.FileSystem, content files) {
	t.Helper()
	for name, text := range content {
		if name[len(name)-1] == '/' {
			continue
		}
		if _, err := fsys.WriteFile(t.Context(), name, []byte(text), nil); err != nil {
			t.Fatal(err)
		}
	}
}

// contents returns all of fsys, which includes what should be hidden.
func contents(t testing.TB, fsys workspace.FileSystem) files {
	t.Helper()
	all := files{}
	err := workspace.Walk(t.Context(), fsys, ".", nil, func(info workspace.FileInfo, err error) error {
		if err != nil {
			return err
		}
		if info.IsDir() {
			all[info.Path+"/"] = ""
			return nil
		}
		data, err := fsys.ReadFile(context.Background(), info.Path)
		all[info.Path] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// changeAll makes every kind of change.
func changeAll(ctx context.Context, fsys workspace.FileSystem) error {
	w, err := workspace.Create(ctx, fsys, "new/created", nil)
	if err != nil {
		return err
	}
	defer w.Close()
	_, err = w.Write([]byte("created"))
	if err == nil {
		_, err = w.Commit()
	}
	for _, do := range []func() error{
		func() error { _, err := fsys.WriteFile(ctx, "a", []byte("1"), nil); return err },
		func() error { _, err := fsys.WriteFile(ctx, "x/y/z", []byte("new"), nil); return err },
		func() error { return fsys.Mkdir(ctx, "x/dir", nil) },
		func() error { return fsys.Rm(ctx, "dir", &workspace.RmOptions{Recursive: true}) },
		func() error { return workspace.Move(ctx, fsys, "old", "dir/old") },
		func() error { _, err := workspace.Copy(ctx, fsys, "a", "copy"); return err },
		func() error { _, err := fsys.WriteFile(ctx, "a", []byte("2"), nil); return err },
	} {
		if err == nil {
			err = do()
		}
	}
	return err
}

var changed = files{"a": "2", "copy": "1", "dir/": "", "dir/old": "moves", "new/": "", "new/created": "created", "x/": "", "x/y/": "", "x/y/z": "new", "x/dir/": ""}

// stores are the file systems that the tests run on.
func stores(t *testing.T) map[string]workspace.FileSystem {
	local, err := localbash.Open(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]workspace.FileSystem{"memory": memory.New(nil), "folder": local, "bucket": openBucket(t)}
}

// openBucket returns a bucket of a server in memory.
func openBucket(t *testing.T) workspace.FileSystem {
	server := s3test.New(t, &s3test.Options{Public: true})
	fsys, err := objectstore.Open(t.Context(), &objectstore.Options{
		Bucket: "workspace", Endpoint: server.URL, Region: server.Region, Anonymous: true,
		Compat: &objectstore.Compat{PathStyle: true, ConditionalCopy: true, ConditionalDelete: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	return fsys
}

func newFS(t testing.TB, store workspace.FileSystem) *transaction.FS {
	t.Helper()
	fsys, err := transaction.New(store, nil)
	if err != nil {
		t.Fatal(err)
	}
	return fsys
}

// TestWhole tests that all changes take place, or none, and that nothing else is left:
// through policies and without New, too.
func TestWhole(t *testing.T) {
	t.Parallel()
	failed := errors.New("failed")
	for name, wrap := range map[string]func(t *testing.T, fsys workspace.FileSystem) workspace.FileSystem{
		"with New":    func(t *testing.T, fsys workspace.FileSystem) workspace.FileSystem { return newFS(t, fsys) },
		"without New": func(_ *testing.T, fsys workspace.FileSystem) workspace.FileSystem { return fsys },
		"below rules": func(t *testing.T, fsys workspace.FileSystem) workspace.FileSystem {
			// What is undone could not be done: new files cannot be deleted.
			restricted, err := policy.Restrict(newFS(t, fsys), policy.Rules{FirstMatch: []policy.Rule{{Deny: []policy.Op{policy.OpDelete}, Paths: []string{"x", "new", "copy"}}}})
			if err != nil {
				t.Fatal(err)
			}
			sub, err := policy.Sub(restricted, ".")
			if err != nil {
				t.Fatal(err)
			}
			return sub
		},
	} {
		for storeName, store := range stores(t) {
			t.Run(name+"/"+storeName, func(t *testing.T) {
				t.Parallel()
				fill(t, store, start)
				before := contents(t, store)
				ws := workspace.New("test", wrap(t, store), nil)
				for _, test := range []struct {
					name string
					end  func() error
					err  error
				}{
					{"error", func() error { return failed }, failed},
					{"panic", func() error { panic(failed) }, nil},
					{"context", func() error { return nil }, context.Canceled},
				} {
					func() {
						ctx, cancel := context.WithCancel(t.Context())
						defer func() {
							cancel()
							if r := recover(); r != nil && test.err != nil {
								panic(r)
							}
						}()
						err := transaction.Run(ctx, ws, func(ctx context.Context, tx *workspace.Workspace) error {
							if err := changeAll(ctx, tx); err != nil {
								t.Errorf("%s: %v", test.name, err)
							}
							if test.name == "context" {
								cancel()
							}
							return test.end()
						})
						if !errors.Is(err, test.err) {
							t.Errorf("Run() that ends with %s = %v, want %v", test.name, err, test.err)
						}
					}()
					if diff := cmp.Diff(before, contents(t, store)); diff != "" {
						t.Errorf("after a transaction that ends with %s (-want +got):\n%s", test.name, diff)
					}
				}
				var late context.Context
				if err := transaction.Run(t.Context(), ws, func(ctx context.Context, tx *workspace.Workspace) error {
					late = context.WithoutCancel(ctx)
					return changeAll(ctx, tx)
				}); err != nil {
					t.Errorf("Run() = %v", err)
				}
				if diff := cmp.Diff(changed, contents(t, store)); diff != "" {
					t.Errorf("after a transaction (-want +got):\n%s", diff)
				}
				if name == "without New" {
					return
				}
				if _, err := ws.WriteFile(late, "a", nil, nil); !errors.Is(err, fs.ErrClosed) {
					t.Errorf("WriteFile() after the transaction has ended = %v, want ErrClosed", err)
				}
			})
		}
	}
}

// TestForeign tests that a file that somebody else has changed since is left alone, and
// that all others are brought back.
func TestForeign(t *testing.T) {
	t.Parallel()
	for name, store := range stores(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fill(t, store, start)
			ws := workspace.New("test", newFS(t, store), nil)
			failed := errors.New("failed")
			err := ws.Transaction(t.Context(), func(ctx context.Context) error {
				if err := changeAll(ctx, ws); err != nil {
					return err
				}
				if _, err := store.WriteFile(t.Context(), "a", []byte("theirs"), nil); err != nil {
					return err
				}
				return failed
			})
			if !errors.Is(err, failed) || !errors.Is(err, workspace.ErrConflict) {
				t.Errorf("Transaction() = %v, want both errors", err)
			}
			want := files{"dir/": "", "dir/sub/": ""}
			for name, text := range start {
				want[name] = text
			}
			want["a"] = "theirs"
			if diff := cmp.Diff(want, contents(t, store)); diff != "" {
				t.Errorf("after the transaction (-want +got):\n%s", diff)
			}
		})
	}
}

// TestForeignInside tests that of a directory that was removed or moved, all is brought back
// but the file that somebody else has changed since, at once and after a kill.
func TestForeignInside(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(ctx context.Context, fsys workspace.FileSystem) error
		path   string // what somebody else writes
		want   files
	}{
		"removed": {
			func(ctx context.Context, fsys workspace.FileSystem) error {
				return fsys.Rm(ctx, "dir", &workspace.RmOptions{Recursive: true})
			},
			"dir/b", files{"a": "one", "dir/": "", "dir/b": "theirs", "dir/sub/": "", "dir/sub/c": "three", "old": "moves"},
		},
		"moved": {
			func(ctx context.Context, fsys workspace.FileSystem) error {
				return workspace.Move(ctx, fsys, "dir", "to")
			},
			"to/b", files{"a": "one", "dir/": "", "dir/sub/": "", "dir/sub/c": "three", "old": "moves", "to/": "", "to/b": "theirs"},
		},
		"moved from": {
			func(ctx context.Context, fsys workspace.FileSystem) error {
				return workspace.Move(ctx, fsys, "dir", "to")
			},
			"dir/b", files{"a": "one", "dir/": "", "dir/b": "theirs", "dir/sub/": "", "dir/sub/c": "three", "old": "moves", "to/": "", "to/b": "two"},
		},
	} {
		for _, killed := range []bool{false, true} {
			for storeName, store := range stores(t) {
				t.Run(fmt.Sprintf("%s/%s/killed=%v", name, storeName, killed), func(t *testing.T) {
					t.Parallel()
					fill(t, store, start)
					foreign := func() error {
						_, err := store.WriteFile(t.Context(), test.path, []byte("theirs"), nil)
						return err
					}
					var err error
					if killed {
						leave(t, store, func(ctx context.Context, ws *workspace.Workspace) error {
							return errors.Join(test.change(ctx, ws), foreign())
						})
						err = transaction.Recover(t.Context(), workspace.New("test", later(t, store), nil))
					} else {
						ws := workspace.New("test", newFS(t, store), nil)
						err = ws.Transaction(t.Context(), func(ctx context.Context) error {
							return errors.Join(test.change(ctx, ws), foreign(), fs.ErrClosed)
						})
					}
					if n := strings.Count(fmt.Sprint(err), "somebody else"); !errors.Is(err, workspace.ErrConflict) || n != 1 || !strings.Contains(err.Error(), test.path+":") {
						t.Errorf("the error is %v, want a conflict of %s alone", err, test.path)
					}
					if diff := cmp.Diff(test.want, contents(t, store)); diff != "" {
						t.Errorf("after the undo (-want +got):\n%s", diff)
					}
				})
			}
		}
	}
}

// TestNested tests that a transaction in another one is a part of it, and that changes
// without its context are not.
func TestNested(t *testing.T) {
	t.Parallel()
	store := memory.New(nil)
	ws := workspace.New("test", newFS(t, store), nil)
	failed := errors.New("failed")
	put := func(ctx context.Context, name string) {
		if _, err := ws.WriteFile(ctx, name, []byte(name), nil); err != nil {
			t.Error(err)
		}
	}
	err := ws.Transaction(t.Context(), func(ctx context.Context) error {
		if err := ws.Transaction(ctx, func(ctx context.Context) error { put(ctx, "inner"); return nil }); err != nil {
			t.Error(err)
		}
		put(t.Context(), "outside")
		put(ctx, "outer")
		return failed
	})
	if !errors.Is(err, failed) {
		t.Errorf("Transaction() = %v", err)
	}
	if diff := cmp.Diff(files{"outside": "outside"}, contents(t, store)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestUndone tests that a program is told which changes were undone, and of no others.
func TestUndone(t *testing.T) {
	t.Parallel()
	var told []string
	fsys, err := transaction.New(memory.New(nil), &transaction.Options{Undone: func(_ context.Context, c backup.Change) {
		told = append(told, c.Op+" "+c.Path)
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []error{nil, errors.New("failed")} {
		err := fsys.Transaction(t.Context(), func(ctx context.Context) error {
			_, err := fsys.WriteFile(ctx, "a", []byte(fmt.Sprint(want)), nil)
			return errors.Join(err, fsys.Mkdir(ctx, "b", nil), want)
		})
		if !errors.Is(err, want) {
			t.Errorf("Transaction() = %v, want %v", err, want)
		}
		if err := fsys.Rm(t.Context(), "b", nil); (err == nil) != (want == nil) {
			t.Errorf("Rm() = %v after a transaction that returned %v", err, want)
		}
	}
	if diff := cmp.Diff([]string{"mkdir b", "write_file a"}, told); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestHidden tests that the journal is hidden while a transaction runs.
func TestHidden(t *testing.T) {
	t.Parallel()
	store := memory.New(nil)
	fill(t, store, files{"a": "one"})
	ws := workspace.New("test", newFS(t, store), nil)
	err := ws.Transaction(t.Context(), func(ctx context.Context) error {
		if _, err := ws.WriteFile(ctx, "a", []byte("two"), nil); err != nil {
			return err
		}
		if n := len(contents(t, store)); n < 5 {
			t.Errorf("the store has %d names, so there is no journal", n)
		}
		if diff := cmp.Diff(files{"a": "two", ".workspacekit/": ""}, contents(t, ws)); diff != "" {
			t.Errorf("in a transaction (-want +got):\n%s", diff)
		}
		for _, ctx := range []context.Context{ctx, t.Context()} {
			if _, err := ws.WriteFile(ctx, transaction.DefaultDir+"/x/state.json", []byte("{}"), nil); !errors.Is(err, workspace.ErrPolicy) {
				t.Errorf("WriteFile() below the journal = %v, want ErrPolicy", err)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(files{"a": "two"}, contents(t, store)); diff != "" {
		t.Errorf("after the transaction (-want +got):\n%s", diff)
	}
}

// TestSymlink tests that what cannot be brought back is not removed.
func TestSymlink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	store, err := localbash.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	fill(t, store, start)
	if err := os.Symlink("b", filepath.Join(dir, "dir", "link")); err != nil {
		t.Fatal(err)
	}
	ws := workspace.New("test", newFS(t, store), nil)
	err = ws.Transaction(t.Context(), func(ctx context.Context) error {
		for _, name := range []string{"dir/link", "dir"} {
			if err := ws.Rm(ctx, name, &workspace.RmOptions{Recursive: true}); !errors.Is(err, errors.ErrUnsupported) {
				t.Errorf("Rm(%q) in a transaction = %v, want ErrUnsupported", name, err)
			}
		}
		_, err := ws.WriteFile(ctx, "dir/link", []byte("through"), nil)
		return err
	})
	if err != nil {
		t.Error(err)
	}
	if data, err := store.ReadFile(t.Context(), "dir/b"); err != nil || string(data) != "through" {
		t.Errorf("the target of the symlink is %q, %v", data, err)
	}
	if err := ws.Rm(t.Context(), "dir/link", nil); err != nil {
		t.Errorf("Rm() without a transaction = %v", err)
	}
}

// TestOptions tests what New refuses.
func TestOptions(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{".", "../x", "/x", "a/"} {
		if _, err := transaction.New(memory.New(nil), &transaction.Options{Dir: dir}); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("New() with the directory %q = %v, want ErrInvalid", dir, err)
		}
	}
	ws := workspace.New("test", memory.New(nil), nil)
	if err := ws.Transaction(t.Context(), func(context.Context) error { return nil }); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("Transaction() without New = %v, want ErrUnsupported", err)
	}
	view, err := policy.Sub(memory.New(nil), ".") // passes transactions on, and has none to pass on to
	if err != nil {
		t.Fatal(err)
	}
	for name, fsys := range map[string]workspace.FileSystem{"a store": memory.New(nil), "a view": view} {
		restricted, err := policy.Restrict(fsys, policy.Rules{DeniedPaths: []string{"x"}})
		if err != nil {
			t.Fatal(err)
		}
		limited, err := quota.New(fsys, quota.Limits{Files: 1})
		if err != nil {
			t.Fatal(err)
		}
		for wrapper, fsys := range map[string]workspace.FileSystem{"rules": restricted, "a quota": limited} {
			ws := workspace.New("test", fsys, nil)
			err := transaction.Run(t.Context(), ws, func(context.Context, *workspace.Workspace) error { return nil })
			if !errors.Is(err, workspace.ErrPolicy) || transaction.Check(ws) == nil {
				t.Errorf("Run() with %s over %s and without New = %v, want ErrPolicy", wrapper, name, err)
			}
		}
	}
	if err := transaction.Check(ws); err != nil {
		t.Errorf("Check() = %v", err)
	}
	readOnly := workspace.New("test", policy.ReadOnly(newFS(t, memory.New(nil))), nil)
	err = transaction.Run(t.Context(), readOnly, func(context.Context, *workspace.Workspace) error { return nil })
	if check := transaction.Check(readOnly); !errors.Is(err, workspace.ErrPolicy) || !errors.Is(check, workspace.ErrPolicy) {
		t.Errorf("Run() in a read-only workspace = %v and Check() = %v, want ErrPolicy", err, check)
	}
}

// neverWrites is a FileSystem that cannot be changed.
type neverWrites struct{ *policy.SubFS }

func (n neverWrites) Capabilities() workspace.Capabilities {
	caps := n.SubFS.Capabilities()
	caps.Write = false
	return caps
}

// TestNeverWrites tests that Check returns what Run returns of a store that cannot be changed.
func TestNeverWrites(t *testing.T) {
	t.Parallel()
	all, err := policy.Sub(memory.New(nil), ".")
	if err != nil {
		t.Fatal(err)
	}
	for name, fsys := range map[string]workspace.FileSystem{"with New": newFS(t, neverWrites{all}), "without New": neverWrites{all}} {
		ws := workspace.New("test", fsys, nil)
		err := transaction.Run(t.Context(), ws, func(context.Context, *workspace.Workspace) error { return nil })
		if check := transaction.Check(ws); !errors.Is(err, fs.ErrPermission) || fmt.Sprint(check) != fmt.Sprint(err) {
			t.Errorf("%s: Run() = %v and Check() = %v, want ErrPermission", name, err, check)
		}
	}
}

// TestConformance runs the suite without a transaction, and in one.
func TestConformance(t *testing.T) {
	t.Parallel()
	conformance.Run(t, func(t *testing.T) workspace.FileSystem { return newFS(t, memory.New(nil)) },
		&conformance.Options{Short: !exhaustive.IsLong()})
}

// TestDirectoryInTheWay tests that a file in the place of the directory of the transactions
// is named as what is wrong.
func TestDirectoryInTheWay(t *testing.T) {
	raw := memory.New(nil)
	fsys, err := transaction.New(raw, nil)
	if err != nil {
		t.Fatal(err)
	}
	fill(t, raw, files{".workspacekit": "in the way"})
	err = fsys.Transaction(t.Context(), func(context.Context) error { return nil })
	if want := "move away what is in the place of the directory " + transaction.DefaultDir; !errors.Is(err, errors.ErrUnsupported) || ops.RemedyOf(err) != want {
		t.Errorf("Transaction = %v with the remedy %q, want ErrUnsupported with %q", err, ops.RemedyOf(err), want)
	}
}
