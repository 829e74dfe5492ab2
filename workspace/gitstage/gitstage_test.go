package gitstage_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/providers/localbash"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/fallback"
	"github.com/workspacekit/workspacekit/workspace/gitstage"
	"github.com/workspacekit/workspacekit/workspace/observe"
)

// repo is a work tree with a workspace in it, and what its stager has reported.
type repo struct {
	dir  string
	fsys workspace.FileSystem

	mu     sync.Mutex
	events []observe.Event // guarded by mu
}

// TestMain leaves all tests out where there is no git, which each of them runs.
func TestMain(m *testing.M) {
	if _, err := exec.LookPath("git"); err != nil && os.Getenv("WORKSPACEKIT_REQUIRE_PROGRAMS") == "" {
		fmt.Println("git is missing: install it with the package manager of this system, as .ci/run does")
		return
	}
	os.Exit(m.Run())
}

// newRepo returns a new repository, with the workspace in its folder sub.
func newRepo(t *testing.T, sub string, timeout time.Duration) *repo {
	t.Helper()
	r := &repo{dir: t.TempDir()}
	for _, name := range []string{"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"} {
		t.Setenv(name, os.DevNull)
	}
	r.run(t, "init", "-q")
	if err := os.MkdirAll(filepath.Join(r.dir, sub), 0o777); err != nil {
		t.Fatal(err)
	}
	r.open(t, sub, timeout)
	return r
}

// open opens the folder sub of the repository as the workspace.
func (r *repo) open(t *testing.T, sub string, timeout time.Duration) {
	t.Helper()
	local, err := localbash.Open(filepath.Join(r.dir, sub), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { local.Close() })
	stager, err := gitstage.Open(local, fallback.Root(local), &gitstage.Options{Timeout: timeout, Report: observe.Func(func(_ context.Context, e observe.Event) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.events = append(r.events, e)
	})})
	if err != nil {
		t.Fatal(err)
	}
	r.fsys = observe.New(local, "repo", stager)
}

// run runs git in the repository.
func (r *repo) run(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = r.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %q: %v: %s", args, err, out)
	}
	return string(out)
}

// write writes a file through the workspace.
func (r *repo) write(t *testing.T, name, content string) {
	t.Helper()
	if _, err := r.fsys.WriteFile(t.Context(), name, []byte(content), nil); err != nil {
		t.Fatal(err)
	}
}

// put writes a file of the repository beside the workspace.
func (r *repo) put(t *testing.T, name, content string, mode fs.FileMode) {
	t.Helper()
	path := filepath.Join(r.dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(content), mode)); err != nil {
		t.Fatal(err)
	}
}

// configure adds lines to the configuration, in which PROGRAM is a program that makes the file
// marker and prints its input.
func (r *repo) configure(t *testing.T, lines string) (program, marker string) {
	t.Helper()
	marker, program = filepath.Join(t.TempDir(), "has-run"), filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(program, []byte("#!/bin/sh\ntouch '"+marker+"'\ncat\n"), 0o777); err != nil {
		t.Fatal(err)
	}
	old, err := os.ReadFile(filepath.Join(r.dir, ".git", "config"))
	if err != nil {
		t.Fatal(err)
	}
	r.put(t, ".git/config", string(old)+strings.ReplaceAll(lines, "PROGRAM", program), 0o666)
	return program, marker
}

// mode returns the mode of a file of the repository.
func (r *repo) mode(t *testing.T, name string) fs.FileMode {
	t.Helper()
	info, err := os.Stat(filepath.Join(r.dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode()
}

// has compares the index with lines of mode, name and content.
func (r *repo) has(t *testing.T, want ...string) {
	t.Helper()
	var got []string
	for line := range strings.SplitSeq(strings.TrimSuffix(r.run(t, "ls-files", "-z", "--stage"), "\x00"), "\x00") {
		if facts, name, ok := strings.Cut(line, "\t"); ok {
			got = append(got, fmt.Sprintf("%s %s %s", strings.Fields(facts)[0], name, r.run(t, "cat-file", "blob", strings.Fields(facts)[1])))
		}
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("the index has\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// failures returns the errors that were reported since the last call.
func (r *repo) failures() (texts []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.events {
		if e.Err != nil {
			texts = append(texts, e.Err.Error())
		}
	}
	r.events = nil
	return texts
}

// TestStage changes files in every way, and compares the index.
func TestStage(t *testing.T) {
	for _, sub := range []string{".", "deep/er"} {
		t.Run(sub, func(t *testing.T) {
			r := newRepo(t, sub, 0)
			at := strings.TrimPrefix(sub+"/", "./")
			ctx := t.Context()
			r.put(t, ".gitignore", "*.log\n", 0o666)
			r.write(t, "a", "1")
			r.write(t, "b c/ü\n\"*", "odd")
			r.write(t, "x.log", "ignored")
			for _, name := range []string{":(top)x", "[a]", "-n"} {
				r.write(t, name, "odd")
				if err := r.fsys.Rm(ctx, name, nil); err != nil {
					t.Fatal(err)
				}
			}
			r.has(t, "100644 "+at+"a 1", "100644 "+at+"b c/ü\n\"* odd")
			r.write(t, "a", "2")
			w, err := workspace.Create(ctx, r.fsys, "created", nil)
			if err != nil {
				t.Fatal(err)
			}
			_, err = w.Write([]byte("3\r\n"))
			_, commitErr := w.Commit()
			if err := errors.Join(err, commitErr, w.Close()); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(filepath.Join(r.dir, sub, "created"), 0o755); err != nil {
				t.Fatal(err)
			}
			r.write(t, "created", "3\r\n")
			_, err = workspace.Copy(ctx, r.fsys, "a", "d")
			if err := errors.Join(err, workspace.Move(ctx, r.fsys, "b c", "e"), workspace.Move(ctx, r.fsys, "x.log", "x"),
				r.fsys.Mkdir(ctx, "none", nil), workspace.Move(ctx, r.fsys, "d", "none/d")); err != nil {
				t.Fatal(err)
			}
			r.has(t, "100644 "+at+"a 2", "100755 "+at+"created 3\r\n", "100644 "+at+"e/ü\n\"* odd", "100644 "+at+"none/d 2", "100644 "+at+"x ignored")
			if err := errors.Join(r.fsys.Rm(ctx, "e", &workspace.RmOptions{Recursive: true}), r.fsys.Rm(ctx, "created", nil),
				workspace.Move(ctx, r.fsys, "none/d", "d.log"), r.fsys.Rm(ctx, "x", nil)); err != nil {
				t.Fatal(err)
			}
			r.has(t, "100644 "+at+"a 2", "100644 "+at+"d.log 2") // as after "git mv"
			if failed := r.failures(); failed != nil {
				t.Errorf("failures: %q", failed)
			}
		})
	}
}

// TestSymlinks tests that what a symlink leads to is staged under its own name.
func TestSymlinks(t *testing.T) {
	r := newRepo(t, ".", 0)
	r.write(t, "real/a", "1")
	if err := errors.Join(os.Symlink("real", filepath.Join(r.dir, "link")), os.Symlink("real/a", filepath.Join(r.dir, "file"))); err != nil {
		t.Fatal(err)
	}
	r.write(t, "link/b", "2")
	r.write(t, "file", "3")
	r.has(t, "100644 real/a 3", "100644 real/b 2")
	if err := errors.Join(r.fsys.Rm(t.Context(), "link/b", nil), r.fsys.Rm(t.Context(), "file", nil)); err != nil {
		t.Fatal(err)
	}
	r.has(t, "100644 real/a 3")
}

// TestMoveOfConverted moves files whose attributes name a filter, or that git ignores under
// their new names: like "git mv", it renames what the index has.
func TestMoveOfConverted(t *testing.T) {
	r := newRepo(t, ".", 0)
	for _, name := range []string{"a.bin", "b", "d/c", "e.bin", "f"} {
		r.put(t, name, name, 0o755)
	}
	r.run(t, "add", ".")
	r.put(t, ".gitattributes", "*.bin filter=lfs\n", 0o666)
	r.put(t, ".gitignore", "ignored\nnew\n", 0o666)
	r.put(t, "e.bin", "unstaged", 0o755)
	r.put(t, "f", "unstaged", 0o755)
	r.put(t, "new.bin", "untracked", 0o666)
	r.put(t, "x", "untracked", 0o666)
	for from, to := range map[string]string{"a.bin": "a2.bin", "b": "b.bin", "d/c": "ignored", "e.bin": "e", "f": "f.bin"} {
		if err := workspace.Move(t.Context(), r.fsys, from, to); err != nil {
			t.Fatal(err)
		}
	}
	if failed := r.failures(); failed != nil {
		t.Errorf("failures: %q", failed)
	}
	if err := errors.Join(workspace.Move(t.Context(), r.fsys, "new.bin", "new2.bin"), workspace.Move(t.Context(), r.fsys, "x", "new")); err != nil {
		t.Fatal(err)
	}
	r.has(t, "100755 a2.bin a.bin", "100755 b.bin b", "100755 e unstaged", "100755 f.bin f", "100755 ignored d/c")
	if failed := r.failures(); len(failed) != 1 {
		t.Errorf("failures of a file that is not in the index: %q, want one", failed)
	}
}

// TestMoveOfConflict moves files in which a merge has left conflicts: those stay.
func TestMoveOfConflict(t *testing.T) {
	r := newRepo(t, ".", 0)
	commit := func(content string) {
		r.put(t, "d/a", content, 0o666)
		r.put(t, "b", content, 0o666)
		r.run(t, "add", ".")
		r.run(t, "-c", "user.name=x", "-c", "user.email=x@x", "commit", "-q", "-m", content)
	}
	commit("base")
	r.run(t, "branch", "other")
	commit("ours")
	r.run(t, "checkout", "-q", "other")
	commit("theirs")
	merge := exec.CommandContext(t.Context(), "git", "-c", "user.name=x", "-c", "user.email=x@x", "merge", "-")
	merge.Dir = r.dir
	if out, _ := merge.CombinedOutput(); !strings.Contains(string(out), "CONFLICT") {
		t.Fatalf("git merge finds no conflict: %s", out)
	}
	r.put(t, "replaced", "x", 0o666)
	r.run(t, "add", "replaced")
	if err := errors.Join(os.Remove(filepath.Join(r.dir, "replaced")),
		workspace.Move(t.Context(), r.fsys, "d", "e"), workspace.Move(t.Context(), r.fsys, "b", "replaced")); err != nil {
		t.Fatal(err)
	}
	r.has(t, "100644 e/a base", "100644 e/a theirs", "100644 e/a ours", "100644 replaced base", "100644 replaced theirs", "100644 replaced ours")
	if failed := r.failures(); failed != nil {
		t.Errorf("failures: %q", failed)
	}
}

// TestNested tests that a file belongs to the nearest repository, and that the files
// of git itself are not staged.
func TestNested(t *testing.T) {
	r := newRepo(t, ".", 0)
	inner := &repo{dir: filepath.Join(r.dir, "inner")}
	if err := os.Mkdir(inner.dir, 0o777); err != nil {
		t.Fatal(err)
	}
	inner.run(t, "init", "-q")
	r.write(t, "inner/a", "1")
	r.write(t, "inner/.git/description", "x")
	inner.has(t, "100644 a 1")
	r.write(t, "b", "2")
	r.has(t, "100644 b 2")
	if err := workspace.Move(t.Context(), r.fsys, "inner/a", "a"); err != nil {
		t.Fatal(err)
	}
	inner.has(t)
	r.has(t, "100644 a 1", "100644 b 2")
}

// TestNoRepository tests that nothing happens where there is no repository.
func TestNoRepository(t *testing.T) {
	local, err := localbash.Open(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer local.Close()
	if _, err := gitstage.Open(local, fallback.Root(local), &gitstage.Options{Timeout: -1}); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("Open with a negative timeout = %v, want %v", err, fs.ErrInvalid)
	}
	reports := 0
	stager, err := gitstage.Open(local, fallback.Root(local), &gitstage.Options{Report: observe.Func(func(context.Context, observe.Event) { reports++ })})
	if err != nil {
		t.Fatal(err)
	}
	fsys := observe.New(local, "repo", stager)
	_, err = fsys.WriteFile(t.Context(), "a", nil, nil)
	if err := errors.Join(err, workspace.Move(t.Context(), fsys, "a", "b"), fsys.Rm(t.Context(), "b", nil)); err != nil || reports > 0 {
		t.Errorf("without a repository there are %d reports, %v", reports, err)
	}
}

// TestGitInWorkspace tests that a program that an agent can write is not run.
func TestGitInWorkspace(t *testing.T) {
	dir := t.TempDir()
	local, err := localbash.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer local.Close()
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "bin"), 0o777),
		os.WriteFile(filepath.Join(dir, "bin", "git"), []byte("#!/bin/sh\n"), 0o777)); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "git")
	if err := os.Symlink(filepath.Join(dir, "bin", "git"), link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(dir, "bin"), filepath.Dir(link)} {
		t.Setenv("PATH", path)
		if _, err := gitstage.Open(local, dir, nil); err == nil {
			t.Errorf("Open runs the git of the workspace, found in %s", path)
		}
	}
}

// TestTemporaryFilesInWorkspace tests that an agent cannot write the git directory that is ours.
func TestTemporaryFilesInWorkspace(t *testing.T) {
	dir := t.TempDir()
	local, err := localbash.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer local.Close()
	for _, name := range []string{"TMPDIR", "TMP"} {
		t.Setenv(name, dir)
	}
	if _, err := gitstage.Open(local, dir, nil); err == nil {
		t.Error("Open takes a directory of temporary files in the workspace")
	}
}

// TestHostileRepository tests that no program runs that a repository names. Where git
// itself would run it, that is shown first.
func TestHostileRepository(t *testing.T) {
	for name, c := range map[string]struct {
		config string            // lines, in which PROGRAM is the program
		files  map[string]string // that are executable
		git    []string          // a command that runs the program
		staged bool              // the file is staged all the same
	}{
		"filter":           {"[filter \"x\"]\n\tclean = PROGRAM\n", map[string]string{".gitattributes": "* filter=x\n"}, []string{"add", "other"}, false},
		"process":          {"[filter \"x\"]\n\tprocess = PROGRAM\n\trequired = true\n", map[string]string{".gitattributes": "a filter=x\nother filter=x\n"}, nil, false},
		"info":             {"[filter \"x\"]\n\tclean = PROGRAM\n", map[string]string{".git/info/attributes": "* filter=x\n"}, []string{"add", "other"}, false},
		"monitor":          {"[core]\n\tfsmonitor = PROGRAM\n", nil, []string{"status"}, true},
		"hook":             {"", map[string]string{".git/hooks/post-index-change": "#!/bin/sh\nPROGRAM\n"}, []string{"add", "other"}, true},
		"path":             {"[core]\n\thooksPath = hooks\n", map[string]string{"hooks/post-index-change": "#!/bin/sh\nPROGRAM\n"}, []string{"add", "other"}, true},
		"include":          {"[include]\n\tpath = more\n", map[string]string{".git/more": "[core]\n\tfsmonitor = PROGRAM\n"}, []string{"status"}, true},
		"in new versions":  {"[hook \"x\"]\n\tevent = post-index-change\n\tcommand = PROGRAM\n", nil, nil, true},
		"pager and alias":  {"[core]\n\tpager = PROGRAM\n\teditor = PROGRAM\n[alias]\n\tupdate-index = !PROGRAM\n\thash-object = !PROGRAM\n", nil, nil, true},
		"encoding":         {"", map[string]string{".gitattributes": "* working-tree-encoding=UTF-16\n"}, nil, false},
		"promisor":         {"[extensions]\n\tpartialClone = o\n[remote \"o\"]\n\turl = ext::PROGRAM\n\tpromisor = true\n\tuploadpack = PROGRAM\n", nil, nil, true},
		"credentials, ssh": {"[core]\n\tsshCommand = PROGRAM\n[credential]\n\thelper = !PROGRAM\n", nil, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t, ".", 0)
			program, marker := r.configure(t, c.config)
			for file, content := range c.files {
				r.put(t, file, strings.ReplaceAll(content, "PROGRAM", program), 0o777)
			}
			r.put(t, "other", "x", 0o666)
			if c.git != nil {
				r.run(t, c.git...)
				if _, err := os.Stat(marker); err != nil {
					t.Errorf("git %q does not run the program, so this tests nothing: %v", c.git, err)
				}
				_ = os.Remove(marker)
			}
			r.write(t, "a", "content")
			err := errors.Join(workspace.Move(t.Context(), r.fsys, "a", "b"), r.fsys.Rm(t.Context(), "b", nil))
			if err != nil {
				t.Error(err)
			}
			r.write(t, "a", "content")
			if _, err := os.Stat(marker); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the program of the repository has run: %v", err)
			}
			if failed := r.failures(); (failed == nil) != c.staged {
				t.Errorf("failures: %q, want some: %v", failed, !c.staged)
			}
		})
	}
}

// TestFilterOfAnotherFile tests that the filter of a file that may have changed since git
// read it does not run when the index is written for another one.
func TestFilterOfAnotherFile(t *testing.T) {
	for name, c := range map[string]struct {
		filter string // its name
		config string // lines, in which PROGRAM is the program
	}{
		"clean":   {"x", "[filter \"x\"]\n\tclean = PROGRAM\n\trequired = true\n"},
		"process": {"x", "[filter \"x\"]\n\tprocess = PROGRAM\n"},
		"dot":     {"x.y", "[filter \"x.y\"]\n\tclean = PROGRAM\n"},
		"equals":  {"x=y", "[filter \"x=y\"]\n\tclean = PROGRAM\n"},
		"include": {"x", "[include]\n\tpath = more\n"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t, ".", 0)
			r.put(t, ".git/info/attributes", "other filter="+c.filter+"\n", 0o666)
			r.put(t, "other", "x", 0o666)
			later := time.Now().Add(time.Hour) // so git never knows whether the file has changed
			if err := os.Chtimes(filepath.Join(r.dir, "other"), later, later); err != nil {
				t.Fatal(err)
			}
			r.run(t, "add", "other")
			program, marker := r.configure(t, c.config)
			r.put(t, ".git/more", "[filter \"x\"]\n\tclean = "+program+"\n", 0o666)
			r.run(t, "status")
			if err := os.Remove(marker); err != nil {
				t.Errorf("git status does not run the program, so this tests nothing: %v", err)
			}
			r.write(t, "a", "content")
			if _, err := os.Stat(marker); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the program of the repository has run: %v", err)
			}
			if failed := r.failures(); failed != nil {
				t.Errorf("failures: %q", failed)
			}
			if changed := r.run(t, "diff", "--name-only"); name != "process" && changed != "" {
				t.Errorf("git takes %q for changed", changed)
			}
		})
	}
}

// TestConfigurationChanges tests that no filter runs that appears in the configuration after
// git has looked at the repository, just before it changes the index.
func TestConfigurationChanges(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a script takes the place of git")
	}
	git := exhaustive.Program(t, "git")
	bin := t.TempDir()
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	script := "#!/bin/sh\nfor arg; do [ \"$arg\" != update-index ] || [ ! -f .git/evil ] || cp .git/evil .git/config; done\nexec '" + git + "' \"$@\"\n"
	if err := os.WriteFile(filepath.Join(bin, "git"), []byte(script), 0o777); err != nil {
		t.Fatal(err)
	}
	r := newRepo(t, ".", 0)
	r.put(t, ".git/info/attributes", "other filter=x\n", 0o666)
	r.put(t, "other", "x", 0o666)
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(filepath.Join(r.dir, "other"), later, later); err != nil {
		t.Fatal(err)
	}
	r.run(t, "add", "other")
	good, err := os.ReadFile(filepath.Join(r.dir, ".git/config"))
	if err != nil {
		t.Fatal(err)
	}
	_, marker := r.configure(t, "[filter \"x\"]\n\tclean = PROGRAM\n")
	if err := os.Rename(filepath.Join(r.dir, ".git/config"), filepath.Join(r.dir, ".git/evil")); err != nil {
		t.Fatal(err)
	}
	r.put(t, ".git/config", string(good), 0o666)
	r.write(t, "a", "content")
	if _, err := os.Stat(marker); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the program of the repository has run: %v", err)
	}
	r.has(t, "100644 a content", "100644 other x")
}

// TestLeadsOut tests that nothing outside the workspace changes if what is of a repository in it is a
// symlink, or a file that names another repository.
func TestLeadsOut(t *testing.T) {
	link := func(from, to string) error { return errors.Join(os.RemoveAll(to), os.Symlink(from, to)) }
	for name, lead := range map[string]func(out, top string) error{
		"gitdir": func(out, top string) error {
			return errors.Join(os.RemoveAll(top+"/.git"), os.WriteFile(top+"/.git", []byte("gitdir: "+out+"/.git\n"), 0o666))
		},
		"git":       func(out, top string) error { return link(out+"/.git", top+"/.git") },
		"commondir": func(out, top string) error { return os.WriteFile(top+"/.git/commondir", []byte(out+"/.git\n"), 0o666) },
		"index":     func(out, top string) error { return link(out+"/new", top+"/.git/index") },
		"lock":      func(out, top string) error { return link(out+"/new", top+"/.git/index.lock") },
		"objects":   func(out, top string) error { return link(out, top+"/.git/objects") },
		"fan-out": func(out, top string) error {
			err := error(nil)
			for i := range 256 {
				err = errors.Join(err, link(out, fmt.Sprintf("%s/.git/objects/%02x", top, i)))
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			out := newRepo(t, ".", 0)
			out.run(t, "-c", "user.name=x", "-c", "user.email=x@x", "commit", "-q", "--allow-empty", "-m", "x")
			r := newRepo(t, ".", 100*time.Millisecond)
			before := tree(t, out.dir)
			if err := lead(out.dir, r.dir); err != nil {
				t.Fatal(err)
			}
			r.write(t, "a", "1")
			if failed := r.failures(); len(failed) != 1 || strings.Contains(failed[0], out.dir) {
				t.Errorf("failures: %q, want one without a path of the host", failed)
			}
			if after := tree(t, out.dir); after != before {
				t.Errorf("outside of the workspace there is\n%s\nwant\n%s", after, before)
			}
		})
	}
}

// tree returns the files in dir, with their contents.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			fmt.Fprintf(&b, "%s\n", name)
			return err
		}
		data, err := fs.ReadFile(os.DirFS(dir), name)
		fmt.Fprintf(&b, "%s %q\n", name, data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestPointsBack tests that a linked worktree and a submodule are staged whose git directory is outside
// the workspace.
func TestPointsBack(t *testing.T) {
	main := newRepo(t, ".", 0)
	main.run(t, "-c", "user.name=x", "-c", "user.email=x@x", "commit", "-q", "--allow-empty", "-m", "x")
	main.run(t, "worktree", "add", "-q", "linked")
	main.run(t, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", main.dir, "module")
	for _, name := range []string{"linked", "module"} {
		r := &repo{dir: filepath.Join(main.dir, name)}
		r.open(t, ".", 0)
		r.write(t, "a", "1")
		r.has(t, "100644 a 1")
		if failed := r.failures(); failed != nil {
			t.Errorf("failures in %s: %q", name, failed)
		}
	}
}

// TestFormats stages in repositories whose files have other formats.
func TestFormats(t *testing.T) {
	for name, commands := range map[string][][]string{
		"sha256": {{"init", "-q", "--object-format=sha256"}, {"add", "."}},
		"split":  {{"init", "-q"}, {"config", "core.splitIndex", "true"}, {"add", "."}, {"update-index", "--split-index"}},
		"sparse": {{"init", "-q"}, {"add", "."}, {"-c", "user.name=x", "-c", "user.email=x@x", "commit", "-q", "-m", "x"}, {"sparse-checkout", "set", "--cone", "--sparse-index", "d"}},
		"shared": {{"init", "-q", "--shared=all"}, {"add", "."}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t, ".", 0)
			if err := os.RemoveAll(filepath.Join(r.dir, ".git")); err != nil {
				t.Fatal(err)
			}
			r.put(t, "d/a", "1", 0o666)
			r.put(t, "e/b", "2", 0o666)
			for _, args := range commands {
				r.run(t, args...)
			}
			before := r.mode(t, ".git/index")
			r.write(t, "d/c", "3")
			r.has(t, "100644 d/a 1", "100644 d/c 3", "100644 e/b 2")
			r.run(t, "fsck", "--strict")
			if changed := r.run(t, "diff", "--name-only"); changed != "" {
				t.Errorf("git takes %q for changed", changed)
			}
			if after := r.mode(t, ".git/index"); after != before {
				t.Errorf("the index has the mode %v, want %v as before", after, before)
			}
			id := strings.TrimSpace(r.run(t, "rev-parse", ":d/c"))
			if got, want := r.mode(t, ".git/objects/"+id[:2]), r.mode(t, ".git/objects"); got != want {
				t.Errorf("the directory of the object has the mode %v, want %v as that of all", got, want)
			}
		})
	}
}

// TestEnvironment tests that variables of git do not lead it elsewhere.
func TestEnvironment(t *testing.T) {
	r := newRepo(t, ".", 0)
	other := newRepo(t, ".", 0)
	t.Setenv("GIT_DIR", filepath.Join(other.dir, ".git"))
	t.Setenv("GIT_INDEX_FILE", filepath.Join(other.dir, "index"))
	r.write(t, "a", "1")
	os.Unsetenv("GIT_DIR")
	os.Unsetenv("GIT_INDEX_FILE")
	r.has(t, "100644 a 1")
	other.has(t)
}

// TestFailures tests that a write succeeds whatever git says, and that its event has
// no paths of the host.
func TestFailures(t *testing.T) {
	r := newRepo(t, ".", 100*time.Millisecond)
	r.put(t, ".git/index.lock", "", 0o666) // another program, for ever
	r.write(t, "a", "1")
	if err := os.Remove(filepath.Join(r.dir, ".git/index.lock")); err != nil {
		t.Fatal(err)
	}
	r.put(t, ".git/HEAD", "broken", 0o666)
	r.write(t, "a", "2")
	failed := r.failures()
	if len(failed) != 2 || !strings.Contains(failed[1], "the repository is damaged") {
		t.Errorf("failures: %q, want one for the lock and one for the repository", failed)
	}
	for _, text := range failed {
		if !strings.HasPrefix(text, "git_stage a: temporarily unavailable: ") || strings.Contains(text, r.dir) {
			t.Errorf("the failure %q has a path of the host, or is of another operation", text)
		}
	}
}

// TestLeftLock tests that a lock that another program has left costs a short time once, and
// that files are staged again when it is deleted.
func TestLeftLock(t *testing.T) {
	r := newRepo(t, ".", 20*time.Second)
	r.put(t, ".git/index.lock", "", 0o666)
	began := time.Now()
	for _, name := range []string{"a", "b", "c"} {
		r.write(t, name, "1")
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("three writes took %v, want about a second", took)
	}
	failed := r.failures()
	if len(failed) != 3 || !strings.Contains(failed[2], "if none is running, delete index.lock") {
		t.Errorf("failures: %q, want three about the lock", failed)
	}
	if err := os.Remove(filepath.Join(r.dir, ".git/index.lock")); err != nil {
		t.Fatal(err)
	}
	r.write(t, "a", "2")
	r.has(t, "100644 a 2")
}

// TestLargeIndex tests that an index that would fill the directory of temporary files is not
// copied: the change succeeds, and git stages again when the file is deleted.
func TestLargeIndex(t *testing.T) {
	for _, file := range []string{"sharedindex.x", "index"} {
		t.Run(file, func(t *testing.T) {
			r := newRepo(t, ".", 20*time.Second)
			r.put(t, ".git/"+file, "", 0o666)
			path := filepath.Join(r.dir, ".git", file)
			if err := os.Truncate(path, 256<<20+1); err != nil {
				t.Fatal(err)
			}
			r.write(t, "a", "1")
			if err := r.fsys.Rm(t.Context(), "a", nil); err != nil {
				t.Error(err)
			}
			failed := r.failures()
			if len(failed) != 2 || !strings.Contains(failed[1], "256 MiB") { // git itself may refuse the first
				t.Errorf("failures: %q, want two, and the limit in the last one", failed)
			}
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			r.write(t, "a", "2")
			r.has(t, "100644 a 2")
		})
	}
}

// TestCopyEnds tests that the copies of an index end with the context.
func TestCopyEnds(t *testing.T) {
	for _, file := range []string{"sharedindex.x", "index"} {
		dir, own := t.TempDir(), t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, file), []byte("DIRC"), 0o666); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		err := gitstage.ReadIndex(ctx, dir, own)
		if data, _ := os.ReadFile(filepath.Join(own, file)); err == nil || len(data) > 0 {
			t.Errorf("ReadIndex after the end of its context = %v, and copies %q of %s, want an error and nothing", err, data, file)
		}
	}
}

// TestTogether stages many files at a time.
func TestTogether(t *testing.T) {
	r := newRepo(t, ".", time.Minute)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			if _, err := r.fsys.WriteFile(context.Background(), fmt.Sprint(i), []byte("x"), nil); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if names := strings.Fields(r.run(t, "ls-files")); len(names) != 8 {
		t.Errorf("the index has %q, want 8 files; failures: %q", names, r.failures())
	}
}

// Example stages what is written to a folder of a repository.
func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	git := func(args ...string) string {
		out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput()
		if err != nil {
			panic(err)
		}
		return string(out)
	}
	git("init", "-q")

	local, err := localbash.Open(dir, nil)
	if err != nil {
		panic(err)
	}
	defer local.Close()
	stager, err := gitstage.Open(local, dir, nil)
	if err != nil {
		panic(err)
	}
	fsys := observe.New(local, "repo", stager)
	_, _ = fsys.WriteFile(context.Background(), "main.go", []byte("package main\n"), nil)
	fmt.Print(git("status", "--short"))
	// Output: A  main.go
}
