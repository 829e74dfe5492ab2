package localbash_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/workspacekit/workspacekit/conformance"
	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/providers/localbash"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/kind"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

// openRunner opens a new folder in which commands can run. Without bubblewrap, a test that
// needs the sandbox is skipped.
func openRunner(t testing.TB, run localbash.Run) *localbash.FS {
	t.Helper()
	if run.Sandbox == localbash.SandboxRequire {
		exhaustive.Program(t, "bwrap")
	}
	// Commands have a home directory in that of temporary files, which may not be in the
	// folder; nor may the folder be in what the sandbox hides.
	dir := filepath.Join(t.TempDir(), "folder with a 'quote'")
	put(t, filepath.Join(dir, "sub", "file"), "text\n")
	return open(t, dir, &localbash.Options{Run: &run})
}

// eachSandbox runs test on a folder with the sandbox and on one without.
func eachSandbox(t *testing.T, test func(t *testing.T, fsys *localbash.FS)) {
	for _, sandbox := range []localbash.Sandbox{localbash.SandboxRequire, localbash.SandboxOff} {
		t.Run(string(sandbox), func(t *testing.T) {
			t.Parallel()
			test(t, openRunner(t, localbash.Run{Sandbox: sandbox, Env: map[string]string{"SET": "by the folder", "BOTH": "folder"}}))
		})
	}
}

// TestRunConformance runs the cases for commands, and those for what run changes.
func TestRunConformance(t *testing.T) {
	t.Parallel()
	exhaustive.NotShort(t, "waits for the ends of processes")
	for _, sandbox := range []localbash.Sandbox{localbash.SandboxRequire, localbash.SandboxOff} {
		t.Run(string(sandbox), func(t *testing.T) {
			conformance.Run(t, func(t *testing.T) workspace.FileSystem {
				fsys := openRunner(t, localbash.Run{Sandbox: sandbox})
				if err := os.RemoveAll(filepath.Join(fsys.Root(), "sub")); err != nil {
					t.Fatal(err)
				}
				return fsys
			}, &conformance.Options{Symlink: symlink, Short: true, Only: []string{"Run", "Capabilities", "Wrappers"}})
		})
	}
}

// ran is what a command did.
type ran struct {
	ExitCode            int
	Signal, Out, Errors string
}

// runScript runs a script of sh.
func runScript(t testing.TB, fsys workspace.Runner, script string, args ...string) ran {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var out, errs bytes.Buffer
	result, err := fsys.Run(ctx, &workspace.RunOptions{Command: append([]string{"sh", "-c", script, "sh"}, args...), Stdout: &out, Stderr: &errs})
	if err != nil {
		t.Fatalf("Run(%q) = %v", script, err)
	}
	return ran{result.ExitCode, result.Signal, out.String(), errs.String()}
}

// TestRun runs scripts.
func TestRun(t *testing.T) {
	t.Parallel()
	eachSandbox(t, func(t *testing.T, fsys *localbash.FS) {
		if !workspace.CapabilitiesOf(fsys).Run {
			t.Error("the capability Run is missing")
		}
		for _, test := range []struct {
			script string
			want   ran
		}{
			{"exit 0", ran{}},
			{"exit 1", ran{ExitCode: 1}},
			{"exit 127", ran{ExitCode: 127}},
			{"exit 129", ran{ExitCode: 129}},
			{"exit 137", ran{ExitCode: 137}},
			{"exit 143", ran{ExitCode: 143}},
			{"exit 255", ran{ExitCode: 255}},
			{"exec sh -c 'exit 137' =3", ran{ExitCode: 137}},
			{"trap : TERM INT; kill -TERM 0; kill -INT 0; exit 3", ran{ExitCode: 3}},
			{"kill -USR1 0", ran{ExitCode: -1, Signal: "USR1"}},
			{"kill -INT $$", ran{ExitCode: -1, Signal: "INT"}},
			{"kill -PIPE $$", ran{ExitCode: -1, Signal: "PIPE"}},
			{"kill -KILL $$", ran{ExitCode: -1, Signal: "KILL"}},
			{"kill -SEGV $$", ran{ExitCode: -1, Signal: "SEGV"}},
			{"kill -TERM $$", ran{ExitCode: -1, Signal: "TERM"}},
			{"kill -34 $$", ran{ExitCode: -1, Signal: "34"}},
			{"kill -64 $$", ran{ExitCode: -1, Signal: "64"}},
			{"echo out; echo errors >&2", ran{Out: "out\n", Errors: "errors\n"}},
			{"cat; echo end", ran{Out: "end\n"}},
			{"pwd", ran{Out: fsys.Root() + "\n"}},
			{`echo "$PWD"; cat sub/file`, ran{Out: fsys.Root() + "\ntext\n"}},
			{`echo "$SET"; cd; test "$PWD" = "$HOME" && test -w . && ls -A`, ran{Out: "by the folder\n"}},
			{"ulimit -c", ran{Out: "0\n"}},
			{"sleep 1000 & setsid sleep 1001 & echo end", ran{Out: "end\n"}},
		} {
			if diff := cmp.Diff(test.want, runScript(t, fsys, test.script)); diff != "" {
				t.Errorf("%q (-want +got):\n%s", test.script, diff)
			}
		}
		odd := []string{"", " ", "a b", "'", `"$HOME" \`, "a\nb\n", "*", "-c", "--", "é\xff", "`id`", "$(id)"}
		got := runScript(t, fsys, `for a; do printf '<%s>' "$a"; done`, odd...)
		if want := "<" + strings.Join(odd, "><") + ">"; got.Out != want {
			t.Errorf("the arguments arrive as %q, want %q", got.Out, want)
		}
	})
}

// TestRunEnvironment checks that a command has the variables that it is given and no
// others of this process.
func TestRunEnvironment(t *testing.T) {
	t.Parallel()
	eachSandbox(t, func(t *testing.T, fsys *localbash.FS) {
		var out bytes.Buffer
		env := map[string]string{"BOTH": "call", "A": "it's\n$HOME", "not-a-name": "odd", "-i": "dash", "TERM": "dumb", "UID": "7", "PWD": "/nowhere", "_wsk_name": "mine", "_wsk_dir": "mine"}
		if _, err := fsys.Run(t.Context(), &workspace.RunOptions{Command: []string{"env", "-0"}, Env: env, Stdout: &out}); err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for variable := range strings.SplitSeq(strings.TrimSuffix(out.String(), "\x00"), "\x00") {
			name, value, _ := strings.Cut(variable, "=")
			got[name] = value
		}
		env["SET"] = "by the folder"
		for name, value := range env {
			if got[name] != value {
				t.Errorf("the variable %s is %q, want %q", name, got[name], value)
			}
			delete(got, name)
		}
		for _, name := range []string{"PATH", "HOME", "PWD", "LANG", "WORKSPACEKIT_RUN"} {
			delete(got, name)
		}
		if len(got) > 0 {
			t.Errorf("a command has the variables %q, too", got)
		}
	})
}

// TestRunStarts checks what becomes of commands that cannot be started, and of their
// directories.
func TestRunStarts(t *testing.T) {
	t.Parallel()
	eachSandbox(t, func(t *testing.T, fsys *localbash.FS) {
		put(t, filepath.Join(fsys.Root(), "plain"), "text")
		put(t, filepath.Join(fsys.Root(), "sub", "script"), "#!/bin/sh\npwd\n")
		if err := os.Chmod(filepath.Join(fsys.Root(), "sub", "script"), 0o755); err != nil {
			t.Fatal(err)
		}
		link(t, "sub", filepath.Join(fsys.Root(), "link"))
		link(t, "/", filepath.Join(fsys.Root(), "out"))
		for _, test := range []struct {
			command, dir, path string
			want               error
		}{
			{"no-such-program", "", "no-such-program", fs.ErrNotExist},
			{"./no-such-program", "", "./no-such-program", fs.ErrNotExist},
			{"--bind", "", "--bind", fs.ErrNotExist},
			{"'; echo x >here; '", "", "'; echo x >here; '", fs.ErrNotExist},
			{"./plain", "", "./plain", fs.ErrPermission},
			{"/etc", "", "/etc", fs.ErrPermission},
			{"cd", "", "cd", fs.ErrNotExist}, // only the shell has it
			{"true", "nowhere", "nowhere", fs.ErrNotExist},
			{"true", "plain", "plain", workspace.ErrNotDir},
			{"true", "out", "out", workspace.ErrEscape},
			{"true", "out/etc", "out/etc", workspace.ErrEscape},
			{"./script", "sub", "", nil},
			{"../sub/script", "link", "", nil},
		} {
			var out bytes.Buffer
			_, err := fsys.Run(t.Context(), &workspace.RunOptions{Command: []string{test.command}, Dir: test.dir, Stdout: &out})
			var failed *fs.PathError
			switch {
			case test.want == nil:
				if err != nil || !strings.HasPrefix(out.String(), fsys.Root()) {
					t.Errorf("Run(%q in %q) = %v, with the output %q", test.command, test.dir, err, &out)
				}
			case !errors.Is(err, test.want) || !errors.As(err, &failed) || failed.Path != test.path || strings.Contains(err.Error(), fsys.Root()):
				t.Errorf("Run(%q in %q) = %v, want %v about %q", test.command, test.dir, err, test.want, test.path)
			case errors.Is(err, fs.ErrNotExist) && test.path == test.command && !strings.Contains(ops.RemedyOf(err), "PATH"):
				t.Errorf("Run(%q) = %v with the remedy %q, want one that names PATH", test.command, err, ops.RemedyOf(err))
			}
		}
		if _, err := os.Stat(filepath.Join(fsys.Root(), "here")); err == nil {
			t.Error("the name of a program was taken for a script")
		}
	})
}

// TestRunNames runs programs whose names mean something else to a shell or to env.
func TestRunNames(t *testing.T) {
	t.Parallel()
	eachSandbox(t, func(t *testing.T, fsys *localbash.FS) {
		link(t, ".", filepath.Join(fsys.Root(), "a=b"))
		for _, program := range []string{"-dash", "A=B", "two words"} {
			file := filepath.Join(fsys.Root(), program)
			put(t, file, "#!/bin/sh\necho \"$1\"\n/bin/grep -q -z ^not-a-name=x /proc/$$/environ && echo odd || :\n")
			if err := os.Chmod(file, 0o755); err != nil {
				t.Fatal(err)
			}
			for _, env := range []map[string]string{{"PATH": fsys.Root()}, {"PATH": fsys.Root(), "not-a-name": "x"}, {"PATH": fsys.Root() + "/a=b", "not-a-name": "x"}, {"PATH": ":/bin"}} {
				want := "-x\n"
				if env["not-a-name"] != "" {
					want += "odd\n"
				}
				var out, errs bytes.Buffer
				_, err := fsys.Run(t.Context(), &workspace.RunOptions{Command: []string{program, "-x"}, Env: env, Stdout: &out, Stderr: &errs})
				if err != nil || out.String() != want {
					t.Errorf("Run(%q) with %v = %v and writes %q, %q", program, env, err, &out, &errs)
				}
			}
		}
	})
}

// TestRunDenied begins, as a user who may not, in a directory that can be listed and not be
// entered.
func TestRunDenied(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "listed", "file"), "text")
	listed := filepath.Join(dir, "listed")
	if err := errors.Join(os.Chmod(filepath.Dir(dir), 0o755), os.Chmod(dir, 0o777), os.Chmod(listed, 0o444)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(listed, 0o777) })
	if err := child(t, "enter", dir).Run(); err != nil {
		t.Errorf("child: %v", err)
	}
}

// TestRunBarred begins in the sandbox, where the super-user has no more rights than others,
// in and below a directory that cannot be entered there.
func TestRunBarred(t *testing.T) {
	t.Parallel()
	fsys := openRunner(t, localbash.Run{Sandbox: localbash.SandboxRequire})
	put(t, filepath.Join(fsys.Root(), "listed", "below", "file"), "text")
	if err := os.Chmod(filepath.Join(fsys.Root(), "listed"), 0o444); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(filepath.Join(fsys.Root(), "listed"), 0o777) })
	for _, dir := range []string{"listed", "listed/below"} {
		_, err := fsys.Run(t.Context(), &workspace.RunOptions{Command: []string{"true"}, Dir: dir})
		if failed, ok := errors.AsType[*fs.PathError](err); !errors.Is(err, fs.ErrPermission) || !ok || !strings.HasPrefix(dir, failed.Path) {
			t.Errorf("Run in %s = %v, want %v", dir, err, fs.ErrPermission)
		}
	}
}

// TestRunTooDeep begins in a directory whose path no program in the sandbox can enter.
func TestRunTooDeep(t *testing.T) {
	t.Parallel()
	exhaustive.Program(t, "bwrap")
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	deep := "folder" + strings.Repeat("/"+strings.Repeat("d", 200), 18)
	if err := root.MkdirAll(deep, 0o777); err != nil {
		t.Fatal(err)
	}
	fsys := open(t, filepath.Join(root.Name(), deep), &localbash.Options{Run: &localbash.Run{Sandbox: localbash.SandboxRequire}})
	dir := strings.Repeat("e", 250) + "/" + strings.Repeat("e", 250)
	if err := fsys.Mkdir(t.Context(), dir, &workspace.MkdirOptions{Recursive: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := fsys.Run(t.Context(), &workspace.RunOptions{Command: []string{"true"}, Dir: dir}); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("Run in a directory with a path of more than 4096 bytes = %v, want %v", err, fs.ErrInvalid)
	}
}

// runWhereDenied wants the error of Ls from Run.
func runWhereDenied(dir string) error {
	// A process that has changed its user cannot use its own descriptors by their names.
	if err := errors.Join(becomeNobody(), unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0), os.Setenv("TMPDIR", "/tmp")); err != nil {
		return err
	}
	fsys, err := localbash.Open(dir, &localbash.Options{Run: &localbash.Run{Sandbox: localbash.SandboxOff}})
	if err != nil {
		return err
	}
	defer fsys.Close()
	ctx := context.Background()
	if _, err := fsys.Ls(ctx, "listed", nil); !errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("Ls = %w, want %w", err, fs.ErrPermission)
	}
	for name, want := range map[string]error{".": nil, "listed": fs.ErrPermission} {
		_, err := fsys.Run(ctx, &workspace.RunOptions{Command: []string{"true"}, Dir: name})
		if failed, ok := errors.AsType[*fs.PathError](err); !errors.Is(err, want) || ok && failed.Path != name {
			return fmt.Errorf("Run in %s = %w, want %v", name, err, want)
		}
	}
	return nil
}

// endless is a reader that waits.
type endless struct{ wait chan struct{} }

func (e endless) Read([]byte) (int, error) { <-e.wait; return 0, io.EOF }

// refusing is a writer that takes some bytes.
type refusing struct{ left int }

var errRefused = errors.New("enough")

func (r *refusing) Write(p []byte) (int, error) {
	if r.left -= len(p); r.left < 0 {
		return 0, errRefused
	}
	return len(p), nil
}

// counting counts bytes.
type counting int64

func (c *counting) Write(p []byte) (int, error) { *c += counting(len(p)); return len(p), nil }

// TestRunStreams checks streams that are large, without end, or fail.
func TestRunStreams(t *testing.T) {
	t.Parallel()
	eachSandbox(t, func(t *testing.T, fsys *localbash.FS) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		var out counting
		const size = 64 << 20
		result, err := fsys.Run(ctx, &workspace.RunOptions{
			Command: []string{"cat"}, Stdin: io.LimitReader(zeros{}, size), Stdout: &out,
		})
		if err != nil || result.ExitCode != 0 || out != size {
			t.Errorf("cat = %+v, %v, and %d bytes came back, want %d", result, err, out, size)
		}
		waiting := endless{make(chan struct{})}
		defer close(waiting.wait)
		if result, err := fsys.Run(ctx, &workspace.RunOptions{Command: []string{"sh", "-c", "exit 4"}, Stdin: waiting}); err != nil || result.ExitCode != 4 {
			t.Errorf("a command beside an input without end = %+v, %v", result, err)
		}
		if result, err := fsys.Run(ctx, &workspace.RunOptions{Command: []string{"head", "-c1"}, Stdin: zeros{}}); err != nil || result.ExitCode != 0 {
			t.Errorf("a command that does not read all of its input = %+v, %v", result, err)
		}
		if _, err := fsys.Run(ctx, &workspace.RunOptions{Command: []string{"yes"}, Stdout: &refusing{1 << 20}}); !errors.Is(err, errRefused) {
			t.Errorf("yes to a writer that fails = %v", err)
		}
		var both bytes.Buffer
		if _, err := fsys.Run(ctx, &workspace.RunOptions{
			Command: []string{"sh", "-c", "for i in 1 2 3; do echo out; echo errors >&2; done"}, Stdout: &both, Stderr: &both,
		}); err != nil || both.String() != strings.Repeat("out\nerrors\n", 3) {
			t.Errorf("both streams to one writer = %q, %v", &both, err)
		}
	})
}

// zeros is a reader without end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// TestRunIsSeen checks that what a command writes is what every other method sees: watches,
// and versions by which an edit is refused.
func TestRunIsSeen(t *testing.T) {
	t.Parallel()
	eachSandbox(t, func(t *testing.T, fsys *localbash.FS) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		events, err := fsys.Watch(ctx, ".", nil)
		if err != nil {
			t.Fatal(err)
		}
		old := write(t, fsys, "file", "old")
		runScript(t, fsys, "echo new >file; mkdir made; echo x >made/in")
		if _, err := fsys.WriteFile(ctx, "file", []byte("mine"), &workspace.WriteOptions{IfVersion: old}); !errors.Is(err, workspace.ErrConflict) {
			t.Errorf("a write by the version before the command = %v, want ErrConflict", err)
		}
		if data, err := fsys.ReadFile(ctx, "file"); string(data) != "new\n" {
			t.Errorf("ReadFile = %q, %v", data, err)
		}
		for event := range events {
			if event.Path == "made/in" {
				return
			}
		}
		t.Error("the watch ended without the file that the command created")
	})
}

// TestRunRelaxed begins where a symlink of a relaxed folder leads: outside, no sandbox has
// that.
func TestRunRelaxed(t *testing.T) {
	t.Parallel()
	for sandbox, want := range map[localbash.Sandbox]error{localbash.SandboxRequire: workspace.ErrEscape, localbash.SandboxOff: nil} {
		t.Run(string(sandbox), func(t *testing.T) {
			if sandbox == localbash.SandboxRequire {
				exhaustive.Program(t, "bwrap")
			}
			dir := filepath.Join(t.TempDir(), "folder")
			put(t, filepath.Join(dir, "in", "file"), "text\n")
			if err := errors.Join(os.Symlink("in", filepath.Join(dir, "inside")), os.Symlink(t.TempDir(), filepath.Join(dir, "outside"))); err != nil {
				t.Fatal(err)
			}
			fsys := open(t, dir, &localbash.Options{Relaxed: true, Run: &localbash.Run{Sandbox: sandbox}})
			for name, want := range map[string]error{"inside": nil, "outside": want} {
				_, err := fsys.Run(t.Context(), &workspace.RunOptions{Command: []string{"true"}, Dir: name})
				if failed, ok := errors.AsType[*fs.PathError](err); !errors.Is(err, want) || ok && failed.Path != name {
					t.Errorf("Run in %s = %v, want %v", name, err, want)
				}
			}
		})
	}
}

// TestRunLimits checks the limits of commands.
func TestRunLimits(t *testing.T) {
	t.Parallel()
	exhaustive.NotShort(t, "exhausts the limits of commands")
	for _, sandbox := range []localbash.Sandbox{localbash.SandboxRequire, localbash.SandboxOff} {
		t.Run(string(sandbox), func(t *testing.T) {
			t.Parallel()
			fsys := openRunner(t, localbash.Run{Sandbox: sandbox, OpenFiles: 16, Memory: 64 << 20, FileSize: 1 << 20, CPU: time.Second})
			for script, want := range map[string]string{
				"ulimit -n": "16\n",
				"head -c 400m /dev/zero | tail -n 1 >/dev/null 2>&1 || :; head -c 400m /dev/zero | tail 2>&1 | grep -c -a 'memory exhausted'": "1\n",
				"head -c 10m /dev/zero >large; wc -c <large": "1048576\n",
				"(while :; do :; done) 2>/dev/null; echo $?": "137\n",
			} {
				if got := runScript(t, fsys, script); got.Out != want {
					t.Errorf("%q = %+v, want %q", script, got, want)
				}
			}
			free := openRunner(t, localbash.Run{Sandbox: sandbox, OpenFiles: -1, Memory: -1, FileSize: -1, CPU: -1, Processes: -1})
			if got := runScript(t, free, "ulimit -d; ulimit -f; ulimit -t"); got.Out != "unlimited\nunlimited\nunlimited\n" {
				t.Errorf("without limits, the limits are %+v", got)
			}
		})
	}
}

// TestDocsStateTheLimits compares the defaults in docs/config-reference-providers.md with the
// limits that a command has.
func TestDocsStateTheLimits(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/config-reference-providers.md")
	if err != nil {
		t.Fatal(err)
	}
	fsys := openRunner(t, localbash.Run{Sandbox: localbash.SandboxOff})
	for option, script := range map[string]string{
		"limits.processes": "ulimit -u 2>/dev/null || ulimit -p",
		"limits.openFiles": "ulimit -n",
		"limits.memoryMb":  "expr $(ulimit -d) / 1024",
		"limits.fileMb":    "expr $(ulimit -f) / 2048", // blocks of 512 bytes
		"limits.cpuTime":   "expr $(ulimit -t) / 3600",
	} {
		limit := strings.TrimSpace(runScript(t, fsys, script).Out)
		if option == "limits.cpuTime" {
			limit += "h"
		}
		row := regexp.MustCompile("\n\\| `run\\." + option + "` \\|.* Default: " + limit + `\. \|`)
		if !row.Match(page) {
			t.Errorf("docs/config-reference-providers.md has no row %q", row)
		}
	}
}

// TestRunAttacks tries to get out of the sandbox.
func TestRunAttacks(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() }) // after the attacks, which run later
	outside := t.TempDir()
	put(t, filepath.Join(outside, "secret"), "SECRET")
	fsys := openRunner(t, localbash.Run{Sandbox: localbash.SandboxRequire, ReadOnly: []string{"conf/deep/workspace.yaml", "top.yaml", "none.yaml", "hooks/pre-commit", "hooks", "hooks"}})
	for _, name := range []string{"conf/deep/workspace.yaml", "top.yaml", "hooks/pre-commit"} {
		put(t, filepath.Join(fsys.Root(), name), "settings")
	}
	if got := runScript(t, fsys, "echo x >conf/other && echo x >conf/deep/other && mv conf/deep/other conf/deep/moved"); got.ExitCode != 0 {
		t.Errorf("a command beside a file that it cannot change: %+v", got)
	}
	if err := os.Chmod(outside, 0o777); err != nil {
		t.Fatal(err)
	}
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	replace := strings.NewReplacer("OUT", outside, "COMM", strings.TrimSpace(content(t, "/proc/self/comm")), "REALHOME", home, "PORT", port)
	// Each command of an attack must fail: OK is then never printed. Nothing here may do harm
	// where the sandbox does not hold, as tests run as root: signals are only 0, which asks
	// whether one could be sent, and what is written outside is empty, new or unchanged.
	for name, attack := range map[string]string{
		"write outside":           "echo x >OUT/new",
		"overwrite outside":       "echo x >OUT/secret",
		"remove outside":          "rm -f OUT/secret && ! test -e OUT/secret && test -e OUT",
		"chmod outside":           "chmod 000 OUT/secret",
		"touch outside":           "touch -d 2001-01-01 OUT/secret",
		"read outside":            "cat OUT/secret",
		"list outside":            "ls OUT",
		"symlink to outside":      "ln -s OUT out && cat out/secret",
		"write through a symlink": "ln -s OUT out2; echo x >out2/new",
		"hard link from outside":  "ln OUT/secret linked && cat linked",
		"root of a process":       "cat /proc/1/root/OUT/secret || cat /proc/self/root/OUT/secret",
		"directory of a process":  "cat /proc/1/cwd/OUT/secret",
		"descriptors":             "ls -d /proc/[0-9]*/fd/*/sub /proc/[0-9]*/fd/*/usr 2>/dev/null | grep -q .",
		"climb":                   "cat ../../../../../../../../../../OUT/secret",
		"home":                    "ls REALHOME",
		"keys":                    "cat REALHOME/.ssh/id_rsa REALHOME/.aws/credentials",
		"shadow":                  "cat /etc/shadow",
		"keys of the system":      "ls /etc/ssl/private/* /etc/ssh/ssh_host*",
		"write to the system":     "touch /usr/x || touch /etc/x || touch /x || touch /var/x",
		"remount":                 "mount -o remount,rw /usr && touch /usr/x",
		"remount in a namespace":  "unshare -Urm sh -c 'mount -o remount,rw,bind /usr && touch /usr/x'",
		"unmount in a namespace":  `unshare -Urm sh -c 'umount -l /tmp && cat OUT/secret'`,
		"unmount the home":        `unshare -Urm sh -c 'umount -l "$HOME"; umount -l . ; cat OUT/secret'`,
		"setting of the kernel":   "v=$(cat /proc/sys/vm/swappiness) && echo $v >/proc/sys/vm/swappiness",
		"another proc":            "unshare -Urmpf --mount-proc sh -c 'v=$(cat /proc/sys/vm/swappiness) && echo $v >/proc/sys/vm/swappiness'",
		"another proc elsewhere":  "unshare -Urmpf sh -c 'mkdir p; mount -t proc none p && ls p/sys'",
		"sysrq":                   "test -w /proc/sysrq-trigger && echo h >/proc/sysrq-trigger",
		"device":                  "mknod disk b 8 0 && head -c1 disk",
		"processes of others":     "grep -qxF 'COMM' /proc/[0-9]*/comm",
		"signal all":              `found=; for p in /proc/[0-9]*; do p=${p#/proc/}; [ $p = 1 ] || [ $p = $$ ] || [ $p = $PPID ] || ! kill -0 $p || found=$p; done; test $found`,
		"init of the computer":    `test "$(cat /proc/1/comm)" != sh`,
		"environ of the parent":   "cat /proc/$PPID/environ | tr '\\0' '\\n' | grep -v -E '^(WORKSPACEKIT_RUN|PWD)=' | grep =",
		"terminal":                "exec 9<>/dev/tty",
		"network":                 "bash -c 'exec 9<>/dev/tcp/127.0.0.1/PORT'",
		"sockets of daemons":      "ls /run/docker.sock /var/run/docker.sock /run/dbus /run/user/*",
		"loader":                  `LD_DEBUG=libs LD_DEBUG_OUTPUT=OUT/log /bin/ls >/dev/null; ls OUT`,
		"set-user programs":       "su -c 'cat OUT/secret' || sudo -n cat OUT/secret",
		"configuration":           "echo x >conf/deep/workspace.yaml",
		"append":                  "echo x >>top.yaml",
		"remove":                  "rm -f top.yaml",
		"replace":                 "echo x >new.yaml; mv -f new.yaml top.yaml",
		"move":                    "mv top.yaml old.yaml",
		"move a directory":        "mv conf conf2",
		"move a deep directory":   "mv conf/deep conf/deep2",
		"new hook":                "echo x >hooks/post-commit",
		"unmount a setting":       "unshare -Urm sh -c 'umount -l top.yaml; echo x >top.yaml'",
		"write as another name":   "ln top.yaml other.yaml && echo x >other.yaml",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := runScript(t, fsys, "{ "+replace.Replace(attack)+"\n} && echo OK")
			if strings.Contains(got.Out, "OK") || strings.Contains(got.Out+got.Errors, "SECRET") {
				t.Errorf("the attack %q succeeded: %+v", attack, got)
			}
		})
	}
	t.Run("loader of the sandbox itself", func(t *testing.T) {
		t.Parallel()
		if _, err := fsys.Run(t.Context(), &workspace.RunOptions{Command: []string{"true"}, Env: map[string]string{
			"LD_DEBUG": "libs", "LD_DEBUG_OUTPUT": outside + "/log", "LD_PRELOAD": outside + "/evil.so", "BASH_ENV": outside + "/secret", "ENV": outside + "/secret",
		}}); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		if entries, err := os.ReadDir(outside); err != nil || len(entries) != 1 || content(t, filepath.Join(outside, "secret")) != "SECRET" {
			t.Errorf("an attack changed the directory outside: %v, %v", entries, err)
		}
		info, err := os.Stat(filepath.Join(outside, "secret"))
		if err != nil || info.Mode().Perm() != 0o666 && info.Mode().Perm() != 0o644 || time.Since(info.ModTime()) > time.Hour {
			t.Errorf("an attack changed the file outside: %v, %v", info, err)
		}
		for _, name := range []string{"conf/deep/workspace.yaml", "top.yaml"} {
			if got := content(t, filepath.Join(fsys.Root(), name)); got != "settings" {
				t.Errorf("an attack changed %s to %q", name, got)
			}
		}
		if entries, err := os.ReadDir(filepath.Join(fsys.Root(), "hooks")); err != nil || len(entries) != 1 {
			t.Errorf("an attack changed the hooks: %v, %v", entries, err)
		}
	})
}

// TestRunSwapped checks that no command starts when what is read-only is replaced while the
// sandbox is made, as another command can do.
func TestRunSwapped(t *testing.T) {
	bwrap := exhaustive.Program(t, "bwrap")
	for name, swap := range map[string]string{
		"a directory by a symlink":   "mv .git d; ln -s .. .git",
		"a parent by a symlink":      "mv conf d; mkdir conf; ln -s ../.. conf/deep",
		"a directory by another one": "mv .git d; cp -r d .git",
		"a file by another one":      "cp file new; mv new file",
		"a file by a symlink":        "rm file; ln -s .git/config file",
	} {
		t.Run(name, func(t *testing.T) {
			bin := t.TempDir()
			t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
			fsys := openRunner(t, localbash.Run{Sandbox: localbash.SandboxRequire, ReadOnly: []string{".git/hooks", "conf/deep/file", "file"}})
			for _, file := range []string{".git/hooks/file", ".git/config", "conf/deep/file", "file", "../file", "../hooks/file"} {
				put(t, filepath.Join(fsys.Root(), file), "")
			}
			put(t, filepath.Join(bin, "bwrap"), fmt.Sprintf("#!/bin/sh\n[ \"$1\" != --args ] || (cd /proc/self/fd/6 && %s)\nexec %s \"$@\"\n", swap, bwrap))
			if err := os.Chmod(filepath.Join(bin, "bwrap"), 0o755); err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			result, err := fsys.Run(t.Context(), &workspace.RunOptions{Command: []string{"sh", "-c", "ls -a . .. .git; echo x >../file"}, Stdout: &out, Stderr: &out})
			if !errors.Is(err, workspace.ErrUnavailable) || out.Len() > 0 || content(t, filepath.Join(fsys.Root(), "../file")) != "" {
				t.Errorf("Run = %+v, %v, want ErrUnavailable and no output, got %q", result, err, out.String())
			}
		})
	}
}

// TestRunWithoutSandbox checks what becomes of commands where bubblewrap is missing or does
// not work.
func TestRunWithoutSandbox(t *testing.T) {
	with := func(program string) string {
		dir := t.TempDir()
		put(t, filepath.Join(dir, "bwrap"), program)
		if err := os.Chmod(filepath.Join(dir, "bwrap"), 0o755); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	const script = "#!/bin/sh\necho \"bwrap: %s\" >&2\nexit 1\n"
	const missing = "bubblewrap (bwrap) is not installed"
	for dir, why := range map[string]string{
		t.TempDir(): missing,
		with(fmt.Sprintf(script, "No permissions, see <https://deb.li/b>")):                  "bubblewrap does not work: exit status 1 (No permissions, see <https://deb.li/b>)",
		with(fmt.Sprintf(script, "Can't find source path /home/me/a: b/c: Not a directory")): "bubblewrap does not work: exit status 1 (Can't find source path [hidden]: Not a directory)",
		with(fmt.Sprintf(script, "Can't mount '/home/me' on /x")):                            "bubblewrap does not work: exit status 1 (Can't mount '[hidden])",
		with("#!/no/such/interpreter\n"):                                                     "bubblewrap does not work: no such file or directory",
	} {
		t.Setenv("PATH", dir)
		required := open(t, t.TempDir(), &localbash.Options{Run: &localbash.Run{Sandbox: localbash.SandboxRequire}})
		_, err := required.Run(t.Context(), &workspace.RunOptions{Command: []string{"/bin/true"}})
		if !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), why) {
			t.Errorf("Run that requires a sandbox = %v, want ErrUnsupported and %q", err, why)
		}
		remedy := "let this user create user namespaces and mount /proc in them, or set the sandbox to try or off"
		if why == missing {
			remedy = "install bubblewrap, or set the sandbox to try or off"
		}
		if said, err := localbash.Kind().About(t.Context(), required, kind.Input{}); err == nil || !strings.Contains(err.Error(), why) || ops.RemedyOf(err) != remedy {
			t.Errorf("About where commands are refused = %q, %v, want an error with %q and the remedy %q", said, err, why, remedy)
		}
		tried := open(t, t.TempDir(), &localbash.Options{Run: &localbash.Run{}})
		if result, err := tried.Run(t.Context(), &workspace.RunOptions{Command: []string{"/bin/true"}}); err != nil || result.ExitCode != 0 {
			t.Errorf("Run that tries a sandbox = %+v, %v", result, err)
		}
		if got, err := tried.Sandbox(t.Context()); err != nil || got != "no sandbox: "+why {
			t.Errorf("Sandbox that was tried = %q, %v, want %q", got, err, why)
		}
	}
}

// TestRunPrograms checks that no program of the folder is taken for one of the system, whatever
// symlinks lead to it by.
func TestRunPrograms(t *testing.T) {
	bin := t.TempDir()
	link(t, "/bin/sh", filepath.Join(bin, "sh"))
	for name, paths := range map[string][2]string{
		"the folder by a symlink":     {"link", "real/bin"},
		"PATH by a symlink":           {"real", "link/bin"},
		"a symlink to the folder":     {"real", "to"},
		"a symlink in the folder":     {"real", "link/out"},
		"symlinks through the folder": {"real", "through"},
	} {
		dir := t.TempDir()
		for _, bin := range []string{"real/bin", "outside"} {
			put(t, filepath.Join(dir, bin, "bwrap"), "#!/bin/sh\necho evil\n")
			if err := os.Chmod(filepath.Join(dir, bin, "bwrap"), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		link(t, "real", filepath.Join(dir, "link"))
		link(t, "real/bin", filepath.Join(dir, "to"))
		link(t, "../outside", filepath.Join(dir, "real", "out"))
		link(t, filepath.Join(dir, "link", "out"), filepath.Join(dir, "through"))
		t.Setenv("PATH", filepath.Join(dir, paths[1])+":"+bin)
		fsys := open(t, filepath.Join(dir, paths[0]), &localbash.Options{Run: &localbash.Run{}})
		if got, err := fsys.Sandbox(t.Context()); err != nil || got != "no sandbox: bubblewrap (bwrap) is not installed" {
			t.Errorf("%s: Sandbox = %q, %v, want none", name, got, err)
		}
		if got := runScript(t, fsys, "echo $PATH"); got.Out != bin+"\n" {
			t.Errorf("%s: PATH is %q, want %q", name, got.Out, bin)
		}
	}
}

// TestRunHome checks where the home directory of commands is: never in the folder, and at an
// absolute path.
func TestRunHome(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "real", "temp", "file"), "")
	put(t, filepath.Join(dir, "temp", "file"), "")
	link(t, "real", filepath.Join(dir, "link"))
	t.Chdir(dir)
	for _, test := range []struct {
		folder, temp string
		want         error
	}{
		{"link", filepath.Join(dir, "real", "temp"), errors.ErrUnsupported},
		{"real", filepath.Join(dir, "link", "temp"), errors.ErrUnsupported},
		{"real", "real/temp", errors.ErrUnsupported},
		{"real", "missing", errors.ErrUnsupported},
		{"real", "temp", nil},
	} {
		t.Setenv("TMPDIR", test.temp)
		fsys := open(t, test.folder, &localbash.Options{Run: &localbash.Run{Sandbox: localbash.SandboxOff}})
		var out bytes.Buffer
		_, err := fsys.Run(t.Context(), &workspace.RunOptions{Command: []string{"sh", "-c", "cd && pwd"}, Stdout: &out})
		if !errors.Is(err, test.want) || err != nil && !strings.Contains(err.Error(), "TMPDIR") || err == nil && !strings.HasPrefix(out.String(), filepath.Join(dir, "temp")+"/") {
			t.Errorf("with the folder %s and TMPDIR=%s, Run = %v, and the home directory is %q", test.folder, test.temp, err, &out)
		}
		fsys.Close()
		if left, _ := filepath.Glob(test.temp + "/workspacekit-run-*"); len(left) > 0 {
			t.Errorf("with TMPDIR=%s, %q is left", test.temp, left)
		}
	}
}

// TestRunRealHome checks that the sandbox hides the home directory of this process, even where a
// symlink leads to it.
func TestRunRealHome(t *testing.T) {
	home, err := os.MkdirTemp("/opt", "workspacekit-test-")
	if err != nil {
		t.Skipf("no home directory can be below /opt: %v", err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	put(t, filepath.Join(home, "secret"), "SECRET")
	homes := filepath.Join(t.TempDir(), "home")
	link(t, "/opt", homes)
	for _, spelled := range []string{home, filepath.Join(homes, filepath.Base(home))} {
		t.Setenv("HOME", spelled)
		fsys := openRunner(t, localbash.Run{Sandbox: localbash.SandboxRequire})
		if got := runScript(t, fsys, `cat "$1/secret"`, home); got.Out != "" {
			t.Errorf("with HOME=%s, a command reads %q", spelled, got.Out)
		}
	}
}

// TestRunNewSecret checks, in a child with an /etc of its own, that the sandbox hides what was
// created there since the last command.
func TestRunNewSecret(t *testing.T) {
	t.Parallel()
	exhaustive.Program(t, "bwrap")
	cmd := child(t, "secret", t.TempDir())
	cmd.SysProcAttr = ownMounts()
	if err := cmd.Start(); err != nil {
		t.Skipf("user namespaces are not allowed here: %v", err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("child: %v", err)
	}
}

// runBesideSecrets runs commands after a secret was created in /etc, and after it was removed.
func runBesideSecrets(dir string) error {
	const secret = "/etc/secret"
	folder := filepath.Join(dir, "folder")
	if err := errors.Join(syscall.Mount("none", "/etc", "tmpfs", 0, "mode=755"), os.Mkdir(folder, 0o777), os.Setenv("TMPDIR", dir)); err != nil {
		return err
	}
	fsys, err := localbash.Open(folder, &localbash.Options{Run: &localbash.Run{Sandbox: localbash.SandboxRequire}})
	if err != nil {
		return err
	}
	defer fsys.Close()
	for _, change := range []func() error{
		func() error { return nil },
		func() error { return os.WriteFile(secret, []byte("SECRET"), 0o600) },
		func() error { return os.Remove(secret) },
	} {
		if err := change(); err != nil {
			return err
		}
		var out bytes.Buffer
		_, err := fsys.Run(context.Background(), &workspace.RunOptions{Command: []string{"sh", "-c", "cat " + secret + "; echo ran"}, Stdout: &out})
		if err != nil || out.String() != "ran\n" {
			return fmt.Errorf("Run = %v, and a command reads %q", err, &out)
		}
	}
	return nil
}

// TestRunReference checks that a reference has the settings of commands, with absolute
// paths, and no values of variables.
func TestRunReference(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	local := localbash.Kind()
	const settings = `{"root": ".", "run": {"enabled": true, "sandbox": "off", "env": {"TOKEN": "SECRET"}, "readable": ["tools"], "limits": {"memoryMb": 7}}}`
	in := kind.Input{Dir: dir, Values: func(into any) error { return json.Unmarshal([]byte(settings), into) }}
	fsys, err := local.Open(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	defer fsys.(*localbash.FS).Close()
	if said, err := local.About(t.Context(), fsys, in); err != nil || !strings.HasSuffix(said, "; commands: no sandbox: it is off") {
		t.Errorf("About = %q, %v", said, err)
	}
	ref, err := local.Ref(t.Context(), fsys, in)
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(ref)
	want := fmt.Sprintf(`{"root":%q,"run":{"enabled":true,"sandbox":"off","readable":[%q],"limits":{"memoryMb":7}}}`, dir, filepath.Join(dir, "tools"))
	if err != nil || string(data) != want {
		t.Errorf("the reference is %s, %v, want %s", data, err, want)
	}
}

// TestRunForkBomb starts processes without end as a user who has limits.
func TestRunForkBomb(t *testing.T) {
	t.Parallel()
	exhaustive.NotShort(t, "starts processes without end")
	openRunner(t, localbash.Run{Sandbox: localbash.SandboxRequire}) // or skip
	if os.Geteuid() != 0 {
		t.Skip("only the super-user can become a user without other processes")
	}
	dir := t.TempDir()
	for at := dir; at != "/"; at = filepath.Dir(at) { // for the other user
		if info, err := os.Stat(at); err != nil || info.Mode().Perm()&0o001 == 0 {
			if err := os.Chmod(at, 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if out, err := child(t, "forkbomb", dir).Output(); err != nil {
		t.Errorf("the child: %v\n%s", err, out)
	}
}

// forkBomb runs a fork bomb as a user who owns nothing.
func forkBomb(dir string) error {
	if err := errors.Join(syscall.Setgroups(nil), syscall.Setgid(nobody), syscall.Setuid(nobody), os.Setenv("TMPDIR", "/tmp")); err != nil {
		return err
	}
	fsys, err := localbash.Open(dir, &localbash.Options{Run: &localbash.Run{Sandbox: localbash.SandboxRequire, Processes: 50}})
	if err != nil {
		return err
	}
	defer fsys.Close()
	var out bytes.Buffer
	if _, err := fsys.Run(context.Background(), &workspace.RunOptions{
		Command: []string{"sh", "-c", "for i in $(seq 100); do sleep 100 & done; echo too many"}, Stdout: &out, Stderr: &out,
	}); err != nil || strings.Contains(out.String(), "too many") {
		return fmt.Errorf("a hundred processes: %w, %s", err, &out)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	if _, err := fsys.Run(ctx, &workspace.RunOptions{Command: []string{"bash", "-c", ":(){ :|:& };:; sleep 100"}}); !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("the fork bomb = %w, want it to run until it is killed", err)
	}
	all, err := filepath.Glob("/proc/[0-9]*/cwd")
	if err != nil {
		return err
	}
	for _, link := range all {
		if cwd, _ := os.Readlink(link); strings.HasPrefix(cwd, dir) {
			return fmt.Errorf("the fork bomb left %s", link)
		}
	}
	_, err = fsys.Run(context.Background(), &workspace.RunOptions{Command: []string{"true"}})
	return err
}

// TestRunOptions checks settings that make no sense, and what says which sandbox there is.
// TestRunLargeProcess ends a command whose memory takes the kernel some time to free, and wants
// it to have ended when Run returns.
func TestRunLargeProcess(t *testing.T) {
	exhaustive.Long(t)
	const size = 3 << 30
	meminfo, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		t.Fatal(err)
	}
	available := 0
	for line := range strings.Lines(string(meminfo)) {
		if _, err := fmt.Sscanf(line, "MemAvailable: %d kB", &available); err == nil {
			break
		}
	}
	if available < 3*size>>10 {
		t.Skipf("left out: %d KiB of memory are free, and this needs %d", available, 3*size>>10)
	}
	for _, sandbox := range []localbash.Sandbox{localbash.SandboxRequire, localbash.SandboxOff} {
		t.Run(string(sandbox), func(t *testing.T) {
			fsys := openRunner(t, localbash.Run{Sandbox: sandbox, Memory: 4 * size})
			ctx, cancel := context.WithCancel(t.Context())
			filled, fill := io.Pipe()
			go func() {
				filled.Read(make([]byte, 1))
				cancel()
			}()
			_, err := fsys.Run(ctx, &workspace.RunOptions{
				Command: []string{"sh", "-c", fmt.Sprintf(`setsid perl -e '$| = 1; $x = "x" x %d; print "x"; sleep 100' & wait`, size)}, Stdout: fill,
			})
			if !errors.Is(err, context.Canceled) {
				t.Fatalf("Run = %v, want it to be canceled", err)
			}
			all, err := filepath.Glob("/proc/[0-9]*/cwd")
			if err != nil {
				t.Fatal(err)
			}
			for _, link := range all {
				if cwd, _ := os.Readlink(link); cwd == fsys.Root() {
					t.Errorf("%s is left", link)
				}
			}
		})
	}
}

func TestRunOptions(t *testing.T) {
	t.Parallel()
	links := t.TempDir()
	link(t, "/", filepath.Join(links, "all"))
	link(t, "/proc", filepath.Join(links, "proc"))
	for name, run := range map[string]localbash.Run{
		"an unknown sandbox":      {Sandbox: "perhaps"},
		"a relative path":         {Readable: []string{"data"}},
		"all files":               {Readable: []string{"/usr/.."}},
		"processes":               {Readable: []string{"/proc/1"}},
		"a symlink to all files":  {Readable: []string{filepath.Join(links, "all")}},
		"a symlink to processes":  {Readable: []string{filepath.Join(links, "proc")}},
		"the root as read-only":   {ReadOnly: []string{"."}},
		"a read-only name to ..":  {ReadOnly: []string{"a/../b"}},
		"an absolute name, too":   {ReadOnly: []string{"/etc"}},
		"a name without a letter": {ReadOnly: []string{""}},
		"a variable with a =":     {Env: map[string]string{"a=b": "c"}},
		"a variable with a NUL":   {Env: map[string]string{"a": "\x00"}},
		"the mark of commands":    {Env: map[string]string{"WORKSPACEKIT_RUN": "mine"}},
		"too few open files":      {OpenFiles: 15},
		"a variable of no name":   {Env: map[string]string{"": "c"}},
	} {
		if _, err := localbash.Open(t.TempDir(), &localbash.Options{Run: &run}); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("Open with %s = %v, want ErrInvalid", name, err)
		}
	}
	for _, root := range []string{"/", "/proc", filepath.Join(links, "proc")} {
		for sandbox, want := range map[localbash.Sandbox]error{"": fs.ErrInvalid, localbash.SandboxRequire: fs.ErrInvalid, localbash.SandboxOff: nil} {
			fsys, err := localbash.Open(root, &localbash.Options{Run: &localbash.Run{Sandbox: sandbox}})
			if !errors.Is(err, want) {
				t.Errorf("Open(%q) with the sandbox %q = %v, want %v", root, sandbox, err, want)
			}
			if err == nil {
				fsys.Close()
			}
		}
	}
	plain := open(t, t.TempDir(), nil)
	if _, err := plain.Run(t.Context(), &workspace.RunOptions{Command: []string{"true"}}); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("Run of a folder that allows none = %v, want ErrUnsupported", err)
	}
	if _, err := plain.Sandbox(t.Context()); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("Sandbox of a folder that allows no commands = %v, want ErrUnsupported", err)
	}
	for sandbox, want := range map[localbash.Sandbox]string{
		localbash.SandboxRequire: "bubblewrap", localbash.SandboxOff: "no sandbox: it is off",
	} {
		if got, err := openRunner(t, localbash.Run{Sandbox: sandbox}).Sandbox(t.Context()); err != nil || !strings.HasPrefix(got, want) {
			t.Errorf("Sandbox with %s = %q, %v, want %q", sandbox, got, err, want)
		}
	}
	toolchain := t.TempDir()
	put(t, filepath.Join(toolchain, "file"), "readable")
	link(t, "loop", filepath.Join(links, "loop"))
	reader := openRunner(t, localbash.Run{Sandbox: localbash.SandboxRequire, Readable: []string{
		toolchain, "/no/such/directory", filepath.Join(toolchain, "file", "below"), filepath.Join(links, "loop"), "/" + strings.Repeat("x", 256),
	}})
	if got := runScript(t, reader, `cat "$1/file"; echo x >"$1/new"`, toolchain); got.Out != "readable" || got.ExitCode == 0 {
		t.Errorf("a command that reads and writes a readable directory: %+v", got)
	}
	worktree := openRunner(t, localbash.Run{Sandbox: localbash.SandboxRequire, ReadOnly: []string{".git/hooks", ".git/config"}})
	put(t, filepath.Join(worktree.Root(), ".git"), "gitdir")
	if got := runScript(t, worktree, "echo new >other; echo x >.git || mv .git moved || cat .git"); got.Out != "gitdir" || got.ExitCode != 0 {
		t.Errorf("a command where read-only names lead through a file: %+v", got)
	}
	link(t, links, filepath.Join(toolchain, "away")) // no symlink can be mounted on where it leads to nothing
	for _, sandbox := range []localbash.Sandbox{localbash.SandboxTry, localbash.SandboxRequire} {
		barred := openRunner(t, localbash.Run{Sandbox: sandbox, Readable: []string{toolchain, filepath.Join(toolchain, "away")}})
		if _, err := barred.Run(t.Context(), &workspace.RunOptions{Command: []string{"true"}}); !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(ops.RemedyOf(err), "run.readable") {
			t.Errorf("Run with the sandbox %s and a path that it cannot have = %v, want ErrUnsupported, and what to do about run.readable", sandbox, err)
		}
	}
	linked := openRunner(t, localbash.Run{Sandbox: localbash.SandboxRequire, ReadOnly: []string{"link/file"}})
	link(t, "sub", filepath.Join(linked.Root(), "link"))
	if _, err := linked.Run(t.Context(), &workspace.RunOptions{Command: []string{"true"}}); !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(ops.RemedyOf(err), "run.readOnly") {
		t.Errorf("Run with a read-only name through a symlink = %v, want ErrUnsupported, and what to do about run.readOnly", err)
	}
	restricted, err := policy.Restrict(linked, policy.Rules{AllowRun: true, DeniedPaths: []string{"x"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := workspace.New("linked", restricted, nil).Run(t.Context(), &workspace.RunOptions{Command: []string{"true"}}); err == nil || !strings.Contains(err.Error(), `"link" cannot be kept from being changed: it is a symlink`) {
		t.Errorf("Run below a policy with a read-only name through a symlink = %v, want an error that says so", err)
	}
}
