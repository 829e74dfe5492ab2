package command

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/workspace"
)

// contents returns the files of a workspace.
func contents(t *testing.T, ws *workspace.Workspace) map[string]string {
	t.Helper()
	files := map[string]string{}
	names, err := ws.Glob(t.Context(), "**", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		data, err := ws.ReadFile(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = string(data)
	}
	return files
}

// TestPatch applies patches, and the other way round.
func TestPatch(t *testing.T) {
	t.Parallel()
	const (
		modify = "--- a/x\t2020-01-01\n+++ b/x\t2020-01-02\n@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n"
		create = "--- /dev/null\n+++ b/d/new\n@@ -0,0 +1 @@\n+hello\n"
		remove = "--- a/y\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n"
	)
	start := map[string]string{"x": "1\n2\n3\n", "y": "gone\n", "d/z": "z\n", "d/x": "1\n2\n3\n", "p.diff": modify}
	with := func(changes map[string]string) map[string]string {
		files := maps.Clone(start)
		for name, content := range changes {
			if files[name] = content; content == "" {
				delete(files, name)
			}
		}
		return files
	}
	for _, c := range []struct {
		line, stdin, want string
		status            int
		files             map[string]string
	}{
		{"patch -p1", modify, "patching file x\n", 0, with(map[string]string{"x": "1\ntwo\n3\n"})},
		{"patch -p1 -i p.diff", "", "patching file x\n", 0, with(map[string]string{"x": "1\ntwo\n3\n"})},
		{"patch", modify, "patching file x\n", 0, with(map[string]string{"x": "1\ntwo\n3\n"})},
		{"patch -p1 -d d", modify, "patching file x\n", 0, with(map[string]string{"d/x": "1\ntwo\n3\n"})},
		{"patch d/x p.diff", "", "patching file d/x\n", 0, with(map[string]string{"d/x": "1\ntwo\n3\n"})},
		{"patch d/x", "some text\n@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n", "patching file d/x\n", 0, with(map[string]string{"d/x": "1\ntwo\n3\n"})},
		{"patch -R -d d x", "@@ -1,3 +1,3 @@\n 1\n-9\n+2\n 3\n", "patching file x\n", 0, with(map[string]string{"d/x": "1\n9\n3\n"})},
		{"patch -p1", "@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n", "", 2, start},
		{"patch -p0", strings.ReplaceAll(strings.ReplaceAll(modify, "a/x", "x"), "b/x", "x"), "patching file x\n", 0, with(map[string]string{"x": "1\ntwo\n3\n"})},
		{"patch -p1 --dry-run", modify + remove, "checking file x\nchecking file y\n", 0, start},
		{"patch -p1 -s", modify + create + remove, "", 0, with(map[string]string{"x": "1\ntwo\n3\n", "d/new": "hello\n", "y": ""})},
		{"patch -p1", "diff --git a/x b/x\nindex 1..2 100644\n" + modify, "patching file x\n", 0, with(map[string]string{"x": "1\ntwo\n3\n"})},
		{"patch -p1 -R", "--- a/x\n+++ b/x\n@@ -1,2 +1,3 @@\n 1\n+2\n 3\n", "patching file x\n", 0, with(map[string]string{"x": "1\n3\n"})},
		{"patch -p1 -R", "--- /dev/null\n+++ b/y\n@@ -0,0 +1 @@\n+gone\n", "patching file y\n", 0, with(map[string]string{"y": ""})},
		{"patch -p1", strings.ReplaceAll(modify, "-2", "-9") + remove, "", 1, start},
		{"patch -p1", "no patch at all\n", "", 2, start},
		{"patch -p1 -i missing", "", "", 2, start},
		{"patch -p1", `diff --git "a/caf\303\251" "b/caf\303\251"` + "\nnew file mode 100644\nindex 0..1\n--- /dev/null\n" + `+++ "b/caf\303\251"` + "\n@@ -0,0 +1 @@\n+hello\n", "patching file café\n", 0, with(map[string]string{"café": "hello\n"})},
		{"patch -p1 -R", "--- /dev/null\n" + `+++ "b/y"` + "\n@@ -0,0 +1 @@\n+gone\n", "patching file y\n", 0, with(map[string]string{"y": ""})},
		{"patch -p1", "--- /dev/null\n" + `+++ "b/t\tab\"\\x"` + "\n@@ -0,0 +1 @@\n+hello\n", "patching file t\tab\"\\x\n", 0, with(map[string]string{"t\tab\"\\x": "hello\n"})},
		{"patch 't\tab'", "@@ -0,0 +1 @@\n+hello\n", "patching file t\tab\n", 0, with(map[string]string{"t\tab": "hello\n"})},
		{"patch -p1", "--- /dev/null\n+++ \"b/y\".txt\n@@ -0,0 +1 @@\n+hello\n", "patching file y\".txt\n", 0, with(map[string]string{"y\".txt": "hello\n"})},
		{"patch -p1", "--- /dev/null\r\n+++ \"b/q\" \t2020\r\n@@ -0,0 +1 @@\r\n+hello\r\n", "patching file q\n", 0, with(map[string]string{"q": "hello\r\n"})},
		{"patch 't\t\u200b\x7f'", "@@ -0,0 +1 @@\n+hello\n", "patching file t\t\u200b\x7f\n", 0, with(map[string]string{"t\t\u200b\x7f": "hello\n"})},
		// Of an empty or binary file, git writes no lines --- and +++.
		{"patch -p1", "diff --git a/d/z b/d/z\ndeleted file mode 100644\nindex e69de29..0000000\ndiff --git a/x b/x\nindex 1..2 100644\n" + modify, "", 2, start},
		{"patch -p1", "diff --git a/x b/x\n" + modify + "diff --git a/n b/n\nnew file mode 100644\nindex 0000000..e69de29\n", "", 2, start},
		{"patch -p1", "diff --git a/b b/b\nindex 1..2 100644\nBinary files a/b and b/b differ\ndiff --git a/x b/x\n" + modify, "", 2, start},
		{"patch -p1", "diff --git a/b b/b\r\nindex 1..2 100644\r\nBinary files a/b and b/b differ\r\ndiff --git a/x b/x\r\n" + modify, "", 2, start},
		{"patch -p1", "diff --git a/x b/x\nindex 1..2 100644\n" + modify + "\nBinary files a and b differ\nnew file mode 1\n\ndiff --git a/y b/y\ndeleted file mode 100644\n" + remove, "patching file x\npatching file y\n", 0, with(map[string]string{"x": "1\ntwo\n3\n", "y": ""})},
		{"patch -p1", "Binary files a/b and b/b differ\n" + modify, "patching file x\n", 0, with(map[string]string{"x": "1\ntwo\n3\n"})},
		{"patch -p1", strings.ReplaceAll(modify, "a/x", "a/../../x"), "patching file x\n", 0, with(map[string]string{"x": "1\ntwo\n3\n"})},
	} {
		ws := memoryTree(t, start)
		stdout, stderr, status := run(t, ws, c.stdin, c.line)
		if stdout != c.want || status != c.status || (status != 0) != (stderr != "") {
			t.Errorf("%s < %q = %q, %q, status %d; want %q, status %d", c.line, c.stdin, stdout, stderr, status, c.want, c.status)
		}
		if diff := cmp.Diff(c.files, contents(t, ws)); diff != "" {
			t.Errorf("%s < %q: files (-want +got):\n%s", c.line, c.stdin, diff)
		}
	}
}

// TestPatchLines says in which line a patch is wrong.
func TestPatchLines(t *testing.T) {
	t.Parallel()
	head := "diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n"
	for text, want := range map[string]string{
		head + "@@ -1,3 +1,3 @@\n 1\n-2\n!two\n 3\n":                                    "line 8 of",
		head + "@@ -1,2 +1,2 @@\n 1\n-2\n+two\n" + head + "@@ -1,3 +1,3 @@\n 1\n!two\n": "line 15 of",
		"text\n" + head + "@@ -1,3 +1,3 @@\n 1\n!two\n":                                 "line 8 of",
	} {
		_, stderr, status := run(t, memoryTree(t, map[string]string{"x": "1\n2\n3\n"}), text, "patch -p1")
		if !strings.Contains(stderr, want) || status != 2 {
			t.Errorf("patch of %q prints %q and returns %d, want %q and 2", text, stderr, status, want)
		}
	}
}

// TestPatchReal compares with the real patch: what that applies as it is, ours applies in the
// same way, and what that cannot apply leaves all files as they are.
func TestPatchReal(t *testing.T) {
	t.Parallel()
	exhaustive.NotShort(t, "runs patch many times")
	exhaustive.Program(t, "patch")
	hunks := regexp.MustCompile(`(?m)^(Hunk|\(Stripping) .*\n`)
	test := gnuTest{changes: true, files: patchFiles, normalize: func(output string) string { return hunks.ReplaceAllString(output, "") }}
	applied := 0
	flags := exhaustive.Sampled([]string{"", "-p1", "-p0", "-p1 -s", "-p1 --dry-run", "-p1 -N", "-p2", "-p1 -d sub", "--strip=1", "-p1 --quiet", "-p1 -d missing"}, 3)
	for _, flags := range flags {
		for _, operands := range []string{"-i modify.diff", "-i create.diff", "-i remove.diff", "-i two.diff", "-i git.diff", "-i nonl.diff", "-i stale.diff", "-i offset.diff", "-i empty", "-i text", "-i missing", "-i crlf.diff", "v1 modify.diff", "v1 -i stale.diff", "sub/v1 -i modify.diff", "-d sub -p1 -i ../modify.diff"} {
			if strings.Contains(flags, "-d ") && strings.Contains(operands, "-d ") {
				continue // the real one goes to both
			}
			c := gnuCase{shellWords(t, "-f --no-backup-if-mismatch "+flags+" "+operands), "empty"}
			dir := t.TempDir()
			writeTree(t, dir, test.allFiles())
			want := test.runReal(t, []string{"patch"}, c, "", dir)
			got := test.runOurs(t, "patch", c, "", memoryTree(t, test.allFiles()))
			_, tree, _ := strings.Cut(got, " errors\n")
			switch isRight := strings.Contains(want, "\nstatus 0,"); {
			case isRight && got != want:
				t.Errorf("patch %v\ngot:\n%s\nwant:\n%s", c, got, want)
			case !isRight && (strings.Contains(got, "\nstatus 0,") || tree != "sub/"):
				t.Errorf("patch %v\ngot:\n%s\nwant a failure that changes nothing; the real one has:\n%s", c, got, want)
			case isRight:
				applied++
			}
		}
	}
	if applied == 0 || applied < 50 && exhaustive.IsLong() {
		t.Errorf("%d patches could be applied", applied)
	}
}

// TestPatchReverses applies generated diffs, forwards and backwards.
func TestPatchReverses(t *testing.T) {
	t.Parallel()
	ws := memoryTree(t, diffFiles)
	for _, names := range []string{"v1 v2", "v1 v3", "code1 code2", "blank1 blank2", "repeat1 repeat2", "v4 v5", "spaces1 spaces2"} {
		old, now, _ := strings.Cut(names, " ")
		text, _, _ := run(t, ws, "", "diff -u "+names)
		copied := memoryTree(t, map[string]string{"f": diffFiles[old]})
		if _, stderr, status := run(t, copied, text, "patch f"); status != 0 || contents(t, copied)["f"] != diffFiles[now] {
			t.Errorf("diff -u %s: patch ends with %d, %s: %q", names, status, stderr, contents(t, copied)["f"])
		}
		if _, stderr, status := run(t, copied, text, "patch -R f"); status != 0 || contents(t, copied)["f"] != diffFiles[old] {
			t.Errorf("diff -u %s: patch -R ends with %d, %s: %q", names, status, stderr, contents(t, copied)["f"])
		}
	}
}

// failing is a file system whose removals fail after some.
type failing struct {
	*memory.FS
	removals int          // that succeed
	edit     func() error // by somebody else, nil for none, when one fails
}

var errFull = errors.New("the store is out of order")

// Rm removes the first file of a directory, and then fails.
func (f *failing) Rm(ctx context.Context, name string, opts *workspace.RmOptions) error {
	if f.removals--; f.removals >= 0 {
		return f.FS.Rm(ctx, name, opts)
	}
	if names, err := f.FS.Glob(ctx, "**", &workspace.GlobOptions{Dir: name}); err == nil && len(names) > 0 {
		if err := f.FS.Rm(ctx, names[0], nil); err != nil {
			return err
		}
	}
	if f.edit != nil {
		return errors.Join(errFull, f.edit())
	}
	return errFull
}

// TestMoveUndone moves between workspaces, where the removal fails half way: what was
// there is there again.
func TestMoveUndone(t *testing.T) {
	t.Parallel()
	for line, removals := range map[string]int{"mv /a/dir /b/new": 0, "mv /a/dir/ /b/new": 0, "mv /a/file /b/new": 0, "mv /a/file /b/there": 0, "mv /a/file /a/other": 0} {
		fsys := &failing{memory.New(nil), removals, nil}
		a, b := workspace.New("a", fsys, nil), workspace.New("b", memory.New(nil), nil)
		for name, content := range map[string]string{"dir/1": "1", "dir/sub/2": "2", "file": "f", "other": "o"} {
			if _, err := a.WriteFile(t.Context(), name, []byte(content), nil); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := b.WriteFile(t.Context(), "there", []byte("t"), nil); err != nil {
			t.Fatal(err)
		}
		before := []map[string]string{contents(t, a), contents(t, b)}
		stdout, stderr, status := runIn(t, []*workspace.Workspace{a, b}, "", line)
		if status != 1 || stdout != "" || !strings.Contains(stderr, "out of order") {
			t.Errorf("%s = %q, %q, status %d; want an error", line, stdout, stderr, status)
		}
		if diff := cmp.Diff(before, []map[string]string{contents(t, a), contents(t, b)}); diff != "" {
			t.Errorf("%s changed (-before +after):\n%s", line, diff)
		}
		fsys.removals = 100
		if _, stderr, status := runIn(t, []*workspace.Workspace{a, b}, "", line); status != 0 {
			t.Errorf("%s, where removals succeed: %s", line, stderr)
		}
	}
}

// editing is a file system where somebody else edits a file once another has been written.
type editing struct {
	*memory.FS
	edit func() error
}

func (e editing) WriteFile(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
	version, err := e.FS.WriteFile(ctx, name, data, opts)
	return version, errors.Join(err, e.edit())
}

// TestMoveOvertaken moves a file by a copy while somebody else edits it. The edit stays, and so
// does what was at the new name.
func TestMoveOvertaken(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"mv /a/file /b/new", "mv /a/file /b/there", "mv /a/file /a/other"} {
		files, others := memory.New(nil), memory.New(nil)
		edit := sync.OnceValue(func() error {
			_, err := files.WriteFile(t.Context(), "file", []byte("edited"), nil)
			return err
		})
		for fsys, names := range map[*memory.FS][]string{files: {"file", "other"}, others: {"there"}} {
			for _, name := range names {
				if _, err := fsys.WriteFile(t.Context(), name, []byte(name), nil); err != nil {
					t.Fatal(err)
				}
			}
		}
		a, b := workspace.New("a", editing{files, edit}, nil), workspace.New("b", editing{others, edit}, nil)
		if _, stderr, status := runIn(t, []*workspace.Workspace{a, b}, "", line); status != 1 || !strings.Contains(stderr, "has changed") {
			t.Errorf("%s = %q, status %d; want an error, as the file has changed", line, stderr, status)
		}
		want := []map[string]string{{"file": "edited", "other": "other"}, {"there": "there"}}
		if diff := cmp.Diff(want, []map[string]string{contents(t, a), contents(t, b)}); diff != "" {
			t.Errorf("after %s (-want +got):\n%s", line, diff)
		}
	}
}

// TestMoveUndoneOvertaken moves by a copy that somebody else edits before the removal fails. The
// edit stays.
func TestMoveUndoneOvertaken(t *testing.T) {
	t.Parallel()
	for line, copied := range map[string]string{"mv /a/dir /b/new": "new/2", "mv /a/file /b/new": "new", "mv /a/file /b/there": "there", "mv /a/file /a/other": "other"} {
		files, others := &failing{FS: memory.New(nil)}, memory.New(nil)
		theirs := others
		if copied == "other" {
			theirs = files.FS
		}
		files.edit = func() error {
			_, err := theirs.WriteFile(t.Context(), copied, []byte("theirs"), nil)
			return err
		}
		for fsys, names := range map[*memory.FS][]string{files.FS: {"dir/1", "dir/2", "file", "other"}, others: {"there"}} {
			for _, name := range names {
				if _, err := fsys.WriteFile(t.Context(), name, []byte(name), nil); err != nil {
					t.Fatal(err)
				}
			}
		}
		a, b := workspace.New("a", files, nil), workspace.New("b", others, nil)
		want := []map[string]string{contents(t, a), contents(t, b)}
		want[map[*memory.FS]int{files.FS: 0, others: 1}[theirs]][copied] = "theirs"
		if _, stderr, status := runIn(t, []*workspace.Workspace{a, b}, "", line); status != 1 || !strings.Contains(stderr, "out of order") {
			t.Errorf("%s = %q, status %d; want an error", line, stderr, status)
		}
		if diff := cmp.Diff(want, []map[string]string{contents(t, a), contents(t, b)}); diff != "" {
			t.Errorf("after %s (-want +got):\n%s", line, diff)
		}
	}
}

// TestMoveDirOvertaken moves a directory by a copy while somebody else edits, creates or replaces
// something in it. What they have done stays, and so does the rest.
func TestMoveDirOvertaken(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string]func(ctx context.Context, fsys *memory.FS) error{
		"edited": func(ctx context.Context, fsys *memory.FS) error {
			_, err := fsys.WriteFile(ctx, "dir/1", []byte("theirs"), nil)
			return err
		},
		"created": func(ctx context.Context, fsys *memory.FS) error {
			_, err := fsys.WriteFile(ctx, "dir/sub/3", []byte("theirs"), nil)
			return err
		},
		"replaced": func(ctx context.Context, fsys *memory.FS) error {
			err := fsys.Rm(ctx, "dir/empty", nil)
			_, writeErr := fsys.WriteFile(ctx, "dir/empty", []byte("theirs"), nil)
			return errors.Join(err, writeErr)
		},
	} {
		files, copies := memory.New(nil), memory.New(nil)
		for _, name := range []string{"dir/1", "dir/sub/2", "dir/z"} {
			if _, err := files.WriteFile(t.Context(), name, []byte(name), nil); err != nil {
				t.Fatal(err)
			}
		}
		if err := files.Mkdir(t.Context(), "dir/empty", nil); err != nil {
			t.Fatal(err)
		}
		var want map[string]string
		a := workspace.New("a", files, nil)
		b := workspace.New("b", editing{copies, func() error {
			if _, err := copies.Stat(t.Context(), "new/z"); err != nil {
				return nil // before the last copy
			}
			err := edit(t.Context(), files)
			want = contents(t, a)
			return err
		}}, nil)
		if _, stderr, status := runIn(t, []*workspace.Workspace{a, b}, "", "mv /a/dir /b/new"); status != 1 {
			t.Errorf("%s: mv = %q, status %d; want an error", name, stderr, status)
		}
		if diff := cmp.Diff([]map[string]string{want, {}}, []map[string]string{contents(t, a), contents(t, b)}); diff != "" {
			t.Errorf("%s: after mv (-want +got):\n%s", name, diff)
		}
	}
}

// stuck is a file system that creates no file z, nor anything after it, and whose removals take
// time, and fail after some if that is not negative.
type stuck struct {
	*memory.FS
	time     time.Duration
	removals int
}

func (s *stuck) Rm(ctx context.Context, name string, opts *workspace.RmOptions) error {
	if s.removals--; s.removals == -1 {
		return errFull
	}
	select {
	case <-time.After(s.time):
		return s.FS.Rm(ctx, name, opts)
	case <-ctx.Done():
		return &fs.PathError{Op: "rm", Path: name, Err: ctx.Err()}
	}
}

func (s *stuck) WriteFile(ctx context.Context, name string, data []byte, opts *workspace.WriteOptions) (workspace.Version, error) {
	if path.Base(name) == "z" {
		return "", errFull
	}
	return s.FS.WriteFile(ctx, name, data, opts)
}

// TestMoveUndoneSlowly moves a directory of 100 files by a copy that fails. All of the copy is
// removed, however long that takes, unless the context ends, or a removal fails.
func TestMoveUndoneSlowly(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		stuck         stuck
		timeout       time.Duration
		seconds, left int
		stderr        string
	}{
		{stuck{time: time.Second, removals: -9}, time.Hour, 101, 0, "mv: cannot move '/a/dir' to '/b/new': the store is out of order\n"},
		{stuck{time: time.Second, removals: -9}, 39500 * time.Millisecond, 69, 31, "mv: cannot move '/a/dir' to '/b/new': the store is out of order; and cannot remove copy '/b/new': context canceled\n"},
		{stuck{removals: 30}, time.Hour, 0, 1, "mv: cannot move '/a/dir' to '/b/new': the store is out of order; and cannot remove copy '/b/new': the store is out of order\n"},
	} {
		synctest.Test(t, func(t *testing.T) {
			files := memory.New(nil)
			for i := range 101 {
				name := strconv.Itoa(100 + i)
				if i == 100 {
					name = "z"
				}
				if _, err := files.WriteFile(t.Context(), "dir/"+name, nil, nil); err != nil {
					t.Fatal(err)
				}
			}
			c.stuck.FS = memory.New(nil)
			p, _, stderr := newTestProcess(t, nil, "mv", "/a/dir", "/b/new")
			p.Files = NewFiles([]*workspace.Workspace{workspace.New("a", files, nil), workspace.New("b", &c.stuck, nil)}, nil, Hooks{})
			ctx, cancel := context.WithTimeout(t.Context(), c.timeout)
			defer cancel()
			start := time.Now()
			mv(ctx, p)
			took := int(time.Since(start).Seconds())
			left, err := c.stuck.Glob(t.Context(), "new/*", nil)
			if stderr.String() != c.stderr || took != c.seconds || len(left) != c.left || err != nil {
				t.Errorf("mv prints %q after %d s and leaves %d files, %v, want %q, %d s and %d", stderr, took, len(left), err, c.stderr, c.seconds, c.left)
			}
		})
	}
}

// creating is a file system where somebody else creates the directory new before mv does, or puts a
// file into it after that.
type creating struct {
	*memory.FS
	before bool
}

func (c *creating) Mkdir(ctx context.Context, name string, opts *workspace.MkdirOptions) error {
	theirs := func() error {
		_, err := c.FS.WriteFile(ctx, name+"/2", []byte("theirs"), nil)
		return err
	}
	if c.before {
		return errors.Join(theirs(), c.FS.Mkdir(ctx, name, opts))
	}
	return errors.Join(c.FS.Mkdir(ctx, name, opts), theirs())
}

// TestMoveKeepsOthers moves a directory by a copy that fails. What somebody else has created
// there stays, and nothing else.
func TestMoveKeepsOthers(t *testing.T) {
	t.Parallel()
	for _, before := range []bool{true, false} {
		files := memory.New(nil)
		a, b := workspace.New("a", files, nil), workspace.New("b", &creating{memory.New(nil), before}, &workspace.Options{MaxFileSize: 10})
		dir := map[string]string{"dir/1": "1", "dir/3": "too large to copy"}
		for name, content := range dir {
			if _, err := a.WriteFile(t.Context(), name, []byte(content), nil); err != nil {
				t.Fatal(err)
			}
		}
		if _, stderr, status := runIn(t, []*workspace.Workspace{a, b}, "", "mv /a/dir /b/new"); status != 1 {
			t.Errorf("mv = %q, status %d; want an error", stderr, status)
		}
		want := []map[string]string{dir, {"new/2": "theirs"}}
		if diff := cmp.Diff(want, []map[string]string{contents(t, a), contents(t, b)}); diff != "" {
			t.Errorf("after mv (-want +got):\n%s", diff)
		}
	}
}
