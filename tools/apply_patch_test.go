package tools_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/internal/charset"
	"github.com/workspacekit/workspacekit/internal/wording"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/policy"
	"github.com/workspacekit/workspacekit/workspace/transaction"
)

const allKinds = `*** Begin Patch
*** Update File: a
@@
 1
-2
+two
*** Add File: n
+new
*** Delete File: b
*** Update File: c
*** Move to: d/c
*** End Patch`

func patchFiles() map[string]string {
	return map[string]string{"a": "1\n2\n3\n", "b": "x\n", "c": "y\n"}
}

func TestApplyPatch(t *testing.T) {
	t.Parallel()
	set, ws := newSet(t, patchFiles(), nil)
	dry := call(t, set, "apply_patch", object{"patch": allKinds, "dryRun": true})
	want := "Dry run, nothing written: applies to 4 files.\nM a +1 -1\nA n +1 -0\nD b +0 -1\nR c -> d/c +0 -0"
	if dry.Text != want {
		t.Errorf("dry run: %q, want %q", dry.Text, want)
	}
	if data, err := ws.ReadFile(t.Context(), "a"); err != nil || string(data) != "1\n2\n3\n" {
		t.Errorf("a dry run has made %q of a, %v", data, err)
	}
	result := call(t, set, "apply_patch", object{"patch": allKinds})
	text := result.Text
	for _, name := range []string{"a", "n", "d/c"} {
		info, err := ws.Stat(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		text = strings.Replace(text, ", version "+string(info.Version), "", 1)
	}
	if want := strings.Replace(want, "Dry run, nothing written: applies", "Applied", 1); text != want {
		t.Errorf("result %q, want %q", text, want)
	}
}

// TestApplyPatchEncoding changes files that are not UTF-8 by their text, and shows it to
// who is asked.
func TestApplyPatchEncoding(t *testing.T) {
	t.Parallel()
	before, after := stored(t, charset.UTF16LE, charset.Mark+"one\r\ntwo\r\n"), stored(t, charset.UTF16LE, charset.Mark+"one\r\nzw\u00f6lf\r\n")
	_, ws := newSet(t, map[string]string{"a": before, "latin": "caf\xe9\n"}, nil)
	set := newSetOf(t, ws, &tools.Options{ReadBeforeWrite: []string{"test"}})
	good(t, set, "read_file", object{"path": "a", "line": 2})
	good(t, set, "read_file", object{"path": "latin"})
	change := object{"patch": "*** Begin Patch\n*** Update File: a\n@@\n one\n-two\n+zw\u00f6lf\n*** End Patch"}
	tool, _ := set.Lookup("workspace__test__apply_patch")
	args, err := json.Marshal(change)
	if err != nil {
		t.Fatal(err)
	}
	requests, err := tool.Preflight(t.Context(), args)
	if err != nil || len(requests) != 2 || !strings.Contains(requests[1].Diff, "-two\r\n+zw\u00f6lf\r\n") {
		t.Errorf("Preflight() = %+v, %v", requests, err)
	}
	good(t, set, "apply_patch", change)
	holds(t, ws, "a", after)
	e := bad(t, set, "apply_patch", object{"patch": "*** Begin Patch\n*** Update File: latin\n@@\n+\u20ac\n*** End Patch"}, tools.CodeInvalidArguments)
	contains(t, "the error", e.Message, "latin: Latin-1 has no character '\u20ac' (line 2)")
}

// TestApplyPatchErrors tests what a model is told, all of it at once.
func TestApplyPatchErrors(t *testing.T) {
	t.Parallel()
	files := patchFiles()
	files["greek"] = "\xe0\xe1\xe2\xe3\xe4\xe5\n"
	files["latin"] = "caf\xe9\nb\nc\n"
	set, ws := newSet(t, files, nil)
	for _, test := range []struct {
		patch string
		code  tools.Code
		says  []string
	}{
		{"", tools.CodeInvalidArguments, []string{"changes no file"}},
		{"*** Begin Patch\n*** End Patch", tools.CodeInvalidArguments, []string{"cannot be read: it changes no file\n"}},
		{"```diff\n*** Begin Patch\n*** Delete File: a\n*** End Patch\n```", tools.CodeInvalidArguments,
			[]string{"cannot be read: it begins with \"```diff\"; begin with \"*** Begin Patch\", and leave out what is before it and after \"*** End Patch\"\n"}},
		{"\napply_patch <<'EOF'\n*** Begin Patch\n*** Delete File: a\n*** End Patch\nEOF\n", tools.CodeInvalidArguments, []string{`it begins with "apply_patch <<'EOF'"; begin`}},
		{"*** Begin Patch\n*** Update File: a\n@@\ntext\n*** End Patch", tools.CodeInvalidArguments, []string{"line 4 of the patch"}},
		{"*** Begin Patch\n*** Delete File: x\n*** End Patch", tools.CodeNotExist, []string{"x: file does not exist"}},
		{"*** Begin Patch\n*** Update File: a\n@@\n-zwei\n+2\n*** Delete File: x\n*** End Patch", tools.CodeTextNotFound,
			[]string{"2 errors\n", `a: the hunk does not apply: hunk 1 (@@): line 1 of the file is "1", and the patch has "zwei"`, "\nx: file does not exist", "Nothing was written"}},
		{"--- a/a\n+++ b/a\n@@ -1 +1 @@\n-1\n+one\n", tools.CodeTextNotFound, []string{"must end the file", "with the lines around them"}},
		{"*** Begin Patch\n*** Update File: a\n@@\n-2\n+2\n@@\n-1\n+1\n*** End Patch", tools.CodeTextNotFound, []string{"the hunks before it", "in the order of the file"}},
		{"*** Begin Patch\n*** Update File: greek\n@@\n+th\u00e9\n*** End Patch", tools.CodeInvalidArguments,
			[]string{`greek: only ASCII can be added to a file of unknown encoding, and 'é' is not: hunk 1 (@@)`, "The files keep their encodings. Use other characters."}},
		{"--- a/latin\n+++ b/latin\n@@ -2,2 +2,3 @@\n b\n+\u00e9\n c\n", tools.CodeInvalidArguments,
			[]string{"latin: the file is not UTF-8, and the lines of the patch are: hunk 1 (@@ -2,2 +2,3 @@)\nThe format of Codex", "keeps the encodings"}},
		{"--- a/latin\n+++ b/latin\n@@ -1,2 +1,2 @@\n-caf\u00e9\n+tea\n b\n", tools.CodeTextNotFound,
			[]string{`and the patch has "café": the file is not UTF-8, and the lines of the patch are`, "The format of Codex"}},
		{"*** Begin Patch\n*** Add File: a\n+1\n*** End Patch", tools.CodeExist, []string{"a: file already exists"}},
		{"*** Begin Patch\n*** Add File: a\n+1\n*** Delete File: x\n*** End Patch", tools.CodeExist, []string{"2 errors\na: file already exists\nx: file does not exist"}},
		{"*** Begin Patch\n*** Delete File: x\n*** Add File: .git/y\n+1\n*** Update File: a\n@@\n-zwei\n+2\n*** Add File: ../y\n+1\n*** End Patch", tools.CodeNotExist,
			[]string{"4 errors\nx: file does not exist\n.git/y: forbidden by policy: a patch cannot change what is in .git\na: the hunk does not apply", "\n../y: name leads out of the workspace"}},
		{"*** Begin Patch\n*** Update File: a\n*** Move to: .git/y\n*** Add File: a\n+1\n*** Add File: ../y\n+1\n*** End Patch", tools.CodePolicy,
			[]string{"2 errors\n.git/y: forbidden by policy: a patch cannot change what is in .git\n../y: name leads out of the workspace\n"}},
	} {
		err := bad(t, set, "apply_patch", object{"patch": test.patch}, test.code)
		contains(t, "the error", err.Message+"\n"+err.Hint, test.says...)
	}
	for name, want := range files {
		if data, err := ws.ReadFile(t.Context(), name); err != nil || string(data) != want {
			t.Errorf("%s is %q, %v", name, data, err)
		}
	}
}

// TestApplyPatchPreflight tests the list of what a patch touches.
func TestApplyPatchPreflight(t *testing.T) {
	t.Parallel()
	set, _ := newSet(t, patchFiles(), nil)
	tool, _ := set.Lookup("apply_patch")
	for _, dryRun := range []bool{false, true} {
		args, err := json.Marshal(object{"patch": allKinds, "dryRun": dryRun})
		if err != nil {
			t.Fatal(err)
		}
		requests, err := tool.Preflight(t.Context(), args)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range requests {
			got = append(got, strings.TrimSpace(fmt.Sprintf("%s %s %s %d", r.Op, r.Path, r.To, strings.Count(r.Diff, "\n+")+strings.Count(r.Diff, "\n-"))))
		}
		want := []string{"read a  0", "edit a  3", "write n  2", "read b  0", "delete b  2", "read c  0", "move c d/c 0", "write d/c  0"}
		if dryRun {
			want = []string{"read a  0", "read b  0", "read c  0"}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("Preflight() with dryRun %v (-want +got):\n%s", dryRun, diff)
		}
	}
}

// TestApplyPatchIsBounded checks that the result of a patch of many files counts those that
// it does not list, also in the words of Codex.
func TestApplyPatchIsBounded(t *testing.T) {
	t.Parallel()
	var patch strings.Builder
	patch.WriteString("*** Begin Patch\n")
	for n := range 3000 {
		fmt.Fprintf(&patch, "*** Add File: directory/file%04d\n+x\n", n)
	}
	patch.WriteString("*** End Patch")
	set, ws := newSet(t, nil, nil)
	result := call(t, set, "apply_patch", object{"patch": patch.String(), "dryRun": true})
	out := members(t, result.Structured)
	more, _ := out["moreFiles"].(float64)
	if listed := len(out["files"].([]any)); listed < 100 || listed+int(more) != 3000 {
		t.Errorf("%d files are listed and %v more are counted, want 3000 together", listed, more)
	}
	if len(result.Text) > 40<<10 || len(result.Structured) > 60<<10 {
		t.Errorf("the result has %d bytes of text and %d of JSON", len(result.Text), len(result.Structured))
	}
	contains(t, "text", result.Text, "applies to 3,000 files.", fmt.Sprintf("\nand %s more", wording.Thousands(int(more))))
	codex := newSetOf(t, ws, &tools.Options{Dialect: tools.DialectOpenAI})
	text := call(t, codex, "apply_patch", object{"input": patch.String()}).Text
	if len(text) > 40<<10 || !strings.HasSuffix(text, "\n[there are more]") {
		t.Errorf("the result of Codex has %d bytes and ends in %q", len(text), text[len(text)-40:])
	}
}

// TestApplyPatchPreflightEmpty checks that to delete an empty file is not called no change.
func TestApplyPatchPreflightEmpty(t *testing.T) {
	t.Parallel()
	set, _ := newSet(t, map[string]string{"a": ""}, nil)
	plan := preflightOf(t, set, "apply_patch", object{"patch": "*** Begin Patch\n*** Delete File: a\n*** End Patch"})
	want := []policy.Request{{Workspace: "test", Op: policy.OpRead, Path: "a"}, {Workspace: "test", Op: policy.OpDelete, Path: "a", Note: "it is empty"}}
	if diff := cmp.Diff(want, plan); diff != "" {
		t.Errorf("Preflight (-want +got):\n%s", diff)
	}
}

// TestApplyPatchPreflightCopy tests that a copy that a patch makes is shown as a new file.
func TestApplyPatchPreflightCopy(t *testing.T) {
	t.Parallel()
	set, _ := newSet(t, map[string]string{"a": "one\ntwo\n"}, nil)
	const copied = "diff --git a/a b/n\nsimilarity index 100%\ncopy from a\ncopy to n\n"
	for patch, text := range map[string]string{
		copied: "+one\n+two\n",
		copied + "--- a/a\n+++ b/n\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n": "+one\n+2\n",
	} {
		want := []policy.Request{{Op: policy.OpRead, Path: "a"}, {Op: policy.OpWrite, Path: "n", Diff: "--- a/n\n+++ b/n\n@@ -0,0 +1,2 @@\n" + text}}
		got, err := preflight(t, set, "apply_patch", object{"patch": patch})
		if diff := cmp.Diff(want, got, ofAny); diff != "" || err != nil {
			t.Errorf("Preflight of %q = %v (-want +got):\n%s", patch, err, diff)
		}
	}
}

// TestApplyPatchPreflightRename tests that a file that replaces another one has a note instead
// of a diff.
func TestApplyPatchPreflightRename(t *testing.T) {
	t.Parallel()
	set, _ := newSet(t, map[string]string{"a": "one\n", "b": "two\n"}, nil)
	const replaced = "*** Begin Patch\n*** Delete File: b\n*** Update File: a\n*** Move to: b\n*** End Patch"
	want := []policy.Request{
		{Op: policy.OpRead, Path: "b"}, {Op: policy.OpDelete, Path: "b", Diff: "--- a/b\n+++ b/b\n@@ -1 +0,0 @@\n-two\n"},
		{Op: policy.OpRead, Path: "a"}, {Op: policy.OpMove, Path: "a", To: "b"},
		{Op: policy.OpWrite, Path: "b", Note: "no diff: it has the content of a"},
	}
	got, err := preflight(t, set, "apply_patch", object{"patch": replaced})
	if diff := cmp.Diff(want, got, ofAny); diff != "" || err != nil {
		t.Errorf("Preflight = %v (-want +got):\n%s", err, diff)
	}
}

// TestApplyPatchRules tests that rules hold for each file of a patch, and that nothing
// changes if a part of a patch is denied.
func TestApplyPatchRules(t *testing.T) {
	t.Parallel()
	for _, op := range []policy.Op{policy.OpEdit, policy.OpDelete, policy.OpMove, policy.OpWrite} {
		fsys := memory.New(nil)
		for name, content := range patchFiles() {
			if _, err := fsys.WriteFile(t.Context(), name, []byte(content), nil); err != nil {
				t.Fatal(err)
			}
		}
		rules := policy.Rules{FirstMatch: []policy.Rule{{Deny: []policy.Op{op}, Paths: []string{"a", "b", "c", "n"}}}}
		whole, err := transaction.New(fsys, nil)
		if err != nil {
			t.Fatal(err)
		}
		restricted, err := policy.Restrict(whole, rules)
		if err != nil {
			t.Fatal(err)
		}
		set := newSetOf(t, workspace.New("test", restricted, nil), nil)
		bad(t, set, "apply_patch", object{"patch": allKinds}, tools.CodePolicy)
		files := map[string]string{}
		for name := range patchFiles() {
			data, _ := fsys.ReadFile(t.Context(), name)
			files[name] = string(data)
		}
		if diff := cmp.Diff(patchFiles(), files); diff != "" {
			t.Errorf("%s is denied, and the patch has changed:\n%s", op, diff)
		}
		if infos, err := fsys.Ls(t.Context(), ".", nil); err != nil || len(infos) != 3 {
			t.Errorf("%s is denied, and the patch has left %v, %v", op, infos, err)
		}
	}
}

// TestApplyPatchNeedsTransactions tests that the tool is there only if a patch can be undone.
func TestApplyPatchNeedsTransactions(t *testing.T) {
	t.Parallel()
	restricted, err := policy.Restrict(memory.New(nil), policy.Rules{DeniedPaths: []string{"x"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := newSetOf(t, workspace.New("test", restricted, nil), nil).Lookup("apply_patch"); ok {
		t.Error("the tool is there, and the rules could forbid to undo a patch")
	}
}

// TestApplyPatchSession tests that a patch needs what its changes replace to have been
// read, and that the session then knows the files.
func TestApplyPatchSession(t *testing.T) {
	t.Parallel()
	_, ws := newSet(t, map[string]string{"a": "1\n2\n3\n4\n5\n", "b": "x\n"}, nil)
	set := newSetOf(t, ws, &tools.Options{ReadBeforeWrite: []string{"test"}})
	update := func(lines ...string) object {
		return object{"patch": "*** Begin Patch\n*** Update File: a\n@@\n" + strings.Join(lines, "\n") + "\n*** End Patch"}
	}
	bad(t, set, "apply_patch", update(" 1", "-2", "+two"), tools.CodeReadRequired)
	good(t, set, "read_file", object{"path": "a", "line": 1, "limit": 2})
	bad(t, set, "apply_patch", update(" 3", "-4", "+four"), tools.CodeReadRequired)
	bad(t, set, "apply_patch", update(" 4", "+new"), tools.CodeReadRequired)
	good(t, set, "apply_patch", update(" 1", "-2", "+two", "+more"))
	good(t, set, "apply_patch", update("-more", "+MORE"))
	bad(t, set, "apply_patch", update("-3", "+three"), tools.CodeReadRequired)
	bad(t, set, "apply_patch", object{"patch": "*** Begin Patch\n*** Delete File: b\n*** End Patch"}, tools.CodeReadRequired)
	good(t, set, "read_file", object{"path": "b"})
	good(t, set, "apply_patch", object{"patch": "*** Begin Patch\n*** Update File: b\n*** Move to: c\n*** Add File: n\n+1\n*** End Patch"})
	good(t, set, "apply_patch", object{"patch": "*** Begin Patch\n*** Update File: n\n@@\n-1\n+2\n*** Delete File: c\n*** End Patch"})
	if _, err := ws.WriteFile(t.Context(), "n", []byte("theirs\n"), nil); err != nil {
		t.Fatal(err)
	}
	bad(t, set, "apply_patch", object{"patch": "*** Begin Patch\n*** Update File: n\n@@\n-theirs\n+2\n*** End Patch"}, tools.CodeConflict)
}

// TestApplyPatchSessionCopy tests that what was read of a file is read of its copy.
func TestApplyPatchSessionCopy(t *testing.T) {
	t.Parallel()
	_, ws := newSet(t, map[string]string{"a": "1\n2\n3\n", "b": "x\n", "c": "y\n"}, nil)
	set := newSetOf(t, ws, &tools.Options{ReadBeforeWrite: []string{"test"}})
	copied := func(from, to string) string {
		return fmt.Sprintf("diff --git a/%s b/%s\nsimilarity index 100%%\ncopy from %[1]s\ncopy to %s\n", from, to)
	}
	good(t, set, "read_file", object{"path": "a", "limit": 2})
	good(t, set, "read_file", object{"path": "c"})
	patch := copied("a", "a2") + copied("b", "b2") + copied("c", "c2") + "diff --git a/c b/c\n--- a/c\n+++ b/c\n@@ -1 +1 @@\n-y\n+z\n"
	good(t, set, "apply_patch", object{"patch": patch})
	bad(t, set, "edit_file", object{"path": "a2", "oldText": "3", "newText": "three"}, tools.CodeReadRequired)
	good(t, set, "edit_file", object{"path": "a2", "oldText": "2", "newText": "two"})
	good(t, set, "edit_file", object{"path": "c2", "oldText": "y", "newText": "two"})
	bad(t, set, "rm", object{"path": "b2"}, tools.CodeReadRequired)
}

// TestApplyPatchSessionRenames tests that what was read of a file is read of it under its new
// name, also if that was the name of another file of the patch.
func TestApplyPatchSessionRenames(t *testing.T) {
	t.Parallel()
	renamed := func(from, to string) string {
		return fmt.Sprintf("diff --git a/%s b/%s\nsimilarity index 100%%\nrename from %[1]s\nrename to %s\n", from, to)
	}
	for patch, part := range map[string]string{ // and the new name of b, which is read in part
		renamed("a", "b") + renamed("b", "a"): "a",
		renamed("b", "a") + renamed("a", "b"): "a",
		renamed("a", "b") + renamed("b", "c"): "c",
		renamed("b", "c") + renamed("a", "b"): "c",
	} {
		_, ws := newSet(t, map[string]string{"a": "1\n2\n", "b": "one\ntwo\nthree\n"}, nil)
		set := newSetOf(t, ws, &tools.Options{ReadBeforeWrite: []string{"test"}})
		good(t, set, "read_file", object{"path": "a"})
		good(t, set, "read_file", object{"path": "b", "limit": 1})
		good(t, set, "apply_patch", object{"patch": patch})
		bad(t, set, "write_file", object{"path": part, "content": "x"}, tools.CodeReadRequired)
		good(t, set, "edit_file", object{"path": part, "oldText": "one", "newText": "1"})
		good(t, set, "write_file", object{"path": "b", "content": "x"})
	}
}

// TestApplyPatchSessionCopyChanged tests that of a copy with other lines these have been read,
// and of the lines that it shares with its source those that were read there.
func TestApplyPatchSessionCopyChanged(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		limit       int // lines of the source that are read
		hunks       string
		read, other []string
	}{
		{2, "@@ -3,3 +3,3 @@\n three\n-four\n+4\n five\n", []string{"one\ntwo", "4"}, []string{"three", "five"}},
		{2, "@@ -1,5 +1,4 @@\n one\n-two\n-three\n-four\n+2\n+4\n five\n", []string{"one\n2\n4"}, []string{"five"}},
		{2, "@@ -1,2 +1,3 @@\n one\n+new\n two\n", []string{"one\nnew\ntwo"}, []string{"three"}},
		{2, "@@ -3,2 +3,4 @@\n three\n+3.1\n+3.2\n four\n", []string{"one\ntwo", "3.1\n3.2"}, []string{"three", "four"}},
		{5, "@@ -1,3 +1 @@\n-one\n-two\n three\n@@ -4,2 +2,3 @@\n four\n-five\n+5\n+6\n", []string{"three\nfour\n5\n6\n"}, nil},
		{0, "@@ -1,3 +1,2 @@\n-one\n-two\n+2\n three\n", []string{"2"}, []string{"three"}},
		{0, "@@ -1,2 +1 @@\n-one\n two\n", nil, []string{"two"}},
	} {
		patch := "diff --git a/a b/n\ncopy from a\ncopy to n\n--- a/a\n+++ b/n\n" + c.hunks
		for read, texts := range map[bool][]string{true: c.read, false: c.other} {
			for _, text := range texts {
				_, ws := newSet(t, map[string]string{"a": five}, nil)
				set := newSetOf(t, ws, &tools.Options{ReadBeforeWrite: []string{"test"}})
				if c.limit > 0 {
					good(t, set, "read_file", object{"path": "a", "limit": c.limit})
				}
				good(t, set, "apply_patch", object{"patch": patch})
				edit := object{"path": "n", "oldText": text, "newText": "x"}
				if result := call(t, set, "edit_file", edit); result.IsError == read || !read && result.Error.Code != tools.CodeReadRequired {
					t.Errorf("after %q with %d lines read, edit_file of %q = %s, want read %v", c.hunks, c.limit, text, result.Text, read)
				}
			}
		}
	}
}

// TestApplyPatchSessionCopyOfOther copies a file that somebody else has changed since it was read:
// the copy is not read.
func TestApplyPatchSessionCopyOfOther(t *testing.T) {
	t.Parallel()
	for _, hunks := range []string{"", "--- a/a\n+++ b/n\n@@ -4,2 +4,2 @@\n four\n-five\n+5\n"} {
		_, ws := newSet(t, map[string]string{"a": five}, nil)
		set := newSetOf(t, ws, &tools.Options{ReadBeforeWrite: []string{"test"}})
		good(t, set, "read_file", object{"path": "a"})
		put(t, ws, "a", strings.Replace(five, "two", "2", 1))
		good(t, set, "apply_patch", object{"patch": "diff --git a/a b/n\ncopy from a\ncopy to n\n" + hunks})
		if result := call(t, set, "write_file", object{"path": "n", "content": "x"}); !result.IsError || result.Error.Code != tools.CodeReadRequired {
			t.Errorf("after a copy with the hunks %q, write_file = %s, want READ_REQUIRED", hunks, result.Text)
		}
	}
}
