package container_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/providers/container"
	"github.com/workspacekit/workspacekit/workspace"
)

// hostileEnvironment is what an image can have in its environment.
func hostileEnvironment() []string {
	return []string{
		"PATH=.", "LD_PRELOAD=/missing.so", "IFS=/", "CDPATH=/etc", "LC_ALL=tr_TR.UTF-8", "TZ=Asia/Tokyo", "TMPDIR=/missing", "POSIXLY_CORRECT=1",
		"TAR_OPTIONS=--exclude=*", "GREP_OPTIONS=-v", "BLOCK_SIZE=1G", "QUOTING_STYLE=shell-always",
		"SHELLOPTS=noexec", "BASH_ENV=./cat", "ENV=./cat", "GLOBIGNORE=*",
		"BASH_FUNC_cat%%=() { echo planted; }", "BASH_FUNC_cd%%=() { :; }", "BASH_FUNC_printf%%=() { echo planted; }", "BASH_FUNC_stat%%=() { :; }",
	}
}

// planted are programs that a directory has if somebody wants them to be run.
const planted = `for name in cat env find grep head mv sh sleep stat tar xargs; do
	printf '#!/bin/sh\ntouch planted\necho planted\n' >"$name"; chmod 755 "$name"
done`

// TestHostileEnvironment has a shell that starts in an environment which would
// change what programs do.
func TestHostileEnvironment(t *testing.T) {
	exhaustive.NotShort(t, "runs three shells")
	inShells(t, []string{"dash", "bash", "busybox"}, func(t *testing.T, executor container.Executor) {
		root := t.TempDir()
		shell(t, root, planted)
		e := executor.(within)
		e.Command = append(container.Command{"/usr/bin/env"}, hostileEnvironment()...)
		e.path = root + ":" + e.path
		hasItsOwnWay(t, open(t, &container.Options{Executor: e, Root: root}))
	})
	inOwn(t, places()[1:], func(t *testing.T, r *running) {
		changes := []string{"WORKDIR /workspace"}
		for _, variable := range hostileEnvironment() {
			name, value, _ := strings.Cut(variable, "=")
			changes = append(changes, fmt.Sprintf("ENV %s=%q", name, value))
		}
		script := "cd /workspace && " + planted
		if r.image == "WORKSPACEKIT_BUSYBOX_IMAGE" { // env is somewhere else, too
			script += "; rm -f /usr/bin/env"
		}
		r.run(t, "sh", "-c", script)
		f := open(t, &container.Options{Engine: r.engineArgs, Image: r.commit(t, changes...)})
		hasItsOwnWay(t, f)
		left := r.tell(t, "exec", f.Container(), "/bin/env", "-i", "PATH=/bin:/usr/bin", "/bin/sh", "-c", `cat /proc/1/cmdline | tr '\0' ' '`)
		if !strings.Contains(left, "read -r") {
			t.Errorf("the first process of the container is %q, want the one that reads its input", left)
		}
	})
}

// TestRootWithPrograms has roots that hold all programs there are.
func TestRootWithPrograms(t *testing.T) {
	for _, root := range []string{"/", "/usr"} {
		f := open(t, &container.Options{Executor: container.Command{}, Root: root})
		if infos, err := f.Ls(t.Context(), "bin", nil); err != nil || len(infos) == 0 {
			t.Errorf("Ls(%q) in %s = %d names, %v, want some", "bin", root, len(infos), err)
		}
	}
}

// TestReadWhileItGrows reads a file that grows once its size is known.
func TestReadWhileItGrows(t *testing.T) {
	const grown, limit = 20 << 20, 1000
	bin, root := t.TempDir(), t.TempDir()
	const growing = `cat >stat <<END
#!/bin/sh
$(command -v stat) "\$@" || exit
[ ! -e '%[1]s/file' ] || truncate -s %[2]d '%[1]s/file'
END
chmod 755 stat`
	shell(t, bin, fmt.Sprintf(growing, root, grown))
	o := &observer{path: bin + ":" + os.Getenv("PATH")}
	f := open(t, &container.Options{Executor: o, Root: root})
	shell(t, root, "echo x >file")
	_, _, err := f.ReadVersioned(t.Context(), "file", limit)
	if n := o.received.Load(); !errors.Is(err, workspace.ErrTooLarge) || n > limit+100<<10 {
		t.Errorf("ReadVersioned of a file that grows = %v after %d bytes, want %v after %d or few more", err, n, workspace.ErrTooLarge, limit)
	}
}

// TestShortReads reads a whole file of a file system that gives a page at a time.
func TestShortReads(t *testing.T) {
	const dir, name = "/sys/kernel/btf", "vmlinux"
	want, err := os.ReadFile(dir + "/" + name)
	if err != nil {
		t.Skipf("this kernel has none: %v", err)
	}
	f := open(t, &container.Options{Executor: container.Command{}, Root: dir})
	got, _, err := f.ReadVersioned(t.Context(), name, int64(len(want)))
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("ReadVersioned = %d bytes, %v, want %d", len(got), err, len(want))
	}
}

// TestOldDd has a dd that knows some of the flags alone.
func TestOldDd(t *testing.T) {
	root := t.TempDir()
	f := open(t, &container.Options{Executor: stubbed(t, "dd", "case $* in *fullblock*) exit 1 ;; esac"), Root: root})
	shell(t, root, "echo content >file")
	if got, _, err := f.ReadVersioned(t.Context(), "file", 100); err != nil || string(got) != "content\n" {
		t.Errorf("ReadVersioned = %q, %v, want the content", got, err)
	}
}

// TestImpossibleSize has a find that says of a file a size which none can have.
func TestImpossibleSize(t *testing.T) {
	bin, root := t.TempDir(), t.TempDir()
	shell(t, bin, `printf '#!/bin/sh\n%s "$@" | sed "s/^f [0-9]* /f 18446744073709551615 /"\n' "$(command -v find)" >find; chmod 755 find`)
	f := open(t, &container.Options{Executor: within{path: bin + ":" + os.Getenv("PATH")}, Root: root})
	shell(t, root, "touch .gitignore")
	if got, err := f.Glob(t.Context(), "**", &workspace.GlobOptions{Gitignore: true}); err == nil {
		t.Errorf("Glob = %q, want an error", got)
	}
}

// hasItsOwnWay makes a call of each kind in a directory with planted programs,
// and none of them may run.
func hasItsOwnWay(t *testing.T, f *container.FS) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	events, err := f.Watch(ctx, ".", nil)
	if err != nil {
		t.Fatal(err)
	}
	roundTrip(t, f, "dir/it's", "needle\n")
	awaitEvent(t, events, "dir/it's")
	roundTrip(t, f, "dir/large", strings.Repeat("haystack\n", 10_000))
	if err := f.Move(ctx, "dir/it's", "dir/moved"); err != nil {
		t.Errorf("Move = %v, want nil", err)
	}
	if _, err := f.Copy(ctx, "dir/moved", "copy"); err != nil {
		t.Errorf("Copy = %v, want nil", err)
	}
	if err := f.Mkdir(ctx, "empty", nil); err != nil {
		t.Errorf("Mkdir = %v, want nil", err)
	}
	if err := f.Rm(ctx, "empty", nil); err != nil {
		t.Errorf("Rm = %v, want nil", err)
	}
	result, err := f.Grep(ctx, "needle", nil)
	if want := []string{"copy", "dir/moved"}; err != nil || !slices.Equal(matched(result), want) {
		t.Errorf("Grep = %+v, %v, want matches in %q", result, err, want)
	}
	if err := f.ImportTar(ctx, "unpacked", archive(t, [][2]string{{"in/file", "x"}}), nil); err != nil {
		t.Errorf("ImportTar = %v, want nil", err)
	}
	var out bytes.Buffer
	err = f.ExportTar(ctx, "unpacked", &out, nil)
	if got, want := unpacked(t, &out), map[string]string{"in/": "", "in/file": "x"}; err != nil || !maps.Equal(got, want) {
		t.Errorf("ExportTar = %v, %v, want %v", got, err, want)
	}
	if _, err := f.Stat(ctx, "planted"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Stat(%q) = %v, want %q: a planted program has been run", "planted", err, fs.ErrNotExist)
	}
}

// TestNewDirectory has new containers whose directory is created for somebody
// who is not root, or is left as it is.
func TestNewDirectory(t *testing.T) {
	inOwn(t, places()[1:], func(t *testing.T, r *running) {
		r.run(t, "sh", "-c", "mkdir -p /workspace/full /workspace/vol/dir '/workspace/ö o/dir' && touch /workspace/full/file")
		image := r.commit(t, "USER 1000", "WORKDIR /left", `VOLUME ["/workspace/vol", "/workspace/ö o"]`)
		for name, test := range map[string]struct {
			image, user, dir, owner string
			want                    error // of a write
		}{
			"missing":    {r.imageName(), "", "/home/agent/it", "0 0", nil},
			"user":       {r.imageName(), "7:8", "/home/agent/it", "7 8", nil},
			"odd-name":   {r.imageName(), "7:8", "/home/w ü", "7 8", nil},
			"image-user": {image, "", "/home/agent/it", "1000 0", nil},
			"of-image":   {image, "", "/left", "1000 0", nil},
			"user-root":  {image, "0", "/left", "0 0", nil},
			"not-empty":  {image, "", "/workspace/full", "0 0", fs.ErrPermission},
			"mounted":    {image, "", "/workspace/vol/dir", "0 0", fs.ErrPermission},
			"odd-mount":  {image, "", "/workspace/ö o/dir", "0 0", fs.ErrPermission},
			"whole":      {image, "", "/", "0 0", fs.ErrPermission},
		} {
			t.Run(name, func(t *testing.T) {
				if r.name == "podman-busybox" && !slices.Contains([]string{"missing", "image-user", "of-image", "mounted"}, name) {
					exhaustive.Need(t, "what an engine has no part in, over Podman")
				}
				t.Parallel()
				f := open(t, &container.Options{
					Engine: r.engineArgs, Image: test.image, User: test.user, Create: container.CreateOptions{Workdir: test.dir},
				})
				if _, err := f.WriteFile(t.Context(), "dir/file", nil, nil); !errors.Is(err, test.want) {
					t.Errorf("WriteFile in %s = %v, want %v", test.dir, err, test.want)
				}
				got := r.tell(t, "exec", "--user=0", f.Container(), "stat", "-c", "%u %g", ".")
				if got != test.owner {
					t.Errorf("the owner of the directory is %q, want %q", got, test.owner)
				}
				if root := f.Root(); root != test.dir {
					t.Errorf("Root() = %q, want %q", root, test.dir)
				}
			})
		}
	})
}

// TestWholeContainer has the whole container as the workspace, in which are the
// file systems of the kernel, where something vanishes all the time.
func TestWholeContainer(t *testing.T) {
	inOwn(t, places()[1:], func(t *testing.T, r *running) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		f := r.files
		events, err := f.Watch(ctx, ".", nil)
		if err != nil {
			t.Fatalf("Watch = %v, want nil", err)
		}
		roundTrip(t, f, "workspace/dir/file", "a needle of this test\n")
		awaitEvent(t, events, "workspace/dir/file")
		view, err := f.Exact()
		if err != nil {
			t.Fatal(err)
		}
		for name, fsys := range map[string]workspace.FileSystem{"plain": f, "exact": view} {
			names, err := fsys.Glob(ctx, "**", nil)
			if err != nil || !slices.Contains(names, "workspace/dir/file") {
				t.Errorf("%s: Glob(%q) = %d names, %v, want them with workspace/dir/file", name, "**", len(names), err)
			}
			for _, dir := range []string{"proc", "sys", "dev"} {
				if i := slices.IndexFunc(names, func(name string) bool { return strings.HasPrefix(name, dir+"/") }); i >= 0 {
					t.Errorf("%s: Glob has %q, want nothing below %s", name, names[i], dir)
				}
				if infos, err := fsys.Ls(ctx, dir, nil); err != nil || len(infos) == 0 {
					t.Errorf("%s: Ls(%q) = %d names, %v, want some", name, dir, len(infos), err)
				}
			}
			opts := &workspace.GrepOptions{}
			if name == "exact" { // it reads one file after the other
				opts.Path = "workspace"
			}
			result, err := fsys.Grep(ctx, "needle of this", opts)
			if err != nil || !slices.Equal(matched(result), []string{"workspace/dir/file"}) {
				t.Errorf("%s: Grep = %+v, %v, want a match in workspace/dir/file", name, result, err)
			}
		}
		if r.image != "WORKSPACEKIT_BUSYBOX_IMAGE" {
			return // the others are large
		}
		var out bytes.Buffer
		err = f.ExportTar(ctx, ".", &out, nil)
		files := unpacked(t, &out)
		if err != nil || files["workspace/dir/file"] == "" {
			t.Errorf("ExportTar = %d files, %v, want them with workspace/dir/file", len(files), err)
		}
		for name := range files {
			if strings.HasPrefix(name, "proc/") {
				t.Errorf("ExportTar has %q, want nothing below proc", name)
			}
		}
		for _, dir := range []string{"proc/sys", "dev"} {
			out.Reset()
			err = f.ExportTar(ctx, dir, &out, nil)
			if files := unpacked(t, &out); err != nil || len(files) > 0 {
				t.Errorf("ExportTar(%q) = %d files, %v, want none", dir, len(files), err)
			}
		}
	})
}
