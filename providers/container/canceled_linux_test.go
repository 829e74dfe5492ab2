package container_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/providers/container"
	"github.com/workspacekit/workspacekit/workspace"
)

// hanging stands in for the programs that copy, move and remove. It says that it
// has begun, makes what it was to make, and then does not end. With other
// arguments it is the program.
const hanging = `#!/bin/sh
for last; do :; done
case "${0##*/} $*" in
cp*/slow\ * | mv*/slow\ * | rm\ -r*./slow)
	: >"$last.begun"
	[ "${0##*/}" = rm ] || : >"$last"
	%s
	;;
esac
exec "/bin/${0##*/}" "$@"
`

// hang has the programs hang in an empty workspace, and returns the options that
// open it. endless is what does not end, with the number of the place in it.
func (r *running) hang(t *testing.T, endless string) *container.Options {
	t.Helper()
	opts := r.options(t)
	inside := within{path: "/usr/local/sbin/" + r.number + ":/usr/bin:/bin"} // others use the container, too
	if r.container == "" {
		inside.path = t.TempDir() + ":" + os.Getenv("PATH")
	} else {
		inside.Command = append(slices.Clone(r.engineArgs), "exec", "-i", r.container)
	}
	opts = &container.Options{Executor: inside, Root: opts.Root}
	bin, _, _ := strings.Cut(inside.path, ":") // where it looks first
	install := `mkdir -p "$1/slow" "$2" && for tool in cp mv rm; do printf %s "$3" >"$2/$tool" && chmod +x "$2/$tool" || exit; done; echo x >"$1/slow/slow"`
	r.run(t, "sh", "-c", install, "sh", opts.Root, bin, fmt.Sprintf(hanging, fmt.Sprintf(endless, r.number)))
	return opts
}

// left returns what is left of calls: the programs that hang, and temporary
// files.
func (r *running) left(t testing.TB, root string) string {
	t.Helper()
	return strings.TrimSpace(r.run(t, "sh", "-c", `
		grep -l "1000[.]$2" /proc/[0-9]*/cmdline 2>/dev/null
		find "$1" -name '.workspacekit-tmp-*' ! -name '*.begun'`, "sh", root, r.number))
}

// slowCalls are calls that hang inside.
func slowCalls() map[string]func(ctx context.Context, f *container.FS) error {
	return map[string]func(ctx context.Context, f *container.FS) error{
		"rm": func(ctx context.Context, f *container.FS) error {
			return f.Rm(ctx, "slow", &workspace.RmOptions{Recursive: true})
		},
		"copy": func(ctx context.Context, f *container.FS) error {
			return second(f.Copy(ctx, "slow/slow", "slow/copy"))
		},
		"move": func(ctx context.Context, f *container.FS) error { return f.Move(ctx, "slow/slow", "slow/moved") },
	}
}

// begun waits until a program hangs in the workspace root.
func (r *running) begun(t *testing.T, root string) {
	t.Helper()
	eventually(t, "no program has begun", func() error {
		if r.run(t, "find", root, "-name", "*.begun") == "" {
			return errors.New("nothing is there")
		}
		return nil
	})
}

// TestCanceledWorkStops cancels calls, and closes the FS at once or makes another
// change: nothing that the calls have started continues after that.
func TestCanceledWorkStops(t *testing.T) {
	inOwn(t, []place{places()[0], places()[2]}, func(t *testing.T, r *running) {
		opts := r.hang(t, "sleep 1000.%s; exit")
		for name, call := range slowCalls() {
			f := open(t, opts)
			ctx, cancel := context.WithCancel(t.Context())
			called := make(chan error, 1)
			go func() { called <- call(ctx, f) }()
			r.begun(t, opts.Root)
			cancel()
			if err := <-called; !errors.Is(err, context.Canceled) {
				t.Errorf("%s = %v, want %q", name, err, context.Canceled)
			}
			if name == "copy" {
				if _, err := f.WriteFile(t.Context(), "later", nil, nil); err != nil {
					t.Error(err)
				}
			} else if err := f.Close(); err != nil {
				t.Error(err)
			}
			if left := r.left(t, opts.Root); left != "" {
				t.Errorf("after %s was canceled %q is left", name, left)
			}
			r.run(t, "sh", "-c", `rm -f "$1"/*.begun "$1"/*/*.begun "$1"/*/.*.begun`, "sh", opts.Root)
		}
	})
}

// TestCanceledRemovalStops cancels the removal of a large tree, in images whose
// programs cannot be replaced. TestRunCancels and TestKilledOwner do so over Podman.
func TestCanceledRemovalStops(t *testing.T) {
	inOwn(t, exhaustive.Some(t, "Podman", engines(), engines()[:1]), func(t *testing.T, r *running) {
		opts := r.options(t)
		f, observer := open(t, opts), open(t, opts)
		inside := r.processes(t) - 1 // the shell of f
		const files = 20000
		first := r.run(t, "sh", "-c", `mkdir "$1/tree" && cd "$1/tree" && seq "$2" | xargs touch && find . -type f | head -n 1`, "sh", f.Root(), fmt.Sprint(files))
		ctx, cancel := context.WithCancel(t.Context())
		called := make(chan error, 1)
		go func() { called <- f.Rm(ctx, "tree", &workspace.RmOptions{Recursive: true}) }()
		for err := error(nil); err == nil; _, err = observer.Stat(t.Context(), path.Join("tree", strings.TrimSpace(first))) {
		}
		cancel()
		if err := <-called; !errors.Is(err, context.Canceled) {
			t.Errorf("Rm of %d files, canceled after the first = %v, want %q", files, err, context.Canceled)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
		if now := r.processes(t); now > inside {
			t.Errorf("there were %d processes inside, and after Close there are %d", inside, now)
		}
	})
}

// TestCloseRemovesTemporaryFiles closes an FS in the middle of writes.
func TestCloseRemovesTemporaryFiles(t *testing.T) {
	inPlaces(t, func(t *testing.T, r *running) {
		opts := r.options(t)
		f := open(t, opts)
		writer, err := f.Create(t.Context(), "dir/created", nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := writer.Write(make([]byte, 2<<20)); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		called := make(chan error, 1)
		go func() { // one write can be over before anybody looks
			var err error
			for err == nil {
				err = second(f.WriteFile(ctx, "large", make([]byte, 150<<20), nil))
			}
			called <- err
		}()
		eventually(t, "no write is under way", func() error {
			if len(strings.Fields(r.left(t, opts.Root))) < 2 {
				return errors.New("there is no temporary file")
			}
			return nil
		})
		cancel()
		if err := <-called; !errors.Is(err, context.Canceled) {
			t.Errorf("WriteFile = %v, want %v", err, context.Canceled)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
		if left := r.left(t, opts.Root); left != "" {
			t.Errorf("%q is left", left)
		}
	})
}

// TestMoveToAnotherFileSystem cancels the move of a file, which leaves no part of it at the
// destination, and then moves it.
func TestMoveToAnotherFileSystem(t *testing.T) {
	inImages(t, func(t *testing.T, r *running) {
		opts := r.hang(t, "sleep 1000.%s; exit")
		root, other := opts.Root, "/dev/shm/"+r.prefix
		r.run(t, "mkdir", other)
		t.Cleanup(func() { r.run(t, "rm", "-r", other) })
		if r.run(t, "stat", "-c", "%d", root) == r.run(t, "stat", "-c", "%d", other) {
			t.Skip("/dev/shm is no file system of its own")
		}
		r.run(t, "sh", "-c", `cd "$1" && echo x >file && chmod 751 file && touch -d '2001-02-03 04:05:06' file && : >"$2/there"`, "sh", root, other)
		opts.Root = "/"
		f := open(t, opts)
		if !strings.Contains(r.name, "busybox") { // whose shell has the programs built in
			ctx, cancel := context.WithCancel(t.Context())
			called := make(chan error, 1)
			go func() { called <- f.Move(ctx, path.Join(root, "slow/slow")[1:], path.Join(other, "moved")[1:]) }()
			r.begun(t, other)
			cancel()
			if err := <-called; !errors.Is(err, context.Canceled) {
				t.Errorf("Move = %v, want %q", err, context.Canceled)
			}
		}
		view, err := f.Exact()
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Move(t.Context(), path.Join(root, "file")[1:], path.Join(other, "there")[1:]); !errors.Is(err, fs.ErrExist) {
			t.Errorf("Move to a file that exists = %v, want %q", err, fs.ErrExist)
		}
		for i, fsys := range []workspace.FileSystem{f, view} {
			if err := fsys.(workspace.Mover).Move(t.Context(), path.Join(root, "file")[1:], path.Join(other, "dir", fmt.Sprint(i))[1:]); err != nil {
				t.Errorf("Move = %v, want nil", err)
			}
			r.run(t, "cp", "-p", path.Join(other, "dir", fmt.Sprint(i)), path.Join(root, "file"))
		}
		if got, want := r.run(t, "sh", "-c", `rm "$1"/*.begun "$1"/.*.begun 2>/dev/null; cd "$1" && find . | sort && stat -c '%a %s %Y' dir/*`, "sh", other),
			".\n./dir\n./dir/0\n./dir/1\n./there\n751 2 981173106\n751 2 981173106\n"; got != want {
			t.Errorf("there are\n%swant\n%s", got, want)
		}
		if left := r.left(t, root); left != "" {
			t.Errorf("%q is left", left)
		}
	})
}

// TestMoveBesideEdit edits a file, in an FS of its own, that is being copied to another file
// system: the edit moves, too.
func TestMoveBesideEdit(t *testing.T) {
	in(t, []place{places()[0], places()[2]}, func(t *testing.T, r *running) {
		opts := r.hang(t, `: %s; /bin/cp "$@"; until [ -e "${last%%/*}/edited" ]; do sleep 0.01; done; exit`)
		root, other := opts.Root, "/dev/shm/"+r.prefix
		r.run(t, "mkdir", other)
		t.Cleanup(func() { r.run(t, "rm", "-r", other) })
		if r.run(t, "stat", "-c", "%d", root) == r.run(t, "stat", "-c", "%d", other) {
			t.Skip("/dev/shm is no file system of its own")
		}
		source := path.Join(root, "slow/slow")[1:]
		opts.Root = "/"
		f, editor := open(t, opts), open(t, opts)
		called := make(chan error, 1)
		go func() { called <- f.Move(t.Context(), source, path.Join(other, "moved")[1:]) }()
		r.begun(t, other)
		_, version, err := editor.ReadVersioned(t.Context(), source, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := editor.WriteFile(t.Context(), source, []byte("edited"), &workspace.WriteOptions{IfVersion: version}); err != nil {
			t.Errorf("WriteFile beside Move = %v, want nil", err)
		}
		r.run(t, "touch", path.Join(other, "edited"))
		if err := <-called; err != nil {
			t.Errorf("Move beside WriteFile = %v, want nil", err)
		}
		if got := r.run(t, "cat", path.Join(other, "moved")); got != "edited" {
			t.Errorf("the file that has moved is %q, want %q", got, "edited")
		}
		if left := r.left(t, root) + r.left(t, other); left != "" {
			t.Errorf("%q is left", left)
		}
	})
}

// mounted creates a container in which two folders of one file system are mounted at a and b, the
// first also at again, and a file at file. It returns the options that open it, and the folder that
// has all of them.
func (r *running) mounted(t *testing.T) (opts *container.Options, host string) {
	t.Helper()
	host = t.TempDir()
	shell(t, host, "mkdir a b; echo old >file; chmod 777 . a b; chmod 666 file")
	var mounts []container.Mount
	for target, source := range map[string]string{"a": "a", "b": "b", "again": "a", "file": "file"} {
		mounts = append(mounts, container.Mount{Source: path.Join(host, source), Target: "/workspace/" + target, Writable: true})
	}
	o := r.create(t, container.CreateOptions{Mounts: mounts})
	return &container.Options{Engine: o.engineArgs, Container: o.container, Root: "/workspace"}, host
}

// TestMoveBetweenMounts moves a file between two mounts of one file system, until it is canceled
// and beside an edit: the destination never has a part of it, and no edit is lost.
func TestMoveBetweenMounts(t *testing.T) {
	in(t, places()[1:], func(t *testing.T, r *running) {
		opts, host := r.mounted(t)
		f, editor := open(t, opts), open(t, opts)
		const size = 64 << 20
		for _, name := range []string{"canceled", "edited"} {
			source, destination := path.Join("a", name), path.Join("b", name)
			version, err := f.WriteFile(t.Context(), source, bytes.Repeat([]byte("x"), size), nil)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			called := make(chan error, 1)
			go func() { called <- f.Move(ctx, source, destination) }()
			shell(t, host, `until [ -n "$(find b -size +1000k)" ]; do :; done`)
			want := int64(size)
			if name == "canceled" {
				cancel()
			} else if _, err := editor.WriteFile(t.Context(), source, []byte(name), &workspace.WriteOptions{IfVersion: version}); err == nil {
				want = int64(len(name))
			}
			err = <-called
			moved, kept := sizeOf(path.Join(host, destination)), sizeOf(path.Join(host, source))
			if moved != want && (moved != -1 || err == nil || name == "edited") {
				t.Errorf("%s: after Move = %v there are %d bytes, want %d", name, err, moved, want)
			}
			if moved == -1 && kept != want {
				t.Errorf("%s: after Move = %v there are %d bytes at the source, want %d", name, err, kept, want)
			}
		}
	})
}

// sizeOf returns the size of a file, and -1 if there is none.
func sizeOf(file string) int64 {
	info, err := os.Stat(file)
	if err != nil {
		return -1
	}
	return info.Size()
}

// TestMoveInFolderMountedTwice moves files and directories between two mounts of one folder, which
// has one lock.
func TestMoveInFolderMountedTwice(t *testing.T) {
	in(t, places()[1:], func(t *testing.T, r *running) {
		opts, host := r.mounted(t)
		f := open(t, opts)
		shell(t, host, "cd a; mkdir 0 1; touch 0/dir 1/dir 0-file 1-file; chmod 777 0 1")
		view, err := f.Exact()
		if err != nil {
			t.Fatal(err)
		}
		for i, fsys := range []workspace.FileSystem{f, view} {
			for _, name := range []string{fmt.Sprint(i), fmt.Sprint(i, "-file")} {
				if err := fsys.(workspace.Mover).Move(t.Context(), path.Join("a", name), path.Join("again", "moved-"+name)); err != nil {
					t.Errorf("Move(%q) = %v, want nil", name, err)
				}
			}
		}
		shell(t, host, `[ "$(cd a && echo * */*)" = 'moved-0 moved-0-file moved-1 moved-1-file moved-0/dir moved-1/dir' ]`)
	})
}

// TestMoveFromTop moves a file from the directory / to another file system, and then writes there.
func TestMoveFromTop(t *testing.T) {
	in(t, places()[1:3], func(t *testing.T, r *running) {
		if _, err := r.files.WriteFile(t.Context(), r.prefix, nil, nil); err != nil {
			t.Fatal(err)
		}
		if err := r.files.Move(t.Context(), r.prefix, path.Join("dev/shm", r.prefix)); err != nil {
			t.Errorf("Move = %v, want nil", err)
		}
		if left := r.run(t, "find", "/", "-maxdepth", "1", "-name", ".workspacekit-tmp-*"); left != "" {
			t.Errorf("%q is left", left)
		}
	})
}

// TestChangeOfMounted replaces, moves and removes a file and a directory that are mounted. The
// programs inside say that with the name of a temporary file.
func TestChangeOfMounted(t *testing.T) {
	in(t, places()[1:], func(t *testing.T, r *running) {
		opts, host := r.mounted(t)
		f := open(t, opts)
		refused := func(err error, op, name string) {
			t.Helper()
			isPathError(t, err, op, name, fs.ErrPermission)
			if err != nil && !strings.Contains(err.Error(), "mounted") {
				t.Errorf("the error is %q, want one that says that it is mounted", err)
			}
		}
		_, version, err := f.ReadVersioned(t.Context(), "file", 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, opts := range []*workspace.WriteOptions{nil, {IfVersion: version}} {
			for _, size := range []int{1, 100 << 10} {
				refused(second(f.WriteFile(t.Context(), "file", make([]byte, size), opts)), "write_file", "file")
			}
		}
		for _, name := range []string{"file", "a"} {
			refused(f.Rm(t.Context(), name, nil), "rm", name)
			shell(t, host, "touch a/in")
			for _, destination := range []string{"new", "b/new"} {
				refused(f.Move(t.Context(), name, destination), "move", name)
			}
			shell(t, host, `[ "$(cat file; echo *; find a b)" = "$(printf 'old\na b file\na\na/in\nb')" ] && rm a/in`)
		}
		isPathError(t, f.Move(t.Context(), "b", "a"), "move", "a", fs.ErrExist)
		refused(f.Rm(t.Context(), "a", &workspace.RmOptions{Recursive: true}), "rm", "a")

		// Overlayfs makes mv copy what is of the image, and /etc/hosts is mounted in it.
		opts.Root = "/"
		whole := open(t, opts)
		before, err := whole.Glob(t.Context(), "etc/**", nil)
		if err != nil || len(before) == 0 {
			t.Fatalf("Glob(%q) = %q, %v, want some", "etc/**", before, err)
		}
		for _, destination := range []string{"etc2", "workspace/b/etc"} {
			refused(whole.Move(t.Context(), "etc", destination), "move", "etc")
			_, err := whole.Stat(t.Context(), destination)
			isPathError(t, err, "stat", destination, fs.ErrNotExist)
		}
		if after, err := whole.Glob(t.Context(), "etc/**", nil); err != nil || !slices.Equal(after, before) {
			t.Errorf("Glob(%q) = %q, %v after the moves, want %q", "etc/**", after, err, before)
		}
	})
}

// TestKilledOwner kills a process that has a watch open and removes a tree:
// nothing of that is left, inside or outside.
func TestKilledOwner(t *testing.T) {
	inOwn(t, places(), func(t *testing.T, r *running) {
		opts := r.hang(t, "exec sleep 1000.%s")
		inside, local := r.processes(t), places()[0].start(t)
		cmd := exec.Command(os.Args[0], "-test.run=^TestOwner$")
		executor := opts.Executor.(within)
		cmd.Env = append(os.Environ(), "WORKSPACEKIT_TEST_OWNER="+strings.Join(append([]string{opts.Root + "." + r.number, executor.path}, executor.Command...), "\n"))
		cmd.Stderr = os.Stderr
		said, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if line, err := bufio.NewReader(said).ReadString('\n'); line != "watching\n" {
			t.Errorf("the owner says %q, %v", line, err)
		}
		if !strings.Contains(r.name, "busybox") { // whose shell has the programs built in
			r.begun(t, opts.Root)
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // it was killed
		eventually(t, "something is left", func() error {
			if now := r.processes(t); now > inside {
				return fmt.Errorf("there were %d processes inside, and now there are %d", inside, now)
			}
			if left := r.left(t, opts.Root); left != "" {
				return fmt.Errorf("%q is there", left)
			}
			if clients := local.run(t, "sh", "-c", `grep -l "WORKSPACEKIT_TEST_OWNER=$1" /proc/[0-9]*/environ 2>/dev/null || :`, "sh", opts.Root+"."+r.number); clients != "" {
				return fmt.Errorf("outside, %q is there", clients)
			}
			return nil
		})
	})
}

// TestOwner is the process that TestKilledOwner kills.
func TestOwner(t *testing.T) {
	env := os.Getenv("WORKSPACEKIT_TEST_OWNER")
	if env == "" {
		return
	}
	words := strings.Split(env, "\n")
	root := words[0][:strings.LastIndex(words[0], ".")]
	f := open(t, &container.Options{Root: root, Executor: within{path: words[1], Command: words[2:]}})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := f.Watch(ctx, ".", nil); err != nil {
		t.Fatal(err)
	}
	fmt.Println("watching")
	_ = f.Rm(ctx, "slow", &workspace.RmOptions{Recursive: true})
	<-ctx.Done()
}
