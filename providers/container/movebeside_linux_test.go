package container_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/providers/container"
	"github.com/workspacekit/workspacekit/workspace"
)

// TestMoveOfWhatIsMadeAgain has the names of a file and of a directory used again as
// soon as mv has moved them: the moves have taken place.
func TestMoveOfWhatIsMadeAgain(t *testing.T) {
	for _, mv := range []string{"mv", "busybox mv"} {
		t.Run(mv, func(t *testing.T) {
			t.Parallel()
			exhaustive.Program(t, strings.Fields(mv)[0])
			root := t.TempDir()
			again := fmt.Sprintf("PATH=$path; %s \"$@\"; result=$?\nmkdir -p %[2]q; echo again >%[2]q/file; exit $result", mv, root+"/dir")
			shell(t, root, "mkdir dir; echo first >dir/file")
			f := open(t, &container.Options{Executor: stubbed(t, "mv", again), Root: root})
			for _, name := range []string{"dir/file", "dir"} {
				if err := f.Move(t.Context(), name, "moved/"+name+"s"); err != nil {
					t.Errorf("Move(%q), whose name is used again at once, = %v, want nil", name, err)
				}
			}
		})
	}
}

// TestMoveAfterEdit moves a file when another client has tested its version and is about to
// replace it.
func TestMoveAfterEdit(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	shell(t, root, "mkdir dir; echo first >dir/file")
	opts := slowToReplace(t, root, "-e moved")
	f, editor := open(t, opts), open(t, opts)
	called := beginEdit(t, editor)
	if err := f.Move(t.Context(), "dir/file", "moved"); err != nil {
		t.Errorf("Move beside WriteFile = %v, want nil", err)
	}
	if err := <-called; err != nil {
		t.Errorf("WriteFile beside Move = %v, want nil", err)
	}
	if data, err := f.ReadFile(t.Context(), "moved"); err != nil || string(data) != "edited" {
		t.Errorf("the file that has moved is %q, %v, want %q", data, err, "edited")
	}
	if _, err := f.Stat(t.Context(), "dir/file"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Stat of the old name = %v, want %q", err, fs.ErrNotExist)
	}
}

// slowToReplace returns options for root whose mv, when it replaces a file, makes the file begun,
// and waits until the test holds in root, or for half a second.
func slowToReplace(t *testing.T, root, until string) *container.Options {
	t.Helper()
	script := fmt.Sprintf(`case $1 in
		-f)
			: >%[1]q/begun
			tries=0
			until (cd %[1]q && [ %[2]s ]) || [ $tries -eq 50 ]; do sleep 0.01; tries=$((tries + 1)); done
			;;
		esac`, root, until)
	return &container.Options{Executor: stubbed(t, "mv", script), Root: root}
}

// beginEdit begins to write dir/file with the condition that it has not changed, and returns
// when that has been tested. The error comes from the channel.
func beginEdit(t *testing.T, editor *container.FS) <-chan error {
	t.Helper()
	_, version, err := editor.ReadVersioned(t.Context(), "dir/file", 0)
	if err != nil {
		t.Fatal(err)
	}
	called := make(chan error, 1)
	go func() {
		called <- second(editor.WriteFile(t.Context(), "dir/file", []byte("edited"), &workspace.WriteOptions{IfVersion: version}))
	}()
	eventually(t, "the write has not begun", func() error { return second(editor.Stat(t.Context(), "begun")) })
	return called
}

// TestRmAfterEdit removes a file when a write has tested its version and is about to replace it.
func TestRmAfterEdit(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	shell(t, root, "mkdir dir; echo first >dir/file")
	f := open(t, slowToReplace(t, root, "! -e dir/file"))
	called := beginEdit(t, f)
	if err := f.Rm(t.Context(), "dir/file", nil); err != nil {
		t.Errorf("Rm beside WriteFile = %v, want nil", err)
	}
	if err := <-called; err != nil {
		t.Errorf("WriteFile beside Rm = %v, want nil", err)
	}
	if _, err := f.Stat(t.Context(), "dir/file"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Stat of what was removed after a write = %v, want %q", err, fs.ErrNotExist)
	}
}

// TestOvertaken has somebody else change a directory during the first attempt of a call, which
// then makes another.
func TestOvertaken(t *testing.T) {
	for _, test := range []struct {
		name    string
		program string
		script  string // what the program does first
		call    func(t *testing.T, f *container.FS) error
		left    bool // whether dir/file is there afterwards
	}{
		{
			"Mkdir", "mkdir", `rm -r "$root/dir"; PATH=$path mkdir "$root/dir"`,
			func(t *testing.T, f *container.FS) error { return f.Mkdir(t.Context(), "dir/file", nil) }, true,
		},
		{
			"Mkdir recursive", "mkdir", `rm -r "$root/dir"; PATH=$path mkdir "$root/dir"`,
			func(t *testing.T, f *container.FS) error {
				return f.Mkdir(t.Context(), "dir/file", &workspace.MkdirOptions{Recursive: true})
			}, true,
		},
		{
			"Rm", "rm", `echo "rm: dir/file: No such file or directory" >&2; exit 1`,
			func(t *testing.T, f *container.FS) error { return f.Rm(t.Context(), "dir/file", nil) }, false,
		},
		{
			"Rm recursive", "rm", `echo "rm: dir: Directory not empty" >&2; exit 1`,
			func(t *testing.T, f *container.FS) error {
				return f.Rm(t.Context(), "dir", &workspace.RmOptions{Recursive: true})
			}, false,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			shell(t, root, "mkdir dir")
			if test.program == "rm" {
				shell(t, root, "echo x >dir/file")
			}
			script := fmt.Sprintf("root=%q\nif [ -d \"$root/armed\" ] && rmdir \"$root/armed\"; then %s; fi", root, test.script)
			f := open(t, &container.Options{Executor: stubbed(t, test.program, script), Root: root})
			if _, err := f.Stat(t.Context(), "dir"); err != nil {
				t.Fatal(err)
			}
			shell(t, root, "mkdir armed")
			if err := test.call(t, f); err != nil {
				t.Errorf("%s, overtaken once, = %v, want nil", test.name, err)
			}
			if _, err := os.Lstat(root + "/dir/file"); (err == nil) != test.left {
				t.Errorf("after %s: Lstat = %v, want that it is there: %v", test.name, err, test.left)
			}
		})
	}
}

// TestMoveOutOfRenamed renames the directory of a file that is being moved: its lock does
// not stay.
func TestMoveOutOfRenamed(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	shell(t, root, "mkdir dir; echo first >dir/file")
	rename := fmt.Sprintf("[ $1 != -i ] || PATH=$path mv %[1]q/dir %[1]q/renamed", root)
	f := open(t, &container.Options{Executor: stubbed(t, "mv", rename), Root: root})
	if err := f.Move(t.Context(), "dir/file", "moved"); err != nil {
		t.Errorf("Move out of a directory that is renamed = %v, want nil", err)
	}
	if entries, err := os.ReadDir(root + "/renamed"); err != nil || len(entries) > 0 {
		t.Errorf("the directory has %v, %v, want nothing", entries, err)
	}
}

// TestMoveBesideEdits moves a file that other clients edit, and create again: a move takes
// place or changes nothing, and each edit is in one file.
func TestMoveBesideEdits(t *testing.T) {
	exhaustive.NotShort(t, "runs three clients")
	inImages(t, func(t *testing.T, r *running) {
		opts := r.options(t)
		f := open(t, opts)
		done := make(chan struct{})
		var editing sync.WaitGroup
		edits := make([][]string, 2)
		for i := range edits {
			w := workspace.New("w", open(t, opts), nil)
			editing.Go(func() {
				for n := 0; ; n++ {
					select {
					case <-done:
						return
					default:
					}
					line := fmt.Sprintf("%d-%d\n", i, n)
					_, _, err := w.Edit(t.Context(), "dir/file", func(old []byte) ([]byte, error) { return append(old, line...), nil })
					switch {
					case err == nil:
						edits[i] = append(edits[i], line)
					case errors.Is(err, fs.ErrNotExist):
						_, _ = w.WriteFile(t.Context(), "dir/file", nil, &workspace.WriteOptions{IfNotExist: true})
					default:
						t.Errorf("Edit beside Move = %v, want nil or %q", err, fs.ErrNotExist)
					}
				}
			})
		}
		for i := range 50 {
			if err := f.Move(t.Context(), "dir/file", fmt.Sprint("moved/", i)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("Move beside edits = %v, want nil or %q", err, fs.ErrNotExist)
			}
		}
		close(done)
		editing.Wait()
		all := r.run(t, "sh", "-c", `cat "$1"/*/*`, "sh", opts.Root)
		for _, line := range append(edits[0], edits[1]...) {
			if n := strings.Count("\n"+all, "\n"+line); n != 1 {
				t.Errorf("the edit %q is there %d times, want once", line, n)
			}
		}
	})
}
