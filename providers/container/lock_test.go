package container_test

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"sync"
	"testing"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/providers/container"
	"github.com/workspacekit/workspacekit/workspace"
)

// TestTwoClients has two clients that know nothing of each other add to one
// file, each by another name for it.
func TestTwoClients(t *testing.T) {
	exhaustive.NotShort(t, "runs two clients")
	inImages(t, func(t *testing.T, r *running) {
		opts := r.options(t)
		clients := []*container.FS{open(t, opts), open(t, opts)}
		if _, err := clients[0].WriteFile(t.Context(), "dir/count", nil, nil); err != nil {
			t.Fatal(err)
		}
		r.symlink(t, clients[0], "dir", "link")
		const edits = 20
		var editing sync.WaitGroup
		for i, name := range []string{"dir/count", "link/count"} {
			w := workspace.New("w", clients[i], nil)
			editing.Go(func() {
				for range edits {
					_, _, err := w.Edit(t.Context(), name, func(old []byte) ([]byte, error) { return append(old, '+'), nil })
					if err != nil {
						t.Errorf("Edit(%q) beside another client = %v, want nil", name, err)
					}
				}
			})
		}
		editing.Wait()
		data, err := clients[0].ReadFile(t.Context(), "dir/count")
		if want := strings.Repeat("+", 2*edits); err != nil || string(data) != want {
			t.Errorf("two clients with %d edits each left %q, %v, want all of them", edits, data, err)
		}
	})
}

// TestOneOfTwoClientsCreates has two clients create the same files.
func TestOneOfTwoClientsCreates(t *testing.T) {
	inImages(t, func(t *testing.T, r *running) {
		opts := r.options(t)
		clients := []*container.FS{open(t, opts), open(t, opts)}
		for range 10 {
			var errs [2]error
			var creating sync.WaitGroup
			for i, client := range clients {
				creating.Go(func() {
					_, errs[i] = client.WriteFile(t.Context(), "file", nil, &workspace.WriteOptions{IfNotExist: true})
				})
			}
			creating.Wait()
			if (errs[0] == nil) == (errs[1] == nil) {
				t.Errorf("two clients create one file: %v and %v, want one to succeed", errs[0], errs[1])
			}
			if err := clients[0].Rm(t.Context(), "file", nil); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// TestLockOfTheDead has a lock whose owner was killed.
func TestLockOfTheDead(t *testing.T) {
	inImages(t, func(t *testing.T, r *running) {
		f := r.open(t)
		version, err := f.WriteFile(t.Context(), "file", nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.run(t, "sh", "-c", `echo "$(readlink /proc/self/ns/pid) 999999 1" > "$1/.workspacekit-tmp-lock"`, "sh", f.Root())
		if _, err := f.WriteFile(t.Context(), "file", []byte("x"), &workspace.WriteOptions{IfVersion: version}); err != nil {
			t.Errorf("WriteFile(IfVersion) beside the lock of a dead client = %v, want nil", err)
		}
		if err := f.Mkdir(t.Context(), "dir", nil); err != nil {
			t.Fatal(err)
		}
		r.run(t, "sh", "-c", `cd "$1/dir" && touch .workspacekit-tmp-lock .workspacekit-tmp-unlock .workspacekit-tmp-2BCDEFGHIJKLMNOPQRSTUVWXYZ && mkdir -p .workspacekit-tmp-ABCDEFGHIJKLMNOPQRSTUVWXY7/sub`, "sh", f.Root())
		if err := f.Rm(t.Context(), "dir", nil); err != nil {
			t.Errorf("Rm of a directory with nothing but leftovers = %v, want nil", err)
		}
	})
}

// TestRmKeepsWhatIsReserved has things with reserved names that no client has made, and
// the lock of a writer beside a file.
func TestRmKeepsWhatIsReserved(t *testing.T) {
	inImages(t, func(t *testing.T, r *running) {
		f := r.open(t)
		const random = ".workspacekit-tmp-ABCDEFGHIJKLMNOPQRSTUVWXYZ"
		for name, create := range map[string]string{
			"directory":    "mkdir .workspacekit-tmp-dir; echo keep >.workspacekit-tmp-dir/zz",
			"file":         "echo keep >.workspacekit-tmp-file",
			"prefix":       "echo keep >.workspacekit-tmp-",
			"lower":        "echo keep >.workspacekit-tmp-abcdefghijklmnopqrstuvwxyz",
			"longer":       "echo keep >" + random + "A",
			"lock":         "mkdir .workspacekit-tmp-lock; echo keep >.workspacekit-tmp-lock/zz",
			"symlink":      "ln -s .. " + random,
			"fifo":         "mkfifo " + random,
			"beside":       "echo keep >" + random + "; echo keep >.workspacekit-tmp-file",
			"lock in use":  "echo keep >.workspacekit-tmp-lock; echo keep >file",
			"symlink lock": "ln -s nowhere .workspacekit-tmp-lock",
		} {
			if err := f.Mkdir(t.Context(), name, nil); err != nil {
				t.Fatal(err)
			}
			tree := func() string {
				return r.run(t, "sh", "-c", `cd "$1" && find . | sort`, "sh", f.Root()+"/"+name)
			}
			r.run(t, "sh", "-c", `cd "$1" && `+create, "sh", f.Root()+"/"+name)
			before := tree()
			if err := f.Rm(t.Context(), name, nil); !errors.Is(err, workspace.ErrNotEmpty) {
				t.Errorf("Rm of a directory with what %q makes = %v, want %v", create, err, workspace.ErrNotEmpty)
				continue
			}
			if after := tree(); after != before {
				t.Errorf("Rm of a directory with what %q makes left\n%s, want\n%s", create, after, before)
			}
		}
	})
}

// TestWriteToReserved writes by symlinks that lead to reserved names.
func TestWriteToReserved(t *testing.T) {
	inImages(t, func(t *testing.T, r *running) {
		f := r.open(t)
		r.run(t, "sh", "-c", `cd "$1" && mkdir .workspacekit-tmp-dir && echo old >.workspacekit-tmp-dir/old && ln -s .workspacekit-tmp-file file &&
			ln -s .workspacekit-tmp-dir/old old && ln -s .workspacekit-tmp-dir/new new && ln -s .workspacekit-tmp-new/sub/new below && ln -s .workspacekit-tmp-dir dir`, "sh", f.Root())
		tree := func() string {
			return r.run(t, "sh", "-c", `cd "$1" && find . | sort && cat .workspacekit-tmp-dir/old`, "sh", f.Root())
		}
		_, version, err := f.ReadVersioned(t.Context(), "old", 0)
		if err != nil {
			t.Fatal(err)
		}
		before := tree()
		for _, name := range []string{"file", "old", "new", "below", "below/sub", "dir/new"} {
			for _, size := range []int{1, 100 << 10} {
				_, err := f.WriteFile(t.Context(), name, make([]byte, size), nil)
				isPathError(t, err, "write_file", name, fs.ErrInvalid)
			}
		}
		isPathError(t, f.Mkdir(t.Context(), "below/sub", &workspace.MkdirOptions{Recursive: true}), "mkdir", "below/sub", fs.ErrInvalid)
		_, err = f.WriteFile(t.Context(), "old", nil, &workspace.WriteOptions{IfVersion: version})
		isPathError(t, err, "write_file", "old", fs.ErrInvalid)
		if after := tree(); after != before {
			t.Errorf("writes to reserved names left\n%s, want\n%s", after, before)
		}
	})
}

// TestTemporaryBesideTarget streams to a symlink: what is sent is where the symlink leads,
// which may be another file system, and is removed from there.
func TestTemporaryBesideTarget(t *testing.T) {
	inImages(t, func(t *testing.T, r *running) {
		f := r.open(t)
		if err := f.Mkdir(t.Context(), "dir", nil); err != nil {
			t.Fatal(err)
		}
		r.run(t, "sh", "-c", `cd "$1" && ln -s dir/file link`, "sh", f.Root())
		temporaries := func() string {
			return strings.TrimSpace(r.run(t, "sh", "-c", `cd "$1" && find . -name '.workspacekit-tmp-*' | sed 's/tmp-.*/tmp-/'`, "sh", f.Root()))
		}
		for _, name := range []string{"link", "dir/new", "new/sub/file"} {
			w, err := f.Create(t.Context(), name, nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := w.Write(make([]byte, 2<<20)); err != nil {
				t.Fatal(err)
			}
			want := map[string]string{"new/sub/file": "./.workspacekit-tmp-"}[name]
			if got := temporaries(); got != cmp.Or(want, "./dir/.workspacekit-tmp-") {
				t.Errorf("a stream to %q is in %q", name, got)
			}
			if err := w.Close(); err != nil {
				t.Error(err)
			}
			eventually(t, "the stream to "+name+" is left", func() error {
				if left := temporaries(); left != "" {
					return errors.New(left)
				}
				return nil
			})
		}
		if _, err := f.WriteFile(t.Context(), "link", make([]byte, 2<<20), nil); err != nil {
			t.Error(err)
		}
		if info, err := f.Stat(t.Context(), "dir/file"); err != nil || info.Size != 2<<20 {
			t.Errorf("Stat of what a symlink leads to = %+v, %v, want what was written", info, err)
		}
	})
}

// TestOneOfTwoClientsMoves has two clients move one file, and one directory, to two names,
// in one file system and to another one.
func TestOneOfTwoClientsMoves(t *testing.T) {
	inImages(t, func(t *testing.T, r *running) {
		opts := r.options(t)
		root, other := opts.Root, "/dev/shm/"+r.prefix
		r.run(t, "mkdir", other)
		t.Cleanup(func() { r.run(t, "rm", "-r", other) })
		opts.Root = "/"
		clients := []*container.FS{open(t, opts), open(t, opts)}
		for _, destination := range []string{root, other} {
			for i := range 10 {
				name := fmt.Sprint(i)
				if i%2 == 0 {
					name += "/file"
				}
				if _, err := clients[0].WriteFile(t.Context(), path.Join(root, "from", name)[1:], []byte("x"), nil); err != nil {
					t.Fatal(err)
				}
				var errs [2]error
				var moving sync.WaitGroup
				for j, client := range clients {
					moving.Go(func() {
						errs[j] = client.Move(t.Context(), path.Join(root, "from", fmt.Sprint(i))[1:], path.Join(destination, fmt.Sprint("to", i*j), fmt.Sprint(i, "-", j))[1:])
					})
				}
				moving.Wait()
				if (errs[0] == nil) == (errs[1] == nil) || !errors.Is(cmp.Or(errs[0], errs[1]), fs.ErrNotExist) {
					t.Errorf("two clients move %s to %s: %v and %v, want one to succeed and %q", name, destination, errs[0], errs[1], fs.ErrNotExist)
				}
			}
			if there := r.run(t, "find", destination, "-type", "f"); strings.Count(there, "\n") != 10 {
				t.Errorf("after the moves of 10 to %s there are\n%s", destination, there)
			}
			r.run(t, "sh", "-c", `rm -r "$1"/*`, "sh", destination)
		}
	})
}
