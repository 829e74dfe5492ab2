package patch_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/internal/charset"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/backup"
	"github.com/workspacekit/workspacekit/workspace/patch"
	"github.com/workspacekit/workspacekit/workspace/policy"
)

func Example() {
	ctx := context.Background()
	ws := workspace.New("repo", memory.New(nil), nil)
	if _, err := ws.WriteFile(ctx, "main.go", []byte("package main\n\nfunc main() {\n\tprintln(\"hello\")\n}\n"), nil); err != nil {
		log.Fatal(err)
	}
	changes, err := patch.Apply(ctx, ws, `*** Begin Patch
*** Update File: main.go
*** Move to: cmd/hello/main.go
@@ func main() {
-	println("hello")
+	println("hello, world")
*** Add File: README.md
+# Hello
*** End Patch
`)
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range changes {
		added, removed := c.Lines()
		fmt.Printf("%s %s +%d -%d\n", c.Kind, c.Path, added, removed)
	}
	_, err = patch.Apply(ctx, ws, "--- a/README.md\n+++ b/README.md\n@@ -1 +1 @@\n-# Goodbye\n+# Hi\n")
	fmt.Println(err)
	// Output:
	// R cmd/hello/main.go +1 -1
	// A README.md +1 -0
	// apply_patch README.md: the hunk does not apply: hunk 1 (@@ -1,1 +1,1 @@): line 1 of the file is "# Hello", and the patch has "# Goodbye"
}

// A plan shows what a patch would change, before anything does.
func ExamplePlan() {
	ctx := context.Background()
	ws := workspace.New("repo", memory.New(nil), nil)
	if _, err := ws.WriteFile(ctx, "a.txt", []byte("one\ntwo\n"), nil); err != nil {
		log.Fatal(err)
	}
	p, err := patch.Parse("--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+zwei\n")
	if err != nil {
		log.Fatal(err)
	}
	plan, err := p.Plan(ctx, ws)
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range plan.Changes() {
		fmt.Printf("%s %s: %q\n", c.Kind, c.Path, c.After)
	}
	changes, err := plan.Apply(ctx)
	fmt.Println(len(changes), err)
	// Output:
	// M a.txt: "one\nzwei\n"
	// 1 <nil>
}

// wrap puts the lines of an update of the file f into a patch.
func wrap(lines ...string) string {
	return "*** Begin Patch\n*** Update File: f\n" + strings.Join(lines, "\n") + "\n*** End Patch"
}

// TestEnvelope applies patches in the apply_patch format to the file f.
func TestEnvelope(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, file string
		patch      []string
		want       string
	}{
		{"replace", "a\nb\nc\n", []string{"@@", " a", "-b", "+B", " c"}, "a\nB\nc\n"},
		{"without @@", "a\nb\n", []string{"-b", "+B"}, "a\nB\n"},
		{"anchor", "f\nx\ng\nx\n", []string{"@@ g", "-x", "+y"}, "f\nx\ng\ny\n"},
		{"anchors", "class A\ndef f\nx\nclass B\ndef f\nx\n", []string{"@@ class B", "@@ def f", "-x", "+y"}, "class A\ndef f\nx\nclass B\ndef f\ny\n"},
		{"in order", "x\nx\nx\n", []string{"@@", "-x", "+1", "@@", "-x", "+2"}, "1\n2\nx\n"},
		{"insert after an anchor", "a\nb\n", []string{"@@ a", "+new"}, "a\nnew\nb\n"},
		{"append", "a\nb\n", []string{"@@", "+new"}, "a\nb\nnew\n"},
		{"end of file", "x\ny\nx\n", []string{"@@", "-x", "+z", "*** End of File"}, "x\ny\nz\n"},
		{"CRLF", "a\r\nb\r\nc\r\n", []string{"@@", " a", "-b", "+B", "+B2", " c"}, "a\r\nB\r\nB2\r\nc\r\n"},
		{"mixed line ends", "a\nb\r\nc\n", []string{"@@", " a", "-b", "+B", " c"}, "a\nB\r\nc\n"},
		{"byte order mark", "\uFEFFa\nb\n", []string{"@@", "-a", "+A", " b"}, "\uFEFFA\nb\n"},
		{"no final line end", "a\nb", []string{"@@", " a", "-b", "+B"}, "a\nB"},
		{"no final line end, appended", "a", []string{"@@", " a", "+b"}, "a\nb"},
		{"trailing white space", "a  \nb\n", []string{"@@", " a", "-b", "+B"}, "a  \nB\n"},
		{"indentation", "\ta\n\tb\n", []string{"@@", " a", "-b", "+\tB"}, "\ta\n\tB\n"},
		{"punctuation", "say \u201Chi\u201D \u2013 now\nb\n", []string{"@@", ` say "hi" - now`, "-b", "+B"}, "say \u201Chi\u201D \u2013 now\nB\n"},
		{"punctuation of all kinds", "«say» 〝hi〞 ‹x› ＂ ＇ ― ⸺ ﹘ －\u1680\u3000now\nb\n", []string{"@@", ` "say" "hi" 'x' " ' - - - -  now`, "-b", "+B"}, "«say» 〝hi〞 ‹x› ＂ ＇ ― ⸺ ﹘ －\u1680\u3000now\nB\n"},
		{"exact before trimmed", "a \na\n", []string{"@@", "-a", "+A"}, "a \nA\n"},
		{"blank line that is not in the file", "a\nb\n", []string{"@@", "-a", "+A", " b", ""}, "A\nb\n"},
		{"blank context without its blank", "a\n\nb\n", []string{"@@", " a", "", "-b", "+B"}, "a\n\nB\n"},
		{"all removed", "a\n", []string{"@@", "-a"}, ""},
		{"empty file", "", []string{"@@", "+a"}, "a\n"},
	} {
		ws := newWorkspace(t, tree{"f": test.file})
		if _, err := patch.Apply(t.Context(), ws, wrap(test.patch...)); err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		if got := treeOf(t, ws)["f"]; got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// TestNotes tests that a line that "@@" names and that is found without its white space is in
// a note, as the lines of the hunk are, and a blank line that is not found.
func TestNotes(t *testing.T) {
	t.Parallel()
	const space, plain = "matched without the white space around lines", "matched with plain quotes, dashes and spaces"
	const blank = "matched without the blank line at its end"
	for _, test := range []struct {
		patch []string
		want  []string
	}{
		{[]string{"@@ fn a:", "- y", "+b"}, []string{"hunk 1: " + space}},
		{[]string{"@@ fn a:", "-y", "+b"}, []string{"hunk 1: " + space}},
		{[]string{"@@ fn a:", "+b"}, []string{"hunk 1: " + space}},
		{[]string{"@@ say 'hi'", "@@ fn a:", "- y", "+b"}, []string{"hunk 1: " + plain + "; " + space}},
		{[]string{"@@ x", "@@ \tfn a:  ", "- y", "+b"}, nil},
		{[]string{"@@", "- y", "+b", ""}, []string{"hunk 1: " + blank}},
		{[]string{"@@", "-y", "+b", ""}, []string{"hunk 1: " + blank + "; " + space}},
	} {
		ws := newWorkspace(t, tree{"f": "x\nsay \u2018hi\u2019\n\tfn a:  \n y\n"})
		changes, err := patch.Apply(t.Context(), ws, wrap(test.patch...))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, changes[0].Notes); diff != "" {
			t.Errorf("the notes of %q (-want +got):\n%s", test.patch, diff)
		}
	}
}

// TestFiles applies patches of several files.
func TestFiles(t *testing.T) {
	t.Parallel()
	before := tree{"a": "1\n2\n3\n", "d/b": "x\n", "c": "y\n"}
	for _, test := range []struct {
		name, patch string
		want        tree // and what is not in it is as before
		changes     string
	}{
		{"all kinds", "*** Begin Patch\n*** Add File: new/f\n+1\n+2\n*** Delete File: c\n*** Update File: d/b\n*** Move to: e/b\n@@\n-x\n+X\n*** End Patch",
			tree{"a": before["a"], "new/f": "1\n2\n", "e/b": "X\n"}, "A new/f +2 -0; D c +0 -1; R e/b +1 -1"},
		{"move alone", "*** Begin Patch\n*** Update File: a\n*** Move to: z\n*** End Patch", tree{"z": before["a"], "d/b": "x\n", "c": "y\n"}, "R z +0 -0"},
		{"names as people write them", "*** Begin Patch\n*** Delete File: ./d//b\n*** Delete File: /c\n*** End Patch", tree{"a": before["a"]}, "D d/b +0 -1; D c +0 -1"},
		{"a file twice", "*** Begin Patch\n*** Update File: a\n@@\n-3\n+three\n*** Update File: a\n@@\n-1\n+one\n*** End Patch", tree{"a": "one\n2\nthree\n", "d/b": "x\n", "c": "y\n"}, "M a +2 -2"},
		{"empty new file", "*** Begin Patch\n*** Add File: e\n*** End Patch", tree{"a": before["a"], "d/b": "x\n", "c": "y\n", "e": ""}, "A e +0 -0"},
		{"file becomes a directory", "*** Begin Patch\n*** Delete File: c\n*** Add File: c/d\n+1\n*** End Patch", tree{"a": before["a"], "d/b": "x\n", "c/d": "1\n"}, "D c +0 -1; A c/d +1 -0"},
		{"names change places", "diff --git a/a b/c\nsimilarity index 100%\nrename from a\nrename to c\ndiff --git a/c b/a\nsimilarity index 100%\nrename from c\nrename to a\n",
			tree{"a": "y\n", "d/b": "x\n", "c": before["a"]}, "R c +0 -0; R a +0 -0"},
		{"plain diff", "--- a\n+++ a\n@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n", tree{"a": "1\ntwo\n3\n", "d/b": "x\n", "c": "y\n"}, "M a +1 -1"},
		{"plain diff of a directory", "--- d/b\t2020-01-01\n+++ d/b\t2020-01-02\n@@ -1 +1 @@\n-x\n+X\n", tree{"a": before["a"], "d/b": "X\n", "c": "y\n"}, "M d/b +1 -1"},
		{"plain diff of a quoted name", "--- \"a/d/b\"\t\n+++ \"b/d/b\"\t\n@@ -1 +1 @@\n-x\n+X\n", tree{"a": before["a"], "d/b": "X\n", "c": "y\n"}, "M d/b +1 -1"},
		{"plain new file", "--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n", tree{"a": before["a"], "d/b": "x\n", "c": "y\n", "n": "x\n"}, "A n +1 -0"},
		{"plain deletion", "--- a/c\n+++ /dev/null\n@@ -1 +0,0 @@\n-y\n", tree{"a": before["a"], "d/b": "x\n"}, "D c +0 -1"},
		{"plain diff of a file that does not exist", "--- a/n\n+++ b/n\n@@ -0,0 +1 @@\n+x\n", tree{"a": before["a"], "d/b": "x\n", "c": "y\n", "n": "x\n"}, "A n +1 -0"},
		{"with a message", "Subject: x\n\n---\n a | 2 +-\n\ndiff --git a/a b/a\nindex 1..2 100644\n--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n-1\n+one\n 2\n-- \n2.39\n", tree{"a": "one\n2\n3\n", "d/b": "x\n", "c": "y\n"}, "M a +1 -1"},
		{"no final line end in the patch", "--- a/c\n+++ b/c\n@@ -1 +1 @@\n-y\n+z", tree{"a": before["a"], "d/b": "x\n", "c": "z\n"}, "M c +1 -1"},
		{"mode", "diff --git a/a b/a\nold mode 100644\nnew mode 100755\n", before, "M a +0 -0 (mode 755 not set)"},
	} {
		ws := newWorkspace(t, before)
		changes, err := patch.Apply(t.Context(), ws, test.patch)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		if diff := cmp.Diff(test.want, treeOf(t, ws)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
		var got []string
		for _, c := range changes {
			added, removed := c.Lines()
			line := fmt.Sprintf("%s %s +%d -%d", c.Kind, c.Path, added, removed)
			if len(c.Notes) > 0 {
				line += " (" + strings.Join(c.Notes, ", ") + ")"
			}
			if info, err := ws.Stat(t.Context(), c.Path); err == nil && info.Version != c.Version {
				t.Errorf("%s: the version of %s is %q, want %q", test.name, c.Path, c.Version, info.Version)
			}
			got = append(got, line)
		}
		if strings.Join(got, "; ") != test.changes {
			t.Errorf("%s: changes %q, want %q", test.name, got, test.changes)
		}
	}
}

// TestNoPrefix tests that a header of git whose names have no prefix changes no other file: with
// "d/b", "b" is not meant.
func TestNoPrefix(t *testing.T) {
	t.Parallel()
	const hunk = "@@ -1 +1 @@\n-x\n+y\n"
	before := tree{"b": "x\n", "d/b": "x\n", "a/b": "x\n", "d b": "x\n", "empty": ""}
	for _, test := range []struct {
		diff string
		line int
	}{
		{"diff --git d/b d/b\nindex 1..2 100644\n--- d/b\n+++ d/b\n" + hunk, 1},
		{"diff --git a/b a/b\nindex 1..2 100644\n--- a/b\n+++ a/b\n" + hunk, 1},
		{"diff --git b b\nindex 1..2 100644\n--- b\n+++ b\n" + hunk, 1},
		{"diff --git d b d b\nindex 1..2 100644\n--- d b\t\n+++ d b\t\n" + hunk, 1},
		{"diff --git d/n d/n\nnew file mode 100644\nindex 0..1\n--- /dev/null\n+++ d/n\n@@ -0,0 +1 @@\n+x\n", 1},
		{"diff --git d/n d/n\nnew file mode 100644\n", 1},
		{"diff --git d/empty d/empty\ndeleted file mode 100644\n", 1},
		{"diff --git d/b new/d/b\nindex 1..2 100644\n--- d/b\n+++ new/d/b\n" + hunk, 1},
		{"diff --git \"d/\\t\" \"d/\\t\"\nnew file mode 100644\n", 1},
		{"--- a/b\n+++ b/b\n" + hunk + "diff --git a/d/b b/d/b\nindex 1..2 100644\n--- d/b\n+++ d/b\n" + hunk, 8},
		{"diff --git a/d/b b/d/b\nindex 1..2 100644\n--- a/d/b\n+++ d/b\n" + hunk, 4},
	} {
		ws := newWorkspace(t, before)
		_, err := patch.Apply(t.Context(), ws, test.diff)
		if syntax, ok := errors.AsType[*patch.SyntaxError](err); !ok || syntax.Line != test.line || !strings.Contains(err.Error(), "a/") {
			t.Errorf("Apply(%q) = %v, want an error of line %d", test.diff, err, test.line)
		}
		if diff := cmp.Diff(before, treeOf(t, ws)); diff != "" {
			t.Errorf("Apply(%q) has changed files:\n%s", test.diff, diff)
		}
	}
	for _, prefixes := range [][2]string{{"a", "b"}, {"b", "a"}, {"c", "i"}, {"c", "w"}, {"i", "w"}, {"o", "w"}} {
		diff := strings.NewReplacer("X/", prefixes[0]+"/", "Y/", prefixes[1]+"/").Replace("diff --git X/d/b Y/d/b\nindex 1..2 100644\n--- X/d/b\n+++ Y/d/b\n" + hunk +
			"diff --git X/d b Y/d b\nindex 1..2 100644\n--- X/d b\t\n+++ Y/d b\t\n" + hunk +
			"diff --git X/empty \"Y/n\\t\"\nrename from empty\nrename to \"n\\t\"\n")
		ws := newWorkspace(t, before)
		_, err := patch.Apply(t.Context(), ws, diff)
		want := tree{"b": "x\n", "d/b": "y\n", "a/b": "x\n", "d b": "y\n", "n\t": ""}
		if d := cmp.Diff(want, treeOf(t, ws)); d != "" || err != nil {
			t.Errorf("Apply(%q) = %v (-want +got):\n%s", diff, err, d)
		}
	}
}

// TestPrefixOfDirectory tests that a directory b of one file is not taken for the prefix of
// another.
func TestPrefixOfDirectory(t *testing.T) {
	t.Parallel()
	ws := newWorkspace(t, tree{"b/c": "x\n", "c": "x\n"})
	diff := "diff --git a/b/c b/b/c\n--- a/b/c\n+++ b/b/c\n@@ -1 +1 @@\n-x\n+y\ndiff --git a/c b/c\n--- a/c\n+++ b/c\n@@ -1 +1 @@\n-x\n+z\n"
	_, err := patch.Apply(t.Context(), ws, diff)
	if d := cmp.Diff(tree{"b/c": "y\n", "c": "z\n"}, treeOf(t, ws)); d != "" || err != nil {
		t.Errorf("Apply(%q) = %v (-want +got):\n%s", diff, err, d)
	}
}

// TestRefused tests patches that cannot be applied: what is said, and that nothing changes.
func TestRefused(t *testing.T) {
	t.Parallel()
	before := tree{"a": "1\n2\n3\n", "d/b": "x\n", "open": "x"}
	for _, test := range []struct {
		name, patch string
		kind        error // nil for a SyntaxError
		says        string
	}{
		{"empty", "", nil, "changes no file"},
		{"prose", "please change a\n", nil, "changes no file"},
		{"no end", "*** Begin Patch\n*** Delete File: a\n", nil, `does not end with "*** End Patch"`},
		{"text after the end", "*** Begin Patch\n*** Delete File: a\n*** End Patch\nmore", nil, "line 4 of the patch: there is text after"},
		{"nothing", "*** Begin Patch\n*** End Patch", nil, "changes no file"},
		{"no name", "*** Begin Patch\n*** Delete File: \n*** End Patch", nil, "line 2 of the patch: "},
		{"unknown section", "*** Begin Patch\n*** Rename File: a\n*** End Patch", nil, "line 2 of the patch: it is none of"},
		{"new file without signs", "*** Begin Patch\n*** Add File: n\ntext\n*** End Patch", nil, `line 3 of the patch: each line of a new file begins with "+"`},
		{"hunk without signs", wrap("@@", "text"), nil, "line 4 of the patch"},
		{"hunk without change", "*** Begin Patch\n*** Update File: a\n@@\n 1\n*** End Patch", nil, "the hunk changes no line"},
		{"update without hunk", "*** Begin Patch\n*** Update File: a\n*** End Patch", nil, "no line of a changes"},
		{"binary", "diff --git a/x b/x\nindex 1..2 100644\nBinary files a/x and b/x differ\n", nil, "binary changes are not applied"},
		{"symlink", "diff --git a/l b/l\nnew file mode 120000\nindex 0..1\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+/etc\n\\ No newline at end of file\n", nil, "symlink"},
		{"no prefix", "diff --git d/b d/b\n", nil, "the names need git's prefixes, such as a/ and b/"},
		{"submodule", "diff --git a/l b/l\nnew file mode 160000\nindex 0..1\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+Subproject\n", nil, "submodule"},
		{"header without hunks", "diff --git a/a b/a\nindex 1..2 100644\n--- a/a\n+++ b/a\n", nil, "a: there is no hunk"},
		{"hunk without names", "diff --git a/a b/a\n@@ -1 +1 @@\n-1\n+2\n", nil, `line 2 of the patch: a hunk without "---" and "+++" before it`},
		{"copy and rename", "diff --git a/a b/b\nsimilarity index 100%\ncopy from a\nrename from a\nrename to b\n", nil, "both a copy and a rename"},
		{"the same mode", "diff --git a/a b/a\nold mode 100644\nnew mode 100755\nindex 1..2 100755\n", nil, "there is no hunk"},
		{"half a mode", "diff --git a/a b/a\nnew mode 100755\n", nil, "there is no hunk"},
		{"wrong counts", "--- a/a\n+++ b/a\n@@ -1,3 +1,1 @@\n-1\n", nil, "line 3 of the patch: "},

		{"missing file", "*** Begin Patch\n*** Delete File: n\n*** End Patch", fs.ErrNotExist, "n: file does not exist"},
		{"new file exists", "*** Begin Patch\n*** Add File: a\n+1\n*** End Patch", fs.ErrExist, "a: file already exists"},
		{"destination exists", "*** Begin Patch\n*** Update File: a\n*** Move to: d/b\n*** End Patch", fs.ErrExist, "d/b: "},
		{"a directory", "*** Begin Patch\n*** Delete File: d\n*** End Patch", workspace.ErrIsDir, "d: "},
		{"below a file", "*** Begin Patch\n*** Add File: a/n\n+1\n*** End Patch", workspace.ErrNotDir, "a/n: "},
		{"created twice", "*** Begin Patch\n*** Add File: n\n+1\n*** Add File: n\n+1\n*** End Patch", fs.ErrExist, "twice"},
		{"deleted twice", "*** Begin Patch\n*** Delete File: a\n*** Delete File: a\n*** End Patch", fs.ErrInvalid, "an earlier part of the patch"},
		{"renamed twice", "diff --git a/a b/b\nrename from a\nrename to b\ndiff --git a/a b/c\nrename from a\nrename to c\n", fs.ErrInvalid, "a: invalid argument: an earlier part of the patch"},
		{"changed, then deleted", "*** Begin Patch\n*** Update File: a\n@@\n-1\n*** Delete File: a\n*** End Patch", fs.ErrInvalid, "an earlier part of the patch"},
		{"changed, then renamed", "*** Begin Patch\n*** Update File: a\n@@\n-1\n+one\n*** Update File: a\n*** Move to: b\n@@\n-2\n+two\n*** End Patch", fs.ErrInvalid, "an earlier part of the patch"},
		{"outside", "*** Begin Patch\n*** Add File: ../n\n+1\n*** End Patch", workspace.ErrEscape, "../n: "},
		{"outside, in a diff", "--- /dev/null\n+++ b/../n\n@@ -0,0 +1 @@\n+1\n", workspace.ErrEscape, "../n: "},
		{"not clean, in a diff", "--- a/./a\n+++ b/./a\n@@ -1 +1 @@\n-1\n+2\n", fs.ErrInvalid, "./a: "},
		{"git", "*** Begin Patch\n*** Add File: .git/hooks/x\n+1\n*** End Patch", workspace.ErrPolicy, ".git"},
		{"git in other letters", "--- /dev/null\n+++ b/d/.GIT/config\n@@ -0,0 +1 @@\n+1\n", workspace.ErrPolicy, ".git"},
		{"git by its short name", "*** Begin Patch\n*** Add File: d/git~1/config\n+1\n*** End Patch", workspace.ErrPolicy, ".git"},
		{"git with a dot", "*** Begin Patch\n*** Add File: .git./config\n+1\n*** End Patch", workspace.ErrPolicy, ".git"},
		{"git with a stream", "*** Begin Patch\n*** Add File: .git::$INDEX_ALLOCATION/config\n+1\n*** End Patch", workspace.ErrPolicy, ".git"},
		{"git after a backslash", "--- /dev/null\n+++ \"b/d\\\\.git \\\\config\"\n@@ -0,0 +1 @@\n+1\n", workspace.ErrPolicy, ".git"},
		{"reserved", "*** Begin Patch\n*** Add File: .workspacekit-tmp-x\n+1\n*** End Patch", fs.ErrInvalid, "reserved"},

		{"no such line", "*** Begin Patch\n*** Update File: a\n@@\n 1\n-zwei\n+two\n*** End Patch", patch.ErrMismatch, `a: the hunk does not apply: hunk 1 (@@): line 2 of the file is "2", and the patch has "zwei"`},
		{"no such line, renamed", "*** Begin Patch\n*** Update File: a\n*** Move to: new\n@@\n-zwei\n+two\n*** End Patch", patch.ErrMismatch, "a: the hunk does not apply: hunk 1 (@@): line 1 of the file"},
		{"no such anchor", "*** Begin Patch\n*** Update File: a\n@@ func f\n-1\n*** End Patch", patch.ErrMismatch, `(@@ func f): no line is "func f"`},
		{"no such anchor further down", "*** Begin Patch\n*** Update File: a\n@@ 2\n@@ func f\n-1\n*** End Patch", patch.ErrMismatch, `no line after line 2 is "func f"`},
		{"wrong order", "*** Begin Patch\n*** Update File: a\n@@\n-3\n@@\n-1\n*** End Patch", patch.ErrMismatch, "hunk 2 (@@): its lines are at line 1"},
		{"anchor in the hunk", "*** Begin Patch\n*** Update File: a\n@@ 2\n-2\n+two\n*** End Patch", patch.ErrMismatch, `hunk 1 (@@ 2): its lines are at line 2, and "@@" names line 2, which must be above them`},
		{"anchor below the hunk", "*** Begin Patch\n*** Update File: a\n@@ 3\n 1\n-2\n*** End Patch", patch.ErrMismatch, `its lines are at line 1, and "@@" names line 3, which must be above them`},
		{"white space", "--- a/d/b\n+++ b/d/b\n@@ -1 +1 @@\n-\tx\n+y\n", patch.ErrMismatch, `the patch has "\tx": white space differs`},
		{"no final line end", "--- a/open\n+++ b/open\n@@ -1 +1 @@\n-x\n+y\n", patch.ErrMismatch, `line 1 of the file is "x", and the patch has "x": the file has no newline at its end, which the line "\ No newline at end of file" says`},
		{"a final line end", "--- a/d/b\n+++ b/d/b\n@@ -1 +1 @@\n-x\n\\ No newline at end of file\n+y\n", patch.ErrMismatch, `line 1 of the file is "x", and the patch has "x": the file has a newline there`},
		{"other line ends", "--- a/d/b\n+++ b/d/b\n@@ -1 +1 @@\n-x\r\n+y\r\n", patch.ErrMismatch, `line 1 of the file is "x", and the patch has "x": one ends in LF, the other in CRLF`},
		{"end of file", "--- a/a\n+++ b/a\n@@ -2,3 +2,2 @@\n 2\n 3\n-4\n", patch.ErrMismatch, `the file ends after line 3, and the patch goes on with "4"`},
		{"not at the end", "--- a/a\n+++ b/a\n@@ -2 +2 @@\n-2\n+two\n", patch.ErrMismatch, "its lines are at line 2, and a hunk that ends without context must end the file"},
		{"not at the beginning", "--- a/a\n+++ b/a\n@@ -1,2 +1,1 @@\n-2\n 3\n", patch.ErrMismatch, "its lines are at line 2, and a hunk of line 1 must begin the file"},
		{"deletion of a part", "--- a/a\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-1\n-2\n", patch.ErrMismatch, ""},
	} {
		ws := newWorkspace(t, before)
		_, err := patch.Apply(t.Context(), ws, test.patch)
		var syntax *patch.SyntaxError
		switch {
		case test.kind == nil && !errors.As(err, &syntax), test.kind != nil && !errors.Is(err, test.kind):
			t.Errorf("%s: Apply() = %v, want %v", test.name, err, test.kind)
		case !strings.Contains(err.Error(), test.says):
			t.Errorf("%s: Apply() = %v, which does not say %q", test.name, err, test.says)
		}
		if diff := cmp.Diff(before, treeOf(t, ws)); diff != "" {
			t.Errorf("%s: it has changed something:\n%s", test.name, diff)
		}
	}
}

// TestOtherEncoding tests that a file keeps its encoding, that its other bytes stay, and
// that no text is added that it cannot have.
func TestOtherEncoding(t *testing.T) {
	t.Parallel()
	stored := func(enc charset.Encoding, text string) string {
		data, err := enc.Encode([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	const unknown = "\xe0\xe1\xe2\xe3\xe4\xe5\n" // no Western language has so many of these
	for _, test := range []struct {
		file, added, want string
		refused           error
	}{
		{stored(charset.UTF16LE, "\uFEFFone\r\ntwo"), "dr\u00e9i \U0001F600", stored(charset.UTF16LE, "\uFEFFone\r\ntwo\r\ndr\u00e9i \U0001F600"), nil},
		{stored(charset.UTF16BE, "\uFEFFone\ntwo\n"), "three", stored(charset.UTF16BE, "\uFEFFone\ntwo\nthree\n"), nil},
		{stored(charset.UTF16LE, "one\ntwo\n"), "three", stored(charset.UTF16LE, "one\ntwo\nthree\n"), nil},
		{"caf\xe9\n", "caf\u00e9s", "caf\xe9\ncaf\xe9s\n", nil},
		{"caf\xe9 5 \x80\n", "6 \u20ac", "caf\xe9 5 \x80\n6 \x80\n", nil},
		{"caf\xe9\n", "5 \u20ac", "", new(charset.CharacterError)},
		{unknown, "tea", unknown + "tea\n", nil},
		{unknown, "th\u00e9", "", new(charset.CharacterError)},
		{"caf\u00e9\n", "th\u00e9", "caf\u00e9\nth\u00e9\n", nil},
		{"", "one\n@@\n+th\u00e9", "one\nth\u00e9\n", nil},
		{"\xff\xfea\x00b", "new", "", workspace.ErrBinary}, // an odd byte
		{"\x00\n", "new", "", workspace.ErrBinary},
	} {
		ws := newWorkspace(t, tree{"f": test.file})
		_, err := patch.Apply(t.Context(), ws, wrap("@@", "+"+test.added))
		if test.refused != nil {
			test.want = test.file
		}
		_, missing := test.refused.(*charset.CharacterError)
		if missing != errors.As(err, new(*charset.CharacterError)) || !missing && !errors.Is(err, test.refused) || treeOf(t, ws)["f"] != test.want {
			t.Errorf("%q added to %q: %v, and then it is %q", test.added, test.file, err, treeOf(t, ws)["f"])
		}
	}
}

// TestDiffOfOtherEncoding tests that a unified diff, whose lines are bytes, adds no text of
// another encoding to a file.
func TestDiffOfOtherEncoding(t *testing.T) {
	t.Parallel()
	const latin = "caf\xe9\nb\nc\n"
	const wide = "a\x00b\x00\n\x00c\x00d\x00\n\x00"
	for _, test := range []struct {
		file, hunk, want string
		kinds            []error
	}{
		{latin, "@@ -2,2 +2,3 @@\n b\n+\u00e9\n c\n", "", []error{patch.ErrEncoding}},
		{latin, "@@ -2,2 +2,3 @@\n b\n+e\n c\n", "caf\xe9\nb\ne\nc\n", nil},
		{latin, "@@ -2,2 +2,3 @@\n b\n+\xe9\n c\n", "caf\xe9\nb\n\xe9\nc\n", nil},
		{latin, "@@ -1,2 +1,2 @@\n-caf\xe9\n+caf\u00e9\n b\n", "caf\u00e9\nb\nc\n", nil}, // made by a conversion
		{latin, "@@ -1,2 +1,2 @@\n-caf\u00e9\n+cafe\n b\n", "", []error{patch.ErrMismatch, patch.ErrEncoding}},
		{latin, "@@ -1,2 +1,2 @@\n-tea\n+cafe\n b\n", "", []error{patch.ErrMismatch}},
		{"\xff\xfea\x00\n\x00", "@@ -1 +1 @@\n-a\n+b\n", "", []error{patch.ErrEncoding}},
		{"\xff\xfea\x00\n\x00", "@@ -1 +0,0 @@\n-a\n", "", []error{patch.ErrMismatch, patch.ErrEncoding}},
		{"\xff\xfea\x00\n\x00", "@@ -2,0 +3 @@\n+b\n", "", []error{patch.ErrEncoding}},
		{wide, "@@ -1,2 +1,3 @@\n a\x00b\x00\n+\u00e9\u65e5\n \x00c\x00d\x00\n", "", []error{patch.ErrEncoding}},
		{wide, "@@ -1,2 +1,3 @@\n a\x00b\x00\n+\x00\u00e9\x00\n \x00c\x00d\x00\n", "", []error{patch.ErrEncoding}},
		{wide, "@@ -1,2 +1,3 @@\n a\x00b\x00\n+tea\n \x00c\x00d\x00\n", "", []error{patch.ErrEncoding}},
		{wide, "@@ -1,2 +1,3 @@\n a\x00b\x00\n+\x00x\x00\n \x00c\x00d\x00\n", wide[:5] + "\x00x\x00\n" + wide[5:], nil},
		{wide, "@@ -1,2 +1,3 @@\n+\xe5\x65\n a\x00b\x00\n \x00c\x00d\x00\n", "\xe5\x65\n" + wide, nil},
		{"caf\u00e9\nb\n\xff\x81\n", "@@ -1,2 +1,3 @@\n caf\u00e9\n+th\u00e9\n b\n", "", []error{patch.ErrEncoding}},
		{"caf\u00e9\nb\n\xff\x81\n", "@@ -1,2 +1,3 @@\n caf\u00e9\n+tea\n b\n", "caf\u00e9\ntea\nb\n\xff\x81\n", nil},
		{"caf\u00e9\n", "@@ -1 +1 @@\n-th\u00e9\n+tea\n", "", []error{patch.ErrMismatch}},
		{"caf\u00e9\n", "@@ -1 +1,2 @@\n caf\u00e9\n+th\u00e9\n", "caf\u00e9\nth\u00e9\n", nil},
	} {
		if test.kinds != nil {
			test.want = test.file
		}
		ws := newWorkspace(t, tree{"f": test.file})
		_, err := patch.Apply(t.Context(), ws, "--- a/f\n+++ b/f\n"+test.hunk)
		var kinds []error
		for _, kind := range []error{patch.ErrMismatch, patch.ErrEncoding} {
			if errors.Is(err, kind) {
				kinds = append(kinds, kind)
			}
		}
		if got := treeOf(t, ws)["f"]; !slices.Equal(kinds, test.kinds) || err != nil != (kinds != nil) || got != test.want {
			t.Errorf("%q applied to %q: %v, want %v, and then it is %q, want %q", test.hunk, test.file, err, test.kinds, got, test.want)
		}
	}
}

// TestOtherEncodingRenamed tests that a file keeps its encoding if one part of a patch
// renames it and another one changes it.
func TestOtherEncodingRenamed(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]error{"\xff\xfeo\x00n\x00e\x00\n\x00": nil, "\xff\xfe\x00": workspace.ErrBinary} {
		ws := newWorkspace(t, tree{"f": name})
		_, err := patch.Apply(t.Context(), ws, "*** Begin Patch\n*** Update File: f\n*** Move to: g\n*** Update File: g\n@@\n+2\n*** End Patch")
		if !errors.Is(err, want) {
			t.Errorf("Apply() = %v, want %v", err, want)
		}
		if got := treeOf(t, ws)["g"]; err == nil && got != name+"2\x00\n\x00" {
			t.Errorf("the file holds %q", got)
		}
	}
}

// impatient is a context that ends after so many looks at it.
type impatient struct {
	context.Context
	left int
}

func (c *impatient) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// TestSearchEnds tests that the search for the lines of one hunk ends with its context.
func TestSearchEnds(t *testing.T) {
	t.Parallel()
	ws := newWorkspace(t, tree{"f": strings.Repeat("x\n", 20000)})
	for _, text := range []string{wrap("@@", " x", "-y"), "--- a/f\n+++ b/f\n@@ -5,3 +5,2 @@\n x\n-y\n x\n"} {
		p, err := patch.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Plan(&impatient{t.Context(), 100}, ws); !errors.Is(err, context.Canceled) {
			t.Errorf("Plan() of %q with a context that ends = %v, want Canceled", text, err)
		}
	}
}

// TestTooMuch tests that copies of one file cannot fill the memory.
func TestTooMuch(t *testing.T) {
	t.Parallel()
	ws := newWorkspace(t, tree{"f": strings.Repeat("x\n", 1000)})
	var text strings.Builder
	for i := range 10 {
		fmt.Fprintf(&text, "diff --git a/f b/g%d\ncopy from f\ncopy to g%d\n", i, i)
	}
	p, err := patch.Parse(text.String())
	if err != nil {
		t.Fatal(err)
	}
	for memory, want := range map[int]error{100 << 10: workspace.ErrTooLarge, 1 << 20: nil} {
		if _, err := patch.PlanWithin(t.Context(), p, ws, memory); !errors.Is(err, want) {
			t.Errorf("Plan() with %d bytes of memory = %v, want %v", memory, err, want)
		}
	}
}

// TestTooMuchToKeep plans changes of a file that a transaction cannot keep: they are refused
// as Apply would refuse them, and those that do not replace its bytes are not.
func TestTooMuchToKeep(t *testing.T) {
	ws := workspace.New("test", memory.New(nil), &workspace.Options{MaxFileSize: -1})
	large := append(bytes.Repeat([]byte{'x'}, backup.DefaultMaxChange), '\n')
	if _, err := ws.WriteFile(t.Context(), "large", large, nil); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		text string
		want error
	}{
		{"*** Delete File: large\n", workspace.ErrTooLarge},
		{"*** Update File: large\n@@\n+y\n", workspace.ErrTooLarge},
		{"*** Update File: large\n*** Move to: other\n@@\n+y\n", workspace.ErrTooLarge},
		{"*** Update File: large\n*** Move to: other\n", nil},
	} {
		p, err := patch.Parse("*** Begin Patch\n" + test.text + "*** End Patch\n")
		if err != nil {
			t.Fatal(err)
		}
		plan, err := p.Plan(t.Context(), ws)
		if !errors.Is(err, test.want) {
			t.Errorf("Plan of %q = %v, want %v", test.text, err, test.want)
		}
		if err != nil {
			continue
		}
		if _, err := plan.Apply(t.Context()); !errors.Is(err, test.want) {
			t.Errorf("Apply of %q = %v, want %v", test.text, err, test.want)
		}
	}
}

// TestAllErrors tests that everything that is wrong is said at once.
func TestAllErrors(t *testing.T) {
	t.Parallel()
	ws := newWorkspace(t, tree{"a": "1\n2\n3\n4\n5\n"})
	_, err := patch.Apply(t.Context(), ws, "*** Begin Patch\n*** Update File: a\n@@\n-x\n@@\n-2\n@@\n-y\n*** Delete File: n\n*** Add File: a\n+1\n*** End Patch")
	var all *patch.Error
	if !errors.As(err, &all) || len(all.Causes) != 4 {
		t.Fatalf("Apply() = %v, want four errors", err)
	}
	for i, part := range []string{"hunk 1", "hunk 3", "n: file does not exist", "a: file already exists"} {
		if !strings.Contains(all.Causes[i].Error(), part) {
			t.Errorf("error %d is %v, want %q", i, all.Causes[i], part)
		}
	}
}

// TestChangedMeanwhile tests that a plan is not applied to files that have changed since.
func TestChangedMeanwhile(t *testing.T) {
	t.Parallel()
	const text = "*** Begin Patch\n*** Update File: a\n@@\n-1\n+one\n*** Delete File: b\n*** Update File: c\n*** Move to: c2\n@@\n-1\n+one\n*** Add File: n\n+1\n*** End Patch"
	before := tree{"a": "1\n", "b": "1\n", "c": "1\n"}
	for _, name := range []string{"a", "b", "c", "c2", "n"} {
		ws := newWorkspace(t, before)
		p, err := patch.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := p.Plan(t.Context(), ws)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ws.WriteFile(t.Context(), name, []byte("theirs"), nil); err != nil {
			t.Fatal(err)
		}
		want := treeOf(t, ws)
		if _, err := plan.Apply(t.Context()); !errors.Is(err, workspace.ErrConflict) || !strings.Contains(err.Error(), " "+name+": ") {
			t.Errorf("Apply() after a write of %s = %v, want ErrConflict of it", name, err)
		}
		if diff := cmp.Diff(want, treeOf(t, ws)); diff != "" {
			t.Errorf("after a write of %s (-want +got):\n%s", name, diff)
		}
	}
}

// TestReadOnly applies a patch to a workspace that cannot be changed.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	ws := workspace.New("test", policy.ReadOnly(newWorkspace(t, tree{"f": "1\n"})), nil)
	text := wrap("@@\n-1\n+one")
	if _, err := patch.Apply(t.Context(), ws, text); !errors.Is(err, workspace.ErrPolicy) {
		t.Errorf("Apply = %v, want %v", err, workspace.ErrPolicy)
	}
}

// FuzzEnvelope tests that no patch in the apply_patch format does harm: it is applied or
// refused, and then nothing has changed; lines that it does not name stay.
func FuzzEnvelope(f *testing.F) {
	f.Add("@@\n a\n-b\n+c\n*** Add File: x\n+1", "a\nb\n")
	f.Add("*** Move to: g\n@@ a\n@@ b\n+c\n*** End of File", "a\r\nb")
	f.Fuzz(func(t *testing.T, lines, file string) {
		checkHarmless(t, wrap(lines), file)
	})
}

// FuzzDiff is FuzzEnvelope for unified diffs.
func FuzzDiff(f *testing.F) {
	f.Add("diff --git a/f b/f\nindex 1..2 100644\n--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n", "a\nb\n")
	f.Add("--- a/f\n+++ b/g\n@@ -1 +1 @@\n-b\n\\ No newline at end of file\n+c\n", "b")
	f.Add("diff --git a/f b/g\nsimilarity index 90%\nrename from f\nrename to g\n--- a/f\n+++ b/g\n@@ -0,0 +1 @@\n+c\n", "")
	f.Fuzz(func(t *testing.T, text, file string) {
		checkHarmless(t, text, file)
	})
}

func checkHarmless(t *testing.T, text, file string) {
	before := tree{"f": file, "other": "x"}
	ws := newWorkspace(t, before)
	changes, err := patch.Apply(t.Context(), ws, text)
	after := treeOf(t, ws)
	if err != nil {
		if diff := cmp.Diff(before, after); diff != "" {
			t.Fatalf("Apply() = %v, and has changed:\n%s", err, diff)
		}
		return
	}
	if len(changes) == 0 {
		t.Fatal("Apply() has made no change, and returned no error")
	}
	for _, c := range changes {
		if got, exists := after[c.Path]; exists && got != string(c.After) {
			t.Fatalf("%s is %q, and the change says %q", c.Path, got, c.After)
		}
		added, removed := c.Lines()
		if n := countLines(c.Before) + added - removed; c.Kind != patch.Copied && n != countLines(c.After) {
			t.Fatalf("%s: %d lines and +%d -%d make %d", c.Path, countLines(c.Before), added, removed, countLines(c.After))
		}
	}
}

func countLines(data []byte) (n int) {
	for range strings.Lines(string(data)) {
		n++
	}
	return n
}
