package tools_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/workspace"
)

func TestGrep(t *testing.T) {
	set, _ := newSet(t, map[string]string{"src/a.go": "one\ntwo\nthree\ntwo\n", "src/b.txt": "two\r\n", "c": "TWO(\n"}, nil)
	tests := []struct {
		name string
		args object
		want string
	}{
		{"all", object{"pattern": "two"}, "3 matches in 2 files\nsrc/a.go\n2:two\n4:two\n\nsrc/b.txt\n1:two"},
		{"context", object{"pattern": "two", "path": "src/a.go", "before": 1, "after": 1}, "2 matches in 1 file\nsrc/a.go\n1-one\n2:two\n3-three\n4:two"},
		{"context-apart", object{"pattern": "one|two$", "path": "src/a.go", "maxResults": 3, "before": 0, "after": 0}, "3 matches in 1 file\nsrc/a.go\n1:one\n2:two\n4:two"},
		{"include", object{"pattern": "two", "includeGlob": "*.txt"}, "1 match in 1 file\nsrc/b.txt\n1:two"},
		{"exclude", object{"pattern": "two", "excludeGlob": "src/**/*.go"}, "1 match in 1 file\nsrc/b.txt\n1:two"},
		{"ignore-case-literal", object{"pattern": "two(", "literal": true, "ignoreCase": true}, "1 match in 1 file\nc\n1:TWO("},
		{"end-of-crlf-line", object{"pattern": "two$"}, "3 matches in 2 files\nsrc/a.go\n2:two\n4:two\n\nsrc/b.txt\n1:two"},
		{"multiline", object{"pattern": `one\s+two\nthree`, "multiline": true}, "1 match in 1 file\nsrc/a.go\n1:one\n2:two\n3:three"},
		{"multiline-context", object{"pattern": "two\nthree", "literal": true, "multiline": true, "before": 2, "after": 2}, "1 match in 1 file\nsrc/a.go\n1-one\n2:two\n3:three\n4-two"},
		{"only", object{"pattern": "[ot]", "onlyMatching": true, "path": "src"}, "5 matches in 2 files\nsrc/a.go\n1:o\n2:t\n2:o\n3:t\n4:t\n4:o\n\nsrc/b.txt\n1:t\n1:o"},
		{"only-multiline", object{"pattern": "e\n+t.", "onlyMatching": true, "multiline": true}, "2 matches in 1 file\nsrc/a.go\n1:e\n2:tw\n3:e\n4:tw"},
		{"only-nothing", object{"pattern": "x*", "onlyMatching": true, "path": "c"}, "1 match in 1 file\nc\n1:"},
		{"files", object{"pattern": "(?i)two", "output": "files"}, "3 files\nc\nsrc/a.go\nsrc/b.txt"},
		{"count", object{"pattern": "(?i)two", "output": "count"}, "4 matches in 3 files\nc:1\nsrc/a.go:2\nsrc/b.txt:1"},
		{"count-first", object{"pattern": "(?i)two", "output": "count", "maxResults": 2}, "first 2 files: 3 matches\nc:1\nsrc/a.go:2\n[more: repeat with cursor=CURSOR]"},
		{"first", object{"pattern": "two", "maxResults": 1}, "first 1 match\nsrc/a.go\n2:two\n[more: repeat with cursor=CURSOR]"},
		{"first-of-all", object{"pattern": "two", "maxResults": 1, "sort": "mtime", "path": "src/a.go"}, "first 1 of 2 matches\nsrc/a.go\n2:two\n[more: repeat with cursor=CURSOR]"},
		{"nothing", object{"pattern": "four"}, "no lines match (3 files searched)"},
		{"nothing-in-one", object{"pattern": "four", "path": "c"}, "no lines match (1 file searched)"},
		{"nothing-searched", object{"pattern": "two", "path": "src", "includeGlob": "src/*.go"}, "no lines match (0 files searched: includeGlob is taken from src)"},
		{"nothing-searched-from-root", object{"pattern": "two", "includeGlob": "a/*.go"}, "no lines match (0 files searched: includeGlob is taken from the root)"},
		{"nothing-named-so", object{"pattern": "two", "path": "src", "includeGlob": "*.rs"}, "no lines match (0 files searched: no file name matches includeGlob, or all are excluded)"},
		{"nothing-named-so-below", object{"pattern": "two", "includeGlob": "**/x/*.go"}, "no lines match (0 files searched: no file name matches includeGlob, or all are excluded)"},
		{"nothing-but-ignored", object{"pattern": "two", "excludeGlob": "*"}, "no lines match (0 files searched: includeIgnored searches .git and what .gitignore excludes)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			result := call(t, set, "grep", tt.args)
			cursor, _ := members(t, result.Structured)["nextCursor"].(string)
			if got, want := result.Text, strings.Replace(tt.want, "CURSOR", cursor, 1); got != want {
				t.Errorf("text = %q, want %q", got, want)
			}
		})
	}
	t.Run("structured", func(t *testing.T) {
		got := good(t, set, "grep", object{"pattern": "three", "before": 1, "after": 1})
		want := object{"matches": []any{object{"path": "src/a.go", "lineNumber": 3.0, "line": "three", "before": []any{"two"}, "after": []any{"two"}}},
			"total": 1.0, "searched": 3.0, "truncated": false, "skipped": []any{}, "skippedTotal": 0.0}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("grep (-want +got):\n%s", diff)
		}
		for _, args := range []object{{"pattern": "four"}, {"pattern": "four", "sort": "mtime"}, {"pattern": "two", "includeGlob": "*.x", "output": "files"}} {
			searched := 3.0
			if args["includeGlob"] != nil {
				searched = 0
			}
			want := object{"matches": []any{}, "total": 0.0, "searched": searched, "truncated": false, "skipped": []any{}, "skippedTotal": 0.0}
			if diff := cmp.Diff(want, good(t, set, "grep", args)); diff != "" {
				t.Errorf("grep of %v (-want +got):\n%s", args, diff)
			}
		}
	})
}

// TestGrepPages checks what comes before and after the matches of several pages.
func TestGrepPages(t *testing.T) {
	files := map[string]string{"0.bin": "\x00", "a": "needle\nneedle\n", "b": "needle\n", "c.bin": "\x00", "d": "needle\nneedle\n"}
	set, _ := newSet(t, files, nil)
	args := object{"pattern": "needle", "maxResults": 2}
	for _, want := range []string{
		"first 2 matches\na\n1:needle\n2:needle\n[more: repeat with cursor=CURSOR; not searched: 1 binary (0.bin)]",
		"next 2 matches\nb\n1:needle\n\nd\n1:needle\n[more: repeat with cursor=CURSOR; not searched: 1 binary]",
		"last 1 match\nd\n2:needle",
	} {
		result := call(t, set, "grep", args)
		args["cursor"], _ = members(t, result.Structured)["nextCursor"].(string)
		if want = strings.Replace(want, "CURSOR", args["cursor"].(string), 1); result.Text != want {
			t.Errorf("text = %q, want %q", result.Text, want)
		}
	}
}

// TestGrepCutsLongMatches has a match of many lines, and a line with many parts.
func TestGrepCutsLongMatches(t *testing.T) {
	set, _ := newSet(t, map[string]string{"lines": "begin\n" + strings.Repeat("x\n", 1000) + "end\n", "parts": strings.Repeat("part ", 1000)}, nil)
	for pattern, want := range map[string]string{
		`(?s)begin.*end`: "1 match in 1 file\nlines\n1:begin\n2:x\n",
		`par`:            "1 match in 1 file\nparts\n1:par\n1:par\n",
	} {
		result := call(t, set, "grep", object{"pattern": pattern, "multiline": true, "onlyMatching": pattern == "par"})
		match := members(t, result.Structured)["matches"].([]any)[0].(object)
		if !strings.HasPrefix(result.Text, want) || strings.Count(result.Text, "\n") != 52 || match["lineTruncated"] != true {
			t.Errorf("grep(%q) = %v, %q, want %q and 52 lines in all", pattern, match, result.Text, want)
		}
		contains(t, "text", result.Text, "… [cut: 9")
	}
}

// TestGrepOnlyMatchingInHugeLine has parts, or all of them, in what is not searched for them.
func TestGrepOnlyMatchingInHugeLine(t *testing.T) {
	filler := strings.Repeat("y", 1_500_000)
	files := map[string]string{"end": filler + "needle", "both": "\nneedle" + filler + "needle", "lines": "\nneedle\nneedle" + filler, "late": "\nneedle\n" + filler + "needle", "many": strings.Repeat("needle", 100) + filler}
	set, _ := newSet(t, files, nil)
	for _, c := range []struct {
		path, pattern, want string
		multiline           bool
	}{
		{"end", "needle", "1:… [cut: 451430 more characters]", false},
		{"end", "needle", "1:… [cut: 451430 more characters]", true},
		{"both", "needle", "2:needle\n2:… [cut: 451436 more characters]", false},
		{"lines", `needle\nneedle`, "2:needle\n3:needle\n3:… [cut: 451437 more characters]", true},
		{"late", `needle\ny+needle`, "3:… [cut: 451437 more characters]", true},
		{"many", "needle", strings.Repeat("1:needle\n", 50) + "1:… [cut: 50 more]\n1:… [cut: 452024 more characters]", false},
	} {
		result := call(t, set, "grep", object{"pattern": c.pattern, "path": c.path, "onlyMatching": true, "multiline": c.multiline})
		match := members(t, result.Structured)["matches"].([]any)[0].(object)
		if want := "1 match in 1 file\n" + c.path + "\n" + c.want; result.Text != want || match["lineTruncated"] != true {
			t.Errorf("grep(%q) of %s = %.200q, truncated %v, want %q", c.pattern, c.path, result.Text, match["lineTruncated"], want)
		}
	}
}

// TestSearchPatterns checks that a malformed glob and a malformed regular expression
// have hints of their own.
func TestSearchPatterns(t *testing.T) {
	set, _ := newSet(t, map[string]string{"a": "func (f *F)"}, nil)
	for _, c := range []struct {
		op      string
		args    object
		message string
		hint    string
	}{
		{"grep", object{"pattern": "func ("}, "missing closing )", "set literal"},
		{"grep", object{"pattern": "a\nb"}, "one line at a time", "set multiline"},
		{"grep", object{"pattern": "a", "includeGlob": "{a"}, "{a", "Globs know"},
		{"glob", object{"pattern": "[a"}, "[a", "Globs know"},
	} {
		err := bad(t, set, c.op, c.args, tools.CodePattern)
		contains(t, "message", err.Message, c.message)
		contains(t, "hint", err.Hint, c.hint)
	}
	contains(t, "literal", call(t, set, "grep", object{"pattern": "func (", "literal": true}).Text, "1 match in 1 file")
}

func TestGrepContextHasGaps(t *testing.T) {
	var content strings.Builder
	for i := 1; i <= 20; i++ {
		fmt.Fprintf(&content, "line %d\n", i)
	}
	set, _ := newSet(t, map[string]string{"a": content.String()}, nil)
	got := call(t, set, "grep", object{"pattern": "line (3|4|15)$", "before": 1, "after": 1}).Text
	want := "3 matches in 1 file\na\n2-line 2\n3:line 3\n4:line 4\n5-line 5\n--\n14-line 14\n15:line 15\n16-line 16"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
}

func TestGrepCutsLongLines(t *testing.T) {
	filler := strings.Repeat("é", 1000)
	set, _ := newSet(t, map[string]string{"a": filler + "needle" + filler + "\nneedle" + filler + "\n" + filler + "\n"}, nil)
	matches := good(t, set, "grep", object{"pattern": "NEEDLE", "ignoreCase": true, "after": 1})["matches"].([]any)
	first, second := matches[0].(object), matches[1].(object)
	for _, m := range []object{first, second} {
		if line := m["line"].(string); m["lineTruncated"] != true || !strings.Contains(line, "needle") || len(line) > 1200 {
			t.Errorf("line of %d bytes: %q, truncated %v", len(line), line, m["lineTruncated"])
		}
	}
	contains(t, "line", first["line"].(string), "[cut: 875 characters] …é", "… [cut: ")
	if line := second["line"].(string); !strings.HasPrefix(line, "needle") {
		t.Errorf("line = %q", line)
	}
	contains(t, "after", second["after"].([]any)[0].(string), "… [cut: 500 more characters]")
}

func TestGrepSaysWhatItSkipped(t *testing.T) {
	files := map[string]string{"z.txt": "needle\nneedle\n", "big": strings.Repeat("x", 2000), "a.txt": "needle\n"}
	for i := range 30 {
		files[fmt.Sprintf("bin%02d", i)] = "\x00"
	}
	set, _ := newSet(t, files, &workspace.Options{MaxFileSize: 1000})
	out := good(t, set, "grep", object{"pattern": "needle"})
	skipped := out["skipped"].([]any)
	if diff := cmp.Diff(object{"path": "big", "reason": "too large"}, skipped[0]); diff != "" || len(skipped) != 20 || out["skippedTotal"] != 31.0 {
		t.Errorf("%d skipped of %v, first (-want +got):\n%s", len(skipped), out["skippedTotal"], diff)
	}
	contains(t, "text", call(t, set, "grep", object{"pattern": "needle"}).Text, "\n[not searched: 1 too large (big), 30 binary (bin00, bin01, bin02, …)]")

	// Pages list each skipped file once.
	total, args := 0.0, object{"pattern": "needle", "maxResults": 1}
	for range 10 {
		out := good(t, set, "grep", args)
		total += out["skippedTotal"].(float64)
		if args["cursor"] = out["nextCursor"]; out["nextCursor"] == nil {
			break
		}
	}
	if total != 31 {
		t.Errorf("pages skipped %v files, want 31", total)
	}
}

// TestGrepSkippedOnPagesCutByBytes checks that each skipped file is listed
// once where it is the bytes that end a page.
func TestGrepSkippedOnPagesCutByBytes(t *testing.T) {
	files := map[string]string{}
	for i := range 500 {
		files[fmt.Sprintf("%03d.txt", i)] = "needle " + strings.Repeat("x", 400)
		files[fmt.Sprintf("%03d.bin", i)] = "\x00"
	}
	set, _ := newSet(t, files, nil)
	total, calls, args := 0.0, 0, object{"pattern": "needle", "maxResults": 1000}
	for more := true; more; calls++ {
		out := good(t, set, "grep", args)
		total += out["skippedTotal"].(float64)
		args["cursor"], more = out["nextCursor"]
	}
	if total != 500 || calls < 3 {
		t.Errorf("%d pages skipped %v files, want 500", calls, total)
	}
}

func TestGrepInvalidUTF8(t *testing.T) {
	set, _ := newSet(t, map[string]string{"a": "caf\xe9 needle\n"}, nil)
	m := good(t, set, "grep", object{"pattern": "needle"})["matches"].([]any)[0].(object)
	if m["line"] != "caf\uFFFD needle" {
		t.Errorf("line = %q", m["line"])
	}
}
