package command

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/providers/localbash"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/workspace"
)

// linkFiles and links are a folder with symlinks.
var (
	linkFiles = map[string]string{"f": "f\n", "other": "other\n", "dir/x": "x\n", "dir/sub/y": "y\n", "loop/x": "x\n", "loop/two/y": "y\n"}
	links     = map[string]string{"to-f": "f", "to-other": "other", "to-dir": "dir", "dangling": "nothing", "dir/sub/to-x": "../x", "loop/one": "../loop", "loop/two/back": "../../loop"}
)

// linkTree makes the folder, and a workspace of it.
func linkTree(t *testing.T) (string, *workspace.Workspace) {
	t.Helper()
	dir := t.TempDir()
	writeTree(t, dir, linkFiles)
	for name, target := range links {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	fsys, err := localbash.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { fsys.Close() })
	return dir, workspace.New("repo", fsys, nil)
}

// TestLinks compares programs with the real ones in a folder with symlinks.
func TestLinks(t *testing.T) {
	t.Parallel()
	test := gnuTest{files: linkFiles}
	for _, line := range exhaustive.Sampled([]string{
		"mv to-f other", "mv to-f f", "mv f to-f", "mv other to-f", "mv to-f to-other", "mv to-f to-f", "mv f dangling", "mv dangling f", "mv to-dir f", "mv -T f to-dir", "mv to-f to-dir",
		"mv to-dir dir", "mv dir to-f", "mv dir to-dir", "mv dir/x to-dir/x", "mv to-dir/x dir", "mv to-dir/ new", "mv -n f to-f", "mv -v to-f new", "mv dir to-dir/sub",
		"cp to-f f", "cp f to-f", "cp to-f new", "cp dir/x to-dir/x", "cp to-f other",
		"cp f dangling", "cp -f f dangling", "cp -v f other dangling", "cp -n f dangling", "cp -u f dangling", "cp -T f dangling", "cp dangling new", "cp -r dir dangling", "cp -rT dir dangling", "cp f dangling/", "cp f to-f/",
		"find to-dir/ -delete", "find to-dir -delete", "find to-dir/sub -delete", "find to-dir/ -name x -delete", "find to-f -delete", "find to-f/ -delete", "find dangling -delete", "find dangling/ -delete", "find . -type l -delete", "find to-dir/. -delete", "find loop/one/ -delete",
		"find to-dir/. -name y", "find dir/. -delete", "find dir/sub/. dir -delete", "find ./ -name x -delete", "rm -d dir/sub/.", "rm -d dir/.", "rmdir dir/.", "rmdir .", "ls -d to-dir/.", "ls to-f/.", "cat f/.", "stat -c %F to-dir/. to-dir", "touch f/.", "test -d to-dir/.", "test -e f/.", "mv to-dir/. new", "mv f to-dir/.", "cp f to-dir/.", "env -C to-dir find . -name x", "env -C to-dir find -name x", "env -C to-dir find -name x -delete",

		"ls -L", "ls -LF dir to-f", "ls -LR dir", "ls -LR loop", "ls -LaR loop/two", "ls -LR to-dir", "ls -L dangling", "ls -LF loop", "ls -LRF loop",
		"rmdir to-dir", "rmdir to-dir/", "rm -d to-dir/", "rm to-dir", "rm -r to-dir", "rm -f to-f/", "rmdir to-f/",
	}, 3) {
		args := shellWords(t, line)
		c := gnuCase{args[1:], "empty"}
		dir, _ := linkTree(t)
		want := test.runReal(t, args[:1], c, "", dir) + treeOf(t, os.DirFS(dir), linkFiles)
		dir, ws := linkTree(t)
		if got := test.runOurs(t, args[0], c, "", ws) + treeOf(t, os.DirFS(dir), linkFiles); got != want {
			t.Errorf("%s\ngot:\n%s\nwant:\n%s", line, got, want)
		}
	}
}

// TestFollow compares searches and listings that follow symlinks with the real programs.
func TestFollow(t *testing.T) {
	t.Parallel()
	dir, ws := linkTree(t)
	test := gnuTest{files: linkFiles, normalize: sorted}
	for _, line := range exhaustive.Sampled([]string{
		"find -L", "find -L loop", "find -L loop/two", "find -L to-dir dangling to-f", "find -L dir -maxdepth 1", "find -L to-dir -maxdepth 2 -mindepth 1", "find -L . -name x", "find -L . -type l", "find -L . -type f -name 'to-*' -printf '%p|%y|%l|%s|%d\\n'", "find -L loop -depth", "find . -follow -type f", "find dir -follow -name to-x", "find -H to-dir to-f dangling", "find -H . -type l", "find -L -P -H to-dir", "find -L -P to-dir", "find -L . -name sub -prune -o -type d",
		"grep -R . dir", "grep -R .", "grep -Rl x to-dir dir", "grep -Rc . loop to-f", "grep -Rn . loop/two", "grep -R . dangling to-f", "grep -Rh . f to-f", "grep -Rv nothing dir to-dir", "grep -RL nothing dir to-other", "grep -Rz x dir", "grep -R --include=x . dir to-dir", "grep -R --include='to-*' . dir .", "grep -R --exclude-dir=sub . dir", "grep -R --exclude-dir=to-dir . dir to-other", "grep -Rs nothing .", "grep -Rq f dir", "grep -Rq y dir", "grep -r . to-dir dir", "grep -Rm1 . dir", "grep --dereference-recursive x dir", "grep -rR x dir", "grep -Rr x dir", "grep -Ri X dir/sub/to-x",
		"file -L to-f to-dir dangling f", "file -L -i to-f to-dir", "file -Lh f", "ls --format=single-column dir", "ls --format=foo", "ls --format=across f", "ls --quoting-style=literal dir", "ls --quoting-style=foo", "ls --format=verbose missing",
	}, 3) {
		args := shellWords(t, line)
		want := test.runReal(t, args[:1], gnuCase{args[1:], "empty"}, "", dir)
		if got := test.runOurs(t, args[0], gnuCase{args[1:], "empty"}, "", ws); got != want {
			t.Errorf("%s\ngot:\n%s\nwant:\n%s", line, got, want)
		}
	}
}

// TestLoops has messages of loops of symlinks, and of flags for symlinks that are refused.
func TestLoops(t *testing.T) {
	t.Parallel()
	_, ws := linkTree(t)
	for _, c := range []struct {
		line, want string
		status     int
	}{
		{"find -L loop -name nothing", "find: 'loop/one': File system loop detected\nfind: 'loop/two/back': File system loop detected\n", 1},
		{"grep -R nothing loop", "grep: loop/one: warning: recursive directory loop\ngrep: loop/two/back: warning: recursive directory loop\n", 1},
		{"grep -Rs nothing loop", "", 1}, {"grep -R nothing dangling", "grep: dangling: No such file or directory\n", 2},
		{"rg -L x", "rg: --follow is not possible here: symlinks are not followed\n", 2},
		{"du -L", "du: invalid option -- 'L'\nTry 'du --help' for more information.\n", 1},
		{"tree -l", "tree: invalid option -- 'l'\nTry 'tree --help' for more information.\n", 1},
		{"ls --format=commas", "ls: --format=commas is not possible here\n", 1},
		{"ls --quoting-style=c", "ls: --quoting-style=c is not possible here\n", 1},
	} {
		if _, stderr, status := run(t, ws, "", c.line); stderr != c.want || status != c.status {
			t.Errorf("%s prints %q and returns %d, want %q and %d", c.line, stderr, status, c.want, c.status)
		}
	}
	if got, _, status := run(t, ws, "", "du -D to-dir"); status != 0 || !strings.HasSuffix(got, "\tto-dir\n") || !strings.Contains(got, "\tto-dir/sub\n") {
		t.Errorf("du -D to-dir prints %q with status %d", got, status)
	}
}

// TestTargets shows what symlinks lead to, as absolute names.
func TestTargets(t *testing.T) {
	t.Parallel()
	_, ws := linkTree(t)
	lake := workspace.New("lake", memoryTree(t, linkFiles), nil)
	for _, c := range []struct{ line, want string }{
		{"tree /repo/dir", "/repo/dir\n├── sub\n│\u00a0\u00a0 ├── to-x -> /repo/dir/x\n│\u00a0\u00a0 └── y\n└── x\n\n2 directories, 3 files\n"},
		{"file -b /repo/dangling /repo/to-dir", "broken symbolic link to /repo/nothing\nsymbolic link to /repo/dir\n"},
		{"stat -c '%N %n' /repo/to-f /repo/f", "'/repo/to-f' -> '/repo/f' /repo/to-f\n'/repo/f' /repo/f\n"},
		{"ls -l --time-style=+T /repo/to-f /repo/dangling", "lrwxrwxrwx 1 root root 0 T /repo/dangling -> /repo/nothing\nlrwxrwxrwx 1 root root 0 T /repo/to-f -> /repo/f\n"},
		{"ls -l --time-style=+T /repo/dir/sub", "total 4\nlrwxrwxrwx 1 root root 0 T to-x -> /repo/dir/x\n-rw-r--r-- 1 root root 2 T y\n"},
	} {
		if got, stderr, _ := runIn(t, []*workspace.Workspace{ws, lake}, "", c.line); got != c.want || stderr != "" {
			t.Errorf("%s prints %q, %q, want %q", c.line, got, stderr, c.want)
		}
	}
	if got, _, _ := run(t, ws, "", "stat to-f"); !strings.HasPrefix(got, "  File: to-f -> /f\n  Size: 0 ") {
		t.Errorf("stat to-f prints %q", got)
	}
}

// TestQuestions compares what -i does after answers with the real programs.
func TestQuestions(t *testing.T) {
	t.Parallel()
	test := gnuTest{files: changeFiles}
	for _, line := range []string{
		"cp -i g h", "mv -i g h", "mv -if g h", "mv -fi g h", "cp -if g h", "cp -in g h", "cp -ni g h", "mv -nf g h", "mv -ni g h", "mv -in g h", "cp -i g h d new", "cp -iv g h a", "mv -iv g h a", "cp -ri a d", "cp -i g g", "mv -iT a e", "cp -i a new", "mv -i g new",
		"rm -i g h", "rm -iv g h", "rm -if g h", "rm -fi g missing", "rm -if missing", "rm -ri a/b", "rm -rvi a/b d/a", "rm -ri e g", "rm -i a", "rm -I g h a/g", "rm -I g h a/g d/old", "rm -rI a", "rm -rI a g h d/a", "rm -rfI a", "rm -iI g", "rm -Ii g",
	} {
		args := shellWords(t, line)
		for _, stdin := range []string{"", "y\n", "n\ny\n", "Yes\n\ny", "y\ny\nn\ny\n", "y\ny\ny\ny\ny\n"} {
			dir := t.TempDir()
			writeTree(t, dir, changeFiles)
			want := test.runReal(t, args[:1], gnuCase{args[1:], "empty"}, stdin, dir) + treeOf(t, os.DirFS(dir), changeFiles)
			ws := memoryTree(t, changeFiles)
			if got := test.runOurs(t, args[0], gnuCase{args[1:], "empty"}, stdin, ws) + treeOf(t, ws.FS(t.Context()), changeFiles); got != want {
				t.Errorf("%s < %q\ngot:\n%s\nwant:\n%s", line, stdin, got, want)
			}
		}
	}
}

// TestReadlink names what symlinks lead to.
func TestReadlink(t *testing.T) {
	t.Parallel()
	_, ws := linkTree(t)
	for _, c := range []struct {
		line, want string
		status     int
	}{
		{"readlink to-f dangling dir/sub/to-x", "/f\n/nothing\n/dir/x\n", 0},
		{"readlink to-dir/x loop/two/back", "/loop\n", 1},
		{"readlink -f to-dir/x to-dir/new dangling", "/dir/x\n/dir/new\n/nothing\n", 0},
		{"readlink -f dangling/x to-f/x", "", 1},
		{"readlink -e dangling to-f", "/f\n", 1},
		{"readlink -m dangling/x/y to-f/x", "/nothing/x/y\n/f/x\n", 0},
		{"realpath dangling", "/nothing\n", 0},
		{"realpath -s dangling", "/dangling\n", 0},
		{"readlink -nf loop/one/two/back", "/loop", 0},
		{"find dir dangling f -printf '%p %10l|\\n'", "dir           |\ndir/sub           |\ndir/sub/to-x     /dir/x|\ndir/sub/y           |\ndir/x           |\ndangling   /nothing|\nf           |\n", 0},
	} {
		args := shellWords(t, c.line)
		p, stdout, _ := newTestProcess(t, nil, args...)
		p.Files = NewFiles([]*workspace.Workspace{ws}, nil, Hooks{})
		if status := Programs[args[0]](t.Context(), p); status != c.status || stdout.String() != c.want {
			t.Errorf("%s = %d, %q, want %d, %q", c.line, status, stdout, c.status, c.want)
		}
	}
}

// TestCopyLinks copies directories with symlinks, which can lead back to them.
func TestCopyLinks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		line, want, stderr string
		status             int
	}{
		{"cp -r dir new", "new/ new/sub/ new/sub/y new/x", "cp: cannot create symbolic link 'new/sub/to-x': a workspace cannot create any; -L copies what it leads to\n", 1},
		{"cp -r to-dir/sub new", "new/ new/y", "cp: cannot create symbolic link 'new/to-x': a workspace cannot create any; -L copies what it leads to\n", 1},
		{"cp -rL to-dir new", "new/ new/sub/ new/sub/to-x new/sub/y new/x", "", 0},
		{"cp -rL loop new", "new/ new/two/ new/two/y new/x", "cp: cannot copy cyclic symbolic link 'loop/one'\ncp: cannot copy cyclic symbolic link 'loop/two/back'\n", 1},
		{"cp -r loop new", "new/ new/two/ new/two/y new/x", "cp: cannot create symbolic link 'new/one': a workspace cannot create any; -L copies what it leads to\ncp: cannot create symbolic link 'new/two/back': a workspace cannot create any; -L copies what it leads to\n", 1},
		{"cp -P to-f new", "", "cp: cannot create symbolic link 'new': a workspace cannot create any; -L copies what it leads to\n", 1},
		{"cp -a to-f dangling new", "", "cp: target 'new': No such file or directory\n", 1},
		{"cp -a to-f dir/x .", "", "cp: cannot create symbolic link './to-f': a workspace cannot create any; -L copies what it leads to\n", 1},
		{"cp -d to-dir new", "", "cp: cannot create symbolic link 'new': a workspace cannot create any; -L copies what it leads to\n", 1},
		{"cp -aL to-f new", "new", "", 0}, {"cp -P f new", "new", "", 0}, {"cp -r to-dir/ new", "new/ new/sub/ new/sub/y new/x", "cp: cannot create symbolic link 'new/sub/to-x': a workspace cannot create any; -L copies what it leads to\n", 1},
		{"cp f dangling", "", "cp: not writing through dangling symlink 'dangling'\n", 1},
		{"cp -r dir to-dir/new", "", "cp: cannot copy a directory, 'dir', into itself, 'to-dir/new'\n", 1},
		{"cp -rL to-dir dir/new", "", "cp: cannot copy a directory, 'to-dir', into itself, 'dir/new'\n", 1},
		{"cp -R to-dir new", "", "cp: cannot create symbolic link 'new': a workspace cannot create any; -L copies what it leads to\n", 1},
		{"cp -r to-f dangling dir", "", "cp: cannot create symbolic link 'dir/to-f': a workspace cannot create any; -L copies what it leads to\ncp: cannot create symbolic link 'dir/dangling': a workspace cannot create any; -L copies what it leads to\n", 1},
		{"cp -RH to-dir new", "new/ new/sub/ new/sub/y new/x", "cp: cannot create symbolic link 'new/sub/to-x': a workspace cannot create any; -L copies what it leads to\n", 1},
		{"cp -aH to-f new", "new", "", 0}, {"cp -RL to-f new", "new", "", 0},
		{"rm -r to-dir/", "", "rm: cannot remove 'to-dir/': Not a directory\n", 1},
		{"rm -rv to-dir/", "", "rm: cannot remove 'to-dir/': Not a directory\n", 1},
	} {
		dir, ws := linkTree(t)
		_, stderr, status := run(t, ws, "", c.line)
		var names []string
		for line := range strings.Lines(treeOf(t, os.DirFS(dir), linkFiles)) {
			name, _, _ := strings.Cut(strings.TrimSpace(line), ":")
			if strings.HasPrefix(name, "new") || strings.HasPrefix(name, "dir/new") {
				names = append(names, name)
			}
		}
		if got := strings.Join(names, " "); got != c.want || stderr != c.stderr || status != c.status {
			t.Errorf("%s makes %q, prints %q, and returns %d, want %q, %q and %d", c.line, got, stderr, status, c.want, c.stderr, c.status)
		}
	}
}

// TestSameFile compares names in two workspaces.
func TestSameFile(t *testing.T) {
	t.Parallel()
	_, ws := linkTree(t)
	other := memoryTree(t, linkFiles)
	lake := workspace.New("lake", other, nil)
	for line, want := range map[string]int{
		"test /repo/f -ef /lake/f": 1, "test /repo/f -ef /repo/./f": 0, "test /repo/f -ef /repo/to-f": 0, "test /repo/dir/x -ef /repo/to-dir/x": 0, "test /repo/f -ef /repo/other": 1, "test /repo/no -ef /repo/no": 1, "test /tmp -ef /lake": 1,
	} {
		if _, stderr, status := runIn(t, []*workspace.Workspace{ws, lake}, "", line); status != want || stderr != "" {
			t.Errorf("%s returns %d and prints %q, want %d", line, status, stderr, want)
		}
	}
}

// TestMoveLinks moves symlinks, and directories with some, to another workspace, which cannot
// create them. Both workspaces stay as they were.
func TestMoveLinks(t *testing.T) {
	t.Parallel()
	for line, link := range map[string]string{
		"mv /repo/to-other /lake/f": "/lake/f", "mv /repo/to-other /lake": "/lake/to-other", "mv /repo/dangling /lake/f": "/lake/f", "mv -T /repo/to-dir /lake/new": "/lake/new",
		"mv /repo/dir /lake": "/lake/dir/sub/to-x", "mv -T /repo/dir /lake/empty": "/lake/empty/sub/to-x", "mv /repo/loop /lake/empty": "/lake/empty/loop/one",
	} {
		dir, ws := linkTree(t)
		lake := workspace.New("lake", memoryTree(t, map[string]string{"f": "f\n"}), nil)
		if err := lake.Mkdir(t.Context(), "empty", nil); err != nil {
			t.Fatal(err)
		}
		before, lakeBefore := treeOf(t, os.DirFS(dir), linkFiles), treeOf(t, lake.FS(t.Context()), linkFiles)
		_, stderr, status := runIn(t, []*workspace.Workspace{ws, lake}, "", line)
		if want := "cannot create symbolic link '" + link + "': a workspace cannot create any\n"; status != 1 || !strings.HasSuffix(stderr, want) {
			t.Errorf("%s prints %q and returns %d, want %q and 1", line, stderr, status, want)
		}
		if after, lakeAfter := treeOf(t, os.DirFS(dir), linkFiles), treeOf(t, lake.FS(t.Context()), linkFiles); after != before || lakeAfter != lakeBefore {
			t.Errorf("%s leaves\n%s%s, want\n%s%s", line, after, lakeAfter, before, lakeBefore)
		}
	}
}

// TestMoveOverLink moves a file over a symlink, which is moved aside meanwhile: no other file is in
// the way, and no name is too long for it.
func TestMoveOverLink(t *testing.T) {
	t.Parallel()
	for _, link := range []string{"link", strings.Repeat("n", 255), strings.Repeat("é", 127)} {
		dir, ws := linkTree(t)
		if err := os.Symlink("../other", filepath.Join(dir, "dir", link)); err != nil {
			t.Fatal(err)
		}
		writeTree(t, dir, map[string]string{"dir/link.mv~": "another\n"})
		line := "mv /f /dir/" + link
		if stdout, stderr, status := runIn(t, []*workspace.Workspace{ws}, "", line); stdout+stderr != "" || status != 0 {
			t.Errorf("%s prints %q and returns %d", line, stdout+stderr, status)
		}
		for name, want := range map[string]string{"dir/" + link: "f\n", "dir/link.mv~": "another\n", "other": "other\n"} {
			if data, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(data) != want {
				t.Errorf("after %s, %s has %q, %v, want %q", line, name, data, err, want)
			}
		}
		if children, err := ws.Ls(t.Context(), "dir", nil); err != nil || len(children) != 4 {
			t.Errorf("after %s, dir has %v, %v, want 4 names", line, children, err)
		}
	}
}

// canceling is a file system whose move from f or d ends the context, before it or after it.
type canceling struct {
	*localbash.FS
	cancel context.CancelFunc
	before bool
}

func (c canceling) Move(ctx context.Context, from, to string) error {
	if own := from == "f" || from == "d"; own && c.before {
		c.cancel()
		return ctx.Err()
	} else if own {
		defer c.cancel()
	}
	return c.FS.Move(ctx, from, to)
}

// TestMoveCanceled ends moves that replace a symlink or an empty directory after they have begun:
// all is as before, or has moved.
func TestMoveCanceled(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		line, want string
		before     bool
	}{
		{"mv -T f link", "d d/x e link", false}, {"mv -T f link", "d d/x e f link", true},
		{"mv -T d e", "e e/x f link", false}, {"mv -T d e", "d d/x e f link", true},
	} {
		dir := t.TempDir()
		writeTree(t, dir, map[string]string{"f": "f", "d/x": "x"})
		if err := errors.Join(os.Symlink("d", filepath.Join(dir, "link")), os.Mkdir(filepath.Join(dir, "e"), 0o755)); err != nil {
			t.Fatal(err)
		}
		fsys, err := localbash.Open(dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer fsys.Close()
		ctx, cancel := context.WithCancel(t.Context())
		p, _, stderr := newTestProcess(t, nil, strings.Fields(c.line)...)
		p.Files = NewFiles([]*workspace.Workspace{workspace.New("repo", canceling{fsys, cancel, c.before}, nil)}, workspace.New("scratch", memory.New(nil), nil), Hooks{})
		mv(ctx, p)
		cancel()
		got, err := fsys.Glob(t.Context(), "**", nil)
		dirs, err2 := fsys.Glob(t.Context(), "**/", nil)
		got = append(got, dirs...)
		if slices.Sort(got); strings.Join(got, " ") != c.want || err != nil || err2 != nil {
			t.Errorf("%s (before: %t) prints %q and leaves %v, %v, %v, want %s", c.line, c.before, stderr, got, err, err2, c.want)
		}
	}
}

// TestRgLinks searches and lists a folder with symlinks, which rg does not follow.
func TestRgLinks(t *testing.T) {
	t.Parallel()
	_, ws := linkTree(t)
	const files = "dir/sub/y\ndir/x\nf\nloop/two/y\nloop/x\nother\n"
	for line, want := range map[string]string{
		"rg --files": files, "rg --files-without-match nothing": files, "rg -cv nothing": strings.ReplaceAll(files, "\n", ":1\n"),
		"rg --files --no-ignore": files, "rg --files to-dir": "to-dir/sub/y\nto-dir/x\n", "rg --files to-f": "to-f\n",
	} {
		if got, stderr, status := run(t, ws, "", line); got != want || stderr != "" || status != 0 {
			t.Errorf("%s = %q, %q, status %d; want %q", line, got, stderr, status, want)
		}
	}
}
