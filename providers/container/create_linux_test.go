package container_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/workspacekit/workspacekit/providers/container"
	"github.com/workspacekit/workspacekit/workspace"
)

// TestProblems tests that all that is wrong is told, with its option.
func TestProblems(t *testing.T) {
	t.Parallel()
	opts := &container.Options{Image: "-x", Root: "work", Shells: -1, Create: container.CreateOptions{
		Name: "a b", Workdir: "work", Memory: "none", CPUs: -1, Pull: "often", Platform: "arm64",
		Env:              map[string]string{"1A": "", "B": "\x00"},
		DropCapabilities: []string{"ALL", "a,b"},
		Tmpfs:            []string{"/run", "/run/", "/x:suid", "/proc"},
		Mounts: []container.Mount{
			{Source: "/a", Target: "/a"}, {Source: "a", Target: "/a/."}, {Source: "/a,readonly=false", Target: "/b,c"}, {Source: "/a\n", Target: ""},
		},
	}}
	var got []string
	for _, problem := range opts.Problems() {
		got = append(got, problem.Option)
		if problem.Text == "" || !strings.HasPrefix(problem.Error(), problem.Option+": ") {
			t.Errorf("the problem of %q is %q, want its option and what is wrong", problem.Option, problem)
		}
	}
	want := []string{
		"Create.CPUs", "Create.DropCapabilities[1]", "Create.Env", "Create.Env", "Create.Memory",
		"Create.Mounts[1].Source", "Create.Mounts[1].Target", "Create.Mounts[2].Source", "Create.Mounts[2].Target", "Create.Mounts[3].Source", "Create.Mounts[3].Target",
		"Create.Name", "Create.Platform", "Create.Pull", "Create.Tmpfs[1]", "Create.Tmpfs[2]", "Create.Tmpfs[3]", "Create.Workdir", "Image", "Root", "Shells",
	}
	if !slices.Equal(got, want) {
		t.Errorf("Problems() are about %q, want %q", got, want)
	}
	_, err := container.Open(t.Context(), opts)
	if !errors.Is(err, fs.ErrInvalid) || strings.Count(err.Error(), "; ") != len(want)-1 {
		t.Errorf("Open = %v, want %q with all %d problems", err, fs.ErrInvalid, len(want))
	}
	for _, memory := range []string{"", "512m", "1.5g", "0.5G", "2GiB", "unlimited", "1000000"} {
		good := &container.Options{Image: "x", Create: container.CreateOptions{Memory: memory, PIDs: -1}}
		if problems := good.Problems(); len(problems) > 0 {
			t.Errorf("Problems() of the memory %q = %v, want none", memory, problems)
		}
	}
	for pids, want := range map[int]int{-1: 0, 0: 0, 1: 1, 15: 1, 16: 0} {
		o := &container.Options{Image: "x", Create: container.CreateOptions{PIDs: pids}}
		if problems := o.Problems(); len(problems) != want || want == 1 && problems[0].Option != "Create.PIDs" {
			t.Errorf("Problems() of %d processes = %v, want %d", pids, problems, want)
		}
	}
	for _, memory := range []string{"unlimited2g", "2gunlimited", "Unlimited", "0", "-1", "2 g"} {
		bad := &container.Options{Image: "x", Create: container.CreateOptions{Memory: memory}}
		if problems := bad.Problems(); len(problems) != 1 || problems[0].Option != "Create.Memory" {
			t.Errorf("Problems() of the memory %q = %v, want one", memory, problems)
		}
	}
	ways := &container.Options{Executor: container.Command{}, User: "me", Create: container.CreateOptions{Env: map[string]string{"A": "b"}}}
	if problems := ways.Problems(); len(problems) != 2 {
		t.Errorf("Problems() of an Executor with options for engines = %v, want 2", problems)
	}
}

// TestIgnoredOption has engines that create a container without a limit and
// warn, and without a platform.
func TestIgnoredOption(t *testing.T) {
	for _, warning := range []string{
		"WARNING: Your kernel does not support memory limit capabilities or the cgroup is not mounted. Limitation discarded.",
		`time="2026-11-22T00:41:38Z" level=warning msg="Resource limits are not supported and ignored on cgroups V1 rootless systems"`,
		`time="2026-11-22T00:41:38Z" level=warning msg="cgroup manager is set to \"none\", discarding resource limit requests."`,
		"WARNING: image platform (linux/amd64) does not match the expected platform (linux/arm64)",
	} {
		dir := t.TempDir()
		stub(t, "docker", `cd '`+dir+`' || exit
case $1 in
create) touch made; echo number; echo '`+warning+`' >&2 ;;
rm) [ "$*" = "rm --force --volumes number" ] && rm -f made ;;
esac
`)
		_, err := container.Open(t.Context(), &container.Options{Image: "image", Create: container.CreateOptions{Name: "named"}})
		checkEngineError(t, warning, unnamed(err), errors.ErrUnsupported, "")
		if _, err := os.Stat(filepath.Join(dir, "made")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("after %q the container is left (%v)", warning, err)
		}
	}
}

// TestHardened looks from inside at what a new container may do by default, at
// what it may do with options, and at what these refuse.
func TestHardened(t *testing.T) {
	inEngines(t, func(t *testing.T, r *running) {
		t.Run("default", func(t *testing.T) {
			t.Parallel()
			inside := r.run(t, "sh", "-c", lookInside)
			wants(t, inside, "CapEff:\t0000000000000000", "CapBnd:\t0000000000000000", "NoNewPrivs:\t1", "pids 1024", "memory 2147483648", "root rw")
		})
		t.Run("open", func(t *testing.T) {
			t.Parallel()
			o := r.create(t, container.CreateOptions{Memory: container.Unlimited, PIDs: -1, DropCapabilities: []string{}, AllowNewPrivileges: true})
			inside := o.run(t, "sh", "-c", lookInside)
			wants(t, inside, "NoNewPrivs:\t0", "pids max")
			for _, closed := range []string{"CapEff:\t0000000000000000", "memory 2147483648"} {
				if strings.Contains(inside, closed) {
					t.Errorf("a container that was created with everything has %q", closed)
				}
			}
		})
		t.Run("closed", func(t *testing.T) {
			t.Parallel()
			r.closed(t)
		})
	})
}

// TestWorkdirInMemory has a user write to a Workdir below a directory in memory, which
// the engine would make for root alone.
func TestWorkdirInMemory(t *testing.T) {
	in(t, engines(), func(t *testing.T, r *running) {
		for _, create := range []container.CreateOptions{
			{Workdir: "/tmp/w", ReadOnlyRoot: true},
			{Workdir: "/m/a/w", Tmpfs: []string{"/m"}},
			{Workdir: "/w", ReadOnlyRoot: true},
		} {
			f := open(t, &container.Options{Engine: r.engineArgs, Image: r.imageName(), User: "1000", Create: create})
			if _, err := f.WriteFile(t.Context(), "file", nil, nil); err != nil || f.Root() != create.Workdir {
				t.Errorf("WriteFile in %q with the Workdir %q = %v, want nil", f.Root(), create.Workdir, err)
			}
		}
	})
}

// TestReadOnlyMount removes a directory that is mounted to be read alone.
func TestReadOnlyMount(t *testing.T) {
	in(t, places()[1:], func(t *testing.T, r *running) {
		host := t.TempDir()
		shell(t, host, "mkdir m; echo old >m/file; chmod 777 . m; chmod 666 m/file")
		o := r.create(t, container.CreateOptions{Mounts: []container.Mount{{Source: filepath.Join(host, "m"), Target: "/workspace/m"}}})
		f := open(t, &container.Options{Engine: o.engineArgs, Container: o.container, Root: "/workspace"})
		isPathError(t, f.Rm(t.Context(), "m", &workspace.RmOptions{Recursive: true}), "rm", "m", fs.ErrPermission)
		isPathError(t, f.Rm(t.Context(), "m/file", nil), "rm", "m/file", fs.ErrPermission)
	})
}

// lookInside tells what a program in a container may do.
const lookInside = `grep -E 'CapEff|CapBnd|NoNewPrivs' /proc/self/status
grep -qs ' / [a-z]* ro' /proc/mounts && echo root ro || echo root rw
echo pids $(cat /sys/fs/cgroup/pids/pids.max /sys/fs/cgroup/pids.max 2>/dev/null)
echo memory $(cat /sys/fs/cgroup/memory/memory.limit_in_bytes /sys/fs/cgroup/memory.max 2>/dev/null)
`

func wants(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("what is inside lacks %q:\n%s", part, text)
		}
	}
}

// create makes another container in the engine of r.
func (r *running) create(t *testing.T, create container.CreateOptions) *running {
	t.Helper()
	f := open(t, &container.Options{Engine: r.engineArgs, Image: r.imageName(), Root: "/", Create: create})
	return r.with(&box{engineArgs: r.engineArgs, container: f.Container(), files: f})
}

// closed makes a container with all options that take something away.
func (r *running) closed(t *testing.T) {
	host := t.TempDir()
	shell(t, host, "mkdir read change others; echo hello >read/it; chmod 777 . read change; [ $(id -u) -ne 0 ] || chown 1234 others")
	create := container.CreateOptions{
		Workdir: "/home/work", ReadOnlyRoot: true, Memory: "64m", PIDs: 50, CPUs: 0.5, Pull: "never", Platform: "linux/" + runtime.GOARCH,
		Env: map[string]string{"A": "x\ny", "B": "$HOME 'quoted'"},
		Mounts: []container.Mount{
			{Source: filepath.Join(host, "read"), Target: "/mnt/to:read"},
			{Source: filepath.Join(host, "change"), Target: "/mnt/change", Writable: true},
			{Source: filepath.Join(host, "others"), Target: "/mnt/others", Writable: true},
		},
	}
	o := r.create(t, create)
	wants(t, o.run(t, "sh", "-c", lookInside+`echo "[$A][$B]"`),
		"CapEff:\t0000000000000000", "NoNewPrivs:\t1", "root ro", "pids 50", "memory 67108864", "[x\ny][$HOME 'quoted']")
	for name, want := range map[string]error{
		"file": fs.ErrPermission, "etc/file": fs.ErrPermission, "mnt/to:read/file": fs.ErrPermission,
		"mnt/others/file": fs.ErrPermission, "mnt/change/file": nil, "tmp/file": nil, "var/tmp/file": nil, "run/file": nil, "home/work/dir/file": nil,
	} {
		if _, err := o.files.WriteFile(t.Context(), name, []byte("x"), nil); !errors.Is(err, want) {
			t.Errorf("WriteFile(%q) = %v, want %v", name, err, want)
		}
	}
	if data, err := o.files.ReadFile(t.Context(), "mnt/to:read/it"); err != nil || string(data) != "hello\n" {
		t.Errorf("ReadFile of a mount = %q, %v, want %q", data, err, "hello\n")
	}
	if _, err := os.Stat(filepath.Join(host, "change", "file")); err != nil {
		t.Errorf("what was written to a mount: %v", err)
	}
	user := open(t, &container.Options{Engine: r.engineArgs, Container: o.container, User: "1234:1234", Root: "/home/work"})
	if _, err := user.WriteFile(t.Context(), "of/user", []byte("x"), nil); err != nil {
		t.Errorf("WriteFile by another user in %s = %v, want nil", create.Workdir, err)
	}
	if err := user.Rm(t.Context(), "of", &workspace.RmOptions{Recursive: true}); err != nil {
		t.Errorf("Rm by another user = %v, want nil", err)
	}
	// More processes than there may be, which end with the container.
	if out := o.run(t, "sh", "-c", `(for i in $(seq 60); do sleep 5 & done) 2>&1; kill $(jobs -p) 2>/dev/null; :`); !strings.Contains(out, "fork") {
		t.Errorf("60 processes where 50 may be: %q, want that no more can be started", out)
	}
}
