package patch_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/internal/exhaustive"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/patch"
)

// tree is the files of a repository, by name.
type tree map[string]string

// git runs git in dir, without any configuration of this computer.
func git(dir string, stdin string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir),
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org")
	cmd.Stdin = strings.NewReader(stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, stderr.Bytes())
	}
	return string(out), nil
}

// put writes the files of a tree below dir.
func (files tree) put(dir string) error {
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// readTree returns the files below dir, without a repository.
func readTree(dir string) (tree, error) {
	files := tree{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == ".git":
			return fs.SkipDir
		case entry.IsDir():
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		files[filepath.ToSlash(name)] = string(data)
		return err
	})
	return files, err
}

// byGit returns what "git apply" makes of files.
func byGit(t *testing.T, files tree, diff string) (tree, error) {
	t.Helper()
	dir := t.TempDir()
	if err := files.put(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := git(dir, diff, "apply", "-"); err != nil {
		return nil, err
	}
	after, err := readTree(dir)
	if err != nil {
		t.Fatal(err)
	}
	return after, nil
}

// newWorkspace returns a workspace in memory with files.
func newWorkspace(t testing.TB, files tree) *workspace.Workspace {
	t.Helper()
	fsys := memory.New(nil)
	for name, content := range files {
		if _, err := fsys.WriteFile(t.Context(), name, []byte(content), nil); err != nil {
			t.Fatal(err)
		}
	}
	return workspace.New("test", fsys, nil)
}

// treeOf returns the files of ws.
func treeOf(t testing.TB, ws *workspace.Workspace) tree {
	t.Helper()
	files := tree{}
	err := workspace.Walk(t.Context(), ws, ".", nil, func(info workspace.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		data, err := ws.ReadFile(context.Background(), info.Path)
		files[info.Path] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// byUs returns what Apply makes of files.
func byUs(t *testing.T, files tree, diff string) (tree, error) {
	t.Helper()
	ws := newWorkspace(t, files)
	_, err := patch.Apply(t.Context(), ws, diff)
	after := treeOf(t, ws)
	if err != nil {
		if diff := cmp.Diff(files, after); diff != "" {
			t.Errorf("a patch that was refused has changed files:\n%s", diff)
		}
		return nil, err
	}
	return after, nil
}

// names are those of random repositories, with characters that git quotes.
var names = []string{
	"a.txt", "b.txt", "dir/a.txt", "dir/b b.txt", "dir/deep/c.go", "tab\tname", "quote\"d", "umläut", "b/x", "a/x", "new line\n", `back\slash`, "empty",
	"dir/end ", "a b/c d", "ü/ö.txt",
}

// randomText returns lines of a small alphabet, so that hunks are ambiguous, with one of
// the line ends that there are.
func randomText(random *rand.Rand) string {
	var out strings.Builder
	end := "\n"
	if random.IntN(4) == 0 {
		end = "\r\n"
	}
	for range random.IntN(40) {
		out.WriteString(randomLine(random))
		out.WriteString(end)
	}
	if random.IntN(4) == 0 {
		out.WriteString(randomLine(random) + "x") // no final line end
	}
	return out.String()
}

func randomLine(random *rand.Rand) string {
	return []string{"", "a", "b", "\tc", "  d", "{", "}", "-- x", "++ y", "@@ -1 +1 @@", "é", "trailing ", fmt.Sprint("line ", random.IntN(30))}[random.IntN(13)]
}

// edited returns text with some lines that differ.
func edited(random *rand.Rand, text string) string {
	lines := slices.Collect(strings.Lines(text))
	for range 1 + random.IntN(4) {
		at := random.IntN(len(lines) + 1)
		end := "\n"
		if at > 0 && strings.HasSuffix(lines[at-1], "\r\n") && random.IntN(5) > 0 {
			end = "\r\n"
		}
		switch random.IntN(3) {
		case 0:
			lines = slices.Insert(lines, at, randomLine(random)+end)
		case 1:
			if at < len(lines) {
				lines = slices.Delete(lines, at, at+1)
			}
		default:
			if at < len(lines) {
				lines[at] = randomLine(random) + end
			}
		}
	}
	out := strings.Join(lines, "")
	if random.IntN(6) == 0 {
		out = strings.TrimRight(out, "\r\n")
	}
	return out
}

// changed returns files with random changes: edits, new files, deletions, renames, swaps
// of names, copies.
func (files tree) changed(random *rand.Rand) tree {
	after := maps.Clone(files)
	for range 1 + random.IntN(4) {
		existing := slices.Sorted(maps.Keys(after))
		free := names[random.IntN(len(names))]
		if _, taken := after[free]; taken || len(existing) == 0 {
			after[free] = edited(random, after[free])
			continue
		}
		name := existing[random.IntN(len(existing))]
		switch random.IntN(6) {
		case 0:
			after[free] = randomText(random)
		case 1:
			delete(after, name)
		case 2, 3:
			content := after[name]
			if random.IntN(2) == 0 {
				content = edited(random, content)
			}
			after[free] = content
			if random.IntN(3) > 0 {
				delete(after, name)
			}
		case 4:
			other := existing[random.IntN(len(existing))]
			after[name], after[other] = after[other], after[name]
		default:
			after[name] = edited(random, after[name])
		}
	}
	return after
}

// commits calls do with random commits of one repository: the files before, the files
// after, and the diff.
func commits(t *testing.T, random *rand.Rand, n int, do func(before, after tree, diff string)) {
	dir := t.TempDir()
	if _, err := git(dir, "", "init", "-q"); err != nil {
		t.Fatal(err)
	}
	before := tree{}
	for _, name := range names[:6] {
		before[name] = randomText(random)
	}
	if err := before.put(dir); err != nil {
		t.Fatal(err)
	}
	commit := func() {
		for _, args := range [][]string{{"add", "-A"}, {"commit", "-q", "--allow-empty", "-m", "x"}} {
			if _, err := git(dir, "", args...); err != nil {
				t.Fatal(err)
			}
		}
	}
	commit()
	for range n {
		after := before.changed(random)
		for name := range before {
			if _, stays := after[name]; !stays {
				os.Remove(filepath.Join(dir, name))
			}
		}
		if err := after.put(dir); err != nil {
			t.Fatal(err)
		}
		for name := range after {
			if random.IntN(10) == 0 {
				os.Chmod(filepath.Join(dir, name), 0o755)
			}
		}
		commit()
		args := []string{"diff", "HEAD~1", "HEAD"}
		args = append(args, [][]string{nil, {"-M"}, {"-M", "-C", "--find-copies-harder"}, {"-U1"}, {"-U10"}, {"--no-renames"}, {"-M10%"}, {"-B", "-M"}}[random.IntN(8)]...)
		diff, err := git(dir, "", args...)
		if err != nil {
			t.Fatal(err)
		}
		if diff != "" {
			do(before, after, diff)
		}
		before = after
	}
}

// TestGitAgrees applies the diffs of random commits with git and with this package.
func TestGitAgrees(t *testing.T) {
	t.Parallel()
	exhaustive.NotShort(t, "runs git many times")
	exhaustive.Program(t, "git")
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	n := 0
	commits(t, random, exhaustive.Some(t, "most commits", 520, 40), func(before, after tree, diff string) {
		n++
		theirs, err := byGit(t, before, diff)
		if err != nil {
			t.Fatalf("%v\n%s", err, diff)
		}
		ours, err := byUs(t, before, diff)
		if err != nil {
			t.Fatalf("Apply() = %v\n%s\n%q", err, diff, before)
		}
		if d := cmp.Diff(theirs, ours); d != "" {
			t.Fatalf("git and Apply differ (-git +ours):\n%s\n%s", d, diff)
		}
		if d := cmp.Diff(after, ours); d != "" {
			t.Fatalf("the commit and Apply differ (-commit +ours):\n%s\n%s", d, diff)
		}
	})
	t.Logf("%d diffs", n)
}

// mutated returns a diff that is damaged somewhere, and whether that is outside of its
// hunks.
func mutated(random *rand.Rand, diff string) (damaged string, header bool) {
	lines := slices.Collect(strings.Lines(diff))
	for range 1 + random.IntN(2) {
		at := random.IntN(len(lines))
		header = header || !isHunk(lines[at])
		switch random.IntN(7) {
		case 0:
			lines = slices.Delete(lines, at, at+1)
		case 1:
			lines = slices.Insert(lines, at, lines[at])
		case 2:
			other := lines[random.IntN(len(lines))]
			header = header || !isHunk(other)
			lines = slices.Insert(lines, at, other)
		case 3:
			lines[at] = []string{" ", "+", "-", ""}[random.IntN(4)] + lines[at]
		case 4: // another number
			digit := strings.IndexAny(lines[at], "0123456789")
			if digit >= 0 && strings.HasPrefix(lines[at], "@@ ") {
				lines[at] = lines[at][:digit] + fmt.Sprint(random.IntN(10)) + lines[at][digit+1:]
			}
		case 5:
			if body := strings.TrimRight(lines[at], "\r\n"); len(body) > 1 {
				cut := 1 + random.IntN(len(body)-1)
				lines[at] = lines[at][:cut] + lines[at][cut+1:]
			}
		default:
			if strings.HasPrefix(lines[at], "@@ ") {
				lines[at] = fmt.Sprintf("@@ -%d,%d +%d,%d @@\n", random.IntN(9), random.IntN(9), random.IntN(9), random.IntN(9))
			}
		}
		if len(lines) == 0 {
			return "", true
		}
	}
	return strings.Join(lines, ""), header
}

// isHunk reports whether a line is one of a hunk, and no mark of a missing line end.
func isHunk(line string) bool {
	return strings.ContainsAny(line[:1], " +-@") && !strings.HasPrefix(line, "--- ") && !strings.HasPrefix(line, "+++ ")
}

// TestGitRefuses damages the diffs of random commits, or the files that they are for: git
// and this package refuse the same, and make the same of the others.
func TestGitRefuses(t *testing.T) {
	t.Parallel()
	exhaustive.NotShort(t, "runs git many times")
	exhaustive.Program(t, "git")
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	applied, refused, stricter := 0, 0, 0
	commits(t, random, exhaustive.Some(t, "most commits", 500, 40), func(before, after tree, diff string) {
		for range 2 {
			files, damaged, header := before, diff, false
			if random.IntN(2) == 0 {
				files = before.changed(random)
			} else {
				damaged, header = mutated(random, diff)
			}
			theirs, gitErr := byGit(t, files, damaged)
			ours, err := byUs(t, files, damaged)
			switch {
			case gitErr != nil && err != nil:
				refused++
			case gitErr == nil && err == nil:
				applied++
				if d := cmp.Diff(theirs, ours); d != "" {
					t.Errorf("git and Apply differ (-git +ours):\n%s\n%s\n%q", d, damaged, files)
				}
			case err != nil && (header || isStricter(err)):
				stricter++
			case gitErr != nil && strings.Contains(gitErr.Error(), "lacks filename information"):
				refused++ // a name of "diff --git" without "a/", in a section that changes a mode alone
			default:
				t.Errorf("git: %v, Apply: %v\n%s\n%q", gitErr, err, damaged, theirs)
			}
		}
	})
	t.Logf("%d applied and %d refused by both, %d refused as documented", applied, refused, stricter)
	if stricter*10 > applied+refused {
		t.Error("too much is refused that git applies")
	}
}

// TestGitAgreesOnCRLF applies diffs whose headers end in CRLF, as those of a mail program do.
func TestGitAgreesOnCRLF(t *testing.T) {
	t.Parallel()
	exhaustive.Program(t, "git")
	files := tree{"f": "a\r\n-- b\r\n"}
	const hunk = "@@ -1,2 +1,2 @@ x\n a\n--- b\n+++ c\n"
	for _, test := range []struct {
		name, diff string // with LF, which become CRLF
		ok         bool
	}{
		{"plain", "--- a/f\n+++ b/f\n" + hunk, true},
		{"git", "diff --git a/f b/f\nindex 1234567..2345678 100644\n--- a/f\n+++ b/f\n" + hunk, true},
		{"quoted", "--- \"a/f\"\n+++ \"b/f\"\n" + hunk, true},
		{"times", "--- a/f\t2020-01-01 00:00:00.0 +0000\n+++ b/f\t2020-01-01 00:00:00.0 +0000\n" + hunk, true},
		{"open end", "--- a/f\n+++ b/f\n@@ -1,2 +1,3 @@\n a\n+\n--- b\n+++ c\n\\ No newline at end of file\n", true},
		{"new", "diff --git a/n b/n\nnew file mode 100644\nindex 0000000..1234567\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+a\n", true},
		{"new, plain", "--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+a\n", true},
		{"new by its time", "--- a/n\t1970-01-01 00:00:00.0 +0000\n+++ b/n\t2020-01-01 00:00:00.0 +0000\n@@ -0,0 +1 @@\n+a\n", true},
		{"deleted", "diff --git a/f b/f\ndeleted file mode 100644\nindex 1234567..0000000\n--- a/f\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n--- b\n", true},
		{"renamed", "diff --git a/f b/n\nsimilarity index 100%\nrename from f\nrename to n\n", true},
		{"mode", "diff --git \"a/f\" \"b/f\"\nold mode 100644\nnew mode 100755\n", true},
		{"no name", "diff --git a/f b/f\nold mode 100644\nnew mode 100755\n", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			diff := strings.ReplaceAll(test.diff, "\n", "\r\n")
			theirs, gitErr := byGit(t, files, diff)
			ours, err := byUs(t, files, diff)
			if gitErr == nil != test.ok || err == nil != test.ok {
				t.Fatalf("Apply(%q) = %v, and git says %v", diff, err, gitErr)
			}
			if d := cmp.Diff(theirs, ours); d != "" {
				t.Errorf("git and Apply(%q) differ (-git +ours):\n%s", diff, d)
			}
		})
	}
}

// isStricter reports whether err is for what this package refuses and git may not: a new
// file in place of a directory, a file that is created twice, and a damaged text, in which git skips what it cannot read.
func isStricter(err error) bool {
	var syntax *patch.SyntaxError
	return errors.Is(err, workspace.ErrIsDir) || errors.As(err, &syntax) || strings.Contains(err.Error(), "the patch creates it twice")
}
