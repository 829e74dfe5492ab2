package command

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/providers/localbash"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/fallback"
)

// run runs a line of plain words in a workspace.
func run(t *testing.T, ws *workspace.Workspace, stdin, line string) (stdout, stderr string, status int) {
	t.Helper()
	return runIn(t, []*workspace.Workspace{ws}, stdin, line)
}

// runIn is run in several workspaces.
func runIn(t *testing.T, workspaces []*workspace.Workspace, stdin, line string) (stdout, stderr string, status int) {
	t.Helper()
	args := shellWords(t, line)
	var out, failed bytes.Buffer
	p := &Process{
		Args: args, Stdin: strings.NewReader(stdin), Stdout: &out, Stderr: &failed, Dir: "/", Env: lookup(nil), Environ: func() []string { return nil },
		Files: NewFiles(workspaces, workspace.New("scratch", memory.New(nil), nil), Hooks{}), Now: time.Now, MaxMemory: 8 << 20,
	}
	p.Run = runProgram
	status = Programs[args[0]](t.Context(), p)
	return out.String(), failed.String(), status
}

// TestFindName compares find in a folder, where the folder finds the names, with find in
// memory, where each file is looked at.
func TestFindName(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeTree(t, dir, gnuTree)
	fsys, err := localbash.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { fsys.Close() })
	folder, inMemory := workspace.New("folder", fsys, nil), memoryTree(t, gnuTree)
	for _, line := range []string{
		"find -name foo.go", "find . -name '*.go'", "find src -name 'f*'", "find -name lib", "find -name '.*'", "find -name src -type d", "find -type f -name 'm*'",
		"find src docs -name '*' -size -2", "find -name '*.{go,md}'", "find -name '?*' -mindepth 2", "find src -name src", "find -name nothing", "find -name '*.go' -quit",
		"find . -print -name '*.go'", "find -name '*.go' -printf '%s %p\\n'", "find src/foo.go -name 'f*'", "find src/foo.go/ -name 'f*'", "find src -maxdepth 1 -name '*o*'", "find docs -type d",
		"find -name '[a-f]*'", "find -name '*o*' -name '*.go' -print0", "find missing -name x", "find -name bin -o -name lib",
	} {
		want, _, wantStatus := run(t, inMemory, "", line)
		got, stderr, status := run(t, folder, "", line)
		if got != want || status != wantStatus {
			t.Errorf("%s = %q, %s, status %d; want %q, status %d", line, got, stderr, status, want, wantStatus)
		}
	}
	if err := os.Symlink("src", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{"find link": "link\n", "find link -type l": "link\n", "find link/ -name lib": "link/lib\n", "find -name link -type l": "./link\n"} {
		if got, stderr, status := run(t, folder, "", line); got != want || status != 0 {
			t.Errorf("%s = %q, %s, status %d; want %q", line, got, stderr, status, want)
		}
	}
}

// TestFindDayStart looks for files of yesterday, a minute after midnight.
func TestFindDayStart(t *testing.T) {
	t.Parallel()
	for tests, want := range map[string]string{
		"-daystart -mtime 1": "f\n", "-daystart -mtime 0": "", "-daystart -mtime -1": "", "-daystart -mtime +0": "f\n", "-daystart -mtime +1": "", "-daystart -mmin +1438": "f\n", "-daystart -mmin -1438": "",
	} {
		p, stdout, stderr := newTestProcess(t, map[string]string{"f": ""}, strings.Fields("find f "+tests)...)
		info, err := p.Stat(t.Context(), "f")
		if err != nil {
			t.Fatal(err)
		}
		year, month, day := info.ModTime.UTC().Date()
		p.Now = func() time.Time { return time.Date(year, month, day+1, 0, 1, 0, 0, time.UTC) }
		if status := find(t.Context(), p); status != 0 || stdout.String() != want {
			t.Errorf("find f %s = %q, %s, status %d; want %q", tests, stdout, stderr, status, want)
		}
	}
}

// locked is a file system in which the directory "locked" cannot be listed.
type locked struct{ *memory.FS }

// Ls implements [workspace.FileSystem].
func (l locked) Ls(ctx context.Context, dir string, opts *workspace.LsOptions) ([]workspace.FileInfo, error) {
	if dir == "locked" {
		return nil, &fs.PathError{Op: "ls", Path: dir, Err: fs.ErrPermission}
	}
	return l.FS.Ls(ctx, dir, opts)
}

// Walk implements [workspace.Walker].
func (l locked) Walk(ctx context.Context, dir string, opts *workspace.WalkOptions, fn workspace.WalkFunc) error {
	return fallback.Walk(ctx, l, dir, opts, fn)
}

// TestFindUnreadable says which directories find cannot read, as the real one does.
func TestFindUnreadable(t *testing.T) {
	t.Parallel()
	fsys := memory.New(nil)
	for _, name := range []string{"a/x", "locked/x", "z/x"} {
		if _, err := fsys.WriteFile(t.Context(), name, nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	ws := workspace.New("repo", locked{fsys}, nil)
	for line, want := range map[string]string{
		"find .": ".\n./a\n./a/x\n./locked\n./z\n./z/x\n", "find -name x": "./a/x\n./z/x\n", "find -type f -size -9": "./a/x\n./z/x\n", "find -depth -name x": "./z/x\n./a/x\n", "find locked/": "locked/\n",
	} {
		stdout, stderr, status := run(t, ws, "", line)
		if stdout != want || !strings.HasPrefix(stderr, "find: '") || !strings.HasSuffix(stderr, "locked': Permission denied\n") && !strings.HasSuffix(stderr, "locked/': Permission denied\n") || status != 1 {
			t.Errorf("%s = %q, %q, status %d; want %q, that permission is denied, and status 1", line, stdout, stderr, status, want)
		}
	}
}

// TestRg has what rg prints. The real one does, too, but for the order of files.
func TestRg(t *testing.T) {
	t.Parallel()
	ws := memoryTree(t, map[string]string{
		"a.go": "package a\n\nfunc Foo() {}\n// foo\n", "b/b.py": "foo = 1\nbar = 2\n", ".hidden/x.go": "foo\n", "gen.go": "foo\n", ".gitignore": "gen.go\n",
		"b/bin": "foo\x00", "c/d e.txt": "x foo y foo\n", "nl": "no foo", "u": "größe\n",
	})
	for _, c := range []struct {
		line, want string
		status     int
	}{
		{"rg foo", "a.go:// foo\nb/b.py:foo = 1\nc/d e.txt:x foo y foo\nnl:no foo\n", 0},
		{"rg foo .", "./a.go:// foo\n./b/b.py:foo = 1\n./c/d e.txt:x foo y foo\n./nl:no foo\n", 0},
		{"rg -n foo b", "b/b.py:1:foo = 1\n", 0},
		{"rg foo a.go", "// foo\n", 0},
		{"rg -c foo", "a.go:1\nb/b.py:1\nc/d e.txt:1\nnl:1\n", 0},
		{"rg -l foo -g '*.go'", "a.go\n", 0},
		{"rg -l foo -g '!*.go' -g '!b'", "c/d e.txt\nnl\n", 0},
		{"rg -l foo -g 'b/**'", "b/b.py\n", 0},
		{"rg -l foo b -g 'b/*.py'", "b/b.py\n", 0},
		{"rg -l foo -tpy -tgo", "a.go\nb/b.py\n", 0},
		{"rg -l foo -Tpy", "a.go\nc/d e.txt\nnl\n", 0},
		{"rg -l foo --hidden", ".hidden/x.go\na.go\nb/b.py\nc/d e.txt\nnl\n", 0},
		{"rg -l foo --no-ignore", "a.go\nb/b.py\nc/d e.txt\ngen.go\nnl\n", 0},
		{"rg -luu foo", ".hidden/x.go\na.go\nb/b.py\nc/d e.txt\ngen.go\nnl\n", 0},
		{"rg -i -o foo a.go", "Foo\nfoo\n", 0},
		{"rg -S -c Foo a.go", "1\n", 0},
		{"rg -w -n 'fo+' a.go", "4:// foo\n", 0},
		{"rg -F 'Foo()' a.go", "func Foo() {}\n", 0},
		{"rg -n -A1 foo b", "b/b.py:1:foo = 1\nb/b.py-2-bar = 2\n", 0},
		{"rg -v foo b/b.py", "bar = 2\n", 0},
		{"rg --column foo c", "c/d e.txt:1:3:x foo y foo\n", 0},
		{"rg -o 'f(o+)' -r 'g$1' c", "c/d e.txt:goo\nc/d e.txt:goo\n", 0},
		{"rg 'f(o)o' -r '${1}-$0' c", "c/d e.txt:x o-foo y o-foo\n", 0},
		{"rg --heading -n foo b c", "b/b.py\n1:foo = 1\n\nc/d e.txt\n1:x foo y foo\n", 0},
		{"rg -m1 -n o a.go", "3:func Foo() {}\n", 0},
		{"rg '^gr\\wße$'", "u:größe\n", 0},
		{"rg --files", "a.go\nb/b.py\nb/bin\nc/d e.txt\nnl\nu\n", 0},
		{"rg --files -g '*.py' .", "./b/b.py\n", 0},
		{"rg --files-without-match foo b c nl u", "u\n", 0},
		{"rg --files-without-match package", "b/b.py\nc/d e.txt\nnl\nu\n", 0},
		{"rg -v -c foo", "a.go:3\nb/b.py:1\nu:1\n", 0},
		{"rg -q foo", "", 0},
		{"rg nothing", "", 1},
		{"rg --json foo", "", 2},
		{"rg '(?=a)'", "", 2},
		{"rg -t nope foo", "", 2},
		{"rg foo missing", "", 2},
	} {
		stdout, stderr, status := run(t, ws, "", c.line)
		if diff := cmp.Diff(c.want, stdout); diff != "" || status != c.status || (status == 2) != (stderr != "") {
			t.Errorf("%s: status %d, errors %q (-want +got):\n%s", c.line, status, stderr, diff)
		}
	}
	if stdout, _, status := run(t, ws, "x\nfoo\n", "rg -n foo"); stdout != "2:foo\n" || status != 0 {
		t.Errorf("rg -n foo of the standard input: %q, status %d", stdout, status)
	}
}
